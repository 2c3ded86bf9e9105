"""Masked rows: one program for all modes of contact."""

from dataclasses import replace

import numpy as np
import pytest

import zwang as zw
from zwang import dot
from zwang.compile import compile_program
from zwang.lowering.acceleration import acceleration_program
from zwang.lowering.contact import Held, masked, with_contacts
from zwang.lowering.lowered import lower
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rows import choose


def three_limits():
    """A point in space on a sphere, with three limits beside it."""
    x, y, z = q = zw.coordinates("x y z")
    limits = [x + y**2 + 1 >= 0, y - x * z + 1 >= 0, z + y + 1 >= 0]
    rules = [zw.Constraint((x**2 + y**2 + z**2 - 2) / 2, "sphere"), *limits]
    kinetic = (dot(x) ** 2 + 2 * dot(y) ** 2 + 3 * dot(z) ** 2 + dot(x) * dot(y)) / 2
    return zw.System(q, kinetic=kinetic, potential=z + x * y, constraints=rules)


@pytest.mark.parametrize("pushing", [(), (1,), (2,), (1, 3), (2, 3)])
def test_a_masked_program_is_that_of_the_rows_whose_masks_are_one(pushing):
    system = three_limits()
    rng = np.random.default_rng(3)
    state = (0.3, rng.normal(size=3), rng.normal(size=3))
    now = matrix_kernel(system, {})(*state, np.zeros(0))
    contacts = (1, 2, 3)
    basis = masked(choose(now, system.coordinate_names, open=contacts), now, contacts, {})
    lowered = lower(system, {})
    masks = np.array([float(i in pushing) for i in contacts])
    held = replace(Held.all_open(contacts), masks=masks, pushing=masks, open=1 - masks)
    t, q, v = state
    given = {"t": np.array([t]), "q": q, "v": v, "p": np.zeros(0)}
    program = acceleration_program(with_contacts(lowered, contacts), basis)
    out = compile_program(program)(**given, contact=held.numbers)
    left_out = tuple(i for i in contacts if i not in pushing)
    own = acceleration_program(lowered, choose(now, system.coordinate_names, open=left_out))
    truth = compile_program(own)(**given)["acceleration"]
    assert np.abs(out["acceleration"] - truth).max() < 1e-13 * np.abs(truth).max()
    assert (out["pivots"] > 0).all()


def test_contacts_that_are_not_watched_read_one():
    held = Held((4, 7), np.array([1.0, 0.0]), np.zeros(2), np.array([1.0, 0.0]), np.zeros(2))
    assert held.numbers.tolist() == [1, 0, 0, 0, 1, 0, 0, 1]
