"""Whether other rows, eliminated coordinates or rows that lift M serve where those of a choice have a small pivot."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from zwang.arrays import Array
from zwang.engines.native.engine import compiled
from zwang.engines.task import Trajectory
from zwang.errors import ZwangError
from zwang.linalg.factors import factorise
from zwang.linalg.masses import mass_units
from zwang.linalg.rank import row_norms
from zwang.lowering.large import in_full
from zwang.lowering.lowered import Matrices
from zwang.lowering.rows import RowBasis, choose, least_elimination_pivot
from zwang.motion.setup import Setup
from zwang.motion.singular.losing import asked, not_asked
from zwang.motion.start import State, polished

BEYOND_SWITCH = 1e-9  # of the time ahead: short beside all that happens, and farther than rounding of where a switch is
HEALTHY = 1e-4  # a squared relative pivot above this leaves twelve digits
APART_WITHOUT_DOUBT = 1e-2  # unit rows this far from dependence are independent without doubt, whatever the masses
BETTER = 3.0  # how much further from dependence other rows must be, to be worth a new program


def independence(now: Matrices, rows: Sequence[int], rank: int) -> float:
    """How far rows of a rank are from a lower one: the last singular value that counts, of unit rows, masses equal."""
    A = (now.A / mass_units(now.M[None], now.A[None]))[list(rows)]
    return float(np.linalg.svd(A / row_norms(A)[:, None], compute_uv=False)[:rank].min(initial=1.0))


def other_choice_serves(setup: Setup, path: Trajectory, basis: RowBasis) -> bool:
    """Whether a choice made here, of other rows, eliminated coordinates or rows that lift M, is regular here."""
    try:
        now = in_full(polished(setup, path.end))
        names, idle = setup.system.coordinate_names, not_asked(setup)
        new = choose(now, names, setup.form, damped=False, lowered=setup.lowered, open=idle)
    except ZwangError:
        return False
    rows = tuple(asked(setup, basis))
    if new == replace(basis, rows=rows, close=False, open=idle, masked=(), rubbing=()) or len(new.rows) != len(rows):
        return False
    factors = factorise(now.M[None], now.A[None, list(new.rows)], len(new.rows), setup.system.coordinate_names)
    regular = 1 / np.linalg.norm(factors.Ri[0], ord=2) ** 2 > HEALTHY
    if new.rows == rows:
        return bool(regular) or better_order(now, basis, new)
    before, after = (independence(now, c, len(c)) for c in (rows, new.rows))
    return bool((regular or after > APART_WITHOUT_DOUBT) and after > BETTER * before)


def better_order(now: Matrices, old: RowBasis, new: RowBasis) -> bool:
    """Whether the same rows eliminate other coordinates by larger pivots."""
    if not old.pivots:
        return False
    A = now.A / mass_units(now.M[None], now.A[None])
    before, after = (least_elimination_pivot(A, basis.pivots) for basis in (old, new))
    return after > BETTER * before


def soon_after(setup: Setup, basis: RowBasis, state: State, grid: Array) -> State | None:
    """A state a moment after one: at a switch it is on the side of the motion, and rows are what they are there.

    None if nothing switches, the motion has no acceleration here, or has come to its end.
    """
    if setup.locked is None:
        return None
    t, q, v = state
    program = setup.program("acceleration", basis)
    a = compiled(program)(**setup.named(program, state))["acceleration"]
    tau = BEYOND_SWITCH * (float(grid[-1]) - t) if len(grid) else 0.0
    return (t + tau, q + tau * v, v + tau * a) if tau and np.isfinite(a).all() else None
