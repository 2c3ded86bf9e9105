"""Events on pieces of motion that are not steps of the native engine: the same search, on a polynomial through each.

Whatever an engine interpolates with, a step of it is a polynomial in time, of degree 3 (Radau) to 40 (Taylor's method
with quadruple precision), whose size falls fast from one order to the next. So 24 states along a step say all about it
that doubles can.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, Final

import numpy as np
from numpy.polynomial import chebyshev

from zwang.arrays import Array
from zwang.compile import Kernel
from zwang.compile.restricted import native, native_library
from zwang.compile.restricted.memory import at, call
from zwang.engines.native.event_roots import FULL, LOST, PAUSED, STOPPED, begin_search, cross_break, search, see_start
from zwang.engines.native.record import RUN, STRETCHES, RunRecord, event_lengths
from zwang.engines.task import EventTask, packed

DEGREE: Final = 23
ROWS: Final = 1024
START, BREAK, PIECE, AGAIN = 0, 1, 2, 3

# A piece is y(θ) = y(0) + θ Σ c_k T_k(2θ − 1), by its states at θ = 0 and where T_DEGREE vanishes. Close to its
# beginning it has all digits of the change since then, so that what leaves zero there is not lost in rounding.
_PLACES: Final = np.append(0.0, 0.5 - 0.5 * np.cos(np.pi * (np.arange(DEGREE) + 0.5) / DEGREE))
_SERIES: Final = np.linalg.inv(chebyshev.chebvander(2 * _PLACES[1:] - 1, DEGREE - 1)) / _PLACES[1:]
_ONE_AT_A_TIME: Final = Lock()


@native
def follow(runs: RunRecord, i: int, what: int, limit: float) -> int:
    """See events from a start, from behind a break, or along a piece up to a fraction of it."""
    run = runs[i]
    if what == START:
        see_start(run)
        return 0
    if what == BREAK:
        stops = cross_break(run)
        see_start(run)
        return STOPPED if stops else 0
    if what == PIECE:
        call(run.event, at(run.values), at(run.now), at(run.work))
        begin_search(run)
    return search(run, run.made, limit)


@cache
def _compiled() -> Callable[[int, int, int, float], int]:
    return native_library(follow)


@dataclass(frozen=True)
class Watched:
    """Events in machine code, a function of [t, q, v, p]."""

    kernel: Kernel
    p: Array
    task: EventTask
    at_zero: tuple[int, ...] = ()
    """Those that count as zero at the start, until they have left it."""


@dataclass(frozen=True)
class Met:
    """Events on a piece, in order: when, and which. The last one may stop the motion; or it is lost which there are."""

    events: tuple[tuple[float, int], ...] = ()
    stops: bool = False
    lost: bool = False


class Search:
    """The events of one run, followed from piece to piece."""

    def __init__(self, watched: Watched, t: float, y: Array, end: float) -> None:
        """Begin at a state; `end` is where the run ends."""
        task, n, count = watched.task, len(y) // 2, len(watched.task.direction)
        state = packed(t, y, watched.p)
        self.arrays: dict[str, Array] = {name: np.zeros(size) for name, size in event_lengths(count).items()}
        self.arrays |= {name: state.copy() for name in ("now", "new", "x", "other")}
        self.arrays |= {
            "piece": np.zeros((DEGREE + 1, 2 * n)),
            "work": np.zeros(max(watched.kernel.work_size, 1)),
            "direction": np.array(task.direction, dtype=float),
            "terminal": np.array(task.stop, dtype=float),
            "jumps": np.array(task.jumps, dtype=float),
            "table": np.zeros((max(ROWS, 2 * count), 2 + 2 * n)),
        }
        self.arrays["fired"][:] = np.nan
        self.arrays["side"][:] = np.nan
        self.arrays["side"][list(watched.at_zero)] = 0.0
        self.kernel = watched.kernel  # its machine code must live as long as its address is used
        self.record = np.zeros(1, RUN)
        for name, array in self.arrays.items():
            self.record[name] = array.ctypes.data
        settings: dict[str, Any] = {
            "n": n,
            "events": count,
            "event": watched.kernel.address,
            "rows": len(self.arrays["table"]),
            "degree": DEGREE,
            "max_panel": abs(end - t) / STRETCHES,
        }
        for name, value in settings.items():
            self.record[name] = value
        self._follow(START)

    def cross(self, t: float, y: Array) -> Met:
        """Go to the other side of a break."""
        self._put("now", t, y)
        return self._met(self._follow(BREAK))

    def along(
        self,
        start: tuple[float, Array],
        end: tuple[float, Array],
        states: Callable[[Array], Array],
        until: float | None = None,
        low: float = 0.0,
    ) -> Met:
        """Events on a piece between two states, by its states (k, 2n) at some times (k,), up to a time.

        `low` is what the time of the start has beyond a double.
        """
        h = (end[0] - start[0]) - low
        self._put("now", *start)
        self._put("new", *end)
        along = states(start[0] + (low + _PLACES * h))
        self.arrays["piece"][0] = along[0]
        self.arrays["piece"][1:] = _SERIES @ (along[1:] - along[0])
        self.record["made"], self.record["t_low"] = h, low
        if not self.record["panel"][0]:
            self.record["panel"] = min(abs(h), self.record["max_panel"][0])
        limit = 1.0 if until is None else min((until - start[0] - low) / h, 1.0)
        found, code = Met(), self._follow(PIECE, limit)
        while code in (PAUSED, FULL):
            found = Met(found.events + self._met(code).events)
            code = self._follow(AGAIN, limit)
        last = self._met(code)
        return Met(found.events + last.events, last.stops, last.lost)

    def _put(self, name: str, t: float, y: Array) -> None:
        self.arrays[name][0], self.arrays[name][1 : 1 + len(y)] = t, y

    def _follow(self, what: int, limit: float = 1.0) -> int:
        with _ONE_AT_A_TIME:
            function = _compiled()
        return function(self.record.ctypes.data, 0, what, limit)

    def _met(self, code: int) -> Met:
        """What is in the table, taken out of it."""
        rows = self.arrays["table"][: self.record["found"][0], :2].tolist()
        self.record["found"] = 0
        return Met(tuple((t, int(which)) for t, which in rows), code == STOPPED, code == LOST)
