"""Residuals to twice the working precision, by error-free transformations (Ogita, Rump and Oishi 2005)."""

from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array


@dataclass(frozen=True)
class Halves:
    """A stack of matrices (k, i, j) made ready for exact products: axes (j, i, k), so that sums run over the first.

    `high` + `low` is `whole`, each with half of its digits.
    """

    whole: Array
    high: Array
    low: Array

    @property
    def transposed(self) -> "Halves":
        """The halves of the transposed matrices."""
        return Halves(*(part.swapaxes(0, 1) for part in (self.whole, self.high, self.low)))


def halves(X: Array) -> Halves:
    """Split a stack of matrices (k, i, j) once, for many products."""
    whole = np.ascontiguousarray(X.transpose(2, 1, 0))
    return Halves(whole, *_split(whole))


def two_sum(x: Array, y: Array) -> tuple[Array, Array]:
    """x + y as a rounded sum and its exact error."""
    s = x + y
    z = s - x
    return s, (x - (s - z)) + (y - z)


def two_product(X: Halves, y: Array) -> tuple[Array, Array]:
    """X·y entry by entry: rounded products and their exact errors (Dekker: no fused multiply-add needed)."""
    p = X.whole * y
    high, low = _split(y)
    return p, ((X.high * high - p) + X.high * low + X.low * high) + X.low * low


def _split(x: Array) -> tuple[Array, Array]:
    c = 134217729.0 * x  # 2^27 + 1
    high = c - (c - x)
    return high, x - high


def accurate_sum(terms: Array) -> Array:
    """The sum over the first axis as if computed with twice the digits, rounded once at the end.

    >>> float(accurate_sum(np.array([1e16, 1.0, -1e16])))
    1.0
    """
    error = np.zeros(terms.shape[1:])
    while len(terms) > 1:
        half = len(terms) // 2
        s, e = two_sum(terms[:half], terms[half : 2 * half])
        error += e.sum(axis=0)
        terms = np.concatenate([s, terms[2 * half :]]) if len(terms) % 2 else s
    return np.asarray(terms[0] + error) if len(terms) else error


def residual(constant: Array, *products: tuple[Halves, Array]) -> Array:
    """constant + Σ X x for vectors (k, i), matrices made ready by `halves` and vectors (k, j)."""
    terms, error = [constant.T[None]], np.zeros(constant.shape[::-1])
    for X, x in products:
        product, e = two_product(X, x.T[:, None, :])
        terms.append(product)
        error += e.sum(axis=0)  # errors of products are small: adding them plainly is accurate enough
    return (accurate_sum(np.concatenate(terms)) + error).T
