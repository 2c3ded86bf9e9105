"""A pendulum from its film: gravity, length, drag and the angle it was let go at, with errors, and what data can tell.

Measured are x and y with an error of five millimetres. The model is in these coordinates, with the rod as a constraint;
while a fit changes the length, the start stays on the rod.
"""

import sys

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot

x, y = zw.coordinates("x y")
m, g, L, c, a0 = zw.parameters("m g L c a0")
PENDULUM = zw.System(
    (x, y),
    kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
    potential=m * g * y,
    forces={x: -c * dot(x), y: -c * dot(y)},
    constraints={"rod": x**2 + y**2 - L**2},
    parameters={m: 1},
    name="Pendulum",
)
START = {x: L * sp.sin(a0), y: -L * sp.cos(a0)}
TRUTH = {g: 9.81, L: 1.3, c: 0.15, a0: 0.9}
GUESS = {g: 9.5, L: 1.2, c: 0.1, a0: 0.8}


def film(noise: float) -> dict[str, np.ndarray]:
    """What a camera saw."""
    times = np.linspace(0.1, 4, 40)
    begin = {key: float(e.subs(TRUTH)) for key, e in START.items()} | {dot(x): 0, dot(y): 0}
    motion = zw.simulate(PENDULUM, begin, until=4, times=times, parameters={g: 9.81, L: 1.3, c: 0.15})
    errors = np.random.default_rng(3).normal(scale=noise, size=(40, 2))
    return {"t": times, "x": motion.q.values[:, 0] + errors[:, 0], "y": motion.q.values[:, 1] + errors[:, 1]}


def main() -> None:
    """Everything from both columns; of the angle alone only g/L; of the mass nothing but c/m."""
    data = film(0.005)
    found = zw.fit(PENDULUM, data, GUESS, start=START)
    print(found)
    worst = max(abs(found.values[s] - value) / found.errors[s] for s, value in TRUTH.items())
    print(f"largest distance from the truth: {worst:.2f} standard errors\n")
    angle = {"t": data["t"], "angle": np.arctan2(data["x"], -data["y"])}
    only = zw.fit(PENDULUM, angle, GUESS, start=START, observe={"angle": sp.atan2(x, -y)})
    print(f"From the angle alone: {only.verdict}")
    heavy = zw.fit(PENDULUM, data, GUESS | {m: 1.5}, start=START, bounds={m: (0.5, 3)})
    print(f"With the mass unknown: {heavy.verdict}")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main()
