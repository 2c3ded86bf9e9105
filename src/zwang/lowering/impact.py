"""The impact of one contact alone as a program, for engines that make it without stopping.

All contacts are open but one, which meets with γ < 0 and no friction. Then its impulse is that of one linear equation,

    Λ = −(1 + ε)γ / (n P nᵀ),    v⁺ = v + P nᵀ Λ,

with the inverse mass P that the equalities leave, and it changes the energy by ½Λ(γ⁺ + γ) − Λ ∂g/∂t (see `impact`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.equations.sizes import size_of
from zwang.lowering.equation import Equation
from zwang.lowering.lowered import Lowered
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Steps

READINGS = 4


def impact_program(
    lowered: Lowered,
    basis: RowBasis,
    contacts: Sequence[int],
    restitution: Mapping[int, Any],
    gains: tuple[Any, Any] | None = None,
) -> Program:
    """For each contact, if it met alone at a state, [v⁺ (n), energy gained, impulse, energy lost, readings (4)].

    Those that are given no restitution are left out.

    Readings say how far it is from what is not plain, and must not be too large: −γ⁺; the inverse of the height of the
    flight that follows; the inverse of the time that it and all further ones take; −γ⁺ as a share of its terms.
    """
    derived, axes, n = lowered.derived, lowered.description.axes, len(lowered.derived.Q)
    steps = Steps(se.Symbol, se.Add)
    equation = Equation.of(lowered, basis, steps, [derived.b[i] for i in basis.used])
    a, _ = equation.solve([f + c for f, c in zip(derived.Q, derived.C, strict=True)])
    still = dict.fromkeys(axes.v, se.Integer(0))
    out: list[Any] = []
    for i in contacts:
        row, e = derived.A[i], restitution.get(i)
        if e is None:  # it is not one of these: its readings are too large
            out += [*axes.v, *[se.Integer(0)] * (3 + READINGS)]
            continue
        push, _ = equation.respond(i)
        along = se.Add(*[n_j * push[j] for j, n_j in row.items() if push[j] is not None])
        speed = steps.name(derived.residual_rate[i])
        leaves = steps.name(-e * speed)
        impulse = steps.name((leaves - speed) / along)
        after = [v if p is None else v + p * impulse for v, p in zip(axes.v, push, strict=True)]
        lost = steps.name(-impulse * (leaves + speed) / 2)
        gained = -lost - impulse * derived.residual_rate[i].xreplace(still)
        falls = steps.name(derived.b[i] - se.Add(*[n_j * a[j] for j, n_j in row.items() if a[j] is not None]))
        terms = size_of(derived.residual_rate[i]) + se.Add(*[abs(n_j * axes.v[j]) for j, n_j in row.items()])
        readings: list[Any] = [-leaves, 2 * falls / leaves**2, falls * (1 - e) / (2 * leaves), -leaves / terms]
        out += [*after, gained, impulse, lost, *readings]
    inputs = lowered.inputs if gains is None else lowered.inputs | {"gains": gains}
    return Program(inputs, {"kick": tuple(out)}, {"kick": (len(contacts), n + 3 + READINGS)}, tuple(steps.done))
