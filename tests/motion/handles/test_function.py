"""Systems as functions: they say what the papers' equation says, at once, from other languages and from many states."""

import copy
import ctypes
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InconsistentError, InputError, UndeterminedError
from zwang.lowering.rolled import families

x, y, z, F = zw.coordinates("x y z F")
m, g, L, k = zw.parameters("m g L k")


def pendulum(**more):
    return zw.System(
        (x, y), kinetic=m*(dot(x)**2 + dot(y)**2)/2, potential=m*g*y, forces={x: F, y: -k*dot(y)},
        constraints={"rod": (x**2 + y**2 - L**2)/2, **more}, parameters={m: 2, g: 9.81, L: 1.3, k: 0.1, F: None},
    )  # fmt: skip


def by_hand(q, v, force, mass=2.0, drag=0.1):
    """m q̈ = Q + λq with q·q̈ = −|v|²: λ = −(m|v|² + Q·q)/|q|²."""
    Q = np.array([force, -mass * 9.81 - drag * v[1]])
    lam = -(mass * (v @ v) + Q @ q) / (q @ q)
    return (Q + lam * q) / mass, lam, lam * q, Q


def states(count, seed=3):
    draw = np.random.default_rng(seed)
    return draw.normal(size=(count, 2)), draw.normal(size=(count, 2)), draw.normal(size=(count, 1))


def test_a_pendulum_as_a_function_is_what_it_is_by_hand():
    f = zw.function(pendulum(), inputs=[F])
    assert f.coordinates == ("x", "y")
    assert f.inputs == ("F",)
    for q, v, u in zip(*states(20), strict=True):
        a, lam, reaction, Q = by_hand(q, v, u[0])
        np.testing.assert_allclose(f(0.0, q, v, u), a, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(f.multipliers(0.0, q, v, u), [lam], rtol=1e-12)
        np.testing.assert_allclose(f.reactions(0.0, q, v, u), reaction, rtol=1e-12)
        np.testing.assert_allclose(f.mass(0.0, q, v, u), 2 * np.eye(2))
        np.testing.assert_allclose(f.bias(0.0, q, v, u), -Q, rtol=1e-14)


def test_inputs_may_be_parameters_too_and_come_in_the_order_that_was_asked_for():
    f = zw.function(pendulum(), inputs=["k", F, "m"])
    q, v = np.array([0.3, -1.1]), np.array([0.7, 0.2])
    np.testing.assert_allclose(f(0.0, q, v, [0.4, 1.5, 3.0]), by_hand(q, v, 1.5, mass=3.0, drag=0.4)[0], rtol=1e-13)


def test_inputs_that_have_values_may_be_left_out():
    f = zw.function(pendulum(), {F: 0.5}, inputs=[k, F])
    q, v = np.array([0.3, -1.1]), np.array([0.7, 0.2])
    np.testing.assert_allclose(f(0, q, v), by_hand(q, v, 0.5)[0], rtol=1e-13)
    with pytest.raises(InputError, match=r"u is missing: give \(1,\) numbers for F"):
        zw.function(pendulum(), inputs=[F])(0.0, q, v)


def test_results_are_written_where_they_are_wanted():
    f = zw.function(pendulum(), {F: 0.5})
    q, v, out, M = np.array([0.3, -1.1]), np.array([0.7, 0.2]), np.empty(2), np.empty((2, 2))
    assert f(0.0, q, v, out=out) is out
    assert f.mass(0.0, q, v, None, M) is M
    np.testing.assert_array_equal(out, f(0.0, q, v))
    first = f(0.0, q, v)
    f(0.0, -q, v)
    np.testing.assert_array_equal(first, out)  # a result is the caller's own


def test_what_is_not_an_array_of_doubles_is_converted():
    f = zw.function(pendulum(), {F: 0.5})
    expected = f(1.0, np.array([1.0, -1.0]), np.array([1.0, 1.0]))
    for q in ([1, -1], np.array([1, -1]), np.array([1, -1], dtype=np.float32), np.array([1.0, 9, -1, 9])[::2]):
        np.testing.assert_array_equal(f(1, q, (1, 1)), expected)


def test_many_states_at_once_are_many_states_one_by_one():
    f = zw.function(pendulum(), inputs=[F])
    q, v, u = states(50)
    one_by_one = [f(0.0, *state) for state in zip(q, v, u, strict=True)]
    np.testing.assert_array_equal(f.batch(0.0, q, v, u), one_by_one)
    out = np.empty((50, 1))
    assert f.multipliers.batch(np.zeros(50), q, v, u, out=out) is out
    np.testing.assert_allclose(out[:, 0], [by_hand(*s[:2], s[2][0])[1] for s in zip(q, v, u, strict=True)], rtol=1e-11)
    np.testing.assert_array_equal(f.batch(0.0, q, v, [0.5]), f.batch(0.0, q, v, np.full((50, 1), 0.5)))
    assert f.batch(0.0, np.zeros((0, 2)), np.zeros((0, 2)), [1.0]).shape == (0, 2)


def test_other_languages_call_it_by_its_address():
    f = zw.function(pendulum(), inputs=[F])
    q, v = np.array([0.3, -1.1]), np.array([0.7, 0.2])
    with pytest.raises(InputError, match="call this function once"):
        _ = f.address
    expected = f(0.0, q, v, [1.5])
    foreign = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(f.address)
    given, out, work = np.array([0.0, *q, *v, 1.5]), np.empty(2), np.empty(f.work_size)
    assert foreign(out.ctypes.data, given.ctypes.data, work.ctypes.data) == 0
    np.testing.assert_array_equal(out, expected)
    assert f.mass.work_size > 0
    given[1:3] = 0.0  # the rod has no length there
    assert foreign(out.ctypes.data, given.ctypes.data, work.ctypes.data) != 0
    assert np.isnan(out).all()


def test_multipliers_of_redundant_constraints_are_the_shortest():
    f = zw.function(pendulum(twice=x**2 + y**2 - L**2), {F: 0.5})
    phi = 0.7
    q = 1.3 * np.array([np.sin(phi), -np.cos(phi)])
    v = 0.9 * np.array([np.cos(phi), np.sin(phi)])
    a, lam, reaction, _ = by_hand(q, v, 0.5)
    np.testing.assert_allclose(f(0.0, q, v), a, rtol=1e-12)
    np.testing.assert_allclose(f.reactions(0.0, q, v), reaction, rtol=1e-12)
    np.testing.assert_allclose(f.multipliers(0.0, q, v), lam * np.array([1, 2]) / 5, rtol=1e-12)


@pytest.mark.both_codes
@pytest.mark.parametrize("axis", [(0, 1, 0), (0, 0, 1), (0, -0.6, 0.8)])
def test_machine_code_holds_for_a_redundant_linkage_in_space(axis):
    # Four parallel hinges: three rows too many. Across its plane all accelerations are rounding, and so are those that
    # rows miss; that is no contradiction for which each call would have to be looked at with all digits.
    along = np.array([1.0, 0.0, 0.0])
    up = np.cross(axis, along)

    def at(i, j):
        return tuple(i * along + j * up)

    left, top, right = (
        mb.Body(name, 2, inertia=(0.1, 0.2, 0.3), position=at(*place))
        for name, place in (("left", (0, 0.5)), ("top", (0.5, 1)), ("right", (1, 0.5)))
    )
    pins = [(mb.ground, left, (0, 0)), (left, top, (0, 1)), (top, right, (1, 1)), (right, mb.ground, (1, 0))]
    joints = [mb.Revolute(f"pin{i}", a, b, at=at(*p), axis=axis) for i, (a, b, p) in enumerate(pins)]
    linkage = mb.Mechanism([left, top, right], joints, [mb.Gravity(tuple(-9.81 * (0.6 * along + 0.8 * up)))])
    system = linkage.system
    moving = dict(zip(system.coordinate_names, system.velocities, strict=True))
    speed = 1.7 * np.cross(axis, up)
    rates = {moving[f"top.{part}"]: float(v) for part, v in zip("xyz", speed, strict=True)}
    start = zw.assemble(system, {c: linkage.start[c] for c in system.coordinates} | rates)
    q, v = (np.array([start[c] for c in keys]) for keys in (system.coordinates, system.velocities))
    f = zw.function(linkage)
    truth = zw.evaluate(system, start)
    np.testing.assert_allclose(f(0.0, q, v), truth.acceleration, atol=1e-13)
    np.testing.assert_allclose(f.reactions(0.0, q, v), truth.constraint_force, atol=1e-11)
    for part in (f, f.reactions):
        foreign = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(part.address)
        given, out, work = np.array([0.0, *q, *v]), np.empty(len(q)), np.empty(part.work_size)
        assert foreign(out.ctypes.data, given.ctypes.data, work.ctypes.data) == 0


def test_redundant_constraints_that_contradict_each_other_are_refused_by_name():
    twice = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"one": x - y, "two": 2 * x - 2 * y - k * zw.t**2}
    )
    f = zw.function(twice, inputs=[k])
    np.testing.assert_allclose(f(0.0, [1.0, 1.0], [0.0, 0.0], [0.0]), 0.0, atol=1e-15)
    with pytest.raises(InconsistentError, match="'two' contradicts constraint 'one'"):
        f(0.0, [1.0, 1.0], [0.0, 0.0], [3.0])


def test_constraints_that_are_not_ideal_are_in_the_reactions():
    """A bead on a rail with friction C = −c N: M q̈ + bias = reactions."""
    c = zw.parameters("c")
    rail = zw.System(
        (x, y), kinetic=(dot(x)**2 + dot(y)**2)/2, potential=g*y, constraints={"rail": y - x/2},
        nonideal={x: -c*dot(x), y: -c*dot(y)}, parameters={g: 9.81, c: 0.3},
    )  # fmt: skip
    f = zw.function(rail)
    q, v = np.array([1.0, 0.5]), np.array([2.0, 1.0])
    a = f(0.0, q, v)
    along = np.array([2.0, 1.0]) / np.sqrt(5)
    expected = along * (along @ (np.array([0, -9.81]) - 0.3 * v))
    np.testing.assert_allclose(a, expected, rtol=1e-13)
    np.testing.assert_allclose(f.mass(0.0, q, v) @ a + f.bias(0.0, q, v), f.reactions(0.0, q, v), rtol=1e-13)


def test_a_singular_mass_matrix_is_made_up_for_by_the_constraints():
    lazy = zw.System(
        (x, y), kinetic=dot(x)**2/2, potential=g*x, constraints={"tie": y - x**2}, parameters={g: 9.81}
    )  # fmt: skip
    f = zw.function(lazy)
    np.testing.assert_allclose(f(0.0, [0.5, 0.25], [1.0, 1.0]), [-9.81, 2 - 9.81], rtol=1e-13)
    free = zw.System((x, y), kinetic=(dot(x) + dot(y)) ** 2 / 2)
    with pytest.raises(UndeterminedError, match="undetermined along"):
        zw.function(free)(0.0, [0.0, 0.0], [0.0, 0.0])


@pytest.mark.parametrize("first", [0.0, 1e-9, 0.4])
def test_at_singular_positions_it_says_what_evaluate_says_and_goes_on_behind_them(first):
    """x y = 0: two lines that cross. On a line, the motion is free along it."""
    cross = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, forces=[1, 1], constraints={"cross": x * y})
    f = zw.function(cross)
    f(0.0, [first, 0.0], [0.0, 0.0])
    for place in (0.0, 1e-9, 1e-5, 0.3, 1.0):
        now = zw.evaluate(cross, {x: place, y: 0, dot(x): 0, dot(y): 0})
        np.testing.assert_allclose(f(0.0, [place, 0.0], [0.0, 0.0]), now.acceleration, atol=1e-14)
        np.testing.assert_allclose(f.reactions(0.0, [place, 0.0], [0.0, 0.0]), now.constraint_force, atol=1e-14)
    assert f.batch(0.0, [[0.0, 0.0], [1.0, 0.0]], np.zeros((2, 2))).tolist() == [[1, 1], [1, 0]]


def test_forces_that_switch_are_what_they_are_at_the_state():
    block = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces=[-sp.sign(dot(x)) * sp.Max(0, x)], parameters={})
    f = zw.function(block)
    assert [f(0.0, [a], [b])[0] for a, b in ((2.0, 1.0), (2.0, -1.0), (-2.0, 1.0), (2.0, 0.0))] == [-2, 2, 0, 0]


def test_tables_and_time_are_read_at_the_time_of_the_call():
    f = zw.function(pendulum(), {F: zw.Signal([0, 2], [0, 4])})
    q, v = np.array([0.3, -1.1]), np.array([0.7, 0.2])
    np.testing.assert_allclose(f(1.5, q, v), by_hand(q, v, 3.0)[0], rtol=1e-13)


def test_large_systems_are_functions_of_the_same_kind(monkeypatch):
    monkeypatch.setattr(families, "ROLLED_FROM", 0)
    xs, ys = zw.coordinates(" ".join(f"a{i}" for i in range(6))), zw.coordinates(" ".join(f"b{i}" for i in range(6)))
    places = [(sp.Integer(0), sp.Integer(0)), *zip(xs, ys, strict=True)]
    links = {
        f"link {i}": (c - a)**2 + (d - b)**2 - 1 for i, ((a, b), (c, d)) in enumerate(itertools.pairwise(places))
    }  # fmt: skip
    chain = zw.System(
        (*xs, *ys), kinetic=sum(m*(dot(a)**2 + dot(b)**2)/2 for a, b in places[1:]), potential=sum(m*g*b for b in ys),
        constraints=links, parameters={m: 2, g: 9.81},
    )  # fmt: skip
    draw = np.random.default_rng(5)
    q, v = np.concatenate([np.arange(1.0, 7.0), draw.normal(size=6) / 5]), draw.normal(size=12)
    f = zw.function(chain, inputs=[g])
    # the saddle-point system of the same chain, written out with NumPy
    P, V = (np.concatenate([np.zeros((2, 1)), w.reshape(2, 6)], axis=1) for w in (q, v))
    A, b = np.zeros((6, 12)), np.zeros(6)
    for i in range(6):
        d, e = P[:, i + 1] - P[:, i], V[:, i + 1] - V[:, i]
        for c in range(2):
            A[i, 6 * c + i] = 2 * d[c]
            if i:
                A[i, 6 * c + i - 1] = -2 * d[c]
        b[i] = -2 * e @ e
    Q = np.concatenate([np.zeros(6), np.full(6, -2 * 3.7)])
    both = np.block([[2 * np.eye(12), -A.T], [A, np.zeros((6, 6))]])
    expected = np.linalg.solve(both, np.concatenate([Q, b]))
    np.testing.assert_allclose(f(0.0, q, v, [3.7]), expected[:12], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(f.multipliers(0.0, q, v, [3.7]), expected[12:], rtol=1e-10)
    np.testing.assert_allclose(f.reactions(0.0, q, v, [3.7]), A.T @ expected[12:], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(f.bias(0.0, q, v, [3.7]), -Q)
    np.testing.assert_allclose(f.mass(0.0, q, v, [3.7]), 2 * np.eye(12))


def test_a_mechanism_chooses_at_its_own_start():
    rod = mb.PlanarBody("rod", 1.0, inertia=1 / 12, position=(0.5, 0))
    pin = mb.Revolute("pin", mb.ground, rod, at=(0, 0))
    swing = mb.Mechanism([rod], joints=[pin], forces=[mb.Gravity((0, -9.81))])
    f = zw.function(swing)
    assert f.address
    now = zw.evaluate(swing)
    q, v = np.array([0.5, 0.0, 0.0]), np.zeros(3)
    np.testing.assert_allclose(f(0.0, q, v), now.acceleration, rtol=1e-13, atol=1e-14)
    assert f(0.0, q, v)[2] == pytest.approx(-1.5 * 9.81)  # 3g/2L, L = 1


def test_threads_may_share_a_function():
    f = zw.function(pendulum(), inputs=[F])
    q, v, u = states(400)
    expected = f.batch(0.0, q, v, u)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: f(0.0, q[i], v[i], u[i]), range(400)))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: zw.function(pendulum(), inputs=["Q"]), "inputs names Q, which is not a parameter or known function"),
        (lambda: zw.function(pendulum(), inputs=[F, "F"]), "inputs names F twice"),
        (lambda: zw.function(pendulum()), "parameter F.* has no value"),
        (lambda: zw.function(pendulum(), {m: [1, 2], F: 0}), "parameters are arrays"),
        (lambda: zw.function("pendulum"), "function takes a System"),
        (lambda: zw.function(pendulum(drive=x - F), inputs=[F]), "derivatives of F.* by constraint 'drive'"),
        (lambda: zw.function(pendulum(wall=zw.Constraint(x >= 0)), {F: 0}), "'wall' is one-sided"),
    ],
)
def test_what_cannot_be_a_function_is_refused_by_name(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.0, [1.0], [0.0, 0.0], [1.0]), r"q has shape \(1,\): give \(2,\) numbers for x, y"),
        ((0.0, [1.0, 1.0], np.zeros((2, 1)), [1.0]), r"v has shape \(2, 1\)"),
        ((0.0, [1.0, 1.0], [0.0, 0.0], [1.0, 2.0]), r"u has shape \(2,\): give \(1,\) numbers for F"),
        ((0.0, np.array([1.0, np.nan]), np.zeros(2), [1.0]), "y = nan is not finite"),
        ((0.0, np.ones(2), np.array([np.inf, 0.0]), [1.0]), "x' = inf is not finite"),
        ((np.nan, np.ones(2), np.zeros(2), [1.0]), "t = nan is not finite"),
        ((0.0, np.ones(2), np.zeros(2), np.array([np.nan])), "F = nan is not finite"),
        ((0.0, ["1", "2"], np.zeros(2), [1.0]), "q = .* is not a real number"),
        ((0.0, np.ones(2), np.zeros(2), [1.0], np.empty(3)), r"out is float64 \(3,\): an array of float64 with shape"),
        ((0.0, np.ones(2), np.zeros(2), [1.0], [0.0, 0.0]), "out is list"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, words):
    f = zw.function(pendulum(), inputs=[F])
    f(0.0, np.ones(2), np.zeros(2), [1.0])
    with pytest.raises(InputError, match=words):
        f(*arguments)


def test_bad_stacks_are_refused_by_name():
    f = zw.function(pendulum(), inputs=[F])
    with pytest.raises(InputError, match=r"states of x, y are \(N, 2\)"):
        f.batch(0.0, np.ones((3, 2)), np.ones((2, 2)), [1.0])
    with pytest.raises(InputError, match="for each of 3 states"):
        f.batch(0.0, np.ones((3, 2)), np.ones((3, 2)), np.ones((2, 1)))
    with pytest.raises(InputError, match=r"Q\[0, 0\] = nan is not finite"):
        f.batch(0.0, np.full((3, 2), np.nan), np.ones((3, 2)), [1.0])


def test_a_force_that_is_not_finite_is_refused_by_name():
    f = zw.function(zw.System((x,), kinetic=dot(x) ** 2 / 2, forces=[1 / x]))
    assert f(0.0, [0.5], [0.0]) == 2.0
    with pytest.raises(InputError, match="entry of Q of x is not finite"):
        f(0.0, [0.0], [0.0])


def test_a_function_that_was_copied_or_sent_elsewhere_says_the_same():
    f = zw.function(pendulum(), {g: 3.0}, inputs=(s for s in ("F", k)))
    q, v, u = np.array([0.5, -1.2]), np.array([1.2, 0.5]), np.array([2.0, 0.3])
    for again in (copy.copy, copy.deepcopy, lambda own: pickle.loads(pickle.dumps(own))):
        np.testing.assert_array_equal(again(f)(0.0, q, v, u), f(0.0, q, v, u))
        for name in ("multipliers", "reactions", "bias", "mass"):
            own = getattr(f, name)
            np.testing.assert_array_equal(again(own)(0.0, q, v, u), own(0.0, q, v, u))
