"""What a dataset's variables must be for those who look at a motion: their dimensions, numbers or text.

Displays, tables and what is computed from a motion rely on it. A dataset from a file may be of other making.
"""

from typing import TYPE_CHECKING

import numpy as np

from zwang.results.contacts import AT_CONTACTS, TABLE
from zwang.results.dataset import VARIABLES

if TYPE_CHECKING:
    import xarray as xr

NAMES = ("coordinate", "constraint", "contact", "axis", "direction")  # dimensions of which every entry has a name
TEXTS = {
    "mode": ("time", "contact"), "transition_kind": ("transition",), "transition_contact": ("transition",),
    "event_name": ("event",), "rest_switch": ("rest",), **{name: (name,) for name in NAMES},
    **{f"unit_{name}": ("coordinate",) for name in ("q", "v", "a", "force")},
}  # fmt: skip
NUMBERS = {
    "event_time": ("event",), "event_energy_loss": ("event",), "unique": ("constraint",),
    **{f"event_{name}": ("event", "coordinate") for name in ("q", "v", "q_after", "v_after")},
    "rest_begin": ("rest",), "rest_end": ("rest",), "drawing": ("time", "drawn", "axis"),
    "mesh_vertices": ("vertex", "axis"), "mesh_faces": ("face", "corner"),
    "input_time": ("input_point",), "input_value": ("input_point",),
    **{name: ("time", *dims) for name, (dims, _) in (VARIABLES | AT_CONTACTS).items()},
    **{name: dims for name, (dims, _) in TABLE.items()},
}  # fmt: skip


def misfit(motion: "xr.Dataset") -> str:
    """What of a motion's variables is not as `simulate` gives it; empty if all of them are.

    Dimensions of samples and the like come first, and are free. Variables that nobody knows are, too.
    """
    for name in sorted(map(str, motion.variables)):
        dims = TEXTS.get(name, NUMBERS.get(name))
        if dims is None:
            continue
        found = motion[name]
        if name in NAMES and (found.dims != dims or found.dtype.kind != "U"):
            return f"{name} is not a row of names"
        if found.dtype.kind not in ("U" if name in TEXTS else "fiub"):
            return f"{name} does not hold {'text' if name in TEXTS else 'numbers'}"
        if found.dims[len(found.dims) - len(dims) :] != dims or len(found.dims) < len(dims):
            there = ", ".join(map(str, found.dims))
            return f"{name} has the dimensions ({there}), not ({', '.join(dims)})"
    events = [name for name in ("event_time", "event_name") if name in motion]
    if len(events) == 1:
        return f"it has {events[0]}, but not the times and names of events"
    times = motion.time
    if times.dims != ("time",) or times.dtype.kind not in "fiu" or not np.isfinite(times.values).all():
        return "time is not a row of finite numbers"
    return ""
