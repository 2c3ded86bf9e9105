"""Appell's particle: unit mass, g = 9.81, ż² = ẋ² + ẏ² asked for twice (the second time doubled), 0.5 s.

Start at the origin with velocity (3, 4, 5). Observed: x, y, z. Reference: the closed form z = 5t − g t²/4, x = 3 (t −
g t²/20), y = 4 (t − g t²/20).
"""

from benchmarks.peers.problem import Problem

T, G = 0.5, 9.81

PROBLEM = Problem(
    name="appell",
    title="Appell's particle with its constraint doubled, 0.5 s",
    until=T,
    data={"g": G, "velocity": (3.0, 4.0, 5.0)},
    observe=("x", "y", "z"),
    reference=("1.13212500000000000", "1.50950000000000000", "1.88687500000000000"),
)
