"""Verdicts on rest of large systems: minima, maxima, saddles, families, and where first order does not tell."""

import numpy as np
import pytest

import zwang as zw
from tests.analysis.large.systems import hanging_bars, nearby, net_of_springs
from tests.analysis.systems import chain, hanging
from zwang import dot
from zwang.analysis import equilibrium as module
from zwang.analysis.large import suits
from zwang.lowering.rolled import families

G = 9.81


def test_a_chain_upside_down_leaves_in_all_directions(sparse):
    """The fastest as exp(√(g z) t), z the largest zero of Laguerre's polynomial."""
    system = chain(20)
    above = {q: -x for q, x in hanging(system).items()}
    e = zw.equilibrium(system, nearby(system, above, 1e-4))
    growth = np.sqrt(G * np.polynomial.laguerre.laggauss(20)[0][-1])
    start = "unstable: a maximum of the potential energy, it leaves in 20 of 20 directions, fastest along"
    assert e.verdict.startswith(start)
    assert e.verdict.endswith(f"as exp({growth:.4g} t)")
    assert e.stable is False


def test_a_saddle_says_in_how_many_directions_it_leaves(sparse):
    system = chain(20)
    folded = hanging(system)
    for i in (18, 19):  # the last two links point up
        folded[system.coordinates[20 + i]] = -18.0 + (i - 17)
    e = zw.equilibrium(system, folded)
    assert e.verdict.startswith("unstable: a saddle, it leaves in 2 of 20 directions, fastest along")
    assert np.count_nonzero(e.eigenvalues.real > 0) == 2


def test_a_row_of_masses_that_nothing_holds_is_one_of_a_family(sparse):
    system, places = net_of_springs(30, ends=False)
    e = zw.equilibrium(system, nearby(system, places, 0.1))
    assert e.verdict.startswith(
        "stable: the potential energy is smallest here; it is one of a family, along x[0] + x[1]"
    )
    assert np.diff([e.state[x] for x in system.coordinates]) == pytest.approx(np.ones(29), abs=1e-12)
    assert len(e.families) == 1
    assert np.count_nonzero(e.eigenvalues == 0) == 2


def test_a_spring_that_is_stiff_beyond_first_order_only_is_said(sparse):
    """A mass on a spring of the fourth degree, beside others."""
    x = zw.coordinates("x", shape=30)
    a = zw.coordinates("a")
    linear = zw.family(2 * a**2, {a: x[1:]})
    system = zw.System(x, kinetic=zw.family(dot(a) ** 2 / 2, {a: x}), potential=linear + x[0] ** 4)
    e = zw.equilibrium(system, dict.fromkeys(system.coordinates, 0.1))
    assert e.verdict == "not to be told at first order: along x[0] forces vanish to first order, but not beyond"
    assert e.stable is None


def test_bodies_in_space_rest_and_swing_as_by_dense_matrices(monkeypatch):
    bars = hanging_bars(6)
    dense, slow = zw.equilibrium(bars), zw.modes(bars)
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    monkeypatch.setattr(suits, "LARGE_REST", 1)
    monkeypatch.setattr(module, "settled_on_contacts", None)
    e, found = zw.equilibrium(bars), zw.modes(bars)
    assert e.verdict == dense.verdict
    assert list(e.multipliers.values()) == pytest.approx(list(dense.multipliers.values()), abs=1e-11)
    assert dict(e.unique) == dict(dense.unique)
    assert np.sort(found.frequency.values) == pytest.approx(np.sort(slow.frequency.values), rel=1e-10)
    assert np.abs(found.shape.values) == pytest.approx(np.abs(slow.shape.values), abs=1e-8)
