"""What a run remembers: its status, its counters, its settings and where its arrays are.

A run has to stop anywhere, go on later as if it had not stopped, and be one of thousands that share a machine. So
all of it is one record, and the step loop takes nothing else.
"""

from enum import IntEnum
from typing import Final

import numpy as np

from zwang.compile.restricted import Record

PANEL_POINTS: Final = 8
"""Where a panel of a step is looked at for events."""

STRETCHES: Final = 128
"""Into so many parts at least a run is divided to be searched for events."""

BRIDGES: Final = 64
"""Crossings that a run writes down before it comes back to have them taken out."""

KICKS: Final = 512
"""Kicks that it writes down before that."""

READINGS: Final = 4
"""What a kick is judged by."""


class LoopStatus(IntEnum):
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
    UNRESOLVED = 9  #      an event varies so fast that its zeros cannot be told apart


RUN: Final = np.dtype(
    [
        # Sizes.
        ("n", "i8"),  #             coordinates
        ("pivots", "i8"),
        (
            "powers",
            "i8",
        ),  #        what the acceleration kernel gives behind the pivots: all forces' power, those of parts
        ("events", "i8"),
        ("kicks", "i8"),  #         events at which velocities may jump
        ("first_kick", "i8"),  #    the first of these
        ("times", "i8"),  #         requested times
        ("rows", "i8"),  #          rows in the table of events
        ("breaks", "i8"),  #        instants at which the acceleration or a derivative of it jumps
        ("stride", "i8"),  #        length of a row of k
        # Kernels, by address; 0 for none.
        ("acceleration", "i8"),
        ("event", "i8"),
        ("projection", "i8"),
        ("bridge", "i8"),  #      the same, used after steps across a singular position only
        ("kick", "i8"),  #          velocities after they have jumped at an event (`kick`)
        # Arrays, by address. A state is packed as kernels read it: [t, q, v, p].
        ("now", "i8"),  #           the state
        ("low", "i8"),  #           (2n) what rounding took from it
        ("new", "i8"),  #           the end of the step
        ("new_low", "i8"),
        ("x", "i8"),  #             a state inside the step
        ("x_low", "i8"),
        ("k", "i8"),  #             (17, stride) accelerations and pivots of the stages, and of a state looked at beside
        ("sums", "i8"),  #          (8, n)
        ("dense", "i8"),  #         (7, 2n) coefficients of the interpolant, then (powers, 7) those of the work
        ("out", "i8"),  #           (2n + 2) what the projection kernel gives
        ("piece", "i8"),  #         (degree + 1, 2n) a piece of motion from elsewhere (`pieces`)
        ("values", "i8"),  #        (PANEL_POINTS, events) event values at the points of a panel
        ("spare", "i8"),  #         (PANEL_POINTS, events) and of a panel within it
        ("value", "i8"),  #         (events)
        ("side", "i8"),  #          (events) on which side of zero each event is
        ("next_side", "i8"),  #     (events) and will be at the end of the panel
        ("heading", "i8"),  #       (events) its change between the last two points, 0 if it is not known
        ("next_heading", "i8"),  #  (events)
        ("scale", "i8"),  #         (events) the largest value in the step
        ("noise", "i8"),  #         (events) the rounding errors of each, as far as it is rough
        ("grain", "i8"),  #         (events) and as far as the last digits of a state go
        ("coarse", "i8"),  #        (events) the same at the end of a step
        ("other", "i8"),  #         another state
        ("away", "i8"),  #          (events) 1: it has been away from zero, by more than rounding, since the start
        ("fired", "i8"),  #         (events) when each fired last
        ("series", "i8"),  #        (3, PANEL_POINTS) coefficients of an event on a panel, of its slope and of its bend
        ("zoomed", "i8"),  #        (2, PANEL_POINTS) and on a panel within it
        ("roots", "i8"),  #         (2 · events) what fires in a panel, as fractions of the step
        ("which", "i8"),  #         (2 · events) which event each is
        ("come_from", "i8"),  #     (2 · events) and the side it comes from
        ("work", "i8"),  #          the kernels' own
        ("rtol", "i8"),  #          (2n)
        ("atol", "i8"),  #          (2n)
        ("pivot_scale", "i8"),  #   (pivots) what each is judged by
        ("best", "i8"),  #          (1 + 2n) the state at which one of these was last found larger than before
        ("direction", "i8"),  #     (events)
        ("terminal", "i8"),  #      (events)
        ("jumps", "i8"),  #         (events) whether a jump over zero at a break counts
        ("at_times", "i8"),  #      (times)
        ("at_breaks", "i8"),  #     (breaks, 2) the last instant before each and the first one after it
        ("q", "i8"),  #             (times, n)
        ("v", "i8"),  #             (times, n)
        ("slope", "i8"),  #         (times, n) the interpolant's v̇
        ("size", "i8"),  #          (times) size of the step that was interpolated; 0 at its ends
        ("done", "i8"),  #          (times) the work up to then
        ("parts", "i8"),  #         (powers − 1) parts of the work so far
        ("parts_done", "i8"),  #    (times, powers − 1) and up to the requested times
        ("table", "i8"),  #         (rows, 2 + 2n) [t, which, q, v]
        ("bridges", "i8"),  #     (CROSSINGS, 4 + 4n) [instant, least pivot, t, q, v before, t, q, v after]
        ("kick_out", "i8"),  #      (kicks, n + 3 + READINGS) what their kernel gives
        ("most", "i8"),  #          (kicks, READINGS) what its readings may be
        ("apart", "i8"),  #         (events) how far from zero the others must be
        ("kicked_at", "i8"),  #     (KICKS, 5 + 3n) [t, which, three numbers of the kernel's, q, v before, v after]
        # Settings.
        ("step_limit", "i8"),
        ("max_step", "f8"),
        ("quiet_step", "f8"),  #    the longest step where the error says nothing of the size that is needed
        ("max_panel", "f8"),  #     the widest panel, in time, that is searched for events at once
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
        ("volume", "f8"),  #        largest product of the growing pivots, in units of their scales
        # The step that was made and is being searched for events.
        ("pending", "i8"),  #       1: there is one
        ("made", "f8"),  #          its size
        ("made_error", "f8"),  #    its error in units of the tolerance
        ("made_low", "f8"),  #      what t at its end lost to round-off
        ("made_across", "i8"),  #   1: it crossed a singular position
        ("degree", "i8"),  #        of the polynomial that it is; 0: the interpolant of this engine
        ("searched", "f8"),  #      the fraction of it that is done
        ("panel", "f8"),  #         the width of the next panel, in time
        ("behind", "f8"),  #        the width of the last panel, in time
        ("held_panel", "i8"),  #    1: the last panel was refused, the next one must not grow
        ("caught", "i8"),  #        what fired in the panel
        ("stop", "f8"),  #          where in the step a terminal event is
        ("panels", "i8"),  #        panels of the step
        ("pause", "i8"),  #         panels since the last pause
        # What it counts.
        ("accepted", "i8"),
        ("rejected", "i8"),
        ("evaluations", "i8"),
        ("saved", "i8"),  #         requested times written
        ("passed", "i8"),  #        breaks passed
        ("found", "i8"),  #         rows of the table of events written
        ("bridged", "i8"),  #       rows of crossings written
        ("kicked", "i8"),  #        rows of kicks written
        ("projections", "i8"),  #   corrections made by the projection kernel
        ("misses", "i8"),  #        projections that did not reach their tolerance
        ("left", "f8"),  #          the largest residual that one of them left
        ("padding", "i8", 8),  #    samples belong to different threads: their cache lines are kept apart
    ]
)
"""All there is to know about one run."""


class RunRecord(Record):
    """A record of `RUN` as native functions see it."""

    layout = RUN


def lengths(
    n: int, parameters: int, pivots: int, events: int, work: int, bridge: bool, powers: int = 0, kicks: int = 0
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
        "parts": max(powers - 1, 0),
        "other": state if events else 0,
        "out": 2 * n + 2,
        **event_lengths(events),
        "pivot_scale": pivots,
        "best": 1 + 2 * n,
        "bridges": BRIDGES * (4 + 4 * n) if bridge else 0,
        "kick_out": kicks * (n + 3 + READINGS),
        "kicked_at": KICKS * (5 + 3 * n) if kicks else 0,
        "work": work,
    }


def event_lengths(events: int) -> dict[str, int]:
    """The names and lengths of the arrays that the search of events needs."""
    if not events:
        return {}
    rows = {
        "value": 1,
        "side": 1,
        "next_side": 1,
        "heading": 1,
        "next_heading": 1,
        "scale": 1,
        "noise": 1,
        "grain": 1,
        "coarse": 1,
        "away": 1,
        "fired": 1,
        "roots": 2,
        "which": 2,
        "come_from": 2,
    }
    rows |= {"values": PANEL_POINTS, "spare": PANEL_POINTS}
    return {name: count * events for name, count in rows.items()} | {
        "series": 3 * PANEL_POINTS,
        "zoomed": 2 * PANEL_POINTS,
    }


def stride(n: int, behind: int) -> int:
    """Length of a row of k, with so much behind the accelerations, rounded up to whole cache lines."""
    return -(n + behind) // 8 * -8
