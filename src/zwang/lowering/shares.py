"""What decides which switches rest: their shares, the rates of their arguments, and what moves them, as one program."""

from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.lowering.equation import Equation, filled
from zwang.lowering.implicit import balanced, known_part
from zwang.lowering.lowered import Lowered
from zwang.lowering.resting import Rates, half_jump
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Steps


def shares_program(lowered: Lowered, basis: RowBasis) -> Program:
    """q̈ with some switches at rest, and of all that may: σ and ṡ (k,), ∂ṡ/∂q̈ and ∂q̈/∂σ (k, n).

    The latter holds multipliers, though forces may depend on them: it tells directions and sizes. `grip` (k,) is c of
    G = −c ∂ṡ/∂q̈, or of the part of G that is along it.
    """
    derived, steps = lowered.derived, Steps(se.Symbol, se.Add)
    Q = [f + c for f, c in zip(derived.Q, known_part(lowered), strict=True)]
    equation = Equation.of(lowered, basis, steps, [derived.b[i] for i in basis.used])
    found, rates = balanced(equation, Q, equation.b), Rates.of(lowered, steps)
    lam = dict(zip(basis.used, filled(found.multipliers), strict=True))
    put = {s: lam.get(i, se.Integer(0)) for i, s in lowered.description.reactions}
    responses: list[Any] = []
    grips: list[Any] = []
    for (i, _), row in zip(lowered.rests, rates.J, strict=True):
        jump = [steps.name(half_jump(f + c, i).xreplace(put)) for f, c in zip(derived.Q, derived.C, strict=True)]
        responses += filled(equation.respond_to({j: e for j, e in enumerate(jump) if e != 0})[0])
        grips.append(-se.Add(*[e * jump[j] for j, e in row.items()]) / se.Add(*[e**2 for e in row.values()]))
    count, n = len(lowered.rests), len(Q)
    outputs = {
        "acceleration": filled(found.acceleration),
        "share": tuple(found.shares.values()),
        "rate": tuple(rates.along(k, found.acceleration) + rates.c[k] for k in range(count)),
        "row": tuple(row.get(j, se.Integer(0)) for row in rates.J for j in range(n)),
        "response": tuple(responses),
        "grip": tuple(grips),
    }
    shapes = {"row": (count, n), "response": (count, n)}
    return Program(lowered.inputs, outputs, shapes, tuple(steps.done))
