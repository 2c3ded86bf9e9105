"""Matrices as a textbook prints them: (m₁ + m₂) l₁² and cos(θ₁ − θ₂), not what differentiation leaves behind.

Terms are sorted by what moves: each product of rates, coordinates, sines and cosines once, with what parameters make
of it before it. `trigonometry` finds the shortest form of sines and cosines. What comes out is compared with what went
in at random points, and the longer of both is dropped.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import mpmath  # type: ignore[import-untyped]
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.equations.trigonometry import Polynomial, Powers, product_of, shortest, written
from zwang.linalg.exact import at_points, in_decimals, operations
from zwang.time_limit import within

SECONDS = 2.0
"""Processor time for all matrices of a system together; what has not been reached then stays as it was derived."""

LONGEST = 1500  # operations of an entry as derived; beyond, nobody reads what comes out
FACTORED = 24  # terms of a sum that may have factors in common
ROOTS = 80  # operations of what has roots or denominators, which only SymPy's own simplification knows
DIGITS = 30  # of the comparison
SAME = 1e-20  # of the terms that an entry is made of: what differs by less is the same
ROUNDED = 1e-14  # the same where decimal numbers were multiplied: 0.3·0.7² is 0.147, up to its last digits
POINTS, ATTEMPTS = 2, 12

Way = Callable[[sp.Expr, frozenset[sp.Symbol], float], sp.Expr]
"""From an expression in letters, those that move, and what counts as rounding of its numbers."""


def textbook(matrices: Sequence[Any], seconds: float = SECONDS) -> tuple[list[sp.ImmutableMatrix], int]:
    """Matrices in the form in which they are read, and how many entries there was no time for.

    Equal entries are looked at once.

    >>> a, b, m = sp.symbols("a b m")
    >>> textbook([sp.Matrix([[m*sp.sin(a)*sp.sin(b) + m*sp.cos(a)*sp.cos(b)]])])
    ([Matrix([[m*cos(a - b)]])], 0)
    """
    known: dict[sp.Expr, sp.Expr] = {}
    entries = {e: None for matrix in matrices for e in matrix.todok().values() if not e.is_Atom}

    def work() -> None:
        for way in (sorted_by_motion, without_roots):  # the second is slow: it waits until all have had the first
            for entry in entries:
                known[entry] = shorter(known.get(entry, entry), way)

    within(seconds, work)
    unread = sum(e in entries and e not in known for matrix in matrices for e in matrix.todok().values())
    return [sp.ImmutableMatrix(matrix.applyfunc(lambda e: known.get(e, e))) for matrix in matrices], unread


def shorter(entry: sp.Expr, way: Way) -> sp.Expr:
    """One entry written in a way; as it is where that is not shorter, or cannot be checked, or is hopeless."""
    if not 2 <= operations([entry]) <= LONGEST or any(number._prec != 53 for number in entry.atoms(sp.Float)):
        return entry
    plain, back = in_letters(entry)
    rounding = ROUNDED if plain.has(sp.Float) else 0.0
    exact = plain.xreplace({number: fraction(number) for number in plain.atoms(sp.Float)})
    try:
        found = way(exact, frozenset(back), rounding)
    except Exception:  # SymPy cannot put everything in order; nobody is helped by hearing so
        return entry
    if length(found) >= length(exact) or not same(exact, found, rounding or SAME):
        return entry
    return (in_decimals(found) if rounding else found).xreplace(back)


def length(entry: sp.Expr) -> int:
    """How long an expression is to read; a minus is as good as a plus."""
    signs = sum(1 for e in sp.preorder_traversal(entry) if isinstance(e, sp.Mul) and e.args[0] is sp.S.NegativeOne)
    return operations([entry]) - signs


def fraction(number: sp.Float) -> sp.Expr:
    """A decimal number as the fraction that its first fifteen digits are; what is infinite stays."""
    return sp.Rational(f"{float(number):.15g}") if number.is_finite else number


def in_letters(entry: sp.Expr) -> tuple[sp.Expr, dict[sp.Symbol, sp.Expr]]:
    """The entry with a letter for each function of time, rate and unspecified function; and what each stands for."""
    back: dict[sp.Symbol, sp.Expr] = {}
    parts = entry.atoms(AppliedUndef, sp.Derivative, sp.Subs)
    for part in sorted(parts, key=lambda e: (-operations([e]), str(e))):
        if entry.has(part):  # the letter of a derivative hides its function
            letter = sp.Dummy(str(part))
            entry, back[letter] = entry.xreplace({part: letter}), part
    return entry, back


def sorted_by_motion(entry: sp.Expr, moving: frozenset[sp.Symbol], rounding: float = 0.0) -> sp.Expr:
    """The sum over products of what moves, each with its shortest coefficient."""
    entry, held = polynomial_in(entry, moving, rounding)
    coefficients: defaultdict[sp.Expr, Polynomial] = defaultdict(dict)
    for term in sp.Add.make_args(sp.expand(entry)):
        number, rest, powers = apart(term)
        polynomial = coefficients[rest]
        polynomial[powers] = polynomial.get(powers, sp.S.Zero) + number
    table: defaultdict[Powers, defaultdict[sp.Expr, list[sp.Expr]]] = defaultdict(lambda: defaultdict(list))
    for rest, polynomial in coefficients.items():
        fixed, changing = rest.as_independent(*moving, *held, as_Add=False)
        nothing = rounding * sum(map(abs, polynomial.values()))
        for powers, number in shortest({p: c for p, c in polynomial.items() if abs(c) > nothing}).items():
            if abs(number) > nothing:
                table[powers][changing].append(number * fixed)
    terms = []
    for powers, by_motion in table.items():
        parts = [with_factors(sp.Add(*sums)) * changing for changing, sums in by_motion.items()]
        terms.append(written(powers) * with_factors(sp.Add(*parts)))
    return sp.Add(*terms).xreplace(held)


def polynomial_in(
    entry: sp.Expr, moving: frozenset[sp.Symbol], rounding: float
) -> tuple[sp.Expr, dict[sp.Symbol, sp.Expr]]:
    """The entry as a polynomial in sines, cosines and letters; and what these letters hold: roots, quotients, ….

    What stands in a root or in a denominator is put in order by itself.
    """
    held: dict[sp.Symbol, sp.Expr] = {}

    def put(e: sp.Expr) -> sp.Expr:
        if e.is_Atom or isinstance(e, sp.sin | sp.cos):
            return e
        if isinstance(e, sp.Add | sp.Mul):
            return e.func(*map(put, e.args))
        if isinstance(e, sp.Pow) and e.exp.is_Integer and e.exp > 0:
            return sp.Pow(put(e.base), e.exp)
        if isinstance(e, sp.Pow) and (e.base.is_Symbol or e.is_number):
            return e
        inside = sorted_by_motion(e.base, moving, rounding) ** e.exp if isinstance(e, sp.Pow) else e
        letter = names.setdefault(inside, sp.Dummy(str(len(names))))
        held[letter] = inside
        return letter

    names: dict[sp.Expr, sp.Symbol] = {}
    return put(entry), held


def apart(term: sp.Expr) -> tuple[sp.Rational, sp.Expr, Powers]:
    """A term as a fraction, what is not a sine or cosine, and what is."""
    number, rest = term.as_coeff_Mul(rational=True)
    others, factors = [], dict[sp.Expr, tuple[int, int]]()
    for factor in sp.Mul.make_args(rest):
        base, power = factor.as_base_exp()
        if isinstance(base, sp.sin | sp.cos) and power.is_Integer and power > 0:
            i, j = factors.get(base.args[0], (0, 0))
            sine = isinstance(base, sp.sin)
            factors[base.args[0]] = (i + int(power) * sine, j + int(power) * (not sine))
        else:
            others.append(factor)
    return number, sp.Mul(*others), product_of(factors)


def with_factors(total: sp.Expr) -> sp.Expr:
    """A sum with what its terms have in common before it, where that is shorter."""
    if not 2 <= len(sp.Add.make_args(total)) <= FACTORED:
        return total
    return min((sp.factor(total), sp.factor_terms(total), total), key=lambda e: operations([e]))


def without_roots(entry: sp.Expr, moving: frozenset[sp.Symbol], rounding: float) -> sp.Expr:
    """What has roots or denominators after SymPy's own simplification; everything else as it is."""
    if operations([entry]) > ROOTS or not has_roots(entry):
        return entry
    simple = sp.simplify(entry)
    return min(simple, sp.factor(simple), key=length)


def has_roots(entry: sp.Expr) -> bool:
    """Whether there is something that is not a polynomial in sines, cosines and letters."""
    powers = [p for p in entry.atoms(sp.Pow) if not p.is_number]
    others = entry.atoms(sp.Function) - entry.atoms(sp.sin, sp.cos)
    return bool(others) or any(not (p.exp.is_Integer and p.exp > 0) for p in powers)


def same(one: sp.Expr, other: sp.Expr, tolerance: float) -> bool:
    """Whether two expressions have the same values at random points of either sign, beside the terms of the first."""
    symbols = sorted(one.free_symbols | other.free_symbols, key=str)
    terms = sp.Add.make_args(one)
    try:
        values = at_points(symbols, [*terms, other])
    except Exception:  # a function that mpmath does not have
        return False
    draw, agreed = random.Random(12), 0
    for _ in range(ATTEMPTS):
        point = [mpmath.mpf(draw.uniform(0.3, 1.9) * draw.choice((1, -1))) for _ in symbols]
        try:
            with mpmath.workdps(DIGITS):
                *parts, value = values(*point)
                size = sum(map(abs, parts))
                off = abs(sum(parts) - value)
                if not mpmath.isfinite(off):
                    continue
        except NameError:  # a function that mpmath does not have, as the slope of a jump: written as it stands
            return False
        except (ArithmeticError, ValueError, TypeError):
            continue
        if off > tolerance * size:
            return False
        agreed += 1
        if agreed == POINTS:
            return True
    return False
