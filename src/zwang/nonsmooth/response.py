"""How accelerations, or velocities, answer impulses: M x = Q + Eᵀλ + Rᵀf with E x = e, so that R x = W f + c + target.

Coordinates that are not coupled by M, E or R are answered apart, so that a body has the same bits beside others as
alone. Within the null space of E, Z, the masses ZᵀMZ = LLᵀ must be definite, and W = BBᵀ with B = R Z L⁻ᵀ: W keeps the
dependence of rows to its last digits, and M alone may be singular, as with Euler parameters.
"""

from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.nonsmooth.problem import Indices, connected

INDEPENDENT = 1e-11  # of the largest singular value of E in units of mass: rows below follow from others
LIGHT = 1e-2  # of the largest mass: what equalities hold counts for at least this
NO_MASS = 1e-13  # of a diagonal entry: a pivot of ZᵀMZ below is rounding


@dataclass(frozen=True)
class Response:
    """x without impulses (n,), the change of x by unit impulses (n, r), and W (r, r) and c (r,) of the rows."""

    free: Array
    X: Array
    W: Array
    c: Array

    def x(self, f: Array) -> Array:
        """(n,) x with impulses."""
        return np.asarray(self.free + self.X @ f)


def respond(M: Array, E: Array, e: Array, Q: Array, R: Array, target: Array) -> Response | None:
    """The response of rows R (r, n) with targets (r,); None if masses and equalities determine no x."""
    n, r = len(M), len(R)
    free, X = np.zeros(n), np.zeros((n, r))
    W = np.zeros((r, r))
    for q, equal, rows in components(M, E, R):
        one = of_component(M[np.ix_(q, q)], E[np.ix_(equal, q)], e[equal], Q[q], R[np.ix_(rows, q)])
        if one is None:
            return None
        free[q], X[np.ix_(q, rows)], W[np.ix_(rows, rows)] = one
    return Response(free, X, W, row_by_row(R, free) - target)


def row_by_row(R: Array, x: Array) -> Array:
    """R x with the same bits for a row whatever other rows and coordinates there are."""
    return np.array([float(row[used] @ x[used]) for row in R for used in [np.flatnonzero(row)]])


def components(M: Array, E: Array, R: Array) -> list[tuple[Indices, Indices, Indices]]:
    """Coordinates, equalities and rows that have to do with each other."""
    n = len(M)
    touching = (M != 0) | np.eye(n, dtype=bool)
    for row in (*E, *R):
        used = np.flatnonzero(row)
        touching[used[:1], used] = touching[used, used[:1]] = True
    label = connected(n, np.arange(n), touching)
    of = [np.array([label[int(np.argmax(row != 0))] for row in rows], dtype=np.intp) for rows in (E, R)]
    count = int(label.max(initial=-1)) + 1
    return [(np.flatnonzero(label == i), np.flatnonzero(of[0] == i), np.flatnonzero(of[1] == i)) for i in range(count)]


def of_component(M: Array, E: Array, e: Array, Q: Array, R: Array) -> tuple[Array, Array, Array] | None:
    """x without impulses, its change by them, and W, of coordinates that have to do with each other."""
    units = units_of(M, E)
    mass, rows = M / units / units[:, None], R / units
    start, Z = np.zeros(len(M)), np.eye(len(M))
    if len(E):
        scaled = E / units
        lengths = np.sqrt((scaled * scaled).sum(axis=1))
        lengths = np.where(lengths > 0, lengths, 1.0)
        U, s, Vt = np.linalg.svd(scaled / lengths[:, None])
        rank = int((s > INDEPENDENT * s.max(initial=0.0)).sum())
        start, Z = Vt[:rank].T @ ((U[:, :rank].T @ (e / lengths)) / s[:rank]), Vt[rank:].T
    inner = Z.T @ mass @ Z
    try:
        L = np.linalg.cholesky((inner + inner.T) / 2)
    except np.linalg.LinAlgError:
        return None
    if not (np.diagonal(L) ** 2 > NO_MASS * np.diagonal(inner)).all():
        return None
    B = np.linalg.solve(L, (rows @ Z).T).T
    push = np.linalg.solve(L, Z.T @ (Q / units - mass @ start))
    back = np.linalg.solve(L.T, np.concatenate([push[:, None], B.T], axis=1))
    x = Z @ back
    return (start + x[:, 0]) / units, x[:, 1:] / units[:, None], B @ B.T


def units_of(M: Array, E: Array) -> Array:
    """(n,) the roots of masses; a coordinate whose mass is rounding counts where an equality holds it."""
    mass = np.abs(np.diagonal(M))
    largest = float(mass.max(initial=0.0)) or 1.0
    for row in E:
        if row.any():
            mass = np.maximum(mass, LIGHT * largest * row**2 / (row @ row))
    return np.asarray(np.sqrt(np.where(mass > 0, mass, largest)))
