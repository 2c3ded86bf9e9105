"""Large systems come to rest on sparse matrices first; the careful search decides."""

import numpy as np
import pytest

import zwang as zw
from tests.analysis.systems import VARIANTS, chain, hanging
from zwang import dot
from zwang.analysis import approach
from zwang.analysis.approach import Slopes
from zwang.analysis.dynamics import dynamics_of
from zwang.errors import EquilibriumError

x, y = zw.coordinates("x y")


def test_slopes_in_a_few_directions_are_those_in_all_of_them():
    system = chain(6)
    dynamics = dynamics_of(system, None, 0.0)
    slopes = Slopes.of(dynamics)
    assert slopes.colors.max() < 4
    rng = np.random.default_rng(2)
    q, lam = rng.standard_normal(12), rng.standard_normal(6)
    force, H = slopes.at(q, lam)
    step = 1e-6
    for j, e in enumerate(np.eye(12)):
        difference = (slopes.at(q + step * e, lam)[0] - slopes.at(q - step * e, lam)[0]) / (2 * step)
        assert -H.toarray()[:, j] == pytest.approx(difference, abs=1e-8)
    now = dynamics.matrices(q, np.zeros(12))
    assert force == pytest.approx(now.Q + lam @ now.A, abs=1e-14)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_chain_comes_to_rest_whatever_its_rows(variant, monkeypatch):
    monkeypatch.setattr(approach, "LARGE_SEARCH", 1)
    system = variant(chain(12))
    straight, rng = hanging(system), np.random.default_rng(0)
    e = zw.equilibrium(system, {q: straight[q] + 0.05 * rng.standard_normal() for q in system.coordinates})
    assert max(abs(e.state[q] - straight[q]) for q in straight) < 1e-13
    assert e.verdict == "stable: the potential energy is smallest here"


@pytest.mark.parametrize(("count", "large"), [(50, 1), pytest.param(160, 300, marks=pytest.mark.slow)])
def test_a_large_chain_hangs_still(count, large, monkeypatch):
    """The slowest of its modes is known, ω² = g z with Laguerre's least zero z."""
    monkeypatch.setattr(approach, "LARGE_SEARCH", large)
    system = chain(count)
    straight, rng = hanging(system), np.random.default_rng(0)
    e = zw.equilibrium(system, {q: straight[q] + 0.02 * rng.standard_normal() for q in system.coordinates})
    assert max(abs(e.state[q] - straight[q]) for q in straight) < 1e-10
    assert e.stable
    assert e.eigenvalues.shape == (2 * count,)
    least = np.polynomial.laguerre.laggauss(count)[0][0]
    assert np.abs(e.eigenvalues).min() == pytest.approx(np.sqrt(9.81 * least), rel=1e-8)


def test_where_there_is_no_rest_the_guess_stays_and_what_remains_is_said(monkeypatch):
    monkeypatch.setattr(approach, "LARGE_SEARCH", 1)
    falling = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=x**2 + y)
    with pytest.raises(EquilibriumError, match="y'' = -1 remains"):
        zw.equilibrium(falling, {x: 0.1, y: 0})
