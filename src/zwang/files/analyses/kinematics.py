"""`[kinematics]`: positions of a driven mechanism at given times, without integrating."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError
from zwang.files.analyses.analysis import Analysis, AskedModel, Parameters, Values, guess_of
from zwang.files.analyses.equilibrium import GUESS
from zwang.files.ranges import range_values
from zwang.files.table_types import Key, Section

if TYPE_CHECKING:
    import xarray as xr

SAMPLES = 201  # times, where nothing says how many


@dataclass(frozen=True)
class Positions(Analysis):
    """The motion of a driven mechanism at some times, or at those of the run."""

    times: str | tuple[float, ...] = ()
    guess: Values = field(default_factory=dict)

    section = Section(
        "kinematics",
        "positions, velocities, accelerations and driving forces of a driven mechanism at given times",
        keys=(Key("times", "range", 'the times, "from:to:count" or a list; those of [run] without it'), GUESS),
    )

    def answer(self, model: AskedModel, parameters: Parameters = None, throw: bool = True) -> "xr.Dataset":
        """The dataset of `zwang.kinematics`; without `throw` up to a dead point, if there is one."""
        from zwang.analysis.kinematics import kinematics

        return kinematics(model, self.near(model, parameters), self.grid(model), parameters, throw)

    def near(self, model: AskedModel, parameters: Parameters) -> Mapping[Any, float] | None:
        """Where it is assembled: near the guess, or near its start."""
        return guess_of(model, self.guess, parameters)

    def grid(self, model: AskedModel) -> Any:
        """The times."""
        if self.times:
            return range_values(self.times)
        begin, end = model.span
        if end is None:
            raise InputError('at which times? say times = "0:1:101" under [kinematics], or until = … under [run]')
        return np.linspace(begin, end, getattr(getattr(model, "run", None), "samples", None) or SAMPLES)
