"""What time stepping asks of a system."""

import numpy as np

import zwang as zw
from zwang import dot
from zwang.compile import compile_program
from zwang.lowering.lowered import lower
from zwang.lowering.stepping import stepped

x, y = zw.coordinates("x y")


def block(**more):
    """A block on a floor with friction."""
    floor = zw.Constraint(y >= 0, "floor", friction=0.3, slip=dot(x) - 2)
    kinetic = (3 * dot(x) ** 2 + dot(y) ** 2) / 2
    return zw.System((x, y), kinetic=kinetic, potential=9.81 * y, constraints=[floor], **more)


def test_slips_have_rows_behind_those_of_the_constraints():
    made = stepped(lower(block(), {}))
    now = made.matrices(0.0, np.array([1.0, 0.5]), np.array([3.0, 4.0]), np.zeros(0))
    assert made.slips == (0,)
    assert now.A.tolist() == [[0, 1], [1, 0]]
    assert now.residual_rate.tolist() == [4, 1]


def test_forces_that_depend_on_velocities_are_told_from_others():
    assert not stepped(lower(block(), {})).hastens
    assert stepped(lower(block(forces={x: -dot(x)}), {})).hastens
    assert stepped(lower(block(nonideal={x: -dot(x)}), {})).hastens


def test_the_ledger_has_the_energy_and_the_power_of_what_is_not_in_it():
    made = stepped(lower(block(forces={x: 5}, nonideal={y: 7}), {}))
    q, v = np.array([1.0, 0.5]), np.array([3.0, 4.0])
    out = compile_program(made.ledger)(t=np.zeros(1), q=q, v=v, p=np.zeros(0))
    assert np.isclose(out["jacobi"], (3 * 9 + 16) / 2 + 9.81 * 0.5)
    assert np.isclose(out["power"], 5 * 3 + 7 * 4)
