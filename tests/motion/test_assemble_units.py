"""Assembly in any units: metres, millimetres and micrometres give the same start, the nearest one, or none of them."""

import numpy as np
import pytest
from scipy.optimize import minimize

import zwang as zw
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InputError
from zwang.linalg.newton import nearest_point, nearest_root
from zwang.lowering.matrices import matrix_kernel
from zwang.model.values import parameter_values

x, y = zw.coordinates("x y")


def four_bar(s, noise, seed):
    """A four-bar in the plane, described roughly; all lengths times s."""
    draw = np.random.default_rng(seed)

    def rough(*place):
        return tuple(s * (np.array(place) + noise * draw.normal(size=2)))

    a = mb.PlanarBody("a", 1.0, 0.0075 * s**2, position=rough(0, 0.15), angle=np.pi / 2 + noise * draw.normal())
    b = mb.PlanarBody("b", 2.0, 0.17 * s**2, position=rough(0.5, 0.4), angle=noise * draw.normal())
    c = mb.PlanarBody("c", 1.5, 0.045 * s**2, position=rough(1, 0.3), angle=noise * draw.normal())
    joints = [
        mb.Revolute("A", mb.ground, a, at=((0, 0), (-0.15 * s, 0))),
        mb.Revolute("B", a, b, at=((0.15 * s, 0), (-0.5 * s, 0))),
        mb.Revolute("C", b, c, at=((0.5 * s, 0), (0, 0.3 * s))),
        mb.Revolute("D", mb.ground, c, at=((s, 0), (0, -0.3 * s))),
    ]
    return mb.Mechanism([a, b, c], joints)


def arm(s, noise, seed):
    """Two bodies in space on a hinge and a universal joint, described roughly; all lengths times s."""
    draw = np.random.default_rng(seed)

    def body(name, mass, length, place):
        return mb.Body(
            name,
            mass,
            tuple(mass * (length * s) ** 2 * np.array([0.5, 1, 0.8]) / 12),
            position=tuple(s * (np.array(place) + noise * draw.normal(size=3))),
            orientation=tuple(np.array([1, 0, 0, 0]) + noise * draw.normal(size=4)),
        )

    a, b = body("a", 1.0, 0.3, (0.15, 0, 0)), body("b", 2.0, 1.0, (0.8, 0, 0.1))
    at = ((0.15 * s, 0, 0), (-0.5 * s, 0, 0))
    joints = [
        mb.Revolute("A", mb.ground, a, at=((0, 0, 0), (-0.15 * s, 0, 0)), axis=((0, 0, 1), (0, 0, 1))),
        mb.Universal("B", a, b, at=at, axes=((0, 1, 0), (0, 0, 1))),
    ]
    return mb.Mechanism([a, b], joints)


def lengths(mechanism):
    """Which coordinates are lengths."""
    return np.array([q in b.coordinates[: b.dimension] for b in mechanism.movable for q in b.coordinates])


def positions(mechanism, state):
    return np.array([state[q] for q in mechanism.system.coordinates])


@pytest.mark.parametrize("make", [four_bar, arm])
@pytest.mark.parametrize("noise", [0.02, 0.2])
def test_the_start_is_the_same_in_all_units(make, noise):
    for seed in range(2):
        mechanism = make(1.0, noise, seed)
        metres = positions(mechanism, mechanism.start)
        for s in (1e3, 1e6, 1e-3, 3e-4, 1e-6):
            other = make(s, noise, seed)
            there = positions(other, other.start) / np.where(lengths(other), s, 1.0)
            assert np.abs(there - metres).max() < 1e-9


@pytest.mark.parametrize("make", [four_bar, arm])
@pytest.mark.parametrize("s", [1.0, 1e-3])
def test_no_start_nearby_is_nearer(make, s):
    """SciPy's SLSQP, from the start found, minimises the distance in the metric there; it stays where it is."""
    for seed in range(3):
        mechanism = make(s, 0.2, seed)
        system = mechanism.system
        kernel = matrix_kernel(system, {})
        p, _ = parameter_values(system, None)
        target, found = positions(mechanism, mechanism.guess), positions(mechanism, mechanism.start)
        unit = np.where(lengths(mechanism), s, 1.0)
        rest = np.zeros(len(unit))
        M = kernel(0.0, found, rest, p).M * unit * unit[:, None] / s**2
        row = np.where([name.rsplit(".")[-1] in "xyz" for name in system.constraint_names], s, 1.0)

        def distance(u, M=M, aim=target / unit):
            return (u - aim) @ M @ (u - aim), 2 * M @ (u - aim)

        def reads(u, kernel=kernel, unit=unit, rest=rest, p=p, row=row):
            return kernel(0.0, u * unit, rest, p).residual / row

        def slope(u, kernel=kernel, unit=unit, rest=rest, p=p, row=row):
            return kernel(0.0, u * unit, rest, p).A * unit / row[:, None]

        better = minimize(
            distance,
            found / unit,
            jac=True,
            constraints={"type": "eq", "fun": reads, "jac": slope},
            method="SLSQP",
            options={"ftol": 1e-15},
        )
        assert np.abs(reads(found / unit)).max() < 1e-13
        assert better.fun > distance(found / unit)[0] * (1 - 1e-9)
        assert np.abs(better.x - found / unit).max() < 1e-5


@pytest.mark.parametrize("s", [1.0, 1e-3, 1e-6, 1e6])
def test_a_start_beside_its_constraints_is_refused_in_all_units(s):
    """1 part in 10⁶ off is refused, at position and velocity level; rounding is not."""
    pendulum = zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, constraints={"rod": x**2 + y**2 - s**2})
    here = {x: s * 0.6, y: s * 0.8, dot(x): s * 8.0, dot(y): -s * 6.0}
    zw.simulate(pendulum, here, 0.01, samples=2)
    zw.simulate(pendulum, {x: s * np.cos(np.pi / 2), y: s, dot(x): s, dot(y): -s * 6e-17}, 0.01, samples=2)
    for key in (x, dot(x)):
        with pytest.raises(InputError, match="does not satisfy its constraints"):
            zw.simulate(pendulum, here | {key: here[key] * (1 + 1e-6)}, 0.01, samples=2)


@pytest.mark.parametrize("make", [four_bar, arm])
@pytest.mark.parametrize("s", [1.0, 1e-6, 1e6])
def test_what_was_assembled_is_accepted_and_what_is_off_is_not(make, s):
    mechanism = make(s, 0.1, 5)
    assert zw.diagnose(mechanism.system, mechanism.start).violated == ()
    q = mechanism.bodies[1].coordinates[0]
    off = mechanism.start | {q: mechanism.start[q] + 1e-6 * s}
    assert zw.diagnose(mechanism.system, off).violated


@pytest.mark.parametrize("guess", [1e-4, 1.0, 1e4])
def test_a_guess_from_far_away_comes_as_near_as_rounding_lets_it(guess):
    circle = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"ring": x**2 + y**2 - 1})
    found = zw.assemble(circle, {x: 0.6 * guess, y: 0.8 * guess})
    assert found[x] ** 2 + found[y] ** 2 == pytest.approx(1, abs=1e-15)
    assert [found[x], found[y]] == pytest.approx([0.6, 0.8], abs=1e-15 * max(guess, 1000))


def test_a_root_that_is_not_the_nearest_is_said():
    """With too few steps for the nearest one a root is found all the same; `assemble` warns of it."""
    ellipse = lambda x: (np.array([x @ (x * [1, 400]) - 1]), 2 * (x * [1, 400])[None])  # noqa: E731
    target = np.array([0.9, 0.5])
    found = nearest_point(ellipse, lambda x: np.eye(2), target, target, 1e-14, limit=3)
    assert found.root
    assert not found.nearest
    assert nearest_point(ellipse, lambda x: np.eye(2), target, target, 1e-14).nearest


def test_a_search_that_ends_where_nothing_is_defined_finds_nothing_and_prints_nothing(capfd):
    """LAPACK prints to standard output where it is given what is not finite."""

    def cliff(x):
        return np.array([1e-15]), np.array([[1.0 if x[0] >= 1.0 else np.nan]])

    assert not nearest_root(cliff, np.array([1.0]), 1e-14)[1]
    assert capfd.readouterr().out == ""
