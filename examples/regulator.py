"""A regulator for a cart-pole: linearize where it stands upright, choose gains by a Riccati equation, and try it.

The pole is a constraint in Cartesian coordinates; the states that the regulator sees are expressions in them. The gains
come from SciPy; with python-control, `control.lqr(zw.to_control(lin), Q, R)` gives the same.
"""

import sys

import numpy as np
from scipy.linalg import solve_continuous_are

import zwang as zw
from zwang import dot

c, x, y = zw.coordinates("c x y")
F = zw.parameters("F")
CART_POLE = zw.System(
    (c, x, y),
    kinetic=dot(c) ** 2 / 2 + (dot(x) ** 2 + dot(y) ** 2) / 20,
    potential=0.981 * y,
    forces={c: F},
    constraints={"pole": (x - c) ** 2 + y**2 - 0.25},
    parameters={F: 0},
    name="Cart-pole with a regulator",
)
STATES = {"c": c, "theta": 2 * (x - c), "c'": dot(c), "theta'": 2 * (dot(x) - dot(c))}


def gains() -> np.ndarray:
    """The gains that make the integral of y'y + F^2 least."""
    upright = zw.equilibrium(CART_POLE, {c: 0, x: 0.01, y: 0.5}, hold=[c])
    print(f"upright: {upright.verdict}")
    lin = zw.linearize(CART_POLE, upright, states=STATES, inputs=[F])
    X = solve_continuous_are(lin.A.values, lin.B.values, np.eye(4), np.eye(1))
    return (lin.B.values.T @ X)[0]


def main() -> None:
    """The linear system with its gains, and the whole one regulated from a lean of 15 degrees."""
    K = gains()
    print("gains:", np.array2string(K, precision=6))
    law = -sum(float(k) * s for k, s in zip(K, STATES.values(), strict=True))
    regulated = zw.System(
        CART_POLE.coordinates,
        kinetic=CART_POLE.kinetic,
        potential=CART_POLE.potential,
        forces={c: law},
        constraints={"pole": CART_POLE.constraints[0].expression},
        name=CART_POLE.name,
    )
    upright = zw.equilibrium(regulated, {c: 0, x: 0, y: 0.5})
    print(f"regulated: {upright.verdict}")
    lean = np.radians(15)
    start = {c: 0, x: 0.5 * np.sin(lean), y: 0.5 * np.cos(lean), dot(c): 0, dot(x): 0, dot(y): 0}
    motion = zw.simulate(regulated, start, until=12)
    print(f"after 12 s it is off by {np.abs(motion.q.values[-1] - [0, 0, 0.5]).max():.1e} m")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main()
