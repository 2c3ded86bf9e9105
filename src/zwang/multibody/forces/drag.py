"""Drag: resistance of a medium at rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import AnyBody, MassBody, Particle
from zwang.multibody.element import ForceElement, not_negative, require_movable
from zwang.multibody.vectors import inner, is_zero, scalar, scale


@dataclass(frozen=True, eq=False)
class Drag(ForceElement):
    """The resistance of a medium at rest: the force −(linear + quadratic |v|) v at a body's centre of mass.

    v is the centre's velocity. `turning` adds the moment −turning ω. Quadratic drag has a corner at v = 0, which
    Taylor's method does not pass: let a body that starts at rest be integrated by another.

    >>> from zwang import multibody as mb
    >>> ball = mb.Particle("ball", mass=1, position=(0, 0))
    >>> mb.Drag("air", ball, linear=2).forces([ball])[ball.coordinates[0]]
    -2*Derivative(ball.x(t), t)
    """

    name: str
    body: MassBody
    linear: Any = 0
    quadratic: Any = 0
    turning: Any = 0

    def __post_init__(self) -> None:
        """Refuse a drag that drives, that does nothing, or that turns a particle."""
        require_movable(self.who, self.body)
        given = [
            not_negative(self.who, key, getattr(self, key), f"{key} drag") for key in ("linear", "quadratic", "turning")
        ]
        if all(is_zero(x) for x in given):
            raise InputError(f"{self.who} does nothing: give linear, quadratic or turning", where=("linear",))
        if isinstance(self.body, Particle) and not is_zero(given[2]):
            words = f"{self.who} acts on the particle {self.body.name!r}, which does not turn"
            raise InputError(words, where=("body",))

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """The body."""
        return (self.body,)

    held = ("linear", "quadratic", "turning")

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """Against the velocity, and against the spin."""
        pose = self.body.pose(self.body.dimension)
        linear, quadratic, turning = (scalar(self.who, x) for x in (self.linear, self.quadratic, self.turning))
        resistance = linear if is_zero(quadratic) else linear + quadratic * sp.sqrt(inner(pose.velocity, pose.velocity))
        moment = -turning * pose.spin if pose.dimension == 2 else scale(-turning, pose.spin)
        found = self.body.generalized(scale(-resistance, pose.velocity), moment)
        return {q: f for q, f in found.items() if not is_zero(f)}
