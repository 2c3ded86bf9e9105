"""A Bennett linkage: four bars in space, four revolute joints, one degree of freedom though Grübler counts −2.

Opposite bars are equal: lengths 1 and 1.5 between the axes, twists α = 30° and β with sin β = 1.5 sin α. Geometry and
start are computed in `bennett.py`: joint 1 at the origin with axis z, joint 4 at (−1.5, 0, 0), bars 1, 2, 3 between
joints 1–2, 2–3, 3–4. Uniform slender bars along the common normals of their axes, 1 kg per metre, inertia m l²/12
across and 0.01 kg m² about their own line; gravity 9.81 along −z. Start: bar 1 at θ = 60°, turning with 2 rad/s.
Observed after 5 s: the world coordinates of the two moving joint points, P (joint 2) and R (joint 3).
"""

import numpy as np

from benchmarks.peers.problem import Problem
from benchmarks.peers.problems.bennett import bennett
from benchmarks.peers.references import reference

PROBLEM = Problem(
    name="spatial_loop",
    title="Bennett linkage: spatial closed loop with redundant joints, 5 s",
    until=5.0,
    data={"g": 9.81, "own": 0.01, **bennett(1.0, 1.5, np.pi / 6, np.pi / 3, 2.0)},
    observe=("xP", "yP", "zP", "xR", "yR", "zR"),
    reference=reference("spatial_loop"),
)
