"""Mistakes in contacts: limits that nothing reaches, limits that exclude each other, slips that are not speeds."""

from collections.abc import Collection, Container, Iterator, Sequence
from itertools import combinations, islice

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.mistakes import Mistake
from zwang.model.constraint import Constraint
from zwang.model.identity import degree_at_most
from zwang.model.symbols import Plain

MOST_PAIRS = 2_000  # of one-sided constraints that are held against each other


def wrong_contacts(
    constraints: Sequence[Constraint], coordinates: Container[sp.Expr], inputs: Collection[sp.Expr]
) -> Iterator[Mistake]:
    """What is wrong with the contacts among constraints, in these coordinates and known functions of time."""
    for c in constraints:
        if c.one_sided and c.order == 0 and all(f in coordinates for f in c.functions) and never_negative(c):
            nothing = " cannot be negative, so it limits nothing"
            remedy = "give a gap that changes its sign at the limit, as R - r and not (R - r)**2"
            yield Mistake(
                f"constraint {c.name!r}: ", c.expression, nothing, where=("constraints", c.name), remedy=remedy
            )
        if c.one_sided and c.order == 1 and (c.restitution != 0 or c.friction):
            what = "restitution" if c.restitution != 0 else "friction"
            yield Mistake(
                f"constraint {c.name!r} limits velocities and has {what}, which is for limits of positions: ",
                c.expression,
                where=("constraints", c.name),
                remedy="leave it out, or limit a position",
            )
        if c.slip:
            yield from wrong_slips(c, coordinates, inputs)
    yield from excluding(constraints)


def never_negative(c: Constraint) -> bool:
    """Whether a gap is a square, a length or the like: SymPy sees it from its form."""
    return bool(Plain.of(c.functions).put(c.expression).is_nonnegative)


def wrong_slips(c: Constraint, coordinates: Container[sp.Expr], inputs: Collection[sp.Expr]) -> Iterator[Mistake]:
    """Slips that are not linear in the velocities, or that contain none."""
    for slip in c.slip:
        functions = slip.atoms(AppliedUndef) - set(inputs)
        if any(f not in coordinates for f in functions):
            continue  # unknown symbols are told elsewhere
        plain = Plain.of(sorted(functions, key=str))
        put = plain.put(slip)
        if not put.free_symbols & set(plain.v):
            why, remedy = " contains no velocity", "give the speed at which the surfaces rub"
        elif not degree_at_most(put, plain.v, 1):
            why, remedy = " is not linear in the velocities", "give the speed with its sign, not its size or square"
        else:
            continue
        place = ("constraints", c.name)
        yield Mistake(f"constraint {c.name!r}: the slip ", slip, why, where=place, remedy=remedy)


def excluding(constraints: Sequence[Constraint]) -> Iterator[Mistake]:
    """Pairs of limits of which one is always exceeded: their gaps add up to a negative number."""
    sided = [c for c in constraints if c.one_sided and c.order == 0]
    for a, b in islice(combinations(sided, 2), MOST_PAIRS):
        if a.functions == b.functions and (total := sp.expand(a.expression + b.expression)).is_negative:
            yield Mistake(
                f"constraints {a.name!r} and {b.name!r} exclude each other: their gaps add up to ",
                total,
                where=("constraints", b.name),
                remedy="turn one of the relations round, or move a limit",
            )
