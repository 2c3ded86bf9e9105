"""The programs of the explicit equation against `evaluate`, and against each other."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.compile import compile_program
from zwang.evaluation import matrices
from zwang.formulations.forms import integrable
from zwang.lowering import acceleration
from zwang.lowering.lowered import lower
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.projection import projection_program
from zwang.lowering.report import report_program
from zwang.lowering.rows import choose
from zwang.model.values import parameter_values

x, y, z = zw.coordinates("x y z")
u = zw.coordinates("u0 u1 u2 u3")
m, g = zw.parameters("m g")


def particle(**more):
    kinetic = m * (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2 + dot(x) * dot(y) / 4
    return zw.System((x, y, z), kinetic=kinetic, potential=m * g * z, parameters={m: 1.5, g: 9.81}, **more)


def top():
    """A rigid body about its centre by a unit quaternion: M has rank 3, its norm makes up for it."""
    E = sp.Matrix([[-u[1], u[0], u[3], -u[2]], [-u[2], -u[3], u[0], u[1]], [-u[3], u[2], -u[1], u[0]]])
    spin = 2 * E * sp.Matrix([dot(c) for c in u])
    kinetic = sum(j * w**2 for j, w in zip((1, 2, 3), spin, strict=True)) / 2
    return zw.System(u, kinetic=kinetic, constraints={"unit": (sum(c**2 for c in u) - 1) / 2})


MOVING = {x: 1.0, y: 2.0, z: 0.3, dot(x): 3.0, dot(y): 4.0, dot(z): 5.0}
TURNING = dict.fromkeys(u, 0.5) | {dot(c): r for c, r in zip(u, (0.1, -0.1, 0.2, -0.2), strict=True)}
CONE = dot(z) ** 2 - dot(x) ** 2 - dot(y) ** 2
CASES = {
    "free": (particle(), MOVING),
    "cone and moving plane": (
        particle(constraints={"cone": CONE, "plane": x + y * z - zw.t}),
        MOVING,
    ),
    "redundant and nonideal": (
        particle(
            constraints={"cone": CONE, "twice": 2 * CONE},
            nonideal=(-dot(x), 0, z * dot(x)),
        ),
        MOVING,
    ),
    "accelerations": (particle(constraints={"servo": dot(dot(x)) + 2 * dot(x) + x - dot(y)}), MOVING),
    "quaternion": (top(), TURNING),
}


def run(program, system, state, t=0.4):
    _, q, v = matrices(system, state, t, None)
    return compile_program(program)(t=[t], q=q, v=v, p=parameter_values(system, None)[0])


def prepared(name):
    system, state = CASES[name]
    now = matrices(system, state, 0.4, None)[0]
    return system, state, now, lower(system, {})


@pytest.mark.parametrize("form", integrable())
@pytest.mark.parametrize("name", CASES)
def test_every_form_gives_the_acceleration_of_evaluate(name, form):
    system, state, now, lowered = prepared(name)
    basis = choose(now, system.coordinate_names, form)
    out = run(acceleration.acceleration_program(lowered, basis, form), system, state)
    expected = zw.evaluate(system, state, 0.4).acceleration
    assert np.allclose(out["acceleration"], expected, rtol=1e-13, atol=1e-13 * np.abs(expected).max())
    assert (out["pivots"] > 0).all()


@pytest.mark.parametrize("name", CASES)
def test_the_report_equals_evaluate(name):
    system, state, now, lowered = prepared(name)
    basis = choose(now, system.coordinate_names)
    out = run(report_program(lowered, basis), system, state)
    expected = zw.evaluate(system, state, 0.4)
    size = 1e-12 * (1 + np.abs(now.Q).max())
    assert np.allclose(out["force"], now.Q, rtol=1e-13, atol=size)
    for field in ("acceleration", "constraint_force", "ideal_force"):
        assert np.allclose(out[field], getattr(expected, field), rtol=1e-12, atol=size), field
    assert np.allclose(out["gaussian"], expected.gaussian, rtol=1e-12, atol=size, equal_nan=True)
    assert np.array_equal(out["residual"], now.residual, equal_nan=True)
    assert np.array_equal(out["residual_rate"], now.residual_rate, equal_nan=True)


@pytest.mark.parametrize("name", ["cone and moving plane", "redundant and nonideal", "quaternion"])
def test_projection_is_the_step_of_least_kinetic_energy(name):
    system, state, now, lowered = prepared(name)
    basis = choose(now, system.coordinate_names)
    out = run(projection_program(lowered, basis), system, state)
    held = [i for i in basis.rows if system.constraints[i].order == 0]
    assert np.allclose(now.A[held] @ out["dq"], -now.residual[held], atol=1e-13)
    rows = list(basis.rows)
    assert np.allclose(now.A[rows] @ out["dv"], -now.residual_rate[rows], atol=1e-12)
    # M dv lies in the span of the rows: no shorter step in the metric M does the same
    rest = now.M @ out["dv"] - now.A[rows].T @ np.linalg.lstsq(now.A[rows].T, now.M @ out["dv"], rcond=None)[0]
    assert np.abs(rest).max() < 1e-12 * (1 + np.abs(now.M @ out["dv"]).max())


def test_baumgarte_changes_the_right_hand_side_and_nothing_else():
    system, state, now, lowered = prepared("cone and moving plane")
    basis = choose(now, system.coordinate_names)
    program = acceleration.acceleration_program(lowered, basis, gains=acceleration.GAINS)
    _, q, v = matrices(system, state, 0.4, None)
    out = compile_program(program)(t=[0.4], q=q, v=v, p=parameter_values(system, None)[0], gains=[3.0, 5.0])
    b = now.b - np.where(np.isnan(now.residual), 3 * now.residual_rate, 6 * now.residual_rate + 25 * now.residual)
    expected = zw.solve(now.M, now.Q, now.A, b).acceleration
    assert np.allclose(out["acceleration"], expected, rtol=1e-12)


def test_the_acceleration_does_not_depend_on_the_rows_chosen():
    system, state, now, lowered = prepared("redundant and nonideal")
    basis = choose(now, system.coordinate_names, damped=False)
    assert len(basis.rows) == 1
    both = [
        run(acceleration.acceleration_program(lowered, replace(basis, rows=(row,))), system, state)["acceleration"]
        for row in (0, 1)
    ]
    assert np.allclose(*both, rtol=1e-13)


def test_energies_account_for_moving_frames():
    """T with terms linear in the velocities, and a potential in time: Jacobi's energy changes by the given power."""
    w = zw.parameters("w")
    kinetic = ((dot(x) - w * y) ** 2 + (dot(y) + w * x) ** 2) / 2
    frame = zw.System((x, y), kinetic=kinetic, potential=x**2 * (1 + zw.t) / 2, parameters={w: 0.7})
    motion = zw.simulate(frame, {x: 1, y: 0, dot(x): 0, dot(y): 0.5}, until=3.0, samples=601, tol=1e-13)
    assert abs(motion.energy_balance).max() < 1e-9
    assert abs(motion.energy - motion.energy[0]).max() > 0.1


# The same on mechanisms

SYSTEMS = {
    "andrews": (problems.andrews, 0.3),
    "four-bar": (lambda: problems.four_bar(3), 0.1),
    "double pendulum": (problems.double_pendulum, 0.2),
    "cart-pole": (problems.cart_pole, 0.1),
    "heavy top": (problems.heavy_top, 0.1),
    "turntable": (problems.ball_on_turntable, 0.1),
    "rolling disk": (problems.rolling_disk, 0.1),
    "sleigh": (problems.chaplygin_sleigh, 0.1),
    "appell": (problems.appell_hamel, 0.1),
    "wire": (problems.bead_on_wire, 0.1),
    "ring": (problems.coulomb_ring, 0.1),
    "incline": (problems.disk_on_incline, 0.1),
    "governor": (problems.flyball, 0.01),
}


def mechanism(name, t=0.0):
    """A consistent state off the start, everything the programs need, and the matrices there."""
    problem, spread = SYSTEMS[name]
    system, start = problem()
    draw = np.random.default_rng(5)
    guess = {key: value + spread * draw.standard_normal() for key, value in start.items()}
    state = zw.assemble(system, guess, t=t)
    p, inputs = parameter_values(system, None)
    lowered = lower(system, inputs)
    q, v = (np.array([state[c] for c in names]) for names in (system.coordinates, system.velocities))
    now = matrix_kernel(system, inputs)(t, q, v, p)
    given = {"t": np.array([t]), "q": q, "v": v, "p": p}
    return system, state, lowered, now, given


@pytest.mark.parametrize("form", integrable())
@pytest.mark.parametrize("name", SYSTEMS)
def test_accelerations_of_mechanisms(name, form):
    system, state, lowered, now, given = mechanism(name)
    basis = choose(now, system.coordinate_names, form)
    out = compile_program(acceleration.acceleration_program(lowered, basis, form))(**given)
    truth = zw.evaluate(system, state).acceleration
    assert np.abs(out["acceleration"] - truth).max() < 1e-9 * max(1, np.abs(truth).max())
    assert (out["pivots"] > 0).all()
    assert len(basis.rows) == np.linalg.matrix_rank(now.A, tol=1e-8)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_report_on_mechanisms(name):
    system, state, lowered, now, given = mechanism(name)
    basis = choose(now, system.coordinate_names)
    out = compile_program(report_program(lowered, basis))(**given)
    truth = zw.evaluate(system, state)
    size = max(1, np.abs(truth.constraint_force).max(), np.abs(now.Q).max())
    assert np.abs(out["constraint_force"] - truth.constraint_force).max() < 1e-9 * size
    assert np.abs(out["ideal_force"] - truth.ideal_force).max() < 1e-9 * size
    assert np.abs(out["force"] - now.Q).max() < 1e-12 * size
    assert np.abs(out["acceleration"] - truth.acceleration).max() < 1e-9 * max(1, np.abs(truth.acceleration).max())
    if len(basis.rows) == len(system.constraints):
        assert np.abs(out["multiplier"] - truth.multipliers).max() < 1e-8 * max(1, np.abs(truth.multipliers).max())
    if not basis.lifted:
        assert out["gaussian"] == pytest.approx(truth.gaussian, rel=1e-8, abs=1e-12)
    np.testing.assert_array_equal(np.isnan(out["residual"]), np.isnan(now.residual))
    v = given["v"]
    assert out["kinetic"] == pytest.approx(v @ now.M @ v / 2, rel=1e-12)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_projection_of_mechanisms(name):
    # dq = −K₁φ, dv = −K₁ψ: of all steps that remove what the rows read, the shortest in the metric of M.
    system, _, lowered, _, given = mechanism(name)
    draw = np.random.default_rng(6)
    given = given | {"q": given["q"] + 1e-3 * draw.standard_normal(len(given["q"]))}
    p, inputs = parameter_values(system, None)
    now = matrix_kernel(system, inputs)(0.0, given["q"], given["v"], p)
    basis = choose(mechanism(name)[3], system.coordinate_names, damped=False)
    out = compile_program(projection_program(lowered, basis))(**given)
    order = np.array([c.order for c in system.constraints])
    for step, rows, reading, largest in (
        ("dq", [i for i in basis.rows if order[i] == 0], now.residual, "residual"),
        ("dv", [i for i in basis.rows if order[i] <= 1], now.residual_rate, "residual_rate"),
    ):
        if not rows:
            assert np.array_equal(out[step], np.zeros(len(given["q"])))
            continue
        A, f = now.A[rows], reading[rows]
        scale = np.abs(A).max(axis=1) * max(1e-3, np.abs(given["v"]).max() if step == "dv" else 1)
        assert (np.abs(A @ out[step] + f) < 1e-11 * scale).all()
        force = now.M @ out[step]
        rest = force - A.T @ np.linalg.lstsq(A.T, force, rcond=1e-12)[0]
        assert np.abs(rest).max() < 1e-8 * max(1e-6, np.abs(force).max())
        assert out[largest][0] == pytest.approx(np.abs(f).max())


def test_the_rows_chosen_are_well_apart():
    system = zw.System(
        (x, y, z),
        kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
        constraints={"a": x, "almost a": x + y / 1000, "b": y, "a again": 2 * x},
    )
    now = matrices(system, dict.fromkeys((*system.coordinates, *system.velocities), 0.0), 0.0, None)[0]
    basis = choose(now, system.coordinate_names)
    assert len(basis.rows) == 2
    assert 2 in basis.rows  # no two of the others


def test_a_singular_mass_is_lifted_by_few_rows():
    _, _, _, now, _ = mechanism("turntable")
    basis = choose(now, ("X", "Y", "u0", "u1", "u2", "u3"))
    assert [i for i, _ in basis.lifted] == [2]  # the norm, and nothing else
