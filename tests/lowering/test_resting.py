"""Forces between those of both sides of a switch, in symbols."""

import numpy as np
import symengine as se
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.lowering.locked import lock
from zwang.lowering.lowered import lower
from zwang.lowering.resting import half_jump, mode, multiplied, side

x, y = zw.coordinates("x y")
v, w = dot(x), dot(y)


def locked(forces, **more):
    system = zw.System((x, y), kinetic=(v**2 + w**2) / 2, forces=forces, **more)
    return lock(lower(system, {}), ("x", "y"), (), system.constraint_names)


def test_half_a_jump_is_half_the_difference_of_both_sides():
    """Term by term and factor by factor, so that what does not jump is not in it."""
    a, b = se.symbols("a b")
    sign = se.Piecewise((1, se.Lt(0, mode(0))), (-1, se.Lt(mode(0), 0)), (0, True))
    assert half_jump(a + b * (3 - 2 * sign), 0) == -2 * b
    assert half_jump(a * b, 0) == 0
    for e in (a * sign**2 + sign, se.sin(a + sign), (1 + sign) * (2 - sign)):
        numbers = {a: 0.3, b: 0.7}
        difference = (side(e, 0, 1) - side(e, 0, -1)) / 2
        assert np.isclose(float(half_jump(e, 0).subs(numbers)), float(difference.subs(numbers)))


def test_switches_of_velocities_that_only_forces_depend_on_may_rest():
    assert locked({x: -sp.sign(v)}).resting.rests[0][0] == 0
    assert locked({x: -sp.sign(x)}).resting is None
    heavier = zw.System((x,), mass=[[1 + sp.Heaviside(v)]], forces={x: 1})
    assert lock(lower(heavier, {}), ("x",), (), ()).resting is None
    ruled = locked({x: 1}, constraints={"rule": w - sp.Abs(v)})
    assert ruled.resting is None


def test_forces_that_multiply_are_told_from_those_that_add():
    adds = locked({x: -sp.sign(v), y: sp.sign(v) - 2 * sp.sign(w)})
    assert not multiplied(adds.resting, (0, 1))
    multiply = locked({x: -sp.sign(v) * (2 + sp.sign(w)), y: -sp.sign(w)})
    assert multiplied(multiply.resting, (0, 1))
    assert not multiplied(multiply.resting, (0,))
