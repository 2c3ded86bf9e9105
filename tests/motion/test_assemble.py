"""Consistent starts: the nearest state in the kinetic-energy metric, by conditions checked independently."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
import zwang.multibody as mb
from tests.references import problems
from zwang import dot
from zwang.errors import AssemblyError, InputError
from zwang.lowering.matrices import matrix_kernel
from zwang.model.values import parameter_values
from zwang.motion.assemble import natural_units

x, y, z = zw.coordinates("x y z")


def arrays(system, state):
    return np.array([state[c] for c in system.coordinates]), np.array([state[c] for c in system.velocities])


def matrices(system, state, t=0.0):
    p, inputs = parameter_values(system, None)
    return matrix_kernel(system, inputs)(t, *arrays(system, state), p)


def distance_from_rows(force, rows):
    """How far a force is from the range of rowsᵀ."""
    coefficients = np.linalg.lstsq(rows.T, force, rcond=1e-10)[0]
    return np.abs(rows.T @ coefficients - force).max()


GUESSED = {
    "andrews": problems.andrews,
    "four-bar": lambda: problems.four_bar(2),
    "rolling disk": problems.rolling_disk,
    "sleigh": problems.chaplygin_sleigh,
    "double pendulum": problems.double_pendulum,
    "cart-pole": problems.cart_pole,
    "doubled rows": problems.disk_on_incline,
}


@pytest.mark.parametrize("name", GUESSED)
def test_the_state_found_is_the_nearest_in_the_kinetic_energy_metric(name):
    # Stationary: M(q − q̃) and M(v − ṽ) are forces of constraint. M(q) depends on q, and is the one at the state found.
    system, start = GUESSED[name]()
    draw = np.random.default_rng(3)
    guess = {key: value + 0.03 * draw.standard_normal() for key, value in start.items()}
    found = zw.assemble(system, guess)
    now = matrices(system, found)
    order = np.array([c.order for c in system.constraints])
    assert np.nanmax(np.abs(now.residual), initial=0) < 1e-12
    assert np.nanmax(np.abs(now.residual_rate)) < 1e-11
    (q, v), (q0, v0) = arrays(system, found), arrays(system, guess)
    for moved, rows in ((q - q0, now.A[order == 0]), (v - v0, now.A[order <= 1])):
        force = now.M @ moved
        assert distance_from_rows(force, rows) < 1e-7 * max(np.abs(now.M).max(), 1e-12)


def test_a_consistent_guess_is_left_alone():
    for problem in (problems.andrews, problems.pendulum, problems.bead_on_wire, problems.ball_on_turntable):
        system, start = problem()
        found = zw.assemble(system, start)
        assert max(abs(found[key] - value) for key, value in start.items()) < 1e-14


def in_a_row(loops, angle, spin):
    """Parallelograms of bodies in a row whose cranks are all turned by an angle, and spin: flat at 0."""
    c, s = float(np.cos(angle)), float(np.sin(angle))
    bar = {"mass": 1, "inertia": sp.Rational(1, 12)}
    cranks = [mb.PlanarBody(f"crank{i}", **bar, position=(i + c / 2, s / 2), angle=angle) for i in range(loops + 1)]
    rods = [mb.PlanarBody(f"rod{i}", **bar, position=(i + 0.5 + c, s)) for i in range(loops)]
    joints = [mb.Revolute(f"A{i}", mb.ground, crank, at=(i, 0)) for i, crank in enumerate(cranks)]
    for i, rod in enumerate(rods):
        joints.append(mb.Revolute(f"B{i}", cranks[i], rod, at=(i + c, s)))
        joints.append(mb.Revolute(f"C{i}", rod, cranks[i + 1], at=(i + 1 + c, s)))
    start = {}
    for part in (*cranks, *rods):
        share, turning = (0.5, spin) if part in cranks else (1.0, 0.0)
        start |= dict(zip(part.coordinates, [*map(float, part.position), angle if turning else 0.0], strict=True))
        rates = [-share * spin * s, share * spin * c, turning]
        start |= dict(zip(map(dot, part.coordinates), rates, strict=True))
    return mb.Mechanism([*cranks, *rods], joints, [mb.Gravity((0, -9.81))]).system, start


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("loops", [1, 2, 5, 20])
@pytest.mark.parametrize("angle", [1.0, 0.1, 0.03, -0.01, 1e-3, 1e-5, 3.14])
def test_a_consistent_guess_is_left_alone_beside_a_singular_position(loops, angle):
    system, start = in_a_row(loops, angle, 1.3)
    found = zw.assemble(system, start)
    assert max(abs(found[key] - value) for key, value in start.items()) < 1e-14


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("angle", [1.0, 0.1, 0.03, -0.01, 1e-3])
@pytest.mark.parametrize("off", [1e-12, 1e-9, 1e-6])
def test_guesses_beside_a_singular_position_are_put_together(angle, off):
    # Rounding of what rows read moves a state by as much over the sine of the angle: such steps do not get shorter.
    system, start = in_a_row(5, angle, 1.3)
    draw = np.random.default_rng(7)
    found = zw.assemble(system, {key: value + off * draw.standard_normal() for key, value in start.items()})
    now = matrices(system, found)
    assert np.abs(now.residual).max() < 1e-13
    assert np.abs(now.residual_rate).max() < 1e-12
    assert max(abs(found[key] - value) for key, value in start.items()) < 100 * off / abs(np.sin(angle)) + 1e-12


def test_velocity_projection():
    # M = [[2, ½], [½, 1]], A = [1 2]: the correction is M-orthogonal to the null space (2, −1) of A.
    system = zw.System(
        (x, y),
        mass=sp.Matrix([[2, 0.5], [0.5, 1]]),
        forces=[0, 0],
        constraints={"rate": dot(x) + 2 * dot(y) - sp.Rational(3, 10)},
    )
    found = zw.assemble(system, {x: 0, y: 0, dot(x): 1, dot(y): -1})
    M, A, guess = np.array([[2, 0.5], [0.5, 1]]), np.array([[1, 2.0]]), np.array([1, -1.0])
    K = np.linalg.solve(M, A.T) / (A @ np.linalg.solve(M, A.T))
    expected = guess + (K @ (0.3 - A @ guess)).ravel()
    assert [found[dot(x)], found[dot(y)]] == pytest.approx(expected, abs=1e-14)
    assert abs((M @ (expected - guess)) @ [2, -1]) < 1e-14


def test_positions_are_the_nearest_and_not_only_the_first_projection():
    # An ellipse and a far guess: Gauss–Newton alone lands elsewhere.
    system = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + 4 * dot(y) ** 2) / 2, constraints={"ellipse": x**2 + 9 * y**2 - 9}
    )
    found = zw.assemble(system, {x: 4, y: 3})
    angle = np.linspace(0, 2 * np.pi, 2_000_001)
    distance = (3 * np.cos(angle) - 4) ** 2 + 4 * (np.sin(angle) - 3) ** 2
    best = angle[np.argmin(distance)]
    assert [found[x], found[y]] == pytest.approx([3 * np.cos(best), np.sin(best)], abs=1e-5)


def test_held_coordinates_and_rates_keep_their_value():
    system, start = problems.four_bar(1)
    x0, x1, y0, y1 = system.coordinates
    guess = start | {x0: 0.6, dot(x0): 0.7}
    found = zw.assemble(system, guess, hold=[x0, dot(x0)])
    assert found[x0] == 0.6
    assert found[dot(x0)] == 0.7
    assert found[y0] == pytest.approx(0.8, abs=1e-12)
    assert found[x1] == pytest.approx(1.6, abs=1e-12)
    assert found[dot(y1)] == pytest.approx(-0.7 * 0.6 / 0.8, abs=1e-12)


def test_rates_that_are_left_out_are_zero():
    found = zw.assemble(problems.pendulum()[0], {x: 0.6, y: -0.7})
    assert found[dot(x)] == found[dot(y)] == 0


def test_redundant_rows_are_fine():
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        constraints={"one": x**2 + y**2 - 25, "two": 1000 * (x**2 + y**2 - 25), "three": (x**2 + y**2) ** 2 - 625},
    )
    found = zw.assemble(system, {x: 6, y: -8, dot(x): 1, dot(y): 0})
    assert [found[x], found[y], found[dot(x)], found[dot(y)]] == pytest.approx([3, -4, 0.64, 0.48], abs=1e-12)


def test_nonlinear_velocity_constraint():
    system, _ = problems.appell_hamel()
    found = zw.assemble(
        system, dict(zip(system.coordinates, (1, 2, 3), strict=True)) | {dot(x): 3, dot(y): 4, dot(z): 6}
    )
    v = np.array([found[dot(c)] for c in (x, y, z)])
    assert v[0] ** 2 + v[1] ** 2 == pytest.approx(v[2] ** 2, rel=1e-13)
    assert distance_from_rows(v - [3, 4, 6], np.array([[v[0], v[1], -v[2]]])) < 1e-9
    assert [found[x], found[y], found[z]] == [1, 2, 3]


def test_rheonomic_constraints_are_met_at_the_time_given():
    system, start = problems.bead_on_wire()
    found = zw.assemble(system, start, t=0.5)
    now = matrices(system, found, t=0.5)
    assert abs(now.residual[0]) < 1e-14
    assert abs(now.residual_rate[0]) < 1e-14


def test_quaternion_norm():
    system, _ = problems.heavy_top()
    u = system.coordinates
    found = zw.assemble(system, dict(zip(u, (0.9, 0.1, -0.2, 0.3), strict=True)) | {dot(u[1]): 3.0})
    q, v = arrays(system, found)
    assert q @ q == pytest.approx(1, abs=1e-14)
    assert abs(q @ v) < 1e-13


def test_what_rounding_leaves_in_a_row_is_not_a_unit():
    # of the second coordinate, which has no mass, the row has rounding only: it says nothing of how far that may go
    units = natural_units(np.array([1.0, 0.0]), np.array([1.0]), np.array([[1.0, 1e-31]]), np.diag([2.0, 0.0]))
    np.testing.assert_allclose(units, 1.0)


def test_parameters_of_this_call_count():
    m, L = zw.parameters("m L")
    system = zw.System(
        (x, y), kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"rod": x**2 + y**2 - L**2}, parameters={m: 1}
    )
    found = zw.assemble(system, {x: 3, y: 4}, parameters={L: 10})
    assert [found[x], found[y]] == pytest.approx([6, 8])


def test_what_cannot_be_met_is_named_with_numbers():
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        constraints={"near": x**2 + y**2 - 1, "far": (x - 3) ** 2 + y**2 - 1},
    )
    with pytest.raises(AssemblyError, match=r"'near' reads .* in position.*'far' reads .*check that these constraints"):
        zw.assemble(system, {x: 1.5, y: 0.2})
    with pytest.raises(AssemblyError, match=r"'rod' reads 3 in position.*hold fewer coordinates"):
        zw.assemble(zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"rod": x**2 + y**2 - 1}),
                    {x: 2, y: 0}, hold=[x, y])  # fmt: skip


def test_a_state_beyond_one_sided_constraints_is_refused_by_the_first_of_them():
    limits = {"roof": 9 - y >= 0, "left": 2 - x >= 0, "floor": y - 2 >= 0}
    for guess, name in (((3, -1), "left"), ((1, 1), "floor"), ((3, 4), "left"), ((0, 10), "roof")):
        constraints = {"line": x + y - sum(guess), **limits}
        system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=constraints)
        with pytest.raises(AssemblyError, match=f"beyond the one-sided constraint '{name}'"):
            zw.assemble(system, dict(zip((x, y), guess, strict=True)))


def test_a_state_that_only_moves_beyond_a_limit_is_a_start_with_an_impact():
    limits = {"line": x - 1, "floor": zw.Constraint(y >= 0, "floor", restitution=0.5), "ratchet": dot(y) >= -3}
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=limits)
    start = zw.assemble(system, {x: 1.1, y: 0, dot(y): -2})
    assert (start[y], start[dot(y)]) == (0, -2)
    motion = zw.simulate(system, start, until=1.0, samples=2)
    assert motion.transition_kind.values.tolist() == ["impact"]
    assert abs(float(motion.v[-1, 1]) - 1) < 1e-14  # −ε times the approach
    with pytest.raises(AssemblyError, match=r"beyond the one-sided constraint 'floor' by 0.25: move the guess"):
        zw.assemble(system, {x: 1, y: -0.25, dot(y): 1})


def test_refused_arguments():
    system, start = problems.pendulum()
    with pytest.raises(InputError, match="maps coordinates and rates to numbers; got list"):
        zw.assemble(system, [1, 2])
    with pytest.raises(InputError, match="assemble takes one guess"):
        zw.assemble(system, {x: [1, 2], y: 0})
    with pytest.raises(InputError, match=r"hold names .*z.*not a coordinate or rate"):
        zw.assemble(system, start, hold=[z])
