"""A system in SymEngine: names that keep its dictionaries quick, and rates that are SymPy's own."""

import sympy as sp

import zwang as zw
from zwang.equations.languages import in_symengine
from zwang.model.symbols import rates, t


def test_differences_of_neighbours_have_hashes_of_their_own():
    # They are what the constraints of a chain are made of; with one hash for hundreds, translating takes for ever.
    coordinates = zw.coordinates("x:600")
    system = zw.System(coordinates, kinetic=sp.Add(*[zw.dot(x) ** 2 for x in coordinates]))
    q = in_symengine(system, {})[0].axes.q
    for apart in (1, 2, 3, 7):
        hashes = {hash(b - a) for a, b in zip(q, q[apart:], strict=False)}
        assert len(hashes) > 0.95 * (len(q) - apart)


def test_rates_are_what_differentiation_gives():
    x = zw.coordinates("x")
    assert rates(x) == (x.diff(t), x.diff(t, 2)) == (zw.dot(x), zw.dot(zw.dot(x)))
    assert zw.dot(3 * x * t) == 3 * x + 3 * t * x.diff(t)
