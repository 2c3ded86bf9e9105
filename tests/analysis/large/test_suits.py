"""Which systems are looked at in sparse matrices."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.analysis.large import suits
from zwang.lowering.rolled import families


def test_damped_systems_are_left_to_dense_matrices(monkeypatch):
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    monkeypatch.setattr(suits, "LARGE_REST", 1)
    x, y = zw.coordinates("x y")
    energy = (dot(x) ** 2 + dot(y) ** 2) / 2
    damped = zw.System((x, y), kinetic=energy, potential=x**2 + y**2, forces={x: -dot(x), y: -dot(y)})
    e = zw.equilibrium(damped, {x: 0.1, y: 0.2})
    assert e.verdict == "stable: disturbances die out, the slowest as exp(-0.5 t)"
    assert zw.modes(damped, e, count=2).sizes["mode"] == 2


def test_signs_of_potentials_in_forces_are_looked_at(sparse):
    """A force that has a potential is one of it; written as forces, the same row of springs rests likewise."""
    x = zw.coordinates("x", shape=20)
    a = zw.coordinates("a")
    springs = {x: zw.family(-3 * sp.sin(a), {a: x})}
    system = zw.System(x, kinetic=zw.family(dot(a) ** 2 / 2, {a: x}), forces=springs)
    e = zw.equilibrium(system, dict.fromkeys(system.coordinates, 0.2))
    assert e.verdict == "stable: the potential energy is smallest here"
    assert np.abs(e.eigenvalues) == pytest.approx(np.full(40, np.sqrt(3)), rel=1e-12)
