"""What is known of the examples with contacts: closed forms, published cycles, and independent computations.

Reference numbers and their origins are in tests/references/contact.json.
"""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipk

import zwang as zw
from tests.examples.models import model, of, run, values
from tests.references.contact import expected


def transitions(motion):
    """What happened, and to which contact, in order."""
    return list(zip(motion.transition_kind.values.tolist(), motion.transition_contact.values.tolist(), strict=True))


def close(found, known, tol=1e-11):
    """Whether numbers agree, relative to the largest of them."""
    found, known = np.atleast_1d(np.asarray(found, float)), np.atleast_1d(np.asarray(known, float))
    return found.shape == known.shape and np.abs(found - known).max() <= tol * np.abs(known).max()


def test_a_bouncing_ball_rests_when_its_bounces_have_accumulated():
    truth, motion = expected("a1-bouncing-zeno"), run("bouncing_ball")
    times = motion.transition_time.values
    assert close(times[:12], truth["impact_times"])
    assert motion.transition_kind.values[-1] == "accumulation"
    assert close(times[-1], truth["accumulation_time"])
    rest = motion.time.values > times[-1]
    assert np.all(of(motion, "y")[rest] == 0)
    assert close(motion.normal_force.values[rest, 0], np.full(rest.sum(), 9.81))
    assert close(motion.energy_loss.sum(), 9.81)  # all of the height


def test_a_rocking_block_keeps_housners_share_of_its_turning():
    truth, motion = expected("c-rocking-block"), run("rocking_block")
    known = truth["impacts"]
    assert transitions(motion) == [("impact", side) for side in ("right", "left") * 3]
    assert close(motion.transition_time.values, [k["impact_time"] for k in known])
    before, after = motion.velocity_before.values[:, 2], motion.velocity_after.values[:, 2]
    assert close(after / before, np.full(6, float(truth["ratio"])))
    assert close(np.abs(after), [k["omega_after"] for k in known])


def test_a_block_on_a_belt_sticks_and_slips_with_den_hartogs_period():
    truth, motion = expected("e1-stick-slip"), run("stick_slip")
    assert transitions(motion) == [("slide", "belt"), ("stick", "belt")] * 3
    slides, sticks = motion.transition_time.values.reshape(-1, 2).T
    assert close(sticks - slides, np.full(3, float(truth["t_slip"])))
    assert close(np.diff(slides), np.full(2, float(truth["period"])))
    x = motion.q.values[:, 0]
    assert abs(x.max() - float(truth["x_max"])) < 1e-3  # between the saved instants


def test_a_block_on_an_incline_turns_without_sticking():
    truth, motion = expected("d1-incline-return"), run("block_on_incline")
    assert transitions(motion) == [("reverse", "incline")]
    assert close(motion.transition_time.values, truth["t_stop"])
    assert close(of(motion, "x")[-1], truth["x_at_1"])


def test_a_block_on_an_incline_with_more_friction_stays_to_the_last_digit():
    m = model("block_on_incline")
    truth, motion = expected("d2-incline-stick"), zw.simulate(m, until=1.0, parameters={"mu": 0.7})
    assert transitions(motion) == [("stick", "incline")]
    after = motion.time.values > motion.transition_time.values[0]
    x = of(motion, "x")[after]
    assert close(x[0], truth["x_stop"])
    assert np.all(x == x[0])
    assert close(motion.friction_force.values[after, 0], np.full(after.sum(), 4.905))


def test_a_billiard_ball_with_draw_comes_back_rolling_as_coriolis_says():
    truth, motion = expected("h2-draw"), run("billiard_ball")
    assert transitions(motion) == [("stick", "cloth")]
    assert close(motion.transition_time.values, truth["t_roll"])
    assert close(of(motion, "x", "v")[-1], truth["v_end"])
    assert abs(motion.friction_force.values[-1, 0]) < 1e-14


def test_a_bead_leaves_the_loop_and_lands_at_minus_three_times_the_angle():
    truth, motion = expected("l1-loop"), run("loop_the_loop")
    assert transitions(motion) == [("lift", "loop"), ("impact", "loop")]
    assert close(np.diff(motion.transition_time.values), truth["t_flight"])
    before, after = motion.velocity_before.values[1], motion.velocity_after.values[1]
    assert close(np.linalg.norm(before - after), truth["impact_normal_speed"])
    assert close(np.linalg.norm(after), truth["tangential_speed_after_plastic"])
    lost = (float(truth["impact_normal_speed"]) ** 2) / 2
    assert close(motion.energy_loss.values[1], lost)


def test_a_bead_leaves_a_sphere_at_two_thirds_of_the_height():
    truth, motion = expected("k1-sphere"), run("leaving_a_sphere")
    assert transitions(motion) == [("lift", "sphere"), ("impact", "floor")]
    assert close(motion.transition_time.values, [truth["t_detach"], truth["t_floor"]])
    assert close(np.linalg.norm(motion.velocity_before.values[0]), truth["v_detach"])
    # v² = 2g(h − y), so the height is known by the speed: two thirds of the one it came from
    height = np.cos(0.1) - float(truth["v_detach"]) ** 2 / (2 * 9.81)
    assert height == pytest.approx(2 / 3 * np.cos(0.1), rel=1e-12)


def test_a_slack_tether_is_taut_slack_and_taut_as_computed_in_extended_precision():
    truth, motion = expected("n1-tether"), run("slack_tether")
    assert transitions(motion) == [("impact", "tether"), ("lift", "tether"), ("impact", "tether")]
    assert close(motion.transition_time.values, [entry["t"] for entry in truth["log"]])
    assert close(motion.energy_loss.values[[0, 2]], [truth["log"][k]["energy_loss"] for k in (0, 2)])
    end = truth["end_at_4"]
    assert close(motion.q.values[-1], [end["x"], end["y"]])
    assert close(motion.v.values[-1], [end["vx"], end["vy"]])


def test_newtons_cradle_hands_the_swing_to_the_last_ball_and_back_again():
    motion, p = run("newtons_cradle"), values("newtons_cradle")
    count = 14
    assert transitions(motion) == [("impact", "first"), ("impact", "fourth")] * (count // 2)
    quarter = np.sqrt(p["L"] / p["g"]) * ellipk(np.sin(p["start"] / 2) ** 2)  # of a pendulum
    assert close(motion.transition_time.values, quarter * np.arange(1, 2 * count, 2))
    speed = 2 * np.sqrt(p["g"] / p["L"]) * np.sin(-p["start"] / 2)
    there, back = [0, 0, 0, 0, speed], [-speed, 0, 0, 0, 0]
    assert close(motion.velocity_after.values, [there, back] * (count // 2))


def test_a_woodpecker_is_on_its_limit_cycle():
    truth, motion = expected("m-woodpecker"), run("woodpecker")
    slides = motion.transition_time.values[motion.transition_kind.values == "slide"]
    assert close(slides, float(truth["period"]) * np.arange(1, 4), 1e-10)
    strikes = [t for t, (kind, who) in zip(motion.transition_time.values, transitions(motion), strict=True)
               if (kind, who) == ("impact", "beak")]  # fmt: skip
    first = next(float(e["t"]) for e in truth["events"] if e["kind"] == "close beak")
    assert close(strikes, first + float(truth["period"]) * np.arange(4), 1e-10)
    # it hangs still where it begins to slide, after each turn lower by the same
    rows = motion.time.values[None] < slides[:, None]
    lowest = [of(motion, "y")[row].min() for row in rows]
    assert close(lowest, -float(truth["drop"]) * np.arange(1, 4), 1e-10)


def test_a_ladder_leaves_the_wall_where_the_equation_in_its_angle_says():
    # Newton's and Euler's laws of the rod, by its angle from the floor; what pushes is solved for at each angle.
    m, g, l, mu = (values("sliding_ladder")[k] for k in ("m", "g", "l", "mu"))

    def solved(angle, rate):
        s, c = np.sin(angle), np.cos(angle)
        matrix = [
            [m * l * s, -mu, 1],  # along the floor
            [-m * l * c, 1, mu],  # up
            [-m * l**2 / 3, -l * (c - mu * s), l * (s + mu * c)],  # about the middle
        ]
        return np.linalg.solve(matrix, [-m * l * c * rate**2, m * g - m * l * s * rate**2, 0])

    def leaves(t, y):
        return solved(*y)[2]

    leaves.terminal = True
    path = solve_ivp(lambda t, y: (y[1], solved(*y)[0]), (0, 3), (np.pi / 3, 0), "DOP853", rtol=1e-12, atol=1e-13,
                     events=leaves)  # fmt: skip
    motion = run("sliding_ladder")
    assert transitions(motion) == [("lift", "wall")]
    assert close(motion.transition_time.values, path.t_events[0], 1e-10)
    assert close(motion.velocity_before.values[0][2], path.y_events[0][0][1], 1e-10)
    assert motion["mode"].values[-1].tolist() == ["open", "sliding"]


def test_a_crank_with_a_stop_swings_by_the_quadrature_of_its_energy():
    # One freedom, no potential: I(a) ȧ² is kept between blows, and each leaves 0.9 of ȧ, turned round.
    r, L, mr, mp, J, block = 0.3, 0.9, 0.6, 0.8, 0.02, 1.1

    def speeds(a):
        s, c = r * np.sin(a), r * np.cos(a)
        b = -np.arcsin(s / L)
        rod = -c / (L * np.cos(b))
        piston = -s - L * np.sin(b) * rod
        return piston, rod, (piston - s) / 2, c / 2

    def inertia(a):
        piston, rod, x, y = speeds(a)
        return J + mp * piston**2 + mr * (x**2 + y**2) + mr * L**2 / 12 * rod**2

    motion = run("crank_with_stop")
    a0, w0 = motion.q.values[0, 2], motion.v.values[0, 2]
    assert close(w0, values("crank_with_stop")["w0"])
    end = 2 * np.pi - brentq(lambda a: r * np.cos(a) + np.sqrt(L**2 - (r * np.sin(a)) ** 2) - block, 0.1, 1.2,
                             xtol=1e-15)  # fmt: skip
    kept = np.sqrt(inertia(a0)) * w0
    first = quad(lambda a: np.sqrt(inertia(a)), a0, end, epsabs=1e-13, epsrel=1e-13)[0] / kept
    swing = quad(lambda a: np.sqrt(inertia(a)), 2 * np.pi - end, end, epsabs=1e-13, epsrel=1e-13)[0] / kept
    assert transitions(motion) == [("impact", "stop.upper")] * 4
    times = first + swing * np.cumsum([0, 1 / 0.9, 1 / 0.81, 1 / 0.729])
    assert close(motion.transition_time.values, times, 1e-10)
    assert close(motion.velocity_after.values[:, 2], -0.9 * motion.velocity_before.values[:, 2])


def test_a_blow_on_the_elbow_moves_the_shoulder_too():
    m1, m2, L1, L2, g = 2.0, 1.5, 0.4, 0.3, 9.81

    def mass(q2):
        c = m2 * L1 * L2 * np.cos(q2)
        b = m2 * L2**2 / 3
        return np.array([[m1 * L1**2 / 3 + m2 * L1**2 + b + c, b + c / 2], [b + c / 2, b]])

    def rates(t, y):
        q1, q2, w1, w2 = y
        h = m2 * L1 * L2 * np.sin(q2) / 2
        turned = m2 * g * L2 * np.cos(q1 + q2) / 2
        force = [h * (2 * w1 * w2 + w2**2) - (m1 / 2 + m2) * g * L1 * np.cos(q1) - turned, -h * w1**2 - turned]
        return [w1, w2, *np.linalg.solve(mass(q2), force)]

    def straight(t, y):
        return y[1]

    straight.terminal, straight.direction = True, -1
    path = solve_ivp(rates, (0, 1), np.zeros(4), "DOP853", rtol=1e-13, atol=1e-14, events=straight)
    y, motion = path.y_events[0][0], run("arm_with_limits")
    assert transitions(motion)[0] == ("impact", "elbow_limit.lower")
    assert close(motion.transition_time.values[0], path.t_events[0], 1e-10)
    angles = ["upper.angle", "lower.angle"]
    before, after = (motion[name].sel(coordinate=angles).values[0] for name in ("velocity_before", "velocity_after"))
    assert close(before, [y[2], y[2] + y[3]], 1e-10)
    # v⁺ = v⁻ − M⁻¹n γ/(n M⁻¹ nᵀ) in the angles, n = (0, 1)
    M, n = mass(y[1]), np.array([0.0, 1.0])
    jump = np.linalg.solve(M, n)
    w = y[2:] - jump * (n @ y[2:]) / (n @ jump)
    assert close(after, [w[0], w[0] + w[1]], 1e-10)
