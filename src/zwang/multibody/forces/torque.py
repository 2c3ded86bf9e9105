"""Torques on bodies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import AnyBody, MassBody, Particle, require_frame
from zwang.multibody.element import ForceElement, known, known_vector, require_movable


@dataclass(frozen=True, eq=False)
class Torque(ForceElement):
    """A torque on a body: one number in the plane, three in space, along the axes of the world or of the body.

    Components are what those of a `Force` may be; a signal in the plane is the known function of time name.u.

    >>> from zwang import multibody as mb
    >>> from zwang import t
    >>> wheel = mb.PlanarBody("wheel", mass=1, inertia=2)
    >>> mb.Torque("motor", wheel, 3*t).forces([wheel])[wheel.coordinates[2]]
    3*t
    """

    name: str
    body: MassBody
    components: Any
    frame: str = "world"

    def __post_init__(self) -> None:
        """Refuse what is not a torque on a body that can turn."""
        if isinstance(require_movable(self.who, self.body), Particle):
            words = f"{self.who} acts on the particle {self.body.name!r}, which does not turn"
            raise InputError(words, where=("body",))
        require_frame(self.who, self.frame)
        self._read()

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """The body."""
        return (self.body,)

    @property
    def held(self) -> tuple[str, ...]:
        """The components; none where these are signals, which are other functions of time for each."""
        return () if self.inputs else ("components", "frame")

    def _read(self) -> tuple[Any, dict[sp.Expr, Any]]:
        if self.body.dimension == 2:
            return known(self.who, f"{self.name}.u", self.components, ("components",))
        return known_vector(self, self.components, 3)

    @property
    def inputs(self) -> dict[sp.Expr, Any]:
        """Components that are signals."""
        return self._read()[1]

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The torque."""
        size, moment = self.body.dimension, self._read()[0]
        if self.frame == "body" and size == 3:
            moment = self.body.pose(size).direction(moment)
        return self.body.generalized((sp.S.Zero,) * size, moment)
