"""A run with inputs: held or in a straight line over each piece, and put back where a piece fails."""

import numpy as np
import pytest
from symengine import sqrt, symbols

from tests.engines.native.prepared import prepare
from zwang.compile import Program, compile_program
from zwang.engines.native import held
from zwang.engines.native.runs import Kernels, LoopStatus

t, q, v, p, s, since = symbols("t q v p s since")


def run_of(acceleration, start=(0.0, 0.0)):
    kernel = compile_program(Program({"x": (t, q, v, p, s, since)}, {"out": (acceleration,)}))
    runs = prepare(Kernels(kernel.address, 1, parameters=3), 0.0, [start[0]], [start[1]], [0.0, 0.0, 0.0])
    run = held.HeldRun.of(runs, [3], [4], 5, np.zeros(1))
    return run, kernel


def advance(run, until, u, over=0.0):
    run.given[...] = u
    return held.compiled()(run.record.ctypes.data, run.runs.records.ctypes.data, until, over, 1000)


def test_inputs_are_held_or_go_in_a_straight_line():
    run, kernel = run_of(p + s * (t - since))
    assert advance(run, 1.0, 2.0) == LoopStatus.FINISHED
    np.testing.assert_allclose(run.runs.state[0], [1.0, 1.0, 2.0], rtol=1e-12)
    assert advance(run, 2.0, 0.0, over=1.0) == LoopStatus.FINISHED
    np.testing.assert_allclose(run.runs.state[0], [2.0, 3 + 2 / 3, 3.0], rtol=1e-12)
    assert advance(run, 3.0, 0.0) == LoopStatus.FINISHED
    assert kernel
    np.testing.assert_allclose(run.runs.state[0], [3.0, 6 + 2 / 3, 3.0], rtol=1e-12)


def test_what_is_not_a_number_changes_nothing():
    run, kernel = run_of(p)
    assert advance(run, 1.0, np.nan) == held.NOT_A_NUMBER
    assert kernel
    assert run.runs.state[0].tolist() == [0, 0, 0]
    assert run.last[0] == 0.0


def test_a_piece_that_fails_is_taken_back():
    run, kernel = run_of(p * sqrt(1 - q), (0.0, 1.0))
    assert advance(run, 0.5, 0.0) == LoopStatus.FINISHED
    assert kernel
    before = run.runs.state[0].copy()
    assert advance(run, 2.0, 1e-9) == LoopStatus.NOT_FINITE
    run.restore()
    np.testing.assert_array_equal(run.runs.state[0], before)
    assert advance(run, 0.75, 0.0) == LoopStatus.FINISHED
    assert run.runs.state[0, 1] == pytest.approx(0.75, rel=1e-12)
