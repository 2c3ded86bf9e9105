"""Motions that drown in rounding.

Near a singular position, accelerations are known to a few digits only. Once what rounding does to them costs the
tolerance within a step, error control sees nothing else: steps shrink as rounding grows, and the run would creep for
ever. Such a run is stopped, and says so.
"""

from collections.abc import Callable

import numpy as np

from zwang.arrays import EPS, Array

ROUNDED_OTHERWISE = 4  # states around one that are rounded otherwise
SHARE = 0.1  # of the tolerance: creeping steps were seen to take 0.5 to 1.5 of it
DROWNED = "Rounding alone costs the tolerance there: the constraints are nearly dependent, or forces cancel each other."


def drowns(slope: Callable[[Array], Array], y: Array, tol: float, step: float, ahead: float, limit: float) -> bool:
    """Whether a run that has so far to go would need more than `limit` steps like its last ones because of rounding.

    That is so if slopes at states that differ by rounding only differ by more than the tolerance allows in a step.
    """
    if not step > 0 or ahead < limit * step:
        return False
    here, signs = np.array(slope(y)), np.random.default_rng(1).choice([-EPS, EPS], size=(ROUNDED_OTHERWISE, len(y)))
    spread = np.max([np.abs(np.array(slope(y * (1 + sign))) - here) for sign in signs], axis=0)
    return bool((step * spread > SHARE * tol * (1 + np.abs(y))).any())
