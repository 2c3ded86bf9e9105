"""Chains of hinges and slides without masses between them, one of them driven, against Newton and Euler."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from zwang import multibody as mb
from zwang import t

GRAVITY = np.array([0.3, -0.5, -9.81])


class Chain:
    """A random chain from the ground to one body; `rates` are the expressions in time of driven steps, by number."""

    def __init__(self, seed, driven=1):
        draw = np.random.default_rng(seed)
        count = int(draw.integers(max(2, driven), 5))
        kinds = draw.permutation(["angle"] * 3 + ["travel"] * 3)[:count]
        self.axes = [axis / np.linalg.norm(axis) for axis in draw.normal(size=(count, 3))]
        self.points = draw.normal(scale=0.3, size=(count, 3))
        self.kinds = [str(kind) for kind in kinds]
        self.mass, self.inertia = draw.uniform(0.5, 2), draw.uniform(0.2, 0.3, 3)
        self.centre = draw.normal(scale=0.7, size=3)
        speeds = draw.choice([0, 1, 2], size=driven)
        shapes = [sp.Float(draw.uniform(0.5, 1.5)), 0.4 + sp.sin(2 * t), sp.cos(t) - t / 5]
        self.rates = {int(i): shapes[k] for i, k in zip(draw.permutation(count)[:driven], speeds, strict=True)}
        self.body, rough = mb.Body("load", self.mass, tuple(self.inertia), tuple(self.centre)), draw.normal(size=3)
        steps = [
            mb.Step(f"s{i}", kind, tuple(axis), at=tuple(point))
            for i, (kind, axis, point) in enumerate(zip(self.kinds, self.axes, self.points, strict=True))
        ]
        self.joint = mb.Series("chain", mb.ground, self.body, at=tuple(self.centre), steps=steps)
        drivers = [mb.Driver(f"motor{i}", self.joint, speed=rate, coordinate=f"s{i}") for i, rate in self.rates.items()]
        self.mechanism = mb.Mechanism([self.body], [self.joint, *drivers], [mb.Gravity(tuple(GRAVITY))])
        guess = dict(self.mechanism.guess) | {
            x.diff(): v for x, v in zip(self.body.coordinates[:3], rough, strict=True)
        }
        self.start = zw.assemble(self.mechanism.system, guess)

    def simulate(self, until, **options):
        """The readings of the steps, (time, step), and the motion."""
        motion = zw.simulate(self.mechanism.system, self.start, until, samples=4, **options)
        found = self.mechanism.coordinates(motion).sel(joint="chain")
        return np.stack([found[f"s{i}"].values for i in range(len(self.kinds))], axis=1), motion

    def reference(self, until):
        """The same by Newton's and Euler's laws in spatial vectors at the world's origin, integrated by SciPy."""
        count, driven = len(self.kinds), sorted(self.rates)
        free = [i for i in range(count) if i not in self.rates]
        pushes = {i: sp.lambdify(t, sp.diff(rate, t)) for i, rate in self.rates.items()}
        weight, principal = self.mass * GRAVITY, np.diag(self.inertia)

        def slopes(time, y):
            x, v = y[:count], y[count:]
            R, r = np.eye(3), np.zeros(3)  # where a point p of the start has been brought: R p + r
            S, V, drift = np.zeros((6, count)), np.zeros(6), np.zeros(6)
            for i in range(count):
                axis, point = R @ self.axes[i], R @ self.points[i] + r
                if self.kinds[i] == "angle":
                    S[:, i] = [*axis, *np.cross(point, axis)]
                    c, s = np.cos(x[i]), np.sin(x[i])
                    a = self.axes[i]
                    turn = c * np.eye(3) + s * skew(a) + (1 - c) * np.outer(a, a)
                    r = r + R @ (self.points[i] - turn @ self.points[i])
                    R = R @ turn
                else:
                    S[3:, i] = axis
                    r = r + axis * x[i]
                w, u = V[:3], V[3:]
                drift = drift + v[i] * np.array(
                    [*np.cross(w, S[:3, i]), *(np.cross(w, S[3:, i]) + np.cross(u, S[:3, i]))]
                )
                V = V + v[i] * S[:, i]
            c, w = R @ self.centre + r, V[:3]
            inertia = R @ principal @ R.T
            J = np.vstack([S[:3], S[3:] - skew(c) @ S[:3]])  # of angular velocity and of the centre's velocity
            velocity = V[3:] + np.cross(w, c)
            bias = np.array([*drift[:3], *(drift[3:] + np.cross(drift[:3], c) + np.cross(w, velocity))])
            mass = np.zeros((6, 6))
            mass[:3, :3], mass[3:, 3:] = inertia, self.mass * np.eye(3)
            force = np.array([*-np.cross(w, inertia @ w), *weight])
            a = np.zeros(count)
            a[driven] = [pushes[i](time) for i in driven]
            rest = J.T @ (force - mass @ (bias + J @ a))
            M = J.T @ mass @ J
            a[free] = np.linalg.solve(M[np.ix_(free, free)], rest[free]) if free else []
            return np.concatenate([v, a])

        start = self.start
        first = [*(start[x] for x in self.joint.variables), *(start[x.diff()] for x in self.joint.variables)]
        times = np.linspace(0, until, 4)
        return solve_ivp(slopes, (0, until), first, "DOP853", times, rtol=1e-10, atol=1e-10).y[:count].T


def skew(a):
    """The matrix of a ×."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def compare(chain, until=1.5, **options):
    """Hold a motion against the reference; it has nothing to report on the way."""
    found, motion = chain.simulate(until, tol=1e-9, **options)
    np.testing.assert_allclose(found, chain.reference(until), rtol=1e-6, atol=1e-6)
    return motion.attrs["message"]


@pytest.mark.parametrize("seed", range(30))
def test_a_driven_chain_moves_as_newton_and_euler_say(seed):
    assert compare(Chain(seed)) == "finished at t = 1.5."


@pytest.mark.parametrize(
    ("seed", "options"),
    [
        (3, {"method": "radau"}),
        (6, {"method": "lsoda"}),
        (8, {"method": "taylor"}),
        (3, {"drift": "projection"}),
        (6, {"drift": "baumgarte"}),
        (8, {"form": "lagrange"}),
    ],
)
def test_so_it_does_with_every_engine_and_form(seed, options):
    if options.get("method") == "taylor":
        pytest.importorskip("heyoka")
    assert compare(Chain(seed), **options) == "finished at t = 1.5."


@pytest.mark.parametrize("seed", [3, 6, 8])
def test_gibbs_and_appell_choose_other_coordinates_on_the_way(seed):
    assert compare(Chain(seed), form="gibbs-appell").startswith("finished at t = 1.5.")


@pytest.mark.parametrize("seed", [200, 203])
def test_chains_with_two_motors(seed):
    assert compare(Chain(seed, driven=2)) == "finished at t = 1.5."


def jib(out=0.3):
    """A load on a telescope that slews at 1 rad/s: its distance from the mast is out cosh t."""
    load = mb.Body("load", 2.0, (0.1, 0.1, 0.1), position=(out, 0, 0))
    steps = [mb.Step("slew", "angle", (0, 0, 1), at=(0, 0, 0)), mb.Step("out", "travel", (1, 0, 0))]
    boom = mb.Series("boom", mb.ground, load, at=(out, 0, 0), steps=steps)
    return mb.Mechanism([load], [boom, mb.Driver("motor", boom, speed=1.0, coordinate="slew")])


@pytest.mark.parametrize("method", ["native", "taylor", "radau"])
@pytest.mark.parametrize("drift", ["none", "projection"])
def test_a_slewing_telescope_reaches_out_as_cosh(method, drift):
    if method == "taylor":
        pytest.importorskip("heyoka")
    crane = jib()
    motion = zw.simulate(crane.system, crane.start, 3.0, samples=7, method=method, drift=drift)
    assert motion.attrs["message"] == "finished at t = 3."
    found = crane.coordinates(motion).out.sel(joint="boom")
    np.testing.assert_allclose(found, 0.3 * (np.cosh(motion.time) - 1), atol=2e-11)


def test_telescopes_side_by_side():
    crane = jib()
    speeds = np.linspace(0.0, 0.5, 5)
    rates = {
        key: speeds for key in crane.start if str(key) in ("Derivative(boom.out(t), t)", "Derivative(load.x(t), t)")
    }
    starts = crane.start | rates
    motions = zw.simulate_many(crane.system, starts, 3.0, samples=3)
    assert set(motions.status.values) == {"finished"}
    # r̈ = r from r = 0.3, ṙ = v: r = 0.3 cosh t + v sinh t
    found = motions.q.sel(coordinate="boom.out")[:, -1] + 0.3
    np.testing.assert_allclose(found, 0.3 * np.cosh(3) + speeds * np.sinh(3), atol=1e-10)


@pytest.mark.parametrize("drift", ["none", "projection", "baumgarte"])
@pytest.mark.parametrize("driven", ["inner", "outer"])
def test_two_hinges_of_which_one_is_driven(driven, drift):
    # a ball about its middle has one inertia about every axis: the motor leaves the other hinge alone
    ball = mb.Body("ball", 1.0, (0.2, 0.2, 0.2), position=(0, 0, 0))
    steps = [mb.Step("outer", "angle", (0, 0, 1)), mb.Step("inner", "angle", (0, 1, 0))]
    gimbal = mb.Series("gimbal", mb.ground, ball, at=(0, 0, 0), steps=steps)
    mechanism = mb.Mechanism([ball], [gimbal, mb.Driver("motor", gimbal, speed=1.0, coordinate=driven)])
    motion = zw.simulate(mechanism.system, mechanism.start, 7.0, samples=8, drift=drift)
    assert motion.attrs["message"] == "finished at t = 7."
    found = mechanism.coordinates(motion).sel(joint="gimbal")
    other = {"inner": "outer", "outer": "inner"}[driven]
    np.testing.assert_allclose(found[driven], motion.time, atol=1e-9)
    np.testing.assert_allclose(found[other], 0, atol=1e-9)
