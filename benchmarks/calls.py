"""Calls that are made often: what surrounds the numbers, beside NumPy and SciPy doing the same.

One system of 7 coordinates and 6 constraints; a pendulum on a rod, in Cartesian coordinates: its acceleration, a
millisecond of its motion, a second of it. The rivals are what one writes by hand: the saddle-point system with
`numpy.linalg.solve`, and SciPy's DOP853 on it. Times are of the processor: a busy machine troubles them less.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import pinv, sqrtm

import zwang as zw

ROUNDS, TOL, G = 7, 1e-9, 9.81
x, y = zw.coordinates("x y")
m, g, L = zw.parameters("m g L")
PENDULUM = zw.System(
    (x, y),
    kinetic=m * (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2,
    potential=m * g * y,
    constraints={"rod": x**2 + y**2 - L**2},
    parameters={m: 1, g: G, L: 1},
)
START = {x: 1, y: 0, zw.dot(x): 0, zw.dot(y): 0}


def main() -> None:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(7, 7))
    system = X @ X.T + np.eye(7), draw.normal(size=7), draw.normal(size=(6, 7)), draw.normal(size=6)
    table(
        "one system, n = 7, m = 6",
        {
            "zwang.solve: everything": (lambda: zw.solve(*system), 200),
            "sqrtm and pinv: the acceleration": (lambda: textbook(*system), 20),
            "numpy.linalg.solve: the acceleration": (lambda: saddle(*system), 200),
        },
    )
    f, q, v, out = zw.function(PENDULUM), np.array([0.6, -0.8]), np.array([0.8, 0.6]), np.empty(2)
    f(0.0, q, v)
    table(
        "the acceleration of a pendulum",
        {
            "zwang.function": (lambda: f(0.0, q, v, None, out), 5000),
            "zwang.evaluate: everything": (lambda: zw.evaluate(PENDULUM, START), 100),
            "numpy.linalg.solve": (lambda: acceleration(q, v), 500),
        },
    )
    many = np.tile(q, (1000, 1)), np.tile(v, (1000, 1))
    table("a thousand of them", {"zwang.function, batch": (lambda: f.batch(0.0, *many), 20)})
    stepper = zw.Stepper(PENDULUM, START, tol=TOL)
    table(
        f"a millisecond of its motion, tol = {TOL:g}",
        {
            "zwang.Stepper": (lambda: stepper.advance(0.001), 2000),
            "SciPy's DOP853": (lambda: by_scipy(0.001), 20),
        },
    )
    ask: dict[str, Any] = {"samples": 2, "tol": TOL, "progress": False}
    table(
        f"a second of it, two samples, tol = {TOL:g}",
        {
            "zwang.simulate": (lambda: zw.simulate(PENDULUM, START, 1.0, **ask), 50),
            "the same, outputs=('q', 'v')": (lambda: zw.simulate(PENDULUM, START, 1.0, outputs=("q", "v"), **ask), 50),
            "SciPy's DOP853": (lambda: by_scipy(1.0), 3),
        },
    )


def table(title: str, calls: dict[str, tuple[Callable[[], Any], int]]) -> None:
    """The shortest time of each call, in turn, and its ratio to the first."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, (call, count) in calls.items():
            began = time.process_time()
            for _ in range(count):
                call()
            best[name] = min(best[name], (time.process_time() - began) / count)
    first = next(iter(best.values()))
    print(f"\n{title}")
    for name, seconds in best.items():
        print(f"   {name:40s} {seconds * 1e6:12,.1f} µs {seconds / first:10,.1f}")


def textbook(M: np.ndarray, Q: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """q̈ = a + M^{-1/2}(AM^{-1/2})⁺(b − Aa)."""
    root = np.linalg.inv(sqrtm(M))
    a = np.linalg.solve(M, Q)
    return a + root @ pinv(A @ root) @ (b - A @ a)


def saddle(M: np.ndarray, Q: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """q̈ by elimination."""
    both = np.block([[M, -A.T], [A, np.zeros((len(b), len(b)))]])
    return np.linalg.solve(both, np.concatenate([Q, b]))[: len(Q)]


def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Of the pendulum."""
    return saddle(np.eye(2), np.array([0.0, -G]), 2 * q[None], np.array([-2 * v @ v]))


def by_scipy(span: float) -> np.ndarray:
    """A stretch of the pendulum's motion."""

    def slope(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], acceleration(y[:2], y[2:])])

    return solve_ivp(slope, (0, span), [1.0, 0, 0, 0], method="DOP853", rtol=TOL, atol=TOL).y[:, -1]


if __name__ == "__main__":
    main()
