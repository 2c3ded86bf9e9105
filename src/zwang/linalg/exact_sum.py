"""Residuals to twice the working precision, by error-free transformations (Ogita, Rump and Oishi 2005)."""

import numpy as np

from zwang.linalg.rank import Array


def two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """x + y as a rounded sum and its exact error."""
    s = x + y
    z = s - x
    return s, (x - (s - z)) + (y - z)


def two_product(x: Array, y: Array) -> tuple[Array, Array]:
    """x·y as a rounded product and its exact error (Dekker's splitting: no fused multiply-add needed)."""
    p = x * y
    xh, xl = _split(x)
    yh, yl = _split(y)
    return p, ((xh * yh - p) + xh * yl + xl * yh) + xl * yl


def _split(x: Array) -> tuple[Array, Array]:
    c = 134217729.0 * x  # 2^27 + 1
    high = c - (c - x)
    return high, x - high


def accurate_sum(terms: Array) -> Array:
    """The sum over the last axis as if computed with twice the digits, rounded once at the end.

    >>> float(accurate_sum(np.array([1e16, 1.0, -1e16])))
    1.0
    """
    error = np.zeros(terms.shape[:-1])
    while terms.shape[-1] > 1:
        half = terms.shape[-1] // 2
        s, e = two_sum(terms[..., :half], terms[..., half : 2 * half])
        error = error + e.sum(axis=-1)
        terms = np.concatenate([s, terms[..., 2 * half :]], axis=-1)
    return terms[..., 0] + error if terms.shape[-1] else error


def residual(constant: Array, *products: tuple[Array, Array]) -> Array:
    """constant + Σ X·x for a vector (k, i) and pairs of matrices (k, i, j) with vectors (k, j)."""
    terms, error = [constant[..., None]], np.zeros_like(constant)
    for X, x in products:
        product, e = two_product(X, x[:, None, :])
        terms.append(product)
        error += e.sum(axis=-1)  # errors of products are small: adding them plainly is accurate enough
    return accurate_sum(np.concatenate(terms, axis=-1)) + error
