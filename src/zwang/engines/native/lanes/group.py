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
        # Sizes.
        ("n", "i8"),  #             coordinates
        ("state", "i8"),  #         1 + 2n + parameters
        ("pivots", "i8"),
        ("powers", "i8"),
        ("stride", "i8"),  #        length of a row of k
        ("count", "i8"),  #         runs in all
        ("busy", "i8"),  #          lanes that have one
        # Functions, by address.
        ("acceleration", "i8"),  #  for all lanes at once
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
        # Arrays of numbers, by address.
        ("waiting", "i8"),  #       (1) an integer: the number of the next run that no group has taken
        ("rtol", "i8"),
        ("atol", "i8"),
        # Settings, as in `RUN`.
        ("max_step", "f8"),
        ("growing", "i8"),
        ("quiet_step", "f8"),
        ("zone", "f8"),
        ("pivot_tol", "f8"),
        ("step_limit", "f8"),
        ("position_tol", "f8"),
        ("velocity_tol", "f8"),
        ("padding", "i8", 15),  #   groups belong to different threads: their cache lines are kept apart
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
    runs: NDArray[np.void], start: NDArray[np.float64], kernels: tuple[int, int], work: int, alone: int, count: int
) -> Groups:
    """So many groups for these records of runs, which share their settings; `work` counts doubles.

    `kernels` are the addresses of acceleration and projection in lanes, the latter 0 if there is none.

    A lane that has no run is evaluated with the others, and must do no harm: `start` is the state of one of the runs,
    with its parameters, among which there may be addresses.
    """
    first, parameters = runs[0], len(start) - 1 - 2 * int(runs[0]["n"])
    n, pivots, powers = (int(first[name]) for name in ("n", "pivots", "powers"))
    names = GROUP.names or ()
    sizes = {
        name: LANES * size
        for name, size in lengths(n, parameters, pivots, 0, 0, bridge=False, powers=powers).items()
        if name in names
    }
    sizes |= {"k": LANES * 16 * (n + pivots + powers), "work": work}
    places = dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))
    # Vectors of lanes are aligned as they want to be; groups belong to different threads and are kept a page apart.
    total = sum(sizes.values()) + 4096 // 8
    memory = _aligned(count * total).reshape(count, total)
    for name in ("now", "new", "x"):
        memory[:, places[name] : places[name] + sizes[name]] = np.repeat(start, LANES)
    waiting = np.zeros(1, np.int64)
    records = _aligned(count * (GROUP.itemsize // 8)).view(GROUP)
    records["number"] = -1.0
    for name, place in places.items():
        records[name] = memory.ctypes.data + 8 * (place + total * np.arange(count))
    shared = ("n", "pivots", "powers", "growing", "zone", "rtol", "atol", "max_step", "quiet_step", "pivot_tol")
    for name in (*shared, "step_limit", "position_tol", "velocity_tol"):
        records[name] = first[name]
    settings = {
        "state": 1 + 2 * n + parameters,
        "stride": n + pivots + powers,
        "count": len(runs),
        "acceleration": kernels[0],
        "projection": kernels[1],
        "alone": alone,
        "waiting": waiting.ctypes.data,
    }
    for name, value in settings.items():
        records[name] = value
    return Groups(records, (memory, waiting))


def _aligned(count: int) -> NDArray[np.float64]:
    """So many zeros, from an address on that is a multiple of the size of a vector."""
    block = np.zeros(count + LANES)
    return block[-block.ctypes.data // 8 % LANES :][:count]
