"""Units of a motion, where its author gave them: labels for axes and tables, never factors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

# What a unit of energy over one of a coordinate is commonly called.
FORCES = {("J", "m"): "N", ("J", "rad"): "N·m", ("J", ""): "N·m", ("mJ", "mm"): "N", ("kJ", "m"): "kN"}
POWERS = {("J", "s"): "W", ("kJ", "s"): "kW"}
TIME = re.compile(r"\bt = [-+]?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")


@dataclass(frozen=True)
class Units:
    """The units of time, of energy and of each coordinate by its name; empty where none is given.

    >>> Units(time="s", energy="J", coordinates={"x": "m"}).force("x")
    'N'
    """

    time: str = ""
    energy: str = ""
    coordinates: Mapping[str, str] = field(default_factory=dict)

    def rate(self, coordinate: str, order: int = 1) -> str:
        """The unit of a coordinate's rate (order 1) or acceleration (order 2)."""
        unit = self.coordinates.get(coordinate, "")
        below = self.time if order == 1 else f"{self.time}²"
        return f"{unit or 1}/{below}" if self.time and coordinate in self.coordinates else ""

    def force(self, coordinate: str) -> str:
        """The unit of a generalized force along a coordinate."""
        unit = self.coordinates.get(coordinate)
        if not self.energy or unit is None:
            return ""
        return FORCES.get((self.energy, unit), f"{self.energy}/{unit}" if unit else self.energy)

    @property
    def power(self) -> str:
        """The unit of power."""
        return POWERS.get((self.energy, self.time), f"{self.energy}/{self.time}") if self.energy and self.time else ""


def with_unit(message: str, unit: str) -> str:
    """A message with the unit of time after its times.

    >>> with_unit("finished at t = 10.", "s"), with_unit("finished at t = 1.5.", "")
    ('finished at t = 10 s.', 'finished at t = 1.5.')
    """
    return TIME.sub(lambda found: f"{found.group()} {unit}", message) if unit else message


def with_units(motion: "xr.Dataset", units: Units) -> "xr.Dataset":
    """The motion with its units: as attribute `units`, or per coordinate as the coordinates `unit`, `unit_rate`, ….

    Coordinates differ in unit, so those of q, v, a and of forces stand beside the coordinate's name.
    """
    if units == Units():
        return motion
    names = [str(name) for name in motion.coordinate.values]
    columns = {
        "unit_q": [units.coordinates.get(name, "") for name in names],
        "unit_v": [units.rate(name) for name in names],
        "unit_a": [units.rate(name, 2) for name in names],
        "unit_force": [units.force(name) for name in names],
    }
    motion = motion.assign_coords({key: ("coordinate", values) for key, values in columns.items()})
    motion.time.attrs["units"] = units.time
    works = ("friction_work", "surface_work", "other_work")
    energies = ("kinetic", "potential", "energy", "energy_balance", "energy_loss", *works)
    of_scalars = dict.fromkeys(energies, units.energy)
    of_scalars |= dict.fromkeys(("given_power", "constraint_power", "nonideal_power"), units.power)
    for name in of_scalars.keys() & set(motion.data_vars):
        motion[name].attrs["units"] = of_scalars[name]
    return motion
