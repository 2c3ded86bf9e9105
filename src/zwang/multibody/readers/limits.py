"""Limits of joints and tendons of models that were read: data, and stops where they are switched on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.model.constraint import Constraint
from zwang.multibody.freedom import Freedom
from zwang.multibody.readers.sizes import LARGEST


@dataclass(frozen=True)
class Limit:
    """The range of a joint, or of the sum of joints that a tendon is, as the file has it; None where it is open."""

    name: str
    lower: float | None
    upper: float | None

    def __str__(self) -> str:
        """The range in words."""
        ends = ("−∞" if self.lower is None else f"{self.lower:g}", "∞" if self.upper is None else f"{self.upper:g}")
        return f"{self.name!r}: {ends[0]} to {ends[1]}"

    def constraints(self, value: sp.Expr) -> dict[str, sp.Expr]:
        """One-sided constraints on what is limited: name.lower and name.upper.

        >>> Limit("elbow", 0, 2.5).constraints(sp.Symbol("angle"))
        {'elbow.lower': angle >= 0, 'elbow.upper': 2.5 - angle >= 0}
        """
        found = {}
        if self.lower is not None:
            found["lower"] = sp.Ge(value - self.lower, 0, evaluate=False)
        if self.upper is not None:
            found["upper"] = sp.Ge(self.upper - value, 0, evaluate=False)
        return {f"{self.name}.{end}": e for end, e in found.items()}


def limit_between(name: str, lower: float, upper: float) -> Limit | None:
    """A limit with the ends that can be met; None if there is none.

    Exporters write the largest number there is for a joint without a limit.

    >>> print(limit_between("elbow", 0, 1.7e308), limit_between("wheel", -1.7e308, 1.7e308))
    'elbow': 0 to ∞ None
    """
    ends = (lower if lower > -LARGEST else None, upper if upper < LARGEST else None)
    return None if ends == (None, None) else Limit(name, *ends)


def switched_on(
    limits: Sequence[Limit], sums: Mapping[str, Sequence[tuple[Any, Freedom]]], on: bool, restitution: Any = 0
) -> dict[str, Constraint]:
    """The one-sided constraints of limits on sums of factor × joint coordinate, if they are switched on."""
    found: dict[str, Constraint] = {}
    for limit in limits if on else ():
        asked = limit.constraints(sp.Add(*[factor * freedom.value for factor, freedom in sums[limit.name]]))
        found |= {name: Constraint(e, name, restitution=restitution) for name, e in asked.items()}
    return found


def limit_lines(limits: Sequence[Limit], on: bool) -> list[str]:
    """What became of limits."""
    how = "a stop" if on else "off; limits=True makes it a stop"
    return [f"limit of {limit}, {how}" for limit in limits]
