"""Couplings: a linear equation between joint coordinates."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.model.symbols import dot
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Constrainer, Freedom
from zwang.multibody.joints.selection import Selected, bodies_of, selected
from zwang.multibody.vectors import scalar

Terms = Sequence[tuple[sp.Expr, Freedom]]


class Summed(Constrainer):
    """What keeps a linear sum of joint coordinates at a value: in positions if it can be, otherwise in velocities."""

    @abstractmethod
    def summed(self) -> tuple[str, str, Terms, sp.Expr | None]:
        """What messages call it, the condition's suffix, factors and coordinates, and the value.

        Without a value the sum keeps what it reads in the start position.
        """

    def conditions(self) -> dict[str, sp.Expr]:
        """The sum has its value."""
        who, suffix, terms, value = self.summed()
        return {suffix: linear_sum(who, terms, value)}

    def tied(self) -> list[tuple[Freedom, sp.Expr]]:
        """The only angle in space, to all the others."""
        _, _, terms, value = self.summed()
        turning = [(k, f) for k, f in terms if f.value is None]
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

    def summed(self) -> tuple[str, str, Terms, sp.Expr | None]:
        """The coordinates with their factors."""
        who = f"coupling {self.name!r}"
        if not isinstance(self.factors, Mapping) or not self.factors:
            raise InputError(f"{who}: {self.factors!r}: give {{joint: factor, …}}", where=("factors",))
        terms = [
            (scalar(who, factor, ("factors",)), selected(who, key, "factors")) for key, factor in self.factors.items()
        ]
        if any(factor == 0 for factor, _ in terms):
            raise InputError(f"{who}: a factor is 0: leave that coordinate out", where=("factors",))
        return who, "sum", terms, scalar(who, self.value, ("value",))


def linear_sum(who: str, terms: Terms, value: sp.Expr | None) -> sp.Expr:
    """Σ factor × coordinate − value, in positions if it can be, otherwise in velocities."""
    if any(f == g for i, (_, f) in enumerate(terms) for _, g in terms[:i]):
        raise InputError(f"{who} joins a coordinate to itself: name each of them once")
    turning = [(k, f) for k, f in terms if f.value is None]
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
    return value - sp.Add(*[k * f.value for k, f in terms if f.value is not None])
