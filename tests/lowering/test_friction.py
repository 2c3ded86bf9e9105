"""Sliding friction in one program: the response of the frictionless system, and one more right-hand side each."""

from dataclasses import replace

import numpy as np
import pytest

import zwang as zw
from zwang import dot
from zwang.compile import compile_program
from zwang.lowering.acceleration import acceleration_program
from zwang.lowering.contact import Friction, Held, masked, slip_program, slip_rows, with_contacts
from zwang.lowering.lowered import lower
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rows import choose


def rough_corner():
    """A point in space on a surface, with two rough limits."""
    x, y, z = q = zw.coordinates("x y z")
    rules = [
        zw.Constraint((x**2 + y**2 + z**2 - 2) / 2, "sphere"),
        zw.Constraint(x + y**2 + 1 >= 0, "first", friction=0.3, slip=dot(y) - x * dot(z)),
        zw.Constraint(z - x * y + 1 >= 0, "second", friction=0.2, slip=dot(x) + dot(y) * z - 1),
    ]
    kinetic = (dot(x) ** 2 + 2 * dot(y) ** 2 + 3 * dot(z) ** 2 + dot(x) * dot(y)) / 2
    return zw.System(q, kinetic=kinetic, potential=z + x * y, constraints=rules)


@pytest.mark.parametrize(
    ("masks", "sticks", "signs"),
    [((1, 0), (0, 0), (1, 0)), ((1, 1), (0, 0), (1, -1)), ((0, 1), (0, 1), (0, 0)), ((0, 0), (0, 0), (0, 0))],
)
def test_the_program_of_all_modes_solves_the_unsymmetric_system_of_each(masks, sticks, signs):
    system = rough_corner()
    rng = np.random.default_rng(5)
    t, q, v = 0.3, rng.normal(size=3), rng.normal(size=3)
    now = matrix_kernel(system, {})(t, q, v, np.zeros(0))
    lowered, contacts = lower(system, {}), (1, 2)
    given = {"t": np.array([t]), "q": q, "v": v, "p": np.zeros(0)}
    slips = compile_program(slip_program(lowered))(**given)
    basis = masked(choose(now, system.coordinate_names, open=contacts), now, contacts, slip_rows(lowered), slips["A"])
    masks, sticks, signs = (np.array(a, dtype=float) for a in (masks, sticks, signs))
    mu = np.array([0.3, 0.2])
    rough = Friction(contacts, sticks, sticks, signs, mu, mu, np.zeros(2), np.eye(4), np.zeros(4))
    held = replace(Held.all_open(contacts), masks=masks, pushing=masks, open=1 - masks, rough=rough)
    program = acceleration_program(with_contacts(lowered, contacts), basis)
    found = compile_program(program)(**given, contact=held.numbers)["acceleration"]
    rows, columns, right = [now.A[0]], [now.A[0]], [now.b[0]]
    for k, i in enumerate(contacts):
        if masks[k]:
            rows.append(now.A[i])
            columns.append(now.A[i] - mu[k] * signs[k] * slips["A"][k])
            right.append(now.b[i])
        if sticks[k]:
            rows.append(slips["A"][k])
            columns.append(slips["A"][k])
            right.append(slips["b"][k])
    A, B, m = np.array(rows), np.array(columns), len(rows)
    saddle = np.block([[now.M, -B.T], [A, np.zeros((m, m))]])
    truth = np.linalg.solve(saddle, np.concatenate([now.Q, right]))[:3]
    assert np.abs(found - truth).max() < 1e-12 * np.abs(truth).max()
