"""What is known of the examples that are described by bodies and joints: closed forms, and other descriptions."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from tests.examples.models import model, multiplier, of, run, values


def test_slider_crank_of_bodies_is_the_one_of_coordinates():
    motion, other = run("slider_crank_bodies"), run("slider_crank")
    assert np.abs(of(motion, "piston.x") - of(other, "s")).max() < 1e-11
    assert np.abs(of(motion, "rod.angle") - of(other, "phi")).max() < 1e-11
    torque = multiplier(other, "motor")
    assert np.abs(multiplier(motion, "motor.motion") - torque).max() < 1e-9
    assert np.abs(torque).max() > 5
    # and with a longer rod, where the places are others: x = r cos θ + √(L² − r² sin² θ)
    longer = model("slider_crank_bodies").simulate(parameters={"L": 1.2}, samples=21)
    angle = 10 * longer.time.values
    place = 0.3 * np.cos(angle) + np.sqrt(1.2**2 - (0.3 * np.sin(angle)) ** 2)
    assert np.abs(of(longer, "piston.x") - place).max() < 1e-11


def test_four_bar_in_space_swings_like_one_pendulum():
    # Cranks turn, the coupler goes along: (2J + m_b l²) φ̈ = −(m_c + m_b) g l sin φ, with J about the hinges.
    p = values("four_bar_in_space")
    l, mc, mb, a0, d, g = (p[k] for k in ("l", "mc", "mb", "a0", "d", "g"))
    inertia = 2 * (mc * (l**2 + d**2) / 12 + mc * l**2 / 4) + mb * l**2
    w = np.sqrt((mc + mb) * g * l / inertia)
    k = np.sin(a0 / 2) ** 2
    motion = run("four_bar_in_space")
    sine = ellipj(ellipk(k) - w * motion.time.values, k)[0]
    angle = 2 * np.arcsin(np.sin(a0 / 2) * sine)
    assert np.abs(of(motion, "coupler.x") - l * np.sin(angle)).max() < 1e-10
    assert np.abs(of(motion, "coupler.y") + l * np.cos(angle)).max() < 1e-10
    assert np.abs(of(motion, "coupler.z")).max() < 1e-12
    assert (motion["rank"] == 20).all()  # of 23 conditions: three hinges' worth of bending is left open
    assert not model("four_bar_in_space").mechanism.reactions(motion).unique.any()


def test_row_of_parallelograms_swings_like_one_pendulum():
    # N + 1 cranks turn, N couplers go along: ((N+1)/3 + N) L φ̈ = −((N+1)/2 + N) g sin φ, from the bottom at speed w.
    p, n = values("row_of_parallelograms"), 5
    rate = np.sqrt(((n + 1) / 2 + n) * p["g"] / (((n + 1) / 3 + n) * p["L"]))
    k = p["w"] / (2 * p["L"] * rate)
    motion = run("row_of_parallelograms")
    angle = 2 * np.arcsin(k * ellipj(rate * motion.time.values, k**2)[0])
    assert np.abs(angle).max() > 1.1
    for i in range(n + 1):
        assert np.abs(of(motion, f"crank[{i}].angle") + np.pi / 2 - angle).max() < 1e-10
    assert np.abs(of(motion, "coupler[5].y") + p["L"] * np.cos(angle)).max() < 1e-10


def test_universal_joint_is_uneven_as_cardans_is():
    # tan φ = tan θ cos β, and the motor's torque is J φ̈ dφ/dθ.
    p = values("universal_joint")
    c, w, J = np.cos(p["corner"]), p["omega"], p["J"]
    motion = run("universal_joint")
    theta = w * motion.time.values
    phi = np.unwrap(np.arctan2(c * np.sin(theta), np.cos(theta)))
    mechanism = model("universal_joint").mechanism
    mark = (mechanism.track(motion, "wheel", (0, 1, 0)) - mechanism.track(motion, "wheel")).values
    across = np.array([-np.sin(p["corner"]), c, 0])
    turned = np.unwrap(np.arctan2(mark[:, 2], mark @ across))
    assert np.abs(turned - phi).max() < 1e-11
    slope = c / (np.cos(theta) ** 2 + (c * np.sin(theta)) ** 2)
    faster = slope**2 / c * (1 - c**2) * np.sin(2 * theta) * w**2
    assert np.abs(multiplier(motion, "motor.motion") - J * faster * slope).max() < 1e-9
    assert np.abs(multiplier(motion, "motor.motion")).max() > 0.5


def test_flyball_governor_obeys_the_equation_in_the_arms_angle():
    p = values("flyball_governor")
    m, M, l, w, a0, g = (p[k] for k in ("m", "M", "l", "w", "a0", "g"))

    def rates(_, y):
        a, u = y
        s, c = np.sin(a), np.cos(a)
        inertia = 2 * m + 4 * M * s**2
        return u, (2 * m * w**2 * s * c - 4 * M * s * c * u**2 - 2 * (m + M) * g * s / l) / inertia

    motion = run("flyball_governor")
    known = solve_ivp(rates, (0, 3), [a0, 0], t_eval=motion.time.values, method="DOP853", rtol=1e-13, atol=1e-13)
    assert np.abs(of(motion, "sleeve.z") + 2 * l * np.cos(known.y[0])).max() < 1e-10
    turned = l * np.sin(known.y[0]) * np.exp(1j * w * motion.time.values)
    assert np.abs(of(motion, "right.x") + 1j * of(motion, "right.y") - turned).max() < 1e-10
    assert (motion.event_name == "highest").sum() == 2
    # It swings about the height at which Watt's governor balances: l cos α = (m + M) g/(m ω²).
    balance = (m + M) * g / (m * w**2)
    lift = -of(motion, "sleeve.z") / 2
    assert lift.min() < balance < lift.max()


def test_eulers_disc_stays_where_it_is():
    p = values("eulers_disc")
    R, lean, g = p["R"], p["lean"], p["g"]
    motion = run("eulers_disc")
    pace = np.sqrt(4 * g / (R * np.sin(lean)))
    assert np.abs(of(motion, "coin.x coin.y")).max() < 1e-12
    assert np.abs(of(motion, "coin.z") - R * np.sin(lean)).max() < 1e-12
    touch = motion.drawing.values[:, -1]
    circle = R * np.cos(lean) * np.exp(1j * pace * motion.time.values)
    assert np.abs(touch[:, 0] + 1j * touch[:, 1] - circle).max() < 1e-10
    assert multiplier(motion, "table.contact") == pytest.approx(p["m"] * g, abs=1e-9)
