"""Lyapunov exponents: of linear systems, of limit cycles, of regular and of chaotic motions."""

import itertools

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from tests.analysis.systems import chain, doubled
from tests.references import contact, hybrid
from zwang import dot
from zwang.errors import InputError

x, y = zw.coordinates("x y")
v = dot(x)


def test_of_a_linear_system_they_are_the_real_parts_of_its_eigenvalues():
    system = zw.System(
        (x, y), kinetic=(v**2 + dot(y) ** 2) / 2, potential=2 * x**2 - y**2 / 2, forces={x: -0.4 * v, y: -0.3 * dot(y)}
    )
    found = zw.lyapunov(system, {x: 1e-3, y: 0, v: 0, dot(y): 0}, until=60)
    expected = np.sort([*np.roots([1, 0.4, 4]).real, *np.roots([1, 0.3, -1]).real])[::-1]
    assert found.exponent.values == pytest.approx(expected, abs=0.02)
    assert found.history.shape == (100, 4)


def test_of_a_limit_cycle_one_vanishes_and_the_other_is_that_of_its_multiplier():
    system = zw.System((x,), kinetic=v**2 / 2, potential=x**2 / 2, forces={x: (1 - x**2) * v})
    cycle = zw.periodic(system, {x: 2, v: 0}, period=6.7, hold={v: 0})
    found = zw.lyapunov(system, {x: cycle.q.values[0, 0], v: 0}, until=20 * cycle.attrs["period"])
    expected = [0, np.log(cycle.floquet.values[1].real) / cycle.attrs["period"]]
    assert found.exponent.values == pytest.approx(expected, abs=0.01)
    assert found.attrs["structural"] == 1


def test_a_double_pendulum_is_chaotic_where_it_is_thrown_high_and_not_near_rest():
    """In Cartesian coordinates, rods twice: exponents come in pairs ±, two of them vanish in the limit."""
    system = doubled(chain(2))
    a, b, c, d = system.coordinates
    still = {dot(q): 0 for q in (a, b, c, d)}
    wild = zw.lyapunov(system, {a: 1, c: 0, b: 2, d: 0} | still, until=60)
    assert wild.attrs["structural"] == 2
    assert wild.exponent.values[0] > 0.3
    # in these units phase volume is conserved up to a bounded factor, so that the sum falls as one over the time
    assert abs(wild.exponent.values.sum()) * 60 < 10
    calm = zw.lyapunov(
        system, {a: np.sin(0.1), c: -np.cos(0.1), b: 2 * np.sin(0.1), d: -2 * np.cos(0.1)} | still, until=60
    )
    assert np.abs(calm.exponent.values).max() < 0.15
    first = zw.lyapunov(system, {a: 1, c: 0, b: 2, d: 0} | still, until=60, count=1)
    assert first.exponent.values[0] > 0.3


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("count = 3: a whole number from 1 to 2", {"count": 3}),
        ("stretches = 0: a whole number", {"stretches": 0}),
        ("when does the motion stop", {"until": None}),
    ],
)
def test_what_cannot_be_followed_is_refused(words, options):
    system = zw.System((x,), kinetic=v**2 / 2, potential=x**2)
    with pytest.raises(InputError, match=words):
        zw.lyapunov(system, {x: 1, v: 0}, **({"until": 1.0} | options))


# Impacts and resets


def test_of_a_walker_they_are_those_of_its_multipliers_and_a_leg_is_forgotten():
    system, strike, start = hybrid.walker()
    some = zw.simulate(system, start, 1.0, events=[strike], samples=2)
    here = dict(zip([*system.coordinates, *system.velocities], [*some.q.values[-1], *some.v.values[-1]], strict=True))
    steps = 40
    found = zw.lyapunov(system, here, steps * hybrid.STEP_TIME, stretches=steps, events=[strike])
    turning = np.log(abs(hybrid.TURNING)) / hybrid.STEP_TIME
    assert found.exponent.values[:3] == pytest.approx([0, turning, turning], abs=0.03)
    assert found.exponent.values[3] == -np.inf
    assert found.attrs["structural_names"] == "along the motion"


def test_of_a_ball_on_a_vibrating_table_they_are_those_of_its_map():
    """Multipliers of size ε = ½ a period of 0.1 (Holmes 1982)."""
    system, start, t = contact.vibrating_table()
    flight = zw.simulate(system, start, until=0.05, t=t, samples=2)
    height = system.coordinates[0]
    begin = {height: flight.q.values[-1, 0], dot(height): flight.v.values[-1, 0]}
    found = zw.lyapunov(system, begin, 3.05, t=0.05, stretches=30)
    assert found.exponent.values == pytest.approx(np.full(2, np.log(0.5) / 0.1), rel=0.1)
    assert found.exponent.values.sum() == pytest.approx(2 * np.log(0.5) / 0.1, rel=1e-6)
    assert found.attrs["structural"] == 0


def test_a_block_that_comes_to_rest_on_a_rough_floor_forgets_all_but_its_way():
    floor = zw.Constraint(y >= 0, "floor", friction=0.3, slip=v)
    system = zw.System((x, y), kinetic=(v**2 + dot(y) ** 2) / 2, potential=9.81 * y + x**2, constraints=[floor])
    found = zw.lyapunov(system, {x: 1, y: 0.1, v: 0, dot(y): 0}, 5, stretches=10)
    assert found.exponent.values[1:].tolist() == [-np.inf] * 3
    assert found.attrs["structural_names"] == "along the motion"
    with pytest.raises(InputError, match="the contact 'floor' is closed at the start"):
        zw.lyapunov(system, {x: 3, y: 0, v: 0, dot(y): 0}, 5)


def test_zeros_of_structure_have_names():
    """A free pair of masses: its place and its momentum, beside time and energy."""
    pair = zw.System((x, y), kinetic=(v**2 + dot(y) ** 2) / 2, potential=(x - y) ** 2)
    names = zw.lyapunov(pair, {x: 0, y: 1, v: 0, dot(y): 0}, 5, stretches=5).attrs["structural_names"]
    assert names == "along the motion, energy"  # x and y occur, in x − y: what shifts is neither of them
    far = zw.System((x, y), kinetic=(v**2 + dot(y) ** 2) / 2, potential=y**2)
    found = zw.lyapunov(far, {x: 0, y: 1, v: 1, dot(y): 0}, 300, stretches=60)
    assert found.attrs["structural_names"] == "along the motion, energy, shift of x, momentum of x"
    assert np.abs(found.exponent.values).max() < 0.03


def test_a_driven_damped_pendulum_has_the_exponents_of_an_independent_computation():
    """θ̈ + θ̇/2 + sin θ = 1.15 cos(2t/3), chaotic: SciPy's DOP853 with a variational equation of its own."""
    system = zw.System((x,), kinetic=v**2 / 2, potential=-sp.cos(x), forces={x: -v / 2 + 1.15 * sp.cos(zw.t * 2 / 3)})
    stretches, until = 60, 60 * np.pi
    found = zw.lyapunov(system, {x: 0.1, v: 0}, until, stretches=stretches)

    def rates(t, s):
        q, p, *S = s
        S = np.reshape(S, (2, 2))
        return [p, -p / 2 - np.sin(q) + 1.15 * np.cos(2 * t / 3), *np.ravel([[0, 1], [-np.cos(q), -0.5]] @ S)]

    state, frame, logs = np.array([0.1, 0.0]), np.eye(2), np.zeros(2)
    for begin, end in itertools.pairwise(np.linspace(0, until, stretches + 1)):
        y = solve_ivp(rates, (begin, end), [*state, *frame.ravel()], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        state, (frame, R) = y[:2], np.linalg.qr(y[2:].reshape(2, 2))
        logs += np.log(np.abs(np.diagonal(R)))
    # the frames begin otherwise, which a bounded factor forgets; their sum is −c exactly
    assert found.exponent.values == pytest.approx(logs / until, abs=0.02)
    assert found.exponent.values.sum() == pytest.approx(-0.5, abs=1e-6)
