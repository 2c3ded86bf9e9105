"""The unit of a gap, where the units of coordinates tell it.

Friction is μ times the normal force, and that is the multiplier of a row: a force only if the row is a length. Numbers
and parameters have no units in a file, and may stand for lengths; so a term tells its unit only if it is made of
coordinates alone, without a factor.
"""

from collections.abc import Mapping

import sympy as sp
from sympy.core.function import AppliedUndef

LENGTHS = ("m", "mm", "cm", "dm", "km", "µm", "μm", "um", "nm", "in", "ft")
ANGLES = ("rad", "mrad", "deg", "°")


def not_a_length(gap: sp.Expr, units: Mapping[str, str]) -> str:
    """A term of a gap that is not a length, with what it is instead, in words; empty where nothing tells.

    >>> from zwang import coordinates
    >>> x, a, L = *coordinates("x a"), sp.Symbol("L")
    >>> not_a_length(a - L, {"a": "rad"}), not_a_length(x**2 - L**2, {"x": "m"}), not_a_length(L * a, {"a": "rad"})
    ('a is in rad', 'x^2 is in m^2', '')
    """
    for term in sp.Add.make_args(gap):
        factor, rest = term.as_coeff_Mul()
        powers = rest.as_powers_dict()
        if abs(factor) != 1 or not all(isinstance(f, AppliedUndef) and n.is_Integer for f, n in powers.items()):
            continue
        named = {f.func.__name__: int(n) for f, n in powers.items()}
        of = {name: units.get(name, "") for name in named}
        if not all(unit in LENGTHS + ANGLES for unit in of.values()):
            continue
        if sum(n for name, n in named.items() if of[name] in LENGTHS) != 1:
            words = sp.Mul(*[sp.Symbol(name) ** n for name, n in named.items()])
            unit = sp.Mul(*[sp.Symbol(of[name]) ** n for name, n in named.items()])
            return f"{words} is in {unit}".replace("**", "^")
    return ""
