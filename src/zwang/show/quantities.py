"""What can be plotted of a motion: curves with names and units, in panels."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model import System
from zwang.model.has_system import HasSystem
from zwang.model.values import suggestion
from zwang.words import listed

if TYPE_CHECKING:
    import xarray as xr

FARTHEST = 1e100

# variable: the words at its axis, and where its units stand (per coordinate, or at the variable)
WORDS = {
    "q": ("coordinates", "unit_q"),
    "v": ("rates", "unit_v"),
    "a": ("accelerations", "unit_a"),
    "force": ("given forces", "unit_force"),
    "constraint_force": ("forces of constraint", "unit_force"),
    "ideal_force": ("ideal forces of constraint", "unit_force"),
    "nonideal_force": ("nonideal forces of constraint", "unit_force"),
    "multiplier": ("multipliers λ", ""),
    "residual": ("|residuals of constraints|", ""),
    "residual_rate": ("|residuals of rates|", ""),
    "energy": ("energy", ""),
    "power": ("power", ""),
    "energy_balance": ("energy beyond the work done", ""),
    "gaussian": ("Gaussian", ""),
    "rank": ("rank of A", ""),
}
# Panels that show several variables, and what each is called there.
TOGETHER = {
    "energy": {"kinetic": "kinetic", "potential": "potential", "energy": "total"},
    "power": {"given_power": "given forces", "constraint_power": "constraints", "nonideal_power": "nonideal part"},
}
LOGARITHMIC = ("residual", "residual_rate")
PRIMES = {"": "q", "'": "v", "''": "a"}
ENTRY = re.compile(r"(?P<variable>\w+)\[(?P<entry>.+)\]")
NAME = re.compile(r"(?P<coordinate>.+?)(?P<primes>'{0,2})")


def require_motion(given: Any, what: str) -> None:
    """Refuse what is not a motion, saying how to get one."""
    import xarray as xr

    if isinstance(given, xr.Dataset):
        missing = [name for name in ("time", "coordinate") if name not in given.coords]
        missing += [name for name in ("q",) if name not in given.data_vars]
        if missing:
            raise InputError(f"{what} takes a motion, and this dataset has no {listed(missing)}: simulate gives one")
        if not {"time", "coordinate"} <= {*given.q.dims}:
            raise InputError(
                f"{what} takes a motion over time, and q has the dimensions ({', '.join(map(str, given.q.dims))}): "
                f"keep them all, as in motion.isel(time=slice(0, 1))"
            )
        return
    kind = type(given).__name__
    remedy = "simulate(it, until=…) gives its motion" if isinstance(given, System | HasSystem) else "simulate gives one"
    raise InputError(f"{what} takes a motion, not a {kind}: {remedy}")


@dataclass(frozen=True)
class Curve:
    """One quantity over time: (sample, time), a single sample for a motion of its own."""

    name: str
    unit: str
    values: Array
    unique: bool = True

    @property
    def label(self) -> str:
        """Name and unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


@dataclass(frozen=True)
class Panel:
    """Curves of one unit over one time axis."""

    title: str
    unit: str
    curves: tuple[Curve, ...]
    logarithmic: bool = False

    @property
    def label(self) -> str:
        """What stands at its axis."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


def panels_of(motion: "xr.Dataset", name: str, only: Collection[str]) -> list[Panel]:
    """The panels of a variable, one for each unit among its curves; of its curves those in `only`, if any are."""
    if name in TOGETHER:
        parts = [(words, part) for part, words in TOGETHER[name].items() if part in motion]
        curves = [Curve(words, units_of(motion, part)[0], stacked(motion[part])) for words, part in parts]
    elif name in motion and "time" in motion[name].dims and name != "drawing":
        curves = curves_of(motion, name, only)
    else:
        curves = [curve_named(motion, name)]
    curves = [curve for curve in curves if np.isfinite(curve.values).any()]
    if not curves:
        raise InputError(f"{name!r} has no values in this motion: leave it out")
    title = WORDS.get(name, (name.replace("_", " "), ""))[0]
    units = dict.fromkeys(curve.unit for curve in curves)
    return [
        Panel(title, unit, tuple(c for c in curves if c.unit == unit), name in LOGARITHMIC) for unit in units
    ]  # fmt: skip


def curves_of(motion: "xr.Dataset", name: str, only: Collection[str]) -> list[Curve]:
    """The curves of a variable: one for each coordinate or constraint, or a single one."""
    variable = motion[name]
    across = [str(d) for d in variable.dims if d not in ("sample", "time")]
    if not across:
        return [Curve(name.replace("_", " "), units_of(motion, name)[0], stacked(variable))]
    if len(across) > 1:
        one = f"motion.isel({across[0]}=0)"
        raise InputError(
            f"{name} has the dimensions {listed(across)} beside time: choose along one of them, as in {one}"
        )
    entries = names_along(motion, across[0])
    units = units_of(motion, name)
    unique = motion.unique.values if name == "multiplier" and "unique" in motion else np.ones(len(entries), bool)
    wanted = [entry for entry in entries if entry in only] or entries
    curves = []
    for i, entry in enumerate(entries):
        values, label = stacked(variable.isel({across[0]: i})), entry
        if name == "residual" and not np.isfinite(values).any() and "residual_rate" in motion:
            # a constraint on rates has no reading at position level
            values, label = stacked(motion.residual_rate.isel(constraint=i)), f"{entry} (rate)"
        if entry in wanted:
            curves.append(Curve(label, units[i], values, bool(unique[i])))
    return curves


def curve_named(motion: "xr.Dataset", name: str) -> Curve:
    """One curve by its name: t, a coordinate x, x' or x'', a variable, or one of its entries, multiplier[rod]."""
    if name == "t":
        return Curve("t", units_of(motion, "time")[0], motion.time.values[None])
    coordinates = names_along(motion, "coordinate")
    match = NAME.fullmatch(name)
    if match and match["coordinate"] in coordinates:
        return replaced(motion, PRIMES[match["primes"]], "coordinate", match["coordinate"], name)
    match = ENTRY.fullmatch(name)
    if match and match["variable"] in WORDS and match["variable"] in motion:
        across = [str(d) for d in motion[match["variable"]].dims if d not in ("sample", "time")]
        if across and match["entry"] in names_along(motion, across[0]):
            return replaced(motion, match["variable"], across[0], match["entry"], name)
    if name in motion and set(motion[name].dims) <= {"sample", "time"} and "time" in motion[name].dims:
        return Curve(name.replace("_", " "), units_of(motion, name)[0], stacked(motion[name]))
    variables = [str(v) for v in motion.data_vars if "time" in motion[v].dims and v != "drawing"]
    known = [*variables, "power", *coordinates, *(f"{c}'" for c in coordinates)]
    raise InputError(f"the motion has nothing called {name!r}{suggestion(name, known)}")


def replaced(motion: "xr.Dataset", variable: str, dimension: str, entry: str, name: str) -> Curve:
    """The curve of one entry of a variable under the name that was asked for."""
    i = names_along(motion, dimension).index(entry)
    return Curve(name, units_of(motion, variable)[i], stacked(motion[variable].isel({dimension: i})))


def require_entries(motion: "xr.Dataset", only: Collection[str]) -> None:
    """Refuse names of coordinates and constraints that the motion does not have."""
    known = [*names_along(motion, "coordinate"), *names_along(motion, "constraint")]
    if not isinstance(only, Collection):
        raise InputError(f"only={only!r}: give names of coordinates or constraints, as in only=[{known[0]!r}]")
    for name in only:
        if name not in known:
            raise InputError(
                f"only={list(only)!r}: no coordinate or constraint is called {name!r}{suggestion(name, known)}"
            )


def names_along(motion: "xr.Dataset", dimension: str) -> list[str]:
    """The names of coordinates or constraints."""
    return [str(name) for name in motion[dimension].values] if dimension in motion.dims else []


def units_of(motion: "xr.Dataset", variable: str) -> list[str]:
    """The unit of a variable, or one for each coordinate; empty where none is given."""
    per_coordinate = WORDS.get(variable, ("", ""))[1]
    if per_coordinate and per_coordinate in motion.coords:
        return [str(unit) for unit in motion[per_coordinate].values]
    size = max([1, *(motion.sizes[d] for d in motion[variable].dims if d not in ("sample", "time"))])
    return [str(motion[variable].attrs.get("units", ""))] * size


def stacked(variable: Any) -> Array:
    """(sample, time) the values of a variable over time."""
    if variable.dtype.kind not in "fiub":
        raise InputError(f"{variable.name} holds words, not numbers, and cannot be plotted: a report shows it")
    values = np.asarray(variable.values, dtype=float)
    return values if values.ndim == 2 else values[None]


def require_drawable(values: Any, who: str) -> None:
    """Refuse numbers that no picture can hold: axes are computed with, and would overflow."""
    sizes = np.abs(values[np.isfinite(values)])
    if sizes.size and sizes.max() > FARTHEST:
        raise InputError(f"{who} reaches {sizes.max():.3g}: what is beyond {FARTHEST:g} cannot be drawn")
