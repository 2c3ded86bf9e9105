"""How far what is drawn of a system moves when its start is brought onto its constraints."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from zwang.model import System
from zwang.model.drawing import Drawing
from zwang.model.moved import ROUNDING, Moved
from zwang.model.values import state_arrays
from zwang.results.drawing import rows_of
from zwang.results.evaluate_along import along


def moved_shapes(
    system: System,
    drawing: Drawing,
    before: Mapping[Any, float],
    after: Mapping[Any, float],
    parameters: Mapping[Any, Any] | None,
    t: float,
) -> Moved:
    """The longest way of a drawn point, beside the size of the picture; without a drawing, of a coordinate."""
    import xarray as xr

    (q, v), (q_after, v_after) = state_arrays(system, before), state_arrays(system, after)
    change = np.abs(q_after - q)
    faster = np.abs(v_after - v) > ROUNDING * np.abs(v_after).max(initial=0.0)
    followed = tuple(system.coordinate_names[i] for i in np.flatnonzero(faster))
    worst = int(np.argmax(change))
    points = [(shape.name, row) for shape in drawing.shapes for row in rows_of(shape)[: len(shape.points)]]
    if not points:
        return Moved(
            float(change[worst]), f"coordinate {system.coordinate_names[worst]!r}", asked=True, followed=followed
        )
    two = xr.Dataset(
        {"q": (("time", "n"), np.stack([q, q_after])), "v": (("time", "n"), np.stack([v, v_after]))}, {"time": [t, t]}
    )
    found = along(two, system, [e for _, row in points for e in row], parameters)
    places = found.reshape(2, len(points), drawing.dimension)
    ways = np.linalg.norm(places[1] - places[0], axis=-1)
    farthest = int(np.argmax(ways))
    size = float(np.linalg.norm(np.ptp(places[1], axis=0)))
    return Moved(float(ways[farthest]), f"{points[farthest][0]!r}", size=size, asked=True, followed=followed)
