"""Runs side by side in lanes compute, to the last bit, what each of them computes by itself.

Sine and cosine may differ in the last bit, so where they occur runs agree within rounding.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_array_equal
from symengine import sin, sqrt, symbols, sympify

import zwang as zw
from tests.engines.native.prepared import prepare
from tests.references import andrews, problems
from zwang import dot
from zwang.compile import Program, compile_lanes, compile_program
from zwang.compile.lanes import LANES
from zwang.engines.native import runs as stepper
from zwang.engines.native import tableau as dop853
from zwang.engines.native.lanes import loop as lanes_loop
from zwang.engines.native.pivots import COMPARED, DEEP, EVEN
from zwang.engines.native.pivots import DIP as SHARE
from zwang.engines.native.runs import Kernels, LoopStatus, advance_many

t, q, v, x, y, u, w, p = symbols("t q v x y u w p")
STATE, PLANE = (t, q, v), (t, x, y, u, w)
COUNTED = (
    "status",
    "accepted",
    "rejected",
    "evaluations",
    "saved",
    "h",
    "t_low",
    "error",
    "held",
    "trouble",
    "caution",
)
KEPT = []  # machine code lives as long as its kernel


def kernels(inputs, *outputs, coordinates=1, parameters=0):
    program = Program({"x": inputs}, {"out": tuple(map(sympify, outputs))})
    one, wide = compile_program(program), compile_lanes(program)
    KEPT.extend((one, wide))
    pivots = len(outputs) - coordinates
    return Kernels(
        one.address, coordinates, parameters, pivots, one.work_size, in_lanes=wide.address, work_in_lanes=wide.work_size
    )


r = sqrt(x**2 + y**2)
KEPLER = kernels(PLANE, -x / r**3, -y / r**3, coordinates=2)
PENDULUM = kernels(STATE, -sin(q))
SOFT = kernels(STATE, -q / (1 + q**2))
OSCILLATOR = kernels((*STATE, p), -(p**2) * q, parameters=1)
ESCAPE = kernels(STATE, 6 * q**2)  # no number after a finite time
ROOT = kernels(STATE, sqrt(1 - q))  # not a number beyond q = 1
PIVOT = kernels(STATE, 0, q)  # free motion; the pivot vanishes where q does
DIP = kernels(STATE, 0, (t - 1) ** 2 - 0.0025)  # the pivot is negative for |t - 1| < 0.05 only
SWAYING = kernels(STATE, -q, 2 + q, 0.1 + (3 * t - 4) ** 2)  # pivots that vary much and do not vanish
NO_PIVOT = kernels(STATE, -q, sqrt(-1 - q**2))  # a pivot that is not a number


def both(k, t0, q0, v0, until, parameters=(), threads=2, attempts=stepper.SLICE, **settings):
    """The same runs in lanes and each by itself."""
    ways = []
    for used in (k, replace(k, in_lanes=0)):
        runs = prepare(used, t0, q0, v0, parameters, **settings)
        advance_many(runs, until, attempts, threads)
        ways.append(runs)
    return ways


def assert_same(many, one):
    for name in COUNTED:
        assert_array_equal(many.records[name], one.records[name], name)
    for name in ("state", "q", "v"):
        assert_array_equal(getattr(many, name), getattr(one, name), name)
    np.testing.assert_allclose(many.records["pivot"], one.records["pivot"], rtol=1e-15)


def orbits(count):
    """Circles and ellipses, the last of them thin."""
    shape = np.linspace(0, 0.99, count)
    zero = np.zeros(count)
    return np.stack([1 + shape, zero], axis=1), np.stack([zero, np.sqrt((1 - shape) / (1 + shape))], axis=1)


@pytest.mark.parametrize("count", [1, 3, LANES, LANES + 1, 5 * LANES + 3])
def test_any_number_of_runs(count):
    many, one = both(KEPLER, 0.0, *orbits(count), 20.0, times=[20.0])
    assert_same(many, one)
    assert (many.records["status"] == LoopStatus.FINISHED).all()


@pytest.mark.parametrize("tol", [1e-3, 1e-8, 1e-15])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_tolerance_and_number_of_threads(tol, threads):
    many, one = both(KEPLER, 0.0, *orbits(40), 10.0, rtol=tol, atol=tol / 10, times=[10.0], threads=threads)
    assert_same(many, one)


@pytest.mark.parametrize(
    "times",
    [(), (0.0,), (10.0,), np.linspace(0, 10, 501), (0.0, 0.0, 1.0, 1.0, 1.0, 10.0, 10.0), (3.0, 25.0)],
    ids=["none", "start", "end", "many", "repeated", "beyond"],
)
def test_requested_times(times):
    assert_same(*both(KEPLER, 0.0, *orbits(20), 10.0, times=times))


def test_backwards():
    assert_same(*both(KEPLER, 10.0, *orbits(20), -3.0, times=np.linspace(10, -3, 40)))


def test_settings_of_the_steps():
    for settings in ({"max_step": 0.05}, {"first_step": 0.3}, {"rtol": [1e-3, 1e-9, 1e-6, 1e-5]}):
        assert_same(*both(KEPLER, 0.0, *orbits(20), 5.0, times=[5.0], **settings))


def test_parameters_of_each_run_and_runs_of_very_different_length():
    rates = np.geomspace(0.1, 300, 37)[:, None]
    many, one = both(OSCILLATOR, 0.0, np.ones((37, 1)), np.zeros((37, 1)), 10.0, rates, times=[1.0, 10.0])
    assert_same(many, one)
    assert many.records["accepted"].max() > 100 * many.records["accepted"].min()
    assert np.abs(many.q[:, 1, 0] - np.cos(10 * rates[:, 0])).max() < 1e-8


def test_runs_that_end_early_do_not_disturb_the_others():
    fast = np.linspace(0, 3, 41)[:, None]
    many, one = both(ESCAPE, 0.0, np.where(fast > 1.5, fast, -1.0), fast, 1.0, times=np.linspace(0, 1, 11))
    assert_same(many, one)
    found = set(many.records["status"].tolist())
    assert LoopStatus.FINISHED in found
    assert found & {LoopStatus.NOT_FINITE, LoopStatus.STEP_TOO_SMALL}


def test_accelerations_that_become_no_numbers():
    many, one = both(ROOT, 0.0, np.zeros((33, 1)), np.linspace(-1, 2, 33)[:, None], 1.0, times=[0.5, 1.0])
    assert_same(many, one)
    assert {LoopStatus.FINISHED, LoopStatus.NOT_FINITE} == set(many.records["status"].tolist())


def test_starts_that_are_no_numbers():
    start = np.linspace(0.1, 2, 21)[:, None]
    start[[3, 8]] = np.nan
    many, one = both(SOFT, 0.0, start, 0 * start, 1.0, times=[1.0])
    assert many.records["status"][[3, 8]].tolist() == [LoopStatus.NOT_FINITE] * 2
    assert_same(many, one)


def test_too_many_steps():
    many, one = both(KEPLER, 0.0, *orbits(20), 20.0, step_limit=60, rtol=1e-6, atol=1e-6)
    assert_same(many, one)
    assert {LoopStatus.FINISHED, LoopStatus.TOO_MANY_STEPS} == set(many.records["status"].tolist())


def test_vanishing_pivots_are_met_by_each_run_at_its_time():
    speed = np.linspace(-1, 1, 35)[:, None]
    many, one = both(PIVOT, 0.0, np.full((35, 1), 0.7), speed, 1.0, times=np.linspace(0, 1, 9), pivot_tol=1e-3)
    assert_same(many, one)
    assert {LoopStatus.FINISHED, LoopStatus.SINGULAR} == set(many.records["status"].tolist())


@pytest.mark.parametrize("k", [DIP, SWAYING, NO_PIVOT])
def test_pivots_that_dip_sway_or_are_no_numbers(k):
    speed = np.linspace(-1, 1, 35)[:, None]
    scale = {DIP: 1.0, SWAYING: [3.0, -1.0], NO_PIVOT: 1.0}[k]
    for pivot_tol in (1e-3, -10.0, 0.0):
        settings = {"times": [3.0], "pivot_tol": pivot_tol, "pivot_scale": np.abs(scale), "rtol": 1e-6}
        assert_same(*both(k, 0.0, np.full((35, 1), 0.5), speed, 3.0, **settings))


def test_calm_pivots_neither_dip_nor_hide():
    # What a parabola through three of the looks may fall to, for pivots between EVEN and 1 at the stages.
    nodes = np.array(dop853.C)[COMPARED]
    for a, b, c in zip(nodes, nodes[1:], nodes[2:], strict=False):
        s = np.linspace(a, c, 10_001)
        weights = np.stack([
            (s - b) * (s - c) / ((a - b) * (a - c)),
            (s - a) * (s - c) / ((b - a) * (b - c)),
            (s - a) * (s - b) / ((c - a) * (c - b)),
        ])  # fmt: skip
        least = np.where(weights > 0, EVEN * weights, weights).sum(axis=0).min()
        assert least > DEEP * EVEN
    assert max(SHARE, 0.15) < EVEN


@pytest.mark.parametrize("attempts", [1, 7, 200])
def test_slices_change_nothing(attempts):
    many, one = both(KEPLER, 0.0, *orbits(21), 5.0, times=np.linspace(0, 5, 4), attempts=attempts)
    assert_same(many, one)


def test_an_interrupt_leaves_runs_ready_to_go_on(monkeypatch):
    settings = {"times": np.linspace(0, 20, 7)}
    _, one = both(KEPLER, 0.0, *orbits(40), 20.0, **settings)
    runs = prepare(KEPLER, 0.0, *orbits(40), **settings)
    calls, real = [], lanes_loop.compiled()

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(lanes_loop, "compiled", lambda: interrupted)
    with pytest.raises(KeyboardInterrupt):
        advance_many(runs, 20.0, attempts=10 * LANES, threads=2)
    monkeypatch.undo()
    assert (runs.records["status"] == LoopStatus.RUNNING).any()
    assert (runs.state[:, 0] < 20).any()
    advance_many(runs, 20.0)
    assert_same(runs, one)


def test_each_lane_is_projected_as_far_as_it_needs():
    # Circles whose radius is p, followed by an acceleration that does not hold them there: r'' = −v² r / p². The way
    # back to the circle is Newton's, the velocity's to its tangent.
    px, py, pu, pv = PLANE[1:5]
    speed, square = pu**2 + pv**2, px**2 + py**2
    off, across = (square - p**2) / 2, px * pu + py * pv
    back = (-px * off / square, -py * off / square, -px * across / square, -py * across / square)
    program = Program({"x": (*PLANE, p)}, {"out": tuple(map(sympify, (*back, (off**2) ** 0.5, (across**2) ** 0.5)))})
    one, wide = compile_program(program), compile_lanes(program)
    KEPT.extend((one, wide))
    k = kernels((*PLANE, p), -speed * px / p**2, -speed * py / p**2, coordinates=2, parameters=1)
    room = max(k.work, one.work_size), max(k.work_in_lanes, wide.work_size)
    k = replace(k, projection=one.address, projection_in_lanes=wide.address, work=room[0], work_in_lanes=room[1])
    radius = np.linspace(0.5, 3, 21)
    q0, v0 = np.stack([radius, 0 * radius], axis=1), np.stack([0 * radius, 1 + radius], axis=1)
    settings = {
        "times": np.linspace(0, 20, 9),
        "rtol": 1e-6,
        "atol": 1e-6,
        "position_tol": 1e-14,
        "velocity_tol": 1e-14,
    }
    many, one_by_one = both(k, 0.0, q0, v0, 20.0, radius[:, None], **settings)
    assert_same(many, one_by_one)
    for name in ("projections", "misses", "left"):
        assert_array_equal(many.records[name], one_by_one.records[name], name)
    assert (many.records["projections"] > 0).all()
    assert np.abs(np.hypot(*np.moveaxis(many.q, -1, 0)) - radius[:, None]).max() < 1e-13


def test_each_lane_stops_at_its_own_breaks():
    # x'' = p up to a break and −p after it: a step across it would lose its order.
    sides = kernels((*STATE, p), -q * p, coordinates=1, parameters=1)
    count = 21
    breaks = [np.array([0.3 + 0.1 * i, 2.5])[: i % 3] for i in range(count)]
    rates = np.linspace(1, 4, count)[:, None]
    many, one = both(sides, 0.0, np.ones((count, 1)), np.zeros((count, 1)), 5.0, rates, times=[1.0, 5.0], breaks=breaks)
    assert_same(many, one)
    assert many.records["passed"].tolist() == [i % 3 for i in range(count)]


def test_going_on_to_a_later_time():
    runs = [prepare(used, 0.0, *orbits(20)) for used in (KEPLER, replace(KEPLER, in_lanes=0))]
    for until in (3.0, 3.0, 8.0):
        for way in runs:
            advance_many(way, until)
    assert_same(*runs)


def test_programs_with_working_space():
    s = symbols("s:2500")
    steps = [(s[0], q**2), *((s[k], s[k - 1] / (1 + q**2) + v / (k + 1)) for k in range(1, 2500))]
    program = Program({"x": STATE}, {"out": (s[-1] - q,)}, steps=tuple(steps))
    one, wide = compile_program(program), compile_lanes(program)
    assert wide.work_size == LANES * one.work_size > 0
    k = Kernels(one.address, 1, work=one.work_size, in_lanes=wide.address, work_in_lanes=wide.work_size)
    assert_same(*both(k, 0.0, np.linspace(0.1, 1, 20)[:, None], np.zeros((20, 1)), 2.0, times=[2.0], rtol=1e-8))


def test_sines_agree_within_rounding():
    angle = np.linspace(0.1, 3.1, 40)[:, None]
    many, one = both(PENDULUM, 0.0, angle, 0 * angle, 20.0, times=np.linspace(0, 20, 11))
    assert np.abs(many.records["accepted"] - one.records["accepted"]).max() <= 1
    assert np.abs(many.q - one.q).max() < 1e-11


# ── Systems ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def assert_samples_are_single_runs(system, starts, until, which, parameters=None, within=0.0, **settings):
    many = zw.simulate_many(system, starts, until, parameters=parameters, **settings)
    assert (many.status == "finished").all()
    for i in which:
        start = {key: float(np.broadcast_to(value, many.sizes["sample"])[i]) for key, value in starts.items()}
        values = {key: float(value[i]) for key, value in (parameters or {}).items()}
        one = zw.simulate(system, start, until, parameters=values, method="native", **settings)
        for name in ("q", "v"):
            truth = one[name].values
            assert np.abs(many[name].values[i] - truth).max() <= within * np.abs(truth).max(), name


@pytest.mark.parametrize("drift", ["none", "baumgarte"])
def test_triple_pendulums(drift):
    corners = [(sp.S.Zero, sp.S.Zero), *(zw.coordinates(f"x{i} y{i}") for i in range(1, 4))]
    flat = [c for corner in corners[1:] for c in corner]
    rods = [(a - c) ** 2 + (b - d) ** 2 - 1 for (a, b), (c, d) in pairwise(corners)]
    kinetic = sum(dot(c) ** 2 for c in flat) / 2
    system = zw.System(flat, kinetic=kinetic, potential=sum(flat[1::2]), constraints=rods)
    angle = np.linspace(0, 2, 50) * np.array([[1], [2], [0.5]])
    places = np.stack([np.sin(angle).cumsum(axis=0), -np.cos(angle).cumsum(axis=0)], axis=1).reshape(6, -1)
    starts = dict(zip(flat, places, strict=True)) | dict.fromkeys(map(dot, flat), 0.0)
    assert_samples_are_single_runs(system, starts, 5.0, (0, 7, 49), samples=11, tol=1e-10, drift=drift)


def test_andrews_mechanism_with_a_motor_for_each_sample():
    system, starts = andrews.andrews()
    torque = next(p for p in system.parameters if str(p) == "mom")
    parameters = {torque: np.linspace(0.01, 0.06, 33)}
    assert_samples_are_single_runs(system, starts, 0.01, (0, 16, 32), parameters, 1e-12, samples=5, tol=1e-9)


def test_stiff_and_soft_together():
    c = zw.coordinates("c")
    k = zw.parameters("k")
    system = zw.System((c,), kinetic=dot(c) ** 2 / 2, potential=k * c**2 / 2)
    stiffness = {k: np.geomspace(1e-2, 1e5, 45)}
    assert_samples_are_single_runs(system, {c: 1.0, dot(c): 0.0}, 3.0, range(0, 45, 4), stiffness, samples=50)


def test_few_samples_go_without_lanes(monkeypatch):
    def refused():
        raise AssertionError("lanes are compiled for nothing")

    monkeypatch.setattr(lanes_loop, "compiled", refused)
    system, _ = problems.pendulum()
    a, b = system.coordinates
    angle = np.linspace(0.1, 1, LANES - 1)
    starts = {a: np.sin(angle), b: -np.cos(angle), dot(a): 0.0, dot(b): 0.0}
    assert (zw.simulate_many(system, starts, 0.5, samples=2).status == "finished").all()
