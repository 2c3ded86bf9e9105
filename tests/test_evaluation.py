"""A model's numbers: machine and people agree, stacks are single states, errors are named."""

import mpmath
import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references.andrews import DATA, andrews
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InconsistentError, InfeasibleError, InputError, MassError, UndeterminedError
from zwang.evaluation import matrices
from zwang.formulations import FORMS
from zwang.lowering import matrices as lowering

t = zw.t
x, y, z = zw.coordinates("x y z")
m, g, k, w = zw.parameters("m g k w")
alpha = sp.Function("alpha")(t)
xd, yd, zd = dot(x), dot(y), dot(z)
T = m * (xd**2 + yd**2) / 2
VALUES = {m: 1.3, g: 9.81, k: 0.7, w: 2.2}


def planar(**more):
    return zw.System((x, y), **({"kinetic": T} | more))


SYSTEMS = {
    "elementary functions": planar(
        potential=m * g * y + sp.exp(-k * x) * sp.log(2 + y**2) + sp.tan(x / 3) + sp.sinh(y) * sp.tanh(x),
        constraints=[sp.sqrt(x**2 + y**2) - 1, sp.atan2(y, x) - sp.cosh(x * y) + sp.asin(x / 9) + sp.acos(y / 9)],
    ),
    "more functions": planar(
        potential=sp.asinh(x) + sp.acosh(2 + y**2) + sp.atanh(y / 9) + sp.erf(x) + x ** sp.Rational(5, 3) + 2**y,
        forces=(sp.gamma(x + 1) + sp.floor(7 * y), sp.ceiling(7 * x) * sp.erfc(y)),
        constraints=[sp.cot(x) - sp.sec(y) + sp.csc(x + 5) * sp.atan(y) - sp.sech(x) * sp.csch(y) * sp.coth(y)],
    ),
    "pieces": planar(
        potential=sp.Abs(x - y) * k + sp.Max(x, y, 0.5) ** 2 + sp.Min(x, 3 * y),
        forces=(-k * sp.sign(xd) * sp.Abs(xd), sp.Piecewise((xd, x > y), (sp.Heaviside(yd), True))),
        constraints=[sp.Abs(x) * yd - sp.Piecewise((x * xd, y < 10), (0, True))],
    ),
    "constants": planar(potential=sp.pi * x + sp.E * y**2 + sp.GoldenRatio * x * y + sp.Rational(1, 7) * x),
    "time-dependent mass": planar(
        kinetic=m * (1 + sp.sin(w * t) ** 2) * (xd**2 + sp.exp(-k * t) * yd**2 + x * xd * yd)
    ),
    "moving frame": planar(
        kinetic=m * ((xd - w * y + sp.cos(t)) ** 2 + (yd + w * x) ** 2) / 2,
        potential=k * x * y * t,
        constraints=[xd * y - sp.sin(w * t) * yd**2 - 1],
    ),
    "whole Q by hand": zw.System(
        (x, y), mass=[[m + x**2, k], [k, m + sp.cos(t)]], forces=[-g * xd * yd, t * x], constraints=[x * y - t]
    ),
    "nonideal": planar(
        constraints={"rail": y - k * x**2, "again": 2 * y - 2 * k * x**2},
        nonideal=(-k * xd * sp.sqrt(1 + xd**2), -w * yd),
    ),
    "inputs": planar(
        forces=(alpha, alpha.diff(t) * x),
        constraints=[xd - t * yd - alpha, x + y - alpha**2],
        parameters={alpha: sp.sin(w * t) + k * t},
    ),
    "acceleration level": planar(constraints=[x.diff(t, 2) + 2 * k * xd + w**2 * x - sp.cos(t) * y.diff(t, 2)]),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_machine_and_people_agree(name):
    """SymEngine in native code against SymPy's matrices in mpmath."""
    system = SYSTEMS[name]
    equations = zw.derive(system)
    values = {s: VALUES[s] for s in system.symbols}
    draw = np.random.default_rng(5)
    for _ in range(3):
        state = dict(zip([x, y, xd, yd], draw.uniform(0.2, 1.1, 4), strict=True))
        now, *_ = matrices(system, state, 0.4, values)
        for letter in "MQAbC":
            expression = getattr(equations, letter).subs(system.inputs).doit()
            for symbols in ({xd: state[xd], yd: state[yd]}, {x: state[x], y: state[y]}, values, {t: 0.4}):
                expression = expression.subs({s: sp.Float(float(v), 30) for s, v in symbols.items()})
            with mpmath.workdps(30):
                wanted = np.array(expression.evalf(30).tolist(), dtype=float)
            found = getattr(now, letter)
            np.testing.assert_allclose(found, wanted.reshape(found.shape), rtol=2e-14, atol=2e-14)


@pytest.mark.parametrize("name", SYSTEMS)
def test_all_forms_agree(name):
    system = SYSTEMS[name]
    values = {s: VALUES[s] for s in system.symbols}
    state = {x: 0.5, y: 0.3, xd: 0.4, yd: 0.7}
    results = [zw.evaluate(system, state, 0.4, values, form=form).acceleration for form in FORMS]
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=1e-11, atol=1e-11)


def pendulum():
    rod = {"rod": (x**2 + y**2 - k**2) / 2}
    return planar(potential=m * g * y, constraints=rod, parameters={m: 1.0, g: 10.0, k: 2.0})


def on_circle(angle, rate, length=2.0):
    return {
        x: length * np.sin(angle), y: -length * np.cos(angle),
        xd: length * rate * np.cos(angle), yd: length * rate * np.sin(angle),
    }  # fmt: skip


def test_a_stack_of_states_is_the_states_one_by_one():
    angle, rate = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-2, 2, 3))
    stack = zw.evaluate(pendulum(), on_circle(angle, rate))
    assert stack.acceleration.shape == (3, 5, 2)
    assert stack.multipliers.shape == (3, 5, 1)
    for index in np.ndindex(3, 5):
        one = zw.evaluate(pendulum(), on_circle(angle[index], rate[index]))
        np.testing.assert_allclose(stack.acceleration[index], one.acceleration, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(stack.constraint_power[index], one.constraint_power, atol=1e-13)


def test_parameters_and_times_broadcast():
    masses = np.array([1.0, 2.0, 5.0])
    stack = zw.evaluate(pendulum(), on_circle(0.3, 1.0), parameters={m: masses})
    assert stack.constraint_force.shape == (3, 2)
    np.testing.assert_allclose(stack.constraint_force, masses[:, None] * stack.constraint_force[:1], rtol=1e-14)
    driven = planar(forces=(sp.sin(w * t), 0), parameters={m: 1, w: 1})
    rest = {x: 0, y: 0, xd: 0, yd: 0}
    times, rates = np.array([0.0, 0.5]), np.array([[1.0], [2.0], [3.0]])
    many = zw.evaluate(driven, rest, times, parameters={w: rates})
    np.testing.assert_allclose(many.acceleration[..., 0], np.sin(rates * times), rtol=1e-15, atol=1e-15)


def test_one_kernel_serves_every_parameter_value_and_name():
    state = on_circle(0.3, 1.0)
    zw.evaluate(pendulum(), state)
    kernels = dict(lowering._KERNELS.things)
    zw.evaluate(pendulum(), state, parameters={m: 7.0})
    zw.evaluate(pendulum(), state, parameters={"g": 1.6})
    other = zw.System((x, y), kinetic=T, potential=m * g * y, constraints={"string": (x**2 + y**2 - k**2) / 2})
    zw.evaluate(other, state, parameters={m: 1, g: 1, k: 2})
    zw.diagnose(pendulum(), state)
    assert dict(lowering._KERNELS.things) == kernels


def test_andrews_mechanism_at_its_published_start():
    system, state = andrews()
    accelerations, multipliers = (np.array(DATA[key], dtype=float) for key in ("a0", "multipliers0"))
    results = {form: zw.evaluate(system, state, form=form) for form in FORMS}
    now = results["fundamental"]
    np.testing.assert_allclose(now.acceleration, accelerations, rtol=1e-12, atol=1e-12 * 14222)
    np.testing.assert_allclose(-now.multipliers, multipliers, rtol=1e-12, atol=1e-12 * 98.6)
    for result in results.values():
        np.testing.assert_allclose(result.acceleration, accelerations, rtol=1e-9, atol=1e-9 * 14222)
    verdict = zw.diagnose(system, state)
    assert verdict.ok
    assert (verdict.rank, verdict.generic_rank, verdict.degrees_of_freedom) == (6, 6, 1)
    assert all(verdict.unique_multipliers.values())
    assert not verdict.redundant


def sphere(radius=1.0):
    """A particle that rests on a sphere and may leave it."""
    kinetic = m * (xd**2 + yd**2 + zd**2) / 2
    surface = {"surface": (x**2 + y**2 + z**2 - radius**2) / 2 >= 0}
    return zw.System((x, y, z), kinetic=kinetic, potential=m * g * z, constraints=surface, parameters={m: 2, g: 9.0})


@pytest.mark.parametrize(("factor", "touches"), [(0.99, True), (1.01, False)])
def test_example_17_a_particle_leaves_a_sphere(factor, touches):
    cosine, sine = 2 / 3, np.sqrt(5) / 3
    speed = factor * np.sqrt(2 * 9.0 / 3)
    state = {x: sine, y: 0, z: cosine, xd: speed * cosine, yd: 0, zd: -speed * sine}
    now = zw.evaluate(sphere(), state)
    if touches:
        assert now.multipliers[0] > 0
        inward = now.acceleration @ [sine, 0, cosine]
        np.testing.assert_allclose(inward, -(speed**2), rtol=1e-12)
    else:
        assert now.multipliers[0] == 0
        np.testing.assert_allclose(now.acceleration, [0, 0, -9.0], atol=1e-14)


def test_example_18_a_table_on_four_legs():
    a, c = zw.coordinates("a c")
    kinetic = (zd**2 + dot(a) ** 2 + dot(c) ** 2) / 2
    legs = {f"leg {i}{j}": z + i * a + j * c >= 0 for i in (1, -1) for j in (1, -1)}
    forces = {z: -4, a: -4 * 0.6, c: -4 * 0.6}
    table = zw.System((z, a, c), kinetic=kinetic, forces=forces, constraints=legs)
    now = zw.evaluate(table, dict.fromkeys([z, a, c, zd, dot(a), dot(c)], 0))
    np.testing.assert_allclose(now.acceleration, 0, atol=1e-13)
    assert (now.multipliers >= 0).all()
    np.testing.assert_allclose(now.multipliers.sum(), 4, rtol=1e-12)
    # the shortest λ + τ(1, −1, −1, 1) ≥ 0 from (2.2, 1, 1, −0.2) is that of τ = 0.2
    np.testing.assert_allclose(now.multipliers, [2.4, 0.8, 0.8, 0], atol=1e-9)
    assert not now.unique.any()


def test_one_sided_constraints_away_from_their_limit_do_nothing():
    ball = zw.System((y,), kinetic=yd**2 / 2, forces=[-10], constraints={"floor": y >= 0})
    for height, rate, expected in ((1, 0, -10), (0, 0, 0), (0, 1, -10), (2, -3, -10)):
        now = zw.evaluate(ball, {y: height, yd: rate})
        np.testing.assert_allclose(now.acceleration, [expected], atol=1e-14)
    stack = zw.evaluate(ball, {y: [0.0, 1.0], yd: 0})
    np.testing.assert_allclose(stack.acceleration, [[0], [-10]], atol=1e-14)
    for height, rate in ((-1, 0), (0, -1)):
        with pytest.raises(InputError, match=r"violates the one-sided constraint 'floor'.* resolve the impact"):
            zw.evaluate(ball, {y: height, yd: rate})
    ratchet = zw.System((y,), kinetic=yd**2 / 2, forces=[-10], constraints={"ratchet": yd >= 0})
    with pytest.raises(InputError, match="violates the one-sided constraint 'ratchet': it reads -1"):
        zw.evaluate(ratchet, {y: 0, yd: -1})
    np.testing.assert_allclose(zw.evaluate(ratchet, {y: 0, yd: 0}).acceleration, [0], atol=1e-14)


def test_one_sided_constraints_that_push_against_each_other():
    squeezed = zw.System((y,), kinetic=yd**2 / 2, constraints={"floor": y - t**2 >= 0, "ceiling": -(t**2) - y >= 0})
    with pytest.raises(InfeasibleError, match=r"'floor'.*'ceiling'"):
        zw.evaluate(squeezed, {y: 0, yd: 0})


@pytest.mark.parametrize("angle", [1e-9, 1e-6, 0.3])
def test_example_22_parallelogram_near_its_change_point(angle):
    system, state = parallelogram(angle)
    now = zw.evaluate(system, state)
    tangent = [-np.sin(angle), np.cos(angle)]
    np.testing.assert_allclose(now.acceleration.reshape(2, 2) @ tangent, [0.5, 0.5], rtol=1e-6)
    assert now.rank == 3


def parallelogram(angle, force=1.0):
    """Two unit cranks and a coupler of length 2, in Cartesian coordinates; a tangential force on the first."""
    x1, y1, x2, y2 = zw.coordinates("x1 y1 x2 y2")
    f = zw.parameters("f")
    kinetic = sum(dot(q) ** 2 for q in (x1, y1, x2, y2)) / 2
    constraints = {
        "crank 1": (x1**2 + y1**2 - 1) / 2,
        "crank 2": ((x2 - 2) ** 2 + y2**2 - 1) / 2,
        "coupler": ((x2 - x1) ** 2 + (y2 - y1) ** 2 - 4) / 2,
    }
    system = zw.System(
        (x1, y1, x2, y2),
        kinetic=kinetic,
        forces={x1: -f * y1, y1: f * x1},
        constraints=constraints,
        parameters={f: force},
    )
    c, s = np.cos(angle), np.sin(angle)
    state = dict(zip((x1, y1, x2, y2), (c, s, 2 + c, s), strict=True)) | dict.fromkeys(system.velocities, 0.0)
    return system, state


def test_example_22_exactly_at_the_change_point():
    system, state = parallelogram(0.0)
    now = zw.evaluate(system, state)
    np.testing.assert_allclose(now.acceleration, [0, 1, 0, 0], atol=1e-14)  # not the limit: f and 0
    assert now.rank == 2
    verdict = zw.diagnose(system, state)
    assert verdict.singular
    assert (verdict.rank, verdict.generic_rank) == (2, 3)
    assert not verdict.ok


REST = {x: 0, y: 1, xd: 0, yd: 0}


def ask(system=None, state=None, at=0.0, **more):
    """`evaluate` with a pendulum at rest, but for what is given."""
    return lambda: zw.evaluate(system or pendulum(), REST if state is None else state, at, **more)


def light(**more):
    return planar(**({"parameters": {m: 1}} | more))


# what is wrong -> (call, exception, message)
REFUSED = {
    "division by zero in a force": (ask(light(potential=1 / x)), InputError, "the entry of Q of x is not finite"),
    "a singular constraint": (
        ask(light(constraints={"log": sp.log(x)})), InputError, "the row of A of constraint 'log' is not finite"
    ),
    "infinities of both signs": (
        ask(light(constraints={"odd": y / x - 1 / x**2})), InputError, "of constraint 'odd' is not finite"
    ),
    "a nonideal force of nothing": (
        ask(light(nonideal=[0, 1 / xd])), InputError, "the nonideal force of y is not finite"
    ),
    "an undefined function": (
        ask(light(potential=sp.Function("h")(x))), InputError, r"h\(x\(t\)\) is not defined"
    ),
    "a function without native code": (
        ask(light(potential=sp.besselj(0, x))), InputError, r"besselj .* has no native code"
    ),
    "a negative mass": (ask(parameters={m: -1}), MassError, "along"),
    "nothing determines y": (
        ask(zw.System((x, y), mass=[[1, 0], [0, 0]])), UndeterminedError, "undetermined along y"
    ),
    "rows that contradict": (
        ask(light(constraints={"a": xd - t, "b": xd - 2 * t})), InconsistentError,
        "constraint 'b' contradicts constraint 'a'",
    ),
    "an unknown form": (ask(form="newton"), InputError, "form='newton' is unknown"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_errors_say_what_and_which(what):
    call, kind, message = REFUSED[what]
    with pytest.raises(kind, match=message):
        call()


def test_without_constraints_or_parameters():
    free = zw.System((x,), kinetic=xd**2 / 2, forces=[3 - x])
    now = zw.evaluate(free, {x: 1, xd: 0})
    assert now.acceleration.tolist() == [2.0]
    assert now.multipliers.shape == (0,)
    assert now.rank == 0


def test_one_sided_rows_are_said_to_be_equalities_in_symbols():
    floor = light(constraints={"floor": y >= 0})
    assert zw.derive(floor).assumption.endswith("; taken as equalities: 'floor'")


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    ("height", "speed", "touches"),
    [(0.0, 0.0, True), (1e-17, -1e-18, True), (1e-6, 0.0, False), (0.0, 1e-6, False), (-1e-6, 0.0, None)],
)
def test_what_touches_a_limit_does_not_depend_on_units(unit, height, speed, touches):
    """A block on a floor, 3 along it: the same in metres, micrometres and megametres."""
    x, y = zw.coordinates("x y")
    block = zw.System(
        (x, y), kinetic=(zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2, potential=10 * unit * y, constraints={"floor": y >= 0}
    )
    state = {x: 3 * unit, y: height * unit, zw.dot(x): unit, zw.dot(y): speed * unit}
    if touches is None:
        with pytest.raises(InputError, match="the state violates the one-sided constraint 'floor'"):
            zw.evaluate(block, state)
    else:
        assert (zw.evaluate(block, state).acceleration[1] == 0) == touches


def test_velocities_that_are_rounding_contradict_nothing():
    """A four-bar of bodies in space is overconstrained; at rest, its velocities may be what rounding has left."""
    places = [(0, 0, 0), (0.3, 1, 0), (2, 1.3, 0), (2, 0, 0)]
    bars = [
        mb.Body(name, 1.0, inertia=(0.1, 0.2, 0.3), position=np.mean(places[i : i + 2], axis=0).tolist())
        for i, name in enumerate("abc")
    ]
    pairs = zip((mb.ground, *bars), (*bars, mb.ground), "ABCD", places, strict=True)
    joints = [mb.Revolute(name, one, other, at=at, axis=(0, 0, 1)) for one, other, name, at in pairs]
    linkage = mb.Mechanism(bars, joints=joints)
    draw = np.random.default_rng(1)
    for size in (1e-33, 1e-20):
        state = dict(linkage.start) | {v: size * draw.normal() for v in linkage.system.velocities}
        assert np.abs(zw.evaluate(linkage, state).acceleration).max() < 100 * size**2
        assert zw.simulate(linkage, state, 0.1, samples=2).attrs["status"] == "finished"
    moving = dict(linkage.start) | {v: 1e-3 * draw.normal() for v in linkage.system.velocities}
    with pytest.raises(InconsistentError, match="contradicts"):
        zw.evaluate(linkage, moving)


def test_a_large_system_at_one_state_has_the_solution_of_a_stack_of_one():
    count = 200
    points = zw.coordinates("p", shape=(count, 2))
    a, b = zw.coordinates("a_point b_point", shape=2)
    system = zw.System(
        points,
        kinetic=zw.family((zw.dot(a) ** 2).sum() / 2, {a: points}),
        potential=zw.family(9.81 * a[1], {a[1]: points[:, 1]}),
        constraints={
            "first": (points[0] ** 2).sum() - 1,
            "link": zw.family(((a - b) ** 2).sum() - 1, {a: points[1:], b: points[:-1]}),
        },
    )
    at = np.stack([0.8 * np.arange(1, count + 1), 0.6 * np.arange(1, count + 1)], axis=1)
    rate = np.stack([-0.6 * np.arange(1, count + 1), 0.8 * np.arange(1, count + 1)], axis=1)  # it turns as one
    alone = zw.evaluate(system, {points: at, zw.dot(points): rate})
    stack = zw.evaluate(system, {points: at[None], zw.dot(points): rate[None]})
    for name in ("acceleration", "multipliers", "constraint_force", "gaussian", "constraint_power", "rank"):
        np.testing.assert_allclose(getattr(alone, name), getattr(stack, name)[0], rtol=1e-7, atol=1e-7, err_msg=name)
