"""Gravity."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import MassBody
from zwang.multibody.element import ForceElement
from zwang.multibody.vectors import inner, scalar, vector


@dataclass(frozen=True, eq=False)
class Gravity(ForceElement):
    """Uniform gravity on every body of the mechanism, by its acceleration in world axes.

    >>> from zwang import multibody as mb
    >>> mb.Gravity((0, 0, -9.81)).potential([mb.Particle("bob", 2)])
    19.62*bob.z(t)
    """

    acceleration: Sequence[Any]
    name: str = "gravity"

    def __post_init__(self) -> None:
        """Refuse what is not an acceleration."""
        vector(self.who, self.acceleration, where=("acceleration",))

    def potential(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """−Σ m g · r."""
        g = vector(self.who, self.acceleration)
        for body in bodies:
            if body.dimension != len(g):
                raise InputError(
                    f"gravity has {len(g)} entries, but body {body.name!r} lives in {body.dimension} dimensions",
                    where=("forces", self.name),
                )
        return sp.Add(*[-scalar(b.who, b.mass) * inner(g, b.pose(len(g)).origin) for b in bodies])
