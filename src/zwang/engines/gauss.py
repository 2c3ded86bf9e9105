"""Gauss's quadrature, for the work of forces along a motion that an engine has interpolated."""

from collections.abc import Callable

import numpy as np

from zwang.arrays import Array

GAUSS_POINTS = 8  # on a step of Taylor's method, whose length is a seventh of the radius of convergence: 1e-20
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(GAUSS_POINTS)
GAUSS_PLACES, GAUSS_WEIGHTS = (_PLACES + 1) / 2, _WEIGHTS / 2  # on the interval from 0 to 1


def running_integral(f: Callable[[Array], Array], start: float, times: Array, shape: tuple[int, ...] = ()) -> Array:
    """∫ f from a start to each of some times, one after another; f takes times (k,), and its values have a shape.

    >>> running_integral(np.cos, 0.0, np.array([0.5, 1.0])).round(12)
    array([0.47942554, 0.84147098])
    """
    total, sums = np.zeros(shape), []
    for a, b in zip([start, *times[:-1]], times, strict=True):
        if b != a:  # column by column: a sum has the same digits whatever stands beside it
            values = np.asarray(f(a + (b - a) * GAUSS_PLACES))
            sum_of = [GAUSS_WEIGHTS @ column for column in values.T] if shape else GAUSS_WEIGHTS @ values
            total = total + (b - a) * np.array(sum_of)
        sums.append(total)
    return np.array(sums)
