"""Stated rates that the constraints do not allow together: which rates these are, and which constraints."""

from collections import Counter
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.errors import AssemblyError
from zwang.evaluation import violations
from zwang.linalg.newton import unit_rows
from zwang.linalg.sparse.matrix import diagonal_of, is_sparse
from zwang.linalg.sparse.steps import shortest
from zwang.lowering.lowered import AnyMatrices
from zwang.model import System
from zwang.model.state import Description, Statement, state_name
from zwang.words import listed

INVOLVED = 1e-6  # of the largest share in a contradiction: smaller ones are rounding
MOST_NAMED = 12  # rates, or constraints, that a message names


def require_agreement(
    system: System, now: AnyMatrices, q: Array, v: Array, rows: Any, kept: Any, described: Description
) -> None:
    """Refuse rates that cannot be kept together, by what states them and by the constraints that they violate.

    `now` are the matrices where the other rates have done what they can. What is left of the readings, r, is
    perpendicular to everything that these can do: rᵀA v is the same whatever they are. So r says which rows contradict
    each other, and rᵀA which of the rates that are kept take part.
    """
    bad = [i for i in violations(system, now, q, v) if rows[i]]
    if not bad:
        return
    lengths, A = unit_rows(now.A[rows])
    left = now.residual_rate[rows] / lengths
    free = A[:, ~kept]
    if (~kept).any():
        left = left - free @ (shortest(free, left) if is_sparse(free) else np.linalg.lstsq(free, left, rcond=None)[0])
    at, places = involved(left, A, kept, now.M)
    which = np.array(system.constraint_names)[rows][at].tolist() or [system.constraint_names[bad[0]]]
    n = len(v)
    found = {described.stated.get(n + i, Statement(state_name(system, n + i))): float(v[i]) for i in places}
    numbers = Counter(described.stated.values())  # of what says several, as a velocity does, none is told
    told = [who.words if numbers[who] > 1 else f"{who.words} ({value:.6g})" for who, value in found.items()]
    where = next((who.where for who in reversed(found) if who.where), ("constraints", which[0]))
    raise AssemblyError(refusal(told, which), where=where)


def involved(left: Array, A: Any, kept: Any, M: Any) -> tuple[list[int], list[int]]:
    """The rows of A that contradict each other, and the rates among those kept that take part.

    `left` is what remains of the rows' readings where the other rates have done what they can.
    """
    inertia = np.sqrt(np.abs(diagonal_of(M)))
    share = np.abs(A.T @ left) / np.where(inertia > 0, inertia, 1.0) * kept
    at, places = (np.flatnonzero(x > INVOLVED * x.max(initial=0.0)) for x in (np.abs(left), share))
    return at.tolist(), places.tolist()


def refusal(told: list[str], which: list[str]) -> str:
    """What to say of rates, in words, that some constraints do not allow together."""
    rates, by = listed(told, MOST_NAMED), listed([repr(name) for name in which], MOST_NAMED)
    if len(told) == 1:
        what = f"a stated rate contradicts the constraints: {rates} cannot be kept together with {by}"
        return f"{what}; leave it out, so that it follows, or give what they allow"
    what = f"stated rates contradict each other: {rates} cannot be kept together with {by}"
    return f"{what}; leave out those that follow from the others"
