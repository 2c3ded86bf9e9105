"""Jacobians of large systems: sparse where they are so by structure, and the same numbers."""

from dataclasses import replace

import numpy as np
import pytest

import zwang as zw
from zwang.engines.native.engine import compiled
from zwang.engines.scipy.jacobian import MOST_DENSE, coloured, in_full, jacobian_of, jacobian_program, pattern_of
from zwang.errors import InputError
from zwang.lowering.rolled import families
from zwang.motion.drive import task_of
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.start import first_basis, start_of

u, w = zw.coordinates("u w")


def springs(count):
    """Masses in a row on stiff springs, with drag."""
    x = zw.coordinates("x", shape=count)
    system = zw.System(
        x,
        kinetic=zw.family(zw.dot(u) ** 2 * (2 + u**2) / 2, {u: x}),
        potential=zw.family(300 * (u - w) ** 2 + (u - w) ** 4, {u: x[1:], w: x[:-1]}),
        forces={x: zw.family(-50 * zw.dot(u) * (1 + u**2), {u: x})},
    )
    return system, {x: np.sin(np.arange(count)) / 3, zw.dot(x): np.cos(np.arange(count)) / 5}


def asked(system, start, method="radau"):
    begin = start_of(system, start)
    setup = prepare(system, begin.values, RunOptions(1.0, method=method, tol=1e-8))
    return task_of(setup, first_basis(setup, begin), begin.state, np.array([0.0, 1.0]), None, {})


def test_a_row_of_springs_has_a_sparse_jacobian_in_few_colours(monkeypatch):
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    task = replace(asked(*springs(250)), pencil=None)
    pattern = pattern_of(task.acceleration)
    assert pattern.colours.max() < 8
    y = np.concatenate([task.q, task.v])
    found, note = jacobian_of(task, sparse=True)
    full = in_full(task, compiled(jacobian_program(task.acceleration)))(0.0, y)
    assert not note
    np.testing.assert_allclose(found(0.0, y).toarray(), full, rtol=0, atol=1e-12 * np.abs(full).max())


def test_colours_have_no_row_in_common():
    rng = np.random.default_rng(2)
    dense = rng.random((40, 60)) < 0.08
    rows, columns = np.nonzero(dense)
    colours = coloured(rows, columns, 40, 60)
    for colour in range(colours.max() + 1):
        assert (dense[:, colours == colour].sum(axis=1) <= 1).all()


def test_stiff_springs_of_many_masses_run_by_radau_as_by_the_native_engine(monkeypatch):
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    system, start = springs(400)
    stiff = zw.simulate(system, start, 0.5, samples=3, method="radau", tol=1e-8, progress=False)
    native = zw.simulate(system, start, 0.5, samples=3, tol=1e-10, progress=False)
    assert abs(stiff.q - native.q).max() < 1e-6


def test_a_full_jacobian_of_very_many_coordinates_is_refused():
    count = MOST_DENSE // 2 + 1
    with pytest.raises(InputError, match="stiff method would need it in full"):
        jacobian_of(asked(*springs(count), "lsoda"), sparse=False)
