"""What data can tell of parameters: which of them, and which combinations of the others."""

from collections.abc import Sequence

import numpy as np

from zwang.arrays import Array
from zwang.words import listed

UNTOLD = 1e-7  # changes of the data below this share of the largest, for changes by one's own size, are none
SHARES_IN = 1e-3  # a share of a direction below which a parameter takes no part in it
SIMPLE = 0.02  # exponents this near to simple fractions are these


def untold(J: Array, sizes: Array) -> Array:
    """(d, k) directions, in shares of the parameters' sizes, along which data (N) do not change; J (N, k)."""
    scaled = J * sizes
    _, s, Vt = np.linalg.svd(scaled, full_matrices=True)
    rank = int(np.count_nonzero(s > UNTOLD * s.max(initial=0.0)))
    return np.asarray(Vt[rank:])


def verdict(directions: Array, names: Sequence[str], relative: Sequence[bool]) -> str:
    """What cannot be told, in words."""
    if not len(directions):
        return "Everything can be told from these data."
    rest, said = [], []
    part = np.linalg.norm(directions, axis=0)
    for i in map(int, np.flatnonzero(part > 1 - SHARES_IN)):
        said.append(f"{names[i]} cannot be told from these data: they do not depend on it")
    alone = part > 1 - SHARES_IN
    left = directions[:, ~alone]
    keep = [name for name, a in zip(names, alone, strict=True) if not a]
    scales = [r for r, a in zip(relative, alone, strict=True) if not a]
    _, s, Vt = np.linalg.svd(left) if left.size else (None, np.zeros(0), np.zeros((0, 0)))
    for way in Vt[: np.count_nonzero(s > SHARES_IN)]:
        parts = [int(i) for i in np.flatnonzero(np.abs(way) > SHARES_IN)]
        rest.append(combination([keep[i] for i in parts], way[parts], all(scales[i] for i in parts)))
    return ". ".join([*said, *rest]) + "."


def combination(names: Sequence[str], way: Array, relative: bool) -> str:
    """What can be told of parameters that change the data only together."""
    if len(names) == 2 and relative:
        ratio = way[0] / way[1]  # the data keep a^1 b^(-ratio)
        return f"Of {names[0]} and {names[1]} only {product(names, ratio)} can be told from these data"
    return f"{listed(names)} cannot all be told from these data: they change them only together"


def product(names: Sequence[str], ratio: float) -> str:
    """a^1 b^(−ratio), in simple powers where they are nearly so.

    >>> product(["g", "L"], 1.0), product(["k", "m"], -1.0), product(["a", "b"], 2.0)
    ('g/L', 'k*m', 'a/b**2')
    """
    for low in (1, 2, 3):
        if abs(ratio * low - round(ratio * low)) < SIMPLE and round(ratio * low):
            top, bottom = low, round(ratio * low)
            first = names[0] if top == 1 else f"{names[0]}**{top}"
            second = names[1] if abs(bottom) == 1 else f"{names[1]}**{abs(bottom)}"
            return f"{first}{'/' if bottom > 0 else '*'}{second}"
    return f"{names[0]}*{names[1]}**({-ratio:.3g})"
