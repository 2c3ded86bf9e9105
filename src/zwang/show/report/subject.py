"""What a report is about: a model, its motion, and what follows from both and is needed in several sections."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.errors import ZwangError
from zwang.files.model_file import ModelFile
from zwang.model import System
from zwang.model.moved import Moved
from zwang.model.signal import Signal
from zwang.model.symbols import as_expression
from zwang.model.values import named_like, state_arrays
from zwang.motion.contact.standing import verdict_at
from zwang.motion.start import Start, start_of
from zwang.results.account import energy_gap, residuals
from zwang.results.inputs import read_attribute, used_values
from zwang.show.report.math import Notation
from zwang.verdict import Verdict

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Subject:
    """A model, a motion of it and the parameters that were set for this motion."""

    model: ModelFile
    motion: "xr.Dataset"
    parameters: Mapping[Any, Any] | None = None
    begin: Start | None = None
    """The start of the motion, if it is known already."""

    @property
    def system(self) -> System:
        """The system of the model."""
        return self.model.system

    @property
    def name(self) -> str:
        """What the model is called."""
        path = self.model.path
        return self.system.name or (path.stem if path else "A constrained system")

    @property
    def file_name(self) -> str:
        """The model's file, without its folders, which a reader need not know."""
        return self.model.path.name if self.model.path else "model.toml"

    @property
    def empty(self) -> bool:
        """Whether not even the start was saved."""
        return self.motion.sizes["time"] == 0

    @property
    def finished(self) -> bool:
        """Whether the motion came to the end that was meant."""
        return self.motion.attrs["status"] in ("finished", "event")

    @property
    def span(self) -> tuple[float, float]:
        """First and last time saved."""
        times = self.motion.time.values
        return float(times[0]), float(times[-1])

    @cached_property
    def start(self) -> Start:
        """The start of the motion: the one that it was computed from, or its first saved state."""
        if self.begin is not None:
            return self.begin
        first = self.motion.isel(time=0)
        names = self.system.coordinate_names
        state = {name: float(q) for name, q in zip(names, first.q.values, strict=True)}
        state |= {f"{name}'": float(v) for name, v in zip(names, first.v.values, strict=True)}
        return start_of(self.system, state, self.span[0], self.parameters)

    @cached_property
    def moved(self) -> Moved | None:
        """What was moved to put the start together; None if nothing was, or if the motion begins elsewhere."""
        if self.empty or not (self.model.mechanism or self.model.run.assemble):
            return None
        try:
            own = state_arrays(self.system, self.model.start_with(self.parameters, self.span[0]))
            found = self.model.moved_with(self.parameters, self.span[0])
        except ZwangError:
            return None
        same = np.array_equal(own, [self.motion[name].values[0] for name in ("q", "v")])
        return found if same and found is not None and not found.nothing else None

    @cached_property
    def verdict(self) -> Verdict | str:
        """The verdict at the start of the motion, or why there is none."""
        if self.empty:
            return "The motion has no saved state, so there is no verdict."
        try:
            return verdict_at(self.start)
        except ZwangError as error:
            return str(error)

    @cached_property
    def values(self) -> dict[sp.Symbol, float | None]:
        """The value of every parameter in this motion."""
        used = read_attribute(self.motion, "parameters")
        values = {s: value for s, value in self.system.parameters.items() if isinstance(s, sp.Symbol)}
        given = {named_like(key, list(values)): value for key, value in (self.parameters or {}).items()}
        values |= {s: used.get(s.name, given.get(s, value)) for s, value in values.items()}
        return values | {s: used.get(s.name) for s in self.system.symbols if s not in values}

    @cached_property
    def inputs(self) -> dict[sp.Expr, Any]:
        """The known functions of time in this motion."""
        inputs = self.system.inputs
        used = used_values(self.system, self.motion, self.parameters)
        given = {named_like(key, list(inputs)): value for key, value in used.items()}
        return inputs | {f: value for f, value in given.items() if f is not None}

    @cached_property
    def notation(self) -> Notation:
        """The names of everything that the model mentions."""
        expressions = [*self.system.places.values(), *self.system.coordinates, *self.values]
        expressions += [e for event in self.model.events for e in event.expressions]
        for f, value in self.inputs.items():
            expressions += [f] if value is None or isinstance(value, Signal) else [f, as_expression(value)]
        return Notation.of(expressions)

    def unit(self, variable: str) -> str:
        """The unit of a variable of the motion that has one unit."""
        return str(self.motion[variable].attrs.get("units", ""))

    def units(self, column: str) -> list[str]:
        """The units of the coordinates, of their rates, … one for each; empty where none is given."""
        if column not in self.motion.coords:
            return [""] * len(self.system.coordinate_names)
        return [str(unit) for unit in self.motion[column].values]

    @cached_property
    def balance(self) -> tuple[float, float]:
        """The largest energy gained beyond the work of all forces, and the largest energy on the way."""
        return energy_gap(self.motion)

    @cached_property
    def residuals(self) -> dict[str, tuple[float, float]]:
        """The most that each constraint reads along the motion in position and in velocity; NaN where it has none."""
        return residuals(self.motion)
