"""`[fit]`: parameters and starts from measured motions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from zwang.errors import InputError
from zwang.files.analyses.analysis import Analysis, AskedModel, Named, Parameters, Values, number_of, values_of
from zwang.files.analyses.data import Columns, measured, missing_column
from zwang.files.table_types import Key, Section
from zwang.words import count, did_you_mean, quoted

if TYPE_CHECKING:
    from zwang.analysis.fitting.found import Fit


@dataclass(frozen=True)
class Measurement(Analysis):
    """The values of unknown parameters with which the model comes nearest to measured motions."""

    data: tuple[Columns, ...] = ()
    unknown: Mapping[str, sp.Expr | None] = field(default_factory=dict)
    start: tuple[Values, ...] = ()
    observe: Named = field(default_factory=dict)
    weights: Named = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    pieces: int = 1

    section = Section(
        "fit",
        "parameters from measured motions",
        keys=(
            Key("data", "data", "a CSV file beside the model, with times in the column t or time; a list for several "
                "trials; or a table of columns"),
            Key("unknown", "unknown", "the parameters that are sought, or a table of first guesses"),
            Key("start", "guesses", "where the motion starts, if not at the model's start; may contain unknowns; a "
                "list, one a trial"),
            Key("observe", "measures", "what each column measures; without it, columns are coordinates and rates"),
            Key("weights", "weights", "a weight a column: one over the error of a number", 1),
            Key("bounds", "bounds", "the least and the greatest value of an unknown"),
            Key("pieces", "positive", "in how many pieces a long or chaotic motion is fitted", 1),
        ),
    )  # fmt: skip
    needed = ("unknown",)

    def wrong(self, names: tuple[str, ...]) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
        """Columns that are not there or mean nothing, unknowns that are none, starts for other trials."""
        for i, columns in enumerate(self.data):
            file = "the data" if len(self.data) == 1 else f"trial {i + 1}"
            for key, wanted in (("observe", self.observe), ("weights", self.weights)):
                for name in wanted:
                    if words := missing_column(name, columns, file):
                        yield (key, name), words, ""
            if not self.observe:
                for name in measured(columns):
                    if name.rstrip("'") not in names:
                        hint = f'observe = {{ {name} = "…" }} says what it measures'
                        words = f"the column {quoted(name)} is not a coordinate or rate{did_you_mean(name, names)}"
                        yield ("data",), words, hint
        for name in self.bounds:
            if name not in self.unknown:
                meant = did_you_mean(name, self.unknown)
                yield ("bounds", name), f"{quoted(name)} is not sought{meant}", ""
        if len(self.start) > 1 and self.data and len(self.start) != len(self.data):
            words = f"{count(len(self.data), 'trial')}, but {count(len(self.start), 'start')}"
            yield ("start",), words, "give a start for each trial, or one for all"

    def answer(self, model: AskedModel, parameters: Parameters = None) -> "Fit":
        """The `Fit` of `zwang.fit`."""
        from zwang.analysis.fitting.fit import fit

        if not self.data:
            raise InputError('there are no data: say data = "….csv" under [fit]')
        if not self.unknown:
            raise InputError('what is unknown? say unknown = ["…"] under [fit]')
        known = {key: value for key, value in (parameters or {}).items() if str(key) not in self.unknown}
        values = values_of(model, parameters)
        weights = {name: number_of(e, values, f"weight of {name}") for name, e in self.weights.items()}
        starts = self.starts(model)
        several = len(self.data) > 1
        return fit(
            model,
            [dict(one) for one in self.data] if several else dict(self.data[0]),
            {sp.Symbol(name): self.first(name, e, values) for name, e in self.unknown.items()},
            starts if several else starts[0],
            dict(self.observe) or None,
            weights or None,
            {sp.Symbol(name): pair for name, pair in self.bounds.items()} or None,
            known or None,
            pieces=self.pieces,
        )

    def first(self, name: str, guess: sp.Expr | None, values: Mapping[Any, float]) -> float:
        """The first guess of an unknown: the one that is given, or its value in the model."""
        own = sp.Symbol(name)
        if guess is not None:
            return number_of(guess, values, f"the first guess of {name}")
        if own not in values:
            raise InputError(f"{name} has no first guess: say unknown = {{ {name} = … }} under [fit]")
        return values[own]

    def starts(self, model: AskedModel) -> list[Any]:
        """Where each trial starts: as it says, else as the model does; None for bodies, which are put together."""
        own = None if getattr(model, "mechanism", None) is not None else dict(getattr(model, "start", {}))
        given = [dict(one) for one in self.start] or [{}]
        whole: list[Any] = [{**own, **one} for one in given] if own is not None else []
        if own is None:
            whole = [{**model.guess_with(None), **one} if one else None for one in given]
        return whole * (len(self.data) // len(whole)) if len(whole) == 1 else whole

    def with_data(self, data: "tuple[Columns, ...]") -> "Measurement":
        """The same with other data."""
        return replace(self, data=data)
