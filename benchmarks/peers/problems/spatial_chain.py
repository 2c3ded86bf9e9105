"""Chains of bars in space, 100 and 1,000 of them, on hinges whose axes cross each other.

Each bar is 1 m long and has 1 kg, the inertia of a slender bar across and 0.002 kg m² about its own line, which is x of
its frame; its hinge is z, first along the world's y, then turned by a right angle about the bar from one to the next.
Gravity 9.81 along −z. Start: angles of 0.2 and −0.2 in turn, at rest. Observed after 1 s: the far ends of two bars, the
10th and the 20th (farther out the chain still falls nearly freely).
"""

import numpy as np

from benchmarks.peers.linkage import Hinged
from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference

FIRST = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
NEXT = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


def spatial_chain(count: int) -> Problem:
    """The chain of so many bars."""
    end, centre, inertia = np.array([1.0, 0, 0]), np.array([0.5, 0, 0]), np.array([0.002, 1 / 12, 1 / 12])
    bars = tuple(
        Hinged(
            parent=i - 1,
            at=end if i else np.zeros(3),
            mass=1.0,
            centre=centre,
            inertia=inertia,
            angle=0.2 * (-1) ** i,
            turn=NEXT if i else FIRST,
        )
        for i in range(count)
    )
    return Problem(
        name=f"spatial_chain_{count}",
        title=f"chain of {count:,} bars on hinges in space, 1 s",
        until=1.0,
        data={"g": 9.81, "bodies": bars, "seen": ((9, end), (19, end))},
        observe=("x, y, z of the first end", "x, y, z of the second"),
        reference=reference(f"spatial_chain_{count}"),
        targets=(1e-3, 1e-6, 1e-9),
    )


PROBLEMS = tuple(spatial_chain(count) for count in (100, 1000))
