"""A robot arm that draws a flower: the force of constraint is what its motors must supply.

The path of the tip is stated as two constraints. Nothing else has to be derived: the acceleration follows from the
fundamental equation, and the force of constraint along each joint angle is that joint's torque.
"""

import sys

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot, t

q1, q2 = zw.coordinates("q1 q2")  # shoulder, from the horizontal; elbow, relative to the upper arm
load = zw.parameters("load")  # a mass in the gripper

L1, L2, m1, m2, g = 0.5, 0.4, 4.0, 2.5, 9.81
elbow = L1 * sp.Matrix([sp.cos(q1), sp.sin(q1)])
tip = elbow + L2 * sp.Matrix([sp.cos(q1 + q2), sp.sin(q1 + q2)])
middle = (elbow + tip) / 2
angle = sp.Rational(6, 5) * t
rose = sp.Matrix([0.45, 0.25]) + 0.22 * sp.cos(5 * angle) * sp.Matrix([sp.cos(angle), sp.sin(angle)])

arm = zw.System(
    (q1, q2),
    kinetic=m1 * L1**2 * dot(q1) ** 2 / 6
    + m2 * (dot(middle).dot(dot(middle)) + L2**2 * dot(q1 + q2) ** 2 / 12) / 2
    + load * dot(tip).dot(dot(tip)) / 2,
    potential=g * (m1 * elbow[1] / 2 + m2 * middle[1] + load * tip[1]),
    constraints={"tip x": tip[0] - rose[0], "tip y": tip[1] - rose[1]},
    parameters={load: 0.0},
    name="Robot arm that draws a flower",
)


def main() -> None:
    """Bring the arm onto its path, let it draw, and print the torques."""
    guess = {q1: -0.4, q2: 1.3, dot(q1): 0.0, dot(q2): 0.0}
    start = zw.assemble(arm, guess)
    print("The arm at the start, brought onto its path:")
    for coordinate in arm.coordinates:
        angle, rate = start[coordinate], start[dot(coordinate)]
        print(f"   {coordinate.func.__name__} = {angle:9.6f} rad, {rate:9.6f} rad/s")

    print("\nLargest torques, in N·m:        shoulder     elbow")
    for mass in (0.0, 1.0, 2.0):
        motion = zw.simulate(arm, start, until=5 * np.pi / 6, samples=801, parameters={load: mass})
        shoulder, bend = abs(motion.constraint_force).max("time").values
        print(f"   {mass:g} kg in the gripper {shoulder:18.3f} {bend:9.3f}")

    # What the motors put in is what the arm gains: a check of the whole account.
    print(f"\nlargest distance from the path: {float(abs(motion.residual).max()):.0e} m")
    print(f"energy that the account misses: {float(abs(motion.energy_balance).max()):.0e} J")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main()
