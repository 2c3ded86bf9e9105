"""Sensitivities across a switch: their velocities jump, for its instant moves with start and parameters.

A switch changes where its argument g(t, q, q̇; p) passes zero (or an integer). Along a direction δ it does so later by

    δt = −(g_q δq + g_q̇ δq̇ + g_p δp) / ġ,    ġ = g_t + g_q q̇ + g_q̇ q̈₋,

and as long the motion has the acceleration q̈₋ of before instead of q̈₊, that of after: δq̇ jumps by (q̈₋ − q̈₊) δt, δq
not at all (the saltation matrix). Where ġ vanishes, the motion only touches the switch, and a neighbouring one may miss
it: there is no derivative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import symengine as se

from zwang.arrays import Array
from zwang.compile import AnyProgram, Program, RolledProgram
from zwang.compile.rolled.tangent import rolled_tangent
from zwang.compile.tangent import tangent
from zwang.engines.native.engine import compiled
from zwang.errors import InputError
from zwang.lowering.locked import Locked
from zwang.motion.at_switch import AtSwitch, State
from zwang.motion.directions import taken

CONTINUOUS = 1e-11  # of the acceleration: a jump by less is none
AHEAD = 1e3  # of the short time in which the motion changes little: far enough to see an argument bend
ERRORS = 100.0  # in tolerances, that an argument may have
SAME_SHIFT = 1e-6  # shifts of one instant that differ by less are one

_SLOPES: "WeakKeyDictionary[AnyProgram, AnyProgram]" = WeakKeyDictionary()


@dataclass(frozen=True)
class Beside:
    """Sensitivities beside a motion of n coordinates, with the changes of the parameters along each direction."""

    n: int
    changes: Sequence[Array]

    def begin(self, course: AtSwitch) -> State:
        """The state with the sensitivities at the start: on switches that rest, what leads off is stopped at once.

        Refused is a start on another switch across which the acceleration jumps, for directions that lead off it.
        """
        values, sizes = course.argument(course.modes, course.state)
        levels = course.modes[course.count : 2 * course.count]
        low, high = course.locked.limits(levels)
        on = ~(np.minimum(values - low, high - values) > 1e-14 * sizes) & ~course.rests(course.modes)
        for i in np.flatnonzero(on).tolist():
            switch = course.locked.switches[i]
            sides = switch.around(levels[i], high[i] - values[i] < values[i] - low[i])
            jump = np.subtract(*(self.acceleration(course, with_mode(course.modes, i, side)) for side in sides))
            shifts = self.shifts(course, course.modes, i, 1.0)
            if np.abs(jump).max() > CONTINUOUS * self.size(course) and np.any(shifts):
                raise InputError(
                    f"the start lies on the switch at {switch.words}, across which the acceleration jumps: "
                    f"sensitivities are not defined there; start beside it"
                )
        return self.onto(course)

    def onto(self, course: AtSwitch) -> State:
        """The state with sensitivities along the switches that rest: δs = 0.

        A neighbouring motion that is off them comes to them in a time that is as short as it is near, on the forces
        that hold there.
        """
        t, q, v = course.state
        rests = course.rests(course.modes)
        which = [i for i in course.along.which if rests[i]] if course.made else []
        if not which:
            return course.state
        v = v.copy()
        for j, change in enumerate(self.changes):
            part = slice(self.n * (j + 1), self.n * (j + 2))
            off = self.slope(course, course.modes, np.concatenate([[0.0], q[part], v[part], change]))[which]
            v[part] += taken(course, course.modes, course.state, dict(zip(which, off.tolist(), strict=True)))
        return t, q, v

    def across(self, course: AtSwitch, old: Array, fired: Sequence[int]) -> State:
        """The state with the sensitivities after a switch; refused where it is only touched."""
        before, after = (self.acceleration(course, modes) for modes in (old, course.modes))
        rested = course.rests(old)  # a switch that gives way has the same acceleration before and after
        levels = slice(course.count, 2 * course.count)
        changed = np.flatnonzero((old[levels] != course.modes[levels]) & ~rested).tolist()
        for i in fired:
            if i not in changed and not rested[i]:
                self.refuse(course, i)
        size = self.size(course)
        if not changed or np.abs(after - before).max() <= CONTINUOUS * size:
            return course.state
        t, q, v = course.state
        found = []
        for i in changed:
            rate = self.slope(course, old, np.concatenate([[1.0], v[: self.n], before, self.changes[0] * 0]))[i]
            if self.touches(course, old, i, rate):
                self.refuse(course, i)
            found.append(self.shifts(course, old, i, rate))
        if np.ptp(found, axis=0).max() > SAME_SHIFT * np.abs(found).max():
            names = " and ".join(course.locked.switches[i].words for i in changed)
            raise InputError(
                f"the switches at {names} change at the same instant t = {t:.9g}, and beside it one or the other comes "
                f"first: sensitivities are not defined there; vary the start a little"
            )
        v = v.copy()
        for j, shift in enumerate(found[0]):
            v[self.n * (j + 1) : self.n * (j + 2)] += (before - after) * shift
        return t, q, v

    def touches(self, course: AtSwitch, modes: Array, i: int, rate: float) -> bool:
        """Whether the argument would turn so soon that its errors decide whether it passes at all."""
        ahead = AHEAD * course.soon()
        bend = 2 * abs(course.change(modes, i, ahead) - rate * ahead) / ahead**2
        _, sizes = course.argument(modes, course.state)
        return bool(rate**2 <= 2 * bend * ERRORS * course.task.tol * (1 + sizes[i]))

    def refuse(self, course: AtSwitch, i: int) -> None:
        """Refuse a switch that is only touched, by name."""
        raise InputError(
            f"the motion only touches the switch at {course.locked.switches[i].words} at t = {course.state[0]:.9g}: "
            f"sensitivities are not defined there; vary the start a little, or end before it"
        )

    def shifts(self, course: AtSwitch, modes: Array, i: int, rate: float) -> Array:
        """By how much the instant of a switch moves along each direction."""
        _, q, v = course.state
        n, found = self.n, []
        for j, change in enumerate(self.changes):
            part = slice(n * (j + 1), n * (j + 2))
            found.append(-self.slope(course, modes, np.concatenate([[0.0], q[part], v[part], change]))[i] / rate)
        return np.array(found)

    def slope(self, course: AtSwitch, modes: Array, direction: Array) -> Array:
        """The derivatives of all arguments along a direction in t, q, q̇ and p."""
        program = slopes(course.locked)
        given = course.inputs_of(course.locked.readings, modes, course.state) | {"direction": direction}
        return np.asarray(compiled(program)(**given)["d_argument"][0])

    def acceleration(self, course: AtSwitch, modes: Array) -> Array:
        """The motion's own acceleration."""
        return course.acceleration(modes, course.state)[: self.n]

    def size(self, course: AtSwitch) -> float:
        """How large the acceleration is; 1 where it vanishes."""
        return float(np.abs(self.acceleration(course, course.modes)).max()) or 1.0


def with_mode(modes: Array, i: int, mode: float) -> Array:
    """The modes with that of switch i replaced."""
    changed = modes.copy()
    changed[i] = mode
    return changed


def slopes(locked: Locked) -> AnyProgram:
    """The derivatives of the arguments of all switches along one direction, which is one more input."""
    readings = locked.readings
    if readings not in _SLOPES:
        inputs = readings.inputs
        variables = [*inputs["t"], *inputs["q"], *inputs["v"], *inputs["p"]]
        direction = tuple(se.Symbol(f"direction{i}") for i in range(len(variables)))
        whole = dict(inputs) | {"direction": direction}
        if isinstance(readings, RolledProgram):
            places = np.arange(readings.input_size)
            changes = np.where(places < len(variables), readings.input_size + places, -1)
            _SLOPES[readings] = rolled_tangent(readings, whole, places, [changes], ["argument"]).giving("d_argument")
            return _SLOPES[readings]
        along = dict(zip(variables, direction, strict=True))
        both = tangent(readings, [along], of=("argument",), inputs=whole)
        wanted = {"d_argument": both.outputs["d_argument"]}
        _SLOPES[readings] = Program(whole, wanted, {"d_argument": (1, len(locked.switches))}, both.steps)
    return _SLOPES[readings]
