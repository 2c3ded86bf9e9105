"""Back to the constraints: the least step in the kinetic-energy metric, as a program."""

from collections.abc import Sequence
from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.lowering.equation import Lift, diagonal, filled, masked_entries, masked_row
from zwang.lowering.lowered import Lowered
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Saddle, Steps, factorise_saddle


def projection_program(lowered: Lowered, basis: RowBasis, gains: tuple[Any, Any] | None = None) -> Program:
    """The steps that bring a state back to its constraints, least in the kinetic-energy metric.

    Outputs dq = −K₁φ for the holonomic rows, dv = −K₁ψ for all rows at velocity level, and the largest residual
    of each.
    """
    derived, n = lowered.derived, len(lowered.derived.Q)
    steps = Steps(se.Symbol, se.Add)
    holonomic = [i for i in basis.used if derived.residual[i] is not None]
    first = [i for i in basis.used if derived.residual_rate[i] is not None]
    lift = Lift.of(lowered, basis, steps)

    def correction(rows: list[int], reading: Sequence[Any]) -> tuple[Any, ...]:
        if not rows:
            return (se.Integer(0),) * n
        A = [masked_row(lowered, basis, i) for i in rows]
        saddle: Saddle = factorise_saddle(lift.mass, A, steps, damping=diagonal(basis, rows))
        b = [-e for e in masked_entries(basis, rows, [reading[i] for i in rows])]
        # lifted rows that are not among these only measure the step: what has no inertia moves least along them
        forces = lift.forces([None] * n, dict(zip(rows, b, strict=True)))
        return filled(saddle.solve(forces, b)[0])

    outputs = {
        "dq": correction(holonomic, derived.residual),
        "dv": correction(first, derived.residual_rate),
        "residual": (largest(masked_entries(basis, holonomic, [derived.residual[i] for i in holonomic])),),
        "residual_rate": (largest(masked_entries(basis, first, [derived.residual_rate[i] for i in first])),),
    }
    inputs = lowered.inputs if gains is None else lowered.inputs | {"gains": gains}
    return Program(inputs=inputs, outputs=outputs, shapes={}, steps=tuple(steps.done))


def largest(readings: Sequence[Any]) -> Any:
    """The largest magnitude among expressions."""
    return se.Max(*[se.Abs(e) for e in readings]) if readings else se.Integer(0)
