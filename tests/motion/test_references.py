"""Published and high-precision problems through the public interface, without stabilisation where none is needed."""

import itertools

import numpy as np
import pytest

import zwang as zw
from tests.references import problems
from tests.references.problems import numbers
from zwang.formulations.forms import integrable

NONHOLONOMIC = numbers("nonholonomic")


def at_end(motion, positions, velocities=()):
    q, v = (getattr(motion, name).isel(time=-1) for name in "qv")
    return np.array(
        [*(float(q.sel(coordinate=c)) for c in positions), *(float(v.sel(coordinate=c)) for c in velocities)]
    )


def reference(name):
    return np.array(next(entry["ref"] for key, entry in NONHOLONOMIC.items() if key.startswith(name)))


# Andrews' squeezing mechanism


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_andrews_to_twelve_digits_with_drift_at_round_off(method):
    system, start = problems.andrews()
    motion = zw.simulate(system, start, 0.03, samples=31, tol=1e-15, method=method)
    truth = np.array(numbers("andrews")["high_precision"]["y"], dtype=float)
    q, v, a, multiplier = truth[:7], truth[7:14], truth[14:21], -truth[21:]
    assert np.abs(motion.q.values[-1] / q - 1).max() < 1e-12
    assert np.abs(motion.v.values[-1] - v).max() < 1e-12 * np.abs(v).max()
    assert np.abs(motion.a.values[-1] - a).max() < 1e-11 * np.abs(a).max()
    assert np.abs(motion.multiplier.values[-1] - multiplier).max() < 1e-11 * np.abs(multiplier).max()
    assert float(abs(motion.residual).max()) < 1e-14
    assert motion.drift == "none"


@pytest.mark.both_codes
def test_andrews_published_solution_and_history_of_the_crank():
    system, start = problems.andrews()
    history = numbers("andrews")["crank_angle_history"]
    motion = zw.simulate(system, start, 0.05, times=[float(t) for t in history], tol=1e-14)
    beta = motion.q.sel(coordinate="beta").values
    rate = motion.v.sel(coordinate="beta").values
    rr = 0.007
    for i, row in enumerate(history.values()):
        assert beta[i] == pytest.approx(float(row["beta"]), abs=3e-12)
        assert rate[i] == pytest.approx(float(row["betadot"]), abs=1e-9)
        assert rr * np.cos(beta[i]) == pytest.approx(float(row["F_x"]), abs=1e-14)
        assert rr * np.sin(beta[i]) == pytest.approx(float(row["F_y"]), abs=1e-14)
    published = np.array(numbers("andrews")["published"]["y"], dtype=float)
    assert np.abs(motion.q.values[2] / published[:7] - 1).max() < 3e-10


# Simple pendulum (A01)


# Without stabilisation the residual grows like t², and with it the phase goes astray like t³; with it, errors of
# energy remain, which grow like t, and the phase goes astray like t².


@pytest.mark.parametrize(
    ("method", "drift", "until", "accuracy"),
    [
        ("native", "none", 10, 1e-12),
        ("native", "none", 100, 1e-9),
        ("taylor", "none", 100, 1e-10),
        ("native", "projection", 2000, 1e-9),
        ("native", "baumgarte", 2000, 1e-9),
        ("taylor", "none", 2000, 1e-7),
    ],
)
def test_pendulum_up_to_two_thousand_seconds(method, drift, until, accuracy):
    assert pendulum_error(method, drift, until) < accuracy


def pendulum_error(method, drift, until):
    system, start = problems.pendulum()
    rows = {float(t): np.array(xy, dtype=float) for t, xy in numbers("pendulum")["xy"].items() if float(t) <= until}
    motion = zw.simulate(system, start, until, times=list(rows), tol=1e-15, method=method, drift=drift)
    return np.abs(motion.q.values - np.array(list(rows.values()))).max()


# Chain of four-bars (A02), through its singular positions


@pytest.mark.both_codes
@pytest.mark.parametrize("method", ["native", "taylor"])
def test_one_four_bar_through_ten_singular_positions(method):
    system, start = problems.four_bar(1)
    motion = zw.simulate(system, start, 10.0, samples=101, tol=1e-13, method=method)
    assert np.abs(at_end(motion, ["x0", "y0"]) - [0.4783850577608, 0.8781501787913]).max() < 1e-9
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-9
    assert motion.message.count("Leapt the singular position at t = ") == 10
    assert motion.message.count("(crank 0, crank 1, coupler 0 become dependent)") == 10
    assert "at t = 0.70845" in motion.message


@pytest.mark.both_codes
def test_five_four_bars():
    system, start = problems.four_bar(5)
    motion = zw.simulate(system, start, 10.0, samples=101, tol=1e-13, method="native")
    assert np.abs(at_end(motion, ["x0", "y0"]) - [0.2357891358452, 0.9718042413045]).max() < 1e-7
    assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-6
    assert motion.message.count("Leapt") == 10
    assert all(name in motion.message for name in system.constraint_names)


@pytest.mark.both_codes
def test_two_four_bars_at_published_times():
    system, start = problems.four_bar(2)
    rows = numbers("four-bar")["N=2"]["B0"]
    motion = zw.simulate(system, start, 10.0, times=[float(t) for t in rows], tol=1e-13, method="native")
    truth = np.array([[float(row[k]) for k in ("x", "y", "vx", "vy")] for row in rows.values()])
    q, v = motion.q.sel(coordinate=["x0", "y0"]).values, motion.v.sel(coordinate=["x0", "y0"]).values
    assert np.abs(np.hstack([q, v]) - truth).max() < 1e-8


# Light cart, heavy top, governor


@pytest.mark.both_codes
@pytest.mark.parametrize("method", ["native", "taylor"])
def test_cart_of_a_millionth_of_the_mass(method):
    system, start = problems.cart_pole()
    rows = numbers("cart-pole")["rows_t_x_theta"]
    motion = zw.simulate(system, start, 1.09, times=[float(t) for t in rows], tol=1e-13, method=method)
    x, X, Y = motion.q.values.T
    theta = np.arctan2(X - x, -Y)
    assert np.abs(np.stack([x, theta], axis=1) - np.array(list(rows.values()))).max() < 1e-10
    assert "Leapt" not in motion.message


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_heavy_top_in_euler_parameters(method):
    system, start = problems.heavy_top()
    motion = zw.simulate(system, start, 2.0, times=[0.01, 2.0], tol=1e-15, method=method)
    truth = numbers("heavy-top")["omega_y_global"]
    turning = global_y(motion)
    assert turning[0] == pytest.approx(truth["0.01"], abs=1e-9)
    assert turning[1] == pytest.approx(truth["2.0"][0], abs=1e-9)
    assert turning[1] == pytest.approx(truth["2.0_RK67_dt2e-5"], abs=1e-9)


def global_y(motion):
    a, b, c, d = motion.q.values.T
    rates = motion.v.values.T
    return 2 * (-c * rates[0] + d * rates[1] + a * rates[2] - b * rates[3])


def test_stiff_governor():
    system, start = problems.flyball()
    rows = numbers("flyball")["samples"]
    motion = zw.simulate(system, start, 10.0, times=[float(t) for t in rows], tol=1e-12, method="native")
    truth = np.array([[float(row[k]) for k in ("alpha", "s", "alphadot", "sdot")] for row in rows.values()])
    for rod in ("alpha1", "alpha2"):
        q, v = motion.q.sel(coordinate=[rod, "s"]).values, motion.v.sel(coordinate=[rod, "s"]).values
        assert np.abs(np.hstack([q, v]) - truth).max() < 1e-12


# Nonholonomic, rheonomic and nonideal classics

CLASSICS = {
    "knife edge": (problems.knife_edge, 5.0, "x y phi", ""),
    "Chaplygin": (problems.chaplygin_sleigh, 3.0, "theta", "x y theta"),
    "free particle": (problems.rosenberg, 4.0, "x y z", "x"),
    "Appell-Hamel": (problems.appell_hamel, 0.3, "x y z", "z"),
    "bead on rotating": (problems.bead_on_wire, 1.5, "x y", ""),
    "conical": (problems.conical_pendulum, 6.0, "x y z", ""),
    "non-ideal": (problems.coulomb_ring, 3.0, "x y", ""),
    "disk on incline": (problems.disk_on_incline, 1.7, "x", ""),
    "ball on turntable": (problems.ball_on_turntable, 4.321, "X Y", ""),
}


@pytest.mark.parametrize("method", ["native", "taylor"])
@pytest.mark.parametrize("name", CLASSICS)
def test_classics_to_their_closed_forms(name, method):
    problem, until, positions, velocities = CLASSICS[name]
    system, start = problem()
    motion = zw.simulate(system, start, until, samples=21, tol=1e-14, method=method)
    found = at_end(motion, positions.split(), velocities.split())
    assert np.abs(found - reference(name)[: len(found)]).max() < 1e-11


@pytest.mark.both_codes
def test_ball_on_turntable_returns_after_seven_halves_of_a_turn():
    system, start = problems.ball_on_turntable()
    period = reference("ball on turntable")[2]
    motion = zw.simulate(system, start, period, tol=1e-14, method="native")
    assert np.abs(at_end(motion, ["X", "Y"], ["X", "Y"]) - [0.3, 0.1, 0.05, -0.12]).max() < 1e-11


@pytest.mark.both_codes
def test_rolling_disk_in_steady_precession():
    system, start = problems.rolling_disk()
    motion = zw.simulate(system, start, 3.0, samples=31, tol=1e-14, method="native")
    q, v = motion.q.sel, motion.v.sel
    assert float(abs(q(coordinate="theta") - 1.1).max()) < 1e-11
    assert float(abs(v(coordinate="psi") - reference("rolling disk")[1]).max()) < 1e-11
    assert float(abs(v(coordinate="phi") - 2.3).max()) < 1e-11
    radius = np.hypot(q(coordinate="x"), q(coordinate="y"))
    assert float(abs(radius - 0.5 * abs(reference("rolling disk")[0]) / 2.3).max()) < 1e-11


@pytest.mark.both_codes
def test_forces_of_the_classics():
    bead = zw.simulate(*problems.bead_on_wire(), 1.5, samples=16, tol=1e-13)
    sideways = 2 * 2.1**2 * 0.4 * np.sinh(2.1 * bead.time)
    assert np.abs(np.hypot(*bead.constraint_force.values.T) - sideways).max() < 1e-10
    cone = zw.simulate(*problems.conical_pendulum(), 6.0, samples=16, tol=1e-13)
    assert float(abs(-cone.multiplier[:, 0] * 1.2 - 2 * 9.81 / np.cos(0.7)).max()) < 1e-10
    disk = zw.simulate(*problems.disk_on_incline(), 1.7, samples=16, tol=1e-13)
    force = disk.constraint_force.sel(coordinate=["x", "y"]).values
    assert np.abs(force - [-2 * 9.81 * np.sin(0.5) / 3, 2 * 9.81 * np.cos(0.5)]).max() < 1e-11
    ring = zw.simulate(*problems.coulomb_ring(), 3.0, samples=16, tol=1e-13)
    speed = 2 / (1 + 0.3 * 2 * ring.time / 0.8)
    assert np.abs(np.hypot(*ring.ideal_force.values.T) - 1.5 * speed**2 / 0.8).max() < 1e-11
    assert np.abs(np.hypot(*ring.nonideal_force.values.T) - 0.3 * 1.5 * speed**2 / 0.8).max() < 1e-11


# Every row twice, one of them a million times larger

DOUBLED = {
    "andrews": (problems.andrews, 0.03),
    "pendulum": (problems.pendulum, 5.0),
    "four-bar": (problems.four_bar, 3.0),
    "cart-pole": (problems.cart_pole, 0.44),
    "heavy top": (problems.heavy_top, 0.5),
    "governor": (problems.flyball, 0.2),
    "knife edge": (problems.knife_edge, 5.0),
    "sleigh": (problems.chaplygin_sleigh, 3.0),
    "rolling disk": (problems.rolling_disk, 3.0),
    "ring": (problems.coulomb_ring, 3.0),
    "turntable": (problems.ball_on_turntable, 4.321),
    "wire": (problems.bead_on_wire, 1.5),
}


@pytest.mark.parametrize("name", DOUBLED)
def test_redundant_and_badly_scaled_copies_move_the_same(name):
    problem, until = DOUBLED[name]
    system, start = problem()
    twice = doubled(system)
    once = zw.simulate(system, start, until, samples=12, tol=1e-13)
    motion = zw.simulate(twice, start, until, samples=12, tol=1e-13)
    assert np.abs(motion.q.values - once.q.values).max() < 1e-9 * max(1, np.abs(once.q.values).max())
    assert (motion["rank"] == once["rank"]).all()
    assert not motion.unique.any()
    # Of all λ with λ₁ + 10⁶λ₂ given, the shortest has λ₂ = 10⁶λ₁.
    m = len(system.constraints)
    single, large = motion.multiplier.values[:, :m], motion.multiplier.values[:, m:]
    size = np.abs(large).max()
    assert np.abs(large - 1e6 * single).max() < 1e-7 * size
    assert np.abs(single + 1e6 * large - once.multiplier.values).max() < 1e-6 * np.abs(once.multiplier.values).max()


def doubled(system):
    rows = {c.name: c.expression for c in system.constraints}
    return zw.System(
        system.coordinates,
        kinetic=system.kinetic,
        potential=system.potential,
        forces=system.forces,
        nonideal=system.nonideal,
        constraints=rows | {f"{name} again": 10**6 * e for name, e in rows.items()},
        parameters=dict(system.parameters),
    )


# Tolerances and forms

FORMS = integrable()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["native", "taylor"])
def test_a_tighter_tolerance_gives_a_smaller_error(method, form):
    system, start = problems.pendulum()
    exact = np.array(numbers("pendulum")["xy"]["10"], dtype=float)
    errors = []
    for tol in (1e-6, 1e-8, 1e-10, 1e-12):
        motion = zw.simulate(system, start, 10.0, samples=2, tol=tol, method=method, form=form)
        errors.append(np.abs(motion.q.values[-1] - exact).max())
    floor = 1e-13
    assert all(tighter < 0.1 * looser or tighter < floor for looser, tighter in itertools.pairwise(errors))
    assert errors[-1] < 1e-10


@pytest.mark.parametrize("name", ["andrews", "governor", "sleigh", "rolling disk", "turntable", "ring", "wire"])
def test_forms_agree(name):
    problem, until = DOUBLED[name]
    system, start = problem()
    ends = [
        zw.simulate(system, start, until, samples=3, tol=1e-13, form=form, method="native").q.values[-1]
        for form in FORMS
    ]
    for end in ends[1:]:
        assert np.abs(end - ends[0]).max() < 1e-10 * max(1, np.abs(ends[0]).max())
