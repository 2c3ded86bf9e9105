"""Efforts along a joint's own coordinates, taken out of its reaction.

What drives, springs or brakes a coordinate that has no inertia reaches the bodies through the joint's conditions, so
their force of constraint contains it. The reaction of a joint does no work in the joint's free motions: a torque about
a hinge and a force along a slide are not part of it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.multibody.vectors import Vector, cross

INDEPENDENT = 1e-9  # below this share of the largest, axes depend on each other


@dataclass(frozen=True)
class FreeMotion:
    """How the second body moves with a coordinate of the joint's own: about ("angle") or along ("travel") a world axis.

    `arm` is from the axis to the joint's point.
    """

    kind: str
    axis: Vector
    arm: Vector

    @property
    def entries(self) -> list[Any]:
        """Velocity of the joint's point and angular velocity for a rate of 1, in six expressions."""
        if self.kind == "angle":
            return [*cross(self.axis, self.arm), *self.axis]
        flat = [0] * (3 - len(self.axis))
        return [*self.axis, *flat, 0, 0, 0]


def without_efforts(wrench: Array, motions: Array, efforts: Array) -> Array:
    """Force and moment at the joint (time, 6) without the part that does the efforts' work (time, k) in k free motions.

    That part has torques about the hinges and forces along the slides. Where they cannot do the work of these efforts
    alone, between hinges that are parallel, the least further force and moment do the rest.
    """
    angular = motions[:, :, 3:].any(axis=2, keepdims=True)
    pushes = np.where(angular, np.concatenate([0 * motions[:, :, 3:], motions[:, :, 3:]], axis=2), motions)
    work = motions @ pushes.swapaxes(1, 2)
    shares = np.linalg.pinv(work, rcond=INDEPENDENT) @ efforts[:, :, None]
    part = pushes.swapaxes(1, 2) @ shares
    part += np.linalg.pinv(motions, rcond=INDEPENDENT) @ (efforts[:, :, None] - motions @ part)
    return np.asarray(wrench - part[:, :, 0])
