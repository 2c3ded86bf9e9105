"""How the acceleration changes when M, Q, A, b and C change, at constant rank of A.

With M q̈ = Q + C + Aᵀλ and A q̈ = b, changes δM, δQ, δA, δb, δC of these make

    δq̈ = K₁(δb − δA q̈) + (I − K₁A)M⁻¹(δ(Q + C) − δM q̈ + δAᵀλ),

which is the solution of the same equations for other right-hand sides: M δq̈ = δ(Q + C) − δM q̈ + δAᵀλ + Aᵀμ,
A δq̈ = δb − δA q̈. Nothing is differentiated through a decomposition. Where rows are redundant it does not matter
which λ is taken, as long as the rows stay redundant along the change (Golub and Pereyra 1973).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from zwang.arrays import Array
from zwang.errors import InconsistentError, InputError
from zwang.formulations.inputs import as_array, as_stacks, require_finite
from zwang.formulations.solution import Solution
from zwang.formulations.solve import solve
from zwang.linalg.rank import CONSISTENCY_TOL, rank_tolerance, row_norms
from zwang.words import listed


class SolutionDerivative(NamedTuple):
    """Derivatives of a solution along changes of its data."""

    acceleration: Array
    """δq̈ (…, n)"""
    constraint_force: Array
    """δQ_c = δ(M q̈ − Q) (…, n)"""


def solve_derivative(
    M: ArrayLike,
    Q: ArrayLike,
    A: ArrayLike,
    b: ArrayLike,
    *,
    C: ArrayLike | None = None,
    dM: ArrayLike | None = None,
    dQ: ArrayLike | None = None,
    dA: ArrayLike | None = None,
    db: ArrayLike | None = None,
    dC: ArrayLike | None = None,
    rank_tol: float | None = None,
) -> SolutionDerivative:
    """The derivative of q̈ and Q_c of M q̈ = Q + Aᵀλ + C, A q̈ = b along changes of M, Q, A, b and C.

    The data are those of `solve`, at any rank of A. Each change has the shape of what it changes; changes that are
    not given are zero. Several directions at once are leading axes of the changes: for one system and k directions
    dQ is (k, n), dA is (k, m, n), and the result (k, n). Leading axes broadcast, as everywhere.

    At a change of rank there is no derivative. Rows that depend on each other in A must do so in A + ε dA to first
    order, and their right-hand sides must agree in b + ε db; otherwise the change is refused, and the rows are named.

    >>> import numpy as np
    >>> now = solve_derivative(np.eye(2), [0, -10], [[0, 1], [0, 2]], [0, 0], dA=[[0.1, 0], [0.2, 0]])
    >>> now.acceleration, now.constraint_force
    (array([1., 0.]), array([1., 0.]))
    """
    given = as_stacks(M, Q, A, b, C, None)
    m, n = given.A.shape[1:]
    tails = {"dM": (n, n), "dQ": (n,), "dA": (m, n), "db": (m,), "dC": (n,)}
    changes = as_changes(dict(zip(tails, (dM, dQ, dA, db, dC), strict=True)), tails)
    shape = full_shape(given.shape, {name: x.shape[: x.ndim - len(tails[name])] for name, x in changes.items()})

    def data(x: Array) -> Array:
        return x.reshape(*given.shape, *x.shape[1:])

    # Rows of length one: then no row is large or small, and neither is what it misses.
    scale = row_norms(data(given.A))
    A, b = data(given.A) / scale[..., None], data(given.b) / scale
    M, Q, C = data(given.M), data(given.Q), data(given.C)
    dM, dQ, dC = changes["dM"], changes["dQ"], changes["dC"]
    dA, db = changes["dA"] / scale[..., None], changes["db"] / scale
    now = solve(M, Q, A, b, C=C, rank_tol=rank_tol)
    x = now.acceleration
    missing = db - dot(dA, x)
    if now.null_space.shape[-1]:
        require_constant_rank(now, A, dA, shape)
        missing = consistent(now, missing, np.abs(db) + dot(np.abs(dA), np.abs(x)), shape)
    held = dot(dA.swapaxes(-1, -2), now.multipliers)
    force = dQ + dC - dot(dM, x) + held
    change = solve(M, np.broadcast_to(force, (*shape, n)), A, missing, rank_tol=rank_tol)
    return SolutionDerivative(change.acceleration, change.constraint_force + held + dC)


def as_changes(given: dict[str, ArrayLike | None], tails: dict[str, tuple[int, ...]]) -> dict[str, Array]:
    """The changes as arrays, zeros where none is given, checked for shape, finiteness and symmetry."""
    changes: dict[str, Array] = {}
    for name, tail in tails.items():
        x = np.zeros(tail) if given[name] is None else as_array(given[name], name)
        if x.shape[max(x.ndim - len(tail), 0) :] != tail:
            raise InputError(
                f"{name} has shape {x.shape}: (…, {', '.join(map(str, tail))}) is needed, as of {name[1:]}"
            )
        require_finite(name, x)
        changes[name] = x
    gap = np.abs(changes["dM"] - changes["dM"].swapaxes(-1, -2))
    if (gap > CONSISTENCY_TOL * np.abs(changes["dM"]).max(initial=0.0)).any():
        raise InputError("dM is not symmetric, so that M + ε dM would not be a mass matrix: (dM + dMᵀ)/2 may be meant")
    return changes


def full_shape(base: tuple[int, ...], leading: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The leading axes of the result."""
    try:
        return np.broadcast_shapes(base, *leading.values())
    except ValueError:
        listed = ", ".join(f"{name} {axes}" for name, axes in leading.items())
        raise InputError(
            f"the leading axes do not broadcast: systems {base}, changes {listed}; directions come first, then systems"
        ) from None


def require_constant_rank(now: Solution, A: Array, dA: Array, shape: tuple[int, ...]) -> None:
    """Refuse a change along which dependent rows become independent: Nᵀ δA Z ≠ 0.

    N spans null(Aᵀ); I − K₁A, whose columns span null(A), serves for Z.
    """
    N = now.null_space
    free = np.eye(A.shape[-1]) - now.weighted_inverse @ A
    apart = N @ (N.swapaxes(-1, -2) @ dA @ free)
    # of what cancels in I − K₁A, rounding leaves a little: all of it where null(A) is empty
    rounding = rank_tolerance(*A.shape[-2:]) * (np.abs(now.weighted_inverse) @ np.abs(A))
    small = np.abs(dA) @ (CONSISTENCY_TOL * np.abs(free) + rounding)
    bad = np.abs(apart) > np.abs(N) @ (np.abs(N).swapaxes(-1, -2) @ small)
    if bad.any():
        rows, place = involved(np.abs(apart).max(axis=-1), bad.any(axis=-1), shape)
        raise InputError(
            f"{rows_in_words(rows)} depend on each other in A, but not in A + ε dA{place}: the rank changes, and q̈ has "
            f"no derivative there; change the rows together, or drop the redundant ones"
        )


def consistent(now: Solution, missing: Array, size: Array, shape: tuple[int, ...]) -> Array:
    """δb − δA q̈ without what rounding puts beyond the reach of dependent rows; more than rounding is refused."""
    N = now.null_space
    apart = dot(N, dot(N.swapaxes(-1, -2), missing))
    bad = np.abs(apart) > CONSISTENCY_TOL * dot(np.abs(N), dot(np.abs(N).swapaxes(-1, -2), size))
    if bad.any():
        rows, place = involved(np.abs(apart), bad, shape)
        raise InconsistentError(
            f"{rows_in_words(rows)} depend on each other, but db moves their right-hand sides apart{place}: no "
            f"acceleration obeys them beyond; change them together, or drop the redundant ones",
            rows,
        )
    return missing - apart


def involved(apart: Array, bad: Any, shape: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    """The rows of the first violated relation, and in a stack its place, in words."""
    *place, _ = map(int, np.argwhere(bad)[0])
    amount = apart[tuple(place)]
    rows = tuple(map(int, np.flatnonzero(amount > CONSISTENCY_TOL * amount.max())))
    return rows, f" (at {tuple(place)} of {shape})" if place else ""


def rows_in_words(rows: tuple[int, ...]) -> str:
    """Rows in words."""
    if len(rows) == 1:
        return f"row {rows[0]} (zero in A) and the others"
    return f"rows {listed(rows)}"


def dot(X: Array, x: Array) -> Array:
    """X x for stacks that broadcast."""
    return np.asarray(np.einsum("...ij,...j->...i", X, x))
