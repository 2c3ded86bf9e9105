"""Units of coordinates in which all have about the same mass: rows are compared in them."""

import numpy as np

from zwang.arrays import Array

LIGHT = 1e-2  # of the largest mass: what equalities hold counts for at least this, in the part in which they do


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
