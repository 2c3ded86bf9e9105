"""What is known of the examples with bodies: closed forms, published numbers, and independent computations."""

import csv
import json

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from scipy.linalg import expm
from scipy.special import ellipj, ellipk, fresnel

from tests.examples.models import EXAMPLES, multiplier, of, run, values
from tests.references.problems import numbers

# Sliding and rolling


def test_chaplygin_sleigh_in_closed_form():
    p = values("chaplygin_sleigh")
    m, J, d, v0, w0 = (p[k] for k in ("m", "J", "d", "v0", "w0"))
    motion = run("chaplygin_sleigh")
    k = np.sqrt((J + m * d**2) / m)
    c = np.hypot(v0, k * w0)

    def speed_and_angle(t):
        tau = c * d * t / k**2 + np.arctanh(v0 / c)
        gudermann = 2 * np.arctan(np.tanh(tau / 2)) - 2 * np.arctan(np.tanh(np.arctanh(v0 / c) / 2))
        return c * np.tanh(tau), k / d * gudermann

    v, theta = speed_and_angle(motion.time.values)
    assert np.abs(of(motion, "theta") - theta).max() < 1e-11
    assert np.abs(of(motion, "x", "v") - v * np.cos(theta)).max() < 1e-11
    assert np.abs(of(motion, "y", "v") - v * np.sin(theta)).max() < 1e-11
    assert v[-1] == pytest.approx(c, rel=1e-3)  # it ends up gliding forwards
    end = [
        quad(lambda t, f=f: speed_and_angle(t)[0] * f(speed_and_angle(t)[1]), 0, 8, epsabs=1e-13, epsrel=1e-13)[0]
        for f in (np.cos, np.sin)
    ]
    assert motion.q.values[-1, :2] == pytest.approx(end, abs=1e-10)


def test_rolling_disc_rolls_steadily_on_its_circle():
    motion = run("rolling_disc")
    known = numbers("nonholonomic")["rolling disk steady precession, t=3"]  # the same disc
    wn, rolling = known["ref"]
    R, lean, pace = known["params"]["R"], known["params"]["theta"], known["params"]["Omega"]
    assert np.abs(of(motion, "theta") - lean).max() < 1e-10
    assert np.abs(of(motion, "phi", "v") - pace).max() < 1e-10
    assert np.abs(of(motion, "psi", "v") - rolling).max() < 1e-10
    angle = pace * motion.time.values
    circle = -R * wn / pace * np.array([np.cos(angle), np.sin(angle)])
    assert np.abs(of(motion, "x y") - circle).max() < 1e-10


def test_knife_edge_drifts_along_a_cycloid():
    p = values("knife_edge")
    w, fall = p["w"], p["g"] * np.sin(p["slope"])
    motion = run("knife_edge")
    a = w * motion.time.values
    assert np.abs(of(motion, "phi") - a).max() < 1e-12
    assert np.abs(of(motion, "x") - fall / (2 * w**2) * np.sin(a) ** 2).max() < 1e-12
    assert np.abs(of(motion, "y") - fall / (2 * w**2) * (a - np.sin(2 * a) / 2)).max() < 1e-11


def test_ball_on_turntable_runs_on_a_circle_of_its_own():
    # r̈ = (2/7) Ω k × ṙ for a solid ball (E. J. Routh; J. Burns, Am. J. Phys. 49, 1981).
    p = values("ball_on_turntable")
    motion = run("ball_on_turntable")
    turn = 2 / 7 * p["W"]
    v = p["vx"] + 1j * p["vy"]
    place = p["x0"] + 1j * p["y0"] + v * (np.exp(1j * turn * motion.time.values) - 1) / (1j * turn)
    X, Y = of(motion, "X Y")
    assert np.abs(X + 1j * Y - place).max() < 1e-10
    assert motion.q.values[-1, :2] == pytest.approx([p["x0"], p["y0"]], abs=1e-10)  # after two circles


def test_two_wheeled_cart_draws_the_spiral_of_cornu():
    p = values("two_wheeled_cart")
    J, R, b, Jw, tau, v0 = (p[k] for k in ("J", "R", "b", "Jw", "tau", "v0"))
    motion = run("two_wheeled_cart")
    t = motion.time.values
    faster = 2 * tau * b / R / (J + 2 * Jw * b**2 / R**2)  # θ̈
    sine, cosine = fresnel(t * np.sqrt(faster / np.pi))
    assert np.abs(of(motion, "theta") - faster * t**2 / 2).max() < 1e-10
    assert np.abs(of(motion, "x") - v0 * np.sqrt(np.pi / faster) * cosine).max() < 1e-10
    assert np.abs(of(motion, "y") - v0 * np.sqrt(np.pi / faster) * sine).max() < 1e-10


# Linkages


def test_andrews_agrees_with_its_reference():
    motion = run("andrews")
    truth = np.array(numbers("andrews")["high_precision"]["y"], dtype=float)
    q, v, force = truth[:7], truth[7:14], -truth[21:]
    assert np.abs(motion.q.values[-1] / q - 1).max() < 1e-11
    assert np.abs(motion.v.values[-1] - v).max() < 1e-11 * np.abs(v).max()
    assert np.abs(motion.multiplier.values[-1] - force).max() < 1e-11 * np.abs(force).max()


def test_andrews_is_drawn_with_rigid_bodies_that_meet_in_their_joints():
    motion = run("andrews")
    shapes = {s["name"]: s["first"] for s in json.loads(motion.drawing.attrs["shapes"])}
    p = values("andrews")

    def place(shape, corner):
        return motion.drawing.values[:, shapes[shape] + corner]

    lengths = {
        "rr": (place("K1", 0), place("K1", 1)),
        "d": (place("K2", 0), place("K2", 1)),
        "ss": (place("K3", 0), place("K3", 1)),
        "le": (place("K4", 0), place("K4", 1)),
        "zt": (place("K5", 0), place("K5", 1)),
        "zf": (place("K6", 0), place("K6", 1)),
        "u": (place("K7", 0), place("K7", 1)),
    }
    for name, (one, other) in lengths.items():
        assert np.abs(np.linalg.norm(one - other, axis=1) - p[name]).max() < 1e-13
    for name, corner in (("K4", 1), ("K6", 1), ("K3", 1)):
        assert np.abs(place(name, corner) - place("E", 0)).max() < 1e-13


def test_slider_crank_place_and_torque_in_closed_form():
    p = values("slider_crank")
    motion = run("slider_crank")
    a = sp.Symbol("a")
    r, L, J, mr, mp, w = (sp.Float(p[k], 30) for k in ("r", "L", "J", "mr", "mp", "omega"))
    phi = -sp.asin(r * sp.sin(a) / L)
    s = r * sp.cos(a) + L * sp.cos(phi)
    x, y = s - L / 2 * sp.cos(phi), r * sp.sin(a) / 2
    inertia = J + mr * (x.diff(a) ** 2 + y.diff(a) ** 2) + mr * L**2 / 12 * phi.diff(a) ** 2 + mp * s.diff(a) ** 2
    torque = w**2 * inertia.diff(a) / 2  # the motor's power is the change of kinetic energy
    angle = p["omega"] * motion.time.values
    assert np.abs(of(motion, "s") - sp.lambdify(a, s)(angle)).max() < 1e-12
    assert np.abs(of(motion, "phi") - sp.lambdify(a, phi)(angle)).max() < 1e-12
    assert np.abs(multiplier(motion, "motor") - sp.lambdify(a, torque)(angle)).max() < 1e-10


def test_four_bar_swings_like_one_pendulum_and_shares_its_load():
    p = values("four_bar")
    l, mc, mb, g, a0 = (p[k] for k in ("l", "mc", "mb", "g", "a0"))
    motion = run("four_bar")
    # (3 mc l²/3 + mb l²) φ̈ = −(3 mc/2 + mb) g l sin φ, released at rest: sin φ/2 = k sn(K + ωt).
    w = np.sqrt((1.5 * mc + mb) * g / ((mc + mb) * l))
    k = np.sin(a0 / 2)
    phi = 2 * np.arcsin(k * ellipj(w * motion.time.values + ellipk(k**2), k**2)[0])
    for crank in ("p1", "p2", "p3"):
        assert np.abs(of(motion, crank) - phi).max() < 1e-10
    assert np.abs(of(motion, "phi")).max() < 1e-11
    # No single pin's force is unique, but their sum is what carries the beam.
    assert (motion["rank"] == 5).all()
    assert not motion.unique.sel(constraint=["left_y", "middle_y", "right_y"]).any()
    lift = sum(multiplier(motion, f"{pin}_y") for pin in ("left", "middle", "right"))
    acceleration = l * (np.sin(phi) * -(w**2) * np.sin(phi) + np.cos(phi) * 2 * w**2 * (np.cos(phi) - np.cos(a0)))
    assert np.abs(lift - mb * (g + acceleration)).max() < 1e-9


def test_governor_agrees_with_its_reference():
    motion = run("governor")
    for t, row in numbers("flyball")["samples"].items():
        if float(t) <= 5:
            now = motion.sel(time=float(t), method="nearest")
            for rod in ("alpha1", "alpha2"):
                found = [*now.q.sel(coordinate=[rod, "s"]).values, *now.v.sel(coordinate=[rod, "s"]).values]
                assert found == pytest.approx([float(row[k]) for k in ("alpha", "s", "alphadot", "sdot")], abs=1e-11)


def test_heavy_top_agrees_with_its_reference():
    motion = run("heavy_top")
    a, b, c, d = motion.q.values.T
    rate = motion.v.values.T
    turning = 2 * (-c * rate[0] + d * rate[1] + a * rate[2] - b * rate[3])  # about the y axis of space
    known = numbers("heavy-top")["omega_y_global"]
    assert turning[5] == pytest.approx(known["0.01"], abs=1e-9)
    assert turning[-1] == pytest.approx(known["2.0_RK67_dt2e-5"], abs=3e-9)


# Control: the force of constraint is what motors and actuators supply


def test_robot_arm_needs_the_torques_of_inverse_dynamics():
    p = values("robot_arm")
    L1, L2, m1, m2, g, a, cx, cy, w = (p[k] for k in ("L1", "L2", "m1", "m2", "g", "a", "cx", "cy", "w"))
    motion = run("robot_arm")
    t = motion.time.values
    # The rose as the real part of turning arrows: cos 5φ e^{iφ} = (e^{6iφ} + e^{−4iφ})/2.
    turns = np.array([6, -4])[:, None] * 1j * w
    place, speed, acceleration = (a / 2 * (turns**order * np.exp(turns * t)).sum(axis=0) for order in range(3))
    place = place + cx + 1j * cy
    cosine = (np.abs(place) ** 2 - L1**2 - L2**2) / (2 * L1 * L2)
    q2 = np.arccos(cosine)
    q1 = np.angle(place) - np.arctan2(L2 * np.sin(q2), L1 + L2 * cosine)
    assert np.abs(of(motion, "q1") - q1).max() < 1e-11
    assert np.abs(of(motion, "q2") - q2).max() < 1e-11
    # Differentiating the tip twice gives the joints' rates and accelerations, the textbook's arm their torques.
    upper, fore = L1 * np.exp(1j * q1), L2 * np.exp(1j * (q1 + q2))
    jacobian = np.moveaxis(
        [[(1j * (upper + fore)).real, (1j * fore).real], [(1j * (upper + fore)).imag, (1j * fore).imag]], -1, 0
    )
    u = np.linalg.solve(jacobian, np.stack([speed.real, speed.imag], -1)[..., None])[..., 0].T
    inward = upper * u[0] ** 2 + fore * (u[0] + u[1]) ** 2
    rest = acceleration + inward
    du = np.linalg.solve(jacobian, np.stack([rest.real, rest.imag], -1)[..., None])[..., 0].T
    c, s = np.cos(q2), np.sin(q2)
    h = m2 * L1 * L2 / 2
    M11, M12, M22 = (m1 / 3 + m2) * L1**2 + m2 * L2**2 / 3 + 2 * h * c, m2 * L2**2 / 3 + h * c, m2 * L2**2 / 3
    second = m2 * g * L2 / 2 * np.cos(q1 + q2)
    first = (m1 / 2 + m2) * g * L1 * np.cos(q1) + second
    shoulder = M11 * du[0] + M12 * du[1] - h * s * (2 * u[0] * u[1] + u[1] ** 2) + first
    elbow = M12 * du[0] + M22 * du[1] + h * s * u[0] ** 2 + second
    assert np.abs(of(motion, "q1", "constraint_force") - shoulder).max() < 1e-8
    assert np.abs(of(motion, "q2", "constraint_force") - elbow).max() < 1e-8


def test_servo_error_dies_away_and_the_centre_of_mass_does_not_notice():
    p = values("servo")
    m1, m2, F, w = (p[k] for k in ("m1", "m2", "F", "w"))
    motion = run("servo")
    t = motion.time.values
    x1, x2 = of(motion, "x1 x2")
    error = 0.9 * np.exp(-2 * t) - 0.2 * np.exp(-4 * t)  # from e = 0.7, ė = −1
    assert np.abs(x2 - x1 - p["gap"] - error).max() < 1e-12
    centre, speed = m2 * 1.7 / (m1 + m2), -m2 / (m1 + m2)
    centre = centre + speed * t + F / (m1 + m2) * (t / w - np.sin(w * t) / w**2)
    assert np.abs((m1 * x1 + m2 * x2) / (m1 + m2) - centre).max() < 1e-12
    behind, front = of(motion, "x1 x2", "constraint_force")
    assert np.abs(behind + front).max() < 1e-12


def test_tall_building_keeps_its_rule_and_agrees_with_the_exact_solution_of_the_reduced_building():
    motion = run("tall_building")
    u = motion.q.values
    assert np.abs(2 * u[:, 0] - u[:, 1]).max() < 1e-12
    w = reduced_building()
    assert np.abs(u[::2, 1:] - w).max() < 1e-10  # every second sample is an instant of the table
    assert np.abs(w).max() > 0.01
    # The actuators' forces on the two lowest floors, 2 : −1, are all that the rule brings about.
    force = motion.constraint_force.values
    assert np.abs(force[:, 0] + 2 * force[:, 1]).max() < 1e-9 * np.abs(force).max()
    assert np.abs(force[:, 2:]).max() < 1e-9 * np.abs(force).max()


def reduced_building():
    """The building with u₁ = u₂/2 put in: a linear system, driven by cubics, is solved by one matrix exponential."""
    p = values("tall_building")
    lean = np.eye(10) - np.eye(10, k=-1)
    stiffness = lean.T @ np.diag([p["k1"], *[p["k"]] * 9]) @ lean
    T = np.vstack([[0.5, *[0] * 8], np.eye(9)])  # the floors by the nine upper ones
    M, C, K = p["m"] * T.T @ T, p["c"] * T.T @ lean.T @ lean @ T, T.T @ stiffness @ T
    load = -p["m"] * T.T @ np.ones(10)
    with open(EXAMPLES / "tall_building.csv", newline="", encoding="utf-8") as file:
        rows = [(float(row["t"]), float(row["a"])) for row in csv.DictReader(file)]
    times, ground = np.array(rows).T
    step = 0.02
    assert np.abs(np.diff(times) - step).max() < 1e-12
    # State: w, ẇ, and the ground's acceleration with its three derivatives in the interval.
    A = np.zeros((22, 22))
    A[:9, 9:18] = np.eye(9)
    A[9:18, :9], A[9:18, 9:18] = -np.linalg.solve(M, K), -np.linalg.solve(M, C)
    A[9:18, 18] = np.linalg.solve(M, load)
    A[18:21, 19:22] = np.eye(3)
    go = expm(A * step)
    pieces = CubicSpline(times, ground).c[::-1].T * [1, 1, 2, 6]
    state, history = np.zeros(22), [np.zeros(9)]
    for piece in pieces:
        state[18:] = piece
        state = go @ state
        history.append(state[:9].copy())
    return np.array(history)
