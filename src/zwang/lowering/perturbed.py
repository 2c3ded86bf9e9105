"""How the equation of motion, its constraints and expressions beside it change along a direction, as programs.

At constant rank the derivative of M q̈ = Q + C + Aᵀλ, A q̈ = b is the same system for other right-hand sides,

    M δq̈ = δ(Q + C + Aᵀλ − M q̈) + Aᵀδλ,    A δq̈ = δ(b − A q̈),    q̈ and λ held in δ(…),

so that all there is to differentiate are two readings that vanish along a motion. One direction is an input of the
program: several are a leading axis.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.compile.table import NAME as SIGNAL
from zwang.compile.tangent import tangent
from zwang.lowering.lowered import Lowered
from zwang.lowering.switches import argument_of, atoms_of


def balance_program(lowered: Lowered) -> Program:
    """What the equation and its constraints read, and how that changes along (dq, dv, dp), q̈ = a and λ = lam held.

    `force` is Q + C + Aᵀλ − M a, `missing` b − A a, `reaction` Aᵀλ + C, `pushed` A w for a vector w that is held, too.
    `switches` are what conditions compare with zero: where one vanishes, there is no derivative.
    """
    derived = lowered.derived
    n, m = len(derived.Q), len(derived.A)
    held = {"a": named("held_a", n), "lam": named("held_l", m), "w": named("held_w", n)}
    reactions: list[list[Any]] = [[] for _ in range(n)]
    for row, l in zip(derived.A, held["lam"], strict=True):
        for j, e in row.items():
            reactions[j].append(e * l)
    force = [
        se.Add(Q, C, *reactions[i], *(-e * held["a"][j] for j, e in derived.M[i].items()))
        for i, (Q, C) in enumerate(zip(derived.Q, derived.C, strict=True))
    ]
    missing = [
        se.Add(b, *(-e * held["a"][j] for j, e in row.items())) for b, row in zip(derived.b, derived.A, strict=True)
    ]
    outputs = {
        "force": tuple(force),
        "missing": tuple(missing),
        "reaction": tuple(se.Add(C, *terms) for C, terms in zip(derived.C, reactions, strict=True)),
        "pushed": tuple(se.Add(*(e * held["w"][j] for j, e in row.items())) for row in derived.A),
        "residual": tuple(se.Integer(0) if e is None else e for e in derived.residual),
        "residual_rate": tuple(se.Integer(0) if e is None else e for e in derived.residual_rate),
    }
    switches = [argument_of(atom) for atom in atoms_of([e for es in outputs.values() for e in es])]
    program = Program(lowered.inputs | held, outputs | {"switches": tuple(switches)})
    return along(program, ("q", "v", "p"), tuple(outputs))


def readings_program(
    lowered: Lowered,
    expressions: Sequence[Any],
    spare: tuple[Any, ...],
    reactions: Mapping[str, tuple[Any, ...]],
    rates: bool,
) -> Program:
    """Values of expressions in q, v, a, p and reactions, and how these change along a direction of all of them.

    `spare` are parameters that the system lacks, at the end of p. With `rates`, the expressions are functions of q and
    v, and their rates are `rate`.
    """
    axes = lowered.description.axes
    outputs: dict[str, tuple[Any, ...]] = {"reading": tuple(expressions)}
    if rates:
        outputs["rate"] = tuple(
            se.Add(
                *(h.diff(x) * v for x, v in zip(axes.q, axes.v, strict=True) if x in h.free_symbols),
                *(h.diff(v) * a for v, a in zip(axes.v, axes.a, strict=True) if v in h.free_symbols),
            )
            for h in expressions
        )
    inputs = lowered.inputs | {"a": axes.a, "p": (*lowered.parameters, *spare)} | dict(reactions)
    return along(Program(inputs, outputs), ("q", "v", "a", "p", *reactions), tuple(outputs))


def along(program: Program, varied: Sequence[str], of: Sequence[str]) -> Program:
    """The program with derivatives along one direction, which is an input: dq for q, and so on."""
    changes = {"d" + name: named(f"change_{name}", len(program.inputs[name])) for name in varied}
    direction = {s: d for name in varied for s, d in zip(program.inputs[name], changes["d" + name], strict=True)}
    for e in (e for es in program.outputs.values() for e in es):
        for table in e.atoms(se.FunctionSymbol):  # a signal's table is no number that could change
            if table.get_name() == SIGNAL:
                direction.pop(table.args[0], None)
    return tangent(program, [direction], of, {**program.inputs, **changes})


def named(letter: str, count: int) -> tuple[Any, ...]:
    """Symbols of one kind."""
    return tuple(se.Symbol(f"{letter}{i}") for i in range(count))
