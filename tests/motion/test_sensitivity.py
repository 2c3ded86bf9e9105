"""Sensitivities: closed forms, difference quotients of accurate motions, conserved structure."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.motion.systems import HANGING, PENDULUM, L, g, k, m, x, y
from tests.references import problems
from zwang import dot
from zwang.compile import compile_program
from zwang.compile.tangent import tangent
from zwang.errors import SimulationError
from zwang.formulations.forms import integrable
from zwang.lowering import acceleration as explicit
from zwang.lowering.rows import choose
from zwang.lowering.variational import variational_program
from zwang.model.values import given_values
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare

z = zw.coordinates("z")
w = zw.parameters("w")
START = {x: 0.0, y: -1.3, dot(x): 2.0, dot(y): 0.0}


def motion_at(system, start, until, parameters=None, tol=1e-14):
    run = zw.simulate(system, start, until, samples=2, parameters=parameters, method="native", tol=tol)
    return np.concatenate([run.q[-1], run.v[-1]])


def difference(f, h):
    """df/dε at 0, of fourth order."""
    coarse, fine = ((f(step) - f(-step)) / (2 * step) for step in (h, h / 2))
    return (4 * fine - coarse) / 3


def final(run):
    """Derivatives of the final state (2n, inputs)."""
    return np.concatenate([run.dq[-1], run.dv[-1]])


# Closed forms


def test_harmonic_oscillator():
    system = zw.System((x,), kinetic=m * dot(x) ** 2 / 2, potential=k * x**2 / 2)
    values = {m: 2.0, k: 5.0}
    run = zw.sensitivities(system, {x: 0.7, dot(x): -0.4}, 3.0, [x, dot(x), k, m], parameters=values, samples=31)
    t, x0, v0, ω = run.time.values, 0.7, -0.4, np.sqrt(5 / 2)
    by_ω = -x0 * t * np.sin(ω * t) + v0 * (t * np.cos(ω * t) / ω - np.sin(ω * t) / ω**2)
    expected = [np.cos(ω * t), np.sin(ω * t) / ω, by_ω * ω / (2 * 5), -by_ω * ω / (2 * 2)]
    np.testing.assert_allclose(run.dq[:, 0].T, expected, atol=1e-12)
    np.testing.assert_allclose(run.dv[:, 0, 0], -ω * np.sin(ω * t), atol=1e-12)
    np.testing.assert_allclose(run.q[:, 0], x0 * np.cos(ω * t) + v0 / ω * np.sin(ω * t), atol=1e-12)
    assert list(run.input.values) == ["x", "dot(x)", "k", "m"]
    assert run.dq.dims == ("time", "coordinate", "input")


def test_acceleration_that_is_a_coordinate():
    system = zw.System((x, y), mass=sp.eye(2), forces=(x, w * y), parameters={w: 1.0})
    run = zw.sensitivities(system, {x: 1, y: 1, dot(x): 0, dot(y): 0}, 2.0, [x, w], samples=2)
    np.testing.assert_allclose(run.dq[-1], [[np.cosh(2), 0], [0, np.sinh(2)]], rtol=1e-11)


def test_rosenberg_particle():
    # ẏ = zẋ: ẋ = c/√(1 + z²) with c = ẋ₀√(1 + z₀²), z = z₀ + wt; all on the nonholonomic constraint.
    system = zw.System(
        (x, y, z),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
        constraints={"rosenberg": dot(y) - z * dot(x)},
        parameters={m: 1},
    )
    u0, z0, w0, T = 1.5, 0.4, 0.8, 2.0
    start = {x: 0.2, y: 0.1, z: z0, dot(x): u0, dot(y): z0 * u0, dot(z): w0}
    inputs = {"speed": {dot(x): 1, dot(y): z0}, "climb": {dot(z): 1}, "height": {z: 1, dot(y): u0}, "mass": {m: 1}}
    run = zw.sensitivities(system, start, T, inputs, samples=2)

    c, u, w1, h, t = sp.symbols("c u w1 h t")
    end = h + w1 * t
    X = (c / w1) * (sp.asinh(end) - sp.asinh(h))
    Y = (c / w1) * (sp.sqrt(1 + end**2) - sp.sqrt(1 + h**2))
    place = sp.Matrix([X, Y, end]).subs(c, u * sp.sqrt(1 + h**2))
    numbers = {u: u0, h: z0, w1: w0, t: T}
    expected = np.array(place.jacobian([u, w1, h]).subs(numbers).evalf(20), dtype=float)
    np.testing.assert_allclose(run.dq[-1, :, :3], expected, atol=1e-12)
    np.testing.assert_allclose(run.dq[-1, :, 3], 0, atol=1e-12)
    assert list(run.input.values) == list(inputs)


def test_changes_of_the_doctest_pendulum_are_those_of_a_pendulum_in_angle():
    θ = zw.coordinates("theta")
    angle = zw.System((θ,), kinetic=L**2 * dot(θ) ** 2 / 2, potential=-g * L * sp.cos(θ), parameters={g: 9.81, L: 1.3})
    # speed Lθ̇ = 2 is held while L changes: δθ̇ = −θ̇/L
    inner = zw.sensitivities(
        angle, {θ: 0, dot(θ): 2 / 1.3}, 3.0, {"g": {g: 1}, "L": {L: 1, dot(θ): -2 / 1.69}}, samples=7
    )
    outer = zw.sensitivities(PENDULUM, START, 3.0, zw.admissible(PENDULUM, START, [g, L]), samples=7)
    sin, cos = np.sin(inner.q[:, 0].values), np.cos(inner.q[:, 0].values)
    turn = inner.dq[:, 0].values
    np.testing.assert_allclose(outer.dq[:, 0, 0], 1.3 * cos * turn[:, 0], atol=1e-10)
    np.testing.assert_allclose(outer.dq[:, 0, 1], sin + 1.3 * cos * turn[:, 1], atol=1e-10)
    np.testing.assert_allclose(outer.dq[:, 1, 1], -cos + 1.3 * sin * turn[:, 1], atol=1e-10)


# Difference quotients


def test_pendulum_against_difference_quotients():
    inputs = {"swing": {x: 1.2, y: 0.5, dot(x): -0.5, dot(y): 1.2}, "g": {g: 1}, "m": {m: 1}}
    run = zw.sensitivities(PENDULUM, HANGING, 2.0, inputs, tol=1e-14, method="native", samples=2)

    def swung(ε):
        c, s = np.cos(ε), np.sin(ε)
        turned = {x: 0.5 * c + 1.2 * s, y: -1.2 * c + 0.5 * s, dot(x): 1.2 * c - 0.5 * s, dot(y): 0.5 * c + 1.2 * s}
        return motion_at(PENDULUM, turned, 2.0)

    np.testing.assert_allclose(final(run)[:, 0], difference(swung, 1e-3), rtol=1e-9, atol=1e-9)
    by_g = difference(lambda ε: motion_at(PENDULUM, HANGING, 2.0, {g: 9.81 + ε}), 1e-2)
    np.testing.assert_allclose(final(run)[:, 1], by_g, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(final(run)[:, 2], 0, atol=1e-11)


def test_lengths_with_assembled_starts():
    def longer(ε):
        values = {L: 1.3 + ε}
        return motion_at(PENDULUM, zw.assemble(PENDULUM, HANGING, parameters=values), 2.0, values)

    inputs = zw.admissible(PENDULUM, HANGING, [L])
    run = zw.sensitivities(PENDULUM, HANGING, 2.0, inputs, tol=1e-14, method="native", samples=2)
    np.testing.assert_allclose(final(run)[:, 0], difference(longer, 1e-3), rtol=1e-8, atol=1e-8)
    # and beside the constraints the length has no influence: the acceleration does not know it
    assert not zw.sensitivities(PENDULUM, HANGING, 2.0, [L], samples=2).dq.any()


def andrews():
    path = Path(__file__).parents[2] / "benchmarks" / "andrews.py"
    spec = importlib.util.spec_from_file_location("benchmark_andrews", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    system = module.mechanism()
    start = dict(zip(system.coordinates, module.START, strict=True)) | dict.fromkeys(system.velocities, 0.0)
    return system, start, module.VALUES


def test_andrews_mechanism():
    system, start, values = andrews()
    start = zw.assemble(system, start)
    names = ["mom", "c0", "m5", "I7", "ta"]
    run = zw.sensitivities(system, start, 0.03, names, tol=1e-13, method="native", samples=2)
    for j, name in enumerate(names):
        at = values[name]
        expected = difference(
            lambda ε, name=name, at=at: motion_at(system, start, 0.03, {name: at * (1 + ε)}, tol=1e-13), 1e-4
        )
        size = np.abs(expected).reshape(2, -1).max(axis=1).repeat(7)
        np.testing.assert_array_less(np.abs(final(run)[:, j] * at - expected) / size, 1e-7)


def test_rheonomic_pendulum():
    a = zw.parameters("a")
    pivot = a * sp.sin(w * zw.t)
    system = zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=m * g * y,
        constraints={"rod": (x - pivot) ** 2 + y**2 - 1},
        parameters={m: 1, g: 9.81, a: 0.2, w: 3.0},
    )
    start = {x: 0.0, y: -1.0, dot(x): 0.0, dot(y): 0.0}
    run = zw.sensitivities(system, start, 2.0, [w, a], tol=1e-14, method="native", samples=2)
    for j, (s, at) in enumerate([(w, 3.0), (a, 0.2)]):
        expected = difference(lambda ε, s=s, at=at: motion_at(system, start, 2.0, {s: at + ε}), 1e-3)
        np.testing.assert_allclose(final(run)[:, j], expected, rtol=1e-8, atol=1e-8)


def test_skate_with_friction_on_a_slope():
    θ = zw.coordinates("theta")
    I, c = zw.parameters("I c")
    system = zw.System(
        (x, y, θ),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2 + I * dot(θ) ** 2 / 2,
        potential=m * g * x,
        constraints={"edge": dot(x) * sp.sin(θ) - dot(y) * sp.cos(θ)},
        nonideal={x: -c * dot(x), y: -c * dot(y)},
        parameters={m: 2, I: 0.5, g: 9.81, c: 0.3},
    )
    start = {x: 0, y: 0, θ: 0.1, dot(x): np.cos(0.1), dot(y): np.sin(0.1), dot(θ): 1.5}
    run = zw.sensitivities(system, start, 2.0, [g, c, I, dot(θ)], tol=1e-14, method="native", samples=2)
    for j, (s, at) in enumerate([(g, 9.81), (c, 0.3), (I, 0.5)]):
        expected = difference(lambda ε, s=s, at=at: motion_at(system, start, 2.0, {s: at + ε}), 1e-3)
        np.testing.assert_allclose(final(run)[:, j], expected, rtol=1e-8, atol=1e-9)
    expected = difference(lambda ε: motion_at(system, start | {dot(θ): 1.5 + ε}, 2.0), 1e-3)
    np.testing.assert_allclose(final(run)[:, 3], expected, rtol=1e-8, atol=1e-9)


# Structure


def test_state_transition_of_henon_heiles_is_symplectic():
    system = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=(x**2 + y**2) / 2 + x**2 * y - y**3 / 3
    )
    run = zw.sensitivities(system, {x: 0.1, y: 0.2, dot(x): 0.3, dot(y): -0.1}, 20.0, [x, y, dot(x), dot(y)], samples=5)
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    for Φ in np.concatenate([run.dq, run.dv], axis=1):
        assert abs(np.linalg.det(Φ) - 1) < 1e-9
        np.testing.assert_allclose(Φ.T @ J @ Φ, J, atol=1e-9)


def test_liouville_for_a_double_pendulum_in_angles():
    a, b = zw.coordinates("a b")
    system = zw.System(
        (a, b),
        kinetic=dot(a) ** 2 + dot(b) ** 2 / 2 + dot(a) * dot(b) * sp.cos(a - b),
        potential=-2 * g * sp.cos(a) - g * sp.cos(b),
        parameters={g: 9.81},
    )
    run = zw.sensitivities(system, {a: 1.0, b: -0.5, dot(a): 0, dot(b): 1}, 3.0, [a, b, dot(a), dot(b)], samples=4)
    # momenta M(q)q̇ have a volume-preserving flow: det Φ = det M(q₀) / det M(q)
    volume = np.array([np.linalg.det(Φ) for Φ in np.concatenate([run.dq, run.dv], axis=1)])
    mass = 2 - np.cos(run.q[:, 0] - run.q[:, 1]).values ** 2
    np.testing.assert_allclose(volume * mass / mass[0], 1, atol=1e-8)


def test_constraints_hold_to_first_order_along_admissible_directions():
    run = zw.sensitivities(PENDULUM, HANGING, 3.0, zw.admissible(PENDULUM, HANGING, [x, dot(y), L]), samples=20)
    change = 2 * (run.q * run.dq).sum("coordinate") - np.array([0, 0, 2 * 1.3])
    np.testing.assert_allclose(change, 0, atol=1e-10)


@pytest.mark.parametrize("method", ["native", "taylor", "lsoda"])
def test_redundant_rows_change_nothing(method):
    names = {"rod": x**2 + y**2 - L**2, "again": 3 * (x**2 + y**2 - L**2), "level": x * dot(x) + y * dot(y)}
    twice = zw.System(
        (x, y),
        kinetic=PENDULUM.kinetic,
        potential=PENDULUM.potential,
        constraints=names,
        parameters=PENDULUM.parameters,
    )
    inputs = zw.admissible(twice, HANGING, [x, g, L])
    assert zw.admissible(PENDULUM, HANGING, [x, g, L])["L"] == pytest.approx(inputs["L"])
    one, other = (zw.sensitivities(s, HANGING, 3.0, inputs, samples=10, method=method) for s in (PENDULUM, twice))
    np.testing.assert_allclose(one.dq, other.dq, atol=1e-9)
    np.testing.assert_allclose(one.dv, other.dv, atol=1e-9)
    assert other.attrs["drift"] == "projection"
    np.testing.assert_allclose((other.q**2).sum("coordinate"), 1.3**2, rtol=1e-14)


@pytest.mark.parametrize(
    "factors",
    [
        pytest.param({"a": x, "b": y}, id="each vanishes in turn, never both"),
        pytest.param({"a": x**2 + 2e-3}, id="comes near zero"),
    ],
)
def test_badly_written_rows_change_nothing(factors):
    rows = {name: factor * (x * dot(x) + y * dot(y)) for name, factor in factors.items()}
    system = zw.System(
        (x, y), kinetic=PENDULUM.kinetic, potential=PENDULUM.potential, constraints=rows, parameters={m: 1, g: 9.81}
    )
    inputs = {"g": {g: 1}, "along": zw.admissible(PENDULUM, HANGING, [x])["x"]}
    one, other = (zw.sensitivities(s, HANGING, 3.0, inputs, samples=10) for s in (PENDULUM, system))
    np.testing.assert_allclose(one.dq, other.dq, atol=1e-8)
    np.testing.assert_allclose(one.dv, other.dv, atol=1e-8)


@pytest.mark.parametrize("factors", [(1,), (1, 2)], ids=["independent", "every row twice"])
def test_a_singular_position_stops_by_name(factors):
    system, start = problems.four_bar(1)
    rows = [zw.Constraint(f * c.expression, f"{c.name}, {f}") for c in system.constraints for f in factors]
    system = replace(system, constraints=rows)
    with pytest.raises(SimulationError, match=r"not defined across a singular position.* become dependent") as caught:
        zw.sensitivities(system, start, 1.0, [system.velocities[0]], samples=11)
    assert caught.value.status == "singular"
    assert float(caught.value.motion.time[-1]) == pytest.approx(0.7)  # the linkage flattens at 0.708


def test_a_pivot_that_is_small_because_a_mass_is_stops_nothing():
    system, start = problems.cart_pole()
    rows = [zw.Constraint(f * c.expression, f"{c.name}, {f}") for c in system.constraints for f in (1, 2)]
    inputs = zw.admissible(system, start, [system.velocities[0]])
    one, other = (
        zw.sensitivities(s, start, 0.46, inputs, samples=3, method="native")
        for s in (system, replace(system, constraints=rows))
    )
    assert other.attrs["message"] == "finished at t = 0.46."
    np.testing.assert_allclose(one.dq, other.dq, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("form", integrable()[1:])
def test_forms_agree(form):
    inputs = zw.admissible(PENDULUM, HANGING, [x, g, L])
    one, other = (zw.sensitivities(PENDULUM, HANGING, 0.5, inputs, samples=3, form=f) for f in ("fundamental", form))
    np.testing.assert_allclose(one.dq, other.dq, atol=1e-10)
    assert other.attrs["form"] == form


def test_both_ways_to_differentiate_agree():
    system, start, _ = andrews()
    setup = prepare(system, given_values(system, None), RunOptions(np.inf))
    q, v = (np.array([float(start[key]) for key in keys]) for keys in (system.coordinates, system.velocities))
    basis = choose(setup.matrices(0.0, q, v), system.coordinate_names)
    program = explicit.acceleration_program(setup.lowered, basis)
    along = variational_program(setup.lowered, basis, "fundamental", [(0,), (5, 7)])
    rng = np.random.default_rng(0)
    dq, dv, dp = rng.normal(size=14), rng.normal(size=14), rng.normal(size=3)
    state = {"t": [0.0], "q": np.append(q, dq), "v": np.append(v + 1, dv), "p": np.append(setup.p, dp)}
    fast = compile_program(along)(**state)["acceleration"]
    seeds = [dict(zip(program.inputs["q"] + program.inputs["v"], map(float, d), strict=True))
             for d in np.hstack([dq.reshape(2, 7), dv.reshape(2, 7)])]  # fmt: skip
    for seed, places, values in zip(seeds, [(0,), (5, 7)], (dp[:1], dp[1:]), strict=True):
        seed |= {program.inputs["p"][i]: float(value) for i, value in zip(places, values, strict=True)}
    plain = compile_program(tangent(program, seeds))(t=[0.0], q=q, v=v + 1, p=setup.p)
    slow = np.append(plain["acceleration"], plain["d_acceleration"])
    np.testing.assert_allclose(fast, slow, rtol=1e-11, atol=1e-13 * np.abs(slow).max())


def test_taylor_engine_agrees():
    pytest.importorskip("heyoka")
    inputs = zw.admissible(PENDULUM, HANGING, [x, g, L])
    native, taylor = (
        zw.sensitivities(PENDULUM, HANGING, 2.0, inputs, samples=5, tol=tol, method=method)
        for method, tol in (("native", 1e-14), ("taylor", 1e-16))
    )
    assert taylor.attrs["method"] == "taylor"
    np.testing.assert_allclose(taylor.q, native.q, atol=1e-12)
    np.testing.assert_allclose(taylor.dq, native.dq, atol=1e-11)
    np.testing.assert_allclose(taylor.dv, native.dv, atol=1e-11)


@pytest.mark.parametrize("method", ["radau", "lsoda"])
def test_engines_for_stiff_systems_agree(method):
    inputs = zw.admissible(PENDULUM, HANGING, [x, g])
    one = zw.sensitivities(PENDULUM, HANGING, 0.5, inputs, samples=3)
    other = zw.sensitivities(PENDULUM, HANGING, 0.5, inputs, samples=3, method=method, tol=1e-8)
    np.testing.assert_allclose(one.dq, other.dq, atol=1e-5)


def test_tolerance_bounds_sensitivities():
    system = zw.System((x,), kinetic=m * dot(x) ** 2 / 2, potential=k * x**2 / 2, parameters={m: 1, k: 1e6})
    run = zw.sensitivities(system, {x: 1e-3, dot(x): 0}, 0.01, [k], samples=5, tol=1e-10)
    t = run.time.values
    expected = -1e-3 * np.sin(1e3 * t) * t / (2 * 1e3)
    np.testing.assert_allclose(run.dq[:, 0, 0] * 1e6, expected * 1e6, atol=2e-9)


def test_motion_and_attributes_are_those_of_simulate():
    run = zw.sensitivities(PENDULUM, HANGING, 1.0, [g], times=[0.25, 0.5], parameters={g: 3.7})
    motion = zw.simulate(PENDULUM, HANGING, 1.0, times=[0.25, 0.5], parameters={g: 3.7})
    np.testing.assert_allclose(run.q, motion.q, atol=1e-12)
    np.testing.assert_array_equal(run.time, [0.25, 0.5, 1.0])
    assert set(motion.attrs) == set(run.attrs)
    assert run.attrs["status"] == "finished"
    assert run.attrs["parameters"] == motion.attrs["parameters"]
