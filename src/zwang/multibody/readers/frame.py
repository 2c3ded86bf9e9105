"""Frames in numbers: where the parts of a model that was read are, before any expression is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.multibody.vectors import world_rates


def rotations() -> Any:
    """SciPy's turns, which are imported only where something is read: that takes as long as all the rest."""
    from scipy.spatial.transform import Rotation

    return Rotation


@dataclass(frozen=True, eq=False)
class Frame:
    """An origin and axes (the columns of `turn`), in the axes of another frame.

    >>> a = Frame.of((1, 0, 0), (0, 0, 0, 1))  # half a turn about z
    >>> (a @ a.inverse).point((1, 2, 3)).round(12).tolist()
    [1.0, 2.0, 3.0]
    """

    turn: Array
    origin: Array

    @classmethod
    def of(cls, origin: Sequence[float] | Array, quaternion: Sequence[float] | Array = (1, 0, 0, 0)) -> "Frame":
        """The frame at an origin, turned by a quaternion, scalar first."""
        w, x, y, z = quaternion
        return cls(rotations().from_quat([x, y, z, w]).as_matrix(), np.array(origin, dtype=float))

    @property
    def quaternion(self) -> Array:
        """The turn as a unit quaternion, scalar first and not negative."""
        u = np.roll(rotations().from_matrix(self.turn).as_quat(), 1)
        return np.asarray(u if u[0] >= 0 else -u)

    @property
    def inverse(self) -> "Frame":
        """The other frame, seen from this one."""
        return Frame(self.turn.T, -self.turn.T @ self.origin)

    def point(self, x: Sequence[float] | Array) -> Array:
        """A point given in this frame, in the other."""
        return np.asarray(self.origin + self.turn @ np.asarray(x, dtype=float))

    def __matmul__(self, inner: "Frame") -> "Frame":
        """A frame given in this frame, in the other."""
        return Frame(self.turn @ inner.turn, self.point(inner.origin))


WORLD = Frame(np.eye(3), np.zeros(3))
"""The frame of those axes themselves."""


def turned(vector: Sequence[float] | Array) -> Array:
    """The turn about a vector by its length."""
    return np.asarray(rotations().from_rotvec(np.asarray(vector, dtype=float)).as_matrix())


def spin_rates(u: Array, omega: Array) -> Array:
    """u̇ = ½ ω∘u of a quaternion, for angular velocities (3, …) in world axes."""
    return np.asarray(np.array(world_rates(tuple(u))).T @ omega / 2)
