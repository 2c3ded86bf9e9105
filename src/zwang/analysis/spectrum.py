"""Eigenvalues of a state matrix, its zeros taken out first: a chain of zeros would lose half of its digits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import EPS, TINIEST, Array

Complex = NDArray[np.complex128]

ZERO_VALUE = 1e-10  # singular values below this share of the largest are zeros
ROUNDINGS = 64  # an eigenvalue is known to so many roundings, times its condition


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues (k,), zeros first, with a column of `vectors` (s, k) each; `zeros` says how many are zero.

    `uncertain` (k,) is how far an eigenvalue may be off for rounding: much where two nearly coincide.
    """

    values: Complex
    vectors: Complex
    zeros: int
    uncertain: Array

    @property
    def others(self) -> Complex:
        """The eigenvalues that are not zero."""
        return np.asarray(self.values[self.zeros :])

    @property
    def growth(self) -> Array:
        """Real parts of the others, rounding put to zero."""
        real = self.others.real
        return np.asarray(np.where(np.abs(real) <= self.uncertain[self.zeros :], 0.0, real))


def spectrum_of(A: Array) -> Spectrum:
    """The spectrum of a matrix (s, s)."""
    from scipy.linalg import eig
    from scipy.linalg.lapack import dgebal

    s = len(A)
    if not s:
        return Spectrum(np.zeros(0, complex), np.zeros((0, 0), complex), 0, np.zeros(0))
    told = np.where(np.abs(A) > ROUNDINGS * EPS * np.abs(A).max(initial=0.0), A, 0.0)  # rounding has no say in scales
    D = dgebal(told, scale=1, permute=0)[3]
    balanced = A * D / D[:, None]
    W = generalized_null_space(balanced)
    zeros = W.shape[1]
    rest = np.linalg.qr(W, mode="complete")[0][:, zeros:] if zeros else np.eye(s)
    A22 = rest.T @ balanced @ rest
    values, left, right = eig(A22, left=True) if s > zeros else (np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)))
    size = float(np.linalg.norm(balanced, 2))
    overlap = np.abs(np.einsum("ij,ij->j", left.conj(), right))
    uncertain = ROUNDINGS * s * EPS * size / np.maximum(overlap, TINIEST)
    # a defective pair is off by the square root of rounding, whatever its computed condition
    uncertain = np.minimum(uncertain, max(1.0, s) * np.sqrt(ROUNDINGS * EPS) * size)
    A11, A12 = W.T @ balanced @ W, W.T @ balanced @ rest
    vectors = np.zeros((s, s), dtype=complex)
    vectors[:, :zeros] = W
    for k, (value, y) in enumerate(zip(values, right.T, strict=True)):
        top = np.linalg.solve(A11 - value * np.eye(zeros), -A12 @ y) if zeros else np.zeros(0)
        vectors[:, zeros + k] = W @ top + rest @ y
    order = np.lexsort((-values.imag, np.abs(values.imag).round(12), np.abs(values)))
    order = np.concatenate([np.arange(zeros), zeros + order])
    whole = np.concatenate([np.zeros(zeros), values])
    known = np.concatenate([np.zeros(zeros), uncertain])
    return Spectrum(whole[order], (vectors * D[:, None])[:, order], zeros, known[order])


def generalized_null_space(A: Array) -> Array:
    """(s, z) an orthonormal basis of what powers of a matrix make zero, vectors that A itself makes zero first."""
    s = len(A)
    basis, rest = np.zeros((s, 0)), np.eye(s)
    size = float(np.linalg.norm(A, 2))
    while rest.shape[1]:
        inner = rest.T @ A @ rest
        _, sigma, Vt = np.linalg.svd(inner)
        null = Vt[np.count_nonzero(sigma > ZERO_VALUE * size) :].T
        if not null.shape[1]:
            break
        basis = np.hstack([basis, rest @ null])
        rest = rest @ np.linalg.qr(null, mode="complete")[0][:, null.shape[1] :]
    return basis
