"""The medium around the bodies of an MJCF model: MuJoCo's drag on boxes of the same inertia."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.multibody.body import AnyBody, MassBody
from zwang.multibody.element import ForceElement
from zwang.multibody.spatial_body import Body
from zwang.multibody.vectors import Vector, add, apply, inner, scale, subtract, vector

LEAST = 1e-15  # MuJoCo's mjMINVAL: below this a square of a box's edge is not counted


@dataclass(frozen=True, eq=False)
class BoxDrag(ForceElement):
    """Drag on the box that has a body's principal moments: by density, quadratic, and by viscosity, linear.

    `axes` are the principal axes as columns, in body axes, with `moments` about them. `wind` is the medium's velocity.
    The formulas are those of MuJoCo's documentation, "Inertia model" under "Fluid forces".
    """

    name: str
    body: Body
    axes: Array
    moments: Array
    density: float
    viscosity: float
    wind: Array

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """The body."""
        return (self.body,)

    @property
    def edges(self) -> Array:
        """The edges of the box."""
        total = self.moments.sum()
        return np.asarray(np.sqrt(6 * np.maximum(total - 2 * self.moments, LEAST) / float(self.body.mass)))

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """Force and torque along each principal axis, against the velocity there."""
        pose, edges = self.body.pose(3), self.edges
        through = subtract(pose.velocity, vector(self.who, self.wind.tolist(), (3,)))
        force: Vector = (sp.S.Zero,) * 3
        torque: Vector = (sp.S.Zero,) * 3
        diameter = float(edges.mean())
        for i in range(3):
            b, c = edges[(i + 1) % 3], edges[(i + 2) % 3]
            axis = apply(pose.turn, tuple(map(float, self.axes[:, i])))
            v, w = inner(axis, through), inner(axis, pose.spin)
            push = -3 * np.pi * diameter * self.viscosity * v - 0.5 * self.density * b * c * sp.Abs(v) * v
            twist = -self.density * edges[i] * (b**4 + c**4) / 64 * sp.Abs(w) * w
            twist -= np.pi * diameter**3 * self.viscosity * w
            force, torque = add(force, scale(push, axis)), add(torque, scale(twist, axis))
        return self.body.generalized(force, torque)
