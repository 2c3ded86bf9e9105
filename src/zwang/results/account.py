"""How a motion accounts for itself: the energy that it gained from nowhere, and what its constraints read."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

LEVELS = {"residual": "position", "residual_rate": "velocity"}  # where each variable reads a constraint


def energy_gap(motion: "xr.Dataset") -> tuple[float, float]:
    """The largest energy gained beyond the work of all forces, and the largest energy on the way.

    That is the kinetic or the potential one: their sum may be zero all along. NaN for a motion without states.
    """
    sizes = np.array([largest(motion[name].values) for name in ("kinetic", "potential")])
    return largest(motion.energy_balance.values), largest(sizes)


def residuals(motion: "xr.Dataset") -> dict[str, tuple[float, float]]:
    """The most that each constraint reads along a motion in position and in velocity; NaN where it has no reading."""
    both = [motion[variable].values for variable in LEVELS]
    return {
        str(name): (largest(both[0][:, i]), largest(both[1][:, i])) for i, name in enumerate(motion.constraint.values)
    }


def worst_residual(motion: "xr.Dataset", variable: str) -> tuple[float, str] | None:
    """The most that any constraint reads along a motion, and which one; None where none has a reading."""
    level = list(LEVELS).index(variable)
    found = [(both[level], name) for name, both in residuals(motion).items() if not np.isnan(both[level])]
    return max(found, key=lambda pair: pair[0], default=None)


def largest(values: Any) -> float:
    """The largest absolute value; NaN where there is none.

    >>> largest(np.array([1.0, -3.0, np.nan]))
    3.0
    """
    found = np.abs(values[~np.isnan(values)])
    return float(found.max()) if found.size else np.nan
