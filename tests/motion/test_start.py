"""Starts: each thing about them is found out once, and what cannot move is refused by name."""

import numpy as np
import pytest

import zwang as zw
from zwang.errors import InconsistentError, InputError, MassError, UndeterminedError
from zwang.motion.options import RunOptions
from zwang.motion.simulate import motion_from
from zwang.motion.start import require_satisfied, require_solvable, start_of

x, y = zw.coordinates("x y")
m, g = zw.parameters("m g")
HANGING = {x: 0.6, y: -0.8, zw.dot(x): 0.8, zw.dot(y): 0.6}


def pendulum(**more):
    constraints = {"rod": x**2 + y**2 - 1} | more
    energy = m * (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    return zw.System((x, y), kinetic=energy, potential=m * g * y, constraints=constraints, parameters={m: 1, g: 9.81})


def test_what_is_known_of_a_start_is_what_other_ways_find():
    system, given = pendulum(again=2 * x**2 + 2 * y**2 - 2), {g: 1.6}
    start = start_of(system, HANGING, 0.0, given)
    now = zw.evaluate(system, HANGING, parameters=given)
    assert (start.ranked.rank, start.violated) == (int(now.rank), ())
    assert start.verdict == zw.diagnose(system, HANGING, parameters=given)
    assert start.matrices is start.matrices
    assert start.ranked is start.ranked


def test_one_start_serves_several_motions_as_well_as_starts_of_their_own():
    system = pendulum()
    start = start_of(system, HANGING)
    for options in ({}, {"form": "gibbs-appell"}, {"method": "radau", "tol": 1e-9}, {"drift": "projection"}):
        shared = motion_from(start, RunOptions(1.0, samples=5, **options))
        np.testing.assert_array_equal(shared.q, zw.simulate(system, HANGING, 1.0, samples=5, **options).q)


def test_a_start_off_its_constraints_is_polished_for_its_rank_but_stays_where_it_is():
    # on the circle, and only there, the gradient of the second is a multiple of that of the first
    system = pendulum(tangent=(x**2 + y**2 - 1) * (2 + x))
    off = HANGING | {x: 0.6 + 1e-10}
    start = start_of(system, off)
    there, found = start.polished
    assert start.state[1][0] == 0.6 + 1e-10
    assert abs(there.residual).max() < 1e-15 < abs(start.matrices.residual).max()
    assert found.rank == 1


def test_a_start_that_violates_a_constraint_is_refused_by_name_and_number():
    with pytest.raises(InputError, match=r"'rod' reads 0.45 in position and 0.48 in velocity"):
        require_satisfied(start_of(pendulum(), HANGING | {x: 0.9}))  # 0.81 + 0.64 - 1, and 2 (0.72 - 0.48)


def test_rows_that_contradict_each_other_are_refused_by_name():
    system = pendulum(faster=2 * (x**2 + y**2 - 1) - zw.t**2)
    with pytest.raises(InconsistentError, match=r"constraint 'faster'.* contradicts constraint 'rod'"):
        require_solvable(start_of(system, HANGING))


def test_a_mass_that_determines_no_acceleration_is_refused_by_the_names_of_coordinates():
    with pytest.raises(UndeterminedError, match=r"undetermined along x \+ 0.75 y"):  # along the circle
        require_solvable(start_of(pendulum(), HANGING, parameters={m: 0}))


def test_several_starts_are_for_simulate_many():
    with pytest.raises(InputError, match="simulate_many takes arrays"):
        start_of(pendulum(), HANGING | {x: [0.6, 0.6]})


def test_a_second_motion_from_a_start_is_the_first_to_the_last_bit():
    system = pendulum(again=2 * x**2 + 2 * y**2 - 2)
    first, second = (zw.simulate(system, HANGING, 1.0, samples=5) for _ in range(2))
    assert first.drop_attrs(deep=False).identical(second.drop_attrs(deep=False))


def test_what_is_kept_of_a_good_start_does_not_let_a_bad_one_pass():
    L = zw.parameters("L")
    system = zw.System(
        (x, y), kinetic=(zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2, constraints={"rod": x**2 + y**2 - L**2 * (1 + zw.t)},
        parameters={L: 1},
    )  # fmt: skip
    good = HANGING | {zw.dot(x): 0.3, zw.dot(y): -0.4}  # x x' + y y' = L²/2
    for _ in range(2):
        zw.simulate(system, good, 0.1, samples=2)
        for state, options in ((good, {"parameters": {L: 1.1}}), (good, {"t": 0.05}), (HANGING, {})):
            with pytest.raises(InputError, match="'rod' reads"):
                zw.simulate(system, state, 0.1, samples=2, **options)


def test_a_signal_is_read_at_every_start_though_an_old_one_stood_at_the_same_address():
    u = zw.coordinates("u")
    system = zw.System((x,), kinetic=zw.dot(x) ** 2 / 2, constraints={"driven": x - u}, parameters={u: None})
    for value in (1.0, 2.0, 3.0):
        signal = zw.Signal([0.0, 1.0], [value, value])
        zw.simulate(system, {x: value, zw.dot(x): 0}, 0.5, samples=2, parameters={u: signal})
        with pytest.raises(InputError, match="'driven' reads"):
            zw.simulate(system, {x: value + 1, zw.dot(x): 0}, 0.5, samples=2, parameters={u: signal})
        del signal


def pairs(mass, count=200):
    """Two coordinates to a constraint a + 3b = 0, so many that matrices are sparse."""
    q = zw.coordinates(" ".join(f"x{i}" for i in range(2 * count)))
    two = list(zip(q[::2], q[1::2], strict=True))
    kinetic = sum(mass(zw.dot(a), zw.dot(b)) for a, b in two)
    system = zw.System(q, kinetic=kinetic, constraints={f"row{i}": a + 3 * b for i, (a, b) in enumerate(two)})
    start = {a: 0.3 for a, _ in two} | {b: -0.1 for _, b in two}
    rates = {zw.dot(a): 3.0 for a, _ in two} | {zw.dot(b): -1.0 for _, b in two}
    return system, start | rates


def test_a_large_constant_mass_that_is_not_positive_is_refused_as_a_small_one_is():
    # rows are independent and their pivots positive: (1, 3) M⁻¹ (1, 3)ᵀ = 2/3 for M = [[1, 2], [2, 1]]
    with pytest.raises(MassError, match="not positive semidefinite"):
        zw.simulate(*pairs(lambda a, b: a**2 / 2 + b**2 / 2 + 2 * a * b), 0.1, samples=2)


def test_a_large_singular_mass_moves_where_constraints_make_up_for_it():
    motion = zw.simulate(*pairs(lambda a, b: (a + b) ** 2 / 2), 0.1, samples=2)
    np.testing.assert_allclose(motion.q.values[-1, :2], [0.3 + 0.3, -0.1 - 0.1], atol=1e-12)  # no force: it goes on


@pytest.mark.parametrize("size", [1e-100, 1e-30, 1e30, 1e90])
def test_a_row_of_any_size_that_can_be_squared_moves_the_same(size):
    scaled = pendulum(rod=size * (x**2 + y**2 - 1))
    one, other = (zw.simulate(system, HANGING, 1.0, samples=2).q.values for system in (pendulum(), scaled))
    np.testing.assert_allclose(other, one, rtol=0, atol=1e-11)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e160, 1e200])
def test_a_row_that_cannot_be_squared_is_refused_by_name(size):
    with pytest.raises(InputError, match=r"row of constraint 'rod' is of size .* multiply the constraint"):
        zw.simulate(pendulum(rod=size * (x**2 + y**2 - 1)), HANGING, 1.0)
