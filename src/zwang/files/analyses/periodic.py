"""`[periodic]`: a motion that repeats itself."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import sympy as sp

from zwang.errors import InputError
from zwang.files.analyses.analysis import (
    Analysis,
    AskedModel,
    Held,
    Parameters,
    Values,
    guess_of,
    held_of,
    number_of,
    values_of,
)
from zwang.files.analyses.equilibrium import GUESS, HOLD
from zwang.files.table_types import Key, Section

if TYPE_CHECKING:
    import xarray as xr


SHIFT = Key("shift", "held", "coordinates that need not return, or a table of how far they get in a period")


@dataclass(frozen=True)
class Repetition(Analysis):
    """The periodic motion near a guess of its start and its period."""

    period: sp.Expr | None = None
    guess: Values = field(default_factory=dict)
    hold: Held = field(default_factory=dict)
    shift: Held = field(default_factory=dict)

    section = Section(
        "periodic",
        "a motion that repeats itself, and what becomes of its neighbours",
        keys=(Key("period", "setting", "its period, roughly; that of what drives it, exactly"), GUESS, HOLD, SHIFT),
    )
    needed = ("period",)

    def answer(self, model: AskedModel, parameters: Parameters = None) -> "xr.Dataset":
        """The dataset of `zwang.periodic`."""
        from zwang.analysis.periodic import periodic

        if self.period is None:
            raise InputError("what is the period, roughly? say period = … under [periodic]")
        period = number_of(self.period, values_of(model, parameters), "the period")
        guess, hold = guess_of(model, self.guess, parameters), held_of(model, self.hold, parameters)
        return periodic(model, guess, period, hold, parameters, shift=held_of(model, self.shift, parameters))
