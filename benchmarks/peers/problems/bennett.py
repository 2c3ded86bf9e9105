"""The geometry of a Bennett linkage: where its joints and bars are, and how they move, at one joint angle."""

from typing import Any

import numpy as np


def about_x(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def bennett(a: float, b: float, alpha: float, theta: float, spin: float) -> dict[str, Any]:
    """Joints 1 to 4 (points and axes), the three moving bars (centre, turn, velocity, angular velocity, length).

    Bars 1 and 3 have length a and twist α, bar 2 and the ground length b and twist β, sin β = (b/a) sin α. Joint 1 is
    at the origin with axis z, joint 4 at (−b, 0, 0); `theta` is the angle of bar 1 at joint 1.
    """
    beta = np.arcsin(np.clip(b / a * np.sin(alpha), -1, 1))
    # tan(θ1/2) tan(θ2/2) = sin((β+α)/2) / sin((β−α)/2)
    second = 2 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(theta / 2))
    turn1 = about_z(theta)
    turn2 = turn1 @ about_x(alpha) @ about_z(second)
    turn3 = turn2 @ about_x(beta) @ about_z(-theta)
    x, z = np.eye(3)[0], np.eye(3)[2]
    P = turn1 @ (a * x)
    R = P + turn2 @ (b * x)
    far = np.array([-b, 0.0, 0.0])
    assert np.allclose(R + turn3 @ (a * x), far), "the linkage does not close"
    axes = (z, turn1 @ about_x(alpha) @ z, turn2 @ about_x(beta) @ z, about_x(-beta) @ z)
    omega1 = spin * z
    velocity_p = np.cross(omega1, P)
    # rate of the second joint: the velocity of R must turn about the far joint
    arm = np.cross(axes[1], R - P)
    known = velocity_p + np.cross(omega1, R - P)
    around = np.cross(axes[3], R - far)
    rates = np.linalg.lstsq(np.column_stack([arm, -around]), -known, rcond=None)[0]
    omega2, omega3 = omega1 + rates[0] * axes[1], rates[1] * axes[3]
    velocity_r = velocity_p + np.cross(omega2, R - P)
    bars = [
        {"length": a, "turn": turn1, "centre": P / 2, "velocity": velocity_p / 2, "omega": omega1},
        {"length": b, "turn": turn2, "centre": (P + R) / 2, "velocity": (velocity_p + velocity_r) / 2, "omega": omega2},
        {"length": a, "turn": turn3, "centre": (R + far) / 2, "velocity": velocity_r / 2, "omega": omega3},
    ]
    return {"points": (np.zeros(3), P, R, far), "axes": axes, "bars": bars}
