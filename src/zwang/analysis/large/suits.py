"""Which systems are looked at in sparse matrices: large ones, held on their positions only.

What decides is read off the families of a system, never off its equations written out.
"""

from typing import Any

import numpy as np

from zwang.analysis.dynamics import Dynamics
from zwang.analysis.springs import conservative
from zwang.lowering.rolled.families import Families, Family, rolled

LARGE_REST = 300  # coordinates from which on: dense matrices of fewer are as quick


def suited(dynamics: Dynamics) -> bool:
    """Whether a search for rest may run in sparse matrices: for a large system with constraints on positions."""
    system = dynamics.system
    if len(system.coordinate_names) < LARGE_REST or system.reactions or dynamics.values.p.ndim > 1:
        return False
    families = rolled(dynamics.lowered)
    if families is None or dynamics.one_sided.any() or (dynamics.order != 0).any():
        return False
    return not (dynamics.lowered.description.switching and switches(families)) and not timed(families)


def switches(families: Families) -> bool:
    """Whether conditions occur."""
    return any(family.lowered.description.switching for family in families.members)


def timed(families: Families) -> bool:
    """Whether time occurs in the equations."""
    return any(
        family.lowered.description.axes.t in e.free_symbols for family in families.members for e in parts(family)
    )


def parts(family: Family) -> list[Any]:
    """All that is in the equations of a family."""
    derived = family.derived
    found = [*derived.Q, *derived.C, *derived.b, *(e for row in (*derived.M, *derived.A) for e in row.values())]
    return found + [e for e in (*derived.residual, *derived.residual_rate) if e is not None]


def on_springs(dynamics: Dynamics) -> bool:
    """Whether all forces come from a potential."""
    families = rolled(dynamics.lowered)
    if families is None:
        return False
    acting = [family for family in families.terms if not from_energy(family)]
    return all(map(of_its_own, acting)) or (not any(map(nonideal, acting)) and conservative(dynamics.system))


def from_energy(family: Family) -> bool:
    """Whether a term is one of an energy."""
    description = family.lowered.description
    given = [*description.forces, *description.nonideal]
    return description.kinetic is not None and all(e == 0 for e in given)


def of_its_own(family: Family) -> bool:
    """Whether a term is a force that depends on no more than the coordinate along which it acts."""
    description = family.lowered.description
    others = {*description.axes.q[1:], *description.axes.v}
    return description.kinetic is not None and not nonideal(family) and not description.forces[0].free_symbols & others


def nonideal(family: Family) -> bool:
    """Whether a term is a nonideal force."""
    return bool(np.any([e != 0 for e in family.lowered.description.nonideal]))
