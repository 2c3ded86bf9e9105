"""Small dense matrices, row by row: factors, inverses, eigenvalues, elimination. Native functions."""

import math
from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import Array, native, seldom_native

MOST_ROTATIONS: Final = 60  # rounds of rotations; ten do


@native
def factorised(a: Array, n: int, least: float) -> bool:
    """Make L of a positive definite A = LLᵀ, in its place; whether each pivot is more than a share of its entry."""
    for j in range(n):
        entry = a[j * n + j]
        pivot = entry
        for k in range(j):
            pivot -= a[j * n + k] * a[j * n + k]
        if not (pivot > least * entry and pivot > 0.0):
            return False
        root = math.sqrt(pivot)
        a[j * n + j] = root
        for i in range(j + 1, n):
            total = a[i * n + j]
            for k in range(j):
                total -= a[i * n + k] * a[j * n + k]
            a[i * n + j] = total / root
    return True


@native
def inverted(a: Array, n: int, inverse: Array) -> None:
    """A⁻¹ from L."""
    for j in range(n):
        for i in range(n):
            total = 1.0 if i == j else 0.0
            if i >= j:
                for k in range(j, i):
                    total -= a[i * n + k] * inverse[k * n + j]
                inverse[i * n + j] = total / a[i * n + i]
            else:
                inverse[i * n + j] = 0.0
    for j in range(n):  # inverse is L⁻¹; now LᵀX = it, from below
        for r in range(n):
            i = n - 1 - r
            total = inverse[i * n + j]
            for k in range(i + 1, n):
                total -= a[k * n + i] * inverse[k * n + j]
            inverse[i * n + j] = total / a[i * n + i]


@seldom_native
def pseudoinverse(a: Array, n: int, vectors: Array, least: float, inverse: Array) -> int:
    """A⁺ of a symmetric matrix without negative eigenvalues, by Jacobi's rotations; its rank. A is lost."""
    for i in range(n):
        for j in range(n):
            vectors[i * n + j] = 1.0 if i == j else 0.0
    for _ in range(MOST_ROTATIONS):
        off = size = 0.0
        for i in range(n):
            size += a[i * n + i] * a[i * n + i]
            for j in range(i):
                off += a[i * n + j] * a[i * n + j]
        if not off > EPS * EPS * size:
            break
        for p in range(n):
            for q in range(p + 1, n):
                rotate(a, n, vectors, p, q)
    largest = 0.0
    for i in range(n):
        largest = a[i * n + i] if a[i * n + i] > largest else largest
    rank = 0
    for i in range(n * n):
        inverse[i] = 0.0
    for k in range(n):
        value = a[k * n + k]
        if value > least * largest:
            rank += 1
            for i in range(n):
                for j in range(n):
                    inverse[i * n + j] += vectors[i * n + k] * vectors[j * n + k] / value
    return rank


@seldom_native
def rotate(a: Array, n: int, vectors: Array, p: int, q: int) -> None:
    """Jacobi's rotation that makes a_pq zero."""
    if a[p * n + q] == 0.0:
        return
    ratio = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q])
    t = 1.0 / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
    t = t if ratio >= 0.0 else -t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for k in range(n):
        x, y = a[k * n + p], a[k * n + q]
        a[k * n + p], a[k * n + q] = c * x - s * y, s * x + c * y
    for k in range(n):
        x, y = a[p * n + k], a[q * n + k]
        a[p * n + k], a[q * n + k] = c * x - s * y, s * x + c * y
    for k in range(n):
        x, y = vectors[k * n + p], vectors[k * n + q]
        vectors[k * n + p], vectors[k * n + q] = c * x - s * y, s * x + c * y


@native
def eliminated(a: Array, n: int) -> bool:
    """Solve a x = b, b being behind the columns of a and x in its place afterwards; False where a is singular."""
    wide = n + 1
    for k in range(n):
        size, row = 0.0, k
        for i in range(k, n):
            if abs(a[i * wide + k]) > size:
                size, row = abs(a[i * wide + k]), i
        if not size > 0.0:
            return False
        if row != k:
            for j in range(k, wide):
                a[k * wide + j], a[row * wide + j] = a[row * wide + j], a[k * wide + j]
        for i in range(k + 1, n):
            factor = a[i * wide + k] / a[k * wide + k]
            if factor != 0.0:
                for j in range(k + 1, wide):
                    a[i * wide + j] -= factor * a[k * wide + j]
    for r in range(n):
        i = n - 1 - r
        total = a[i * wide + n]
        for j in range(i + 1, n):
            total -= a[i * wide + j] * a[j * wide + n]
        a[i * wide + n] = total / a[i * wide + i]
    return True


@native
def rank_of(a: Array, n: int, wide: int, least: float) -> int:
    """The rank of a symmetric matrix without negative eigenvalues, ones on its diagonal; lines are so wide."""
    for k in range(n):
        size, at = 0.0, k
        for i in range(k, n):
            if a[i * wide + i] > size:
                size, at = a[i * wide + i], i
        if not size > least:
            return k
        for j in range(n):
            a[k * wide + j], a[at * wide + j] = a[at * wide + j], a[k * wide + j]
        for i in range(n):
            a[i * wide + k], a[i * wide + at] = a[i * wide + at], a[i * wide + k]
        for i in range(k + 1, n):
            factor = a[i * wide + k] / a[k * wide + k]
            for j in range(k + 1, n):
                a[i * wide + j] -= factor * a[k * wide + j]
    return n
