"""Periodic motions: limit cycles, a brake orbit of the double pendulum, the inverted pendulum on a shaken pivot."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

import zwang as zw
from tests.analysis.systems import REFERENCES, VARIANTS, G, chain, doubled
from tests.references import contact, hybrid
from tests.references.contact import expected
from zwang import dot
from zwang.errors import EquilibriumError, InputError

x, y = zw.coordinates("x y")
v = dot(x)


@pytest.mark.parametrize("variant", [VARIANTS[0], VARIANTS[3]])
def test_a_brake_orbit_of_the_double_pendulum(variant):
    """Released at rest, symmetric, through the hanging position at a quarter of its period; Cartesian, redundant."""
    system = variant(chain(2))
    a, b, c, d = system.coordinates  # x0, x1, y0, y1
    reference = REFERENCES["I3 brake orbit"]

    def start(first, second):
        return {
            a: np.sin(first),
            c: -np.cos(first),
            b: np.sin(first) + np.sin(second),
            d: -np.cos(first) - np.cos(second),
        }

    rest = {dot(q): 0 for q in (a, b)}
    motion = zw.periodic(system, start(0.5, 0.66), period=2.67, hold=rest | {a: np.sin(0.5)})
    angle = np.arctan2(motion.q.values[0, 1] - motion.q.values[0, 0], motion.q.values[0, 2] - motion.q.values[0, 3])
    assert angle == pytest.approx(float(reference["th2"]), rel=1e-11)
    assert motion.attrs["period"] == pytest.approx(float(reference["T"]), rel=1e-11)
    # multipliers 1, 1, −0.99247396 ± 0.12245587 i
    values = motion.floquet.values
    turning = values[np.abs(values.imag) > 1e-3]
    assert np.sort_complex(turning) == pytest.approx(
        np.array([-0.99247396 - 0.12245587j, -0.99247396 + 0.12245587j]), abs=1e-8
    )
    assert values[np.abs(values.imag) <= 1e-3] == pytest.approx(np.ones(2), abs=1e-5)  # a double one: half the digits


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_shaken_pivot_holds_a_pendulum_upright(variant):
    """Kapitza's pendulum: the trace of the monodromy matrix, in Cartesian coordinates."""
    pivot = sp.Rational(1, 5) * sp.cos(40 * zw.t)
    rows = {"rod": x**2 + (y - pivot) ** 2 - 1}
    system = variant(zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=G * y, constraints=rows))
    motion = zw.periodic(system, {x: 0, y: 1.2}, period=2 * np.pi / 40)
    assert motion.attrs["period"] == 2 * np.pi / 40
    assert motion.floquet.values.sum().real == pytest.approx(float(REFERENCES["I1 Kapitza"]["trace"]), rel=1e-12)
    assert motion.attrs["verdict"] == "not to be told at first order: 2 further multipliers of size 1"


def test_a_limit_cycle_is_found_from_beside_it():
    """Van der Pol's, against SciPy: x(0) and the period where v returns to zero; the second multiplier by Liouville."""
    mu = 1.0
    system = zw.System((x,), kinetic=v**2 / 2, potential=x**2 / 2, forces={x: mu * (1 - x**2) * v})

    def turned(t, s):
        return s[1]

    turned.terminal, turned.direction = True, 1  # it moves down first

    def half(x0):
        def rates(t, s):
            return [s[1], mu * (1 - s[0] ** 2) * s[1] - s[0], mu * (1 - s[0] ** 2)]

        return solve_ivp(rates, (0, 9), [x0, 0, 0], rtol=1e-12, atol=1e-13, events=turned, method="DOP853")

    x0 = brentq(lambda s: half(s).y[0, -1] + s, 1.9, 2.2, xtol=1e-13)
    found = zw.periodic(system, {x: 1.7, v: 0}, period=6.4, hold={v: 0})
    assert found.q.values[0, 0] == pytest.approx(x0, rel=1e-9)
    assert found.attrs["period"] == pytest.approx(2 * half(x0).t[-1], rel=1e-9)
    assert found.floquet.values[1].real == pytest.approx(np.exp(2 * half(x0).y[2, -1]), rel=1e-7)
    assert found.attrs["verdict"].startswith("stable: neighbours come nearer by a factor of 0.00")


def test_a_start_near_zero_does_not_make_small_what_is_not():
    system = zw.System((x,), kinetic=v**2 / 2, potential=x**2 / 2, forces={x: (1 - x**2) * v / 2})
    one = zw.periodic(system, {x: 2, v: 0}, period=6.3, hold={v: 0})
    two = zw.periodic(system, {x: 1e-8, v: 2.0}, period=6.3, hold=[x])
    assert two.attrs["period"] == pytest.approx(one.attrs["period"], rel=1e-10)
    assert two.floquet.values == pytest.approx(one.floquet.values, abs=1e-8)


def test_L5_a_driven_system_keeps_its_period_and_has_the_multipliers_of_its_damping():
    """x'' + c x' + k x = cos t: multipliers exp(λ T) of the free motion, and the amplitude of the resonance curve."""
    system = zw.System((x,), kinetic=v**2 / 2, potential=2 * x**2, forces={x: -0.3 * v + sp.cos(zw.t)})
    found = zw.periodic(system, {x: 0, v: 0}, period=2 * np.pi)
    free = np.roots([1, 0.3, 4])
    expected = np.exp(free * 2 * np.pi)
    assert np.sort_complex(found.floquet.values) == pytest.approx(np.sort_complex(expected), rel=1e-9)
    assert found.q.values[0, 0] == pytest.approx((1 / (4 - 1 + 0.3j)).real, rel=1e-10)
    assert found.attrs["residual"] < 1e-10


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (InputError, "give period", lambda s: (s, {x: 1, v: 0})),
        (InputError, "a positive number is needed", lambda s: (s, {x: 1, v: 0}, -1)),
        (
            EquilibriumError,
            "no periodic motion was found near the guess",
            lambda s: (s, {x: 1, v: 0}, 1.0, {v: 1, x: 0}),
        ),
    ],
)
def test_what_does_not_return_is_refused(error, words, call):
    falling = doubled(zw.System((x, y), kinetic=(v**2 + dot(y) ** 2) / 2, potential=x, constraints={"line": y - x}))
    system, guess, *rest = call(falling)
    with pytest.raises(error, match=words):
        zw.periodic(system, guess | {y: guess[x]}, *rest)


def test_an_equilibrium_is_no_periodic_motion_and_a_drive_has_its_own_period():
    spring = zw.System((x,), kinetic=v**2 / 2, potential=x**2 / 2, forces={x: -0.1 * v})
    with pytest.raises(EquilibriumError, match="is an equilibrium, which repeats itself after any time"):
        zw.periodic(spring, {x: 0.01, v: 0}, period=6)
    driven = zw.System((x,), kinetic=v**2 / 2, potential=x**2, forces={x: sp.cos(zw.t)})
    with pytest.raises(InputError, match="the equations are not the same again after period = 6"):
        zw.periodic(driven, {x: 0, v: 0}, period=6)


# Impacts


def test_a_ball_on_a_vibrating_table_has_holmes_s_orbit():
    """Period 1: multipliers of the map from impact to impact, trace and determinant ε² (Holmes 1982), in 20 digits."""
    truth = expected("b-vibrating-table")
    system, start, t = contact.vibrating_table()
    height = system.coordinates[0]
    flight = zw.simulate(system, start, until=0.05, t=t, samples=2)
    guess = {height: 1.01 * flight.q.values[-1, 0], dot(height): flight.v.values[-1, 0] + 0.005}
    motion = zw.periodic(system, guess, period=0.1, t=0.05)
    values = motion.floquet.values
    assert values.sum().real == pytest.approx(float(truth["map_trace"]), abs=1e-9)
    assert np.prod(values).real == pytest.approx(0.25, rel=1e-9)
    assert motion.attrs["verdict"] == "stable: neighbours come nearer by a factor of 0.5 a period"
    assert motion.q.values[0] == pytest.approx(flight.q.values[-1], rel=1e-9)
    impact = motion.velocity_after.values[0, 0]
    assert impact == pytest.approx(0.4905, rel=1e-9)


def test_a_ball_that_loses_nothing_bounces_forever():
    """T = 2 √(2h/g), one of a family; held by its height."""
    floor = zw.Constraint(y >= 0, "floor", restitution=1)
    ball = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=G * y, constraints=[floor])
    motion = zw.periodic(ball, {y: 1, dot(y): 0}, period=0.9, hold={y: 1, dot(y): 0})
    assert motion.attrs["period"] == pytest.approx(2 * np.sqrt(2 / G), rel=1e-11)
    assert motion.floquet.values == pytest.approx(np.ones(2), abs=1e-5)


# Resets, and what shifts


def test_the_simplest_walker_walks_as_published():
    """The stable gait at a slope of 0.009, in 15 digits: from just after a strike, where the motion may not begin."""
    system, strike, start = hybrid.walker()
    motion = zw.periodic(system, start, 3.9, events=[strike])
    assert motion.attrs["period"] == pytest.approx(hybrid.STEP_TIME, rel=1e-14)
    turning = hybrid.TURNING
    assert motion.floquet.values == pytest.approx([1, turning, turning.conjugate(), 0], abs=1e-11)
    assert motion.floquet_name.values.tolist() == ["along the motion", "", "", "forgotten"]
    assert motion.event_q_after.values[0, 0] == pytest.approx(hybrid.GAIT[0], rel=1e-12)
    assert motion.event_v_after.values[0, 0] == pytest.approx(hybrid.GAIT[1], rel=1e-12)
    assert motion.attrs["verdict"] == "stable: neighbours come nearer by a factor of 0.5891 a period"


def test_a_woodpecker_comes_down_in_steps():
    """It returns but for its height (Glocker and Pfeiffer): drop, period and multiplier in the digits that are known.

    Six impacts with friction, sticking and sliding; what is not known of the start is forgotten at the first of them.
    """
    truth, (system, start) = expected("m-woodpecker"), contact.woodpecker()
    height = system.coordinates[0]
    motion = zw.periodic(system, start, 0.14, shift=[height])
    assert motion.attrs["period"] == pytest.approx(float(truth["period"]), rel=1e-11)
    assert motion["shift"].values == pytest.approx([-float(truth["drop"]), 0, 0], rel=1e-10)
    assert motion.floquet.values == pytest.approx([1, 1, float(truth["multiplier"]), 0, 0, 0], abs=1e-10)
    assert motion.floquet_name.values.tolist() == ["along the motion", "shift of y", "", *["forgotten"] * 3]


def test_a_pendulum_that_turns_over_and_over():
    """Torque and damping: a turn of 2π a period; the second multiplier is exp(−cT) by Liouville."""
    system = zw.System((x,), kinetic=v**2 / 2, potential=-sp.cos(x), forces={x: sp.Rational(6, 5) - v / 2})
    motion = zw.periodic(system, {x: 0, v: 2.4}, 2.7, shift={x: 2 * np.pi})
    assert motion.floquet.values == pytest.approx([1, np.exp(-motion.attrs["period"] / 2)], abs=1e-10)
    assert motion["shift"].values.tolist() == [2 * np.pi]
    for shift in ({x: 3.0}, [x]):
        with pytest.raises(InputError, match="not the same again after a period, which shifts x by"):
            zw.periodic(system, {x: 0, v: 2.4}, 2.7, shift=shift)
    with pytest.raises(InputError, match=r"shift names dot\(x\), which is not a coordinate"):
        zw.periodic(system, {x: 0, v: 2.4}, 2.7, shift=[v])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_wheel_that_rolls_on_in_gravity_s_ups_and_downs(variant):
    """A disc with a load off its centre: x shifts by 2πr a turn, however its rows are written."""
    turn = zw.coordinates("turn")
    kinetic = (v**2 + dot(turn) ** 2 / 2) / 2 + (v**2 / 4 + dot(turn) ** 2 / 16)
    wheel = variant(
        zw.System((x, turn), kinetic=kinetic, potential=-sp.cos(turn), constraints={"rolls": dot(x) - dot(turn)})
    )
    speed = {v: 3.0, dot(turn): 3.0}
    motion = zw.periodic(
        wheel, {x: 0, turn: 0} | speed, 2.2, shift={turn: 2 * np.pi, x: None}, hold={turn: 0, dot(turn): 3}
    )
    assert motion["shift"].values == pytest.approx([2 * np.pi, 2 * np.pi], rel=1e-10)
    assert motion.floquet_name.values.tolist() == ["along the motion", "shift of x", "conserved, or a family"]
    inertia = 1 + 1 / 2 + 1 / 2 + 1 / 8  # T = I ω²/2; ω² = 9 + 2 (cos φ − 1)/I
    times = quad(lambda a: 1 / np.sqrt(9 - 2 * (1 - np.cos(a)) / inertia), 0, 2 * np.pi, epsabs=1e-13)[0]
    assert motion.attrs["period"] == pytest.approx(times, rel=1e-10)


def test_a_rough_guess_is_led_on_by_the_motion_itself():
    """Van der Pol's cycle from near the equilibrium; Duffing's from a hollow of what a state misses itself by."""
    vanderpol = zw.System((x,), kinetic=v**2 / 2, potential=x**2 / 2, forces={x: 5 * (1 - x**2) * v})
    found = zw.periodic(vanderpol, {x: 0.5, v: 0}, period=12)
    assert found.attrs["period"] == pytest.approx(11.612230667719, rel=1e-10)  # as in test_a_limit_cycle, by SciPy
    duffing = zw.System((x,), kinetic=v**2 / 2, potential=x**4 / 4 - x**2 / 2, forces={x: -v / 4 + 0.3 * sp.cos(zw.t)})
    motion = zw.periodic(duffing, {x: 1, v: 0}, 2 * np.pi)
    assert np.prod(motion.floquet.values).real == pytest.approx(np.exp(-np.pi / 2), rel=1e-10)  # Liouville
    assert motion.attrs["residual"] < 1e-10


def test_a_guess_on_a_contact_is_refused_where_it_says_where_to_begin():
    floor = zw.Constraint(y >= 0, "floor", restitution=1)
    ball = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=G * y, constraints=[floor])
    with pytest.raises(InputError, match="begins where the contact 'floor' is closed"):
        zw.periodic(ball, {y: 0, dot(y): 0}, period=0.9, hold=[y])


@pytest.mark.parametrize("period", [16.5, 17.06, 17.5])
def test_of_a_known_start_the_period_is_looked_for(period):
    """Arenstorf's orbit (Hairer, Nørsett and Wanner, Solving ODEs I, II.0): its period to the digits they give."""
    x, y = zw.coordinates("x y")
    moon = 0.012277471
    earth, far = sp.sqrt((x + moon) ** 2 + y**2), sp.sqrt((x - 1 + moon) ** 2 + y**2)
    orbit = zw.System(
        (x, y), kinetic=((dot(x) - y) ** 2 + (dot(y) + x) ** 2) / 2, potential=-(1 - moon) / earth - moon / far
    )
    start = {x: 0.994, y: 0, dot(x): 0, dot(y): -2.00158510637908252240537862224}
    found = zw.periodic(orbit, start, period=period, hold=[x, y])
    assert found.attrs["period"] == pytest.approx(17.0652165601579625588917206249, rel=1e-11)
