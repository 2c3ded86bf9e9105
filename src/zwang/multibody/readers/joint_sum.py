"""What acts along a sum of joint coordinates, as a tendon over joints does: springs, dampers, motors and servos."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.model.symbols import as_scalar
from zwang.multibody.body import MassBody
from zwang.multibody.element import ForceElement
from zwang.multibody.forces.along_joint import along
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Constrainer, Joint

Terms = Sequence[tuple[float, Joint, str]]  # factor, joint, and the name of its coordinate


@dataclass(frozen=True, eq=False)
class JointSum(ForceElement):
    """A spring, a damper and an effort along the sum of factor × joint coordinate.

    The spring acts where the sum is below the first of `rest` or above the second: 0 between them. Coordinates in space
    have values only where their joints count turns, which a spring needs.
    """

    name: str
    terms: Terms
    stiffness: float = 0.0
    rest: tuple[float, float] = (0.0, 0.0)
    damping: float = 0.0
    effort: Any = 0
    inertia: float = 0.0

    @property
    def joints(self) -> tuple[Constrainer, ...]:
        """The joints, each once."""
        return tuple(dict.fromkeys(joint for _, joint, _ in self.terms))

    held = ("freedoms", "stiffness", "rest", "damping", "effort", "inertia")

    @cached_property
    def freedoms(self) -> list[tuple[float, Freedom]]:
        """The factors with the coordinates."""
        return [(factor, joint.freedoms[name]) for factor, joint, name in self.terms]

    @property
    def value(self) -> sp.Expr:
        """The sum."""
        return sp.Add(*[sp.Mul(factor, f.value) for factor, f in self.freedoms])

    @property
    def rate(self) -> sp.Expr:
        """How fast it grows."""
        return sp.Add(*[factor * f.rate for factor, f in self.freedoms])

    def kinetic(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """½ inertia × rate²."""
        return as_scalar(self.inertia) * self.rate**2 / 2 if self.inertia else sp.S.Zero

    def potential(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """½ stiffness × what the sum is beyond its rest, squared."""
        low, high = self.rest
        if not self.stiffness:
            return sp.S.Zero
        if low == high:
            return as_scalar(self.stiffness) * (self.value - low) ** 2 / 2
        beyond = sp.Max(self.value - high, 0) + sp.Max(low - self.value, 0)
        return as_scalar(self.stiffness) * beyond**2 / 2

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The damper's and the given effort, along every coordinate by its factor."""
        effort = as_scalar(self.effort) - (self.damping * self.rate if self.damping else 0)
        found: dict[sp.Expr, sp.Expr] = {}
        for factor, freedom in self.freedoms if effort != 0 else ():
            for q, e in along(freedom, bodies, factor * effort).items():
                found[q] = found.get(q, sp.S.Zero) + e
        return found
