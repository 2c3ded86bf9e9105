"""Taylor's method: closed forms to the last digits, the equation's own defect as the judge, and every way to stop."""

import sys
from dataclasses import replace
from decimal import Decimal, getcontext

import mpmath
import numpy as np
import pytest
import symengine as se
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import zwang as zw
from tests.engines.tasks import OSCILLATOR, program, t, task, v, w, watch, x
from zwang.compile import Program, compile_program
from zwang.engines.task import EventTask, Status, Task
from zwang.engines.taylor import engine as taylor
from zwang.engines.taylor import machine as heyoka_machine
from zwang.errors import InputError
from zwang.evaluation import matrices
from zwang.lowering import acceleration as explicit
from zwang.lowering.lowered import lower
from zwang.lowering.projection import projection_program
from zwang.lowering.rows import choose
from zwang.model.values import parameter_values, state_arrays

hy = pytest.importorskip("heyoka")

# Closed forms


def test_oscillator_to_the_last_digits():
    times = np.linspace(0.0, 100.0, 101)
    path = taylor.run(task(OSCILLATOR, 0.0, 1.0, times))
    assert path.status is Status.FINISHED
    np.testing.assert_allclose(path.q[:, 0], np.sin(times), rtol=0, atol=1e-14)
    np.testing.assert_allclose(path.v[:, 0], np.cos(times), rtol=0, atol=1e-14)
    assert path.end[0] == 100.0
    assert path.end[1] == path.q[-1]
    assert path.steps < 110
    assert path.evaluations > 20 * path.steps


def test_other_parameters_starts_and_times_need_no_compilation(monkeypatch):
    taylor.run(task(OSCILLATOR, 0.0, 1.0, [1.0]))
    monkeypatch.setattr(heyoka_machine, "build", lambda *_: pytest.fail("compiled again"))
    same = program(-(w**2) * x)  # equal, not identical
    path = taylor.run(task(same, 1.0, 0.0, [0.0, 3.0, 7.0], p=2.5))
    np.testing.assert_allclose(path.q[:, 0], np.cos(2.5 * np.array([0.0, 3.0, 7.0])), rtol=0, atol=4e-15)


def test_a_run_inside_a_run_of_the_same_program_gets_a_machine_of_its_own():
    inner = []
    outer = task(OSCILLATOR, 0.0, 1.0, [5.0])

    def progress(now):
        inner.append(taylor.run(outer).q[0, 0])

    assert taylor.run(replace(outer, progress=progress)).q[0, 0] == inner[0] == taylor.run(outer).q[0, 0]


def test_backwards():
    times = np.array([0.0, -1.0, -20.0])
    path = taylor.run(task(OSCILLATOR, 0.0, 1.0, times))
    np.testing.assert_allclose(path.q[:, 0], np.sin(times), rtol=0, atol=2e-15)
    assert path.end[0] == -20.0


def test_time_in_the_equation():
    times = np.linspace(0.0, 12.0, 25)
    path = taylor.run(task(se.cos(3 * t) + x * 0, 0.0, 0.0, times))
    np.testing.assert_allclose(path.q[:, 0], (1 - np.cos(3 * times)) / 9, rtol=0, atol=1e-14)


@pytest.fixture(scope="module")
def pendulum():
    """A unit mass on a unit rod in Cartesian coordinates, released at rest at (1, 0): a task and its projection."""
    X, Y = zw.coordinates("x y")
    m, g = zw.parameters("m g")
    system = zw.System(
        (X, Y),
        kinetic=m * (zw.dot(X) ** 2 + zw.dot(Y) ** 2) / 2,
        potential=m * g * Y,
        constraints={"rod": X**2 + Y**2 - 1},
        parameters={m: 1.0, g: 9.81},
    )
    state = {X: 1.0, Y: 0.0, zw.dot(X): 0.0, zw.dot(Y): 0.0}
    p, inputs = parameter_values(system, None)
    q, rates = state_arrays(system, state)
    model = lower(system, inputs)
    basis = choose(matrices(system, state, 0.0, None)[0], system.coordinate_names)
    acceleration = explicit.acceleration_program(model, basis)
    pivots = compile_program(acceleration)(t=[0.0], q=q, v=rates, p=p)["pivots"]
    start = Task(acceleration, 0.0, q, rates, p, np.linspace(0.0, 10.0, 51), 1e-16, np.abs(pivots))
    return start, projection_program(model, basis)


def swing(times, g=9.81):
    """sin(θ/2) = sin(α/2) sn(K − ω(τ), k) for the amplitude α = 90°, so that x = sin θ, y = −cos θ."""
    k = mpmath.sqrt(mpmath.mpf(1) / 2)
    K = mpmath.ellipk(k**2)
    half = [k * mpmath.ellipfun("sn", K - mpmath.sqrt(mpmath.mpf(g)) * mpmath.mpf(s), k=k) for s in times]
    return np.array([[float(2 * s * mpmath.sqrt(1 - s**2)), float(2 * s**2 - 1)] for s in half])


def test_pendulum_in_cartesian_coordinates(pendulum):
    start, _ = pendulum
    path = taylor.run(start)
    np.testing.assert_allclose(path.q, swing(start.times), rtol=0, atol=1e-13)
    assert np.abs((path.q**2).sum(axis=1) - 1).max() < 1e-13


def test_agreement_with_dop853(pendulum):
    start, _ = pendulum
    kernel = compile_program(start.acceleration)

    def slope(s, y):
        return np.concatenate([y[2:], kernel(t=[s], q=y[:2], v=y[2:], p=start.p)["acceleration"]])

    other = solve_ivp(slope, (0, 3), [*start.q, *start.v], "DOP853", rtol=1e-12, atol=1e-12)
    path = taylor.run(replace(start, times=np.array([3.0])))
    np.testing.assert_allclose(np.concatenate(path.end[1:]), other.y[:, -1], rtol=0, atol=1e-9)


def test_tighter_tolerances_give_smaller_errors(pendulum):
    start, _ = pendulum
    truth = swing(start.times)
    errors = [np.abs(taylor.run(replace(start, tol=tol)).q - truth).max() for tol in (1e-6, 1e-10, 1e-16)]
    assert errors[0] < 1e-3
    assert errors[1] < 1e-4 * errors[0]
    assert errors[2] < 1e-2 * errors[1]


def test_projection_keeps_a_loose_run_on_its_constraints(pendulum):
    start, projection = pendulum
    loose = replace(start, tol=1e-6)
    drifting = taylor.run(loose)
    path = taylor.run(replace(loose, projection=projection))
    assert np.abs((drifting.q**2).sum(axis=1) - 1).max() > 1e-9
    assert np.abs((path.q**2).sum(axis=1) - 1).max() < 1e-12
    assert np.abs((path.q * path.v).sum(axis=1)).max() < 1e-12


# The hazard: coefficients that vanish


def naive(acceleration, q, rate, end, tol):
    """heyoka by itself."""
    a, b = hy.make_vars("a", "b")
    integrator = hy.taylor_adaptive([(a, b), (b, acceleration(a))], [q, rate], tol=tol)
    integrator.propagate_until(end)
    return integrator.state[0]


def precise(acceleration, q, rate, end):
    """An integrator that knows nothing of Taylor."""
    solution = solve_ivp(lambda s, y: [y[1], acceleration(y[0])], (0, end), [q, rate], "DOP853", rtol=1e-13, atol=1e-14)
    return solution.y[0, -1]


@pytest.mark.parametrize(
    ("acceleration", "rate", "tol"),
    [
        (lambda q: 1 - q * q * q * q, 0.0, 2.3e-16),  # q = t²/2 − t¹⁰/1440 + …: orders 19 and 20 vanish
        (lambda q: -q * q * q, 1.0, 1e-15),  # q = t − t⁵/20 + …: orders 18 and 19 vanish
    ],
)
def test_a_start_where_coefficients_vanish(acceleration, rate, tol):
    truth = precise(acceleration, 0.0, rate, 6.0)
    assert not abs(naive(acceleration, 0.0, rate, 6.0, tol) - truth) < 0.1  # one enormous step
    path = taylor.run(task(acceleration(x), 0.0, rate, [3.0, 6.0], tol=tol))
    assert path.status is Status.FINISHED
    assert abs(path.end[1][0] - truth) < 1e-11


def test_the_defect_alone_catches_it(monkeypatch):
    """Also without any bound on the first steps, as may happen in the middle of a motion."""
    monkeypatch.setattr(taylor, "GROWTH", np.inf)
    start = task(1 - x**4, 0.0, 0.0, [6.0], tol=2.3e-16)
    begin = taylor.Walk.begin

    def unbounded(walk):
        status, walk.longest = begin(walk), np.inf
        return status

    monkeypatch.setattr(taylor.Walk, "begin", unbounded)
    assert abs(taylor.run(start).end[1][0] - precise(lambda q: 1 - q**4, 0.0, 0.0, 6.0)) < 1e-11
    monkeypatch.setattr(taylor.Walk, "failure", lambda *_: None)
    assert not abs(taylor.run(start).end[1][0]) < 10.0


def test_polynomials_are_followed_in_few_steps():
    path = taylor.run(task(-w + 0 * x, 1.0, 2.0, [0.5, 1000.0], p=9.81))
    np.testing.assert_allclose(
        path.q[:, 0], 1 + 2 * np.array([0.5, 1e3]) - 9.81 / 2 * np.array([0.25, 1e6]), rtol=1e-15
    )
    assert path.steps < 10


def test_kinks_are_approached_and_passed():
    """q̈ = −sign q from rest at 1: parabolas of quarter period √2."""
    path = taylor.run(task(se.Piecewise((-1, x > 0), (1, True)), 1.0, 0.0, [1.0, 2.0**0.5, 2 * 2.0**0.5, 4.0]))
    np.testing.assert_allclose(path.q[:, 0], [0.5, 0.0, -1.0, -1 + (4 - 8**0.5) ** 2 / 2], rtol=0, atol=1e-13)


def test_a_large_kink_is_passed_too_and_one_that_holds_the_motion_is_no_endless_loop():
    """q̈ = −10⁶ sign q; and dry friction that has brought the body to rest, where the equation has no solution."""
    path = taylor.run(task(-(10**6) * se.sign(x), 1.0, 0.0, [4e-3]))
    truth = -1 + (4 - 8**0.5) ** 2 / 2
    assert abs(path.q[0, 0] - truth) < 1e-11
    stuck = taylor.run(task(-se.sign(v) + 0 * x, 0.0, 1.0, [2.0]))
    assert stuck.status is Status.STEP_TOO_SMALL
    assert abs(stuck.end[0] - 1) < 1e-12


# Events


def test_events_in_order_with_their_directions():
    start = task(OSCILLATOR, 0.0, 1.0, [10.0])
    both = taylor.run(replace(start, events=watch([x, v])))
    np.testing.assert_allclose([h.t for h in both.hits], np.pi / 2 * np.arange(1, 7), rtol=0, atol=1e-14)
    assert [h.which for h in both.hits] == [1, 0] * 3  # x is zero at the start, and that is not an event
    for h in both.hits:
        np.testing.assert_allclose([h.q[0], h.v[0]], [np.sin(h.t), np.cos(h.t)], rtol=0, atol=2e-15)
    assert both.status is Status.FINISHED
    rising = taylor.run(replace(start, events=watch([x, v], direction=(1, -1))))
    np.testing.assert_allclose([h.t / np.pi for h in rising.hits], [0.5, 2.0, 2.5], rtol=0, atol=1e-14)


def test_directions_are_those_of_the_run_when_it_goes_backwards():
    start = task(OSCILLATOR, 0.0, 1.0, [-10.0])
    path = taylor.run(replace(start, events=watch([x, v], direction=(1, -1))))
    np.testing.assert_allclose([h.t / np.pi for h in path.hits], [-0.5, -1.0, -2.5, -3.0], rtol=0, atol=1e-14)


def test_an_event_that_stops():
    start = task(OSCILLATOR, 0.0, 1.0, np.linspace(0.0, 10.0, 11))
    path = taylor.run(replace(start, events=watch([x, v], direction=(1, 0), stop=(True, False))))
    assert path.status is Status.EVENT
    assert abs(path.end[0] - 2 * np.pi) < 2e-15
    assert abs(path.end[1][0]) < 4e-15
    assert len(path.q) == 7  # 0, 1, …, 6
    assert [h.which for h in path.hits] == [1, 1, 0]
    assert path.hits[-1].t == path.end[0]


def test_an_event_at_the_end_and_two_at_once():
    path = taylor.run(task(0 * x, 0.0, 1.0, [2.0], events=watch([x - 2, 3 * x - 6, x - 1])))
    np.testing.assert_allclose(sorted(h.t for h in path.hits), [1, 2, 2], rtol=0, atol=1e-15)
    assert sorted(h.which for h in path.hits) == [0, 1, 2]


# Ways to stop


def test_interruption_keeps_what_was_computed():
    calls = []

    def progress(now):
        calls.append(now)
        raise KeyboardInterrupt

    path = taylor.run(task(OSCILLATOR, 0.0, 1.0, np.linspace(0.0, 50.0, 501), progress=progress))
    assert path.status is Status.INTERRUPTED
    assert 0 < path.end[0] == calls[0] < 50
    assert len(path.q) == int(10 * path.end[0]) + 1
    assert abs(path.end[1][0] - np.sin(path.end[0])) < 1e-15


def test_progress_hears_of_the_end():
    heard = []
    taylor.run(task(OSCILLATOR, 0.0, 1.0, [50.0], progress=heard.append))
    assert heard[-1] == 50.0
    assert heard == sorted(heard)


PIVOT = program(-x + 0 * w, pivots=((x - w) ** 2,))


def test_a_vanishing_pivot_stops_the_run_however_short_its_visit():
    """The pivot (cos t − 1/2)² is below 1e-6 for two thousandths of a second around t = π/3."""
    path = taylor.run(task(PIVOT, 1.0, 0.0, np.linspace(0, 3, 31), p=0.5))
    assert path.status is Status.SINGULAR
    assert abs(path.end[0] - np.arccos(0.501)) < 1e-12
    assert len(path.q) == 11
    quiet = taylor.run(task(PIVOT, 1.0, 0.0, [3.0], p=0.5, pivot_tol=0.0))
    assert quiet.status is Status.FINISHED


def test_the_scale_of_a_pivot_counts():
    path = taylor.run(task(PIVOT, 1.0, 0.0, [3.0], p=0.5, pivot_scale=np.array([0.25])))
    assert abs(path.end[0] - np.arccos(0.5005)) < 1e-12
    backwards = taylor.run(task(PIVOT, 1.0, 0.0, [-3.0], p=0.5))
    assert abs(backwards.end[0] + np.arccos(0.501)) < 1e-12


def test_a_start_at_a_singular_position_goes_nowhere():
    path = taylor.run(task(PIVOT, 1.0, 0.0, [0.0, 3.0], p=1.0))
    assert path.status is Status.SINGULAR
    assert path.steps == 0
    assert len(path.q) == 1


def test_escape_to_infinity_and_a_root_of_a_negative_number():
    """q̈ = 6 q² has q = 1/(1 − t)²; q̈ = −1 + 0 √q leaves its domain at t = √2."""
    path = taylor.run(task(6 * x**2, 1.0, 2.0, [2.0]))
    assert path.status in (Status.STEP_TOO_SMALL, Status.NOT_FINITE)
    assert abs(path.end[0] - 1) < 1e-12
    path = taylor.run(task(se.sqrt(x) * 1e-9 - 1, 1.0, 0.0, [2.0]))
    assert path.status in (Status.STEP_TOO_SMALL, Status.NOT_FINITE)
    assert abs(path.end[0] - 2**0.5) < 1e-6


def test_a_start_that_is_not_finite():
    assert taylor.run(task(1 / x, 0.0, 1.0, [2.0])).status is Status.NOT_FINITE


# Quadruple precision

quad = pytest.mark.skipif(not hasattr(hy, "real128"), reason="this heyoka has no quadruple precision")


@quad
def test_quadruple_precision():
    path, q, _ = taylor.run_quad(task(OSCILLATOR, 0.0, 1.0, [0.0, 1.0, 10.0], p=1.0))
    assert path.q[2, 0] == float(q[2, 0])
    with mpmath.workdps(40):
        assert all(abs(mpmath.mpf(a) - mpmath.sin(b)) < 1e-31 for (a,), b in zip(q, (0, 1, 10), strict=True))
    stopped = taylor.run(task(OSCILLATOR, 0.0, 1.0, [5.0], events=watch([v], stop=True)), precision="quad")
    assert stopped.end[0] == np.pi / 2


@quad
def test_numbers_keep_their_digits_in_quadruple_precision():
    tenth, pi = se.Rational(1, 10), se.pi
    _, q, v = taylor.run_quad(task(tenth - pi + 0 * x, 0.0, 0.0, [10.0]))
    getcontext().prec = 40
    exact = Decimal("0.1") - Decimal("3.1415926535897932384626433832795028842")
    assert abs(Decimal(str(q[0, 0])) - 50 * exact) < Decimal("1e-30")
    assert abs(Decimal(str(v[0, 0])) - 10 * exact) < Decimal("1e-31")


# Refusals


def test_without_heyoka_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "heyoka", None)
    with pytest.raises(InputError, match=r"pip install zwang\[taylor\]"):
        taylor.run(task(OSCILLATOR, 0.0, 1.0, [1.0]))


def test_unknown_precision():
    with pytest.raises(InputError, match="choose 'double' or 'quad'"):
        taylor.run(task(OSCILLATOR, 0.0, 1.0, [1.0]), precision="half")


def test_the_memory_of_machines_is_small():
    assert len(heyoka_machine._IDLE) <= heyoka_machine.KEPT


def test_a_quarter_period_through_an_event(pendulum):
    start, _ = pendulum
    events = EventTask(Program(start.acceleration.inputs, {"event": start.acceleration.inputs["q"][:1]}), (0,), (True,))
    path = taylor.run(replace(start, events=events))
    assert abs(path.end[0] - ellipk(0.5) / 9.81**0.5) < 1e-14


@quad
def test_a_simulation_in_quadruple_precision():
    x = zw.coordinates("x")
    oscillator = zw.System((x,), kinetic=zw.dot(x) ** 2 / 2, potential=x**2 / 2)
    motion = zw.simulate(oscillator, {x: 1, zw.dot(x): 0}, until=50.0, samples=11, precision="quad", tol=1e-18)
    assert motion.attrs["method"] == "taylor, quad"
    assert abs(motion.q[:, 0] - np.cos(motion.time)).max() < 2e-16
    with pytest.raises(InputError, match="'quad' with 'taylor'"):
        zw.simulate(oscillator, {x: 1, zw.dot(x): 0}, until=1.0, precision="quad", method="native")


def test_a_power_without_a_series_at_its_zero_says_which_method_has_no_need_of_one():
    place = zw.coordinates("x")
    spring = zw.System((place,), kinetic=zw.dot(place) ** 2 / 2, forces={place: -(sp.Abs(place) ** sp.Rational(3, 2))})
    with pytest.raises(zw.errors.SimulationError, match=r"where its base is zero\. Use method='native'"):
        zw.simulate(spring, {place: 0, zw.dot(place): 1}, until=1, method="taylor")
    assert zw.simulate(spring, {place: 0, zw.dot(place): 1}, until=1, samples=2).attrs["status"] == "finished"
