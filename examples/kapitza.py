"""Kapitza's pendulum: a pivot that is shaken fast enough holds a pendulum upright.

In Cartesian coordinates the rod is a constraint that moves with time. The upright motion repeats itself with the
shaking; its Floquet multipliers say what becomes of a neighbour. For fast shaking, theory says that it is held from
a w = sqrt(2 g l) on.
"""

import sys

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot

x, y = zw.coordinates("x y")
a = zw.parameters("a")
W, G = 40, 9.81
SHAKEN = zw.System(
    (x, y),
    kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
    potential=G * y,
    constraints={"rod": x**2 + (y - a * sp.cos(W * zw.t)) ** 2 - 1},
    name="A shaken pivot",
)


def largest(amplitude: float) -> float:
    """The size of the largest multiplier of the upright motion."""
    motion = zw.periodic(SHAKEN, {x: 0, y: 1 + amplitude}, period=2 * np.pi / W, parameters={a: amplitude})
    return float(np.abs(motion.floquet.values).max())


def main() -> None:
    """Multipliers for some amplitudes, the least that holds, and a motion that stays up."""
    for amplitude in (0.05, 0.1, 0.12, 0.2):
        print(f"a = {amplitude}: largest multiplier {largest(amplitude):.6f}")
    low, high = 0.05, 0.2
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if largest(middle) < 1 + 1e-5 else (middle, high)
    print(f"held from a = {high:.5f} on; for very fast shaking, sqrt(2 g)/w = {np.sqrt(2 * G) / W:.5f}")
    lean = 0.3
    start = {x: np.sin(lean), y: 0.2 + np.cos(lean), dot(x): 0, dot(y): 0}
    motion = zw.simulate(SHAKEN, start, until=10, parameters={a: 0.2}, samples=2001)
    print(
        f"from a lean of {lean} rad it stays within {np.abs(np.arcsin(motion.q.values[:, 0])).max():.3f} rad for 10 s"
    )


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main()
