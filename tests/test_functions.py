"""Every elementary function in every language: the same numbers, whoever computes them.

The references are mpmath's functions of 40 digits and its quadrature.
"""

import mpmath
import numpy as np
import pytest
import symengine as se
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.compile import Program, compile_program
from zwang.engines.registry import ENGINES, names
from zwang.equations.languages import translate
from zwang.functions import FUNCTIONS, in_mpmath, in_sympy
from zwang.lowering.intervals import bounds
from zwang.motion.independent import Tape

X, Y = sp.symbols("x y")
CLASSES = [name for name in FUNCTIONS if name != "sqrt"]  # a root is a power
SMOOTH = [name for name in CLASSES if not FUNCTIONS[name].switch]
DERIVED = [name for name in SMOOTH if name != "gamma"]  # the derivative of gamma has no native code
# Where functions are looked at: between −1 and 1, or beyond 1 for those that are not real there.
BEYOND = ("acosh", "acoth", "asec", "acsc")
LOW, HIGH = (0.3, 0.5), (1.3, 1.5)


def made(name):
    """A function of x, or of x and y, and of how many."""
    least, _ = FUNCTIONS[name].arguments
    return in_sympy(name)(*(X, Y)[:least], evaluate=False), least


def reference(name, *values):
    """The value with 40 digits."""
    with mpmath.workdps(40):
        extra = (mpmath.mpf(1) / 2,) if name == "Heaviside" else ()
        return in_mpmath(name)(*map(mpmath.mpf, values), *extra)


def places(name):
    """Arguments at which a function is defined, numbers of which there are five."""
    low, high = HIGH if name in BEYOND else LOW
    return np.linspace(low, high, 5)


@pytest.mark.parametrize("name", CLASSES)
def test_machine_code_and_mpmath_agree(name):
    expression, count = made(name)
    x, y = se.symbols("x y")
    program = Program({"v": (x, y)[:count]}, {"e": (translate(expression, {X: x, Y: y}),)})
    for value in places(name):
        given = [value, 0.7][:count]
        found = compile_program(program)(v=np.array(given))["e"][0]
        assert found == pytest.approx(float(reference(name, *given)), rel=4e-15)


@pytest.mark.parametrize("name", CLASSES)
def test_what_is_evaluated_with_many_digits_agrees(name):
    expression, count = made(name)
    given = [places(name)[1], 0.7][:count]
    with mpmath.workdps(40):
        (found,) = Tape.of([expression], (X, Y)[:count])([mpmath.mpf(v) for v in given])
        assert abs(found - reference(name, *given)) < mpmath.mpf(10) ** -35


@pytest.mark.parametrize("name", SMOOTH)  # others are bounded between their switches: test_breaks_of_switches.py
def test_bounds_over_a_stretch_hold(name):
    expression, count = made(name)
    x, y = se.symbols("x y")
    low, high = places(name)[[0, -1]]
    known = {x: (np.array([low]), np.array([high])), y: (np.array([0.7]), np.array([0.7]))}
    least, greatest = (float(end[0]) for end in bounds(translate(expression, {X: x, Y: y}), known, {}))
    values = [float(reference(name, *[v, 0.7][:count])) for v in np.linspace(low, high, 101)]
    assert least <= min(values) <= max(values) <= greatest
    if FUNCTIONS[name].rises or FUNCTIONS[name].falls:
        assert (least, greatest) == pytest.approx((min(values), max(values)), rel=1e-13)


def test_a_stretch_beyond_the_domain_on_both_sides_is_unbounded():
    x = se.Symbol("x")
    for name in ("asin", "acos", "atanh"):
        ends = bounds(getattr(se, name)(x), {x: (np.array([-2.0]), np.array([2.0]))}, {})
        assert [float(e[0]) for e in ends] == [-np.inf, np.inf]


def forced():
    """A coordinate for every function, which is its force, of a coordinate that grows steadily."""
    steady, beyond = zw.coordinates("u w")
    others = zw.coordinates(" ".join(f"z{i}" for i in range(len(DERIVED))))
    place = {X: steady, Y: sp.Float(0.7)}
    forces = {
        z: made(name)[0].xreplace(place | ({X: beyond} if name in BEYOND else {}))
        for z, name in zip(others, DERIVED, strict=True)
    }
    every = (steady, beyond, *others)
    start = dict.fromkeys(every, 0.0) | {dot(q): 0.0 for q in every}
    start |= {steady: LOW[0], beyond: HIGH[0], dot(steady): 0.2, dot(beyond): 0.2}
    return zw.System(every, kinetic=sum(dot(q) ** 2 for q in every) / 2, forces=forces), start


def exact_rates():
    """∫ f(0.3 + t/5) dt, or of f(1.3 + t/5), from 0 to 1."""
    with mpmath.workdps(25):
        return np.array(
            [
                float(
                    mpmath.quad(
                        lambda t, name=name: reference(
                            name,
                            *[(HIGH if name in BEYOND else LOW)[0] + t / mpmath.mpf(5), 0.7][: made(name)[1]],
                        ),
                        [0, 1],
                    )
                )
                for name in DERIVED
            ]
        )


@pytest.mark.parametrize("method", names())
def test_every_engine_knows_every_function(method):
    if not ENGINES[method].installed:
        pytest.skip(ENGINES[method].missing)
    system, start = forced()
    tol = max(1e-14, ENGINES[method].quick_from)
    motion = zw.simulate(system, start, 1.0, method=method, tol=tol, samples=2)
    assert motion.attrs["status"] == "finished"
    np.testing.assert_allclose(motion.v.values[-1][2:], exact_rates(), rtol=max(1e-13, 10 * tol))


def test_derivatives_of_motions_know_every_function():
    # z'' = f(u), u = u0 + t/5: ∂z'(1)/∂u0 = ∫ f'(u) dt = 5 (f(u0 + 1/5) − f(u0))
    system, start = forced()
    u, w = system.coordinates[:2]
    found = zw.sensitivities(system, start, 1.0, [{u: 1, w: 1}], samples=2)
    exact = [
        5 * (reference(name, *[high, 0.7][:n]) - reference(name, *[low, 0.7][:n]))
        for name in DERIVED
        for (low, high), n in [(HIGH if name in BEYOND else LOW, made(name)[1])]
    ]
    np.testing.assert_allclose(found.dv.values[-1, 2:, 0], np.array(exact, dtype=float), rtol=1e-10)
