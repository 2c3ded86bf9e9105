"""Switching functions of the state end a step where they switch; along a switch no motion creeps."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot, t
from zwang.errors import InputError, SimulationError

x, y = zw.coordinates("x y")
v = dot(x)
ENGINES = ("native", "taylor", "radau", "lsoda")
TOL = {"native": 1e-12, "taylor": 1e-14, "radau": 1e-8, "lsoda": 1e-8}
CLOSE = {"native": 1e-10, "taylor": 1e-12, "radau": 1e-5, "lsoda": 1e-4}


def body(force=0, **more):
    return zw.System((x,), kinetic=v**2 / 2, forces={x: force}, **more)


def run(system, start, until, method="native", **more):
    options = {"method": method, "tol": TOL[method], "samples": 2} | more
    return zw.simulate(system, dict(zip((x, v), start, strict=True)), until, throw=False, **options)


def last(motion):
    assert motion.attrs["status"] == "finished", motion.attrs["message"]
    return float(motion.q[-1, 0]), float(motion.v[-1, 0])


# Law, start, end, and the state there, by hand: pieces of parabolas and of sines.
CASES = {
    # from rest at ½ to 0 takes 1, so the period is 4
    "bang-bang": (-sp.sign(x), (0.5, 0), 8.0, (0.5, 0)),
    "bang-bang, part of a period": (-sp.sign(x), (0.5, 0), 9.0, (0, -1)),
    # half a period with ω = 2, half with ω = 1
    "two springs": (-sp.Piecewise((4 * x, x > 0), (x, True)), (1, 0), 3 * np.pi / 2, (1, 0)),
    "two springs, on the soft side": (-sp.Piecewise((4 * x, x > 0), (x, True)), (1, 0), 3 * np.pi / 4, (-2, 0)),
    # a backlash of ±1 with springs of stiffness π²: free flight 2 at speed π, half a period 1 in each spring
    "backlash": (-sp.pi**2 * (sp.Max(0, x - 1) - sp.Max(0, -x - 1)), (0, np.pi), 2 + 4 / np.pi, (0, np.pi)),
    # stairs: x in [1, 2) pushes back with 1, [−1, 0) forwards with 1
    "stairs": (-sp.floor(x), (0.5, 1), 8.0, (1.375, -0.5)),
    "stairs, rounded up": (-sp.ceiling(x), (-0.5, -1), 8.0, (-1.375, 0.5)),
    # 1 − t²/2 until x = t at t = √3 − 1, then no force
    "mixed with time": (sp.Piecewise((-1, x > t), (0, True)), (1, 0), 2.0, (5 - 3 * 3**0.5, 1 - 3**0.5)),
    # inside |x| < 1 driven by 1, outside free: v² = 2(1 + 1) at x = 1
    "absolute value": (sp.Heaviside(1 - sp.Abs(x)), (-1, 0.0), 5.0, (1 + 2 * 3, 2)),
}  # fmt: skip


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("name", CASES)
def test_motion_across_switches_of_the_state(name, method):
    law, start, until, end = CASES[name]
    if method == "taylor" and law.has(sp.floor, sp.ceiling):
        with pytest.raises(InputError, match="cannot be integrated by Taylor's method"):
            run(body(law), start, until, method)
        return
    assert last(run(body(law), start, until, method)) == pytest.approx(end, abs=20 * CLOSE[method])


def test_a_wall_thinner_than_a_step_is_met():
    wall = sp.Piecewise((-1000, (x > 5) & (x < 5.01)), (0, True))
    assert last(run(body(wall), (0, 10), 1.0))[1] == pytest.approx(80**0.5, rel=1e-10)


@pytest.mark.parametrize("method", ENGINES)
def test_quadratic_drag_turns_with_the_velocity(method):
    """Up against drag and weight in atan(w)/1 s, down towards the speed 1 (g = 1, v̇ = −1 − v|v|): v = −tanh(t − t₁)."""
    up = np.arctan(2.0)
    motion = run(body(-1 - v * sp.Abs(v)), (0, 2), up + 1, method)
    assert last(motion) == pytest.approx((np.log(5) / 2 - np.log(np.cosh(1)), -np.tanh(1)), abs=CLOSE[method])


@pytest.mark.parametrize("method", ["native", "radau"])
def test_a_law_without_a_value_on_the_other_side(method):
    """Hertz: a ball that meets 4/5·x^2.5 = v²/2 leaves as fast as it came."""
    law = -2 * sp.Max(0, x) ** sp.Rational(3, 2)
    motion = run(body(law), (-1, 1), 12.0, method, samples=1201)
    assert last(motion)[1] == pytest.approx(-1, abs=CLOSE[method])
    assert float(motion.q.max()) == pytest.approx((5 / 8) ** 0.4, rel=1e-3)


def test_sliding_is_an_error_that_carries_the_motion():
    """−sign(x) with damping crosses x = 0 to and fro, ever faster."""
    with pytest.raises(SimulationError, match=r"sliding; smooth") as caught:
        zw.simulate(body(-sp.sign(x) - 10 * v), {x: 0.5, v: 0}, 30.0)
    assert caught.value.status == "sliding"
    assert 0 < float(caught.value.motion.time[-1]) < 30


def test_friction_that_is_overcome_does_not_slide():
    """Pushed by 4 against 3: from rest, or turned round from −1 after 1/7 s."""
    assert last(run(body(4 - 3 * sp.sign(v)), (0, 0), 8.0)) == pytest.approx((32, 8), rel=1e-11)
    assert last(run(body(4 - 3 * sp.sign(v)), (0, -1), 1 / 7 + 2)) == pytest.approx((2 - 1 / 14, 2), rel=1e-10)


@pytest.mark.parametrize("law", [-sp.sign(x), -3 * sp.sign(v), sp.sign(x), -sp.floor(x), -sp.Max(0, x) * 100])
def test_a_body_at_rest_on_a_switch_stays(law):
    assert last(run(body(law), (0, 0), 5.0)) == (0, 0)


@pytest.mark.parametrize("law", [0.5 - sp.sign(x), -0.1 - sp.floor(x)])
def test_a_start_that_would_slide_says_so_at_once(law):
    motion = run(body(law), (0, 0), 5.0)
    assert motion.attrs["status"] == "sliding"
    assert float(motion.time[-1]) == 0


def test_switches_ever_faster_end_the_motion():
    """−sign(x) with damping 10 closes in on x = 0 without end."""
    motion = run(body(-sp.sign(x) - 10 * v), (0.5, 0), 30.0)
    assert motion.attrs["status"] == "sliding"
    assert "ever faster" in motion.attrs["message"]


def test_a_potential_or_a_constraint_that_jumps_is_named():
    motion = run(zw.System((x,), kinetic=v**2 / 2, potential=10 * sp.Heaviside(x - 1)), (0, 1), 3.0)
    assert motion.attrs["status"] == "not finite"
    assert "the potential jumps" in motion.attrs["message"]
    corner = zw.System((x, y), kinetic=(v**2 + dot(y) ** 2) / 2, constraints={"roof": y - sp.Abs(x)})
    motion = zw.simulate(corner, {x: 1, y: 1, v: -1, dot(y): -1}, 3.0, throw=False)
    assert "the rate of the constraint 'roof' jumps" in motion.attrs["message"]


def test_a_potential_in_pieces_keeps_the_energy():
    system = zw.System((x,), kinetic=v**2 / 2, potential=50 * sp.Max(0, x - 1) ** 2 + sp.Abs(x))
    motion = run(system, (0.5, 3), 20.0, samples=101)
    assert float(np.ptp(motion.energy.values)) < 1e-9


@pytest.mark.parametrize("method", ["native", "taylor", "radau"])
def test_energy_that_a_switch_brings_in_is_in_the_ledger(method):
    """A given mass of 1, for x > 0 of 2, pushed by 1: v = √2 at x = 0 after √2 s. A potential x from t = 1 on."""
    heavier = zw.System((x,), mass=[[1 + sp.Heaviside(x)]], forces={x: 1})
    motion = run(heavier, (-1, 0), 3.0, method, samples=31)
    s = 3 - 2**0.5
    assert last(motion) == pytest.approx((2**0.5 * s + s**2 / 4, 2**0.5 + s / 2), abs=CLOSE[method])
    assert float(abs(motion.energy_balance).max()) < 100 * TOL[method]
    lifted = zw.System((x,), kinetic=v**2 / 2, potential=x * sp.Heaviside(t - 1))
    motion = run(lifted, (0, 1), 3.0, method, samples=31)
    assert last(motion) == pytest.approx((1, -1), abs=CLOSE[method])
    assert motion.attrs["message"] == "finished at t = 3."
    assert float(abs(motion.energy_balance).max()) < 100 * TOL[method]


@pytest.mark.parametrize("method", ENGINES)
def test_events_of_the_user_are_met_once_and_only_they(method):
    """x = 0 is where the law switches, too: at 1, 3, 5, 7."""
    events = [zw.Event(x, "zero"), zw.Event(x - 0.125, "eighth", direction=1)]
    motion = run(body(-sp.sign(x)), (0.5, 0), 8.0, method, events=events)
    met = {name: motion.event_time.values[motion.event_name.values == name] for name in ("zero", "eighth")}
    assert met["zero"] == pytest.approx([1, 3, 5, 7], abs=20 * CLOSE[method])
    assert met["eighth"] == pytest.approx([4 - 0.75**0.5, 8 - 0.75**0.5], abs=20 * CLOSE[method])


@pytest.mark.parametrize("method", ENGINES)
def test_times_saved_at_a_switch_raise_no_doubts(method):
    """The law switches at 1, 3, 5, 7, where states are saved; either acceleration is right there."""
    motion = run(body(-sp.sign(x)), (0.5, 0), 8.0, method, samples=81)
    assert motion.attrs["message"] == "finished at t = 8."
    assert float(abs(motion.energy_balance).max()) < 100 * TOL[method]


def test_an_event_that_stops_where_the_law_switches():
    motion = run(body(-sp.sign(x)), (0.5, 0), 8.0, events=[zw.Event(x, "zero", stop=True)])
    assert motion.attrs["status"] == "event"
    assert motion.event_time.values == pytest.approx([1], abs=1e-12)


def test_samples_switch_each_at_its_own_time():
    """From rest at a, the period of bang-bang is 4√(2a)."""
    starts = np.array([0.125, 0.5, 2.0])
    many = zw.simulate_many(body(-sp.sign(x)), {x: starts, v: 0}, 8.0, samples=2)
    assert (many.status == "finished").all()
    assert many.q.values[:, -1, 0] == pytest.approx(starts * [1, 1, -1] * [1, 1, -1], abs=1e-10)
    slide = zw.simulate_many(body(0.5 - sp.sign(x)), {x: [0.0, 8.0], v: 0.0}, 2.0, samples=2)
    assert slide.status.values.tolist() == ["sliding", "finished"]


def test_a_nested_switch():
    """Stiffness 1 where Heaviside(x) + floor(x/10) ≥ 1, that is for x > 0, and 4 elsewhere: half a period each."""
    law = sp.Piecewise((-x, sp.Heaviside(x) + sp.floor(x / 10) >= 1), (-4 * x, True))
    assert last(run(body(law), (1, 0), 3 * np.pi / 2)) == pytest.approx((1, 0), abs=1e-10)


@pytest.mark.parametrize("drift", ["none", "projection", "baumgarte"])
def test_a_constrained_system_with_switches(drift):
    """A pendulum in x, y with a stop spring on one side: energy stays what it was."""
    kinetic = (v**2 + dot(y) ** 2) / 2
    potential = 9.81 * y + 200 * sp.Max(0, x - 0.5) ** 2
    system = zw.System((x, y), kinetic=kinetic, potential=potential, constraints={"rod": x**2 + y**2 - 1})
    motion = zw.simulate(system, {x: -1, y: 0, v: 0, dot(y): 0}, 10.0, drift=drift)
    assert float(np.ptp(motion.energy.values)) < 1e-8
    assert float(motion.q.sel(coordinate="x").max()) < 0.75
