"""The one-loop four-bar of the IFToMM benchmark (A02, N = 1), through its ten singular positions, 10 s.

Two cranks and a coupler, uniform bars of 1 m and 1 kg; ground pivots at (0, 0) and (1, 0), the joints B0 and B1 start
at (0, 1) and (1, 1), B0 with velocity (1, 0); g = 9.81. Every time the bars lie on a line the constraints lose rank;
the parallelogram motion is meant: B_i = (i + sin φ, cos φ), J φ̈ = k g sin φ, J = 5/3, k = 2, φ(0) = 0, φ̇(0) = 1.
Observed: x and y of B0. Reference: that reduced equation in 34 digits.
"""

from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference

PROBLEM = Problem(
    name="four_bar_singular",
    title="one-loop four-bar through singular positions (IFToMM A02), 10 s",
    until=10.0,
    data={"g": 9.81},
    observe=("x0", "y0"),
    reference=reference("four_bar_singular"),
)
