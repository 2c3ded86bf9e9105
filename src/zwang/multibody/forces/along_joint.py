"""What acts along a joint's own coordinate: equal and opposite on the joint's two bodies."""

from collections.abc import Sequence
from functools import cached_property

import sympy as sp

from zwang.model.symbols import rates
from zwang.multibody.body import MassBody
from zwang.multibody.element import ForceElement
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Constrainer, Joint
from zwang.multibody.joints.selection import freedom_of


class AlongJoint(ForceElement):
    """A force element along a joint's coordinate, which `coordinate` names where the joint has several."""

    joint: Joint
    coordinate: str | None

    @property
    def joints(self) -> tuple[Constrainer, ...]:
        """The joint."""
        return (self.joint,)

    @cached_property
    def freedom(self) -> Freedom:
        """The joint's coordinate."""
        return freedom_of(self.who, self.joint, self.coordinate)

    @cached_property
    def moving(self) -> Freedom:
        """The same by its rate alone."""
        return self.freedom.moving

    def along(self, effort: sp.Expr) -> dict[sp.Expr, sp.Expr]:
        """The generalized forces of an effort along the coordinate."""
        return along(self.moving, [b for b in self.joint.bodies if isinstance(b, MassBody)], effort)


def along(freedom: Freedom, bodies: Sequence[MassBody], effort: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """The generalized forces of an effort whose power is effort × rate: effort × ∂rate/∂q̇.

    A rate is linear in q̇, so it is differentiated by putting one speed to 1 and the others to 0: SymPy takes fifty
    times as long for the derivative.
    """
    rate = freedom.rate
    if isinstance(rate, sp.Derivative):  # a coordinate of the system: a body's, or the joint's own
        return {rate.expr: effort}
    moving = rate.atoms(sp.Derivative)
    speeds = {rates(q)[0]: q for b in bodies for q in b.coordinates if rates(q)[0] in moving}
    still = dict.fromkeys(speeds, sp.S.Zero)
    drift = rate.xreplace(still)  # of a body whose motion is prescribed
    return {q: effort * (rate.xreplace(still | {v: sp.S.One}) - drift) for v, q in speeds.items()}
