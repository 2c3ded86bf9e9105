"""The explicit equation of motion together with its derivatives along several directions, as one program.

At constant rank the derivative of M q̈ = Q + Aᵀλ, A q̈ = b is the same system for other right-hand sides,

    M δq̈ = δQ − δM q̈ + δAᵀλ + Aᵀδλ,    A δq̈ = δb − δA q̈,

so the factors of the motion serve all directions: only the right-hand sides are differentiated, q̈ and λ held. That
is half the work of differentiating the factorisation, which remains the way for Gibbs–Appell elimination, and for
forces that depend on multipliers: nonideal ones, and the friction of contacts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import symengine as se

from zwang.arrays import Indices
from zwang.compile import AnyProgram, Program, RolledProgram
from zwang.compile.rolled.tangent import rolled_tangent
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

    `pattern` says, direction by direction, which parameters change. Where contacts rub, the changes of their κ = μ s,
    and in space of what turns slips that begin, along each direction are one more input, the last.
    """
    q, v, p = (lowered.inputs[name] for name in ("q", "v", "p"))
    inputs, changes = varied_inputs(lowered.inputs, pattern)
    directions = [
        dict(zip((*q, *v, *(p[i] for i in places)), changed, strict=True))
        for places, changed in zip(pattern, changes, strict=True)
    ]
    rubbing = [symbol("kappa", i) for i, _ in basis.rubbing]
    rubbing += [symbol(f"veer_{axis}_", i) for i, _ in basis.across for axis in "xy"]
    if rubbing:
        kappas = [tuple(se.Symbol(f"dkappa{i}_{j}") for i in range(len(rubbing))) for j in range(len(pattern))]
        for direction, change in zip(directions, kappas, strict=True):
            direction.update(zip(rubbing, change, strict=True))
        inputs |= {"dkappa": tuple(chain(*kappas))}
    by_steps = (
        lowered.description.reactions or basis.rubbing or lowered.rests
    )  # forces that are solved for, beside the factors
    if not FORMS[form].eliminates and not by_steps:
        return by_same_factors(lowered, basis, form, directions, inputs)
    both = tangent(acceleration_program(lowered, basis, form), directions, ["acceleration"], inputs)
    whole = both.outputs["acceleration"] + both.outputs["d_acceleration"]
    return Program(inputs, {"acceleration": whole, "pivots": both.outputs["pivots"]}, {}, both.steps)


Inputs = Mapping[str, tuple[Any, ...]]


def varied_inputs(
    inputs: Inputs, pattern: Sequence[Sequence[int]]
) -> tuple[dict[str, tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The inputs of a program with changes behind its own, and the changes along each direction: of q, v and p."""

    def symbols(name: str, places: Sequence[int], j: int) -> tuple[Any, ...]:
        return tuple(se.Symbol(f"d{name}{i}_{j}") for i in places)

    every = range(len(inputs["q"]))
    changes = [
        {"q": symbols("q", every, j), "v": symbols("v", every, j), "p": symbols("p", places, j)}
        for j, places in enumerate(pattern)
    ]
    behind = {name: sum((each[name] for each in changes), inputs[name]) for name in "qvp"}
    return dict(inputs) | behind, [(*each["q"], *each["v"], *each["p"]) for each in changes]


def variational_loops(program: RolledProgram, pattern: Sequence[Sequence[int]]) -> RolledProgram:
    """The same of an acceleration that is a program with loops."""
    n = len(program.inputs["q"])
    inputs, changes = varied_inputs(program.inputs, pattern)
    own, place = places_in(program.inputs, inputs)
    q = 1  # behind t
    directions = []
    for places, changed in zip(pattern, changes, strict=True):
        along = np.full(len(own), -1, dtype=np.int64)
        along[[*range(q, q + 2 * n), *(q + 2 * n + i for i in places)]] = [place[s] for s in changed]
        directions.append(along)
    both = rolled_tangent(program, inputs, own, directions, ["acceleration"])
    whole = np.concatenate([both.outputs["acceleration"], both.outputs["d_acceleration"]])
    return replace(both, outputs={"acceleration": whole, "pivots": both.outputs["pivots"]}, shapes={}).giving(
        "acceleration", "pivots"
    )


def places_in(own: Inputs, inputs: Inputs) -> tuple[Indices, dict[Any, int]]:
    """Where the inputs of a program are among others; and the places of all of these."""
    place = {symbol: k for k, symbol in enumerate(chain(*inputs.values()))}
    return np.array([place[s] for s in chain(*own.values())], dtype=np.int64), place


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


def projection_beside(projection: AnyProgram, inputs: Mapping[str, tuple[Any, ...]]) -> AnyProgram:
    """The projection of the motion, for states with sensitivities, which stay as they are; inputs as for these."""
    more = len(inputs["q"]) - len(projection.inputs["q"])
    if isinstance(projection, RolledProgram):
        moved = rolled_tangent(projection, inputs, places_in(projection.inputs, inputs)[0], [])
        nothing = np.full(more, moved.size - 1)  # the last number is a zero
        outputs = {k: np.concatenate([x, nothing]) if k in ("dq", "dv") else x for k, x in moved.outputs.items()}
        return replace(moved, outputs=outputs)
    rest = (se.Integer(0),) * more
    return Program(
        inputs,
        dict(projection.outputs) | {name: (*projection.outputs[name], *rest) for name in ("dq", "dv")},
        {},
        projection.steps,
    )


def events_beside(events: AnyProgram, inputs: Mapping[str, tuple[Any, ...]]) -> AnyProgram:
    """The events of the motion, for states with sensitivities; inputs as for these."""
    if isinstance(events, RolledProgram):
        return rolled_tangent(events, inputs, places_in(events.inputs, inputs)[0], [])
    return Program(inputs, events.outputs, {}, events.steps)


def held(steps: Steps, values: Sequence[Any]) -> tuple[Any, ...]:
    """Symbols of their own for some values, so that these do not change when their inputs do."""
    names = []
    for e in filled(values):
        names.append(steps.symbol(f"s{len(steps.done)}"))
        steps.done.append((names[-1], e))
    return tuple(names)
