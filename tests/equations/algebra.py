"""Equality of expressions: exact, or at random points with forty digits where SymPy would take long to show it."""

import random

import sympy as sp
from sympy.core.function import AppliedUndef


def same(found, expected):
    """Equal as expressions, entry by entry."""
    difference = sp.Matrix(found) - sp.Matrix(expected)
    return all(sp.cancel(entry) == 0 or sp.simplify(entry) == 0 for entry in difference)


def agree(found, expected, points=2):
    """Equal at random points, coordinates, rates, time and parameters independent of each other, to 25 digits."""
    found, expected = sp.Matrix(found), sp.Matrix(expected)
    atoms = found.atoms(AppliedUndef, sp.Derivative) | expected.atoms(AppliedUndef, sp.Derivative)
    symbols = found.free_symbols | expected.free_symbols
    draw = random.Random(7)
    for _ in range(points):
        values = {a: sp.Float(draw.uniform(0.3, 1.7), 40) for a in sorted(atoms | symbols, key=str)}
        left, right = (m.xreplace(values).evalf(40) for m in (found, expected))
        if not all(abs(a - b) < 1e-25 * (1 + abs(b)) for a, b in zip(left, right, strict=True)):
            return False
    return True
