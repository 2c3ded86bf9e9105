"""1,000 triple pendulums of point masses (as in triple_pendulum) with different starts, 10 s, on all cores.

Start number k, from 0: the angles of triple_pendulum plus 0.3·(frac(k·0.6180339887498949) − 0.5),
0.3·(frac(k·0.7548776662466927) − 0.5), 0.3·(frac(k·0.5698402909980532) − 0.5), at rest. Observed: x3, y3 of every
tenth pendulum, 0, 10, 20, ….
"""

import numpy as np

from benchmarks.peers.problem import Problem
from benchmarks.peers.problems.triple_pendulum import ANGLES, G
from benchmarks.peers.references import reference

COUNT = 1000


def starts() -> np.ndarray:
    """(1000, 3) the angles at the start."""
    steps = np.array([0.6180339887498949, 0.7548776662466927, 0.5698402909980532])
    return np.array(ANGLES) + 0.3 * ((np.arange(COUNT)[:, None] * steps) % 1.0 - 0.5)


PROBLEM = Problem(
    name="ensemble",
    title="1,000 triple pendulums, 10 s, all cores",
    until=10.0,
    data={"masses": 3, "g": G, "angles": starts()},
    observe=("x3", "y3 of every tenth"),
    reference=reference("ensemble"),
    starts=COUNT,
    targets=(1e-3, 1e-6, 1e-9),
)
