"""Efforts along a joint's own coordinate: equal and opposite on its two bodies."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.multibody.body import MassBody
from zwang.multibody.joint import Freedom, Joint
from zwang.symbols import rates


def freedom_of(who: str, joint: Any, name: str | None) -> Freedom:
    """The freedom of a joint that a name says; without a name its only one."""
    if not isinstance(joint, Joint):
        raise InputError(f"{who}: {joint!r} is no joint")
    found = joint.freedoms
    if not found:
        raise InputError(f"{who}: joint {joint.name!r} leaves no coordinate free along which something could act")
    choices = ", ".join(map(repr, found))
    if name is None:
        if len(found) > 1:
            raise InputError(
                f"{who}: joint {joint.name!r} has several coordinates: choose coordinate= one of {choices}"
            )
        return next(iter(found.values()))
    if name not in found:
        raise InputError(f"{who}: joint {joint.name!r} has no coordinate {name!r}: choose {choices}")
    return found[name]


def along_freedom(freedom: Freedom, bodies: Sequence[MassBody], effort: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """The generalized forces of an effort whose power is effort × rate: effort × ∂rate/∂q̇.

    A rate is linear in q̇, so it is differentiated by putting one speed to 1 and the others to 0: SymPy takes fifty
    times as long for the derivative.
    """
    if isinstance(freedom.rate, sp.Derivative):  # a coordinate of the system: a body's, or the joint's own
        return {freedom.rate.expr: effort}
    moving = freedom.rate.atoms(sp.Derivative)
    speeds = {rates(q)[0]: q for b in bodies for q in b.coordinates if rates(q)[0] in moving}
    still = dict.fromkeys(speeds, sp.S.Zero)
    drift = freedom.rate.xreplace(still)  # of a body whose motion is prescribed
    return {q: effort * (freedom.rate.xreplace(still | {v: sp.S.One}) - drift) for v, q in speeds.items()}
