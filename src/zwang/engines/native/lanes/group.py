"""Several runs side by side, one in each lane of the processor's vectors: what such a group remembers.

An array of a group holds, for each number that the array of a run holds (`record`), the numbers of all lanes, and what
a run remembers between steps stands under the same name in the record of the group, for all lanes. So the same native
functions serve both. What the step loop does not need in every step stays in the run's record, to which a lane's
numbers return when the run leaves it.
"""

import itertools
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Record
from zwang.engines.native.record import lengths

GROUP: Final = np.dtype(
    [
        # What each lane remembers beside its state. First, so that all of them lie as vectors want to.
        ("number", "f8", LANES),  #  of its run; -1: it has none
        ("sign", "f8", LANES),  #    1 forwards, -1 backwards
        ("stop", "f8", LANES),  #    the time to step to: the end, or the instant before the next break
        ("wanted", "f8", LANES),  #  the next requested time; infinitely far ahead when there is none
        ("step", "f8", LANES),  #    the step being tried, with its sign
        ("step_low", "f8", LANES),  # what the time at its end loses to round-off
        ("work_there", "f8", LANES),  # the work up to the state last interpolated
        # The same, by the names that `RUN` has: these go with a run, into its lane and out of it.
        ("h", "f8", LANES),
        ("t_low", "f8", LANES),
        ("error", "f8", LANES),
        ("held", "f8", LANES),
        ("trouble", "f8", LANES),
        ("pivot", "f8", LANES),
        ("volume", "f8", LANES),
        ("accepted", "f8", LANES),
        ("rejected", "f8", LANES),
        ("evaluations", "f8", LANES),
        ("worked", "f8", LANES),
        ("worked_low", "f8", LANES),
        ("turned", "f8", LANES),
        ("projections", "f8", LANES),
        ("misses", "f8", LANES),
        ("left", "f8", LANES),
        ("panel", "f8", LANES),
        ("behind", "f8", LANES),
        # The same at the end of the step being tried, if it is accepted.
        ("next_panel", "f8", LANES),
        ("next_behind", "f8", LANES),
        # Sizes.
        ("n", "i8"),  #             coordinates
        ("state", "i8"),  #         1 + 2n + parameters
        ("pivots", "i8"),
        ("powers", "i8"),
        ("events", "i8"),
        ("stride", "i8"),  #        length of a row of k
        ("count", "i8"),  #         runs in all
        ("busy", "i8"),  #          lanes that have one
        # Functions, by address.
        ("acceleration", "i8"),  #  for all lanes at once
        ("event", "i8"),  #         likewise; 0 for none
        ("projection", "i8"),  #    likewise; 0 for none
        ("alone", "i8"),  #         `loop.advance`, for one run
        # Arrays of lanes, by address; those that `RUN` has, too, under its names.
        ("now", "i8"),
        ("low", "i8"),
        ("new", "i8"),
        ("new_low", "i8"),
        ("x", "i8"),
        ("x_low", "i8"),
        ("out", "i8"),
        ("k", "i8"),  #             (16, stride)
        ("sums", "i8"),
        ("dense", "i8"),
        ("work", "i8"),
        ("pivot_scale", "i8"),
        ("values", "i8"),
        ("spare", "i8"),
        ("value", "i8"),
        ("side", "i8"),
        ("heading", "i8"),
        ("away", "i8"),
        ("coarse", "i8"),
        ("grain", "i8"),
        ("fired", "i8"),
        ("series", "i8"),
        ("other", "i8"),
        ("seen", "i8"),  #          (events) their values at the state
        ("next_side", "i8"),  #     (events) what will hold at the end of the step being tried, if it is accepted
        ("next_heading", "i8"),  #  (events)
        ("next_away", "i8"),  #     (events)
        # Arrays of numbers, by address.
        ("order", "i8"),  #         (count) the numbers of the runs, in the order in which they are taken
        ("waiting", "i8"),  #       (1) an integer: the place there of the next that no group has taken
        ("rtol", "i8"),
        ("atol", "i8"),
        # Settings, as in `RUN`.
        ("max_step", "f8"),
        ("max_panel", "f8"),
        ("growing", "i8"),
        ("quiet_step", "f8"),
        ("zone", "f8"),
        ("pivot_tol", "f8"),
        ("step_limit", "f8"),
        ("position_tol", "f8"),
        ("velocity_tol", "f8"),
        ("padding", "i8", 12),  #   groups belong to different threads: their cache lines are kept apart
    ]
)
"""All there is to know about a group."""


class Group(Record):
    """A record of `GROUP` as native functions see it."""

    layout = GROUP


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups that share the runs of one ensemble: each takes the next that waits as soon as it has a lane free."""

    records: NDArray[np.void]  # (G,)  `GROUP`
    kept: tuple[NDArray[np.float64] | NDArray[np.int64], ...] = field(repr=False)  # records hold their addresses


def prepare(
    runs: NDArray[np.void],
    start: NDArray[np.float64],
    kernels: tuple[int, int, int],
    work: int,
    alone: int,
    count: int,
    order: NDArray[np.float64],
) -> Groups:
    """So many groups for these records of runs, which share their settings; `work` counts doubles.

    `kernels` are the addresses of acceleration, events and projection in lanes, 0 where there is none; `order` are the
    numbers of the runs that are meant.

    A lane that has no run is evaluated with the others, and must do no harm: `start` is the state of one of the runs,
    with its parameters, among which there may be addresses.
    """
    first, parameters = runs[0], len(start) - 1 - 2 * int(runs[0]["n"])
    n, pivots, powers, events = (int(first[name]) for name in ("n", "pivots", "powers", "events"))
    names = GROUP.names or ()
    sizes = {
        name: LANES * size
        for name, size in lengths(n, parameters, pivots, events, 0, bridge=False, powers=powers).items()
        if name in names
    }
    sizes |= {"k": LANES * 16 * (n + pivots + powers), "work": work}
    if events:
        sizes |= dict.fromkeys(("seen", "next_side", "next_heading", "next_away"), LANES * events)
    places = dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))
    # Vectors of lanes are aligned as they want to be; groups belong to different threads and are kept a page apart.
    total = sum(sizes.values()) + 4096 // 8
    memory = _aligned(count * total).reshape(count, total)
    for name in ("now", "new", "x", *(["other"] if events else [])):
        memory[:, places[name] : places[name] + sizes[name]] = np.repeat(start, LANES)
    waiting = np.zeros(1, np.int64)
    records = _aligned(count * (GROUP.itemsize // 8)).view(GROUP)
    records["number"] = -1.0
    for name, place in places.items():
        records[name] = memory.ctypes.data + 8 * (place + total * np.arange(count))
    shared = ("n", "pivots", "powers", "events", "growing", "zone", "rtol", "atol", "max_step", "quiet_step")
    for name in (*shared, "max_panel", "pivot_tol", "position_tol", "velocity_tol"):
        records[name] = first[name]
    settings = {
        "step_limit": runs["step_limit"][order.astype(int)].min(),  # one that may take more of them does so by itself
        "state": 1 + 2 * n + parameters,
        "stride": n + pivots + powers,
        "count": len(order),
        "acceleration": kernels[0],
        "event": kernels[1],
        "projection": kernels[2],
        "alone": alone,
        "order": order.ctypes.data,
        "waiting": waiting.ctypes.data,
    }
    for name, value in settings.items():
        records[name] = value
    return Groups(records, (memory, order, waiting))


def _aligned(count: int) -> NDArray[np.float64]:
    """So many zeros, from an address on that is a multiple of the size of a vector."""
    block = np.zeros(count + LANES)
    return block[-block.ctypes.data // 8 % LANES :][:count]
