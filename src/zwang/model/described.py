"""What a system says of itself, before it is known to be right; `System` imports those who look at it."""

from collections.abc import Mapping
from typing import Any, Protocol

import sympy as sp

from zwang.mistakes import Where
from zwang.model.constraint import Constraint


class Described(Protocol):
    """A description in the normal form that `System` brings it to."""

    @property
    def coordinates(self) -> tuple[sp.Expr, ...]:
        """The coordinates, as functions of time."""

    @property
    def velocities(self) -> tuple[sp.Expr, ...]:
        """Their rates."""

    @property
    def kinetic(self) -> sp.Expr | None:
        """The kinetic energy, if it is given."""

    @property
    def potential(self) -> sp.Expr:
        """The potential energy."""

    @property
    def mass(self) -> sp.ImmutableMatrix | None:
        """The mass matrix, if it is given."""

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints."""

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def parameters(self) -> Mapping[sp.Expr, Any]:
        """Default values."""

    @property
    def inputs(self) -> dict[sp.Expr, Any]:
        """The known functions of time."""

    @property
    def symbols(self) -> tuple[sp.Symbol, ...]:
        """The parameters that occur."""

    @property
    def places(self) -> dict[Where, sp.Basic]:
        """Every expression by where it stands."""
