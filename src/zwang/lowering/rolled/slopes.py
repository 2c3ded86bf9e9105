"""How forces and rows of a large system change beside a state, in sparse matrices: what analyses at rest begin with.

The derivatives of F = (M q̈ − Aᵀλ − Q − C, A q̈ − b) by q and q̇, as `pencil` has them, but with q̈ and λ as inputs: who
asks has solved for them already, with all that is to be said of rows that depend on each other.
"""

import numpy as np

from zwang.arrays import Indices
from zwang.compile.rolled.program import RolledProgram
from zwang.lowering.perturbed import named
from zwang.lowering.rolled.families import Families
from zwang.lowering.rolled.pencil import Pairs, derivatives, share_of_row, share_of_term
from zwang.lowering.rolled.workspace import Workspace

LEVELS = {"places": "zeroth", "rates": "first"}
"""∂F/∂q and ∂F/∂q̇."""


def slopes_program(families: Families) -> tuple[RolledProgram, dict[str, Pairs]]:
    """The entries of ∂F/∂q, called `places`, and ∂F/∂q̇, `rates`; and where in a matrix of n + m rows they are."""
    n, m = families.n, families.m
    workspace = Workspace(families.lowered.inputs | {"a": named("held_a", n), "lam": named("held_l", m)})
    a, lam = workspace.places["a"], workspace.places["lam"]
    shares = [share_of_term(family, a) for family in families.terms]
    shares += [share_of_row(family, a, lam, np.arange(m), n, None) for family in families.constraints]
    outputs: dict[str, Indices] = {}
    where: dict[str, Pairs] = {}
    for name, part in LEVELS.items():
        outputs[name], where[name] = derivatives(workspace, families, shares, part, n + m, None)
    return workspace.program(outputs), where
