"""A Stewart platform on six springy legs: a plate of 10 kg in space, every leg two bodies, five closed loops.

The joints on the ground lie on a circle of radius 1 m in pairs at 0°, 120°, 240° ± 10°, those of the plate on a circle
of 0.6 m in pairs at 60°, 180°, 300° ± 10°, 1 m higher: leg k joins neighbours. A leg is a lower bar on two crossing
hinges (a universal joint; 1.0 kg, 0.5 m from joint to joint along z, its centre in the middle, 0.02 kg m² across and
0.001 along) and an upper bar that slides in it along its axis (0.5 kg, centre at its end, 0.01 and 0.0005 kg m²),
against a spring of 2,000 N/m that is free of force at the start. The upper bar's end is a ball joint on the plate,
which has moments of 0.9, 0.9 and 1.8 kg m². It hangs in the tree on leg 1 by three hinges that cross in its ball
joint; the other five close loops. Bodies between crossing hinges have no mass. Gravity 9.81 along −z. Start: at rest.
Observed after 1 s: the plate's ball joints of legs 1 and 4.
"""

from typing import Any

import numpy as np

from benchmarks.peers.linkage import Closure, Hinged
from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference

STIFFNESS = 2000.0


def ring(radius: float, middle: float, height: float) -> np.ndarray:
    """Six points on a circle, in pairs."""
    degrees = np.array([middle + turn + side for turn in (0, 120, 240) for side in (-10, 10)])
    angles = np.deg2rad(degrees)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(6, height)], axis=1)


GROUND = ring(1.0, 0.0, 0.0)
PLATE = np.roll(ring(0.6, 60.0, 1.0), 1, axis=0)
NEXT = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
"""A frame whose x, y, z are y, z, x of the one before: so three hinges in a row turn about x, y and z."""


def frame(direction: np.ndarray) -> np.ndarray:
    """Axes of a leg: z along it."""
    side = np.cross(direction, [0.0, 0, 1])
    side /= np.linalg.norm(side)
    return np.stack([side, np.cross(direction, side), direction], axis=1)


def parts() -> tuple[tuple[Hinged, ...], tuple[Closure, ...]]:
    """The bodies of the tree, and where it closes."""
    bodies, closures, none = list[Hinged](), list[Closure](), np.zeros(3)

    def add(parent: int, at: np.ndarray, turn: np.ndarray, **rest: Any) -> int:
        massless = {"mass": 0.0, "centre": none, "inertia": none, "angle": 0.0}
        bodies.append(Hinged(parent, at, turn=turn, **(massless | rest)))
        return len(bodies) - 1

    for leg, (foot, top) in enumerate(zip(GROUND, PLATE, strict=True)):
        length = float(np.linalg.norm(top - foot))
        axes, end = frame((top - foot) / length), np.array([0, 0, length])
        cross = add(-1, foot, axes @ NEXT)
        lower = add(cross, none, NEXT, mass=1.0, centre=np.array([0.25, 0, 0]), inertia=np.array([0.001, 0.02, 0.02]))
        upper = add(lower, none, NEXT, mass=0.5, centre=end, inertia=np.array([0.01, 0.01, 0.0005]),
                    slides=True, stiffness=STIFFNESS)  # fmt: skip
        if leg == 0:
            ball = add(add(upper, end, axes.T @ NEXT), none, NEXT)
            plate = add(ball, none, NEXT, mass=10.0, centre=PLATE.mean(axis=0) - top, inertia=np.array([0.9, 0.9, 1.8]))
        else:
            closures.append(Closure(upper, end, plate, top - PLATE[0]))
    return tuple(bodies), tuple(closures)


BODIES, CLOSURES = parts()
PROBLEM = Problem(
    name="stewart",
    title="Stewart platform on springs: 13 bodies, five loops in space, 1 s",
    until=1.0,
    data={"g": 9.81, "bodies": BODIES, "closures": CLOSURES, "seen": ((5, np.zeros(3)), (5, PLATE[3] - PLATE[0]))},
    observe=("x, y, z of the first ball joint", "x, y, z of the fourth"),
    reference=reference("stewart"),
    targets=(1e-3, 1e-6, 1e-9),
)
