"""Code is compiled quickly at first, and optimised when its runs have taken long enough; the results are the same."""

import math

import numpy as np
import pytest
import symengine as se

from tests.engines.tasks import INPUTS, task, watch
from zwang.compile import Program
from zwang.engines.native import engine as native


def swing():
    """A program that no other test has run: sin x takes some lines, and the pivot one."""
    t, x, v, w = (INPUTS[name][0] for name in "tqvp")
    return Program(INPUTS, {"acceleration": (-(w**2) * se.sin(x) - v * se.cos(t) / 9,), "pivots": (2 + x**2,)})


def long_task(program):
    return task(program, 1.0, 0.0, np.linspace(0, 300, 7), tol=1e-13, events=watch(["x"]))


def test_a_run_that_goes_on_with_optimised_code_computes_the_same_bits(monkeypatch):
    monkeypatch.setattr(native, "PRICE", math.inf)
    quick = native.run(long_task(program := swing()))
    assert program not in native._OPTIMISED
    monkeypatch.setattr(native, "PRICE", 1e-9)  # paid for by the first slice
    monkeypatch.setattr(native, "FIRST_SLICE", 100)
    changed = native.run(long_task(program := swing()))
    assert program in native._OPTIMISED
    assert changed.steps == quick.steps > native.FIRST_SLICE
    assert [h.t for h in changed.hits] == [h.t for h in quick.hits]
    np.testing.assert_array_equal(changed.q, quick.q)
    np.testing.assert_array_equal(changed.v, quick.v)


def test_a_short_run_is_not_optimised_and_many_short_ones_are(monkeypatch):
    short = task(swing(), 1.0, 0.0, [1.0], tol=1e-6)
    first = native.run(short)
    assert native.compiled(short.acceleration) is native._COMPILED[short.acceleration]
    assert native._USED[short.acceleration] == pytest.approx(first.run_seconds)
    monkeypatch.setattr(native, "PRICE", first.run_seconds / 1e3)
    again = native.run(short)
    assert native.compiled(short.acceleration) is native._OPTIMISED[short.acceleration]
    np.testing.assert_array_equal(again.q, first.q)


def test_a_program_too_long_to_be_optimised_is_compiled_once(monkeypatch):
    monkeypatch.setattr(native, "default_level", lambda lines: 0)
    monkeypatch.setattr(native, "PRICE", 0.0)
    native.run(long_task(program := swing()))
    assert program not in native._OPTIMISED
