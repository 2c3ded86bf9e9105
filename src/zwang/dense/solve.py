"""`solve`, the public one: a single regular system in machine code, everything else by `formulations.solve`."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arrays import Array
from zwang.dense import regular
from zwang.formulations import solve as formulations
from zwang.formulations.forms import DEFAULT
from zwang.formulations.inputs import LARGEST_ENTRY, LEAST_TOL
from zwang.formulations.solution import Residuals, Solution
from zwang.formulations.solve import Names
from zwang.linalg.masses import mass_tolerance
from zwang.linalg.rank import rank_tolerance

MOST_ENTRIES = 4000  # of M and A together: beyond, LAPACK is faster


def solve(
    M: ArrayLike,
    Q: ArrayLike,
    A: ArrayLike,
    b: ArrayLike,
    *,
    C: ArrayLike | None = None,
    form: str = DEFAULT,
    rank_tol: float | None = None,
    one_sided: ArrayLike | None = None,
    v: ArrayLike | None = None,
    **choice: Any,
) -> Solution:
    """Solve M q̈ = Q + Aᵀλ + C, A q̈ = b for q̈, at any rank of A, by any of the papers' equations.

    M (n, n) symmetric positive definite, or semidefinite with rank [M; A] = n; Q, C (n,); A (m, n); b (m,);
    any of them with leading axes, which broadcast. `one_sided` (m,) marks rows that mean A q̈ ≥ b. `v` (n,)
    are velocities, wanted only for the power of the force of constraint. `rank_tol` is the relative pivot
    below which a row counts as dependent, by default `linalg.rank.rank_tolerance`.

    `form` is a name in `formulations.forms.FORMS`: "fundamental" (the default: Cholesky whitening, complete orthogonal
    decomposition and refinement, accurate to the last digits), "generalized-inverse" (with `equation=` and `inverse=`),
    "gauss", "gibbs-appell" (with `eliminate=`, the indices of eliminated coordinates) or "lagrange".

    >>> M = [[5, 4, 1], [4, 6, 4], [1, 4, 5]]
    >>> now = solve(M, [1, 0, 0], [[1, 1, 0], [2, 2, 0]], [1, 2])
    >>> now.acceleration
    array([ 0.5,  0.5, -0.5])
    >>> now.multipliers, now.unique
    (array([0.6, 1.2]), array([False, False]))
    """
    asked = {"C": C, "form": form, "rank_tol": rank_tol, "one_sided": one_sided, "v": v, **choice}
    found = one_regular(M, Q, A, b, **asked)
    return found if found is not None else formulations.solve(M, Q, A, b, **asked)


def solve_named(
    M: ArrayLike, Q: ArrayLike, A: ArrayLike, b: ArrayLike, *, names: Names | None, **options: Any
) -> Solution:
    """`solve` with names for coordinates and rows, which its messages then use."""
    found = one_regular(M, Q, A, b, **options)
    return found if found is not None else formulations.solve_named(M, Q, A, b, names=names, **options)


def one_regular(
    M: ArrayLike,
    Q: ArrayLike,
    A: ArrayLike,
    b: ArrayLike,
    *,
    C: ArrayLike | None = None,
    form: str = DEFAULT,
    rank_tol: float | None = None,
    one_sided: ArrayLike | None = None,
    v: ArrayLike | None = None,
    **choice: Any,
) -> Solution | None:
    """The solution of one system that is regular without doubt; None for all others, for mistakes too."""
    if (
        not isinstance(form, str)
        or form != DEFAULT
        or choice
        or not (one_sided is None or is_idle(one_sided, np.size(b)))
    ):
        return None
    read = [as_given(x, ndim) for x, ndim in ((M, 2), (Q, 1), (A, 2), (b, 1))]
    if any(x is None for x in read):
        return None
    mass, force, rows, right = (x for x in read if x is not None)
    m, n = rows.shape
    extra, speed = (np.zeros(n) if x is None else as_given(x, 1) for x in (C, v))
    if extra is None or speed is None or not 0 < n * (n + m) <= MOST_ENTRIES:
        return None
    shapes = mass.shape, force.shape, right.shape, extra.shape, speed.shape
    if shapes != ((n, n), (n,), (m,), (n,), (n,)):
        return None
    if v is not None and not (np.abs(speed) <= LARGEST_ENTRY).all():
        return None
    if rank_tol is not None and not (isinstance(rank_tol, int | float) and LEAST_TOL <= rank_tol < 1):
        return None
    rank_tol = rank_tolerance(m, n) if rank_tol is None else rank_tol
    packed = np.concatenate([mass.ravel(), force, extra, rows.ravel(), right])
    out, work = np.empty(regular.out_size(n, m)), np.empty(regular.work_size(n, m))
    record = np.zeros(1, regular.SYSTEM)
    record["n"], record["m"] = n, m
    addresses = record.ctypes.data, packed.ctypes.data, out.ctypes.data, work.ctypes.data
    if regular.compiled()(*addresses, mass_tolerance(n), rank_tol) != regular.SOLVED:
        return None
    return solution_of(n, m, out, None if v is None else speed)


def solution_of(n: int, m: int, out: Array, v: Array | None) -> Solution:
    """What `regular.solve` has written, by name."""
    x, force, ideal, free = out[:n], out[n : 2 * n], out[2 * n : 3 * n], out[3 * n : 4 * n]
    at = 4 * n + 2 * m
    *norms, gaussian = out[at + n * m :]
    return Solution(
        acceleration=x,
        constraint_force=force,
        ideal_force=ideal,
        nonideal_force=force - ideal,
        multipliers=out[4 * n : 4 * n + m],
        null_space=np.zeros((m, 0)),
        unique=np.ones(m, dtype=bool),
        rank=np.intp(m),  # type: ignore[arg-type]  # of one system it is a number
        gaussian=gaussian,
        free_acceleration=free,
        error=out[4 * n + m : at],
        deviation=x - free,
        weighted_inverse=out[at : at + n * m].reshape(n, m),
        residuals=Residuals(*norms),
        constraint_power=None if v is None else force @ v,
    )


def is_idle(one_sided: Any, m: int) -> bool:
    """Whether flags say of each row that it is not one-sided."""
    flags = np.asarray(one_sided)
    return flags.shape == (m,) and (flags.dtype == bool or not m) and not flags.any()


def as_given(x: Any, ndim: int) -> Array | None:
    """An array of doubles with so many axes; None if there is more to say about it."""
    if type(x) is not np.ndarray:
        if not isinstance(x, list | tuple):
            return None
        try:
            x = np.array(x)
        except ValueError:
            return None
    if x.ndim != ndim or x.dtype.kind not in "fiu" or x.dtype.itemsize > 8:
        return None
    return x.astype(np.float64, copy=False)  # type: ignore[no-any-return]
