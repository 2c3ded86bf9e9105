"""Arrays of numbers and of indices, by the names that all rooms use."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
