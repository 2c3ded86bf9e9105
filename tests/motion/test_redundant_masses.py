"""Frames with more rods than they need, whose masses differ by decades or that are long: rigid bodies all the same.

The truth is a rigid body about its pin, J φ̈ = torque (SciPy's DOP853 at 1e-13). Its multipliers are the shortest λ with
Aᵀλ = M q̈ − Q (NumPy's `lstsq` by the singular values of A), with A and q̈ written down here.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import zwang as zw
from zwang import dot

G = 9.81
GRAVITY = np.array([0, G])
END = 0.8


class Frame:
    """Cells with both diagonals, one behind the other, with the first corner pinned."""

    def __init__(self, points, masses, doubly=True):
        self.points, self.masses = np.array(points, float), np.array(masses, float)
        cells = len(points) // 2 - 1
        self.rods = [(2 * i, 2 * i + 1) for i in range(cells + 1)]
        for i in range(cells):
            a, b, c, d = range(2 * i, 2 * i + 4)
            self.rods += [(a, c), (b, d), (a, d), (b, c)][: 4 if doubly else 3]

    def system(self, symbols=None):
        x = zw.coordinates("x", shape=self.points.shape)
        masses = self.masses if symbols is None else symbols
        lengths = {
            f"r{i}_{j}": (((x[i] - x[j]) ** 2).sum() - ((self.points[i] - self.points[j]) ** 2).sum()) / 2
            for i, j in self.rods
        }
        system = zw.System(
            [*x.ravel()],
            kinetic=sum(m * (dot(a) ** 2 + dot(b) ** 2) / 2 for m, (a, b) in zip(masses, x, strict=True)),
            potential=sum(G * m * b for m, (_, b) in zip(masses, x, strict=True)),
            constraints=lengths | {"px": x[0, 0], "py": x[0, 1]},
            parameters=None if symbols is None else dict(zip(symbols, self.masses, strict=True)),
        )
        return system, {x: self.points, dot(x): 0.0}

    def in_families(self):
        """The same, in loops over tables."""
        x = zw.coordinates("x", shape=self.points.shape)
        (a, b), (length, m) = zw.coordinates("a b", shape=2), zw.parameters("l m")
        first, second = np.array(self.rods).T
        lengths = np.linalg.norm(self.points[first] - self.points[second], axis=1)
        rod = zw.family((((a - b) ** 2).sum() - length**2) / 2, {a: x[first], b: x[second], length: lengths})
        system = zw.System(
            [*x.ravel()],
            kinetic=zw.family(m * (dot(a) ** 2).sum() / 2, {a: x, m: self.masses}),
            potential=zw.family(G * m * a[1], {a[1]: x[:, 1], m: self.masses}),
            constraints={"rod": rod, "pin": zw.family(a[0], {a[0]: x[0]})},
        )
        return system, {x: self.points, dot(x): 0.0}

    def truth(self, masses=None):
        """Positions, velocities and accelerations (n, 2) at the end."""
        masses = self.masses if masses is None else masses
        inertia, (cx, cy) = masses @ (self.points**2).sum(axis=1), masses @ self.points

        def bend(angle):
            return -G * (cx * np.cos(angle) - cy * np.sin(angle)) / inertia

        turn = solve_ivp(lambda _, s: [s[1], bend(s[0])], (0, END), [0, 0], method="DOP853", rtol=1e-13, atol=1e-13)
        angle, speed = turn.y[:, -1]
        c, s = np.cos(angle), np.sin(angle)
        q = self.points @ np.array([[c, s], [-s, c]])
        across = q @ np.array([[0, 1], [-1, 0]])
        return q, speed * across, bend(angle) * across - speed**2 * q

    def multipliers(self, q, acceleration):
        A = np.zeros((len(self.rods) + 2, q.size))
        for row, (i, j) in zip(A, self.rods, strict=False):
            row[2 * i : 2 * i + 2], row[2 * j : 2 * j + 2] = q[i] - q[j], q[j] - q[i]
        A[-2, 0] = A[-1, 1] = 1
        force = (self.masses[:, None] * (acceleration + GRAVITY)).ravel()
        return np.linalg.lstsq(A.T, force, rcond=1e-11)[0]


def drawn(cells, seed, decades):
    rng = np.random.default_rng(seed)
    grid = np.array([(i, j) for i in range(cells + 1) for j in (0, 1)], float)
    points = grid + rng.uniform(-0.25, 0.25, grid.shape)
    return Frame(points - points[0], 10.0 ** rng.uniform(-decades / 2, decades / 2, len(points)))


def square(*masses):
    return Frame([(i, j) for i in range(len(masses) // 2) for j in (0, 1)], masses)


HEAVY = [square(1, 1, 1, 1e6), square(1, 1e-6, 1e6, 1), square(1, 1e3, 1e-3, 1e-3, 1e3, 1), drawn(4, 5, 6)]


def require_right(motion, frame, close=2e-12):
    q, _, acceleration = frame.truth()
    assert motion.attrs["status"] == "finished"
    assert motion.attrs["doubts"] == ""
    size = np.abs(frame.points).max()
    np.testing.assert_allclose(motion.q.values[-1], q.ravel(), rtol=0, atol=close * size)
    expected = frame.multipliers(q, acceleration)
    np.testing.assert_allclose(motion.multiplier.values[-1], expected, rtol=0, atol=close * np.abs(expected).max())


@pytest.mark.parametrize("form", ["fundamental", "gibbs-appell", "lagrange"])
@pytest.mark.parametrize("frame", HEAVY)
def test_masses_that_differ_by_decades_cost_no_digits(frame, form):
    system, start = frame.system()
    require_right(zw.simulate(system, start, END, samples=3, form=form), frame)


@pytest.mark.parametrize("frame", HEAVY[1:3])
@pytest.mark.parametrize(
    ("method", "tol", "close"), [("taylor", 1e-12, 2e-12), ("radau", 1e-9, 1e-8), ("lsoda", 1e-9, 1e-7)]
)
def test_so_it_is_by_every_engine(frame, method, tol, close):
    if method == "taylor":
        pytest.importorskip("heyoka")
    system, start = frame.system()
    require_right(zw.simulate(system, start, END, samples=3, method=method, tol=tol), frame, close)


@pytest.mark.parametrize("cells", [3, 60])
def test_so_it_is_in_loops_over_tables(cells):
    frame = drawn(cells, 8, 5)
    system, start = frame.in_families()
    require_right(zw.simulate(system, start, END, samples=3), frame)


@pytest.mark.parametrize("cells", [40, 120])
def test_length_costs_no_digits(cells):
    rng = np.random.default_rng(cells)
    frame = square(*rng.uniform(0.5, 1.5, 2 * cells + 2))
    system, start = frame.in_families()
    require_right(zw.simulate(system, start, END, samples=3, tol=1e-11), frame, 1e-10)


def test_a_stepper_and_a_function_say_the_same():
    frame = drawn(2, 3, 6)
    system, start = frame.system()
    q, v, acceleration = (each.ravel() for each in frame.truth())
    _, found, _ = zw.Stepper(system, start, tol=1e-12).advance(END)
    np.testing.assert_allclose(found, q, rtol=0, atol=2e-12)
    f = zw.function(system)
    np.testing.assert_allclose(f(END, q, v), acceleration, rtol=0, atol=1e-12 * np.abs(acceleration).max())
    expected = frame.multipliers(q.reshape(-1, 2), acceleration.reshape(-1, 2))
    np.testing.assert_allclose(f.multipliers(END, q, v), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_samples_with_masses_of_their_own_are_right_each():
    frame, rng = drawn(2, 4, 0), np.random.default_rng(2)
    symbols = zw.parameters(" ".join(f"m{i}" for i in range(6)))
    system, start = frame.system(symbols)
    masses = 10.0 ** np.concatenate([rng.uniform(-0.1, 0.1, (8, 6)), rng.uniform(-3, 3, (4, 6))])
    masses[8:10, :5], masses[8:10, 5] = 1, [1e5, 1e-5]
    found = zw.simulate_many(system, start, END, samples=2, parameters=dict(zip(symbols, masses.T, strict=True)))
    assert set(found.status.values.tolist()) == {"finished"}
    for k, own in enumerate(masses):
        np.testing.assert_allclose(found.q.values[k, -1], frame.truth(own)[0].ravel(), rtol=0, atol=5e-12)


def test_sensitivities_are_those_of_the_rigid_body():
    """By differences of the rigid body's closed equation, third order in a step of 1e-3 of a mass."""
    frame = square(1, 1, 1, 1e5)
    symbols = zw.parameters("a b c d")
    system, start = frame.system(symbols)
    found = zw.sensitivities(system, start, END, [symbols[1], symbols[3]], samples=2)
    for column, which in enumerate((1, 3)):

        def moved(share, which=which):
            masses = frame.masses.copy()
            masses[which] *= 1 + share
            return frame.truth(masses)[0].ravel()

        h = 1e-3
        slope = (8 * (moved(h) - moved(-h)) - moved(2 * h) + moved(-2 * h)) / (12 * h)
        np.testing.assert_allclose(found.dq.values[-1][:, column] * frame.masses[which], slope, rtol=0, atol=1e-9)


def test_redundant_rows_at_rest_are_answered_by_machine_code(monkeypatch):
    """The terms of a pin's row are rounding there, and so is what they are missed by."""
    frame = drawn(2, 3, 1)
    system, start = frame.system()
    state = frame.points.ravel(), np.zeros(frame.points.size)
    f = zw.function(system)
    expected = zw.evaluate(system, start).acceleration
    monkeypatch.setattr(type(f._core), "slowly", None)
    np.testing.assert_allclose(f(0.0, *state), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(f.reactions(0.0, *state)[2:4], frame.masses[1] * (expected[2:4] + GRAVITY), atol=1e-11)
