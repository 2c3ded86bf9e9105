"""Actuators: efforts along a joint's own coordinate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.multibody.body import MassBody
from zwang.multibody.element import known
from zwang.multibody.forces.along_joint import AlongJoint
from zwang.multibody.joint import Joint


@dataclass(frozen=True, eq=False)
class Actuator(AlongJoint):
    """A motor in a joint: a torque along its angle, or a force along its travel.

    A positive effort makes the coordinate grow; it acts on the second body, and its opposite on the first. `effort`
    is a number, an expression in time, coordinates, rates and parameters, or a `Signal`, which is then the known
    function of time name.u. A controller reads the joint through its freedoms:
    `effort=-k*pin.freedoms["angle"].value`.

    >>> from zwang import multibody as mb
    >>> wheel = mb.PlanarBody("wheel", mass=1, inertia=2)
    >>> pin = mb.Revolute("pin", mb.ground, wheel, at=(0, 0))
    >>> mb.Actuator("motor", pin, effort=3).forces([wheel])
    {wheel.angle(t): 3}
    """

    name: str
    joint: Joint
    effort: Any
    coordinate: str | None = None

    def __post_init__(self) -> None:
        """Refuse an effort that is not a number, an expression or a signal, and a joint without this coordinate."""
        _ = self.freedom
        self._read()

    @property
    def held(self) -> tuple[str, ...]:
        """The rate and the effort; none where this is a signal, which is another function of time for each."""
        return () if self.inputs else ("moving", "effort")

    def _read(self) -> tuple[sp.Expr, dict[sp.Expr, Any]]:
        return known(self.who, f"{self.name}.u", self.effort, ("effort",))

    @property
    def inputs(self) -> dict[sp.Expr, Any]:
        """name.u, where the effort is a signal."""
        return self._read()[1]

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The effort, along the coordinate."""
        return self.along(self._read()[0])
