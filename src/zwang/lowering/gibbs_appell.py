"""Gibbs and Appell's form as a program: accelerations eliminated by the constraints, S3 (37)."""

from collections.abc import Sequence
from typing import Any

import symengine as se

from zwang.lowering.lowered import Lowered
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Row, Steps, factorise_saddle


def gibbs_appell(
    lowered: Lowered, basis: RowBasis, Q: Sequence[Any], b: dict[int, Any], steps: Steps
) -> tuple[list[Any], list[Any]]:
    """S3 (37): eliminate r accelerations by the constraints, solve for the others.

    Gauss–Jordan elimination turns A q̈ = b into q̈_e = β − R q̈_I; with Z = [−R; I] the rest is
    ZᵀMZ q̈_I = Zᵀ(Q − Mβ).
    """
    derived = lowered.derived
    rows = {i: {j: steps.name(e) for j, e in derived.A[i].items()} for i in basis.rows}
    right = {i: steps.name(e) for i, e in b.items()}
    pivots = []
    for i, column, sign in basis.pivots:
        pivot = rows[i].pop(column)
        pivots.append(sign * pivot)
        rows[i] = {j: steps.name(e / pivot) for j, e in rows[i].items()}
        right[i] = steps.name(right[i] / pivot)
        for k in basis.rows:
            if k != i and (factor := rows[k].pop(column, None)) is not None:
                for j, e in rows[i].items():
                    rows[k][j] = steps.name(rows[k].get(j, 0) - factor * e)
                right[k] = steps.name(right[k] - factor * right[i])
    eliminated = {column: i for i, column, _ in basis.pivots}
    kept = [j for j in range(len(Q)) if j not in eliminated]
    # columns of Z, by kept coordinate
    Z = {j: {j: se.Integer(1)} | {e: -rows[i][j] for e, i in eliminated.items() if j in rows[i]} for j in kept}
    M = [{k: steps.name(e) for k, e in row.items()} for row in derived.M]
    shift = [
        steps.sum([Q[j], *(-e * right[eliminated[k]] for k, e in M[j].items() if k in eliminated)])
        for j in range(len(Q))
    ]
    MZ: dict[int, dict[int, list[Any]]] = {j: {} for j in kept}
    for j in kept:
        for k, z in Z[j].items():
            for i, e in M[k].items():
                MZ[j].setdefault(i, []).append(e * z)
    MZ_named = {j: {i: steps.sum(terms) for i, terms in column.items()} for j, column in MZ.items()}
    number = {j: c for c, j in enumerate(kept)}
    H: list[Row] = [{} for _ in kept]
    users: dict[int, list[int]] = {}
    for j in kept:
        for k in Z[j]:
            users.setdefault(k, []).append(j)
    for j in kept:
        terms: dict[int, list[Any]] = {}
        for i, e in MZ_named[j].items():
            for l in users.get(i, ()):
                if number[l] <= number[j]:
                    terms.setdefault(l, []).append(Z[l][i] * e)
        for l, parts in terms.items():
            H[number[j]][number[l]] = H[number[l]][number[j]] = steps.sum(parts)
    reduced = [se.Add(*[z * shift[k] for k, z in Z[j].items()]) for j in kept]
    saddle = factorise_saddle(H, [], steps)
    independent, _ = saddle.solve(reduced, [])
    result: list[Any] = [None] * len(Q)
    for j, x in zip(kept, independent, strict=True):
        result[j] = x
    for column, i in eliminated.items():
        terms_of = [right[i], *(-e * result[j] for j, e in rows[i].items() if result[j] is not None)]
        result[column] = steps.sum(terms_of)
    return result, [*pivots, *saddle.mass_pivots()]
