"""Sections that ask something, from the document to their questions: every mistake is noted at its place."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

import sympy as sp

from zwang.files.analyses.analysis import Analysis
from zwang.files.analyses.data import Columns, beside, time_column, told
from zwang.files.analyses.registry import ANALYSES
from zwang.files.analyses.types import flat
from zwang.files.language.grammar import parse
from zwang.files.language.indices import Broken
from zwang.files.language.scope import Scope
from zwang.files.language.uses import MEASURED, OUTPUT, READING, RESET, SETTING, Use
from zwang.files.table_types import Key
from zwang.files.tables import CellError
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.files.toml.problems import Misread
from zwang.words import quoted


class Noted(Exception):
    """Raised where a value is wrong; what is wrong is noted."""


@dataclass(frozen=True)
class AskedReader:
    """Reads the values of sections that ask something."""

    document: Document
    scope: Scope
    folder: FilePath | None

    def read(self) -> dict[str, Analysis]:
        """All questions of the document by section, in its order."""
        found: dict[str, Analysis] = {}
        for name, section in self.document.data.items():
            if name in ANALYSES and (asked := self.question(ANALYSES[name], section)) is not None:
                found[name] = asked
        return found

    def question(self, kind: type[Analysis], section: dict[str, Any]) -> Analysis | None:
        """One section; None where something is wrong with it."""
        name = kind.section.name
        keys = {key.name: key for key in kind.section.keys}
        for key in kind.needed:
            if key not in section and not any(p.path[:2] == (name, key) for p in self.document.problems):
                hint = f"{key} = …: {keys[key].meaning}"
                self.document.of((name,), f"[{name}] does not say {quoted(key)}", hint, key=True)
                return None
        values: dict[str, Any] = {}
        whole = True
        for key, value in section.items():
            try:
                values[key] = self.value((name, key), value, keys[key])
            except Noted:
                whole = False
        if not whole:
            return None
        asked = kind(**values)
        wrong = list(asked.wrong(tuple(self.scope.names)))
        for way, message, hint in wrong:
            self.document.of((name, *way), message, hint, key=True)
        return None if wrong else asked

    def value(self, path: Path, value: Any, key: Key) -> Any:
        """The value of a key, by its type."""
        way: Callable[..., Any] | None = WAYS.get(key.type)
        if way is None:
            return float(value) if key.type == "number" else value
        return way(self, path, value, key)

    def expression(self, path: Path, value: Any, use: Use) -> sp.Expr:
        """An expression at a path."""
        built = self.scope.expression(path, value, use)
        if built is None:
            raise Noted
        return built.expr

    def key_expression(self, path: Path, text: str, use: Use) -> sp.Expr:
        """An expression that stands as a key; what is wrong with it is noted there."""
        try:
            return self.scope.build(parse(text), use).expr
        except Broken:
            pass
        except Misread as error:
            self.document.of(path, error.message, error.hint, key=True)
        except Exception as error:
            self.document.trouble(path, error)
        raise Noted

    def each(self, entries: list[tuple[Path, Any]], read: Callable[[Path, Any], Any]) -> list[Any]:
        """Every entry read, so that all mistakes are noted."""
        found, whole = [], True
        for path, entry in entries:
            try:
                found.append(read(path, entry))
            except Noted:
                whole = False
        if not whole:
            raise Noted
        return found

    def guess(self, path: Path, value: dict[str, Any], key: Key) -> dict[sp.Expr, sp.Expr]:
        """Values by coordinates and rates."""

        def pair(name: str, way: Path, entry: Any) -> tuple[sp.Expr, sp.Expr]:
            what = self.key_expression(way, name, READING)
            function = what.expr if isinstance(what, sp.Derivative) else what
            if not isinstance(function, sp.core.function.AppliedUndef):
                hint = "hold takes any expression" if key.name == "guess" else ""
                self.document.of(way, f"{quoted(name)} is not a coordinate or rate", hint, key=True)
                raise Noted
            return what, self.expression(way, entry, RESET if key.name == "reset" else SETTING)

        entries = [((*path, *way), (name, entry)) for name, (way, entry) in flat(value).items()]
        return dict(self.each(entries, lambda way, both: pair(both[0], way, both[1])))

    def held(self, path: Path, value: Any, key: Key) -> dict[sp.Expr, sp.Expr | None]:
        """Expressions that keep their value, or the values that they should have."""
        if isinstance(value, list):
            entries = [((*path, i), text) for i, text in enumerate(value)]
            return dict.fromkeys(self.each(entries, lambda way, text: self.expression(way, text, READING)))

        def pair(name: str, way: Path, entry: Any) -> tuple[sp.Expr, sp.Expr]:
            return self.key_expression(way, name, READING), self.expression(way, entry, SETTING)

        named = [((*path, *way), (name, entry)) for name, (way, entry) in flat(value).items()]
        return dict(self.each(named, lambda way, both: pair(both[0], way, both[1])))

    def readings(self, path: Path, value: Any, key: Key) -> dict[str, sp.Expr]:
        """Expressions under names: those that are given, or their own text."""
        use = OUTPUT if key.name == "outputs" else READING
        if isinstance(value, list):
            named = [(text.strip(), (*path, i), text) for i, text in enumerate(value)]
        else:
            named = [(name, (*path, *way), entry) for name, (way, entry) in flat(value).items()]
        found: dict[str, sp.Expr] = {}
        whole = True
        for name, way, text in named:
            built = self.scope.expression(way, text, use)
            if built is None:
                whole = False
            elif name in found:
                self.document.of(way, f"{quoted(name)} is listed twice", "list it once")
                whole = False
            else:
                found[name] = built.expr
        if not whole:
            raise Noted
        return found

    def inputs(self, path: Path, value: list[str], key: Key) -> tuple[str, ...]:
        """Names of parameters and known functions of time."""
        known = [name for name, meaning in self.scope.names.items() if meaning.kind in ("parameter", "input")]

        def one(way: Path, name: str) -> str:
            if name in self.scope.fixed:
                self.document.of(way, f"places of the mechanism depend on {quoted(name)}: it cannot be an input")
                raise Noted
            self.require_known(way, name, known, "a parameter or a known function of time")
            return name

        return tuple(self.each([((*path, i), name) for i, name in enumerate(value)], one))

    def against(self, path: Path, value: dict[str, Any], key: Key) -> dict[str, str | tuple[float, ...]]:
        """A parameter and its range."""
        (name, values) = next(iter(value.items()))
        self.require_known((*path, name), name, self.parameters, "a parameter", key=True)
        return {name: values if isinstance(values, str) else tuple(map(float, values))}

    @property
    def parameters(self) -> list[str]:
        """The names of all parameters."""
        return [name for name, meaning in self.scope.names.items() if meaning.kind == "parameter"]

    def setting(self, path: Path, value: Any, key: Key) -> sp.Expr:
        """An expression of parameters."""
        return self.expression(path, value, SETTING)

    def guesses(self, path: Path, value: Any, key: Key) -> tuple[dict[sp.Expr, sp.Expr], ...]:
        """Values by coordinates and rates, for each trial."""
        tables = [((*path, i), one) for i, one in enumerate(value)] if isinstance(value, list) else [(path, value)]
        return tuple(self.each(tables, lambda way, one: self.guess(way, one, key)))

    def unknown(self, path: Path, value: Any, key: Key) -> dict[str, sp.Expr | None]:
        """Parameters that are sought, with first guesses where these are given."""

        def one(way: Path, both: tuple[str, Any]) -> tuple[str, sp.Expr | None]:
            name, guess = both
            self.require_known(way, name, self.parameters, "a parameter", key=guess is not None)
            if name in self.scope.fixed:
                words = f"places of the mechanism depend on {quoted(name)}, and are numbers: it cannot be sought"
                self.document.of(way, words, "describe the places by numbers", key=guess is not None)
                raise Noted
            return name, None if guess is None else self.expression(way, guess, SETTING)

        if isinstance(value, list):
            return dict(self.each([((*path, i), (name, None)) for i, name in enumerate(value)], one))
        return dict(self.each([((*path, name), (name, guess)) for name, guess in value.items()], one))

    def data(self, path: Path, value: Any, key: Key) -> tuple[Columns, ...]:
        """Measured columns, for each trial."""
        trials = [((*path, i), one) for i, one in enumerate(value)] if isinstance(value, list) else [(path, value)]
        return tuple(self.each(trials, self.columns))

    def columns(self, path: Path, value: Any) -> Columns:
        """The columns of one trial: in a CSV file beside the model, or here."""
        try:
            if isinstance(value, str):
                return beside(value, self.folder)
            found = {name: tuple(map(told, column)) for name, (_, column) in flat(value).items()}
            times = found[time_column(list(found), "the table")]
            if any(len(column) != len(times) for column in found.values()):
                raise Misread("the columns are not of one length", 0, "give every column a number for each time")
            if any(b <= a for a, b in pairwise(times)):
                raise Misread("the times do not ascend", 0)
            return found
        except Misread as error:
            self.document.of(path, error.message, error.hint)
        except CellError as error:
            self.document.problems.append(error.problem)
        raise Noted

    def measures(self, path: Path, value: dict[str, Any], key: Key) -> dict[str, sp.Expr]:
        """Expressions by columns."""
        use = MEASURED if key.name == "observe" else SETTING
        entries = [((*path, *way), (name, entry)) for name, (way, entry) in flat(value).items()]
        return dict(self.each(entries, lambda way, both: (both[0], self.expression(way, both[1], use))))

    def bounds(self, path: Path, value: dict[str, Any], key: Key) -> dict[str, tuple[float, float]]:
        """The least and greatest values of unknowns."""

        def one(way: Path, both: tuple[str, list[float]]) -> tuple[str, tuple[float, float]]:
            name, (low, high) = both
            if not low < high:
                self.document.of(way, f"{quoted(name)}: {low:g} is not below {high:g}", "write [least, most]")
                raise Noted
            return name, (float(low), float(high))

        return dict(self.each([((*path, name), (name, pair)) for name, pair in value.items()], one))

    def require_known(self, path: Path, name: str, known: list[str], what: str, key: bool = False) -> None:
        """Note a name that is not among those that may stand here."""
        if name not in known:
            meant = self.document.meant(name, known)
            there = f"there are {', '.join(known[:20])}" if known else "the model has none"
            self.document.of(path, f"{quoted(name)} is not {what}{meant}", "" if meant else there, key=key)
            raise Noted


WAYS: dict[str, Callable[..., Any]] = {
    "guess": AskedReader.guess,
    "held": AskedReader.held,
    "readings": AskedReader.readings,
    "names of inputs": AskedReader.inputs,
    "against": AskedReader.against,
    "setting": AskedReader.setting,
    "guesses": AskedReader.guesses,
    "unknown": AskedReader.unknown,
    "data": AskedReader.data,
    "measures": AskedReader.measures,
    "weights": AskedReader.measures,
    "bounds": AskedReader.bounds,
}
"""How values of each type are read."""
