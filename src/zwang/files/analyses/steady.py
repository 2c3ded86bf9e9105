"""`[steady]`: a motion in which something stays constant."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zwang.files.analyses.analysis import Analysis, AskedModel, Held, Named, Parameters, Values, guess_of, held_of
from zwang.files.analyses.equilibrium import GUESS, HOLD
from zwang.files.table_types import Key, Section

if TYPE_CHECKING:
    from zwang.analysis.equilibrium import Equilibrium

CONSTANT = Key("constant", "readings", "what stays constant: coordinates, rates, or expressions of these")


@dataclass(frozen=True)
class Steadiness(Analysis):
    """The steady motion near a guess, which is the model's start."""

    constant: Named = field(default_factory=dict)
    guess: Values = field(default_factory=dict)
    hold: Held = field(default_factory=dict)

    section = Section("steady", "a motion in which something stays constant", keys=(CONSTANT, GUESS, HOLD))
    needed = ("constant",)

    def answer(
        self, model: AskedModel, parameters: Parameters = None, near: Mapping[Any, float] | None = None
    ) -> "Equilibrium":
        """The steady motion near the guess, or near a state that is known."""
        from zwang.analysis.equilibrium import steady

        guess = guess_of(model, self.guess, parameters) if near is None else near
        return steady(model, guess, dict(self.constant), held_of(model, self.hold, parameters), parameters)
