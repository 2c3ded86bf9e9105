"""How accelerations, or velocities, answer impulses: M x = Q + Gᵀλ + Sᵀf with E x = e, so that R x = W f + c + target.

Impulses act along the rows themselves, G = E and S = R, unless forces depend on multipliers: F(λ) = F₀ + Σ Fᵢ λᵢ adds
the columns Fᵢ to those of the rows, and W is no longer symmetric.

Coordinates that are not coupled by M or any row are answered apart, so that a body has the same bits beside others as
alone. Within the null spaces Z of E and Y of G the masses YᵀMZ must be regular. Without such forces they are ZᵀMZ =
LLᵀ, and W = BBᵀ with B = R Z L⁻ᵀ: W keeps the dependence of rows to its last digits, and M alone may be singular, as
with Euler parameters.
"""

from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.nonsmooth.problem import Indices, connected

INDEPENDENT = 1e-11  # of the largest singular value of E in units of mass: rows below follow from others
PLAIN = 1e-6  # of the largest pivot: rows with larger ones are independent without singular values
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


@dataclass(frozen=True)
class Columns:
    """Along what impulses act instead of their rows: G (e, n) of equalities and S (r, n) of the others."""

    equal: Array
    rows: Array


def respond(
    M: Array, E: Array, e: Array, Q: Array, R: Array, target: Array, along: Columns | None = None
) -> Response | None:
    """The response of rows R (r, n) with targets (r,); None if masses and equalities determine no x.

    Args:
        M: Masses (n, n).
        E: Rows of equalities (m, n), which may depend on each other.
        e: What E x is (m,).
        Q: Forces, or momenta (n,).
        R: Rows of the problem (r, n).
        target: What is taken off R x (r,).
        along: Along what impulses act, if not along their rows.

    Returns:
        x without impulses, and how it and the rows answer them.
    """
    n, r = len(M), len(R)
    free, X = np.zeros(n), np.zeros((n, r))
    W = np.zeros((r, r))
    together = (E, R) if along is None else (np.abs(E) + np.abs(along.equal), np.abs(R) + np.abs(along.rows))
    for q, equal, rows in components(M, *together):
        columns = along and Columns(along.equal[np.ix_(equal, q)], along.rows[np.ix_(rows, q)])
        one = of_component(
            M[np.ix_(q, q)], E[np.ix_(equal, q)], e[equal], Q[q], R[np.ix_(rows, q)], columns
        )  # fmt: skip
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
    if count == 1:
        return [(np.arange(n), np.arange(len(E)), np.arange(len(R)))]
    groups = [grouped(label, count), *(grouped(labels, count) for labels in of)]
    return list(zip(*groups, strict=True))


def grouped(label: Indices, count: int) -> list[Indices]:
    """The places of each label, from 0 to count − 1."""
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1])


def of_component(
    M: Array, E: Array, e: Array, Q: Array, R: Array, along: Columns | None
) -> tuple[Array, Array, Array] | None:
    """x without impulses, its change by them, and W, of coordinates that have to do with each other."""
    units = units_of(M, E)
    mass, rows = M / units / units[:, None], R / units
    start, Z = particular(E / units, e)
    if along is not None:
        return oblique(mass, rows, (start, Z), Q / units, Columns(along.equal / units, along.rows / units), units)
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


def oblique(
    mass: Array, rows: Array, states: tuple[Array, Array], Q: Array, along: Columns, units: Array
) -> tuple[Array, Array, Array] | None:
    """The same where impulses act along columns of their own, all in units of mass."""
    start, Z = states
    Y = particular(along.equal, np.zeros(len(along.equal)))[1]
    if Y.shape != Z.shape:
        return None
    inner = Y.T @ mass @ Z
    load = Y.T @ np.column_stack([Q - mass @ start, along.rows.T])
    if len(inner) and not np.linalg.svd(inner, compute_uv=False)[-1] > NO_MASS * np.abs(inner).max():
        return None
    x = Z @ np.linalg.solve(inner, load)
    return (start + x[:, 0]) / units, x[:, 1:] / units[:, None], rows @ x[:, 1:]


def particular(E: Array, e: Array) -> tuple[Array, Array]:
    """The least x with E x = e, and an orthonormal basis of what E does not see (n, d); E in units of mass.

    >>> start, Z = particular(np.array([[0.0, 2.0], [0.0, 1.0]]), np.array([4.0, 2.0]))
    >>> start.round(12).tolist(), np.abs(Z).round(12).tolist()
    ([0.0, 2.0], [[1.0], [0.0]])
    """
    m, n = E.shape
    if not m:
        return np.zeros(n), np.eye(n)
    lengths = np.sqrt((E * E).sum(axis=1))
    lengths = np.where(lengths > 0, lengths, 1.0)
    scaled, right = E / lengths[:, None], e / lengths
    if m <= n:
        basis, R = np.linalg.qr(scaled.T, mode="complete")
        pivots = np.abs(np.diagonal(R))
        if pivots.min() > PLAIN * pivots.max():
            return basis[:, :m] @ np.linalg.solve(R[:m].T, right), basis[:, m:]
    U, s, Vt = np.linalg.svd(scaled)
    rank = int((s > INDEPENDENT * s.max(initial=0.0)).sum())
    return Vt[:rank].T @ ((U[:, :rank].T @ right) / s[:rank]), Vt[rank:].T


def units_of(M: Array, E: Array) -> Array:
    """(n,) the roots of masses; a coordinate whose mass is rounding counts where an equality holds it."""
    mass = np.abs(np.diagonal(M))
    largest = float(mass.max(initial=0.0)) or 1.0
    for row in E:
        if row.any():
            mass = np.maximum(mass, LIGHT * largest * row**2 / (row @ row))
    return np.asarray(np.sqrt(np.where(mass > 0, mass, largest)))
