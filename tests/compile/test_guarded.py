"""Kernels behind a guard: what is fixed stays fixed, and what does not hold is not given out."""

import ctypes

import numpy as np
from symengine import symbols

from zwang.compile import Program, compile_program
from zwang.compile.guarded import NOT_FINITE, SMALL_PIVOT, WELL, address_of, bound, guarded, many_compiled

t, q, a, b = symbols("t q a b")
KERNEL = compile_program(Program({"t": (t,), "q": (q,), "p": (a, b)}, {"y": (a * q, b / q), "pivots": (q**2,)}))


def guard(**more):
    given = {"limits": {"pivots": np.array([0.01])}, **more}
    return guarded(KERNEL, np.array([3.0, 5.0]), [1], ([0, 1], [2, 0]), 3, **given)


def one(guard, *row):
    given, out, work = np.array(row), np.empty(3), np.empty(guard.work_size)
    return bound(guard, out.ctypes.data, given.ctypes.data, work.ctypes.data)(), out


def test_entries_go_to_their_places_with_a_factor_and_the_rest_is_zero():
    status, out = one(guard(factor=-1.0), 0.0, 2.0, 7.0)
    assert status == WELL
    assert out.tolist() == [-3.5, 0.0, -6.0]


def test_small_pivots_and_numbers_that_are_not_finite_are_told_and_nothing_is_given():
    for row, expected in (((0.0, 0.05, 1.0), SMALL_PIVOT), ((np.nan, 1.0, 1.0), NOT_FINITE)):
        status, out = one(guard(), *row)
        assert status == expected
        assert np.isnan(out).all()
    assert one(guard(limits=None), 0.0, 0.0, 1.0)[0] == NOT_FINITE


def test_rows_are_answered_one_after_the_other_and_failures_counted():
    g = guard()
    rows, out, work = np.array([[0, 2.0, 8.0], [0, 0.0, 8.0], [0, 4.0, 8.0]]), np.empty((3, 3)), np.empty(g.work_size)
    assert many_compiled()(g.at, out.ctypes.data, rows.ctypes.data, work.ctypes.data, 3) == 1
    assert out[[0, 2]].tolist() == [[4, 0, 6], [2, 0, 12]]
    assert np.isnan(out[1]).all()


def test_an_address_is_a_function_of_c():
    g = guard()
    address, code = address_of(g)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(address)
    given, out, work = np.array([0.0, 2.0, 8.0]), np.empty(3), np.empty(g.work_size)
    assert function(out.ctypes.data, given.ctypes.data, work.ctypes.data) == WELL
    assert out.tolist() == [4, 0, 6]
    assert code
