"""Hinges and slides one after another, without masses between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.display import Displayed
from zwang.errors import InputError
from zwang.model.symbols import dot, t
from zwang.multibody.body import AnyBody
from zwang.multibody.efforts import FreeMotion
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Joint, Place, together
from zwang.multibody.joints.parts import need_axes, need_space
from zwang.multibody.vectors import (
    IDENTITY,
    Vector,
    add,
    apply,
    axis_turn,
    inner,
    numeric,
    scalar,
    scale,
    subtract,
    unit,
    vector,
)


@dataclass(frozen=True)
class Step(Displayed):
    """One hinge ("angle") or slide ("travel") of a series; `axis` and `at` are in world axes, in the start position.

    `reading` is what it reads there. A hinge is at the joint's own point unless `at` says another.
    """

    name: str
    kind: str
    axis: Sequence[Any]
    at: Sequence[Any] | None = None
    reading: float = 0.0


@dataclass(frozen=True, eq=False)
class Series(Joint):
    """Massless hinges and slides in series, from the first body to the second: gimbals, gantries, skew axes.

    ::

        first ──◯────◯────▭── second
              step  step  step

    Every step has a coordinate of its own, called name.step, which counts turns and may be sprung or coupled. The
    second body is where the steps bring it: its point (name.x, name.y, name.z) and its axes (name.turn1, name.turn2,
    name.turn3). Where two hinges in three become parallel the gimbal locks, as a real one does. For bodies in space.

    >>> from zwang import multibody as mb
    >>> shaft = mb.Body("shaft", 1, (1, 1, 1))
    >>> steps = [mb.Step("out", "angle", (1, 0, 0)), mb.Step("in", "angle", (0, 1, 0))]
    >>> list(mb.Series("gimbal", mb.ground, shaft, at=(0, 0, 0), steps=steps).coordinates)
    [gimbal.out(t), gimbal.in(t)]
    """

    name: str
    first: AnyBody
    second: AnyBody
    at: Place
    steps: Sequence[Step]

    @cached_property
    def variables(self) -> tuple[sp.Expr, ...]:
        """The coordinates of the steps."""
        if not all(isinstance(s, Step) for s in self.steps):
            raise InputError(f"{self.who}: steps={self.steps!r}: give a list of Steps", where=("steps",))
        names = [s.name for s in self.steps]
        if not names or len(set(names)) < len(names) or set(names) & set("xyz"):
            words = f"its steps are called {names}: give at least one, names that differ, not x"
            raise InputError(f"{self.who}: {words}", where=("steps",))
        for i, s in enumerate(self.steps):
            if s.kind not in ("angle", "travel"):
                words = f"step {s.name!r} is of kind {s.kind!r}: choose 'angle' or 'travel'"
                raise InputError(f"{self.who}: {words}", where=("steps", i, "kind"))
            numeric(f"{self.who}, step {s.name!r}", (s.reading,), (1,), ("steps", i, "reading"))
        return tuple(sp.Function(f"{self.name}.{name}")(t) for name in names)

    @property
    def coordinates(self) -> dict[sp.Expr, float]:
        """One a step, which starts at what it reads in the start position."""
        return {q: float(s.reading) for q, s in zip(self.variables, self.steps, strict=True)}

    @cached_property
    def screws(self) -> tuple[tuple[Vector, Vector], ...]:
        """Axis and place of every step at the start, in the axes of the first body."""
        first = self.start_poses[0]
        found = []
        for i, s in enumerate(self.steps):
            who = f"{self.who}, step {s.name!r}"
            axis = first.held_direction(unit(who, s.axis, (3,), ("steps", i, "axis")))
            at = self.ends[0] if s.at is None else first.held_point(vector(who, s.at, (3,), ("steps", i, "at")))
            found.append((unit(who, axis, (3,)), at))
        return tuple(found)

    @cached_property
    def plan(self) -> tuple[tuple[str, Vector, Vector, sp.Expr], ...]:
        """Of every step: its kind, axis and place in the axes of the first body, and what it reads at the start."""
        steps = zip(self.steps, self.screws, strict=True)
        return tuple((s.kind, axis, at, scalar(self.who, s.reading)) for s, (axis, at) in steps)

    @cached_property
    def start_columns(self) -> tuple[Vector, ...]:
        """The second body's axes at the start, in those of the first."""
        first, second = self.start_poses
        return tuple(first.held_direction(second.direction(e)) for e in IDENTITY[3])

    held = ("ends", "variables", "plan", "start_columns")
    suffixes = ("x", "y", "z", "turn1", "turn2", "turn3")

    def require(self) -> None:
        """Refuse bodies in the plane, and particles."""
        need_space(self, "join bodies in the plane one by one")
        need_axes(self, "give the body some extent")
        super().require()

    def moved(self, x: Vector, free: bool = False, count: int | None = None) -> Vector:
        """Where the steps (the first few) bring a point (or a free vector) of the start, in axes of the first body.

        The product of exponentials: the last step acts first, about its place at the start.
        """
        for q, (kind, axis, at, reading) in reversed(list(zip(self.variables, self.plan, strict=True))[:count]):
            by = q - reading if reading else q
            if kind == "angle":
                turn = axis_turn(axis, by)
                x = apply(turn, x) if free else add(at, apply(turn, subtract(x, at)))
            elif not free:
                x = add(x, scale(by, axis))
        return x

    def conditions(self) -> dict[str, sp.Expr]:
        """The second body is where the steps bring it."""
        (a, b), (p, q) = self.poses, self.ends
        brought = [a.direction(self.moved(c, free=True)) for c in self.start_columns]
        x2, y2, z2 = (b.direction(e) for e in IDENTITY[3])
        turns = {"turn1": inner(brought[1], z2), "turn2": inner(brought[2], x2), "turn3": inner(brought[0], y2)}
        return together(subtract(b.point(q), a.point(self.moved(p)))) | turns

    @property
    def free_motions(self) -> tuple[FreeMotion, ...]:
        """About and along the axes of the steps, where the steps before have brought them."""
        a, found = self.poses[0], []
        for k, (s, (axis, at)) in enumerate(zip(self.steps, self.screws, strict=True)):
            arm = subtract(self.place, a.point(self.moved(at, count=k)))
            found.append(FreeMotion(s.kind, a.direction(self.moved(axis, free=True, count=k)), arm))
        return tuple(found)

    @cached_property
    def freedoms(self) -> dict[str, Freedom]:
        """The coordinates of the steps, by the steps' names."""
        return {
            s.name: Freedom(s.kind, dot(q), q, start=s.reading) for s, q in zip(self.steps, self.variables, strict=True)
        }
