"""Signals: tables in native code, in forces and constraints, on every engine that can read them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import symengine as se
import sympy as sp
from scipy.interpolate import CubicSpline

import zwang as zw
import zwang.evaluation
from zwang import dot
from zwang.compile import Program, compile_program
from zwang.errors import InputError, ModelError
from zwang.motion import explicit, native
from zwang.motion.course import task_of
from zwang.motion.driven import breaks_of
from zwang.motion.simulate import prepare
from zwang.motion.start import polished
from zwang.signals import KINDS

x, y, u, w = zw.coordinates("x y u w")
m, k = zw.parameters("m k")
RNG = np.random.default_rng(7)
OMEGA = 6.0


def record(dt=0.1, end=4.0, kind="linear", **options):
    times = np.arange(0, end + dt / 2, dt)
    return zw.Signal(times, np.random.default_rng(11).normal(size=len(times)), kind, **options)


def oscillator(signal=None):
    return zw.System(
        (x,), kinetic=m * dot(x) ** 2 / 2, potential=m * k * x**2 / 2, forces={x: m * u},
        parameters={m: 2, k: OMEGA**2, u: signal},
    )  # fmt: skip


def closed_form(signal, at, position=0.5, velocity=0.0):
    """ẍ + ω²x = u, exactly: in each interval u is a cubic, and u/ω² − ü/ω⁴ solves the equation."""
    found = []
    for i, start in enumerate(signal.times[:-1]):
        piece = np.polynomial.Polynomial(signal.pieces[i + 1])
        special = piece / OMEGA**2 - piece.deriv(2) / OMEGA**4
        c, s = position - special(0), (velocity - special.deriv()(0)) / OMEGA

        def exact(t, special=special, c=c, s=s):
            return special(t) + c * np.cos(OMEGA * t) + s * np.sin(OMEGA * t)

        end = signal.times[i + 1]
        last = i == len(signal.times) - 2
        inside = at[(at >= start) & ((at <= end) if last else (at < end))]
        found.append(exact(inside - start))
        h = end - start
        position = exact(h)
        velocity = special.deriv()(h) + OMEGA * (s * np.cos(OMEGA * h) - c * np.sin(OMEGA * h))
    return np.concatenate(found)


# The table itself.

h, t = se.symbols("h t")
LOOKED_UP = se.Function("signal")(h, t)
ORDERS = [LOOKED_UP, *(LOOKED_UP.diff(*[t] * order) for order in range(1, 5))]


@pytest.mark.parametrize("optimise", [0, 1, 2])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("outside", ["hold", "zero"])
def test_native_lookup(optimise, kind, outside):
    kernel = compile_program(Program({"h": (h,), "t": (t,)}, {"u": tuple(ORDERS)}), optimise=optimise)
    for times in (
        np.linspace(0, 10, 101),
        np.sort(RNG.uniform(-1, 4, 57)),
        np.array([0.0, 1.0]),
        np.array([-3.0, 0.0, 1e-9, 5.0]),
        1e6 + 0.1 * np.arange(7),
    ):
        signal = zw.Signal(times, RNG.normal(size=len(times)), kind, outside)
        at = np.concatenate(
            [
                RNG.uniform(times[0] - 1, times[-1] + 1, 300),
                times,
                np.nextafter(times, -np.inf),
                np.nextafter(times, np.inf),
            ]
        )
        found = kernel(h=[signal.address], t=at[:, None])["u"]
        for order in range(5):
            np.testing.assert_allclose(found[:, order], signal(at, order), rtol=1e-13, atol=0)


def test_signals_are_what_scipy_and_numpy_make_of_points():
    times, values = np.sort(RNG.uniform(0, 1, 20)), RNG.normal(size=20)
    at = RNG.uniform(times[0], times[-1], 200)
    np.testing.assert_allclose(zw.Signal(times, values)(at), np.interp(at, times, values), rtol=1e-12, atol=1e-12)
    spline = CubicSpline(times, values)
    for order in range(4):
        wanted = spline(at, order)
        found = zw.Signal(times, values, "cubic")(at, order)
        np.testing.assert_allclose(found, wanted, atol=1e-12 * abs(wanted).max())


def test_outside():
    points = ([0, 1, 2], [1, 3, 2])
    assert zw.Signal(*points)([-1, 3]).tolist() == [1, 2]
    assert zw.Signal(*points, outside="zero")([-1, 0, 2, 3]).tolist() == [0, 1, 2, 0]
    assert zw.Signal(*points)([-1, 3], 1).tolist() == [0, 0]
    assert zw.Signal(*points)(2, 1) == -1  # the end belongs to the last interval
    with pytest.raises(InputError, match="outside of 0 to 2"):
        zw.Signal(*points, outside="error")([0, 3])


def test_breaks():
    bent = zw.Signal([0, 1, 2, 3], [0, 1, 2, 0])
    after = np.nextafter(bent.breaks(1), np.inf)
    np.testing.assert_array_equal(after, [0, 2, np.nextafter(3, 4)])  # straight on at 1
    assert not len(bent.breaks(0))
    assert len(zw.Signal([0, 1, 2, 3], [1, 1, 2, 4], outside="zero").breaks(0)) == 2
    assert len(zw.Signal([0, 1, 2, 3], [0, 1, 2, 0], outside="error").breaks(3)) == 1
    spline = zw.Signal(np.arange(7.0), RNG.normal(size=7), "cubic", outside="error")
    assert not len(spline.breaks(2))
    assert len(spline.breaks(3)) == 3  # not at the second and the last but one: no knots there
    assert not len(breaks_of({}))


def test_equal_by_content():
    one, same = zw.Signal([0, 1], [2, 3]), zw.Signal(np.array([0.0, 1.0]), (2, 3))
    assert one == same
    assert hash(one) == hash(same)
    assert one != zw.Signal([0, 1], [2, 3], "cubic")
    assert one != zw.Signal([0, 1], [2, 4])
    assert one != "signal"
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert again.address != one.address
    assert oscillator(one) == oscillator(same)
    assert pickle.loads(pickle.dumps(oscillator(one))).parameters[u] == one
    assert repr(one) == "Signal(2 points from 0 to 1, linear, outside='hold')"


def test_points_cannot_be_changed():
    times = np.array([0.0, 1.0])
    signal = zw.Signal(times, [0, 1])
    times[1] = 5
    assert signal(1.0) == 1
    with pytest.raises(ValueError, match="read-only"):
        signal.values[0] = 3


def test_from_csv(tmp_path):
    file = tmp_path / "quake.csv"
    file.write_text("time, a, b\n0.0, 1.5, 9\n0.5, 2.5, 8\n")
    assert zw.Signal.from_csv(file, time="time", value="a", kind="cubic") == zw.Signal([0, 0.5], [1.5, 2.5], "cubic")
    with pytest.raises(InputError, match="no column 'c': there are 'time', 'a', 'b'"):
        zw.Signal.from_csv(file, time="time", value="c")
    file.write_text("t,u\n0,1\n1,\n")
    with pytest.raises(InputError, match="values are no real numbers"):
        zw.Signal.from_csv(file)


WRONG = {
    "unsorted": (([0, 2, 1], [1, 2, 3]), {}, "times must ascend, but entry 2 is 1 after 2"),
    "twice": (([0, 1, 1], [1, 2, 3]), {}, "times must ascend"),
    "NaN": (([0, 1], [1, np.nan]), {}, "entry 1 of values is nan"),
    "infinite": (([0, np.inf], [1, 2]), {}, "entry 1 of times is inf"),
    "lengths": (([0, 1, 2], [1, 2]), {}, "3 times for 2 values"),
    "one point": (([0], [1]), {}, "1 point makes no function of time"),
    "a matrix": (([[0, 1]], [[1, 2]]), {}, r"times has shape \(1, 2\)"),
    "text": ((["now", "then"], [1, 2]), {}, "times are no real numbers"),
    "kind": (([0, 1], [1, 2]), {"kind": "quintic"}, "kind='quintic' is unknown: choose 'linear', 'cubic'"),
    "outside": (([0, 1], [1, 2]), {"outside": "wrap"}, "outside='wrap' is unknown"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_signal(case):
    points, options, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        zw.Signal(*points, **options)


# Forces.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("method", "tol", "allowed"), [
    ("native", 1e-12, 1e-11), ("native", 1e-6, 1e-6), ("radau", 1e-7, 1e-6), ("lsoda", 1e-9, 2e-6),
])  # fmt: skip
def test_an_oscillator_under_a_tabulated_force(kind, method, tol, allowed):
    signal = record(kind=kind)
    motion = zw.simulate(oscillator(signal), {x: 0.5, dot(x): 0}, until=4.0, samples=83, method=method, tol=tol)
    exact = closed_form(signal, motion.time.values)
    np.testing.assert_allclose(motion.q[:, 0], exact, atol=allowed)
    np.testing.assert_allclose(motion.force[:, 0], 2 * (signal(motion.time) - OMEGA**2 * motion.q[:, 0]), atol=1e-12)
    assert abs(motion.energy_balance).max() < 0.05  # quadrature on the saved grid


@pytest.mark.parametrize("kind", KINDS)
def test_steps_end_at_breaks(kind):
    """A tenth of the work, and the error of a smooth problem: measured against running across the breaks."""
    signal = record(dt=0.05, kind=kind)
    setup = prepare(oscillator(signal), None, "native", "fundamental", 1e-9, "none", ())
    state = (0.0, np.array([0.5]), np.array([0.0]))
    choice = explicit.choose(polished(setup, state), ("x",))
    grid = np.linspace(0, 4, 33)
    task = task_of(setup, choice, state, grid, None, {})
    exact = closed_form(signal, grid)
    ending, across = native.run(task), native.run(replace(task, breaks=np.zeros(0)))
    assert abs(ending.q[:, 0] - exact).max() < 1e-9 < 1e-8 < abs(across.q[:, 0] - exact).max()
    assert ending.evaluations < across.evaluations / 2
    back = replace(task, t=4.0, q=ending.q[-1], v=ending.v[-1], times=grid[::-1].copy())
    np.testing.assert_allclose(native.run(back).q[:, 0], exact[::-1], atol=1e-8)


def test_a_force_that_jumps():
    """Switched on at 1 and off at 2: the velocity gains what the force gave."""
    signal = zw.Signal([1, 2], [3, 3], outside="zero")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: u}, parameters={u: signal})
    for method, tol, allowed in (("native", 1e-12, 1e-12), ("radau", 1e-8, 1e-7), ("lsoda", 1e-8, 1e-5)):
        motion = zw.simulate(system, {x: 0, dot(x): 0}, until=3, times=[1, 1.5, 2, 3], method=method, tol=tol)
        np.testing.assert_allclose(motion.v[:, 0], [0, 1.5, 3, 3], atol=allowed)
        np.testing.assert_allclose(motion.q[:, 0], [0, 0.375, 1.5, 4.5], atol=allowed)


def test_a_signal_is_as_good_as_the_formula_it_samples():
    """A cubic spline through points of a cubic is that cubic: in mass, potential, force and constraint."""
    formula = 1 + zw.t / 2 - zw.t**2 + zw.t**3 / 3
    times = np.linspace(0, 2, 9)
    signal = zw.Signal(times, 1 + times / 2 - times**2 + times**3 / 3, "cubic")
    system = zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 + (2 + u**2) * dot(y) ** 2 + dot(u) * dot(x)) / 2,
        potential=u * x**2 + y**2,
        forces={x: u * dot(u), y: u.diff(zw.t, 2)},
        constraints={"follow": y - x**2 - u},
        parameters={u: None, m: 2},
    )
    start = {x: 0.3, y: 1.09, dot(x): 0.2, dot(y): 0.62}
    for at in (0.1, 1.9):
        state = zw.assemble(system, start, parameters={u: formula}, t=at)
        assert state == pytest.approx(zw.assemble(system, start, parameters={u: signal}, t=at), abs=1e-12)
        a = zw.evaluate(system, state, t=at, parameters={u: formula})
        b = zw.evaluate(system, state, t=at, parameters={"u": signal})
        np.testing.assert_allclose(b.acceleration, a.acceleration, rtol=1e-11)
        np.testing.assert_allclose(b.multipliers, a.multipliers, rtol=1e-11)
    one = zw.simulate(system, start, until=2, samples=9, parameters={u: formula}, method="native")
    two = zw.simulate(system, start, until=2, samples=9, parameters={u: signal})
    for name in ("q", "v", "a", "constraint_force", "residual", "energy", "given_power"):
        np.testing.assert_allclose(two[name], one[name], atol=1e-9, err_msg=name)


def test_ground_acceleration():
    """A pendulum on shaken ground: in the frame of the ground, or with the ground's motion in the kinetic energy."""
    times = np.linspace(0, 3, 61)
    ground = zw.Signal(times, 0.2 * np.sin(7 * times) * times, "cubic")
    across = zw.System(
        (x,), kinetic=(dot(x) ** 2 + 2 * dot(x) * dot(u) * sp.cos(x) + dot(u) ** 2) / 2,
        potential=-9.81 * sp.cos(x), parameters={u: ground},
    )  # fmt: skip
    inside = zw.System(
        (x,), kinetic=dot(x) ** 2 / 2, potential=-9.81 * sp.cos(x),
        forces={x: -sp.cos(x) * u.diff(zw.t, 2)}, parameters={u: ground},
    )  # fmt: skip
    motions = [zw.simulate(s, {x: 0.1, dot(x): 0}, until=3, samples=31) for s in (across, inside)]
    np.testing.assert_allclose(motions[0].q, motions[1].q, atol=1e-10)
    record = zw.Signal(times, ground(times, 2))  # an accelerogram, straight between its points
    measured = zw.System(
        (x,), kinetic=dot(x) ** 2 / 2, potential=-9.81 * sp.cos(x), forces={x: -sp.cos(x) * w}, parameters={w: record}
    )
    motion = zw.simulate(measured, {x: 0.1, dot(x): 0}, until=3, samples=31)
    np.testing.assert_allclose(motion.q, motions[1].q, atol=1e-10)  # ü of a cubic spline is straight between points


def test_two_signals_at_once():
    one, two = record(dt=0.3), record(dt=0.07, kind="cubic")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: u * w}, parameters={u: one, w: two})
    motion = zw.simulate(system, {x: 0, dot(x): 0}, until=3.0, samples=4)
    grid = np.linspace(0, 3, 300_001)
    product = one(grid) * two(grid)
    np.testing.assert_allclose(motion.v[-1, 0], np.trapezoid(product, grid), atol=1e-7)
    np.testing.assert_allclose(motion.force[:, 0], one(motion.time) * two(motion.time), atol=1e-14)


# Constraints.


def test_a_constraint_that_follows_a_signal():
    signal = record(dt=0.25, kind="cubic")
    system = zw.System(
        (x, y), kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2, potential=k * (x - y) ** 2,
        constraints={"driver": x - u}, parameters={m: 3, k: 4, u: signal},
    )  # fmt: skip
    start = {x: float(signal(0)), y: 0, dot(x): float(signal(0, 1)), dot(y): 0}
    motion = zw.simulate(system, start, until=4, samples=41)
    np.testing.assert_allclose(motion.q[:, 0], signal(motion.time), atol=1e-11)
    np.testing.assert_allclose(motion.v[:, 0], signal(motion.time, 1), atol=1e-10)
    spring = 2 * 4 * (motion.q[:, 0] - motion.q[:, 1])
    np.testing.assert_allclose(motion.constraint_force[:, 0] - spring, 3 * signal(motion.time, 2), atol=1e-9)
    assert abs(motion.residual).max() < 1e-11
    assert zw.diagnose(system, start).ok


def test_a_velocity_that_follows_a_linear_signal():
    signal = record(dt=0.5)
    system = zw.System(
        (x,), kinetic=m * dot(x) ** 2 / 2, constraints={"speed": dot(x) - u}, parameters={m: 2, u: signal}
    )
    motion = zw.simulate(system, {x: 0, dot(x): float(signal(0))}, until=4, times=np.arange(0.25, 4, 0.5))
    np.testing.assert_allclose(motion.v[:, 0], signal(motion.time), atol=1e-12)
    np.testing.assert_allclose(motion.constraint_force[:, 0], 2 * signal(motion.time, 1), atol=1e-12)


ROUGH = {
    "a position on a polygon": (
        {"constraints": {"c": x - u}},
        "linear",
        r"constraint 'c' .* the rate of the signal u\(t\)",
    ),
    "a velocity on its slope": ({"constraints": {"c": dot(x) - dot(u)}}, "linear", "use kind='cubic'"),
    "a moving base": ({"kinetic": (dot(x) + dot(u)) ** 2 / 2}, "linear", "kinetic asks"),
    "a force of its second derivative": ({"forces": {x: u.diff(zw.t, 2)}}, "linear", "rate of the signal"),
    "a velocity on a curve too rough": ({"constraints": {"c": dot(x) - u.diff(zw.t, 3)}}, "cubic", "order 3"),
}


@pytest.mark.parametrize("case", ROUGH)
def test_signals_too_rough_to_be_followed_are_refused(case):
    changes, kind, message = ROUGH[case]
    system = zw.System((x,), **({"kinetic": dot(x) ** 2 / 2} | changes), parameters={u: record(kind=kind)})
    with pytest.raises(InputError, match=message):
        zw.simulate(system, {x: 0, dot(x): 0}, until=1.0)


def test_leaving_the_table():
    signal = record(end=1.0, kind="cubic", outside="error")
    start = {x: 0, dot(x): 0}
    assert zw.simulate(oscillator(signal), start, until=1.0, samples=2).status == "finished"
    with pytest.raises(InputError, match=r"from 0 to 1.5, but the signal u\(t\) from 0 to 1: end the motion earlier"):
        zw.simulate(oscillator(signal), start, until=1.5)
    with pytest.raises(InputError, match=r"from -1 to 0.5"):
        zw.simulate(oscillator(signal), start, until=0.5, t=-1)
    with pytest.raises(InputError, match="entry of Q of x is not finite"):
        zw.evaluate(oscillator(signal), start, t=2.0)
    held = zw.Signal([0, 1], [0, 1], "cubic")  # holds 1 from there on: its rate jumps
    follow = zw.System((x,), kinetic=dot(x) ** 2 / 2, constraints={"c": x - u}, parameters={u: held})
    assert zw.simulate(follow, {x: 0, dot(x): 1}, until=1.0, samples=2).status == "finished"
    with pytest.raises(InputError, match=r"jumps at t = 1.*smooth it, or end the motion before"):
        zw.simulate(follow, {x: 0, dot(x): 1}, until=1.5)


# The rest of the house.


def test_a_new_signal_needs_no_new_code(monkeypatch):
    start, options = {x: 0.5, dot(x): 0}, {"until": 1.0, "samples": 3}
    system = oscillator(record())
    zw.simulate(system, start, **options)

    def refuse(*given, **also):
        raise AssertionError("compiled again")

    monkeypatch.setattr(native, "compile_program", refuse)
    monkeypatch.setattr(zwang.evaluation, "compile_program", refuse)
    for signal in (record(), record(dt=0.013, kind="cubic"), zw.Signal([0, 0.4, 1], [1, 2, 5], outside="zero")):
        motion = zw.simulate(system, start, parameters={u: signal}, **options)
        np.testing.assert_allclose(
            motion.force[:, 0], 2 * (signal(motion.time) - OMEGA**2 * motion.q[:, 0]), atol=1e-12
        )
        assert zw.simulate(oscillator(signal), start, **options).equals(motion)


def test_the_dataset_names_the_signal_and_not_its_address():
    motion = zw.simulate(oscillator(record()), {x: 0, dot(x): 0}, until=1.0, samples=2)
    assert "Signal(41 points from 0 to 4" in motion.parameters
    assert "signal[" not in motion.parameters


def test_symbols_stay_symbols():
    equations = zw.derive(oscillator(record()))
    assert equations.acceleration()[0] == u - k * x
    follow = zw.System(
        (x,), kinetic=m * dot(x) ** 2 / 2, constraints={"c": x - u}, parameters={u: record(kind="cubic")}
    )
    assert zw.derive(follow).constraint_force()[0] == m * u.diff(zw.t, 2)
    assert follow.symbols == (m,)


def test_many_starts_under_one_signal():
    signal = record(kind="cubic")
    values = np.array([0.5, -0.2, 0.1])
    motion = zw.simulate_many(oscillator(signal), {x: values, dot(x): 0}, until=2.0, samples=5)
    for i, value in enumerate(values):
        exact = closed_form(signal, motion.time.values, position=value)
        np.testing.assert_allclose(motion.q[i, :, 0], exact, atol=1e-10)
    masses = zw.simulate_many(oscillator(signal), {x: 0.5, dot(x): 0}, until=2.0, samples=5, parameters={m: [1, 5]})
    np.testing.assert_allclose(masses.q[0], masses.q[1], atol=1e-10)


def test_events_of_signals():
    signal = zw.Signal([0, 1, 2], [0, 2, 0])
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: u}, parameters={u: signal})
    for method in ("native", "radau"):
        motion = zw.simulate(
            system, {x: 0, dot(x): 0}, until=2.0, samples=2, method=method, tol=1e-8, events=[zw.Event(u - 1, "one")]
        )
        np.testing.assert_allclose(motion.event_time, [0.5, 1.5], atol=1e-12)


@pytest.mark.parametrize("method", ["native", "radau", "lsoda"])
def test_a_signal_that_jumps_over_zero_is_no_event(method):
    signal = zw.Signal([1, 2], [3, 3], outside="zero")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: u}, parameters={u: signal})
    events = [zw.Event(u - 1, "jump"), zw.Event(x - 1, "there")]
    motion = zw.simulate(system, {x: 0, dot(x): 0}, until=3.0, samples=2, method=method, tol=1e-9, events=events)
    assert list(motion.event_name.values) == ["there"]
    np.testing.assert_allclose(motion.event_time, 1 + np.sqrt(2 / 3), atol=1e-6)


def test_sensitivities_under_a_signal():
    signal = record(kind="cubic")
    options = {"until": 2.0, "samples": 3}
    start = {x: 0.5, dot(x): 0}
    motion = zw.sensitivities(oscillator(signal), start, inputs=[k], **options)
    h = 1e-4
    more, less = (zw.simulate(oscillator(signal), start, parameters={k: OMEGA**2 + d}, **options) for d in (h, -h))
    np.testing.assert_allclose(motion.dq[..., 0], (more.q - less.q) / (2 * h), atol=1e-7)


def test_taylor_cannot_read_tables():
    start = {x: 0, dot(x): 0}
    with pytest.raises(
        InputError, match=r"u\(t\) is a signal, and Taylor's method cannot read tables: use method='native'"
    ):
        zw.simulate(oscillator(record()), start, until=1.0, method="taylor")
    motion = zw.simulate(oscillator(record()), start, until=1.0, samples=2, tol=1e-14)
    assert motion.method == "native"


def test_mistakes_in_models():
    with pytest.raises(ModelError, match=r"x\(t\) is a coordinate: give its value in a state"):
        zw.System((x,), kinetic=dot(x) ** 2 / 2, parameters={x: record()})
    with pytest.raises(ModelError, match="parameter m = Signal"):
        zw.System((x,), kinetic=m * dot(x) ** 2 / 2, parameters={m: record()})
    with pytest.raises(InputError, match=r"signal\[u\], which this system does not have"):
        zw.evaluate(oscillator(record()), {x: 0, dot(x): 0}, parameters={"signal[u]": 0})
    with pytest.raises(InputError, match=r"parameter u\(t\) has no value"):
        zw.evaluate(oscillator(), {x: 0, dot(x): 0})
