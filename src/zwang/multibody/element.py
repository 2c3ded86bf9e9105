"""What all force elements share: what they do to the energies and forces of a mechanism."""

from abc import ABC
from collections.abc import Sequence
from typing import Any

import sympy as sp

from zwang.model.drawing import Shape
from zwang.multibody.body import MassBody


class ForceElement(ABC):
    """Something that acts on bodies: gravity, springs, dampers, actuators, drag, friction."""

    name: str

    def potential(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """The potential energy."""
        return sp.S.Zero

    def forces(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The generalized forces that are not in the potential: coordinate → expression."""
        return {}

    def nonideal(self, bodies: Sequence[MassBody]) -> dict[sp.Expr, sp.Expr]:
        """The element's part of the nonideal term C: coordinate → expression."""
        return {}

    def shapes(self) -> list[Shape]:
        """What the element looks like, if like anything."""
        return []

    @property
    def inputs(self) -> dict[sp.Expr, Any]:
        """Known functions of time that the element uses, and what they are (a `Signal`)."""
        return {}
