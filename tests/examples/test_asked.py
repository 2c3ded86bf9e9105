"""What is known of the examples that ask something: critical loads and speeds, regulators, published numbers."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import solve_continuous_are
from scipy.optimize import brentq, least_squares

from tests.examples.models import model, of, run, values
from tests.references import hybrid
from tests.references.contact import expected
from zwang.files.analyses.linear import Linear


def growth(name, parameter, value, **others):
    """The largest real part of the eigenvalues of an example, for a value of a parameter."""
    m = model(name)
    asks = m.analyses["linear"]
    here = Linear(asks.at, asks.states)
    return float(here.modes(m, {parameter: value, **others}).eigenvalue.values.real.max())


@pytest.mark.parametrize(("damping", "load"), [(0.0, 3.5 - np.sqrt(2)), (0.1, 41 / 28 + 0.1**2 / 2)])
def test_zieglers_column_flutters_beyond_its_critical_load(damping, load):
    # Ziegler 1952, and what damping makes of it
    least = 0.0 if damping else 1e-7  # without damping nothing decays below it, and rounding has a sign
    found = brentq(lambda P: growth("ziegler", "P", P, c=damping) - least, load - 0.05, load + 0.05, xtol=1e-12)
    assert found == pytest.approx(load, abs=1e-8)


def test_zieglers_column_has_no_other_equilibrium_and_its_swings_grow():
    e = model("ziegler").ask("equilibrium")
    assert max(map(abs, e.state.values())) < 1e-12
    assert not e.stable
    a = np.abs(of(run("ziegler"), "b"))
    assert a[len(a) // 2 :].max() > 4 * a[: len(a) // 2].max()


def test_the_gains_of_the_balanced_pole_are_those_of_the_regulator():
    m = model("balanced_pole")
    asks = m.analyses["linear"]
    lin = Linear(asks.at, asks.states, asks.inputs).answer(m, {"control": 0.0})
    A, B = lin.A.values, lin.B.values
    # m l² and M by hand: lean'' = (M + m) g lean/(M l) − F/(M l), c'' = (F − m g lean)/M
    assert pytest.approx(np.array([[0, 0, 1, 0], [0, 0, 0, 1], [0, -0.981, 0, 0], [0, 21.582, 0, 0]]), abs=1e-12) == A
    assert pytest.approx(np.array([[0], [0], [1], [-2]]), abs=1e-12) == B
    gains = B.T @ solve_continuous_are(A, B, np.eye(4), np.eye(1))
    own = values("balanced_pole")
    assert gains[0] == pytest.approx([own["k_place"], own["k_lean"], own["k_speed"], own["k_fall"]], abs=1e-9)
    closed = Linear(asks.at, asks.states).answer(m).A.values
    assert pytest.approx(A - B @ gains, abs=1e-9) == closed
    assert np.abs(of(run("balanced_pole"), "c")[-1]) < 0.02


def test_the_fit_of_the_measured_pendulum_is_that_in_the_angle():
    m = model("measured_pendulum")
    found = m.ask("fit")
    (columns,) = m.analyses["fit"].data
    t, x, y = (np.array(columns[name]) for name in ("t", "x", "y"))

    def left(p):
        g, L, c, a0 = p
        swing = solve_ivp(lambda _, s: [s[1], -g / L * np.sin(s[0]) - c * s[1]], (0, t[-1]), [a0, 0], "DOP853", t,
                          rtol=1e-12, atol=1e-13)  # fmt: skip
        return np.concatenate([L * np.sin(swing.y[0]) - x, -L * np.cos(swing.y[0]) - y])

    other = least_squares(left, [9.5, 1.2, 0.1, 0.8], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    assert list(found.values.values()) == pytest.approx(other.x, rel=1e-7)
    errors = np.sqrt(np.diag(np.linalg.inv(other.jac.T @ other.jac)) * 2 * other.cost / (len(left(other.x)) - 4))
    assert list(found.errors.values()) == pytest.approx(errors, rel=1e-3)
    assert all(found.identifiable.values())


def test_kapitzas_pendulum_stays_up_and_has_the_multipliers_of_the_equation_in_the_angle():
    p = values("kapitza")
    T = 2 * np.pi / p["W"]

    def angle(t, s):  # th'' = (g/L − a W²/L cos Wt) th, first order
        return [s[1], (p["g"] - p["a"] * p["W"] ** 2 * np.cos(p["W"] * t)) / p["L"] * s[0]]

    ends = [solve_ivp(angle, (0, T), start, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1] for start in ([1, 0], [0, 1])]
    trace = ends[0][0] + ends[1][1]
    motion = model("kapitza").ask("periodic")
    assert motion.floquet.values.sum().real == pytest.approx(trace, abs=1e-9)
    assert trace == pytest.approx(1.447462468140243, abs=1e-9)
    assert of(run("kapitza"), "y").min() > 0


def test_the_rolling_wheel_stays_up_beyond_its_critical_speed():
    p = values("rolling_wheel")
    critical = np.sqrt(p["g"] * p["R"] / 3)
    assert growth("rolling_wheel", "v", critical * 0.999) > 0.01
    assert growth("rolling_wheel", "v", critical * 1.001) < 1e-6
    assert model("rolling_wheel").ask("steady").families
    assert np.abs(of(run("rolling_wheel"), "theta") - np.pi / 2).max() < 0.2


def test_the_rolling_disc_asks_for_the_steady_motion_that_it_starts_in():
    m = model("rolling_disc")
    found = m.ask("steady").state
    assert all(found[key] == pytest.approx(value, abs=1e-9) for key, value in m.state().items() if "psi'" in str(key))
    psi = m.system.velocities[-1]
    assert found[psi] == pytest.approx(m.state()[psi], abs=1e-9)


def test_the_slider_crank_has_the_same_positions_without_integrating():
    motion = model("slider_crank").ask("kinematics")
    th, p = motion.q.sel(coordinate="theta").values, values("slider_crank")
    way = p["r"] * np.cos(th) + np.sqrt(p["L"] ** 2 - (p["r"] * np.sin(th)) ** 2)
    assert motion.q.sel(coordinate="s").values == pytest.approx(way, abs=1e-13)


def test_the_simplest_walker_has_the_gait_that_is_published():
    """45-digit Taylor series in mpmath (`hybrid`)."""
    motion = model("simplest_walker").ask("periodic")
    assert motion.attrs["period"] == pytest.approx(hybrid.STEP_TIME, rel=1e-13)
    assert motion.event_q_after.values[0, 0] == pytest.approx(hybrid.GAIT[0], rel=1e-12)
    assert motion.floquet.values[1] == pytest.approx(hybrid.TURNING, abs=1e-11)
    steps = np.diff(run("simplest_walker").event_time.values)
    assert np.abs(steps - hybrid.STEP_TIME).max() < 0.06  # it starts beside the gait, and comes nearer


def test_the_woodpecker_asks_for_its_cycle():
    truth = expected("m-woodpecker")
    motion = model("woodpecker").ask("periodic")
    assert motion.attrs["period"] == pytest.approx(float(truth["period"]), rel=1e-11)
    assert motion["shift"].values[0] == pytest.approx(-float(truth["drop"]), rel=1e-10)
    assert motion.floquet.values[2].real == pytest.approx(float(truth["multiplier"]), abs=1e-10)
