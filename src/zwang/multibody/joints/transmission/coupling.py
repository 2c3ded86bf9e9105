"""Couplings: a linear equation between joint coordinates."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model.symbols import dot
from zwang.multibody.body import AnyBody
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Constrainer
from zwang.multibody.joints.selection import Selected, bodies_of, selected
from zwang.multibody.vectors import scalar

Terms = Sequence[tuple[sp.Expr, Freedom]]


class Summed(Constrainer):
    """What keeps a linear sum of joint coordinates at a value: in positions if it can be, otherwise in velocities."""

    held = ("balance",)

    @property
    def who(self) -> str:
        """What messages call it."""
        return f"{type(self).__name__.lower()} {self.name!r}"

    @abstractmethod
    def summed(self) -> tuple[Terms, sp.Expr | None]:
        """Factors and coordinates, and the value.

        Without a value the sum keeps what it reads in the start position.
        """

    @cached_property
    def balance(self) -> tuple[Terms, sp.Expr | None]:
        """The same; of several angles in space the rates alone."""
        terms, value = self.summed()
        if any(f == g for i, (_, f) in enumerate(terms) for _, g in terms[:i]):
            raise InputError(f"{self.who} joins a coordinate to itself: name each of them once")
        if sum(not f.in_numbers for _, f in terms) > 1:
            return tuple((k, f.moving) for k, f in terms), value
        return tuple(terms), value

    def conditions(self) -> dict[str, sp.Expr]:
        """The sum has its value."""
        return {self.suffixes[0]: linear_sum(*self.balance)}

    def tied(self) -> list[tuple[Freedom, sp.Expr]]:
        """The only angle in space, to all the others."""
        terms, value = self.balance
        turning = [(k, f) for k, f in terms if not f.in_numbers]
        return [(f, remainder(terms, value) / k) for k, f in turning] if len(turning) == 1 else []


@dataclass(frozen=True, eq=False)
class Coupling(Summed):
    """Σ factor × joint coordinate = value.

    ::

        a·angle + b·travel + … = value

    `factors` map joints, or pairs (joint, name of the coordinate), to factors; `value` is an expression in time. The
    equation is written in positions (name.sum). Angles in space are known by sine and cosine only: where two or more
    of them take part it is written in velocities, and keeps what it reads in the start position.

    >>> from zwang import multibody as mb
    >>> a, b = (mb.PlanarBody(name, 1, 1) for name in "ab")
    >>> pins = [mb.Revolute(f"pin {body.name}", mb.ground, body, at=(0, 0)) for body in (a, b)]
    >>> mb.Coupling("both", {pins[0]: 2, pins[1]: 1}).conditions()
    {'sum': 2*a.angle(t) + b.angle(t)}
    """

    name: str
    factors: Mapping[Selected, Any]
    value: Any = 0

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """Those of the joints."""
        return bodies_of(*self.factors)

    suffixes = ("sum",)

    def summed(self) -> tuple[Terms, sp.Expr | None]:
        """The coordinates with their factors."""
        who = self.who
        if not isinstance(self.factors, Mapping) or not self.factors:
            raise InputError(f"{who}: {self.factors!r}: give {{joint: factor, …}}", where=("factors",))
        terms = [
            (scalar(who, factor, ("factors",)), selected(who, key, "factors")) for key, factor in self.factors.items()
        ]
        if any(factor == 0 for factor, _ in terms):
            raise InputError(f"{who}: a factor is 0: leave that coordinate out", where=("factors",))
        return terms, scalar(who, self.value, ("value",))


def linear_sum(terms: Terms, value: sp.Expr | None) -> sp.Expr:
    """Σ factor × coordinate − value, in positions if it can be, otherwise in velocities."""
    turning = [(k, f) for k, f in terms if not f.in_numbers]
    if len(turning) > 1:
        moving = sp.S.Zero if value is None else dot(value)
        return sp.Add(*[k * f.rate for k, f in terms]) - moving
    left = remainder(terms, value)
    if not turning:
        return -left
    [(k, angle)] = turning
    return k * angle.equals(left / k)


def remainder(terms: Terms, value: sp.Expr | None) -> sp.Expr:
    """What is left of the value for an angle in space: the value less all coordinates that are numbers."""
    if value is None:
        value = sp.Add(*[k * f.start for k, f in terms])
    return value - sp.Add(*[k * f.value for k, f in terms if f.in_numbers])
