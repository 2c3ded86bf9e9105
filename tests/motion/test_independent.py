"""The acceleration from the description itself: exact, for every kind of system, and blind to nothing."""

from math import isnan

import mpmath
import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.model.symbols import t
from zwang.motion import independent
from zwang.motion.independent import Independent, Tape, compare_derivation

x, y, z = zw.coordinates("x y z")
m, g, k = zw.parameters("m g k")


def at(system, state, time=0.0, parameters=None):
    """M, Q, A and b as the description gives them, and as they are derived."""
    n = len(system.coordinates)
    q, v = (np.array([float(state[s]) for s in names]) for names in (system.coordinates, system.velocities))
    now = Independent.of(system, parameters).at(time, q, v)
    assert now.M.shape == (n, n)
    derived = zw.evaluate(system, state, t=time, parameters=parameters)
    return now, derived


def test_what_a_description_gives_is_what_a_hand_derives():
    """A bead on a wire y = x²/2 that moves up by t³, on a spring and in wind: every term by hand."""
    u = sp.Symbol("u")
    system = zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 * (1 + y**2) + 2 * sp.sin(t) * dot(x) * dot(y) + 3 * dot(y) ** 2) / 2 + t * x * dot(y),
        potential=k * x**2 * y,
        forces={x: -u * dot(x) ** 3},
        nonideal={y: -x * dot(y)},
        constraints={"wire": y - x**2 / 2 - t**3},
        parameters={m: 2.0, k: 3.0, u: 0.25},
    )
    X, Y, V, W, T = 0.75, 0.40625, 1.5, -0.25, 0.5
    now = Independent.of(system, None).at(T, np.array([X, Y]), np.array([V, W]))
    s, c = np.sin(T), np.cos(T)
    np.testing.assert_allclose(now.M, [[2 * (1 + Y**2), 2 * s], [2 * s, 6]], rtol=1e-15)
    # p_x = m(1 + y²)ẋ + m sin t ẏ, p_y = m sin t ẋ + 3mẏ + t x; ∂T/∂x = tẏ, ∂T/∂y = m y ẋ²
    Q = [
        -0.25 * V**3 + T * W - 6 * X * Y - (2 * 2 * Y * W * V + 2 * c * W),
        -X * W + 2 * Y * V**2 - 3 * X**2 - (2 * c * V + X + T * V),
    ]
    np.testing.assert_allclose(now.Q, Q, rtol=1e-15)
    np.testing.assert_allclose(now.A, [[-X, 1]], rtol=1e-15)
    np.testing.assert_allclose(now.b, [V**2 + 6 * T], rtol=1e-15)


def test_constraints_of_every_order_and_a_given_mass():
    system = zw.System(
        (x, y, z),
        mass=[[2, x, 0], [x, 3, 0], [0, 0, 1]],
        forces=[z, -y, sp.sin(t)],
        constraints={"roll": dot(y) - z * dot(x) ** 2, "pull": x * dot(dot(z)) + dot(x) * y - t},
    )
    state = {x: 0.5, y: -1.0, z: 2.0, dot(x): 0.25, dot(y): 0.125, dot(z): 3.0}
    now, derived = at(system, state, time=0.75)
    np.testing.assert_allclose(now.M, [[2, 0.5, 0], [0.5, 3, 0], [0, 0, 1]], rtol=1e-15)
    np.testing.assert_allclose(now.Q, [2, 1, np.sin(0.75)], rtol=1e-15)
    np.testing.assert_allclose(now.A, [[-2 * 2 * 0.25, 1, 0], [0, 0, 0.5]], rtol=1e-15)
    np.testing.assert_allclose(now.b, [3 * 0.25**2, 0.75 + 0.25], rtol=1e-15)
    np.testing.assert_allclose(now.acceleration(), derived.acceleration, rtol=1e-14)


def test_redundant_rows_and_singular_masses():
    system = zw.System(
        (x, y, z),
        kinetic=(dot(x) + dot(y)) ** 2 / 2 + dot(z) ** 2,
        potential=z,
        constraints={"tie": x - 2 * y, "again": 3 * x - 6 * y},
    )
    now, derived = at(system, {x: 2, y: 1, z: 0, dot(x): 0, dot(y): 0, dot(z): 0})
    np.testing.assert_allclose(now.acceleration(), derived.acceleration, atol=1e-15)
    np.testing.assert_allclose(now.acceleration(), [0, 0, -0.5], atol=1e-15)


def test_signals_and_known_functions_of_time():
    """Where a motion follows a signal, its acceleration is the signal's."""
    u, w = zw.coordinates("u w")
    wave = zw.Signal(np.linspace(0, 2, 41), np.sin(np.linspace(0, 2, 41)), kind="cubic")
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        forces={y: u + dot(w)},
        constraints={"follow": x - u},
        parameters={u: wave, w: sp.exp(2 * t)},
    )
    for time in (0.3, 0.333, 1.9):
        now = Independent.of(system, None).at(time, np.array([float(wave(time)), 0.0]), np.array([0.0, 0.0]))
        wanted = [float(wave(time, 2)), float(wave(time)) + 2 * np.exp(2 * time)]
        np.testing.assert_allclose(now.acceleration(), wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        (sp.Piecewise((x**2, x > 1), (3 * x, True)), 1.5),
        (sp.Piecewise((1 / (x - sp.Rational(1, 2)), x > 1), (x, (x >= 0) & (x < 2) | (x > 9))), 0.5),
        (sp.Abs(-x) + sp.sign(-x) + sp.Max(x, 2, -1) + sp.Min(x, 7), 0.5 - 1 + 2 + 0.5),
        (sp.Heaviside(x) + sp.Heaviside(x - sp.Rational(1, 2)), 1.5),
        (sp.floor(x) + sp.ceiling(x) + sp.Mod(x, sp.Rational(1, 5)), 1.1),
        (sp.sqrt(x) * sp.cbrt(x) * x**-2, 0.5 ** (5 / 6 - 2)),
        (sp.sin(x) + sp.atan2(x, -x) + sp.log(x), np.sin(0.5) + np.arctan2(1, -1) + np.log(0.5)),
        (sp.erf(x) + sp.sech(x) + sp.pi + sp.Float("0.1"), 0.5204998778130465 + 1 / np.cosh(0.5) + np.pi + 0.1),
    ],
)  # fmt: skip
def test_elementary_functions_are_evaluated(expression, wanted):
    assert float(Tape.of([expression], [x])([mpmath.mpf("0.5")])[0]) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("expression", [sp.sqrt(x - 1), sp.log(x - 1), 1 / (x - sp.Rational(1, 2)), 2 * sp.acos(x + 1)])
def test_what_has_no_real_value_is_not_a_number(expression):
    assert mpmath.isnan(Tape.of([expression], [x])([mpmath.mpf("0.5")])[0])


def test_a_large_expression_does_not_exhaust_the_stack():
    expression = x
    for _ in range(3000):
        expression = sp.sin(expression, evaluate=False)
    assert abs(float(Tape.of([expression], [x])([mpmath.mpf(1)])[0])) < 0.1


# Comparing


@pytest.fixture(scope="module")
def swing():
    system, start = problems.pendulum()
    return system, zw.simulate(system, start, until=2.0)


def test_a_right_motion_agrees(swing):
    row = compare_derivation(*swing)
    assert row.error < 1e-14
    assert row.states == independent.CHECKED_STATES
    assert row.seconds > 0
    assert not row.note


def test_parameters_of_the_motion_count():
    system, start = problems.pendulum()
    motion = zw.simulate(system, start, until=1.0, parameters={"g": 1.62})
    assert compare_derivation(system, motion, {"g": 1.62}).error < 1e-14
    assert compare_derivation(system, motion).error > 0.1


def test_a_wrong_acceleration_of_a_light_part_is_found_beside_a_heavy_one():
    """A tonne that falls and a gram on a spring: wrong by a thousandth in the small one."""
    system = zw.System((x, y), kinetic=500 * dot(x) ** 2 + 0.0005 * dot(y) ** 2, potential=9810 * x + 1e-6 * y**2)
    motion = zw.simulate(system, {x: 0, y: 1, dot(x): 0, dot(y): 0}, until=1.0, samples=5)
    assert compare_derivation(system, motion).error < 1e-14
    motion.a.values[:, 1] *= 1.001
    assert compare_derivation(system, motion).error > 1e-7


def test_coordinates_that_stay_at_rest_make_no_alarm():
    """Rounding is all that there is to disagree about."""
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=y, constraints={"wall": x * (1 + y)})
    motion = zw.simulate(system, {x: 0, y: 0, dot(x): 0, dot(y): 0}, until=1.0)
    motion.a.values[:, 0] += 1e-17
    assert compare_derivation(system, motion).error < 1e-13


def test_what_cannot_be_compared_says_why(swing, monkeypatch):
    system, motion = swing
    row = compare_derivation(system, motion.isel(time=[]))
    assert isnan(row.error)
    assert row.note == "the motion has no saved states"
    monkeypatch.setattr(independent, "OPERATION", 1.0)
    assert compare_derivation(system, motion).note == "left out: it takes long with 2 coordinates"
    monkeypatch.setattr(independent, "OPERATION", 0.0)
    monkeypatch.setattr(independent, "CHECK_BUDGET", 0.0)
    assert compare_derivation(system, motion).states == 1
