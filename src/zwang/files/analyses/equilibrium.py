"""`[equilibrium]`: where a model rests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zwang.files.analyses.analysis import Analysis, AskedModel, Held, Parameters, Values, guess_of, held_of
from zwang.files.table_types import Key, Section

if TYPE_CHECKING:
    from zwang.analysis.equilibrium import Equilibrium

GUESS = Key("guess", "guess", "where to look: coordinates and rates that are not as at the start")
HOLD = Key("hold", "held", "expressions that keep the value they have, or a table of the values they should have")


@dataclass(frozen=True)
class Rest(Analysis):
    """Where the model rests near a guess, which is its start."""

    guess: Values = field(default_factory=dict)
    hold: Held = field(default_factory=dict)

    section = Section("equilibrium", "where the model rests, and whether that is stable", keys=(GUESS, HOLD))

    def answer(
        self, model: AskedModel, parameters: Parameters = None, near: Mapping[Any, float] | None = None
    ) -> "Equilibrium":
        """The equilibrium near the guess, or near a state that is known."""
        from zwang.analysis.equilibrium import equilibrium

        guess = guess_of(model, self.guess, parameters) if near is None else near
        return equilibrium(model, guess, held_of(model, self.hold, parameters), parameters)
