"""What is known of the examples with particles: closed forms, elliptic functions, and independent computations."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.special import ellipj, ellipk

from tests.examples.models import EXAMPLES, multiplier, of, run, values
from tests.references.problems import numbers
from zwang.files.read import read_model

# The papers' examples


def test_appell_falls_with_half_of_gravity_through_its_rest():
    motion = run("appell")
    t, w, g, heading = motion.time.values, 5.0, 9.81, 0.6
    way = w * t - g * t**2 / 4
    assert np.abs(of(motion, "z") - way).max() < 1e-10
    assert np.abs(of(motion, "x") - way * np.cos(heading)).max() < 1e-10
    assert np.abs(of(motion, "y") - way * np.sin(heading)).max() < 1e-10
    assert motion.message.count("Leapt the singular position at t = 1.01936799") == 1  # 2 w / g
    # Only λ₁ + 2λ₂ is determined, by the vertical force mg/2 = 2ż(λ₁ + 2λ₂); the shortest λ has λ₂ = 2λ₁.
    clear = np.abs(t - 2 * w / g) > 0.05
    cone, twice = multiplier(motion, "cone")[clear], multiplier(motion, "twice")[clear]
    assert np.abs(cone + 2 * twice - g / (4 * of(motion, "z", "v")[clear])).max() < 1e-10
    assert np.abs(twice - 2 * cone).max() < 1e-12
    assert not motion.unique.any()


def test_rosenberg_in_closed_form():
    motion = run("rosenberg")
    z0, vx, w = 0.3, 1.1, 0.8
    z, c = z0 + w * motion.time.values, vx * np.sqrt(1 + z0**2)
    assert np.abs(of(motion, "z") - z).max() < 1e-13
    assert np.abs(of(motion, "x") - c / w * (np.arcsinh(z) - np.arcsinh(z0))).max() < 1e-12
    assert np.abs(of(motion, "y") - c / w * (np.sqrt(1 + z**2) - np.sqrt(1 + z0**2))).max() < 1e-12
    assert float(abs(motion.constraint_power).max()) < 1e-12


def test_acatastatic_in_closed_form():
    # d/dt(√(1 + t²) ẏ) = −t α̇/√(1 + t²), so that ẏ = C/√(1 + t²) − α₁ for α = α₀ + α₁t.
    motion = run("acatastatic")
    t, C, a0, a1 = motion.time.values, 1.3, 0.7, 0.4
    assert np.abs(of(motion, "y") - C * np.arcsinh(t) + a1 * t).max() < 1e-12
    assert np.abs(of(motion, "x") - C * np.sqrt(1 + t**2) - a0 * t).max() < 1e-12
    assert np.abs(motion.constraint_power - (a0 + a1 * t) * multiplier(motion, "asked")).max() < 1e-11


def test_appell_variant_time_and_energy_by_its_climbing_speed():
    # ẇ = −g (c + w²)/(c + 2w²) with c = 2αh, integrated once; E − E₀ = c/2 ln((c + w²)/(c + w₀²)).
    motion = run("appell_variant")
    w, w0, c, g = of(motion, "z", "v"), 5.0, 4.0, 9.81
    root = np.sqrt(c)
    time = -(2 * (w - w0) - root * (np.arctan(w / root) - np.arctan(w0 / root))) / g
    assert np.abs(time - motion.time.values).max() < 1e-12
    assert np.abs(motion.energy - motion.energy[0] - c / 2 * np.log((c + w**2) / (c + w0**2))).max() < 1e-11
    assert np.abs(motion.constraint_power - c * multiplier(motion, "hyperboloid")).max() < 1e-11


def test_appell_variant_asks_for_nothing_where_free_fall_obeys_it():
    # αh = α + gz: ẋ² + ẏ² − ż² = 2α + 2gz holds in free fall, so no force is needed.
    path = EXAMPLES / "appell_variant.toml"
    text = path.read_text(encoding="utf-8")
    assert 'h = "1"' in text
    motion = read_model(text.replace('h = "1"', 'h = "1 + g*z/alpha"'), path).simulate()
    assert float(abs(motion.constraint_force).max()) < 1e-11
    t = motion.time.values
    assert np.abs(of(motion, "z") - 5 * t + 9.81 * t**2 / 2).max() < 1e-11


def test_nonideal_rosenberg_slows_down_on_the_ideal_path():
    motion = run("nonideal_rosenberg")
    t, a0, z0, vx, w = motion.time.values, 0.4, 0.3, 1.1, 0.8
    K = vx * np.sqrt(1 + z0**2)
    V = np.hypot(K, w)
    z = of(motion, "z")
    assert np.abs(np.sqrt(2 * motion.kinetic) - V / (1 + a0 * V * t)).max() < 1e-12
    assert np.abs(z - z0 - w / (a0 * V) * np.log(1 + a0 * V * t)).max() < 1e-12
    assert np.abs(of(motion, "x") - K / w * (np.arcsinh(z) - np.arcsinh(z0))).max() < 1e-12
    assert np.abs(motion.nonideal_power + a0 * (2 * motion.kinetic) ** 1.5).max() < 1e-12


# Pendulums


def test_pendulum_by_elliptic_functions():
    motion = run("pendulum")
    known = {float(t): np.array(xy, dtype=float) for t, xy in numbers("pendulum")["xy"].items()}
    for t in (0.5, 1, 2, 5, 10):
        assert np.abs(motion.q.sel(time=t, method="nearest").values - known[t]).max() < 1e-11
    quarter = float(numbers("pendulum")["period"]) / 4
    assert motion.event_time.values == pytest.approx(quarter * np.arange(1, 2 * len(motion.event), 2), abs=1e-11)
    # Released at the height of the pivot: the pull is 3 m g cos φ.
    assert np.abs(multiplier(motion, "rod") - 3 * 9.81 * of(motion, "y")).max() < 1e-11 * 3 * 9.81


def test_spherical_pendulum_by_elliptic_functions():
    # L = 1: ż² = 2(E − gz)(1 − z²) − h² = 2g (z − z₁)(z − z₂)(z − z₃), h the angular momentum; it starts at z₂.
    motion = run("spherical_pendulum")
    g, a0, v0 = 9.81, 1.2, 1.0
    E, h = v0**2 / 2 - g * np.cos(a0), np.sin(a0) * v0
    z1, z2, z3 = np.sort(np.roots([2 * g, -2 * E, -2 * g, 2 * E - h**2]).real)
    assert z2 == pytest.approx(-np.cos(a0), abs=1e-14)
    k2 = (z2 - z1) / (z3 - z1)
    sn = ellipj(np.sqrt(g * (z3 - z1) / 2) * motion.time.values + ellipk(k2), k2)[0]
    assert np.abs(of(motion, "z") - z1 - (z2 - z1) * sn**2).max() < 1e-10
    (x, y), (vx, vy) = of(motion, "x y"), of(motion, "x y", "v")
    assert np.abs(x * vy - y * vx - h).max() < 1e-12


def test_double_pendulum_agrees_with_the_equations_in_its_angles():
    p = values("double_pendulum")
    m1, m2, L1, L2, g = (p[k] for k in ("m1", "m2", "L1", "L2", "g"))

    def rates(_, y):
        (a, b), (u, v) = y[:2], y[2:]
        c, s = np.cos(a - b), np.sin(a - b)
        mass = [[(m1 + m2) * L1, m2 * L2 * c], [L1 * c, L2]]
        load = [-m2 * L2 * v**2 * s - (m1 + m2) * g * np.sin(a), L1 * u**2 * s - g * np.sin(b)]
        return [u, v, *np.linalg.solve(mass, load)]

    motion = run("double_pendulum").sel(time=slice(0, 3))  # later, chaos makes too much of the last digit
    times = motion.time.values
    angles = solve_ivp(
        rates, (0, times[-1]), [p["a1"], p["a2"], 0, 0], method="DOP853", t_eval=times, rtol=1e-13, atol=1e-13
    )
    a, b = angles.y[:2]
    expected = np.array(
        [L1 * np.sin(a), -L1 * np.cos(a), L1 * np.sin(a) + L2 * np.sin(b), -L1 * np.cos(a) - L2 * np.cos(b)]
    )
    assert np.abs(motion.q.values.T - expected).max() < 1e-9


def test_slack_rope_lets_go_where_the_books_say():
    # The tension m(v²/L + g cos φ) vanishes where cos φ = −(k − 2)/3, k = v₀²/(gL).
    motion = run("slack_rope")
    g, k = 9.81, 4.0
    end = np.arccos(-(k - 2) / 3)
    duration = quad(lambda phi: 1 / np.sqrt(g * (k - 2 + 2 * np.cos(phi))), 0, end, epsabs=1e-14, epsrel=1e-14)[0]
    assert list(motion.event_name.values) == ["level", "slack"]
    assert float(motion.event_time[-1]) == pytest.approx(duration, abs=1e-12)
    assert motion.event_q[-1].values == pytest.approx([np.sin(end), -np.cos(end)], abs=1e-12)


def test_cart_pole_through_four_thousand_radians_a_second():
    motion = run("cart_pole")
    rows = numbers("cart-pole")["rows_t_x_theta"]
    x, X, Y = motion.q.values.T
    theta = np.arctan2(X - x, -Y)
    for t, (cart, angle) in rows.items():
        if float(t) <= 1:
            i = round(float(t) * 500)
            assert (x[i], theta[i]) == pytest.approx((cart, angle), abs=1e-10)


# Beads


def test_moving_hoop_agrees_with_the_equation_in_its_angle():
    p = values("moving_hoop")
    m, g, R, W, a0 = (p[k] for k in ("m", "g", "R", "turn", "a0"))
    motion = run("moving_hoop")
    t = motion.time.values
    angle = solve_ivp(
        lambda _, y: [y[1], (W**2 * np.cos(y[0]) - g / R) * np.sin(y[0])], (0, t[-1]), [a0, 0],
        method="DOP853", t_eval=t, rtol=1e-13, atol=1e-13,
    )  # fmt: skip
    a, rate = angle.y
    c, s = np.cos(W * t), np.sin(W * t)
    assert np.abs(motion.q.values.T - [R * np.sin(a) * c, R * np.sin(a) * s, -R * np.cos(a)]).max() < 1e-9
    # The hoop pushes sideways with Coriolis's force, and energy less Ω times angular momentum is conserved.
    assert np.abs(multiplier(motion, "plane") + 2 * m * W * R * np.cos(a) * rate).max() < 1e-8
    (x, y), (vx, vy) = of(motion, "x y"), of(motion, "x y", "v")
    jacobi = motion.energy.values - W * m * (x * vy - y * vx)
    assert np.abs(jacobi - jacobi[0]).max() < 1e-11


def test_bead_with_drag_in_closed_form():
    p = values("bead_with_drag")
    m, R, mu, v0 = (p[k] for k in ("m", "R", "mu", "v0"))
    motion = run("bead_with_drag")
    slowed = 1 + mu * v0 * motion.time.values / R
    phi = np.log(slowed) / mu
    assert np.abs(of(motion, "x") - R * np.cos(phi)).max() < 1e-11
    assert np.abs(of(motion, "y") - R * np.sin(phi)).max() < 1e-11
    pressure = m * (v0 / slowed) ** 2 / R
    assert np.abs(multiplier(motion, "ring") + pressure).max() < 1e-10
    assert np.abs(motion.nonideal_power + mu * pressure * v0 / slowed).max() < 1e-9


def test_dry_friction_takes_two_dead_bands_of_each_half_swing_and_then_holds():
    """Turns at |x| = 1 − 2nF/k, each π√(m/k) after the one before; at rest in the dead band, held (Rayleigh)."""
    motion, n = run("dry_friction"), 7
    [begin], [end] = motion.rest_begin.values, motion.rest_end.values
    assert (begin, end) == (pytest.approx(n * np.pi / 2, abs=1e-11), 15)
    x = of(motion, "x")
    assert x[-1] == pytest.approx(1 - 6 * 0.15 - 0.05, abs=1e-12)
    for half in range(n):
        t = np.pi / 2 * half + np.linspace(0, np.pi / 2, 6)
        side, amplitude = (-1) ** half, 1 - 0.15 * half - 0.075
        saved = motion.sel(time=t[2:-1], method="nearest")
        known = side * (0.075 + amplitude * np.cos(2 * (saved.time.values - t[0])))
        assert saved.q.values[:, 0] == pytest.approx(known, abs=1e-11)
    still = motion.time.values > begin
    assert np.ptp(x[still]) == 0
    assert not motion.a.values[still].any()
