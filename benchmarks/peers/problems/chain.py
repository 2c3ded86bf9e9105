"""N point masses of 1 kg on massless rods of 1 m in a chain from the origin, in the plane, g = 9.81, for 1 s.

Angles from the horizontal at the start: −π/6 ± 0.3 in turn, at rest. Observed: two masses, by their numbers in
`data["seen"]`, counted from 1: the middle one and the last; of 1,000, whose far part is still in free fall at the
end, numbers 20 and 50.
"""

import numpy as np

from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference

G = 9.81


def chain(masses: int) -> Problem:
    """The chain of so many masses."""
    return Problem(
        name=f"chain_{masses}",
        title=f"chain of {masses} links, 1 s",
        until=1.0,
        data={
            "masses": masses,
            "g": G,
            "seen": (masses // 2, masses) if masses < 1000 else (20, 50),
            "angles": tuple(float(a) for a in -np.pi / 6 + 0.3 * (-1.0) ** np.arange(masses)),
        },
        observe=("x, y of the first seen", "x, y of the second"),
        reference=reference(f"chain_{masses}"),
    )


PROBLEMS = tuple(chain(masses) for masses in (10, 100, 1000))
