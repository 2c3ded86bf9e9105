"""What data can tell of parameters: which of them, and which combinations of the others.

Directions along which data do not change are known at the values that were found only. Along them products of powers
may be what stays, as g/L, or sums, as of two offsets: a step along either, with the data computed anew, tells which.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from zwang.analysis.springs import simplest
from zwang.arrays import Array
from zwang.words import listed

UNTOLD = 1e-7  # changes of the data below this share of the largest, for changes by one's own size, are none
SHARES_IN = 1e-3  # a share of a direction below which a parameter takes no part in it
SIMPLE = 0.02  # exponents this near to whole numbers are these
TRIED = 0.05  # by how much values are changed to see what stays
STAYED = 1e-3  # of what such a change of one value would do to the data: below it they do not change


@dataclass(frozen=True, eq=False)
class Effect:
    """What unknowns do to the data: the largest change by each, changed by its size (k,), and by other values."""

    each: Array
    of: Callable[[Array], float]

    def none(self, there: Array, way: Array) -> bool:
        """Whether data stay with other values, a part of a way in shares of their sizes that the unknowns go."""
        return self.of(there) < STAYED * TRIED * float((self.each * np.abs(way)).max())


def untold(J: Array) -> Array:
    """(d, k) directions along which data (N) do not change; J (N, k)."""
    _, s, Vt = np.linalg.svd(J, full_matrices=True)
    rank = int(np.count_nonzero(s > UNTOLD * s.max(initial=0.0)))
    return np.asarray(Vt[rank:])


def verdict(directions: Array, names: Sequence[str], theta: Array, effect: Effect | None = None) -> str:
    """What cannot be told, in words; `directions` (d, k) are in shares of the sizes of the values theta (k,)."""
    if not len(directions):
        return "Everything can be told from these data."
    alone = np.linalg.norm(directions, axis=0) > 1 - SHARES_IN
    said = [
        f"{names[i]} cannot be told from these data: they do not depend on it" for i in map(int, np.flatnonzero(alone))
    ]
    ways = simplest(np.where(alone, 0.0, directions))
    ways = ways[np.abs(ways).max(axis=1) > SHARES_IN] if len(ways) else ways
    said += [combination(ways[rows], names, theta, effect) for rows in groups(ways)]
    return ". ".join(said) + "."


def groups(ways: Array) -> list[list[int]]:
    """Directions that share parameters, together."""
    left, found = list(range(len(ways))), []
    parts = np.abs(ways) > SHARES_IN
    while left:
        rows = [left.pop(0)]
        while more := [i for i in left if (parts[i] & parts[rows].any(axis=0)).any()]:
            rows += more
            left = [i for i in left if i not in more]
        found.append(rows)
    return found


def combination(ways: Array, names: Sequence[str], theta: Array, effect: Effect | None) -> str:
    """What can be told of parameters that change the data only together, ways (d, k) being what cannot."""
    parts = np.flatnonzero((np.abs(ways) > SHARES_IN).any(axis=0))
    some, scaled = [names[int(i)] for i in parts], bool((theta[parts] != 0).all())
    ways = ways / np.abs(ways).max(axis=1, keepdims=True)
    relative, absolute = ways * np.sign(theta), ways * np.where(theta != 0, np.abs(theta), 1.0)

    def kept_along(step: Callable[[int], Array]) -> bool:
        return effect is not None and all(effect.none(step(i), way) for i, way in enumerate(ways))

    if scaled and (effect is None or kept_along(lambda i: theta * np.exp(TRIED * relative[i]))):
        kept = [product(some, powers) for powers in simplest(across(relative[:, parts]))]
    elif kept_along(lambda i: theta + TRIED * absolute[i]):
        kept = [total(some, weights) for weights in simplest(across(absolute[:, parts]))]
    else:
        return f"{listed(some)} cannot all be told from these data: they change them only together"
    return f"Of {listed(some)} only {listed(kept)} can be told from these data"


def across(ways: Array) -> Array:
    """(k − d, k) directions across others (d, k)."""
    return np.asarray(np.linalg.svd(ways)[2][len(ways) :])


def whole_numbers(row: Array) -> Array:
    """A row as the smallest whole numbers that it is nearly proportional to; as it is where there are none.

    >>> whole_numbers(np.array([1.0, -0.5, 0.0])).tolist(), whole_numbers(np.array([1.0, 0.377])).tolist()
    ([2.0, -1.0, 0.0], [1.0, 0.377])
    """
    for times in (1, 2, 3):
        if (np.abs(times * row - np.round(times * row)) < SIMPLE).all():
            return np.round(times * row) + 0.0
    return row


def product(names: Sequence[str], powers: Array) -> str:
    """A product of powers, in whole numbers where they are nearly so.

    >>> product(["g", "L"], np.array([1.0, -1.0])), product(["a", "b"], np.array([1.0, 2.0]))
    ('g/L', 'a*b**2')
    >>> product(["a", "b", "c"], np.array([0.5, -1.0, -0.5])), product(["a", "b"], np.array([1.0, -0.377]))
    ('a/(b**2*c)', 'a*b**(-0.377)')
    """
    powers = whole_numbers(powers)
    if (powers % 1).any():
        return "*".join(f"{name}**({p:.3g})" if p != 1 else name for name, p in zip(names, powers, strict=True) if p)
    above, below = (
        [name if p == 1 else f"{name}**{p:.0f}" for name, p in zip(names, sign * powers, strict=True) if p > 0]
        for sign in (1, -1)
    )
    bottom = f"({'*'.join(below)})" if len(below) > 1 else "".join(below)
    return f"{'*'.join(above) or '1'}{'/' if below else ''}{bottom}"


def total(names: Sequence[str], weights: Array) -> str:
    """A sum, in whole numbers where weights are nearly so.

    >>> total(["a", "b"], np.array([1.0, 1.0])), total(["a", "b", "c"], np.array([1.0, -0.5, 0.0]))
    ('a + b', '2*a - b')
    """
    words = ""
    for name, w in zip(names, whole_numbers(weights), strict=True):
        if abs(w) > SHARES_IN:
            sign = ("-" if w < 0 else "") if not words else (" - " if w < 0 else " + ")
            words += f"{sign}{name if abs(w) == 1 else f'{abs(w):.3g}*{name}'}"
    return words
