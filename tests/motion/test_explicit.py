"""The programs of the explicit equation against `evaluate`, and against each other."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.compile import compile_program
from zwang.evaluation import matrices, model_of, parameter_values
from zwang.motion import explicit

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
    return system, state, now, model_of(system, {})


@pytest.mark.parametrize("form", explicit.FORMS)
@pytest.mark.parametrize("name", CASES)
def test_every_form_gives_the_acceleration_of_evaluate(name, form):
    system, state, now, model = prepared(name)
    choice = explicit.choose(now, system.coordinate_names, form)
    out = run(explicit.acceleration_program(model, choice, form), system, state)
    expected = zw.evaluate(system, state, 0.4).acceleration
    assert np.allclose(out["acceleration"], expected, rtol=1e-13, atol=1e-13 * np.abs(expected).max())
    assert (out["pivots"] > 0).all()


@pytest.mark.parametrize("name", CASES)
def test_the_report_equals_evaluate(name):
    system, state, now, model = prepared(name)
    choice = explicit.choose(now, system.coordinate_names)
    out = run(explicit.report_program(model, choice), system, state)
    expected = zw.evaluate(system, state, 0.4)
    size = 1e-12 * (1 + np.abs(now.Q).max())
    assert np.allclose(out["force"], now.Q, rtol=1e-13, atol=size)
    for field in ("acceleration", "constraint_force", "ideal_force"):
        assert np.allclose(out[field], getattr(expected, field), rtol=1e-12, atol=size), field
    assert np.allclose(out["gaussian"], expected.gaussian, rtol=1e-12, atol=size, equal_nan=True)
    assert np.array_equal(out["residual"], now.position, equal_nan=True)
    assert np.array_equal(out["residual_rate"], now.velocity, equal_nan=True)


@pytest.mark.parametrize("name", ["cone and moving plane", "redundant and nonideal", "quaternion"])
def test_projection_is_the_step_of_least_kinetic_energy(name):
    system, state, now, model = prepared(name)
    choice = explicit.choose(now, system.coordinate_names)
    out = run(explicit.projection_program(model, choice), system, state)
    held = [i for i in choice.rows if system.constraints[i].order == 0]
    assert np.allclose(now.A[held] @ out["dq"], -now.position[held], atol=1e-13)
    rows = list(choice.rows)
    assert np.allclose(now.A[rows] @ out["dv"], -now.velocity[rows], atol=1e-12)
    # M dv lies in the span of the rows: no shorter step in the metric M does the same
    rest = now.M @ out["dv"] - now.A[rows].T @ np.linalg.lstsq(now.A[rows].T, now.M @ out["dv"], rcond=None)[0]
    assert np.abs(rest).max() < 1e-12 * (1 + np.abs(now.M @ out["dv"]).max())


def test_baumgarte_changes_the_right_hand_side_and_nothing_else():
    system, state, now, model = prepared("cone and moving plane")
    choice = explicit.choose(now, system.coordinate_names)
    program = explicit.acceleration_program(model, choice, gains=explicit.GAINS)
    _, q, v = matrices(system, state, 0.4, None)
    out = compile_program(program)(t=[0.4], q=q, v=v, p=parameter_values(system, None)[0], gains=[3.0, 5.0])
    b = now.b - np.where(np.isnan(now.position), 3 * now.velocity, 6 * now.velocity + 25 * now.position)
    expected = zw.solve(now.M, now.Q, now.A, b).acceleration
    assert np.allclose(out["acceleration"], expected, rtol=1e-12)


def test_the_acceleration_does_not_depend_on_the_rows_chosen():
    system, state, now, model = prepared("redundant and nonideal")
    choice = explicit.choose(now, system.coordinate_names)
    assert len(choice.rows) == 1
    both = [
        run(explicit.acceleration_program(model, replace(choice, rows=(row,))), system, state)["acceleration"]
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
