"""The explicit equation of motion of a model, as straight-line programs: no unknown multiplier, no iteration.

The acceleration is one expression graph in t, q, q̇ and the parameters. What it is built on is a `RowBasis`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.formulations.forms import FORMS, Elimination
from zwang.lowering.contact_power import contact_powers
from zwang.lowering.equation import Equation, filled, right_hand_sides
from zwang.lowering.friction import slip_direction
from zwang.lowering.gibbs_appell import gibbs_appell
from zwang.lowering.implicit import balanced, known_part
from zwang.lowering.lowered import Lowered
from zwang.lowering.power import constraint_rates, total_power
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Steps

GAINS = (se.Symbol("alpha"), se.Symbol("beta"))  # Baumgarte's


def acceleration_program(
    lowered: Lowered, basis: RowBasis, form: str = "fundamental", gains: tuple[Any, Any] | None = None
) -> Program:
    """q̈, the pivots that tell where it loses its meaning, and the power that changes the energy, if any does.

    `gains` (α, β) are symbols for Baumgarte's terms.
    """
    derived = lowered.derived
    Q = [f + c for f, c in zip(derived.Q, known_part(lowered), strict=True)]
    b = right_hand_sides(lowered, basis.used, gains)
    rates = constraint_rates(lowered, basis.used, off=gains is not None)
    steps = Steps(se.Symbol, se.Add)
    multipliers: Sequence[Any]
    sliding: Mapping[int, Any] = {}
    C: Sequence[Any] = derived.C
    shares: Mapping[int, Any] = {}
    if FORMS[form].eliminates and not lowered.rests:
        acceleration, pivots = gibbs_appell(lowered, basis, Q, dict(zip(basis.rows, b, strict=True)), steps)
        plain = right_hand_sides(lowered, basis.used, None)
        multipliers = Equation.of(lowered, basis, steps, plain).solve(Q)[1] if rates else ()
    else:
        equation = Equation.of(lowered, basis, steps, b, coordinates_first=coordinates_first(form))
        found = balanced(equation, Q, equation.b)
        acceleration, multipliers, sliding, C = found.acceleration, found.multipliers, found.sliding, found.nonideal
        pivots, shares = equation.pivots, found.shares
        implicit = bool(lowered.description.reactions)
        if gains is not None and (rates or sliding or implicit):
            # the power is that of physical forces, without Baumgarte's, and so is what depends on multipliers
            found = balanced(equation, Q, right_hand_sides(lowered, basis.used, None))
            multipliers, sliding, C = found.multipliers, found.sliding, found.nonideal
            if implicit and not shares:
                acceleration, _ = equation.solve([f + c for f, c in zip(derived.Q, C, strict=True)])
    forces = dict(zip(basis.used, multipliers, strict=False))
    power = total_power(lowered, rates, forces, C, shares)
    power += se.Add(*[sliding[i] * along(lowered, slip_direction(lowered, basis, i)) for i, _ in basis.rubbing])
    inputs = lowered.inputs if gains is None else lowered.inputs | {"gains": gains}
    outputs = {"acceleration": filled(acceleration), "pivots": tuple(pivots)}
    if power != 0:
        outputs["power"] = (power, *(contact_powers(lowered, basis, forces, sliding) if basis.masked else ()))
    return Program(inputs=inputs, outputs=outputs, shapes={}, steps=tuple(steps.done))


def along(lowered: Lowered, row: Mapping[int, Any]) -> Any:
    """A row, by its entries, times the velocities."""
    v = lowered.description.axes.v
    return se.Add(*[e * v[j] for j, e in row.items()])


def coordinates_first(form: str) -> bool:
    """Whether a form has all coordinates eliminated before any constraint."""
    return FORMS[form].elimination is Elimination.COORDINATES_FIRST
