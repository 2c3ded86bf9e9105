"""What all force elements share: what they do to the energies and forces of a mechanism."""

from abc import ABC
from collections.abc import Sequence
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.mistakes import Where
from zwang.model.drawing import Shape
from zwang.model.has_system import MechanismPart
from zwang.model.signal import Signal
from zwang.model.symbols import t
from zwang.multibody.body import AnyBody, MassBody
from zwang.multibody.joint import Constrainer
from zwang.multibody.vectors import Vector, cross, is_number, refusal, scalar


class ForceElement(MechanismPart, ABC):
    """Something that acts on bodies: gravity, springs, dampers, actuators, drag, friction."""

    name: str

    @property
    def held(self) -> tuple[str, ...]:
        """The attributes that hold every number of what it does; empty where that is written one by one.

        Energies and forces of many elements of a kind are then written once, with symbols in the place of numbers:
        they may read these attributes, poses of bodies and what does not differ from one to another, and nothing of
        the start.
        """
        return ()

    @property
    def who(self) -> str:
        """What messages call the element."""
        return f"force element {self.name!r}"

    @property
    def bodies(self) -> tuple[AnyBody, ...]:
        """The bodies that it names; none where it acts on all."""
        return ()

    @property
    def joints(self) -> tuple[Constrainer, ...]:
        """The joints that it names."""
        return ()

    def kinetic(self, bodies: Sequence[MassBody]) -> sp.Expr:
        """The kinetic energy, where it has inertia of its own."""
        return sp.S.Zero

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


def at_point(body: AnyBody, dimension: int, point: Vector, force: Vector) -> dict[sp.Expr, sp.Expr]:
    """The generalized forces of a force in world axes at a point in body axes: none on what nothing can move."""
    if not isinstance(body, MassBody):
        return {}
    return body.generalized(force, moment_of(body.pose(dimension).direction(point), force))


def moment_of(arm: Vector, force: Vector) -> Any:
    """arm × force: a number in the plane."""
    return arm[0] * force[1] - arm[1] * force[0] if len(arm) == 2 else cross(arm, force)


def require_movable(who: str, body: Any) -> MassBody:
    """Refuse what no force can move."""
    if not isinstance(body, AnyBody):
        raise InputError(f"{who}: {body!r} is not a body", where=("body",))
    if not isinstance(body, MassBody):
        words = f"{who} acts on {body.name!r}, which no force can move: give a body with mass"
        raise InputError(words, where=("body",))
    return body


def not_negative(who: str, argument: str, value: Any, what: str = "") -> sp.Expr:
    """An argument that is not a negative number, or is an expression; `what` messages call it if not by its name."""
    found, what = scalar(who, value, (argument,)), what or argument
    if is_number(found) and not found >= 0:
        words = f"its {what} is {value}, but no {what} is negative; check the sign"
        raise InputError(f"{who}: {words}", where=(argument,))
    return found


def known(who: str, name: str, value: Any, where: Where) -> tuple[sp.Expr, dict[sp.Expr, Signal]]:
    """A number or expression as it is; a signal as a known function of time of this name, and what it is."""
    if isinstance(value, Signal):
        f = sp.Function(name)(t)
        return f, {f: value}
    return scalar(who, value, where), {}


def known_vector(element: ForceElement, given: Any, size: int) -> tuple[Vector, dict[sp.Expr, Any]]:
    """Components as expressions, and what the known functions of time among them are."""
    who, where = element.who, ("components",)
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != size:
        raise refusal(who, where, f"{given!r} is not a vector of {size} entries")
    found = [known(who, f"{element.name}.u{axis}", value, where) for axis, value in zip("xyz", given, strict=False)]
    return tuple(e for e, _ in found), {f: signal for _, inputs in found for f, signal in inputs.items()}
