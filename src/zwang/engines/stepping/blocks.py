"""How velocities answer impulses and changes that equalities ask for, block by block: M Δv = p + EᵀΛ, E Δv = d.

Blocks are coordinates that masses or equalities connect. Each small one has Δv = K p + G d and Λ = S d − Gᵀp in full
matrices, a large one factors (`sparse`), made anew where its masses or equalities have changed. Native functions.
"""

import math
from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import Array, native
from zwang.compile.restricted.memory import at, shift
from zwang.engines.stepping.dense import factorised, inverted, pseudoinverse
from zwang.engines.stepping.record import AnswerRecord, WalkRecord, answers_at, factors_at, integers
from zwang.engines.stepping.sparse import answered_sparsely, factored

DEPENDENT_EQUALITIES: Final = 1e-13  # of the largest, for each coordinate: eigenvalues of E M⁻¹Eᵀ that are zero
DEPENDENT_PIVOT: Final = 1e-9  # of its entry: a pivot of E M⁻¹Eᵀ, below which eigenvalues are looked at
NEARLY_MASSLESS: Final = 1e-8  # of a coordinate's mass: what is left of it with the others held, below which rows help
NO_MASS_LEFT: Final = 64 * EPS  # the same, below which it is rounding


@native
def renewed(walk: WalkRecord, level: int, out: Array) -> bool:
    """Whether there are answers with the masses and equalities in out, up to a level; those are made that are not."""
    answer = answers_at(walk.answers)[integers(walk.level)[level].at]
    M, mass_at, changed = at(answer.M), integers(walk.mass_at), at(walk.scratch)
    for b in range(walk.blocks):
        changed[b] = 0.0 if answer.known == 1 else 1.0
    masses = shift(out, walk.out_M)
    owner = integers(walk.mass_block)
    for e in range(walk.masses):
        place = mass_at[e].at
        if M[place] != masses[e]:
            M[place] = masses[e]
            changed[owner[e].at] = 1.0
    first, rows, E = integers(answer.first), integers(answer.rows), at(answer.E)
    row_first, column, entry = integers(walk.row_first), integers(walk.row_column), integers(walk.row_entry)
    local, A, begin = integers(walk.local), shift(out, walk.out_A), integers(walk.block_first)
    for b in range(walk.blocks):
        wide, row = begin[b + 1].at - begin[b].at, integers(answer.at_E)[b].at
        large, next_place = factors_at(answer.factors)[b].count > 0, integers(answer.at_E)[b].at
        for i in range(first[b].at, first[b + 1].at):
            r = rows[i].at
            for e in range(row_first[r].at, row_first[r + 1].at):
                place = next_place if large else row + (i - first[b].at) * wide + local[column[e].at].at
                next_place += 1
                if E[place] != A[entry[e].at]:
                    E[place] = A[entry[e].at]
                    changed[b] = 1.0
    answer.known = 0
    ranks, rank = at(answer.ranks), 0
    for b in range(walk.blocks):
        if changed[b] != 0.0:
            large = factors_at(answer.factors)[b].count > 0
            found = factored(answer, b, integers(walk.at_M)[b].at) if large else made(walk, answer, b)
            if found < 0:
                return False
            ranks[b] = found
        rank += int(ranks[b])
    answer.known, answer.rank = 1, rank
    return True


@native
def made(walk: WalkRecord, answer: AnswerRecord, b: int) -> int:
    """Make K, G and S of one block; the rank of its equalities, or −1 if nothing determines velocities."""
    begin, first = integers(walk.block_first), integers(answer.first)
    n, m = begin[b + 1].at - begin[b].at, first[b + 1].at - first[b].at
    at_M, at_E, at_S = integers(walk.at_M)[b].at, integers(answer.at_E)[b].at, integers(answer.at_S)[b].at
    M, K, E = shift(at(answer.M), at_M), shift(at(answer.K), at_M), shift(at(answer.E), at_E)
    if m == 0:
        if n == 1:
            if not M[0] > 0.0:
                return -1
            K[0] = 1.0 / M[0]
            return 0
        L = shift(at(walk.scratch), walk.blocks)
        for i in range(n * n):
            L[i] = M[i]
        if not factorised(L, n, NO_MASS_LEFT):
            return -1
        inverted(L, n, K)
        return 0
    L = shift(at(walk.scratch), walk.blocks)
    unit, lengths = shift(L, n * n), shift(L, n * n + m * n)
    for i in range(m):
        total = 0.0
        for j in range(n):
            total += E[i * n + j] * E[i * n + j]
        lengths[i] = math.sqrt(total)
        for j in range(n):
            unit[i * n + j] = E[i * n + j] / lengths[i] if total > 0.0 else 0.0
    for i in range(n * n):
        L[i] = M[i]
    lift = 0.0
    if not factorised(L, n, NEARLY_MASSLESS):  # rows that hold what has no mass make up for it
        for j in range(n):
            lift += M[j * n + j] / n
        lift = lift if lift > 0.0 else 1.0
        for i in range(n):
            for j in range(n):
                total = M[i * n + j]
                for k in range(m):
                    total += lift * unit[k * n + i] * unit[k * n + j]
                L[i * n + j] = total
        if not factorised(L, n, NO_MASS_LEFT):
            return -1
    inverted(L, n, K)
    return with_rows(answer, n, m, K, unit, lengths, shift(lengths, m), at_E, at_S, lift)


@native
def with_rows(
    answer: AnswerRecord,
    n: int,
    m: int,
    K: Array,
    unit: Array,
    lengths: Array,
    room: Array,
    at_E: int,
    at_S: int,
    lift: float,
) -> int:
    """G and S from the inverse of the masses in K, which becomes that with the equalities held; their rank."""
    G, S = shift(at(answer.G), at_E), shift(at(answer.S), at_S)
    B, T, Y = room, shift(room, n * m), shift(room, n * m + m * m)
    for i in range(n):
        for k in range(m):
            total = 0.0
            for j in range(n):
                total += K[i * n + j] * unit[k * n + j]
            B[i * m + k] = total
    for k in range(m):
        for r in range(m):
            total = 0.0
            for j in range(n):
                total += unit[k * n + j] * B[j * m + r]
            T[k * m + r] = total
            Y[k * m + r] = total
    rank = m
    if factorised(Y, m, DEPENDENT_PIVOT):
        inverted(Y, m, S)
    else:
        rank = pseudoinverse(T, m, Y, DEPENDENT_EQUALITIES * n, S)
    for i in range(n):
        for k in range(m):
            total = 0.0
            for r in range(m):
                total += B[i * m + r] * S[r * m + k]
            G[i * m + k] = total
    for i in range(n):
        for j in range(n):
            total = K[i * n + j]
            for k in range(m):
                total -= G[i * m + k] * B[j * m + k]
            K[i * n + j] = total
    for k in range(m):
        back = 1.0 / lengths[k] if lengths[k] > 0.0 else 0.0
        for i in range(n):
            G[i * m + k] *= back
        for r in range(m):
            other = 1.0 / lengths[r] if lengths[r] > 0.0 else 0.0
            S[k * m + r] = back * other * (S[k * m + r] - (lift if k == r else 0.0))
    return rank


@native
def answered(walk: WalkRecord, level: int, push: Array, asked: Array, change: Array, multipliers: Array) -> None:
    """Δv and Λ of impulses (n,) and of what rows are asked for (rows,)."""
    answer = answers_at(walk.answers)[integers(walk.level)[level].at]
    begin, coordinate = integers(walk.block_first), integers(walk.block_coordinate)
    first, rows = integers(answer.first), integers(answer.rows)
    for b in range(walk.blocks):
        n, m, start, row = begin[b + 1].at - begin[b].at, first[b + 1].at - first[b].at, begin[b].at, first[b].at
        if factors_at(answer.factors)[b].count > 0:
            answered_sparsely(walk, answer, b, push, asked, change, multipliers)
            continue
        K = shift(at(answer.K), integers(walk.at_M)[b].at)
        if n == 1 and m == 0:
            change[coordinate[start].at] = K[0] * push[coordinate[start].at]
            continue
        G, S = shift(at(answer.G), integers(answer.at_E)[b].at), shift(at(answer.S), integers(answer.at_S)[b].at)
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += K[i * n + j] * push[coordinate[start + j].at]
            for k in range(m):
                total += G[i * m + k] * asked[rows[row + k].at]
            change[coordinate[start + i].at] = total
        for k in range(m):
            total = 0.0
            for r in range(m):
                total += S[k * m + r] * asked[rows[row + r].at]
            for i in range(n):
                total -= G[i * m + k] * push[coordinate[start + i].at]
            multipliers[rows[row + k].at] = total
