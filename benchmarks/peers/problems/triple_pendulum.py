"""Three point masses of 1 kg on massless rods of 1 m, hinged one below the other, in the plane, g = 9.81.

The first rod hangs from the origin. Angles from the horizontal at the start: −π/6 + 0.3, −π/6 − 0.3, −π/6 + 0.3, at
rest. Observed after 10 s: the masses' coordinates x1, y1, x2, y2, x3, y3. The motion is chaotic.
"""

import numpy as np

from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference

G = 9.81
ANGLES = tuple(float(a) for a in -np.pi / 6 + 0.3 * (-1.0) ** np.arange(3))

PROBLEM = Problem(
    name="triple_pendulum",
    title="planar triple pendulum of point masses, 10 s",
    until=10.0,
    data={"masses": 3, "g": G, "angles": ANGLES},
    observe=("x1", "y1", "x2", "y2", "x3", "y3"),
    reference=reference("triple_pendulum"),
)
