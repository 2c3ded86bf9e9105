"""What contacts did over time, for pictures: stretches of the same mode, and impacts."""

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.show.colors import PAIRS

if TYPE_CHECKING:
    import xarray as xr

MODES = {"open": "gray", "closed": "blue", "sticking": "green", "sliding": "orange"}
"""What a contact may do, and the colour that says so."""
STRUCK = "red"  # an impact
MOST_CONTACTS = 24  # that a player lists
MOST_MARKS = 4000  # stretches and impacts of all of them


def stretches(modes: Array, times: Array) -> list[tuple[str, float, float]]:
    """Runs of the same mode, each up to the instant where the next was first seen."""
    found, at = list[tuple[str, float, float]](), 0
    for mode, members in groupby(modes.tolist()):
        many = len(list(members))
        found.append((str(mode), float(times[at]), float(times[min(at + many, len(times) - 1)])))
        at += many
    return found


def has_modes(motion: "xr.Dataset") -> bool:
    """Whether a motion says what contacts did, over time and not of many samples."""
    return "mode" in motion and motion["mode"].dims == ("time", "contact") and motion.sizes["time"] > 1


def contact_data(motion: "xr.Dataset") -> dict[str, Any]:
    """What the player shows of contacts: for each its stretches [mode, begin] and its impacts; nothing without any."""
    if not has_modes(motion):
        return {}
    times, found, room = motion.time.values, [], MOST_MARKS
    for i, name in enumerate(map(str, motion.contact.values[:MOST_CONTACTS])):
        spans = [[mode, short(begin)] for mode, begin, _ in stretches(motion["mode"].values[:, i], times)][:room]
        room -= len(spans)
        hit = motion.transition_time.values[impacts_of(motion, i)]
        impacts = [short(when) for when in hit[:room]]
        room -= len(impacts)
        found.append({"name": name, "spans": spans, "impacts": impacts})
    colors = {mode: PAIRS[color] for mode, color in MODES.items()} | {"struck": PAIRS[STRUCK]}
    return {"contacts": found, "modeColors": colors}


def impacts_of(motion: "xr.Dataset", contact: int) -> Array:
    """Which transitions are impacts in which a contact was struck."""
    return np.asarray((motion.transition_kind.values == "impact") & (motion.impulse.values[:, contact] > 0))


def short(time: float) -> float:
    """A time with no more digits than a picture can show."""
    return float(f"{time:.9g}")
