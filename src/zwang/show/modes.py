"""What contacts did over time, for pictures: stretches of the same mode, and impacts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.show.colors import PAIRS

if TYPE_CHECKING:
    import xarray as xr

MODES = {"open": "gray", "closed": "blue", "sticking": "green", "sliding": "orange"}
"""What a contact may do, and the colour that says so."""
STRIKE = "struck"  # by an impact, a short while ago
COLORS = MODES | {STRIKE: "red"}
FLASH = 0.15  # seconds that an impact is shown, as it is played
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


@dataclass(frozen=True)
class Light:
    """What a contact does over time, for shapes that show it: [mode, begin] of its stretches, and its impacts."""

    name: str
    spans: tuple[tuple[str, float], ...]
    impacts: tuple[float, ...]

    def mode(self, time: float, flash: float) -> str:
        """What it does at a time; for a while after an impact that it was struck."""
        if any(0 <= time - when < flash for when in self.impacts):
            return STRIKE
        return next((mode for mode, begin in reversed(self.spans) if begin <= time), "open")

    def lights(self, shape: str) -> bool:
        """Whether a shape shows it: by its name, by what is before its last dot, and as a line."""
        whole = self.name.rpartition(".")[0] or self.name
        return shape in (self.name, f"{self.name} line", f"{whole} line") or self.name.startswith(f"{shape}.")


def color_of(lights: Sequence[Light], shape: str, time: float, flash: float) -> tuple[str, str] | None:
    """The colours that a shape takes on from a contact that is not open; None where there is none."""
    modes = [mode for x in lights if x.lights(shape) and (mode := x.mode(time, flash)) != "open"]
    return PAIRS[COLORS[modes[0]]] if modes else None


def lights_of(motion: "xr.Dataset") -> tuple[Light, ...]:
    """The contacts of a motion, as many as a picture can show."""
    if not has_modes(motion):
        return ()
    times, found, room = motion.time.values, list[Light](), MOST_MARKS
    for i, name in enumerate(map(str, motion.contact.values[:MOST_CONTACTS])):
        spans = [(mode, short(begin)) for mode, begin, _ in stretches(motion["mode"].values[:, i], times)][:room]
        room -= len(spans)
        impacts = [short(when) for when in motion.transition_time.values[impacts_of(motion, i)][:room]]
        room -= len(impacts)
        found.append(Light(name, tuple(spans), tuple(impacts)))
    return tuple(found)


def has_modes(motion: "xr.Dataset") -> bool:
    """Whether a motion says what contacts did, over time and not of many samples; it may come from a strange file."""
    if not {"mode", "transition_time", "transition_kind", "transition_contact", "impulse"} <= {*motion.data_vars}:
        return False
    known = {*np.unique(motion["mode"].values.astype(str))} <= MODES.keys()
    return known and motion["mode"].dims == ("time", "contact") and motion.sizes["time"] > 1


def contact_data(lights: Sequence[Light]) -> dict[str, Any]:
    """What the player shows of contacts; nothing without any."""
    if not lights:
        return {}
    colors = {mode: PAIRS[color] for mode, color in COLORS.items()}
    return {"contacts": [asdict(light) for light in lights], "modeColors": colors}


def impacts_of(motion: "xr.Dataset", contact: int) -> Array:
    """Which transitions are impacts in which a contact was struck."""
    return np.asarray((motion.transition_kind.values == "impact") & (motion.impulse.values[:, contact] > 0))


def short(time: float) -> float:
    """A time with no more digits than a picture can show."""
    return float(f"{time:.9g}")
