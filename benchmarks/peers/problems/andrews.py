"""Andrews' squeezing mechanism: seven bodies, three loops, driven by a motor, from rest, 0.03 s.

Seven angles β, Θ, γ, Φ, δ, Ω, ε and six constraints, with data and equations as in `benchmarks/andrews.py` (the IVP
test set). Observed: the seven angles. Reference: computed with 34 digits by extrapolation of order 24 from the
index-1 form; 19 digits are given.
"""

from benchmarks.peers.problem import Problem
from benchmarks.peers.references import reference

PROBLEM = Problem(
    name="andrews",
    title="Andrews' squeezing mechanism, 0.03 s",
    until=0.03,
    data={},
    observe=("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"),
    reference=reference("andrews"),
)
