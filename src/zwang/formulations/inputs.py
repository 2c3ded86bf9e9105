"""Arrays as people give them, checked and made into stacks with one leading axis, or refused by name."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zwang.arrays import EPS, Array, Indices
from zwang.errors import InputError, MassError
from zwang.linalg.factors import Stack
from zwang.linalg.sparse.matrix import Sparse, is_sparse

LARGEST_ENTRY = 1e100
LEAST_TOL = 16 * EPS
SYMMETRY_TOL = 1e-12  # relative to the geometric mean of the two masses on the diagonal


@dataclass(frozen=True)
class Given:
    """The systems of one call: the leading shape, and every array with one leading axis in its place."""

    shape: tuple[int, ...]
    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array
    v: Array | None


@dataclass(frozen=True)
class Scaled:
    """What a form is given: a stack of systems of one rank, in coordinates of unit mass, x̂ = D q̈.

    There no mass is lost beside a larger one: M (k, n, n) has ones on its diagonal, A (k, m, n) is scaled to match.
    `force` (k, n) is Q + C as it was given, `rows` (k, r) are independent rows of A, and `systems` (k,) are the places
    of these systems in the stack that `solve` was called with.
    """

    M: Array
    force: Array
    A: Array
    b: Array
    D: Array
    rank: int
    rows: Indices
    systems: Indices

    @property
    def Q(self) -> Array:
        """The force in coordinates of unit mass."""
        return self.force / self.D


def as_stacks(
    M: ArrayLike, Q: ArrayLike, A: ArrayLike, b: ArrayLike, C: ArrayLike | None, v: ArrayLike | None
) -> Given:
    """M, Q, A, b, C and v, checked for shape, finiteness and symmetry, and broadcast against each other."""
    M, Q, A, b = as_array(M, "M"), as_array(Q, "Q"), as_array(A, "A"), as_array(b, "b")
    if M.ndim < 2 or M.shape[-1] != M.shape[-2] or M.shape[-1] == 0:
        raise InputError(f"M has shape {M.shape}: a square matrix (n, n) with n ≥ 1 is needed")
    n = M.shape[-1]
    if A.size == 0 and A.ndim < 2:
        A = A.reshape(0, n)
    if A.ndim < 2 or A.shape[-1] != n:
        raise InputError(f"A has shape {A.shape}: rows of length {n} are needed, one entry for each row of M")
    m = A.shape[-2]
    C = np.zeros(n) if C is None else as_array(C, "C")
    v = None if v is None else as_array(v, "v")
    arrays = {"M": (M, (n, n)), "Q": (Q, (n,)), "A": (A, (m, n)), "b": (b, (m,)), "C": (C, (n,))}
    if v is not None:
        arrays["v"] = (v, (n,))
    for name, (x, tail) in arrays.items():
        if x.ndim < 1 or x.shape[-1] != tail[-1]:
            raise InputError(
                f"{name} has shape {x.shape}: its last axis must have length {tail[-1]}, for A is {m} by {n}"
            )
    leading = {name: x.shape[: x.ndim - len(tail)] for name, (x, tail) in arrays.items()}
    try:
        shape = np.broadcast_shapes(*leading.values())
    except ValueError:
        listed = ", ".join(f"{name} {axes}" for name, axes in leading.items())
        raise InputError(f"the leading axes do not broadcast: {listed}; make them equal or 1") from None
    if 0 in shape:
        raise InputError(f"an empty stack, leading axes {shape}: give at least one system")
    for name, (x, _) in arrays.items():
        require_finite(name, x)
    require_symmetric(M)
    count = int(np.prod(shape))

    def stack(x: Array, tail: tuple[int, ...]) -> Array:
        return np.broadcast_to(x, (*shape, *tail)).reshape(count, *tail)

    stacks = {name: stack(x, tail) for name, (x, tail) in arrays.items()}
    return Given(shape, **{"v": None, **stacks})  # type: ignore[arg-type]


def as_array(x: Any, name: str) -> Array:
    """An array of floats, or a refusal by name: text, complex numbers and other objects are not taken."""
    try:
        array = np.asarray(x)
        if array.dtype.kind in "cSUmMV":
            raise TypeError(f"its entries are of type {array.dtype.name}")
        if array.dtype == object and any(isinstance(entry, (str, bytes)) for entry in array.flat):
            raise TypeError("its entries are text")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} is not an array of real numbers: {error}") from None


def as_mask(one_sided: Any, m: int) -> NDArray[np.bool_]:
    """One flag a row, all False if nothing is given."""
    if one_sided is None:
        return np.zeros(m, dtype=bool)
    mask = np.asarray(one_sided)
    if mask.shape != (m,) or (m and mask.dtype != bool):
        raise InputError(
            f"one_sided has shape {mask.shape} and type {mask.dtype.name}: give True or False for each of A's {m} rows"
        )
    return mask.astype(bool)


def as_tolerance(rank_tol: Any) -> float | None:
    """A relative tolerance, or None for the default."""
    if rank_tol is None:
        return None
    if not isinstance(rank_tol, (int, float, np.integer, np.floating)) or not LEAST_TOL <= rank_tol < 1:
        raise InputError(
            f"rank_tol = {rank_tol!r}: a relative tolerance is meant, below 1 and at least {LEAST_TOL:.2g}, by which "
            f"rounding alone makes dependent rows differ"
        )
    return float(rank_tol)


def require_finite(name: str, x: Array) -> None:
    """Refuse NaN, infinity and numbers whose squares are infinite, by name and place."""
    fine = np.abs(x) < LARGEST_ENTRY
    if fine.all():
        return
    place = tuple(map(int, np.argwhere(~fine)[0]))
    entry = f"{name}[{', '.join(map(str, place))}] is {x[place]}"
    if np.isfinite(x[place]):
        raise InputError(f"{entry}: numbers beyond {LARGEST_ENTRY:.0e} overflow when multiplied; choose other units")
    raise InputError(f"{entry}: all entries must be finite numbers")


def require_symmetric(M: Any) -> None:
    """Refuse a mass matrix, dense or sparse, whose halves differ by more than rounding."""
    if is_sparse(M):
        if (abs(M - M.T).data > 0).any():
            require_sparse_symmetric(M)
        return
    gap = np.abs(M - M.swapaxes(-1, -2))
    if not gap.any():
        return
    diagonal = np.sqrt(np.abs(np.einsum("...ii->...i", M)))
    lopsided = gap > SYMMETRY_TOL * np.maximum(diagonal[..., :, None] * diagonal[..., None, :], np.abs(M))
    if lopsided.any():
        *system, i, j = map(int, np.argwhere(lopsided)[0])
        x, y = M[(*system, i, j)], M[(*system, j, i)]
        index = np.ravel_multi_index(system, M.shape[:-2]) if system else 0
        raise not_symmetric(Stack(np.array([index]), M.shape[:-2]).label(0), i, j, x, y)


def require_sparse_symmetric(M: Sparse) -> None:
    """The same of one sparse matrix."""
    entries = M.tocoo()
    i, j, there = entries.row, entries.col, np.asarray(M[entries.col, entries.row])
    diagonal = np.sqrt(np.abs(M.diagonal()))
    allowed = SYMMETRY_TOL * np.maximum(diagonal[i] * diagonal[j], np.abs(entries.data))
    bad = np.flatnonzero(np.abs(entries.data - there) > allowed)
    if len(bad):
        k = int(bad[0])
        raise not_symmetric("", int(i[k]), int(j[k]), float(entries.data[k]), float(there[k]))


def not_symmetric(where: str, i: int, j: int, x: float, y: float) -> MassError:
    """The refusal of an M that is not symmetric."""
    return MassError(
        f"M{where} is not symmetric: entries ({i}, {j}) and ({j}, {i}) are {x:.6g} and {y:.6g}; "
        f"a kinetic energy gives equal ones, (M + Mᵀ)/2 if you mean its quadratic form"
    )
