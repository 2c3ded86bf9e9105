"""Decimal numbers in symbolic equations: as short and as right as with symbols in their place."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import t
from zwang.equations.equations import as_derived
from zwang.errors import SizeError
from zwang.formulations import FORMS
from zwang.linalg import exact

a, b = zw.coordinates("a b")
g, l1, l2, m1, m2 = symbols = sp.symbols("g l1 l2 m1 m2", positive=True)
NUMBERS = {g: 9.81, l1: 0.5, l2: 0.3, m1: 1.2, m2: 0.7}


def arm(known):
    """Two point masses on two rods, an open chain."""
    G, L1, L2, M1, M2 = (known.get(s, s) for s in symbols)
    x1, y1 = L1 * sp.sin(a), -L1 * sp.cos(a)
    x2, y2 = x1 + L2 * sp.sin(a + b), y1 - L2 * sp.cos(a + b)
    kinetic = sum(m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 for m, x, y in ((M1, x1, y1), (M2, x2, y2)))
    free = {s: None for s in symbols if s not in known}
    return zw.System((a, b), kinetic=kinetic, potential=G * (M1 * y1 + M2 * y2), parameters=free)


def at_a_state(matrix):
    state = {a.diff(t): 0.3, b.diff(t): -1.1}
    return np.array(matrix.subs(state).subs({a: 0.7, b: 0.4}).subs(NUMBERS).evalf(), dtype=float).ravel()


def plain(system):
    """SymPy's own LU decomposition of the matrices as differentiation leaves them."""
    equations = as_derived(system)
    return equations.M.LUsolve(equations.Q + equations.C)


@pytest.mark.parametrize("known", [{g: 9.81}, NUMBERS, {}], ids=["gravity", "all", "none"])
def test_the_acceleration_is_as_short_as_with_symbols_and_right(known):
    system = arm(known)
    found, lu = zw.derive(system).acceleration(), plain(system)
    np.testing.assert_allclose(at_a_state(found), at_a_state(lu), rtol=1e-13)
    assert sp.count_ops(found) < 500 < sp.count_ops(lu)  # with g a symbol and M as it is derived, 487 were seen


@pytest.mark.parametrize("form", FORMS)
def test_no_form_is_longer_than_a_plain_decomposition(form):
    x, y = zw.coordinates("x y")
    rod = zw.System(
        (x, y),
        kinetic=0.35 * (x.diff(t) ** 2 + y.diff(t) ** 2),
        potential=0.7 * 9.81 * y,
        constraints={"rod": x**2 + y**2 - 0.09, "again": 0.5 * x**2 + 0.5 * y**2 - 0.045},
    )
    equations = zw.derive(rod)
    found = equations.acceleration(form)
    state = {x.diff(t): 0.8, y.diff(t): -0.6, x: 0.18, y: 0.24}
    # q̈ = (0, −g) + λ(x, y), with xẍ + yÿ = −v²: λ = (g y − v²)/(x² + y²)
    factor = (9.81 * 0.24 - 1.0) / 0.09
    truth = [factor * 0.18, factor * 0.24 - 9.81]
    assert np.array(found.subs(state).evalf(), dtype=float).ravel() == pytest.approx(truth, rel=1e-13)
    assert sp.count_ops(found) < 60


def test_decimal_numbers_come_back_as_decimals():
    equations = zw.derive(arm({g: 9.81}))
    found = equations.acceleration()
    assert found.has(sp.Float)
    assert "9.81" in str(found)
    assert not zw.derive(arm({})).acceleration().has(sp.Float)


def test_rows_that_are_the_same_but_for_decimal_factors_are_redundant_and_not_at_odds():
    x, y = zw.coordinates("x y")
    constraints = {"one": 0.1 * x + 0.3 * y - 0.7, "three": 0.3 * x + 0.9 * y - 2.1}
    system = zw.System((x, y), kinetic=(x.diff(t) ** 2 + y.diff(t) ** 2) / 2, constraints=constraints)
    equations = zw.derive(system)
    assert equations.rank == 1
    assert equations.assumption == "rank 1 of 2 rows assumed; independent: 'one'"


def test_exponents_keep_their_fractions():
    x = sp.Symbol("x")
    assert exact.decimals(sp.Matrix([[sp.sqrt(x) / 4]])) == sp.Matrix([[0.25 * sp.sqrt(x)]])
    assert exact.fractions(sp.Matrix([[0.25 * sp.sqrt(x)]])) == sp.Matrix([[sp.sqrt(x) / 4]])


def test_an_acceleration_is_written_out_once(monkeypatch):
    equations = zw.derive(arm({g: 9.81}))
    first = equations.acceleration()
    monkeypatch.setattr(exact, "within", None)  # it would fail if anything were worked out again
    assert equations.acceleration() == first


def test_what_takes_too_long_says_so(monkeypatch):
    monkeypatch.setattr(exact, "MOST_OPERATIONS", 10)
    with pytest.raises(SizeError, match="go on with numbers"):
        zw.derive(arm({})).acceleration()
