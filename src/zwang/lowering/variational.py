"""The explicit equation of motion together with its derivatives along several directions, as one program.

At constant rank the derivative of M q̈ = Q + Aᵀλ, A q̈ = b is the same system for other right-hand sides,

    M δq̈ = δQ − δM q̈ + δAᵀλ + Aᵀδλ,    A δq̈ = δb − δA q̈,

so the factors of the motion serve all directions: only the right-hand sides are differentiated, q̈ and λ held. That
is half the work of differentiating the factorisation, which remains the way for Gibbs–Appell elimination, and for
forces that depend on multipliers: nonideal ones, and the friction of contacts.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.compile.tangent import Tangents, tangent
from zwang.formulations.forms import FORMS
from zwang.lowering.acceleration import acceleration_program, coordinates_first
from zwang.lowering.contact import symbol
from zwang.lowering.equation import Equation, filled, right_hand_sides
from zwang.lowering.lowered import Lowered
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Steps


def variational_program(lowered: Lowered, basis: RowBasis, form: str, pattern: Sequence[Sequence[int]]) -> Program:
    """The acceleration with its derivatives, in the same form: q is [q, S₁, …, Sₖ], v likewise, p is [p, changes].

    `pattern` says, direction by direction, which parameters change. Where contacts rub, the changes of their κ = μ s
    along each direction are one more input, the last.
    """
    q, v, p = (lowered.inputs[name] for name in ("q", "v", "p"))

    def symbols(name: str, places: Sequence[int], j: int) -> tuple[Any, ...]:
        return tuple(se.Symbol(f"d{name}{i}_{j}") for i in places)

    dq, dv = ([symbols(name, range(len(q)), j) for j in range(len(pattern))] for name in "qv")
    dp = [symbols("p", places, j) for j, places in enumerate(pattern)]
    directions = [
        dict(zip((*q, *v, *(p[i] for i in places)), (*dq[j], *dv[j], *dp[j]), strict=True))
        for j, places in enumerate(pattern)
    ]
    inputs = lowered.inputs | {"q": sum(dq, q), "v": sum(dv, v), "p": sum(dp, p)}
    rubbing = [symbol("kappa", i) for i, _ in basis.rubbing]
    if rubbing:
        changes = [symbols("kappa", range(len(rubbing)), j) for j in range(len(pattern))]
        for direction, change in zip(directions, changes, strict=True):
            direction.update(zip(rubbing, change, strict=True))
        inputs |= {"dkappa": tuple(chain(*changes))}
    by_steps = lowered.description.reactions or basis.rubbing  # forces that are solved for, beside the factors
    if not FORMS[form].eliminates and not by_steps:
        return by_same_factors(lowered, basis, form, directions, inputs)
    both = tangent(acceleration_program(lowered, basis, form), directions, ["acceleration"], inputs)
    whole = both.outputs["acceleration"] + both.outputs["d_acceleration"]
    return Program(inputs, {"acceleration": whole, "pivots": both.outputs["pivots"]}, {}, both.steps)


def by_same_factors(
    lowered: Lowered,
    basis: RowBasis,
    form: str,
    directions: Sequence[Mapping[Any, Any]],
    inputs: Mapping[str, tuple[Any, ...]],
) -> Program:
    """q̈ as `acceleration_program` has it, then one more solution of the same system for each direction."""
    derived = lowered.derived
    A, b = [derived.A[i] for i in basis.used], right_hand_sides(lowered, basis.used, None)
    Q = [f + c for f, c in zip(derived.Q, derived.C, strict=True)]
    steps = Steps(se.Symbol, se.Add)
    equation = Equation.of(lowered, basis, steps, b, coordinates_first=coordinates_first(form))
    x, lam = (held(steps, part) for part in equation.solve(Q))
    reactions: list[list[Any]] = [[] for _ in Q]
    for row, l in zip(A, lam, strict=True):
        for j, e in row.items():
            reactions[j].append(e * l)
    force = [
        se.Add(f, *(-e * x[j] for j, e in row.items()), *given)
        for f, row, given in zip(Q, derived.M, reactions, strict=True)
    ]
    missing = [se.Add(e, *(-f * x[j] for j, f in row.items())) for e, row in zip(b, A, strict=True)]
    tangents = Tangents(directions, steps=steps.done)
    changes = [[tangents.of(e) for e in part] for part in (force, missing)]
    acceleration = x
    for j in range(len(directions)):
        d_force, d_missing = ([None if e is None else e[j] for e in part] for part in changes)
        acceleration += filled(equation.solve_for(d_force, d_missing)[0])
    outputs = {"acceleration": acceleration, "pivots": tuple(equation.pivots)}
    return Program(inputs, outputs, {}, tuple(steps.done))


def projection_beside(projection: Program, inputs: Mapping[str, tuple[Any, ...]]) -> Program:
    """The projection of the motion, for states with sensitivities, which stay as they are; inputs as for these."""
    rest = (se.Integer(0),) * (len(inputs["q"]) - len(projection.inputs["q"]))
    outputs = dict(projection.outputs) | {name: (*projection.outputs[name], *rest) for name in ("dq", "dv")}
    return Program(inputs, outputs, {}, projection.steps)


def events_beside(events: Program, inputs: Mapping[str, tuple[Any, ...]]) -> Program:
    """The events of the motion, for states with sensitivities; inputs as for these."""
    return Program(inputs, events.outputs, {}, events.steps)


def held(steps: Steps, values: Sequence[Any]) -> tuple[Any, ...]:
    """Symbols of their own for some values, so that these do not change when their inputs do."""
    names = []
    for e in filled(values):
        names.append(steps.symbol(f"s{len(steps.done)}"))
        steps.done.append((names[-1], e))
    return tuple(names)
