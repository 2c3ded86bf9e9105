"""The native engine: q̈ = f(t, q, q̇) integrated by DOP853 over kernels in machine code.

Every kernel is a C function `void f(double *out, const double *in, double *work)` given by its address, with
in = [t, q (n), v (n), p (parameters)]:

===============  =======================================================  ==============================
kernel           out                                                      meaning
===============  =======================================================  ==============================
acceleration     [q̈ (n), pivots (g), power (powers)]                      pivots of the factorisation
event            [e_1 … e_events]                                         an event is a zero of e_j
projection       [dq (n), dv (n), position residual, velocity residual]   the way back to the constraints
crossing         the same                                                 the way back after a crossing only
kick             for each event that kicks [v (n), three numbers,         velocities after a jump (`kick`)
                 readings (READINGS)]
===============  =======================================================  ==============================

`prepare` sets up one run or thousands, `advance` takes one of them towards an end time and comes back with a
`LoopStatus`; called again it goes on, bit for bit, as if it had not come back. `advance_many` spreads them over
threads. The loop holds no lock of Python and no Python object.

*Error.* The step size keeps the root mean square of error / (atol + rtol |y|) below one, y = (q, v). t, q and v
are summed with compensation, so that long runs lose nothing to round-off.

*Pivots.* A pivot divided by its scale must stay above `pivot_tol` in every stage of every step. A step that finds
one below is halved; after ten halvings the run stops, SINGULAR, just before the singular position. A pivot that is
negative by nature has a negative scale.

*Events.* Each step is searched on its interpolant of order 7, in panels that are made smaller until each event is
known to have no zero, one or two there (`search`); these are located to the last bits of time. An event that is zero
at the start, or has just fired, fires again only after it has left zero. What varies too fast for that ends the run,
UNRESOLVED.

*Crossings.* With a kernel for it, a run steps across singular positions (`crossing`) and writes them down. With ASK
in its place it stops, SINGULAR, where it foresees the first, so that it can be started again with one.

*Work.* Where the acceleration kernel gives the power of all forces, their work is summed along (`quadrature`). It takes
no part in the choice of steps: the motion is the same to the last bit without it.

*Breaks.* Where the acceleration or one of its derivatives jumps at a known instant, a step ends there and the next
begins on the other side: a Runge–Kutta step across a jump loses its order.

*Projection.* After each accepted step and for every state handed out: q += dq until the position residual is below
its tolerance, then v += dv likewise, three times at most each (`misses` counts where that did not suffice).
"""

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from struct import Struct
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang.compile.lanes import LANES
from zwang.engines.native import loop
from zwang.engines.native.lanes import group as lanes
from zwang.engines.native.lanes import loop as lanes_loop
from zwang.engines.native.record import BRIDGES, KICKS, READINGS, RUN, STRETCHES, LoopStatus, lengths, stride
from zwang.engines.task import packed
from zwang.errors import InputError

__all__ = ["Kernels", "LoopStatus", "Runs", "Settings", "advance", "advance_many", "prepare", "restart"]

Floats: TypeAlias = NDArray[np.float64]

SLICE: Final = 100_000
"""Attempted steps after which `advance` comes back if nothing else is asked: well below a second's work."""


@dataclass(frozen=True)
class Kernels:
    """Addresses and sizes of the compiled functions of one system; address 0 stands for none."""

    acceleration: int
    coordinates: int
    parameters: int = 0
    pivots: int = 0
    powers: int = 0  # powers that the acceleration kernel gives, too
    work: int = 0  # doubles of working space that any of the kernels needs
    event: int = 0
    events: int = 0
    projection: int = 0
    bridge: int = 0
    kick: int = 0
    in_lanes: int = 0  # the acceleration of several runs at once, for `advance_many`
    event_in_lanes: int = 0
    projection_in_lanes: int = 0
    work_in_lanes: int = 0


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What is asked of runs, beside their start."""

    times: ArrayLike = ()
    """Where q and v are wanted, from the start on in the direction of the motion."""
    rtol: ArrayLike = 1e-12
    atol: ArrayLike = 1e-12
    """Tolerances: numbers, or arrays (2n,) for q and v."""
    max_step: float = np.inf
    """No step is longer."""
    quiet_step: float = np.inf
    """Nor than this, if it follows one whose error says nothing of the size that is needed."""
    first_step: float = 0.0
    """0 has it chosen."""
    step_limit: int = 2**62
    pivot_scale: ArrayLike = 1.0
    """What pivots are judged by: a number, an array (pivots,) or one (S, pivots)."""
    pivot_tol: float = 0.0
    growing: int = 0
    """So many pivots, the first, are judged by their largest value on the way, once that is larger."""
    zone: float = 0.0
    """With a kernel for crossings, states at which a pivot is below this share of its scale are brought to the
    constraints, if the product of all growing pivots is below that share of its own largest value, too."""
    volume: float = 0.0
    """The largest such product so far, in units of the scales."""
    fine: float = 1.0
    """Crossings are held to this share of the tolerance."""
    direction: ArrayLike = 0
    """-1 falling, 0 both, 1 rising: a number or an array (events,), as are the next two."""
    terminal: ArrayLike = False
    jumps: ArrayLike = True
    """Whether an event fires that is on the other side of zero right behind a break."""
    at_zero: tuple[int, ...] = ()
    """Events that count as zero at the start, until they have left it."""
    first_kick: int = 0
    """The first event at which the state may jump."""
    most: ArrayLike = ()
    """(kicks, READINGS) what the readings of kicks may be; and how far the others must be from zero."""
    apart: ArrayLike = -np.inf
    event_rows: int = 1024
    """Rows that the table of events has for each run."""
    breaks: ArrayLike | list[Floats] = ()
    """Instants, in any order, between each of which and the next double a step must end; a list has those of each
    run."""
    position_tol: float = 1e-13
    velocity_tol: float = 1e-13
    """Residuals that a projection may leave."""


PLAIN: Final = Settings()

COPIED: Final = (
    "step_limit", "max_step", "quiet_step", "growing", "zone", "fine", "volume", "position_tol", "velocity_tol",
)  # fmt: skip
"""Settings that stand in a run's record as they are."""

EMPTY: Final[Floats] = np.empty(0)

IN_ORDER: Final = tuple(name for name in RUN.names or () if name != "padding")
PACKED: Final = Struct("=" + "".join("d" if RUN[name].kind == "f" else "q" for name in IN_ORDER))
"""A record as it lies in memory."""


@dataclass(frozen=True, eq=False)
class Runs:
    """S independent runs of one system: their records, states and results.

    The arrays are the runs' own memory; what is written into them, the compiled loop sees.
    """

    kernels: Kernels
    records: NDArray[np.void]  # (S,)  `memory.RUN`: counters (accepted, rejected, evaluations, saved, …), next step
    state: Floats  #             (S, 1 + 2n)  [t, q, v] now
    times: Floats  #             (T,)  requested times
    q: Floats  #                 (S, T, n)  at the requested times, filled up to `saved`
    v: Floats  #                 (S, T, n)
    slope: Floats  #             (S, T, n)  v̇ of the interpolant there
    size: Floats  #              (S, T)  size of the step that was interpolated, 0 at its ends
    done: Floats  #              (S, T)  the work of all forces up to then
    parts_done: Floats  #        (S, T, powers − 1)  and parts of it
    table: Floats  #             (S, R, 2 + 2n)  events [t, which, q, v], filled up to `found`
    memory: Floats = field(repr=False)  # (S, …) everything else
    shared: tuple[Floats, ...] = field(repr=False)  # kept alive: records hold their addresses

    @property
    def bridges(self) -> Floats:
        """(CROSSINGS, 4 + 4n) crossings of the first run [instant, least pivot, two states], up to `crossed`."""
        begin = (int(self.records["bridges"][0]) - self.memory.ctypes.data) // 8
        width = 4 + 4 * self.kernels.coordinates
        return self.memory[0, begin : begin + BRIDGES * width].reshape(BRIDGES, width)

    def kicked(self) -> Floats:
        """(k, 5 + 3n) kicks of the first run [t, which, three numbers, q, v before, v after], taken out."""
        width, count = 5 + 3 * self.kernels.coordinates, int(self.records["kicked"][0])
        rows = self._of_first("kicked_at", KICKS * width).reshape(KICKS, width)[:count]
        self.records["kicked"][0] = 0
        return rows

    @property
    def best(self) -> Floats:
        """(1 + 2n) the state [t, q, v] at which the first run last found a pivot larger than before."""
        return self._of_first("best", 1 + 2 * self.kernels.coordinates)

    @property
    def pivot_scale(self) -> Floats:
        """(pivots) what the first run judges pivots by."""
        return self._of_first("pivot_scale", self.kernels.pivots)

    @property
    def parts(self) -> Floats:
        """(powers − 1) parts of the work of the first run so far."""
        return self._of_first("parts", max(self.kernels.powers - 1, 0))

    def _of_first(self, name: str, size: int) -> Floats:
        begin = (int(self.records[name][0]) - self.memory.ctypes.data) // 8
        return self.memory[0, begin : begin + size].copy()

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.records)

    def status(self, sample: int = 0) -> LoopStatus:
        """Why the run came back last."""
        return LoopStatus(int(self.records["status"][sample]))


def prepare(
    kernels: Kernels, t: float, q: ArrayLike, v: ArrayLike, parameters: ArrayLike = (), asked: Settings = PLAIN
) -> Runs:
    """Runs that start at time t from q and v, each (n,) or (S, n), with parameters (p,) or (S, p)."""
    n, p = kernels.coordinates, kernels.parameters
    q, v, given = (np.atleast_2d(np.asarray(a, dtype=float)) for a in (q, v, parameters))
    samples = max(len(q), len(v), len(given))
    wanted = np.atleast_1d(np.array(asked.times, dtype=float))
    _check(kernels, float(t), q, v, given, wanted, samples)
    rows = max(asked.event_rows, 2 * kernels.events) if kernels.events else 0
    shared = {
        "rtol": _spread("rtol", asked.rtol, 2 * n),
        "atol": _spread("atol", asked.atol, 2 * n),
        "direction": _spread("direction", asked.direction, kernels.events),
        "terminal": _spread("terminal", asked.terminal, kernels.events),
        "jumps": _spread("jumps", asked.jumps, kernels.events),
        "at_times": wanted,
    }
    if kernels.kick:
        shared["most"] = np.array(asked.most, dtype=float).reshape(-1, READINGS)
        shared["apart"] = _spread("apart", asked.apart, kernels.events)
    backwards = bool(wanted.size and wanted[-1] < t)
    listed = asked.breaks if isinstance(asked.breaks, list) else [asked.breaks]
    sides = [_both_sides(own, backwards) for own in listed]
    results = {
        "q": np.full((samples, wanted.size, n), np.nan),
        "v": np.full((samples, wanted.size, n), np.nan),
        "slope": np.full((samples, wanted.size, n), np.nan),
        "size": np.zeros((samples, wanted.size)),
        "done": np.zeros((samples, wanted.size)),
        "parts_done": np.zeros((samples, wanted.size, max(kernels.powers - 1, 0))),
        "table": np.zeros((samples, rows, 2 + 2 * n)),  # large, and next to nothing of it is ever written
    }
    kicks = len(shared["most"]) if kernels.kick else 0
    sizes, places = _laid_out(
        n, p, kernels.pivots, kernels.events, kernels.work, kernels.bridge > 0, kernels.powers, kicks
    )
    # Whole cache lines and one more between samples: they belong to different threads.
    start = packed(t, np.concatenate([q, v] if len(q) == len(v) else np.broadcast_arrays(q, v), axis=1), given)
    memory = np.zeros((samples, (sum(sizes.values()) + 15) // 8 * 8))
    for name in ("now", "new", "x", *(["other"] if kernels.events else [])):
        memory[:, places[name] : places[name] + sizes[name]] = start
    scale = np.asarray(asked.pivot_scale, dtype=float)
    if scale.ndim < 2:
        scale = _spread("pivot_scale", scale, kernels.pivots)
    memory[:, places["pivot_scale"] : places["pivot_scale"] + sizes["pivot_scale"]] = scale
    memory[:, places["best"] : places["best"] + sizes["best"]] = memory[:, : sizes["best"]]
    if kernels.events:
        side = memory[:, places["side"] : places["side"] + kernels.events]
        side[:] = np.nan
        side[:, list(asked.at_zero)] = 0.0
        memory[:, places["fired"] : places["fired"] + kernels.events] = np.nan

    begin = _addresses(memory)
    fields: dict[str, Any] = {name: begin + 8 * place for name, place in places.items()}
    fields |= {name: array.ctypes.data for name, array in shared.items()}
    fields |= {name: _addresses(array) for name, array in results.items()}
    fields |= {name: getattr(asked, name) for name in COPIED}
    fields |= {
        "n": n,
        "pivots": kernels.pivots,
        "powers": kernels.powers,
        "events": kernels.events,
        "kicks": kicks,
        "first_kick": asked.first_kick,
        "times": wanted.size,
        "rows": rows,
        "at_breaks": [own.ctypes.data for own in sides] if len(sides) > 1 else sides[0].ctypes.data,
        "breaks": [len(own) for own in sides] if len(sides) > 1 else len(sides[0]),
        "stride": stride(n, kernels.pivots + kernels.powers),
        "acceleration": kernels.acceleration,
        "event": kernels.event,
        "projection": kernels.projection,
        "bridge": kernels.bridge,
        "kick": kernels.kick,
        "max_panel": abs(wanted[-1] - t) / STRETCHES if wanted.size else np.inf,
        "pivot_tol": asked.pivot_tol if kernels.pivots else -np.inf,
        "fresh": 1,
        "trouble": LoopStatus.STEP_TOO_SMALL,
        "h": asked.first_step,
        "error": 1e-4,
        "pivot": np.inf,
    }
    records = _records(fields, samples)
    state = memory[:, : 1 + 2 * n]
    return Runs(kernels, records, state, wanted, **results, memory=memory, shared=(*shared.values(), *sides))


def advance(runs: Runs, until: float, attempts: int = SLICE, sample: int = 0) -> LoopStatus:
    """One run towards time `until`, by at most `attempts` steps, accepted or not."""
    ahead = runs.times[-1] - runs.state[sample, 0] if runs.times.size else 0.0
    if ahead * (until - runs.state[sample, 0]) < 0.0:
        raise InputError(
            f"until = {until} lies behind t = {runs.state[sample, 0]}, the requested times ahead: turn one round"
        )
    status = LoopStatus(loop.compiled()(runs.records.ctypes.data, sample, until, attempts))
    runs.records["status"][sample] = status
    return status


def advance_many(
    runs: Runs,
    until: float,
    attempts: int = SLICE,
    threads: int | None = None,
    which: Sequence[int] | None = None,
    alone: bool = False,
) -> None:
    """All runs to time `until`, or to what stops them, on several threads; their records have their statuses.

    The loop runs without Python's lock, so plain threads use all cores; each takes the next run when it is done
    with one. Given kernels for lanes, a thread has as many runs at once as there are lanes, unless each is to go
    `alone`; they compute what each would compute by itself, as far as the kernels do. An interrupt stops
    them after their slice of `attempts`, ready to go on. Of all runs, only those in `which` may be meant.
    """
    meant = range(len(runs)) if which is None else which
    together = runs.kernels.in_lanes and not alone
    count = min(threads or os.cpu_count() or 1, -(-len(meant) // LANES) if together else len(meant))
    turn = _in_lanes(runs, until, attempts, count, meant) if together else _alone(runs, until, attempts, meant)
    if count == 1:  # a thread of its own takes as long to begin as a short run
        while turn(0):
            pass
        return
    stopped = False

    def work(thread: int) -> None:
        while not stopped and turn(thread):
            pass

    with ThreadPoolExecutor(count) as pool:
        workers = [pool.submit(work, thread) for thread in range(count)]
        try:
            for worker in workers:
                worker.result()
        finally:
            stopped = True


def _alone(runs: Runs, until: float, attempts: int, which: Sequence[int]) -> Callable[[int], bool]:
    """What a thread does in one turn, until it is False: a slice of its run, or of the next when that is done."""
    waiting = itertools.count()  # its next() is one step to Python: no two threads get the same number
    current: dict[int, int] = {}

    def turn(thread: int) -> bool:
        if thread not in current:
            current[thread] = next(waiting)
        turn = current[thread]
        if turn < len(which) and advance(runs, until, attempts, which[turn]) is not LoopStatus.RUNNING:
            del current[thread]
        return turn < len(which)

    return turn


def _in_lanes(runs: Runs, until: float, attempts: int, count: int, which: Sequence[int]) -> Callable[[int], bool]:
    """What a thread does in one turn, until it is False: a slice of the runs in its lanes."""
    k, advance_group = runs.kernels, lanes_loop.compiled()
    start = runs.memory[0, : 1 + 2 * k.coordinates + k.parameters]
    kernels, order = (k.in_lanes, k.event_in_lanes, k.projection_in_lanes), np.array(which, dtype=float)
    groups = lanes.prepare(runs.records, start, kernels, k.work_in_lanes, loop.address(), count, order)

    def turn(thread: int) -> bool:
        addresses = groups.records.ctypes.data, thread, runs.records.ctypes.data
        return advance_group(*addresses, until, max(attempts // LANES, 1)) == LoopStatus.RUNNING

    return turn


def restart(runs: Runs, q: ArrayLike, v: ArrayLike, sample: int = 0, t: float | None = None) -> None:
    """Put a run into another state, after an impact, say; what it has saved and counted stays."""
    n = runs.kernels.coordinates
    low = 1 + 2 * n + runs.kernels.parameters
    runs.state[sample, 1 : 1 + n], runs.state[sample, 1 + n :] = q, v
    runs.memory[sample, low : low + 2 * n] = 0.0
    record = runs.records[sample]
    record["fresh"], record["h"], record["error"], record["held"], record["pending"] = 1, 0.0, 1e-4, 0, 0
    if t is not None:
        runs.state[sample, 0], record["t_low"] = t, 0.0


@cache
def _laid_out(*sizes_of_all: int) -> tuple[dict[str, int], dict[str, int]]:
    """The lengths of the arrays of a run, by name, and where they begin."""
    sizes = lengths(*sizes_of_all)  # type: ignore[arg-type]  # whether there are crossings is a bool
    return sizes, dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))


def _check(k: Kernels, t: float, q: Floats, v: Floats, p: Floats, times: Floats, samples: int) -> None:
    """Refuses what the compiled loop could not notice: it reads memory, not shapes."""
    for name, array, width in (("q", q, k.coordinates), ("v", v, k.coordinates), ("parameters", p, k.parameters)):
        if array.shape[1] != width or len(array) not in (1, samples):
            raise InputError(f"{name} has shape {array.shape}; ({width},) or ({samples}, {width}) is needed")
    if k.coordinates < 1:
        raise InputError("there is nothing to integrate: a system needs at least one coordinate")
    if (k.event == 0) != (k.events == 0):
        raise InputError(f"event kernel {k.event:#x} for {k.events} events: give both or neither")
    before, after = np.concatenate([[t], times[:-1]]), times
    if not ((before <= after).all() or (before >= after).all()):
        raise InputError("times must go one way, forwards or backwards, from the start on: sort them")


def _spread(name: str, value: ArrayLike, size: int) -> Floats:
    """A number or an array of the right length as an array of its own."""
    if not size:
        return EMPTY
    if type(value) in (int, float, bool):
        return np.full(size, float(value))  # type: ignore[arg-type]  # a number
    given = np.asarray(value, dtype=float)
    if given.ndim and given.shape != (size,):
        raise InputError(f"{name} has shape {given.shape}; a number or ({size},) is needed")
    spread = np.empty(size)
    spread[:] = given
    return spread


def _both_sides(breaks: ArrayLike, backwards: bool) -> Floats:
    """(breaks, 2) the two doubles that each break lies between, as the motion meets them."""
    if not np.size(breaks):
        return np.empty((0, 2))
    before = np.unique(np.asarray(breaks, dtype=float))
    pairs = np.stack([before, np.nextafter(before, np.inf)], axis=1)
    return np.ascontiguousarray(pairs[::-1, ::-1] if backwards else pairs)


def _records(fields: dict[str, Any], samples: int) -> NDArray[np.void]:
    """So many records with these fields, a value for all of them or one each; others are zero."""
    records = np.zeros(samples, RUN)
    if samples == 1:  # all at once: field by field takes as long as a short run
        PACKED.pack_into(records.data, 0, *[fields.get(name, 0) for name in IN_ORDER])
        return records
    for name, value in fields.items():
        records[name] = value
    return records


def _addresses(array: Floats) -> Any:
    """The address of array[0], array[1], …; a number if there is one only."""
    if len(array) == 1:
        return array.ctypes.data
    return array.ctypes.data + array.strides[0] * np.arange(len(array), dtype=np.int64)
