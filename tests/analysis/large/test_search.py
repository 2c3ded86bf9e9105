"""Large systems rest where closed forms say."""

import numpy as np
import pytest

import zwang as zw
from tests.analysis.large.systems import bowed, catenary, hung_between, nearby
from tests.analysis.systems import VARIANTS, chain, hanging
from zwang import dot
from zwang.analysis.large import suits
from zwang.errors import EquilibriumError
from zwang.lowering.rolled import families

G = 9.81


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_chain_comes_to_rest_whatever_its_rows(variant, sparse):
    system = variant(chain(16))
    straight = hanging(system)
    e = zw.equilibrium(system, nearby(system, straight, 0.05))
    assert max(abs(e.state[q] - straight[q]) for q in straight) < 1e-13
    assert e.verdict == "stable: the potential energy is smallest here"
    assert e.eigenvalues.shape == (32,)
    assert np.abs(e.eigenvalues).min() == pytest.approx(np.sqrt(G * np.polynomial.laguerre.laggauss(16)[0][0]))


@pytest.mark.parametrize("count", [20, 301, pytest.param(2001, marks=pytest.mark.slow)])
def test_a_chain_between_supports_is_a_catenary(count, sparse):
    span = 0.7 * count
    system, r = hung_between(count, span)
    e = zw.equilibrium(system, {r: bowed(count, span, lambda angle: angle, np.pi / count)})  # from an arc of a circle
    assert np.abs(e.state[r] - catenary(count, span)).max() < 1e-10 * count
    assert e.verdict == "stable: the potential energy is smallest here"
    assert e.residual < 1e-9


def test_where_there_is_no_rest_what_remains_is_said(monkeypatch):
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    monkeypatch.setattr(suits, "LARGE_REST", 1)
    x, y = zw.coordinates("x y")
    falling = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=x**2 + y)
    with pytest.raises(EquilibriumError, match="y'' = -1 remains"):
        zw.equilibrium(falling, {x: 0.1, y: 0})
