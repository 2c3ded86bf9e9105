"""The way back to the constraints, for engines that step in Python.

In machine code, `native.step.project` is the same.
"""

from collections.abc import Callable
from typing import Any, Final

TURNS: Final = 3
"""Newton's steps at each level, as in the native engine."""


def projected(reading: Callable[[Any], Any], y: Any, n: int, enough: float) -> Any:
    """y = [q, v] on its constraints, positions first, then velocities: until a residual is no larger than `enough`.

    reading(y) is [dq, dv, residual, residual_rate], what a projection program gives; y is changed in place. Numbers may
    be of any type.
    """
    out = reading(y)
    for level in range(2):
        part = slice(level * n, level * n + n)
        for _ in range(TURNS):
            if not float(out[2 * n + level]) > enough:
                break
            y[part] += out[part]
            out = reading(y)
    return y
