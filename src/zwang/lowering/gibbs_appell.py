"""Gibbs and Appell's form as a program: accelerations eliminated by the constraints, S3 (37)."""

from collections.abc import Sequence
from typing import Any

import symengine as se

from zwang.lowering.lowered import Lowered
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Row, Steps, factorise_saddle

Columns = dict[int, dict[int, Any]]
"""Columns of a sparse matrix: number → {row: entry}."""


def gibbs_appell(
    lowered: Lowered, basis: RowBasis, Q: Sequence[Any], b: dict[int, Any], steps: Steps
) -> tuple[list[Any], list[Any]]:
    """S3 (37): eliminate r accelerations by the constraints, solve for the others.

    Gauss–Jordan elimination turns A q̈ = b into q̈_e = β − R q̈_I; with Z = [−R; I] the rest is
    ZᵀMZ q̈_I = Zᵀ(Q − Mβ).
    """
    derived = lowered.derived
    R, beta, pivots = eliminated_by(basis, derived.A, b, steps)
    source = {column: i for i, column, _ in basis.pivots}  # eliminated coordinate → the row that gives it
    kept = [j for j in range(len(Q)) if j not in source]
    Z = {j: {j: se.Integer(1)} | {e: -R[i][j] for e, i in source.items() if j in R[i]} for j in kept}
    M = [{k: steps.name(e) for k, e in row.items()} for row in derived.M]
    # Q − Mβ: the part of the eliminated accelerations that is known already goes to the right-hand side.
    known = [steps.sum([Q[j], *(-e * beta[source[k]] for k, e in M[j].items() if k in source)]) for j in range(len(Q))]
    saddle = factorise_saddle(reduced_mass(M, Z, kept, steps), [], steps)
    independent, _ = saddle.solve([se.Add(*[z * known[k] for k, z in Z[j].items()]) for j in kept], [])
    result: list[Any] = [None] * len(Q)
    for j, x in zip(kept, independent, strict=True):
        result[j] = x
    for column, i in source.items():
        result[column] = steps.sum([beta[i], *(-e * result[j] for j, e in R[i].items() if result[j] is not None)])
    # Where one of the former vanishes these coordinates cannot be eliminated; one of the latter, and ZᵀMZ is singular.
    return result, [*pivots, *saddle.mass_pivots()]


def eliminated_by(
    basis: RowBasis, A: Sequence[Row], b: dict[int, Any], steps: Steps
) -> tuple[dict[int, Row], dict[int, Any], list[Any]]:
    """R, β and the pivots: each row of the basis solved for one acceleration and free of the others'.

    Which column a row is solved for was chosen with numbers, at the start; here the same is done in symbols. Every
    entry is named as it arises, because later rows use it many times: as nested expressions they would grow
    exponentially. Entries that are zero by structure are never written.
    """
    rows = {i: {j: steps.name(e) for j, e in A[i].items()} for i in basis.rows}
    right = {i: steps.name(e) for i, e in b.items()}
    pivots = []
    for i, column, sign in basis.pivots:
        pivot = rows[i].pop(column)
        pivots.append(sign * pivot)  # positive at the start, so that a sign change is a passage through zero
        rows[i] = {j: steps.name(e / pivot) for j, e in rows[i].items()}
        right[i] = steps.name(right[i] / pivot)
        # Jordan's part: rows above are cleared as well as rows below, so that R needs no back substitution.
        for k in basis.rows:
            if k != i and (factor := rows[k].pop(column, None)) is not None:
                for j, e in rows[i].items():
                    rows[k][j] = steps.name(rows[k].get(j, 0) - factor * e)
                right[k] = steps.name(right[k] - factor * right[i])
    return rows, right, pivots


def reduced_mass(M: Sequence[Row], Z: Columns, kept: Sequence[int], steps: Steps) -> list[Row]:
    """ZᵀMZ by rows, numbered as the kept coordinates are."""
    MZ = mass_times(M, Z, steps)
    users: dict[int, list[int]] = {}  # row of Z → the columns with an entry there, so that zeros cost nothing
    for j in kept:
        for k in Z[j]:
            users.setdefault(k, []).append(j)
    number = {j: c for c, j in enumerate(kept)}
    H: list[Row] = [{} for _ in kept]
    for j in kept:
        terms: dict[int, list[Any]] = {}
        for i, e in MZ[j].items():
            for l in users.get(i, ()):
                if number[l] <= number[j]:  # it is symmetric: one half is computed, and stands for both
                    terms.setdefault(l, []).append(Z[l][i] * e)
        for l, parts in terms.items():
            H[number[j]][number[l]] = H[number[l]][number[j]] = steps.sum(parts)
    return H


def mass_times(M: Sequence[Row], Z: Columns, steps: Steps) -> Columns:
    """MZ by columns; named, since each entry is used once for every column of Z that it meets."""
    products: dict[int, dict[int, list[Any]]] = {j: {} for j in Z}
    for j, column in Z.items():
        for k, z in column.items():
            for i, e in M[k].items():
                products[j].setdefault(i, []).append(e * z)
    return {j: {i: steps.sum(terms) for i, terms in column.items()} for j, column in products.items()}
