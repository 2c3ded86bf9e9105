"""A four-bar linkage that never comes to a singular position: ground 4 m, crank 1 m, coupler 3.5 m, rocker 3 m.

Uniform slender bars of 1 kg per metre (inertia m l²/12 about their centres), in the plane, g = 9.81. The crank turns
about (0, 0), the rocker about (4, 0). Start: the crank at 90° (its end at (0, 1)), turning with 3 rad/s, the
coupler's other end B above the ground line. Observed after 5 s: the ends A of the crank and B of the rocker: xA, yA,
xB, yB.
"""

from math import acos, atan2, hypot

import numpy as np

from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference

GROUND, CRANK, COUPLER, ROCKER, G, SPIN, ANGLE = 4.0, 1.0, 3.5, 3.0, 9.81, 3.0, np.pi / 2


def start() -> dict[str, np.ndarray]:
    """A, B and the angles of crank, coupler and rocker at the start, with their rates."""
    A = CRANK * np.array([np.cos(ANGLE), np.sin(ANGLE)])
    pivot = np.array([GROUND, 0.0])
    across = hypot(*(pivot - A))
    toward = atan2(*(pivot - A)[::-1])
    coupler = toward + acos((COUPLER**2 + across**2 - ROCKER**2) / (2 * COUPLER * across))
    B = A + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = atan2(*(B - pivot)[::-1])
    angles = np.array([ANGLE, coupler, rocker])
    # velocity of B by the crank and coupler equals that by the rocker
    normal = [np.array([-np.sin(a), np.cos(a)]) for a in angles]
    columns = np.column_stack([COUPLER * normal[1], -ROCKER * normal[2]])
    rates = np.linalg.solve(columns, -CRANK * SPIN * normal[0])
    return {"A": A, "B": B, "angles": angles, "rates": np.array([SPIN, *rates])}


PROBLEM = Problem(
    name="four_bar",
    title="four-bar linkage without singular positions, 5 s",
    until=5.0,
    data={"lengths": (GROUND, CRANK, COUPLER, ROCKER), "g": G, **start()},
    observe=("xA", "yA", "xB", "yB"),
    reference=reference("four_bar"),
)
