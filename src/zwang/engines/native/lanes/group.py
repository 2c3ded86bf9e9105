"""Several runs side by side, one in each lane of the processor's vectors: what such a group remembers.

An array of a group holds, for each number that the array of a run holds (`memory`), the numbers of all lanes. What a
run remembers between steps and the step loop needs in every step is kept in `own`, one row for each member of `Own`;
the rest stays in the run's record, to which a lane's numbers return when the run leaves it.
"""

import itertools
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from zwang.compile.lanes import LANES
from zwang.compile.restricted import Record
from zwang.engines.native.record import lengths


class Own(IntEnum):
    """What a lane remembers, beside its state: rows of `own`."""

    RUN = 0  #          the number of its run; -1: none
    SIGN = 1  #         1 forwards, -1 backwards
    H = 2  #            as in `RUN`, from here …
    T_LOW = 3
    ERROR = 4
    HELD = 5
    TROUBLE = 6
    PIVOT = 7
    ACCEPTED = 8
    REJECTED = 9
    EVALUATIONS = 10
    WORKED = 11
    WORKED_LOW = 12
    TURNED = 13
    VOLUME = 14  #      … to here
    WANTED = 15  #      the next requested time; infinitely far ahead when there is none
    STEP = 16  #        the step being tried, with its sign
    STEP_LOW = 17  #    what the time at its end loses to round-off
    WORK = 18  #        the work up to the state last interpolated


GROUP: Final = np.dtype(
    [
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
        ("alone", "i8"),  #         `loop.advance`, for one run
        # Arrays of lanes, by address; those that `RUN` has, too, under its names.
        ("now", "i8"),
        ("low", "i8"),
        ("new", "i8"),
        ("new_low", "i8"),
        ("x", "i8"),
        ("k", "i8"),  #             (16, stride)
        ("sums", "i8"),
        ("dense", "i8"),
        ("work", "i8"),
        ("own", "i8"),  #           (len(Own))
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
        ("padding", "f8", 8),  #    groups belong to different threads: their cache lines are kept apart
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


def prepare(runs: NDArray[np.void], parameters: int, acceleration: int, work: int, alone: int, count: int) -> Groups:
    """So many groups for these records of runs, which share their settings; `work` counts doubles."""
    first = runs[0]
    n, pivots, powers = (int(first[name]) for name in ("n", "pivots", "powers"))
    names = GROUP.names or ()
    sizes = {
        name: LANES * size
        for name, size in lengths(n, parameters, pivots, 0, 0, bridge=False, powers=powers).items()
        if name in names
    }
    sizes |= {"k": LANES * 16 * (n + pivots + powers), "work": work, "own": LANES * len(Own)}
    places = dict(zip(sizes, itertools.accumulate(sizes.values(), initial=0), strict=False))
    # Vectors of lanes are aligned as they want to be; groups belong to different threads and are kept a page apart.
    total = sum(sizes.values()) + 4096 // 8
    block = np.zeros(count * total + LANES)
    memory = block[-block.ctypes.data // 8 % LANES :][: count * total].reshape(count, total)
    memory[:, places["own"] + LANES * Own.RUN :][:, :LANES] = -1.0
    waiting = np.zeros(1, np.int64)
    records = np.zeros(count, GROUP)
    for name, place in places.items():
        records[name] = memory.ctypes.data + 8 * (place + total * np.arange(count))
    shared = ("n", "pivots", "powers", "growing", "zone", "rtol", "atol", "max_step", "quiet_step", "pivot_tol")
    for name in (*shared, "step_limit"):
        records[name] = first[name]
    settings = {
        "state": 1 + 2 * n + parameters,
        "stride": n + pivots + powers,
        "count": len(runs),
        "acceleration": acceleration,
        "alone": alone,
        "waiting": waiting.ctypes.data,
    }
    for name, value in settings.items():
        records[name] = value
    return Groups(records, (memory, waiting))
