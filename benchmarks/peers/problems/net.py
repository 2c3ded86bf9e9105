"""Nets of 10 × 10, 20 × 20 and 30 × 30 masses of 1 kg on links of 1 m, free in space, g = 9.81 along −z, for 1 s.

At the start the net is flat, mass (i, j) at (i, j, 0), and moves across itself with ż = 6 sin(0.5 i) cos(0.3 j).
Observed: the mass at the corner and the one in the middle.
"""

import numpy as np

from benchmarks.peers.points import Points
from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference


def net(side: int) -> Problem:
    """The net of side × side masses."""
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(side), np.arange(side), indexing="ij"))
    number = np.arange(side * side).reshape(side, side)
    pairs = [
        np.stack([a.ravel(), b.ravel()], axis=1)
        for a, b in ((number[:-1], number[1:]), (number[:, :-1], number[:, 1:]))
    ]
    start = np.stack([i, j, 0 * i], axis=1).astype(float)
    velocity = np.stack([0.0 * i, 0.0 * i, 6 * np.sin(0.5 * i) * np.cos(0.3 * j)], axis=1)
    return Problem(
        name=f"net_{side}",
        title=f"net of {side} × {side} masses, {2 * side * (side - 1):,} links, 1 s",
        until=1.0,
        data={
            "points": Points(start, velocity, np.concatenate(pairs), g=9.81),
            "seen": (0, int(number[side // 2, side // 2])),
        },
        observe=("x, y, z at the corner", "x, y, z in the middle"),
        reference=reference(f"net_{side}"),
        targets=(1e-3, 1e-6, 1e-9),
    )


PROBLEMS = tuple(net(side) for side in (10, 20, 30))
