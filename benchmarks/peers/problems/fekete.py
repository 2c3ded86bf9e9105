"""Fekete's points: N points of 1 kg on the unit sphere that repel each other, 20 and 60 of them, for 10 s.

The force on a point is the sum of (pᵢ − pⱼ)/|pᵢ − pⱼ|² over all others, less half of its velocity, as in the problem of
that name in the test set for initial value problems (Mazzia & Magherini). Start, at rest: a spiral, point k at height
z = 1 − (2k + 1)/N and longitude k·π(3 − √5), so that no two have a symmetry. Observed: the first and the last point.
"""

import numpy as np

from benchmarks.peers.points import Points
from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference


def fekete(count: int) -> Problem:
    """So many points."""
    k = np.arange(count)
    z, longitude = 1 - (2 * k + 1) / count, k * np.pi * (3 - np.sqrt(5))
    radius = np.sqrt(1 - z**2)
    start = np.stack([radius * np.cos(longitude), radius * np.sin(longitude), z], axis=1)
    return Problem(
        name=f"fekete_{count}",
        title=f"Fekete's {count} points on a sphere, 10 s",
        until=10.0,
        data={"points": Points(start, np.zeros_like(start), np.zeros((0, 2), int), repel=True), "seen": (0, count - 1)},
        observe=("x, y, z of the first", "x, y, z of the last"),
        reference=reference(f"fekete_{count}"),
        targets=(1e-3, 1e-6, 1e-9),
    )


PROBLEMS = tuple(fekete(count) for count in (20, 60))
