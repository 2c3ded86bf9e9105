"""The law of a contact: restitution, friction and slip, brought to one form and held to their ranges.

Restitution and coefficients of friction are numbers or expressions in parameters. The slip is the speed, or the two
speeds, at which surfaces rub against each other.
"""

from collections.abc import Sequence
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.errors import InputError
from zwang.model.symbols import as_scalar, t

IMPACTS = ("moreau", "poisson", "sequential")
SPLITS = ("compliant", "refuse")
"""Laws of impacts in which several contacts take part: all at once, with two phases, or one after the other."""
CONTACTS = ("events", "steps")
"""How contacts are followed: from event to event, or by steps of one length."""


def as_restitution(given: Any, one_sided: bool) -> sp.Expr:
    """The restitution of a contact; an equality has none."""
    value = coefficient(given, "restitution")
    if value.is_zero:  # of whatever kind: 0.0 is none either
        return sp.S.Zero
    if not one_sided:
        raise InputError(
            "restitution is for one-sided constraints, which have impacts: leave it out, or write >= or <="
        )
    return value


def as_friction(given: Any) -> tuple[sp.Expr, ...]:
    """The coefficients of sticking and of sliding: one number is both; none where there is no friction."""
    several = isinstance(given, Sequence | sp.Tuple) and not isinstance(given, str)
    if given == 0 or (several and not given):
        return ()
    pair = list(given) if several else [given, given]
    if len(pair) != 2:
        raise InputError(f"friction has {len(pair)} coefficients: give one, or two, of sticking and of sliding")
    return tuple(coefficient(mu, "friction") for mu in pair)


def is_smooth(given: Any) -> bool:
    """Whether a friction is said to be zero, which is not the same as said to be none.

    >>> is_smooth(0.0), is_smooth(()), is_smooth(0.3)
    (True, False, False)
    """
    return not isinstance(given, Sequence | sp.Tuple) and not as_friction(given)


def as_slip(given: Any, friction: tuple[sp.Expr, ...], smooth: bool = False) -> tuple[sp.Expr, ...]:
    """The speeds at which surfaces rub: one in the plane, two in space; none of those that are said to be smooth."""
    speeds = list(given) if isinstance(given, Sequence | sp.Tuple) and not isinstance(given, str) else [given]
    if not speeds:
        if friction:
            raise InputError("friction needs the slip, the speed at which the surfaces rub: give one, or in space two")
        return ()
    if not friction and smooth:
        return ()
    if not friction:
        raise InputError("slip is given without friction: give both, or leave the slip out")
    if len(speeds) not in (1, 2):
        raise InputError(f"slip has {len(speeds)} speeds: one in the plane, or two in space, are meant")
    slip = tuple(as_scalar(speed) for speed in speeds)
    if len(slip) == 2 and (slip[0] == slip[1] or slip[0] == -slip[1]):
        raise InputError(f"both slips are {slip[0]}: two directions across each other are meant, or one in the plane")
    return slip


def coefficient(given: Any, what: str) -> sp.Expr:
    """A number or an expression in parameters."""
    value = as_scalar(given)
    inside = sorted(value.atoms(AppliedUndef), key=str) or [*({t} & value.free_symbols)]
    if inside:
        raise InputError(f"{what} contains {inside[0]}: a number, or an expression in parameters, is meant")
    if value.is_number and not value.is_comparable:
        raise InputError(f"{what} is {value}: a real number, or an expression in parameters, is meant")
    return value


def out_of_range(restitution: Any, friction: Sequence[Any]) -> str:
    """What is wrong with coefficients that are numbers; nothing of those that are not."""
    if is_real(restitution) and not 0 <= restitution <= 1:
        return f"restitution is {float(restitution):g}, but must be from 0 (plastic) to 1 (elastic)"
    for mu in friction:
        if is_real(mu) and not 0 <= mu < sp.oo:
            return f"friction is {float(mu):g}, but a coefficient of friction is not negative, and finite"
    if len(friction) == 2 and all(map(is_real, friction)) and friction[1] > friction[0]:
        return f"the friction of sliding, {float(friction[1]):g}, is above that of sticking, {float(friction[0]):g}"
    return ""


def is_real(value: Any) -> bool:
    """Whether this is a number."""
    return isinstance(value, float | int) or bool(value.is_number)
