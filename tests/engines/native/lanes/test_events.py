"""Runs in lanes find the events that each of them finds by itself, to the last bit, and go on as it does."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from symengine import Abs, cos, exp, log, sin, sqrt, symbols, sympify

from tests.engines.native.prepared import prepare
from zwang.compile import Program, compile_lanes, compile_program
from zwang.compile.lanes import LANES
from zwang.engines.native import runs as stepper
from zwang.engines.native.runs import Kernels, LoopStatus, advance_many

t, q, v, p = symbols("t q v p")
COUNTED = (
    "status", "accepted", "rejected", "evaluations", "saved", "found", "projections", "h", "t_low", "error", "held",
    "trouble", "panel", "behind",
)  # fmt: skip
KEPT = []  # machine code lives as long as its kernel


def both_kinds(*outputs):
    program = Program({"x": (t, q, v, p)}, {"out": tuple(map(sympify, outputs))})
    KEPT.append((compile_program(program), compile_lanes(program, same_bits=True)))
    return KEPT[-1]


def kernels(acceleration, *events):
    (one, wide), (event, wide_event) = both_kinds(acceleration), both_kinds(*events)
    return Kernels(
        one.address,
        coordinates=1,
        parameters=1,
        work=max(one.work_size, event.work_size),
        event=event.address,
        events=len(events),
        in_lanes=wide.address,
        event_in_lanes=wide_event.address,
        work_in_lanes=max(wide.work_size, wide_event.work_size),
    )


def both(k, until, count=3 * LANES + 5, threads=2, t0=0.0, attempts=stepper.SLICE, **settings):
    """Oscillators, each with its own frequency and start, in lanes and by themselves; all events of each."""
    start, rate = np.linspace(0.2, 2, count)[:, None], np.linspace(0.5, 9, count)[::-1, None]
    ways = []
    for used in (k, replace(k, in_lanes=0)):
        runs = prepare(used, t0, start, 0.3 * start, rate, **settings)
        rows = [[] for _ in range(count)]
        left = range(count)
        while len(left):
            advance_many(runs, until, attempts, threads, which=left)
            left = np.flatnonzero(np.isin(runs.records["status"], [LoopStatus.RUNNING, LoopStatus.EVENTS_FULL]))
            for i in range(count):
                rows[i].append(runs.table[i, : runs.records["found"][i]].copy())
            runs.records["found"][left] = 0
        ways.append((runs, [np.concatenate(own) for own in rows]))
    (many, met), (one, expected) = ways
    for name in COUNTED:
        assert_array_equal(many.records[name], one.records[name], name)
    for name in ("state", "q", "v", "slope", "size", "done"):
        assert_array_equal(getattr(many, name), getattr(one, name), name)
    for mine, own in zip(met, expected, strict=True):
        assert_array_equal(mine, own)
    return many, met


SWING = -(p**2) * sin(q)
CASES = {
    "through zero": (q,),
    "never": (q - 7,),
    "two at once": (q, v * q),
    "many": (q, v, q - v, q**2 - 0.3, sin(t)),
    "touches": ((q - 0.1) ** 2, q**2 + (t - 1) ** 4),
    "fast": (sin(40 * q), cos(300 * t)),
    "kinks and jumps": (Abs(q) - 0.1, sin(q) / Abs(sin(q)) + 0.5),
    "not always a number": (sqrt(q), log(q + 0.5)),
    "pole": (1 / q, 1 / (t - 1.3)),
    "zero for a while": (q * 0, q + Abs(q)),
    "rounding": ((q + 1e9) - 1e9, (q - 0.15) ** 5),
    "beyond doubles": (exp(exp(8 * q)) - 1,),
}


@pytest.mark.parametrize("name", CASES)
def test_events_of_every_kind(name):
    both(kernels(SWING, *CASES[name]), 5.0, times=np.linspace(0, 5, 7), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_directions_and_stops(direction):
    k = kernels(SWING, q, v, q - 1)
    settings = {"direction": direction, "times": [0.0, 1.0, 5.0], "rtol": 1e-9, "atol": 1e-9}
    stopped, _ = both(k, 5.0, terminal=[False, True, False], **settings)
    assert (stopped.records["status"] == LoopStatus.EVENT).any()
    _, met = both(k, 5.0, **settings)
    assert max(map(len, met)) > 5


def test_tables_that_are_full_slices_of_attempts_threads_and_a_motion_backwards():
    k = kernels(SWING, sin(9 * q), v)
    for settings in (
        {"event_rows": 4},
        {"attempts": 40},
        {"threads": 1, "event_rows": 6, "attempts": 24},
        {"t0": 9.0, "times": np.linspace(9, 5, 4)},
        {"max_step": 0.01},
        {"breaks": np.array([5.5, 6.0, 7.1])},
        {"count": 2},
    ):
        both(k, **({"t0": 5.0, "until": 8.0 if "t0" not in settings else 5.0, "rtol": 1e-7, "atol": 1e-7} | settings))


def test_what_stops_one_run_does_not_disturb_the_others():
    k = kernels(6 * p * q**2, q - 3)  # no number after a finite time
    runs, _ = both(k, 1.0, times=np.linspace(0, 1, 5))
    assert len(set(runs.records["status"].tolist())) > 1
    runs, _ = both(kernels(SWING, q), 50.0, step_limit=60, rtol=1e-10, atol=1e-10)
    assert LoopStatus.TOO_MANY_STEPS in set(runs.records["status"].tolist())
