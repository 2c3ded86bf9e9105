"""Units of coordinates in which all have about the same mass: rows are compared in them."""

import numpy as np

from zwang.arrays import Array

LIGHT = 1e-2  # of the largest mass: what equalities hold counts for at least this, in the part in which they do
DEPENDS = 1e-13  # of the largest singular value, in units of equal mass: below, rows depend on each other


def mass_units(M: Array, equal: Array) -> Array:
    """(n,) the roots of masses.

    The mass of a coordinate may be rounding, where an equality says what it does: so it is with the first entry of a
    unit quaternion beside (1, 0, 0, 0). A coordinate without any counts as the heaviest.

    >>> mass_units(np.diag([4.0, 0.0]), np.zeros((0, 2))).tolist()
    [2.0, 2.0]
    >>> mass_units(np.diag([4.0, 1e-20]), np.array([[0.0, 1.0]])).tolist()
    [2.0, 0.2]
    """
    mass = np.abs(np.diagonal(M))
    largest = float(mass.max(initial=0.0)) or 1.0
    for row in equal:
        if row.any():
            mass = np.maximum(mass, LIGHT * largest * row**2 / (row @ row))
    return np.asarray(np.sqrt(np.where(mass > 0, mass, largest)))


def balanced(M: Array, rows: Array, load: Array, units: Array, columns: Array | None = None) -> Array:
    """(n + m, …) x and multipliers of M x = f + columnsᵀλ with rows x = r, for loads (n + m, …) of f above r.

    Columns are the rows, unless friction comes along with λ. The shortest of them in units of equal mass, with rows
    of unit length: rounding there is rounding in any units of the user's, however heavy, small or far things are.

    >>> ship, along = np.diag([3e8, 3e8, 1e12]), np.array([[0.0, 1.0, 0.0]])
    >>> balanced(ship, along, np.array([3e8, 3e8, 1e12, 0.0]), mass_units(ship, along)).round(6).tolist()
    [1.0, 0.0, 1.0, -300000000.0]
    """
    n, m = len(M), len(rows)
    lengths = np.abs(rows / units).max(axis=1, initial=0.0)
    scale = np.concatenate([units, np.where(lengths > 0, lengths, 1.0)])
    saddle = np.zeros((n + m, n + m))
    saddle[:n, :n], saddle[:n, n:], saddle[n:, :n] = M, -(rows if columns is None else columns).T, rows
    saddle = saddle / scale[:, None] / scale
    across = load.reshape(n + m, -1) / scale[:, None]
    x = np.linalg.lstsq(saddle, across, rcond=DEPENDS)[0]
    x += np.linalg.lstsq(saddle, across - saddle @ x, rcond=DEPENDS)[0]
    return np.asarray((x / scale[:, None]).reshape(load.shape))
