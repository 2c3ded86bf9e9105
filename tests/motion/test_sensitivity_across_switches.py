"""Sensitivities across switches: derivatives of motions in closed form, on every engine."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot, t
from zwang.errors import InputError, SimulationError

x, y = zw.coordinates("x y")
k, a, b = sp.symbols("k a b")
v = dot(x)
ENGINES = ("native", "taylor", "radau", "lsoda")
TOL = {"native": 1e-12, "taylor": 1e-14, "radau": 1e-8, "lsoda": 1e-9}
CLOSE = {"native": 1e-9, "taylor": 1e-11, "radau": 1e-4, "lsoda": 1e-4}


def body(force, **parameters):
    values = {sp.Symbol(name): value for name, value in parameters.items()}
    return zw.System((x,), kinetic=v**2 / 2, forces={x: force}, parameters=values)


def derivatives(system, start, until, inputs, method="native"):
    found = zw.sensitivities(
        system, dict(zip((x, v), start, strict=True)), until, inputs, samples=2, method=method, tol=TOL[method]
    )
    return found.dq.values[-1, 0], found.dv.values[-1, 0]


def test_the_derivatives_of_a_closed_form():
    """x₀ + v₀t − kt²/2 until x = 0 at t₁ = (v₀ + √(v₀² + 2kx₀))/k; then with +k; 3 s are beyond one crossing.

    The derivatives are those of that formula, by SymPy.
    """
    x0, v0, k0, time = sp.symbols("x0 v0 k0 time", positive=True)
    first = (v0 + sp.sqrt(v0**2 + 2 * k0 * x0)) / k0
    fall = -sp.sqrt(v0**2 + 2 * k0 * x0)
    place = fall * (time - first) + k0 * (time - first) ** 2 / 2
    at = {x0: 0.5, v0: 0.2, k0: 1.0, time: 2.0}
    for method in ENGINES:
        dq, dv = derivatives(body(-k * sp.sign(x), k=1.0), (0.5, 0.2), 2.0, [k, x, v], method)
        for j, by in enumerate((k0, x0, v0)):
            expected = [float(e.diff(by).subs(at)) for e in (place, place.diff(time))]
            assert (dq[j], dv[j]) == pytest.approx(expected, abs=CLOSE[method])


@pytest.mark.parametrize("method", ENGINES)
def test_the_instant_of_a_step_may_depend_on_a_parameter(method):
    """A force 2 from a to b: v = 2(b − a), x = (5 − a)² − (5 − b)² at t = 5."""
    system = body(2 * sp.Heaviside(t - a) - 2 * sp.Heaviside(t - b), a=1.0, b=1.5)
    dq, dv = derivatives(system, (0, 0), 5.0, [a, b], method)
    assert dq == pytest.approx([-8, 7], abs=CLOSE[method])
    assert dv == pytest.approx([-2, 2], abs=CLOSE[method])


def test_a_square_wave_whose_frequency_varies():
    """∫ sign(sin ωt) over 10: jumps of 2 at kπ/ω, which move by −kπ/ω²; x̂ sums (10 − kπ/ω) of them."""
    omega = 7.3
    at = np.arange(1, int(10 * omega / np.pi) + 1)
    weights = 2.0 * (-1) ** at  # of the force, at each jump
    moves = -at * np.pi / omega**2
    dq, dv = derivatives(body(sp.sign(sp.sin(k * t)), k=omega), (0, 0), 10.0, [k])
    assert dv[0] == pytest.approx(-(weights * moves).sum(), rel=1e-9)
    assert dq[0] == pytest.approx(-(weights * moves * (10 - at * np.pi / omega)).sum(), rel=1e-9)


LAWS = {
    "two springs": -sp.Piecewise((k * x, x > a), (x / 2 + 1, True)),
    "friction and spring": -x - a * sp.sign(v) * sp.Abs(v) - k * sp.Heaviside(x - 0.3),
    "mixed with time": sp.Piecewise((-k, x > a * t), (k / 2, True)),
    "stairs": -k * sp.floor(x / a),
    "nested": -k * x * sp.Heaviside(sp.Max(x, v) - a) - x,
}


@pytest.mark.parametrize("name", LAWS)
def test_derivatives_agree_with_differences(name):
    """Central differences of motions at tol 1e-13, whose own error is about 1e-7."""
    system, start, h = body(LAWS[name], k=2.0, a=0.4), np.array([1.0, 0.3]), 1e-5
    dq, dv = derivatives(system, start, 4.0, [x, v, k, a])

    def end(shift):
        motion = zw.simulate(
            system, {x: 1.0 + shift[0], v: 0.3 + shift[1]}, 4.0, samples=2, tol=1e-13, method="native",
            parameters={k: 2.0 + shift[2], a: 0.4 + shift[3]},
        )  # fmt: skip
        return np.array([motion.q.values[-1, 0], motion.v.values[-1, 0]])

    differences = np.array([(end(h * e) - end(-h * e)) / (2 * h) for e in np.eye(4)])
    assert pytest.approx(differences, abs=2e-5, rel=2e-5) == np.array([dq, dv]).T


def test_a_switch_that_is_only_touched_has_no_derivative():
    """Thrown up with v² = 2·0.5 the body just reaches the field that begins at x = 0.5, at t = 1, where a step ends."""
    law = sp.Piecewise((-1, x < 0.5), (-3, True)) + 1e-30 * sp.Heaviside(t - 1)
    with pytest.raises(InputError, match=r"only touches the switch at .* t = (1|0\.999999)"):
        zw.sensitivities(body(law), {x: 1e-13, v: 1}, 3.0, [v])


def test_a_start_on_a_switch_has_no_derivative_across_it():
    with pytest.raises(InputError, match="the start lies on the switch at x = 0"):
        zw.sensitivities(body(-sp.sign(x)), {x: 0, v: 1}, 3.0, [x])
    smooth = zw.sensitivities(body(-x * sp.Abs(x)), {x: 0, v: 1}, 1.0, [x])
    assert np.isfinite(smooth.dq).all()


def test_sensitivities_slide_no_further_than_the_motion():
    with pytest.raises(SimulationError) as caught:
        zw.sensitivities(body(-k * sp.sign(x) - 10 * v, k=1.0), {x: 0.5, v: 0}, 30.0, [k])
    assert caught.value.status in ("sliding", "step too small")


def test_a_mass_that_vanishes_stops_sensitivities_too():
    """(1 − x) v̇ = …: the mass of x vanishes on the way, as it does for the motion."""
    system = zw.System((x,), kinetic=(1 - x) * v**2 / 2, forces={x: k}, parameters={k: 1.0})
    with pytest.raises(SimulationError) as caught:
        zw.sensitivities(system, {x: 0, v: 1}, 5.0, [k])
    assert caught.value.status in ("singular", "not finite", "step too small")
