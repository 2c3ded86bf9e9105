"""Events as a program: their expressions in plain symbols, with multipliers and forces where they ask for them."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import symengine as se
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.compile import Program
from zwang.equations.languages import translate
from zwang.errors import InputError
from zwang.functions import FLOORS
from zwang.lowering.contact import across_rows, shared, slip_rows, watched, watched_friction
from zwang.lowering.equation import Equation, constraint_forces, filled
from zwang.lowering.friction import sliding_forces
from zwang.lowering.implicit import balanced, known_part
from zwang.lowering.lowered import Lowered
from zwang.lowering.resting import sigma
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Steps
from zwang.lowering.switches import argument_of, atoms_of
from zwang.model import System
from zwang.model.event import Event, constraint_force, multiplier
from zwang.model.symbols import rates, t
from zwang.model.values import suggestion


def event_program(
    system: System,
    symbols: Sequence[sp.Symbol],
    lowered: Lowered,
    basis: RowBasis,
    events: Sequence[Event],
    gains: Any,
    falling: Sequence[Any] = (),
    contacts: Sequence[int] = (),
) -> Program:
    """The events of a run as a program, on the rows chosen for it.

    Behind them come what is watched of contacts, the margin of nonideal forces that depend on multipliers, expressions
    of the model that are watched as well, and the switches of the events themselves.
    """
    derived, steps = lowered.derived, Steps(se.Symbol, se.Add)
    known = plain_symbols(system, symbols, lowered)
    reactions = [*map(multiplier, system.constraint_names), *map(constraint_force, system.coordinates)]
    at = Forces()
    solved = basis.masked or lowered.rests or lowered.description.reactions
    if solved or any(e.expression.has(*reactions) for e in events):
        at = forces_of(system, lowered, basis, steps)
        known |= at.known
    falling = [e.xreplace(at.put) for e in falling] if at.put else falling
    own = [reading(event, known, reactions) for event in events]
    inputs = lowered.inputs if gains is None else lowered.inputs | {"gains": gains}
    fixed = {symbol for name, symbols in inputs.items() if name not in ("t", "q", "v") for symbol in symbols}
    rough = slip_rows(lowered) if lowered.contact else {}
    guides = [i for i in rough if i not in contacts]
    forces = at.forces if basis.masked else {}
    if basis.shared:
        forces = shared(forces, (*contacts, *guides, *rough.values(), *across_rows(lowered).values()))
    gaps = [rate if gap is None else gap for gap, rate in zip(derived.residual, derived.residual_rate, strict=True)]
    on_contact = watched(contacts, gaps, forces)
    if rough:
        on_contact += watched_friction(rough, derived.residual_rate, forces, at.margins, guides, across_rows(lowered))
    outputs = (*own, *on_contact, *at.margin, *falling, *switches_within(own, fixed))
    return Program(inputs=inputs, outputs={"event": outputs}, shapes={}, steps=tuple(steps.done))


def plain_symbols(system: System, symbols: Sequence[sp.Symbol], lowered: Lowered) -> dict[sp.Basic, Any]:
    """What stands in programs for time, parameters, coordinates and rates."""
    axes = lowered.description.axes
    known: dict[sp.Basic, Any] = dict(zip(symbols, lowered.parameters, strict=True)) | {t: axes.t}
    for coordinate, q, v in zip(system.coordinates, axes.q, axes.v, strict=True):
        known |= {coordinate: q, rates(coordinate)[0]: v}
    return known


@dataclass(frozen=True)
class Forces:
    """What is known of forces: multipliers by row, what stands for them in events and in switches, and margins."""

    forces: Mapping[int, Any] = field(default_factory=dict)
    known: Mapping[sp.Basic, Any] = field(default_factory=dict)
    put: Mapping[Any, Any] = field(default_factory=dict)
    margins: Mapping[int, Any] = field(default_factory=dict)
    margin: tuple[Any, ...] = ()


def forces_of(system: System, lowered: Lowered, basis: RowBasis, steps: Steps) -> Forces:
    """The forces of constraint on the rows chosen, as steps of a program."""
    derived, implicit = lowered.derived, lowered.description.reactions
    Q = [f + c for f, c in zip(derived.Q, known_part(lowered), strict=True)]
    equation = Equation.of(lowered, basis, steps, [derived.b[i] for i in basis.used])
    found = balanced(equation, Q, equation.b)
    lam = found.multipliers
    forces = dict(zip(basis.used, filled(lam) if basis.masked or implicit else lam, strict=True))
    known: dict[sp.Basic, Any] = {}
    if not basis.redundant(len(system.constraints)):
        lam_of = {i: e for i, e in forces.items() if e is not None}
        names = map(multiplier, system.constraint_names)
        known |= {name: lam_of.get(i, se.Integer(0)) for i, name in enumerate(names)}
    total = constraint_forces(equation.A, lam, len(Q), steps)
    total = [a + b for a, b in zip(total, sliding_forces(lowered, basis, found.sliding), strict=True)]
    known |= {constraint_force(q): f + c for q, f, c in zip(system.coordinates, total, found.nonideal, strict=True)}
    margin = () if found.margin is None else (found.margin,)
    put = {s: forces.get(i, se.Integer(0)) for i, s in implicit} | {
        sigma(i): share for i, share in found.shares.items()
    }
    return Forces(forces, known, put, found.margins, margin)


def switches_within(events: Sequence[Any], fixed: Set[Any] = frozenset()) -> tuple[Any, ...]:
    """Functions that are zero where some expressions switch, unless that depends on fixed symbols alone.

    Between two looks an expression may switch there and back. What decides on it is smooth, and does not hide.
    """
    found: dict[Any, None] = {}
    for atom in atoms_of(events):
        argument = argument_of(atom)
        if not argument.free_symbols <= fixed and -argument not in found:
            found[se.sin(se.pi * argument) if type(atom).__name__ in FLOORS else argument] = None
    return tuple(found)


def reading(event: Event, known: dict[sp.Basic, Any], reactions: list[sp.Symbol]) -> Any:
    """An event's expression in plain symbols; what it does not know is refused by name."""
    named = event.expression.free_symbols | event.expression.atoms(AppliedUndef)
    strange = sorted(named - known.keys(), key=str)
    if strange:
        if strange[0] in reactions:
            raise InputError(
                f"event {event.name!r} asks for {strange[0]}, but with redundant constraints multipliers are not "
                f"unique: watch constraint_force(…) instead, or drop the redundant constraints"
            )
        raise InputError(
            f"event {event.name!r}: unknown symbol {strange[0]}{suggestion(strange[0], [*known, *reactions])}"
        )
    return translate(event.expression, known)
