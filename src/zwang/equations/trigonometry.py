"""Polynomials in sines and cosines with fractions as coefficients, and the shortest way to write one.

Two identities make what textbooks print, sin² + cos² = 1 and the sums of angles; which of them helps, and in which
direction, is found by trying: there are few ways, and each is exact.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import sympy as sp

Powers = tuple[tuple[sp.Expr, int, int], ...]
"""A product of sines and cosines: (angle, power of its sine, power of its cosine), in one order of angles."""

Polynomial = dict[Powers, sp.Rational]
Frequency = tuple[tuple[sp.Expr, sp.Rational], ...]
"""A sum of angles: (angle, how often)."""

MOST_TERMS, MOST_FACTORS = 60, 10  # beyond, products are not written as sums of angles: 2^(factors − 1) for each
MOST_CHOICES = 4  # angles whose squares are tried both ways


def shortest(given: Polynomial) -> Polynomial:
    """The same polynomial in the fewest and simplest terms that were found.

    >>> a, b = sp.symbols("a b")
    >>> expression(shortest({((a, 1, 0), (b, 1, 0)): sp.S.One, ((a, 0, 1), (b, 0, 1)): sp.S.One}))
    cos(a - b)
    """
    found = [given, *squares_replaced(given)]
    common = common_factor(given)
    for factor in dict.fromkeys(((), common)):  # what all terms share may stay outside of the sums of angles
        rest = given if not factor else {divided(powers, factor): c for powers, c in given.items()}
        if len(rest) <= MOST_TERMS and all(degree(powers) <= MOST_FACTORS for powers in rest):
            sums = in_sums_of_angles(rest)
            halves = [halved(sums, sine) for sine in (True, False)]
            ways = [sums, *halves, *(reduced for half in halves for reduced in squares_replaced(half))]
            found += [multiplied(way, {factor: sp.S.One}) for way in ways]
    return min(found, key=cost)


def cost(polynomial: Polynomial) -> int:
    """How long a polynomial is to read: terms before functions, functions before multiples of angles."""
    return sum(
        10 + (abs(c) != 1) + sum((2 + (i > 1)) * (i > 0) + (2 + (j > 1)) * (j > 0) + wide(a) for a, i, j in powers)
        for powers, c in polynomial.items()
    )


def wide(angle: sp.Expr) -> int:
    """How much longer an angle is than a letter; multiples are not what people write first."""
    return sum(1 if abs(times) == 1 else 4 for _, times in frequency_of(angle)) - 1


def degree(powers: Powers) -> int:
    """How many sines and cosines a product has."""
    return sum(i + j for _, i, j in powers)


def expression(polynomial: Polynomial) -> sp.Expr:
    """The polynomial in SymPy."""
    return sp.Add(*[c * written(powers) for powers, c in polynomial.items()])


def written(powers: Powers) -> sp.Expr:
    """A product of sines and cosines in SymPy."""
    return sp.Mul(*[sp.sin(a) ** i * sp.cos(a) ** j for a, i, j in powers])


def product_of(factors: Mapping[sp.Expr, tuple[int, int]]) -> Powers:
    """Powers by angle, in their one order."""
    return tuple(sorted(((a, i, j) for a, (i, j) in factors.items() if i or j), key=lambda f: f[0].sort_key()))


def multiplied(one: Polynomial, other: Polynomial) -> Polynomial:
    """The product of two polynomials, no square replaced."""
    terms: list[tuple[Powers, Any]] = []
    for (p, c), (q, d) in product(one.items(), other.items()):
        factors = {a: (i, j) for a, i, j in p}
        for a, i, j in q:
            k, l = factors.get(a, (0, 0))
            factors[a] = (i + k, j + l)
        terms.append((product_of(factors), c * d))
    return collected(terms)


def collected(terms: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    """Terms with the same product added up; what vanishes is left out."""
    found: defaultdict[Any, Any] = defaultdict(lambda: sp.S.Zero)
    for key, c in terms:
        found[key] += c
    return {key: c for key, c in found.items() if c != 0}


def common_factor(polynomial: Polynomial) -> Powers:
    """The sines and cosines that all terms share."""
    each = [{a: (i, j) for a, i, j in powers} for powers in polynomial]
    angles = set(each[0]).intersection(*each[1:]) if each else set()
    return product_of({a: (min(p[a][0] for p in each), min(p[a][1] for p in each)) for a in angles})


def divided(powers: Powers, factor: Powers) -> Powers:
    """A product without a factor that it has."""
    taken = {a: (i, j) for a, i, j in factor}
    return product_of({a: (i - taken.get(a, (0, 0))[0], j - taken.get(a, (0, 0))[1]) for a, i, j in powers})


# sin² + cos² = 1


def squares_replaced(polynomial: Polynomial) -> Iterator[Polynomial]:
    """For each angle its squared sines or its squared cosines replaced, in all ways, or in the two plain ones."""
    angles = sorted({a for powers in polynomial for a, i, j in powers if i > 1 or j > 1}, key=lambda a: a.sort_key())
    if not angles:
        return
    many = len(angles) > MOST_CHOICES
    choices = [(s,) * len(angles) for s in (True, False)] if many else product((True, False), repeat=len(angles))
    for choice in choices:
        found = polynomial
        for angle, sine in zip(angles, choice, strict=True):
            found = without_squares(found, angle, sine)
        yield found


def without_squares(polynomial: Polynomial, angle: sp.Expr, sine: bool) -> Polynomial:
    """sin² → 1 − cos² of one angle, or cos² → 1 − sin²."""
    terms: list[tuple[Powers, Any]] = []
    for powers, c in polynomial.items():
        factors = {a: (i, j) for a, i, j in powers}
        i, j = factors.get(angle, (0, 0))
        gone, stays = (i, j) if sine else (j, i)
        for k in range(gone // 2 + 1):  # gone² = 1 − stays², to the power of gone // 2
            left, right = gone % 2, stays + 2 * k
            now = factors | {angle: (left, right) if sine else (right, left)}
            terms.append((product_of(now), c * (-1) ** k * sp.binomial(gone // 2, k)))
    return collected(terms)


# sums of angles


def frequency_of(angle: sp.Expr) -> Frequency:
    """An angle as a sum of multiples.

    >>> a, b = sp.symbols("a b")
    >>> frequency_of(2*a - b)
    ((a, 2), (b, -1))
    """
    parts = collected((rest, times) for times, rest in (term.as_coeff_Mul(rational=True) for term in addends(angle)))
    return ordered(parts)


def addends(angle: sp.Expr) -> tuple[sp.Expr, ...]:
    """The terms of an angle, products multiplied out."""
    return tuple(sp.Add.make_args(sp.expand_mul(angle)))


def ordered(parts: Mapping[sp.Expr, Any]) -> Frequency:
    """Multiples of angles in their one order."""
    return tuple(sorted(((a, n) for a, n in parts.items() if n != 0), key=lambda part: part[0].sort_key()))


def in_sums_of_angles(polynomial: Polynomial) -> Polynomial:
    """Every product as a sum of sines and cosines of sums of angles: cos a cos b → (cos(a − b) + cos(a + b))/2."""
    waves: defaultdict[Frequency, Any] = defaultdict(lambda: sp.S.Zero)
    for powers, c in polynomial.items():
        for frequency, amplitude in exponentials(powers).items():
            waves[frequency] += c * amplitude
    terms: list[tuple[Powers, Any]] = []
    for frequency, amplitude in waves.items():  # the coefficients are real, so that those of ±f are conjugate
        if not frequency:
            terms.append(((), amplitude))
        elif frequency[0][1] > 0:
            angle = sp.Add(*[a * n for a, n in frequency])
            real, imaginary = amplitude.as_real_imag()
            terms += [(((angle, 0, 1),), 2 * real), (((angle, 1, 0),), -2 * imaginary)]
    return collected(terms)


def exponentials(powers: Powers) -> dict[Frequency, Any]:
    """A product of sines and cosines as a sum of exp(i f)."""
    found: dict[Frequency, Any] = {(): sp.S.One}
    for angle, i, j in powers:
        up = frequency_of(angle)
        down = tuple((a, -n) for a, n in up)
        half = sp.Rational(1, 2)
        sine, cosine = {up: -sp.I * half, down: sp.I * half}, {up: half, down: half}
        for factor in (*(sine,) * i, *(cosine,) * j):
            found = collected(
                (ordered(collected([*f, *g])), sp.expand_mul(c * d))
                for (f, c), (g, d) in product(found.items(), factor.items())
            )
    return found


def halved(polynomial: Polynomial, sine: bool) -> Polynomial:
    """sin 2a → 2 sin a cos a, and cos 2a → 1 − 2 sin² a, or 2 cos² a − 1."""
    found: Polynomial = {}
    for powers, c in polynomial.items():
        term: Polynomial = {(): c}
        for angle, i, j in powers:
            frequency = frequency_of(angle)
            parts: list[Polynomial]
            if all(n % 2 == 0 for _, n in frequency):
                a = angle / 2
                sign, square = (1, (a, 2, 0)) if sine else (-1, (a, 0, 2))
                double: Polynomial = {(): sp.Integer(sign), (square,): sp.Integer(-2 * sign)}
                both: Polynomial = {((a, 1, 1),): sp.Integer(2)}
                parts = [both] * i + [double] * j
            else:
                parts = [{((angle, i, j),): sp.S.One}]
            for part in parts:
                term = multiplied(term, part)
        found = collected([*found.items(), *term.items()])
    return found
