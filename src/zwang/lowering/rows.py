"""What the explicit equation is built on, chosen at a state.

Where the rows of A are independent, it is all of them. Where some are redundant, which ones changes along the motion:
all are kept and damped (`linalg.saddle`). Gibbs and Appell's form eliminates with independent rows; these are chosen
anew on the way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from zwang.arrays import Array
from zwang.formulations.forms import FORMS
from zwang.linalg.rank import row_norms
from zwang.linalg.ranked import Ranked, ranked
from zwang.lowering.lifting import Lifted, lifted, lifting_rows
from zwang.lowering.lowered import Lowered, Matrices

WORTH = 1.1  # growth of the volume for which rows are exchanged
# Of redundant rows, in units of their pivots: large enough that a stage a little off the constraints, on which they
# depend on each other, does no harm; small enough that two refinements leave a share of 1e-18.
DAMPING = 2.0**-20
# A refinement leaves μ/(μ + σ), σ the least eigenvalue of the independent rows' AM⁻¹Aᵀ in units of its diagonal. Where
# σ is above the first number, two leave less than rounding. Below it, the independent rows are damped less, by as many
# times the second one as it takes: what is far off the constraints meets the damping of the others.
WELL_APART, LESS = 2.0**-5, 2.0**-10
LEAST_APART = 2.0**-50  # smaller eigenvalues are rounding
# Of squares of distances, rows at unit length. Pivots of rows have lost the digits that these are small by, and what
# is divided by them, too; refinement gives them back.
CLOSE = 1e-4


@dataclass(frozen=True)
class RowBasis:
    """What was chosen at a state: independent rows, rows that make up for a singular M, eliminated coordinates.

    `damping` has a number for each row of A, if some are redundant and all are used, damped; `units` are the pivots
    that they have about here, those of independent rows as they are, of the others damped. `lifted` (row → weight):
    M + Σ w aᵀa stands in for a singular M (Udwadia–Wanichanon); the acceleration is the same. `pivots` are the rows
    and columns of Gibbs–Appell elimination in order, with the sign of each pivot. Rows that are `open` ask for nothing;
    those that are `masked` (row → weight) ask for something while their masks are 1 (`contact`).
    """

    rows: tuple[int, ...]
    lifted: Lifted = ()
    pivots: tuple[tuple[int, int, int], ...] = ()
    damping: tuple[float, ...] = ()
    units: tuple[float, ...] = ()
    open: tuple[int, ...] = ()
    masked: tuple[tuple[int, float], ...] = ()
    volume: float = 0.0
    """Of very many damped rows: about the logarithm of the product of their pivots, which would be out of range."""
    close: bool = False
    """Whether rows are so nearly dependent that solutions need refinement: see `CLOSE`."""
    rubbing: tuple[tuple[int, int], ...] = ()
    """Rows of contacts with friction, each with the row of its slip."""
    across: tuple[tuple[int, int], ...] = ()
    """Those of them in space, each with the row of its second slip."""
    shared: bool = False
    """Whether the forces of contacts that are watched are shares of those that rows have."""

    @property
    def used(self) -> tuple[int, ...]:
        """The rows that the equation is built on."""
        return tuple(i for i, mu in enumerate(self.damping) if mu) if self.damping else self.rows

    def redundant(self, count: int) -> tuple[int, ...]:
        """Of so many rows, those that ask for something and are not among the independent ones."""
        if len(self.rows) == count:
            return ()
        known = {*self.rows, *self.open}
        return tuple(i for i in range(count) if i not in known)


def choose(
    now: Matrices,
    names: tuple[str, ...],
    form: str = "fundamental",
    damped: bool = True,
    lowered: Lowered | None = None,
    found: Ranked | None = None,
    open: tuple[int, ...] = (),
) -> RowBasis:
    """Independent rows at a state, by pivoting in the kinetic-energy metric; the best-conditioned ones.

    Where others are redundant, all are damped, if the form allows and unless it is not wanted. The model tells which
    rows lift M wherever the motion goes, and not only here. `found` is the rank of these matrices, if it is known.
    Rows that are `open` are none of them.
    """
    asked: Sequence[int] = range(len(now.A))
    if open:
        asked = [i for i in asked if i not in open]
        A = np.zeros_like(now.A)
        A[asked] = now.A[asked]
        now, found = replace(now, A=A), None
    found = found or ranked(now.M, now.A, names)
    rows = most_independent(found.scaled, [int(i) for i in found.factors.rows[0]])
    if damped and len(rows) < len(asked) and not FORMS[form].eliminates:
        lift = lifting_rows(now, asked, lowered, redundant=True)
        mu, units = damping(couplings(now.M, now.A, lift), rows)
        return RowBasis(rows, lift, damping=tuple(0.0 if i in open else mu[i] for i in range(len(mu))), units=units,
                        open=open)  # fmt: skip
    pivots = elimination_order(found.scaled, rows) if FORMS[form].eliminates else ()
    return RowBasis(rows, lifting_rows(now, rows, lowered), pivots, open=open)


def damping(coupling: Array, rows: Sequence[int]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The damping of rows with this AM⁻¹Aᵀ (m, m), of which some are independent, and their units (`RowBasis`)."""
    return as_damping(np.diagonal(coupling), rows, float(nearest_dependence(coupling, rows)))


def as_damping(mobility: Array, rows: Sequence[int], apart: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The damping of rows with these aM⁻¹aᵀ (m,), and their units; how far `apart` those are that are independent.

    Powers of two, so that the same choice elsewhere is the same program.
    """
    unit = 2.0 ** np.round(np.log2(np.where(mobility > 0, mobility, 1.0)))  # 1 of a row that vanishes here
    mu, independent = DAMPING * unit, list(rows)
    units = mu.copy()
    mu[independent] *= less_damped(apart)
    units[independent] = unit[independent]
    return tuple(mu.tolist()), tuple(units.tolist())


def less_damped(apart: float) -> float:
    """How much less independent rows are damped than the others.

    >>> less_damped(0.1), less_damped(1e-4) == 2.0**-10, less_damped(0) == 2.0**-50
    (1.0, True, True)
    """
    times = np.ceil(np.log(max(apart, LEAST_APART) / WELL_APART) / np.log(LESS))
    return float(LESS ** max(times, 0.0))


def apart_enough(share: float) -> float:
    """How far apart independent rows have to be that are damped by a share of their pivots.

    >>> apart_enough(DAMPING) == WELL_APART
    True
    """
    return WELL_APART * share / DAMPING


def nearest_dependence(coupling: Array, rows: Sequence[int]) -> Array:
    """The least eigenvalue (…,) of AM⁻¹Aᵀ (…, m, m) of some rows, in units of its diagonal."""
    if not len(rows):
        return np.ones(coupling.shape[:-2])
    own = coupling[..., rows, :][..., rows]
    mobility = np.diagonal(own, axis1=-2, axis2=-1)
    scale = 1 / np.sqrt(np.where(mobility > 0, mobility, 1.0))
    return np.asarray(np.linalg.eigvalsh(scale[..., None] * own * scale[..., None, :])[..., 0])


def mobilities(M: Array, A: Array, lift: Lifted) -> Array:
    """aM⁻¹aᵀ for each row a (…, m), with M lifted."""
    return np.diagonal(couplings(M, A, lift), axis1=-2, axis2=-1).copy()


def couplings(M: Array, A: Array, lift: Lifted) -> Array:
    """AM⁻¹Aᵀ (…, m, m), with M lifted."""
    return np.asarray(A @ np.linalg.solve(lifted(M, A, lift), A.swapaxes(-1, -2)))


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


def least_elimination_pivot(A: Array, order: Sequence[tuple[int, int, int]]) -> float:
    """The smallest pivot of rows (m, n), at unit length, that are eliminated in an order."""
    work = A / row_norms(A)[:, None]
    least = 1.0
    left = [row for row, _, _ in order]
    for i, j, _ in order:
        left.remove(i)
        least = min(least, abs(float(work[i, j])))
        if least == 0:
            break
        work[left] -= np.outer(work[left, j] / work[i, j], work[i])
    return least
