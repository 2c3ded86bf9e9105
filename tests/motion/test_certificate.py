"""What a motion cannot vouch for it says, and sound motions raise no alarm."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from zwang import dot, t
from zwang.cli import library
from zwang.motion import certificate

x, y = zw.coordinates("x y")
ENGINES = ("native", "taylor", "radau", "lsoda")
SPIKE = sp.exp(-(((x - 5) / 0.002) ** 2))


def well():
    """A well at x = 5, 0.002 wide."""
    return zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=-20 * SPIKE)


def push():
    """A force that acts there only: no potential knows of it."""
    return zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: 20 * SPIKE})


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("tol", [1e-6, 1e-12])
@pytest.mark.parametrize("system", [well, push])
def test_a_saved_state_in_a_force_that_was_stepped_over_is_said(system, tol, method):
    # At speed 1 the body is at x = 5, in the force, at t = 5, a saved time; steps may be as long as they like.
    motion = zw.simulate(system(), {x: 0, dot(x): 1}, 10.0, tol=tol, method=method, max_step=np.inf)
    assert abs(float(motion.q[-1, 0]) - 10) < 1e-9  # stepped over
    assert motion.attrs["status"] == "finished"
    assert motion.attrs["doubts"].startswith("Not vouched for: ")
    assert motion.attrs["doubts"] in motion.attrs["message"]
    assert "t = 5" in motion.attrs["message"]
    assert "max_step" in motion.attrs["message"]


def test_in_many_samples_those_in_doubt_are_marked():
    starts = np.append(np.zeros(4), np.full(5, 5.5))  # the first go through the well, the others begin behind it
    many = zw.simulate_many(well(), {x: starts, dot(x): 1}, 10.0, max_step=np.inf, tol=1e-6)
    assert [bool(words) for words in many.doubts.values] == [True] * 4 + [False] * 5
    assert many.attrs["doubts"].startswith("Not vouched for: 4 of 9 samples")


@pytest.mark.parametrize("method", ["dop853", "radau", "lsoda"])
def test_a_black_box_is_held_to_its_accelerations(method):
    def force(q, v, t):
        return 20 * np.exp(-(((q - 5) / 0.002) ** 2))

    box = zw.BlackBox(("x",), M=np.eye(1), Q=force)
    missed = zw.simulate(box, ([0.0], [1.0]), 10.0, method=method, tol=1e-6, max_step=np.inf, samples=11)
    assert "the acceleration of x at t = 5 is not that of the motion" in missed.attrs["doubts"]
    assert missed.attrs["doubts"] in missed.attrs["message"]
    swing = zw.BlackBox(("x",), M=np.eye(1), Q=lambda q, v, t: -np.sin(q))
    assert zw.simulate(swing, ([1.0], [0.0]), 5.0, method=method, tol=1e-6, samples=11).attrs["doubts"] == ""


@pytest.mark.parametrize("tol", [1e-4, 1e-10])
def test_no_shipped_example_raises_an_alarm(tol):
    for name in library.names():
        motion = zw.load_model(Path(str(library.example(name)))).simulate(tol=tol, throw=False, progress=False)
        assert motion.attrs["doubts"] == "", name


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5, 1e-8, 1e-12, 1e-14])
def test_sound_motions_of_all_kinds_raise_no_alarm(tol):
    e = 0.99  # a comet: a thousand times faster near the sun, where few states are saved
    comet = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=-1 / sp.sqrt(x**2 + y**2))
    bouncy = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=1e8 * x**2 / 2, forces={x: -dot(x)})
    heavy = zw.System((x,), kinetic=1e9 * dot(x) ** 2 / 2, potential=1e9 * x**2 / 2)
    shaken = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x**2 / 2, forces={x: 100 * sp.sin(30 * t) - dot(x)})
    jumps = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: sp.Piecewise((2, t < 1.234), (-3, True))})
    for system, start, until in (
        (comet, {x: 1 + e, y: 0, dot(x): 0, dot(y): np.sqrt((1 - e) / (1 + e))}, 7.0),
        (bouncy, {x: 1e-3, dot(x): 0}, 0.1),
        (heavy, {x: 1e-4, dot(x): 0}, 10.0),
        (shaken, {x: 0, dot(x): 0}, 5.0),
        (jumps, {x: 0, dot(x): 0}, 3.0),
    ):
        motion = zw.simulate(system, start, until, tol=tol, method="native")
        assert motion.attrs["doubts"] == ""


@pytest.mark.parametrize("method", ["radau", "lsoda"])
def test_stiff_motions_raise_no_alarm(method):
    # Van der Pol's oscillator with μ = 100, through one of its sudden turns.
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: 100 * (1 - x**2) * dot(x) - x})
    for tol in (1e-3, 1e-6):
        assert zw.simulate(system, {x: 2, dot(x): 0}, 100.0, tol=tol, method=method).attrs["doubts"] == ""


def test_a_motion_that_begins_late_says_that_digits_of_time_are_lost():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: sp.cos(t)})
    start = {x: 0, dot(x): 0}
    assert "instants near t = 1e+09 are 1.19e-07 apart" in zw.simulate(system, start, 1e9 + 10, t=1e9).attrs["message"]
    for method in ("native", "radau", "taylor"):  # there are no steps left
        late = zw.simulate(system, start, 1e15 + 10, t=1e15, method=method, throw=False).attrs["message"]
        assert "instants near t = 1e+15 are 0.125 apart: let it begin at t = 0" in late
        assert "stiff" not in late
    assert zw.simulate(system, start, 110.0, t=100.0).attrs["doubts"] == ""
    assert zw.simulate(system, start, 1e9 + 10, t=1e9, tol=1e-3).attrs["doubts"] == ""


@pytest.mark.parametrize(
    ("step", "power", "told"), [(0.0, 0.0, True), (1e-6, 1e-6, True), (1.0, 0.0, False), (0.0, 1.0, False)]
)
def test_energy_is_in_doubt_that_steps_as_inaccurate_as_tried_cannot_explain(step, power, told):
    """What a step loses, and what power is off by, is tried out at a few of the saved states, from first to last."""
    times, asked = np.linspace(0.0, 2.0, 101), []
    none = {name: np.zeros((101, 1)) for name in ("multiplier", "residual", "residual_rate")}
    energy = np.where(times > 1.49, 1.5, 1.0)  # jumps at t = 1.5
    values = none | {"jacobi": energy, "kinetic": energy, "potential": 0 * energy, "work": 0 * energy}

    def try_out(some):
        asked.extend(some.tolist())
        return {"jacobi": np.full(len(some), step), "power": np.full(len(some), power)}

    run = SimpleNamespace(steps=10, leapt=0.0, turned=0.0)
    words = certificate.energy(times, values, 1e-9, run, try_out)
    assert ("the energy is off by 0.5 at t = 1.5" in words) == told
    assert asked == sorted(set(asked))
    assert (asked[0], asked[-1]) == (0, 100)


@pytest.mark.parametrize("again", [False, True], ids=["independent", "redundant"])
def test_leaps_that_cost_more_than_the_tolerance_are_said(again):
    """Three cranks of a parallelogram; one length is said twice. The truth is θ″ = 9.81 sin θ (SciPy's DOP853)."""
    z = zw.coordinates("z", shape=6)
    links = {"a": (0, 1, 0), "b": (2, 3, 1), "d": (4, 5, 2)}
    rows = {name: (z[i] - at) ** 2 + z[j] ** 2 - 1 for name, (i, j, at) in links.items()}
    rows |= {"u": (z[2] - z[0]) ** 2 + (z[3] - z[1]) ** 2 - 1, "v": (z[4] - z[2]) ** 2 + (z[5] - z[3]) ** 2 - 1}
    rows |= {"w": (z[4] - z[0]) ** 2 + (z[5] - z[1]) ** 2 - 4} if again else {}
    system = zw.System(
        [*z], kinetic=sum(dot(c) ** 2 for c in z) / 2, potential=9.81 * (z[1] + z[3] + z[5]), constraints=rows
    )
    angle, sine, cosine = 0.4, np.sin(0.4), np.cos(0.4)
    start = {z: [sine, cosine, 1 + sine, cosine, 2 + sine, cosine], dot(z): 3 * np.array([cosine, -sine] * 3)}
    motion = zw.simulate(system, start, 3.0, samples=7, method="native")
    fall = solve_ivp(
        lambda _, s: [s[1], 9.81 * np.sin(s[0])], (0, 3), [angle, 3.0], method="DOP853", rtol=1e-13, atol=1e-13
    )
    error = abs(motion.q.values[-1, 0] - np.sin(fall.y[0, -1]))
    assert "leaps across singular positions may have cost" in motion.doubts if error > 1e-9 else motion.doubts == ""


@pytest.mark.parametrize("method", ["radau", "lsoda"])
@pytest.mark.parametrize("stiffness", [1e9, 1e12, 1e14])
def test_power_whose_rounding_is_large_is_no_reason_to_doubt(stiffness, method):
    """ẍ = −k(ẋ − cos t): ẋ is cos t to within 1/k, and a speed that is rounded makes a power of k times as much."""
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: -stiffness * (dot(x) - sp.cos(t))})
    motion = zw.simulate(system, {x: 0, dot(x): 1}, 1.0, samples=2, method=method, tol=1e-9)
    assert motion.q.values[-1, 0] == pytest.approx(np.sin(1.0), abs=1e-8)
    assert motion.attrs["doubts"] == ""
