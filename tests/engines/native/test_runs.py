"""DOP853 in machine code: its orders, and everything a run can meet on its way."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk
from symengine import Abs, Piecewise, sin, sqrt, symbols, sympify

from tests.engines.native.prepared import prepare
from zwang.compile import Program, compile_program
from zwang.engines.native.runs import Kernels, LoopStatus, Runs, advance, advance_many, restart
from zwang.errors import InputError

t, q, v, x, y, u, w, p = symbols("t q v x y u w p")
STATE = (t, q, v)  # one coordinate
PLANE = (t, x, y, u, w)  # two of them


def kernel(inputs, *outputs):
    """Machine code of expressions; none of them is long enough to need working space."""
    compiled = compile_program(Program({"x": inputs}, {"out": tuple(map(sympify, outputs))}))
    assert compiled.work_size == 0
    return compiled


oscillator = kernel((*STATE, p), -(p**2) * q)  # p is a parameter
damped = kernel(STATE, -q - v / 10, -(v**2) / 10)  # and the power of the damper
driven = kernel(STATE, t - q)  # q = t + …
pendulum = kernel(STATE, -sin(q))
fall = kernel(STATE, -1.0)
free = kernel(STATE, 0.0)
escape = kernel(STATE, 6 * q**2)  # q = 1/(1 - t)², no number at t = 1
blowing_up = kernel(STATE, 1e-30 * sqrt(1 - t))  # q = 1 - t: the acceleration is not a number beyond t = 1
free_with_pivot = kernel(STATE, 0.0, q)  # free motion; the pivot q vanishes where q does
dipping_pivot = kernel(STATE, 0.0, (t - 1) ** 2 - 0.0025)  # the pivot is negative for |t - 1| < 0.05 only
kepler = kernel(PLANE, -x / sqrt(x**2 + y**2) ** 3, -y / sqrt(x**2 + y**2) ** 3)

# A unit mass on a unit rod in Cartesian coordinates, and its way back to the circle.
square = x**2 + y**2
pull = (u**2 + w**2 - y) / square
hanging = kernel(PLANE, -pull * x, -pull * y - 1)
position, velocity = (1 - square) / 2, -(x * u + y * w)
to_circle = kernel(
    PLANE, *(gap * c / square for gap in (position, velocity) for c in (x, y)), Abs(position), Abs(velocity)
)

bridges = kernel(STATE, q, v)  # of a pendulum or oscillator
thin = kernel(STATE, (q - 1) ** 2 - 0.0004)  # for q = t: negative for |t - 1| < 0.02 only


def swing(t, k):
    """Pendulum q̈ = -sin q from q = 0 with sin(q/2) = k sn(t, k)."""
    sn, cn, _, _ = ellipj(t, k * k)
    return 2.0 * np.arcsin(k * sn), 2.0 * k * cn


def finish(runs: Runs, until: float, attempts: int = 10**9) -> LoopStatus:
    while (status := advance(runs, until, attempts)) is LoopStatus.RUNNING:
        pass
    return status


# ── Accuracy ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_order_is_eight():
    errors = []
    for steps in (8, 32):
        h = 4.0 / steps
        runs = prepare(Kernels(pendulum.address, 1), 0, [0.0], [1.6], rtol=1e3, atol=1e3, max_step=h, first_step=h)
        assert finish(runs, 4.0) is LoopStatus.FINISHED
        assert runs.records["accepted"][0] == steps
        errors.append(np.abs(runs.state[0, 1:] - np.ravel(swing(4.0, 0.8))).max())
    assert math.log(errors[0] / errors[1], 4) > 7.75


def test_the_interpolant_is_of_order_seven():
    errors = []
    for h in (0.4, 0.1):
        times = np.linspace(0, h, 12)
        runs = prepare(Kernels(pendulum.address, 1), 0, [0.0], [1.6], times=times, rtol=1e3, atol=1e3, first_step=h)
        assert finish(runs, h) is LoopStatus.FINISHED
        assert runs.records["accepted"][0] == 1
        q, v = swing(times, 0.8)
        errors.append(max(np.abs(runs.q[0, :, 0] - q).max(), np.abs(runs.v[0, :, 0] - v).max()))
    assert math.log(errors[0] / errors[1], 4) > 7.5  # in one step: one more than the order


def test_tighter_tolerances_give_smaller_errors_down_to_round_off():
    times = np.linspace(0, 10, 101)
    exact = np.array(swing(times, 0.9))
    errors, rejected, accepted = [], 0, 0
    for tol in 10.0 ** np.arange(-3, -16, -1):
        runs = prepare(Kernels(pendulum.address, 1), 0, [0.0], [1.8], times=times, rtol=tol, atol=tol)
        assert finish(runs, 10.0) is LoopStatus.FINISHED
        errors.append(np.abs([runs.q[0, :, 0], runs.v[0, :, 0]] - exact).max())
        rejected += int(runs.records["rejected"][0])
        accepted += int(runs.records["accepted"][0])
    assert all(after < before for before, after in itertools.pairwise(errors[:-3]))
    assert errors[9] < 2e-11
    assert max(errors[-3:]) < 1e-12
    assert errors[-1] < 2e-14
    assert rejected < 0.05 * accepted


def test_it_agrees_with_scipy_on_an_eccentric_orbit():
    start = [0.1, 0.0, 0.0, math.sqrt(1.9 / 0.1)]  # eccentricity 0.9, period 2π
    times = np.linspace(0, 7.0, 41)

    def slope(t, y):
        r3 = math.hypot(y[0], y[1]) ** 3
        return [y[2], y[3], -y[0] / r3, -y[1] / r3]

    theirs = solve_ivp(slope, (0, 7.0), start, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-12).y
    runs = prepare(Kernels(kepler.address, 2), 0, start[:2], start[2:], times=times, rtol=1e-12, atol=1e-12)
    assert finish(runs, 7.0) is LoopStatus.FINISHED
    assert np.allclose(np.hstack([runs.q[0], runs.v[0]]).T, theirs, rtol=0, atol=1e-8)
    record = runs.records[0]
    assert record["rejected"] <= 0.1 * record["accepted"]


def test_time_enters_the_acceleration():
    runs = prepare(Kernels(driven.address, 1), 0, [0.0], [2.0], times=[1.0, 3.0], rtol=1e-13, atol=1e-13)
    assert finish(runs, 3.0) is LoopStatus.FINISHED
    assert np.allclose(runs.q[0, :, 0], [1.0 + math.sin(1.0), 3.0 + math.sin(3.0)], rtol=0, atol=1e-12)


def test_there_and_back_again():
    runs = prepare(Kernels(pendulum.address, 1), 0, [0.3], [1.0], rtol=1e-14, atol=1e-14)
    assert finish(runs, 5.0) is LoopStatus.FINISHED
    back = prepare(
        Kernels(pendulum.address, 1), 5.0, *runs.state[0, 1:, None], times=[5.0, 2.5, 0.0], rtol=1e-14, atol=1e-14
    )
    assert finish(back, 0.0) is LoopStatus.FINISHED
    assert back.state[0, 0] == 0.0
    assert np.allclose(back.state[0, 1:], [0.3, 1.0], rtol=0, atol=1e-13)
    assert back.records["saved"][0] == 3
    assert np.array_equal(back.q[0, -1], back.state[0, 1:2])


def test_an_orbit_of_eccentricity_nine_tenths_closes():
    start = [0.1, 0.0, 0.0, math.sqrt(1.9 / 0.1)]
    runs = prepare(Kernels(kepler.address, 2), 0, start[:2], start[2:], rtol=1e-15, atol=1e-15)
    assert finish(runs, 2 * math.pi) is LoopStatus.FINISHED
    assert np.abs(runs.state[0, 1:] - start).max() < 1e-11


def test_time_and_state_lose_nothing_in_a_thousand_swings():
    period = 4.0 * ellipk(0.25)
    runs = prepare(Kernels(pendulum.address, 1), 0, [0.0], [1.0], rtol=1e-13, atol=1e-13, max_step=0.04)
    assert finish(runs, 1000 * period) is LoopStatus.FINISHED
    _, q, v = runs.state[0]
    assert abs(q) < 2e-10  # the phase: 1e-7 if t were summed without compensation
    assert abs(0.5 * v * v - math.cos(q) + 0.5) < 2e-13


def test_vanishing_components_and_no_absolute_tolerance_do_not_stop_it():
    runs = prepare(Kernels(kepler.address, 2), 0, [1.0, 0.0], [-0.5, 0.0], rtol=1e-16, atol=0.0, step_limit=1000)
    assert finish(runs, 0.5) is LoopStatus.FINISHED


# ── Coming back and going on ─────────────────────────────────────────────────────────────────────────────────────────


def test_interrupted_runs_equal_uninterrupted_ones_bit_for_bit():
    def make():
        return prepare(
            Kernels(pendulum.address, 1, event=bridges.address, events=2),
            0, [0.0], [1.9], times=np.linspace(0, 20, 57), rtol=1e-9, atol=1e-9,
        )  # fmt: skip

    whole, sliced = make(), make()
    assert finish(whole, 20.0) is LoopStatus.FINISHED
    assert finish(sliced, 20.0, attempts=1) is LoopStatus.FINISHED
    assert whole.state.tobytes() == sliced.state.tobytes()
    assert whole.q.tobytes() == sliced.q.tobytes()
    assert whole.v.tobytes() == sliced.v.tobytes()
    assert whole.table.tobytes() == sliced.table.tobytes()
    for count in ("accepted", "rejected", "evaluations", "saved", "found", "h"):
        assert whole.records[count][0] == sliced.records[count][0]


def test_many_runs_equal_single_ones_bit_for_bit():
    rates, times = np.linspace(0.5, 3.0, 23)[:, None], np.linspace(0, 5, 11)
    kernels = Kernels(oscillator.address, 1, parameters=1)
    together = prepare(kernels, 0, [1.0], [0.0], rates, times=times)
    advance_many(together, 5.0, attempts=7, threads=3)
    assert (together.records["status"] == LoopStatus.FINISHED).all()
    assert np.allclose(together.q[:, :, 0], np.cos(rates * times), rtol=0, atol=1e-10)
    for sample, rate in enumerate(rates):
        alone = prepare(kernels, 0, [1.0], [0.0], rate, times=times)
        finish(alone, 5.0)
        assert alone.q[0].tobytes() == together.q[sample].tobytes()
        assert alone.v[0].tobytes() == together.v[sample].tobytes()
        assert alone.state[0].tobytes() == together.state[sample].tobytes()


def test_the_limit_of_steps_and_a_later_end():
    runs = prepare(Kernels(pendulum.address, 1), 0, [0.0], [1.0], step_limit=5)
    assert finish(runs, 50.0) is LoopStatus.TOO_MANY_STEPS
    runs.records["step_limit"] = 10**6
    assert finish(runs, 50.0) is LoopStatus.FINISHED
    assert finish(runs, 60.0) is LoopStatus.FINISHED
    assert runs.state[0, 0] == 60.0


def test_requested_times_at_both_ends_are_the_states_themselves():
    runs = prepare(Kernels(pendulum.address, 1), 0, [0.4], [1.0], times=[0.0, 0.0, 2.0, 7.0])
    finish(runs, 7.0)
    assert np.array_equal(runs.q[0, [0, 1, 3], 0], [0.4, 0.4, runs.state[0, 1]])
    assert runs.records["saved"][0] == 4


# ── Events ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def watched(direction=0, terminal=False, rows=1024, tol=1e-13, **more):
    return prepare(
        Kernels(pendulum.address, 1, event=bridges.address, events=2),
        0, [0.0], [1.6], rtol=tol, atol=tol, direction=direction, terminal=terminal, event_rows=rows, **more,
    )  # fmt: skip


def found(runs):
    return runs.table[0, : runs.records["found"][0]]


QUARTER = float(ellipk(0.64))


def test_events_come_in_order_and_to_the_last_digits():
    runs = watched()
    assert finish(runs, 9.5 * QUARTER) is LoopStatus.FINISHED
    rows = found(runs)
    assert np.allclose(rows[:, 0], QUARTER * np.arange(1, 10), rtol=0, atol=2e-12)
    assert np.array_equal(rows[:, 1], [1, 0, 1, 0, 1, 0, 1, 0, 1])  # at the start q = 0: no event
    assert np.abs(rows[1::2, 2]).max() < 1e-14
    assert np.abs(rows[::2, 3]).max() < 1e-14


PUSHED = kernel(STATE, Piecewise((0.0, t <= 1), (2.0, t <= 2), (-6.0, True)))  # behind each of two breaks otherwise
SIDES = kernel(STATE, Piecewise((-1.0, t <= 1), (1.0, t <= 2), (-1.0, True)))  # up at the first, down at the second


def test_a_step_ends_at_each_break_and_the_next_begins_behind_it():
    runs = prepare(Kernels(PUSHED.address, 1), 0.0, [0.0], [1.0], times=[0.5, 1.0, 1.5, 2.0, 3.0], breaks=(1.0, 2.0))
    assert finish(runs, 3.0) is LoopStatus.FINISHED
    assert runs.records["rejected"][0] == 0  # polynomials between them
    np.testing.assert_allclose(runs.q[0, :, 0], [0.5, 1.0, 1.75, 3.0, 3.0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(runs.v[0, :, 0], [1.0, 1.0, 2.0, 3.0, -3.0], rtol=0, atol=1e-14)


@pytest.mark.parametrize(("direction", "expected"), [(1, [1.0]), (-1, [2.0]), (0, [1.0, 2.0])])
def test_events_that_jump_over_zero_at_a_break_have_a_direction(direction, expected):
    kernels = Kernels(free.address, 1, event=SIDES.address, events=1)
    runs = prepare(kernels, 0.0, [0.0], [1.0], times=[3.0], breaks=(1.0, 2.0), direction=direction)
    assert finish(runs, 3.0) is LoopStatus.FINISHED
    np.testing.assert_allclose(found(runs)[:, 0], expected, rtol=4e-16)


@pytest.mark.parametrize("direction", [-1, 1])
def test_events_of_one_direction(direction):
    runs = watched(direction)
    finish(runs, 8.5 * QUARTER)
    expected = {-1: [1, 2, 5, 6], 1: [3, 4, 7, 8]}[direction]
    assert np.allclose(found(runs)[:, 0], QUARTER * np.array(expected), rtol=0, atol=2e-12)


def test_a_terminal_event_stops_the_run_and_lets_it_go_on():
    runs = watched(terminal=[True, False], times=[0.5, 2.0 * QUARTER + 0.1])
    assert finish(runs, 20.0) is LoopStatus.EVENT
    assert runs.state[0, 0] == pytest.approx(2 * QUARTER, abs=2e-12)
    assert np.array_equal(runs.state[0, 1:], found(runs)[-1, 2:])
    assert runs.records["saved"][0] == 1
    assert finish(runs, 20.0) is LoopStatus.EVENT  # the next one, not the same again
    assert runs.state[0, 0] == pytest.approx(4 * QUARTER, abs=2e-12)
    assert runs.records["saved"][0] == 2
    assert runs.q[0, 1, 0] == pytest.approx(swing(runs.times[1], 0.8)[0], abs=1e-11)


def test_the_work_goes_on_behind_a_terminal_event():
    """What changes the energy is ∫P dt, P = -v²/10 of a damper, whether or not the run was stopped on its way."""
    times = np.linspace(0, 20, 41)
    kernels = Kernels(damped.address, 1, event=bridges.address, events=2, powers=1)
    runs = prepare(kernels, 0, [1.0], [0.0], times=times, terminal=True, rtol=1e-12, atol=1e-12)
    stops = 0
    while finish(runs, 20.0) is LoopStatus.EVENT:
        stops += 1
    assert stops > 10
    energy = (runs.q[0, :, 0] ** 2 + runs.v[0, :, 0] ** 2) / 2
    np.testing.assert_allclose(runs.done[0], energy - 0.5, rtol=0, atol=1e-10)


def test_a_ball_bounces():
    times = []
    runs = prepare(
        Kernels(fall.address, 1, event=bridges.address, events=2),
        0, [1.0], [0.0], direction=-1, terminal=[True, False],
    )  # fmt: skip
    for _ in range(3):
        assert finish(runs, 100.0) is LoopStatus.EVENT
        times.append(runs.state[0, 0])
        restart(runs, runs.state[0, 1:2], -0.5 * runs.state[0, 2:3])
    first = math.sqrt(2.0)
    assert np.allclose(times, [first, 2 * first, 2.5 * first], rtol=0, atol=1e-13)


def test_a_double_crossing_within_one_step_is_found():
    runs = prepare(
        Kernels(free.address, 1, event=thin.address, events=1), 0, [0.0], [1.0], first_step=1.98, max_step=1.98
    )
    assert finish(runs, 5.0) is LoopStatus.FINISHED
    assert np.allclose(found(runs)[:, 0], [0.98, 1.02], rtol=0, atol=1e-13)


def test_a_full_table_of_events_is_emptied_and_filled_again():
    whole, pieces, rows = watched(), watched(rows=8), []
    finish(whole, 30.0)
    while finish(pieces, 30.0) is LoopStatus.EVENTS_FULL:
        rows += found(pieces).tolist()
        pieces.records["found"] = 0
    rows += found(pieces).tolist()
    assert np.array_equal(rows, found(whole))


# ── Pivots, infinities, constraints ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_a_vanishing_pivot_stops_the_run_just_before(scale):
    runs = prepare(Kernels(free_with_pivot.address, 1, pivots=1), 0, [1.0], [-1.0], pivot_scale=scale, pivot_tol=1e-3)
    assert finish(runs, 5.0) is LoopStatus.SINGULAR
    t, q, _ = runs.state[0]
    assert q / scale > 1e-3
    assert t == pytest.approx(1.0 - 1e-3 * scale, abs=5e-3)
    assert runs.records["pivot"][0] == pytest.approx(q / scale)
    assert finish(runs, 5.0) is LoopStatus.SINGULAR


def test_a_step_cannot_jump_over_a_dip_of_a_pivot():
    runs = prepare(Kernels(dipping_pivot.address, 1, pivots=1), 0, [0.0], [1.0], first_step=1.5)
    assert finish(runs, 5.0) is LoopStatus.SINGULAR
    assert 0.9 < runs.state[0, 0] < 0.95


def test_a_negative_pivot_of_negative_scale_is_healthy():
    kernels = Kernels(free_with_pivot.address, 1, pivots=1)
    assert finish(prepare(kernels, 0, [-1.0], [-1.0], pivot_scale=-1.0), 5.0) is LoopStatus.FINISHED
    assert finish(prepare(kernels, 0, [-1.0], [-1.0]), 5.0) is LoopStatus.SINGULAR


def test_an_acceleration_that_is_not_a_number_is_told():
    runs = prepare(Kernels(blowing_up.address, 1), 0, [1.0], [-1.0], first_step=0.3)
    assert finish(runs, 5.0) is LoopStatus.NOT_FINITE
    assert runs.state[0, 0] == pytest.approx(1.0, abs=1e-12)
    assert runs.state[0, 1] == pytest.approx(0.0, abs=1e-12)
    assert finish(prepare(Kernels(blowing_up.address, 1), 2.0, [1.0], [-1.0]), 5.0) is LoopStatus.NOT_FINITE


def test_an_escape_to_infinity_ends_with_steps_too_small():
    runs = prepare(Kernels(escape.address, 1), 0, [1.0], [2.0], rtol=1e-10, atol=1e-10)
    assert finish(runs, 2.0) in (LoopStatus.STEP_TOO_SMALL, LoopStatus.NOT_FINITE)
    assert runs.state[0, 0] == pytest.approx(1.0, abs=1e-3)


def test_projection_keeps_a_pendulum_on_its_circle():
    times = np.linspace(0, 50, 201)

    def drift(projection):
        runs = prepare(
            Kernels(hanging.address, 2, projection=projection), 0, [1.0, 0.0], [0.0, 0.0],
            times=times, rtol=1e-6, atol=1e-6, position_tol=1e-15, velocity_tol=1e-15,
        )  # fmt: skip
        assert finish(runs, 50.0) is LoopStatus.FINISHED
        q, v = runs.q[0], runs.v[0]
        return runs, np.abs((q * q).sum(axis=1) - 1.0).max(), np.abs((q * v).sum(axis=1)).max()

    free_runs, *wandering = drift(0)
    runs, *kept = drift(to_circle.address)
    assert max(kept) < 4e-15
    assert min(wandering) > 1e-7
    assert runs.records["projections"][0] > 0
    assert free_runs.records["projections"][0] == 0


# ── Refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"q": [1.0, 2.0]}, "q has shape"),
        ({"parameters": [1.0]}, "parameters has shape"),
        ({"times": [1.0, 0.5]}, "one way"),
        ({"rtol": [1e-9]}, "rtol has shape"),
        ({"kernels": Kernels(1, 1, event=1)}, "give both or neither"),
        ({"kernels": Kernels(1, 0), "q": [], "v": []}, "at least one coordinate"),
    ],
)
def test_what_does_not_fit_is_refused(change, word):
    given = {"kernels": Kernels(1, 1), "t": 0.0, "q": [1.0], "v": [0.0]}
    with pytest.raises(InputError, match=word):
        prepare(**(given | change))


def test_an_end_behind_the_requested_times_is_refused():
    runs = prepare(Kernels(pendulum.address, 1), 0, [1.0], [0.0], times=[1.0])
    with pytest.raises(InputError, match="turn one round"):
        advance(runs, -1.0)
