"""A motion that stands at a switch: its state, how its switches are held, and what programs say of it there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array, Indices
from zwang.compile import AnyProgram
from zwang.engines.native.engine import compiled
from zwang.engines.task import EventTask, Task
from zwang.lowering.locked import Locked
from zwang.motion.singular.leap import inputs

State = tuple[float, Array, Array]

Answers = tuple[float, Indices, Array]
"""How much a switch accelerates along itself by a unit force, which rates its half jump of forces changes, and how."""

SOON = 1e-6  # how far ahead to look from a switch, in terms of the time in which the motion changes
LOOK_BACK = 1e3  # times as far for a look back
TO_LOOK_AT = 1e-6  # of coordinates: how far along the way that a motion begins it is looked what falls
UNCHANGED = 1e-9  # of a value: a change by less is none
SLOW = 1e-3  # of the span: a motion at rest does not change faster than in this


@dataclass(frozen=True)
class InLoops:
    """What a model in loops has beside: J of switches times the response to forces at some, and what puts onto them."""

    response: AnyProgram
    onto: AnyProgram
    damped: bool
    """Whether rows of constraints are."""


@dataclass(frozen=True)
class Along:
    """The programs of a motion some of whose switches rest (`resting`)."""

    which: list[int]
    """The switches that may rest."""
    multiplied: Callable[[Sequence[int]], bool]
    """Whether forces at some of them depend on each other's sides."""
    acceleration: AnyProgram
    events: EventTask
    readings: AnyProgram
    shares: AnyProgram
    loops: InLoops | None
    projection: AnyProgram | None
    """Onto the constraints, if there are any."""


@dataclass(frozen=True)
class Standing:
    """Where switches stand (k,): what they read and how exactly, their levels and limits, and which are near."""

    values: Array
    levels: Array
    known: NDArray[np.bool_]
    low: Array
    high: Array
    noise: Array
    near: NDArray[np.bool_]


class AtSwitch:
    """What is known of a motion between two runs of its engine."""

    def __init__(self, task: Task, locked: Locked, make_along: Callable[[], Along] | None) -> None:
        """At the start of a task, with nothing held."""
        self.task, self.locked, self.count = task, locked, len(locked.switches)
        self.state: State = (task.t, task.q, task.v)
        """Time, positions and velocities, those of sensitivities behind those of the motion."""
        self.span = abs(float(task.times[-1]) - task.t)
        self.sense = 1.0 if task.times[-1] >= task.t else -1.0
        self.modes = locked.literal
        """How switches are held: what stands for each, levels, slacks, 1 for those that rest, 1 for those that lead."""
        self.given = inputs(task, *self.state)  # of programs; state and modes are put in as they are
        self.make_along = make_along
        self.made: Along | None = None
        self.answers: dict[int, Answers] = {}
        """What forces at switches do, of those that were asked for in loops."""

    @property
    def along(self) -> Along:
        """The programs of a motion along switches, made when they are first asked for."""
        assert self.make_along is not None
        self.made = self.made or self.make_along()
        return self.made

    def rests(self, modes: Array) -> Any:
        """(k,) which switches rest in some modes."""
        found = modes[3 * self.count : 4 * self.count] > 0
        return found if len(found) else np.zeros(self.count, dtype=bool)

    def soon(self) -> float:
        """A time in which the motion changes little."""
        _, _, v = self.state
        a, n = self.acceleration(self.modes, self.state), len(self.locked.readings.inputs["q"])
        speed, pace = float(np.abs(v[:n]).max()), float(np.abs(a[:n]).max())
        scale = max(speed / pace, SLOW * self.span) if pace > 0 else self.span
        return self.sense * SOON * min(self.span, scale)

    def change(self, modes: Array, i: int, tau: float) -> float:
        """By how much an argument changes within a short time, if modes are these; per unit of the run's sense."""
        return float(self.changes(modes, tau)[i])

    def changes(self, modes: Array, tau: float) -> Array:
        """The same of all arguments."""
        t, q, v = self.state
        a = self.acceleration(modes, self.state)
        later = (t + tau, q + tau * v + tau**2 / 2 * a, v + tau * a)
        return np.asarray(self.argument(modes, later)[0] - self.argument(modes, self.state)[0])

    def reading(self, modes: Array, i: int) -> tuple[float, float]:
        """An argument at the present state, and the size of its terms."""
        values, sizes = self.argument(modes, self.state)
        return float(values[i]), float(sizes[i])

    def argument(self, modes: Array, state: State) -> tuple[Array, Array]:
        """The arguments of all switches at a state, and the sizes of their terms."""
        program = self.along.readings if self.rests(modes).any() else self.locked.readings
        out = self.evaluated(program, modes, state)
        return out["argument"], out["size"]

    def acceleration(self, modes: Array, state: State) -> Array:
        """The acceleration at a state; where a mode has no value there, as if none were held."""
        program = self.along.acceleration if self.rests(modes).any() else self.task.acceleration
        held = self.evaluated(program, modes, state)["acceleration"]
        if np.isfinite(held).all():
            return held
        return self.evaluated(self.task.acceleration, self.locked.literal, state)["acceleration"]

    def watched(self, modes: Array, state: State) -> Array:
        """What events read at a state; there are some."""
        events = self.along.events if self.rests(modes).any() else self.task.events
        assert events is not None
        return self.evaluated(events.program, modes, state)["event"]

    def evaluated(self, program: AnyProgram, modes: Array, state: State, **more: Array) -> dict[str, Array]:
        """What a program says at a state, with more inputs if it has some."""
        return compiled(program)(**self.inputs_of(program, modes, state), **more)

    def falls(self, which: Sequence[int]) -> bool:
        """Whether the motion begins to move so from here, where it is at rest, that one of some events falls."""
        t, q, v = self.state
        tau = self.soon()
        a = self.acceleration(self.modes, (t + tau, q, v))
        size = float(np.abs(a).max())
        if not size > 0:
            return False
        there = q + TO_LOOK_AT * max(1.0, float(np.abs(q).max())) / size * a
        before, after = (self.watched(self.modes, (t, x, v))[list(which)] for x in (q, there))
        return bool((after < before).any())

    def inputs_of(self, program: AnyProgram, modes: Array, state: State) -> dict[str, Array]:
        """The inputs of a program at a state: as much as it takes of what is the motion's and what is beside it."""
        t, q, v = state
        now = self.given | {"t": np.array([t]), "q": q, "v": v, "modes": modes}
        return {name: now[name][..., : len(symbols)] for name, symbols in program.inputs.items() if name in now}

    def jump(self, old: Array) -> str:
        """What jumps between the old modes and the new ones though no finite force could make it, in words.

        What is continuous differs less and less between the modes on the way to the switch; a jump is as large here.
        """
        changed = np.flatnonzero(old[: self.count] != self.modes[: self.count])
        if not self.locked.steady_names or {*changed.tolist()} <= {*self.locked.timed}:
            return ""
        t, q, v = self.state
        a, back = self.acceleration(old, self.state), LOOK_BACK * self.soon()
        earlier = (t - back, q - back * v + back**2 / 2 * a, v - back * a)
        here, there = (
            np.subtract(*(self.evaluated(self.locked.steady, modes, state)["value"] for modes in (self.modes, old)))
            for state in (self.state, earlier)
        )
        size = np.abs(self.evaluated(self.locked.steady, old, self.state)["value"])
        jumps = (np.abs(here) > UNCHANGED * size) & (np.abs(here) > np.abs(there) / 2)
        if not jumps.any():
            return ""
        where = self.locked.switches[int(changed[0])].words if len(changed) else "a switch"
        return f"At {where}, {self.locked.steady_names[int(np.argmax(jumps))]} jumps: no finite force can do that."
