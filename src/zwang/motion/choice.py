"""What the explicit equation is built on, chosen at a state.

Where the rows of A are independent, it is all of them. Where some are redundant, which ones changes along the motion:
all are kept and damped (`linalg.saddle`). Gibbs and Appell's form eliminates with independent rows; these are chosen
anew on the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zwang.evaluation import Array, Matrices
from zwang.linalg.factors import factorise
from zwang.linalg.rank import row_norms, row_rank

MASSLESS = 1e-12  # where M has less than this it counts as singular: lifting it there costs little and changes nothing
WORTH = 1.1  # growth of the volume for which rows are exchanged
# Of redundant rows, in units of their pivots: large enough that a stage a little off the constraints, on which they
# depend on each other, does no harm; small enough that two refinements leave a share of 1e-18.
DAMPING = 2.0**-20


@dataclass(frozen=True)
class Choice:
    """What was chosen at a state: independent rows, rows that make up for a singular M, eliminated coordinates.

    `damping` has a number for each row of A, if some are redundant and all are used, damped. `lifted` (row → weight):
    M + Σ w aᵀa stands in for a singular M (Udwadia–Wanichanon); the acceleration is the same. `pivots` are the rows
    and columns of Gibbs–Appell elimination in order, with the sign of each pivot.
    """

    rows: tuple[int, ...]
    lifted: tuple[tuple[int, float], ...] = ()
    pivots: tuple[tuple[int, int, int], ...] = ()
    damping: tuple[float, ...] = ()

    @property
    def used(self) -> tuple[int, ...]:
        """The rows that the equation is built on."""
        return tuple(range(len(self.damping))) if self.damping else self.rows


def choose(now: Matrices, names: tuple[str, ...], form: str = "fundamental", damped: bool = True) -> Choice:
    """Independent rows at a state, by pivoting in the kinetic-energy metric; the best-conditioned ones.

    Where others are redundant, all are damped, if the form allows and unless it is not wanted.
    """
    M, A = now.M[None], now.A[None]
    rank = int(row_rank(A)[0])
    factors = factorise(M, A, rank, names)
    rows = most_independent(now.A, [int(i) for i in factors.rows[0]])
    if damped and len(rows) < len(now.A) and form != "gibbs-appell":
        lifted = lifting_rows(now.M, now.A, range(len(now.A)))
        return Choice(rows, lifted, damping=damping(now, lifted))
    pivots = elimination_order(now.A, rows) if form == "gibbs-appell" else ()
    return Choice(rows, lifting_rows(now.M, now.A, rows), pivots)


def damping(now: Matrices, lifted: Sequence[tuple[int, float]]) -> tuple[float, ...]:
    """A small share of aM⁻¹aᵀ for each row a; powers of two, so that the same choice elsewhere is the same program."""
    mobility = mobilities(now.M, now.A, lifted)
    mobility[mobility <= 0] = 1.0  # a row that vanishes here
    return tuple((2.0 ** np.round(np.log2(DAMPING * mobility))).tolist())


def mobilities(M: Array, A: Array, lifted: Sequence[tuple[int, float]]) -> Array:
    """aM⁻¹aᵀ for each row a (…, m), with M lifted."""
    whole = M + sum(weight * A[..., i, :, None] * A[..., i, None, :] for i, weight in lifted)
    return np.asarray(np.einsum("...ij,...ji->...i", A, np.linalg.solve(whole, A.swapaxes(-1, -2))))


def most_independent(A: Array, rows: list[int]) -> tuple[int, ...]:
    """Independent rows, exchanged for others as long as the volume that unit rows span grows (Gu and Eisenstat 1996).

    A row that is left out is a combination of the chosen ones; a coefficient above 1 tells which exchange pays.
    """
    unit = A / row_norms(A)[:, None]
    chosen = list(rows)
    left = [i for i in range(len(A)) if i not in set(rows)]
    for _ in range(len(A)):
        if not left or not chosen:
            break
        coefficients = np.abs(np.linalg.lstsq(unit[chosen].T, unit[left].T, rcond=None)[0])
        i, j = np.unravel_index(int(coefficients.argmax()), coefficients.shape)
        if coefficients[i, j] <= WORTH:
            break
        chosen[i], left[j] = left[j], chosen[i]
    return tuple(sorted(chosen))


def lifting_rows(M: Array, A: Array, rows: Sequence[int]) -> tuple[tuple[int, float], ...]:
    """Few, short rows whose aᵀa make M positive definite, and weights that keep it well scaled.

    A row serves by the share of it that lies where M vanishes: one that has less of it here than others may have none
    a little later. Among those that have as much of it as any other, the shortest is taken.
    """
    values, vectors = np.linalg.eigh(M)
    null = vectors[:, values <= MASSLESS * max(values[-1], np.finfo(float).tiny)]
    size = values[-1] if values[-1] > 0 else 1.0
    given = A[list(rows)]
    unit = given / np.where(given.any(axis=1), np.linalg.norm(given, axis=1), 1.0)[:, None]
    entries = np.count_nonzero(np.abs(unit) > 1e-12, axis=1)
    chosen: list[tuple[int, float]] = []
    while null.shape[1]:
        share = np.linalg.norm(unit @ null, axis=1)
        if not share.max(initial=0.0) > 1e-6:
            break
        best = min(np.flatnonzero(share > 0.95 * share.max()), key=lambda k: (entries[k], -share[k]))
        i = rows[int(best)]
        # a power of two, so that the same choice at another state is the same program
        chosen.append((i, float(2.0 ** round(np.log2(size / (A[i] @ A[i]))))))
        # what remains undetermined once this row counts
        null = null @ np.linalg.svd((unit[best] @ null)[None])[2][1:].T
    return tuple(sorted(chosen))


def elimination_order(A: Array, rows: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """Rows, columns and signs of pivots for eliminating coordinates, by complete pivoting at this state."""
    work = A[list(rows)] / row_norms(A[list(rows)])[:, None]
    order: list[tuple[int, int, int]] = []
    free = set(range(len(rows)))
    for _ in rows:
        i, j = max(((i, int(np.argmax(np.abs(work[i])))) for i in free), key=lambda ij: abs(work[ij]))
        order.append((rows[i], j, int(np.sign(work[i, j]))))
        free.discard(i)
        for k in free:
            work[k] -= work[k, j] / work[i, j] * work[i]
    return tuple(order)
