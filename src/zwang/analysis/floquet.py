"""Floquet multipliers: eigenvalues of the map of neighbours over one period, those that are known by structure exactly.

An eigenvalue that is 1 or 0 by structure is often a multiple one, of which rounding leaves half of the digits or fewer.
So these are taken out first: what P sends to zero, with what it then sends to zero; then fixed directions u, P u = u,
and fixed readings w, wᵀP = wᵀ. The others are those of P on what is left,

    P′ = NᵀP N,    N an orthonormal basis of what is orthogonal to u, or of the directions with wᵀx = 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zwang.analysis.product import blocks_of
from zwang.arrays import TINIEST, Array
from zwang.words import count

ON_THE_CIRCLE = 1e-6  # multipliers this near to the unit circle are on it: a double one is known to half of the digits
GONE = 1e-10  # of the largest singular value: directions that P shortens by more are gone after a period
FIXED = 1e-8  # the same of P − 1: directions and readings that are the same after a period
A_PAIR = 1e-7  # of a multiplier: two that are nearer to each other than this may as well be one, twice

FLOW, FORGOTTEN, CONSERVED = "along the motion", "forgotten", "conserved, or a family"


@dataclass(frozen=True)
class Multipliers:
    """All multipliers, largest first, with the names of those that are known by structure."""

    values: Any
    names: tuple[str, ...]


def multipliers(P: Array, fixed: dict[str, Array], factors: Sequence[Array] = ()) -> Multipliers:
    """The multipliers of a map P (d, d); `fixed` are directions (d,) that may be the same after a period, by name.

    Where P is too far from being well conditioned, `factors` whose product it is keep the small multipliers.

    >>> found = multipliers(np.array([[1.0, 5, 0], [0, 1, 0], [0, 0, 0.5]]), {FLOW: np.array([1.0, 0, 0])})
    >>> found.values.tolist(), found.names
    ([(1+0j), (1+0j), (0.5+0j)], ('along the motion', 'conserved, or a family', ''))
    """
    if factors:
        blocks, zeros = blocks_of(factors)
        parts = [block.whole for block in blocks]
    else:
        left, zeros = without_zeros(P)
        parts = [left]
    ones, others = 0, [np.zeros(0, dtype=complex)]
    for part in parts:
        left, found = without_ones(part)
        ones += found
        others.append(cleaned(np.linalg.eigvals(left).astype(complex)) if len(left) else others[0])
    named = known(P, fixed)[:ones]
    named += [CONSERVED] * (ones - len(named))
    values = np.concatenate([np.ones(ones), *others, np.zeros(zeros)]).astype(complex)
    names = np.array([*named, *[""] * (len(values) - ones - zeros), *[FORGOTTEN] * zeros])
    sizes = [float(f"{size:.11e}") for size in np.abs(values)]  # two of a pair are of one size
    order = np.lexsort((np.arange(len(values)), -values.imag, -np.array(sizes)))
    return Multipliers(values[order], tuple(names[order].tolist()))


def without_zeros(P: Array) -> tuple[Array, int]:
    """P on what it does not send to zero, and how many zeros were taken out."""
    taken = 0
    while len(P):
        s, V = np.linalg.svd(P)[1:]
        kept = s > GONE * max(float(s[0]), TINIEST)
        if kept.all():
            break
        N = V[kept].T
        P, taken = N.T @ P @ N, taken + int((~kept).sum())
    return P, taken


def without_ones(P: Array) -> tuple[Array, int]:
    """P without its fixed readings and directions, and how many ones were taken out."""
    taken = 0
    for transpose in (True, False):
        while len(P):
            D = P - np.eye(len(P))
            s, V = np.linalg.svd(D.T if transpose else D)[1:]
            kept = s > FIXED * max(float(np.linalg.norm(P, 2)), 1.0)
            if kept.all():
                break
            N = V[kept].T
            P, taken = N.T @ P @ N, taken + int((~kept).sum())
    return P, taken


def known(P: Array, fixed: dict[str, Array]) -> list[str]:
    """The names of those directions that are the same after a period, without what others make up already."""
    names: list[str] = []
    span = np.zeros((len(P), 0))
    for name, u in fixed.items():
        rest = u - span @ (span.T @ u)
        if same(P, u) and np.linalg.norm(rest) > FIXED * np.linalg.norm(u):
            names.append(name)
            span = np.column_stack([span, rest / np.linalg.norm(rest)])
    return names


def same(P: Array, u: Array) -> bool:
    """Whether a direction is the same after a period."""
    return bool(np.linalg.norm(P @ u - u) <= FIXED * max(float(np.linalg.norm(P, 2)), 1.0) * np.linalg.norm(u))


def cleaned(values: Any) -> Any:
    """Multipliers of which two that rounding may have parted are real."""
    real = np.abs(values.imag) <= A_PAIR * np.maximum(np.abs(values), TINIEST)
    return np.where(real, values.real + 0j, values)


def verdict(found: Multipliers, apart: Sequence[str]) -> str:
    """What becomes of a neighbour, in words; multipliers of these names do not matter to that."""
    left = [w for w, name in zip(found.values, found.names, strict=True) if not name or name not in apart]
    sizes = np.abs(left)
    largest = float(sizes.max(initial=0.0))
    if largest > 1 + ON_THE_CIRCLE:
        which = left[int(sizes.argmax())]
        kind = "turning" if abs(which.imag) > ON_THE_CIRCLE else "flipping sides" if which.real < 0 else "on one side"
        return f"unstable: neighbours go away by a factor of {largest:.4g} a period, {kind}"
    if largest > 1 - ON_THE_CIRCLE:
        on = [w for w in left if abs(abs(w) - 1) <= ON_THE_CIRCLE]
        return f"not to be told at first order: {count(len(on), 'further multiplier')} of size 1"
    return f"stable: neighbours come nearer by a factor of {largest:.4g} a period"
