"""Arrays of numbers and of indices, by the names that all rooms use, and how fine doubles are."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

EPS = float(np.finfo(np.float64).eps)
"""The precision of doubles: from 1 to the next number above."""
TINIEST = float(np.finfo(np.float64).tiny)
"""The smallest double that has all its digits."""
