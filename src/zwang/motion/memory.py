"""What a run remembers: its status, its counters, its settings and where its arrays are.

A run has to stop anywhere, go on later as if it had not stopped, and be one of thousands that share a machine. So
all of it is one record, and the step loop takes nothing else.
"""

from enum import IntEnum
from typing import Final

import numpy as np

from zwang.compile.restricted import Record

PARTS: Final = 4
"""Subintervals of a step that are searched for events."""

CROSSINGS: Final = 64
"""Crossings that a run writes down before it comes back to have them taken out."""


class Status(IntEnum):
    """Why the loop came back. The state is always the last good one."""

    RUNNING = 0  #         the slice of attempts is used up: call again to go on
    FINISHED = 1  #        the end time is reached
    EVENT = 2  #           a terminal event: the state is the one at the event; call again to go on
    EVENTS_FULL = 3  #     the table of events is full: take its rows out, set `events` to 0, call again
    SINGULAR = 4  #        a pivot vanishes ahead, and the run may not or cannot step across
    NOT_FINITE = 5  #      the acceleration is infinite or not a number, however small the step
    STEP_TOO_SMALL = 6  #  the tolerance asks for steps below the resolution of time
    TOO_MANY_STEPS = 7  #  the limit of attempted steps is reached
    ASTRAY = 8  #          the state is so far off its constraints that it may be taken for another branch of them


RUN: Final = np.dtype(
    [
        # Sizes.
        ("n", "i8"),  #             coordinates
        ("pivots", "i8"),
        ("powers", "i8"),  #        1: the acceleration kernel gives the power behind the pivots; 0: there is none
        ("events", "i8"),
        ("times", "i8"),  #         requested times
        ("rows", "i8"),  #          rows in the table of events
        ("breaks", "i8"),  #        instants at which the acceleration or a derivative of it jumps
        ("stride", "i8"),  #        length of a row of k
        # Kernels, by address; 0 for none.
        ("acceleration", "i8"),
        ("event", "i8"),
        ("projection", "i8"),
        ("crossing", "i8"),  #      the same, used after steps across a singular position only
        # Arrays, by address. A state is packed as kernels read it: [t, q, v, p].
        ("now", "i8"),  #           the state
        ("low", "i8"),  #           (2n) what rounding took from it
        ("new", "i8"),  #           the end of the step
        ("new_low", "i8"),
        ("x", "i8"),  #             a state inside the step
        ("x_low", "i8"),
        ("k", "i8"),  #             (17, stride) accelerations and pivots of the stages, and of a state looked at beside
        ("sums", "i8"),  #          (8, n)
        ("dense", "i8"),  #         (7, 2n) coefficients of the interpolant, then (7) those of the work
        ("out", "i8"),  #           (2n + 2) what the projection kernel gives
        ("values", "i8"),  #        (PARTS + 1, events) event values along the step
        ("value", "i8"),  #         (events)
        ("roots", "i8"),  #         (PARTS · events) crossings in the step as fractions of it
        ("which", "i8"),  #         (PARTS · events) and which event each is
        ("work", "i8"),  #          the kernels' own
        ("rtol", "i8"),  #          (2n)
        ("atol", "i8"),  #          (2n)
        ("pivot_scale", "i8"),  #   (pivots) what each is judged by
        ("best", "i8"),  #          (1 + 2n) the state at which one of these was last found larger than before
        ("direction", "i8"),  #     (events)
        ("terminal", "i8"),  #      (events)
        ("at_times", "i8"),  #      (times)
        ("at_breaks", "i8"),  #     (breaks, 2) the last instant before each and the first one after it
        ("q", "i8"),  #             (times, n)
        ("v", "i8"),  #             (times, n)
        ("slope", "i8"),  #         (times, n) the interpolant's v̇
        ("size", "i8"),  #          (times) size of the step that was interpolated; 0 at its ends
        ("done", "i8"),  #          (times) the work up to then
        ("table", "i8"),  #         (rows, 2 + 2n) [t, which, q, v]
        ("crossings", "i8"),  #     (CROSSINGS, 4 + 4n) [instant, least pivot, t, q, v before, t, q, v after]
        # Settings.
        ("step_limit", "i8"),
        ("max_step", "f8"),
        ("quiet_step", "f8"),  #    the longest step where the error says nothing of the size that is needed
        ("pivot_tol", "f8"),
        ("growing", "i8"),  #       so many pivots, the first ones, are judged by the largest value along the run
        ("zone", "f8"),  #          below this share of its scale a pivot calls for states on the constraints; 0: never
        ("fine", "f8"),  #          the share of the tolerance that a crossing may use
        ("position_tol", "f8"),
        ("velocity_tol", "f8"),
        # What the run remembers, beside its state.
        ("status", "i8"),
        ("fresh", "i8"),  #         1: slope, pivots and event values have to be computed from the state
        ("held", "i8"),  #          1: the last attempt was refused, the next step must not grow
        ("caution", "i8"),  #       halvings of the step on the way to a vanishing pivot
        ("trouble", "i8"),  #       the Status to give should the step become too small
        ("h", "f8"),  #             size of the next step; 0: to be chosen
        ("t_low", "f8"),  #         what t lost to round-off
        ("worked", "f8"),  #        the work of all forces so far
        ("worked_low", "f8"),  #    what it lost to round-off
        ("turned", "f8"),  #        the work of all steps, whatever its sign
        ("error", "f8"),  #         error of the last accepted step in units of the tolerance
        ("ahead", "i8"),  #         1: a singular instant is ahead, and to be crossed
        ("seen", "i8"),  #          1: it was foreseen from this state
        ("tries", "i8"),  #         plans to cross it that failed
        ("vanishing", "i8"),  #     the pivot that vanishes there
        ("instant", "f8"),
        ("span", "f8"),  #          size of the step that is to cross
        ("horizon", "f8"),  #       where the first step that met a vanishing pivot would have ended
        ("lowest", "f8"),  #        smallest pivot of the step being tried, in units of its scale
        ("pivot", "f8"),  #         smallest pivot of the run
        # What it counts.
        ("accepted", "i8"),
        ("rejected", "i8"),
        ("evaluations", "i8"),
        ("saved", "i8"),  #         requested times written
        ("passed", "i8"),  #        breaks passed
        ("found", "i8"),  #         rows of the table of events written
        ("crossed", "i8"),  #       rows of crossings written
        ("projections", "i8"),  #   corrections made by the projection kernel
        ("misses", "i8"),  #        projections that did not reach their tolerance
        ("left", "f8"),  #          the largest residual that one of them left
        ("padding", "f8", 8),  #    samples belong to different threads: their cache lines are kept apart
    ]
)
"""All there is to know about one run."""


class Run(Record):
    """A record of `RUN` as native functions see it."""

    layout = RUN


def lengths(
    n: int, parameters: int, pivots: int, events: int, work: int, crossing: bool, powers: int = 0
) -> dict[str, int]:
    """Lengths of the arrays that a run works in, by their names in `RUN`."""
    state = 1 + 2 * n + parameters
    return {
        "now": state,
        "low": 2 * n,
        "new": state,
        "new_low": 2 * n,
        "x": state,
        "x_low": 2 * n,
        "k": 17 * stride(n, pivots + powers),
        "sums": 8 * n,
        "dense": 14 * n + 7 * powers,
        "out": 2 * n + 2,
        "values": (PARTS + 1) * events,
        "value": events,
        "roots": PARTS * events,
        "which": PARTS * events,
        "pivot_scale": pivots,
        "best": 1 + 2 * n,
        "crossings": CROSSINGS * (4 + 4 * n) if crossing else 0,
        "work": work,
    }


def stride(n: int, behind: int) -> int:
    """Length of a row of k, with so much behind the accelerations, rounded up to whole cache lines."""
    return -(n + behind) // 8 * -8
