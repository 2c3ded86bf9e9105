"""Generalized inverses and their families, for arrays and for SymPy matrices alike.

The Penrose conditions of Y for X:  (1) XYX = X  (2) YXY = Y  (3) XY symmetric  (4) YX symmetric.
A {1,4}-inverse satisfies (1) and (4), and so on; the Moore–Penrose inverse X⁺ satisfies all four.
"""

from typing import Any

import numpy as np

from zwang.arrays import TINIEST, Array


def moore_penrose(X: Array, rank: int) -> Array:
    """X⁺ of a stack of matrices of known rank: the singular values beyond it count as zero."""
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    return np.asarray((Vt.swapaxes(-1, -2)[..., :rank] / s[..., None, :rank]) @ U.swapaxes(-1, -2)[..., :rank, :])


def inverse_1(X: Any, pinv: Any, U: Any) -> Any:
    """The {1}-inverse X⁺ + U − X⁺XUXX⁺; every {1}-inverse is one of these."""
    return pinv + U - pinv @ X @ U @ X @ pinv


def inverse_13(X: Any, pinv: Any, V: Any) -> Any:
    """The {1,3}-inverse X⁺ + (I − X⁺X)V; every {1,3}-inverse is one of these."""
    return pinv + V - pinv @ X @ V


def inverse_14(X: Any, pinv: Any, V: Any) -> Any:
    """The {1,4}-inverse X⁺ + V(I − XX⁺); every {1,4}-inverse is one of these."""
    return pinv + V - V @ X @ pinv


def penrose_defects(X: Array, Y: Array) -> tuple[float, float, float, float]:
    """How far Y is from each Penrose condition for X, relative to the size of the terms; of stacks the worst.

    >>> X = np.array([[1.0, 0.0], [0.0, 0.0]])
    >>> penrose_defects(X, X)
    (0.0, 0.0, 0.0, 0.0)
    """
    XY, YX = X @ Y, Y @ X

    def size(Z: Array) -> Array:
        return np.asarray(np.abs(Z).max(axis=(-1, -2), initial=0.0))

    products = np.maximum(np.maximum(size(np.abs(X) @ np.abs(Y)), size(np.abs(Y) @ np.abs(X))), TINIEST)

    def worst(defect: Array, terms: Array) -> float:
        return float((size(defect) / np.maximum(terms, TINIEST)).max(initial=0.0))

    return (
        worst(XY @ X - X, np.maximum(products, 1.0) * size(X)),
        worst(YX @ Y - Y, np.maximum(products, 1.0) * size(Y)),
        worst(XY - XY.swapaxes(-1, -2), products),
        worst(YX - YX.swapaxes(-1, -2), products),
    )
