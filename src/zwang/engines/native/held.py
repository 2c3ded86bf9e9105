"""A run that is taken on piece by piece, with inputs that are held or interpolated over each piece.

Inputs are parameters of the kernels: each has its value at an instant, and its slope from there on; the instant is a
parameter, too. All of it is written between two pieces, in machine code, so that a loop of control pays for its steps
and little more.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from zwang.compile.restricted import Array, Record, native, native_library
from zwang.compile.restricted.memory import at
from zwang.engines.native import loop
from zwang.engines.native.lanes.moves import alone
from zwang.engines.native.record import LoopStatus, RunRecord
from zwang.engines.native.runs import Floats, Runs

NOT_A_NUMBER: Final = -1
"""Not a status of the loop: an input is infinite or not a number, and nothing was done."""

LARGEST: Final = float(np.finfo(float).max)
FINISHED: Final = int(LoopStatus.FINISHED)

HELD: Final = np.dtype(
    [
        ("inputs", "i8"),
        ("loop", "i8"),  #        `loop.advance`, by address
        ("given", "i8"),  #       (inputs) what they are now, or are to be at the end
        ("last", "i8"),  #        (inputs) what they were at the end of the last piece
        ("values", "i8"),  #      (inputs) the places of their values in a state [t, q, v, p]
        ("slopes", "i8"),  #      (inputs) and of their slopes
        ("instant", "i8"),  #     the place of the instant from which the slopes count
        ("kept", "i8"),  #        (1 + 4n) the state before the piece, and what rounding took from it
        ("kept_h", "f8"),  #      and what else the run remembered
        ("kept_t_low", "f8"),
        ("kept_error", "f8"),
    ]
)


class HeldRecord(Record):
    """A record of `HELD` as native functions see it."""

    layout = HELD


_ONE_AT_A_TIME: Final = Lock()


@native
def keep(held: HeldRecord, run: RunRecord) -> None:
    """The state is written down, in case that the piece fails, and the inputs that it was reached with."""
    now, low, kept, size, last = at(run.now), at(run.low), at(held.kept), 1 + 2 * run.n, at(held.last)
    for i in range(size):
        kept[i] = now[i]
    for i in range(2 * run.n):
        kept[size + i] = low[i]
    for j in range(held.inputs):
        kept[size + 2 * run.n + j] = last[j]
    held.kept_h, held.kept_t_low, held.kept_error = run.h, run.t_low, run.error


@native
def put(state: Array, held: HeldRecord, instant: float, dt: float) -> bool:
    """The inputs into a state, held if dt is 0; whether one of them changes."""
    given, last, values, slopes = at(held.given), at(held.last), at(held.values), at(held.slopes)
    changed = False
    for j in range(held.inputs):
        value = last[j] if dt > 0.0 else given[j]
        slope = (given[j] - last[j]) / dt if dt > 0.0 else 0.0
        changed = changed or state[int(values[j])] != value or state[int(slopes[j])] != slope or slope != 0.0
        state[int(values[j])], state[int(slopes[j])] = value, slope
    if held.inputs > 0:
        state[held.instant] = instant
    return changed


@native
def advance(held: HeldRecord, runs: RunRecord, until: float, over: float, attempts: int) -> int:
    """The run to a time, with its inputs held, or interpolated if `over` is the time ahead; its status.

    On the way it may come back, RUNNING: `loop.advance` goes on from there.
    """
    run = runs[0]
    now, given, last = at(run.now), at(held.given), at(held.last)
    for j in range(held.inputs):
        if not abs(given[j]) <= LARGEST:
            return NOT_A_NUMBER
    keep(held, run)
    instant = now[0]
    if put(now, held, instant, over):
        run.fresh = 1
    put(at(run.new), held, instant, over)
    put(at(run.x), held, instant, over)
    run.accepted = 0
    run.rejected = 0
    run.passed = 0
    status = alone(held.loop, runs, 0, until, attempts)
    if status == FINISHED:
        for j in range(held.inputs):
            last[j] = given[j]
    return status


def compiled() -> Callable[[int, int, float, float, int], int]:
    """`advance` for Python: it takes the addresses of both records."""
    with _ONE_AT_A_TIME:
        return _loaded()


@cache
def _loaded() -> Callable[[int, int, float, float, int], int]:
    return native_library(advance)


@dataclass(frozen=True, eq=False)
class HeldRun:
    """One run with inputs, and the memory that belongs to them. Places count from the beginning of a state."""

    runs: Runs
    record: NDArray[np.void]
    given: Floats
    """(inputs) to be written before a piece."""
    last: Floats
    kept: Floats
    shared: tuple[Any, ...] = field(repr=False)

    @classmethod
    def of(cls, runs: Runs, values: list[int], slopes: list[int], instant: int, now: Floats) -> "HeldRun":
        """With inputs at these places, which are `now` at the start."""
        n, count = runs.kernels.coordinates, len(values)
        given, last, kept = np.array(now, dtype=float), np.array(now, dtype=float), np.zeros(1 + 4 * n + count)
        places = np.array([values, slopes], dtype=float).reshape(2, count)
        record = np.zeros(1, HELD)
        addresses = {"given": given, "last": last, "kept": kept, "values": places[0], "slopes": places[1]}
        for name, array in addresses.items():
            record[name] = array.ctypes.data
        record["inputs"], record["loop"], record["instant"] = count, loop.address(), instant
        return cls(runs, record, given, last, kept, (places,))

    def restore(self) -> None:
        """The state as it was before the last piece, which failed or was interrupted."""
        n, memory, record = self.runs.kernels.coordinates, self.runs.memory[0], self.runs.records
        size = 1 + 2 * n
        low = size + self.runs.kernels.parameters
        self.runs.state[0] = self.kept[:size]
        memory[low : low + 2 * n] = self.kept[size : size + 2 * n]
        self.last[...] = self.kept[size + 2 * n :]
        for name in ("h", "t_low", "error"):
            record[name] = self.record[f"kept_{name}"]
        for name, value in {"fresh": 1, "held": 0, "pending": 0, "caution": 0}.items():
            record[name] = value
