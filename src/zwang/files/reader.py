"""The sections of a model file, read one by one: every mistake is noted at its place."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import mpmath  # type: ignore[import-untyped]
import sympy as sp

from zwang.engines.registry import LOOSEST, TIGHTEST
from zwang.errors import InputError, ModelError
from zwang.files import repetition, schema
from zwang.files.analyses.analysis import Analysis
from zwang.files.analyses.read import AskedReader, Noted
from zwang.files.constraints import ConstraintReader
from zwang.files.drawings import read_drawing
from zwang.files.language.build import Built, difference
from zwang.files.language.names import without_index
from zwang.files.language.scope import SECTIONS, Scope
from zwang.files.language.uses import (
    CONSTANT,
    EVENT,
    FORCE,
    INPUT,
    KINETIC,
    MASS,
    NONIDEAL,
    POTENTIAL,
    START,
)
from zwang.files.mistakes import in_file_words, place_of
from zwang.files.model_file import ModelFile, Run, most_samples, too_many
from zwang.files.tables import read_signal
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.model import System, identity
from zwang.model.event import Event
from zwang.model.symbols import label, rates
from zwang.results.units import Units
from zwang.words import did_you_mean, quoted

NO_VALUE = "?"


class Reader:
    """One document on its way to a model."""

    def __init__(self, document: Document, path: FilePath | None, given: Mapping[str, float]) -> None:
        self.document = document
        self.path = path
        self.given = given
        self.scope = Scope(document)
        self.rows = ConstraintReader(self.scope)

    def section(self, name: str) -> dict[str, Any]:
        """A section's entries; none if it is not there."""
        section: dict[str, Any] = self.document.data.get(name, {})
        return section

    def require_given(self) -> None:
        """Refuse values of parameters that the file does not have: the caller's mistake, not the file's."""
        known = self.document.data.get("parameters")
        names = list(known) if isinstance(known, dict) else []
        for name in self.given:
            if name not in names:
                raise InputError(f"parameters sets {name}, which this model does not have{did_you_mean(name, names)}")

    def declare(
        self, coordinates: Mapping[str, Path] | None = None, further: Callable[[Scope], None] | None = None
    ) -> None:
        """Check the document, and give its names their meaning; `further` declares what else there is, once checked."""
        document, scope = self.document, self.scope
        raw = document.data
        declared = {name: list(raw[name]) for name in SECTIONS if isinstance(raw.get(name), dict)}
        constraints = tuple(raw["constraints"]) if isinstance(raw.get("constraints"), dict) else ()
        schema.check(document)
        scope.declare(declared, dict(coordinates or {}))
        repetition.declare_counts(scope, self.section("counts"))
        repetition.declare_arrays(scope, self.section("coordinates"))
        if further is not None:
            further(scope)
        scope.constraints = constraints
        self.rows.declare(self.section("constraints"))
        scope.define(self.section("definitions"))

    def of_coordinates(self) -> ModelFile:
        """A model by its coordinates and energies, or a mass matrix."""
        document, scope = self.document, self.scope
        given = document.data.get("coordinates")
        if not (given and isinstance(given, dict)):
            document.of(
                ("coordinates",),
                "there are no coordinates",
                "write [coordinates], then x = 0.0; or describe bodies: [bodies.NAME]",
            )
        self.declare()
        parameters = self.parameters()
        parts, coordinates = repetition.listed_coordinates(scope)
        start = self.start(coordinates, parameters)
        description = {**self.energies(), **self.matrix(len(coordinates))}
        forces, nonideal = (self.along(key, coordinates) for key in ("forces", "nonideal"))
        inputs = self.inputs()
        constraints = self.constraints()
        self.require_inertia(description)
        events = self.events(inputs)
        drawing = read_drawing(document, scope, self.section("draw"))
        run, asked = self.run(), self.analyses()
        document.raise_problems()
        system = self.system(
            tuple(parts),
            **description,
            forces=forces,
            nonideal=nonideal,
            constraints=constraints,
            parameters={sp.Symbol(n): v for n, v in parameters.items()} | inputs,
            name=document.data.get("name", ""),
        )
        document.raise_problems()
        return ModelFile(system, start, run, events, drawing, self.units(), sweep=self.sweep(), analyses=asked,
                         unstated=self.left_out(start))  # fmt: skip

    def expression(self, path: Path, value: Any, where: Any) -> Any:
        """The SymPy expression at a path; 0 stands for one that is wrong."""
        built = self.scope.expression(path, value, where)
        return sp.S.Zero if built is None else built.expr

    def parameters(self) -> dict[str, Any]:
        """The parameters' values; None for those without."""
        values: dict[str, Any] = {}
        for name, value in self.section("parameters").items():
            if not isinstance(value, str):
                values[name] = value
            elif value.strip() == NO_VALUE:
                values[name] = None
            else:
                built = self.scope.expression(("parameters", name), value, CONSTANT)
                values[name] = None if built is None else exact(built)
        return {**values, **self.given}

    def start(self, coordinates: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[sp.Expr, sp.Expr]:
        """What every coordinate and every rate is at the start."""
        start: dict[sp.Expr, sp.Expr] = {}
        entries = self.section("coordinates")
        values = {sp.Symbol(n): sp.Float(float(v)) for n, v in parameters.items() if v is not None}
        for order, key in enumerate(("start", "rate")):
            check = partial(self.require_number, values=values)
            for name in self.scope.repeats.arrays:
                start |= repetition.starts_of(self.scope, name, entries[name], key, START, check)
            for name, q in coordinates.items():
                if name not in self.scope.names:
                    continue
                entry = entries.get(name, {})
                path: Path = ("coordinates", name, key)
                if not isinstance(entry, dict):
                    entry, path = {"start": entry}, ("coordinates", name)
                expr = self.expression(path, entry.get(key, 0), START)
                self.require_number(path, expr, values)
                start[rates(q)[0] if order else q] = expr
        return start

    def left_out(self, start: Iterable[sp.Expr]) -> frozenset[sp.Expr]:
        """The coordinates and rates of the start that the file says nothing of."""
        entries = self.section("coordinates")
        tables = {name: entry if isinstance(entry, dict) else {"start": entry} for name, entry in entries.items()}
        said = {(name, key) for name, entry in tables.items() for key in entry}
        found = set()
        for thing in start:
            rate = isinstance(thing, sp.Derivative)
            name = without_index((thing.expr if rate else thing).func.__name__)
            if (name, "rate" if rate else "start") not in said:
                found.add(thing)
        return frozenset(found)

    def require_number(self, path: Path, expr: sp.Expr, values: Mapping[sp.Expr, sp.Expr]) -> None:
        """Note an expression of parameters that is not a finite real number with their values."""
        if expr.free_symbols - values.keys():
            return
        try:
            # not by SymPy's own evaluation: it does not give up on towers of powers
            number = float(identity.value(expr, {s: mpmath.mpf(float(v)) for s, v in values.items()}))
        except (TypeError, ValueError, ArithmeticError, mpmath.libmp.NoConvergence):
            number = math.nan
        if not math.isfinite(number):
            self.document.of(path, "this is not a finite real number with the parameters as given")

    def energies(self) -> dict[str, Any]:
        """The kinetic and the potential energy, as far as they are given."""
        section = self.section("energy")
        places = {"kinetic": KINETIC, "potential": POTENTIAL}
        return {
            key: repetition.energy_of(self.scope, ("energy", key), section[key], places[key])
            for key in places
            if key in section
        }

    def matrix(self, n: int) -> dict[str, Any]:
        """The mass matrix, if it is given."""
        rows = self.section("mass").get("matrix")
        if rows is None:
            return {}
        path: Path = ("mass", "matrix")
        wrong = next((i for i, row in enumerate(rows) if len(row) != n), None)
        if len(rows) != n:
            self.document.of(path, f"the matrix has {len(rows)} rows for {n} coordinates")
        elif wrong is not None:
            self.document.of((*path, wrong), f"row {wrong + 1} has {len(rows[wrong])} entries for {n} coordinates")
        return {
            "mass": [
                [self.expression((*path, i, j), entry, MASS) for j, entry in enumerate(row)]
                for i, row in enumerate(rows)
            ]
        }

    def require_inertia(self, description: Mapping[str, Any]) -> None:
        """Note a model that has neither energies nor a mass matrix, or both."""
        there = {key for key in ("energy", "mass") if self.section(key)}
        # a section or key that is unknown may be one of the two, misspelled
        others = {key.name for key in schema.TOP} | {section.name for section in schema.SECTIONS}
        others -= {"energy", "mass"}
        wrong = any(p.path and p.path[0] not in others for p in self.document.problems)
        if "kinetic" not in description and "mass" not in description and not wrong:
            path: Path = (next(iter(there)),) if there else ("coordinates",)
            self.document.of(
                path, "there is neither a kinetic energy nor a mass matrix", "write kinetic = … under [energy]"
            )
        if "mass" in description and self.section("energy"):
            path = ("energy", next(iter(self.section("energy"))))
            self.document.of(
                path,
                "[energy] and [mass] are both given",
                "give one of them; with [mass], [forces] are the whole of Q",
                key=True,
            )

    def along(self, section: str, coordinates: Mapping[str, Any]) -> dict[Any, Any]:
        """Expressions along coordinates."""
        found: dict[Any, Any] = {}
        where = NONIDEAL if section == "nonideal" else FORCE
        for name, value in self.section(section).items():
            path: Path = (section, name)
            if isinstance(value, dict):
                repeated = repetition.along_array(self.scope, path, value, where)
                found |= {} if repeated is None else dict([repeated])
                continue
            expr = self.expression(path, value, where)
            if name in coordinates:
                found[coordinates[name]] = expr
            elif self.scope.repeats.arrays.get(name.partition("[")[0], True):  # None of one that could not be read
                self.document.of(
                    (section, name),
                    f"there is no coordinate {quoted(name)}{self.document.meant(name, coordinates)}",
                    f"the coordinates are {', '.join(list(coordinates)[:20])}",
                    key=True,
                )
        return found

    def inputs(self) -> dict[sp.Expr, Any]:
        """The known functions of time."""
        found = {}
        folder = None if self.path is None else self.path.parent
        for name, value in self.section("inputs").items():
            path: Path = ("inputs", name)
            if isinstance(value, dict):
                what: Any = read_signal(self.document, path, value, folder)
            elif isinstance(value, str) and value.strip() == NO_VALUE:
                what = None
            else:
                what = self.expression(path, value, INPUT)
            if self.scope.names[name].kind == "input":
                found[self.scope.names[name].expr] = what
        return found

    def constraints(self) -> dict[str, Any]:
        """The constraints by name; repeated ones as families."""
        self.rows.units = self.coordinate_units()
        return self.rows.read(self.section("constraints"))

    def events(self, inputs: Mapping[sp.Expr, Any]) -> tuple[Event, ...]:
        """The events, in their order."""
        found = []
        formulas = {f: value for f, value in inputs.items() if isinstance(value, sp.Expr)}
        for name, entry in self.section("events").items():
            path: Path = ("events", name)
            if isinstance(entry, dict) and "when" not in entry:
                self.document.of(path, f"event {quoted(name)} does not say when", 'write when = "left = right"')
                continue
            when, where = (entry["when"], (*path, "when")) if isinstance(entry, dict) else (entry, path)
            sides = self.scope.relation(where, when, EVENT, ("=",))
            if sides is None:
                continue
            expr = difference(sides[0], sides[2])
            if not (sides[0].uses | sides[2].uses) - {"parameter"}:
                self.document.of(where, f"event {quoted(name)} contains nothing that changes")
            signal = next((f for f in inputs if f not in formulas and expr.has(f)), None)
            if signal is not None:
                self.document.of(where, f"an event cannot watch the input {quoted(signal.func.__name__)}, a table")
                continue
            options = entry if isinstance(entry, dict) else {}
            reset = self.reset((*path, "reset"), options.get("reset", {}), set(inputs) - set(formulas))
            direction = schema.DIRECTIONS[options.get("direction", "both")]
            event = Event(expr, name, direction, options.get("stop", False), reset)
            found.append(event.with_each(lambda e: e.subs(formulas).doit()) if formulas else event)
        return tuple(found)

    def reset(self, path: Path, table: dict[str, Any], signals: set[sp.Expr]) -> dict[sp.Expr, sp.Expr]:
        """Where the state jumps to at an event; nothing where something is wrong with it, which is noted."""
        if not table:
            return {}
        try:
            found = AskedReader(self.document, self.scope, None).guess(path, table, schema.RESET)
        except Noted:
            return {}
        for key, expr in found.items():
            if signal := next((f for f in signals if expr.has(f)), None):
                words = (
                    f"the reset of {quoted(label(key))} cannot use the input {quoted(signal.func.__name__)}, a table"
                )
                self.document.of(path, words)
        return found

    def run(self) -> Run:
        """How to simulate."""
        section = self.section("run")
        values = {key: value for key, value in section.items() if value is not None}
        for key in ("until", "begin", "tol", "max_step", "step"):
            if key in values:
                values[key] = float(values[key])
        if isinstance(values.get("drift"), list):
            kind, *gains = values["drift"]
            values["drift"] = (kind, *map(float, gains))
        run = Run(**values)
        if not TIGHTEST <= run.tol <= LOOSEST:
            self.document.of(("run", "tol"), f"tol is out of range: choose between {TIGHTEST:g} and {LOOSEST:g}")
        if run.max_step is not None and not run.max_step > 0:
            self.document.of(("run", "max_step"), "the longest step must be positive")
        if run.step is not None and not run.step > 0:
            self.document.of(("run", "step"), "the length of a step must be positive")
        if run.step is not None and run.contacts != "steps":
            self.document.of(
                ("run", "step"), "a step is for contacts that are followed by steps", 'add contacts = "steps"'
            )
        if run.contacts == "steps" and run.step is None:
            self.document.of(("run", "contacts"), "steps need their length", "add step = 0.001, say")
        if run.until is not None and run.until <= run.begin:
            self.document.of(
                ("run", "until"), f"the end, {run.until:.12g}, is not after the beginning, {run.begin:.12g}"
            )
        coordinates = sum(meaning.kind == "coordinate" for meaning in self.scope.names.values())
        coordinates += sum(ranges.size for ranges in self.scope.repeats.arrays.values() if ranges)
        most = most_samples(coordinates, len(self.scope.constraints))
        if run.samples is not None and run.samples > most:
            message = too_many(run.samples, coordinates)
            self.document.of(("run", "samples"), message, f"{most:,} samples are the most here")
        return run

    def sweep(self) -> dict[str, str | tuple[float, ...]]:
        """What is varied in a sweep: parameters only."""
        found: dict[str, str | tuple[float, ...]] = {}
        known = self.section("parameters")
        for name, values in self.section("sweep").items():
            if name not in known:
                meant = self.document.meant(name, known)
                words = f"[sweep] varies {quoted(name)}, which is not a parameter{meant}"
                there = f"there are {', '.join(known)}" if known else "name it under [parameters]"
                self.document.of(("sweep", name), words, "" if meant else there, key=True)
                continue
            found[name] = values if isinstance(values, str) else tuple(map(float, values))
        return found

    def analyses(self) -> dict[str, Analysis]:
        """What the file asks of the model."""
        return AskedReader(self.document, self.scope, None if self.path is None else self.path.parent).read()

    def units(self) -> Units:
        """The units, where they are given."""
        return Units(**self.section("units"), coordinates=self.coordinate_units())

    def coordinate_units(self) -> dict[str, str]:
        """The units of coordinates, where they are given."""
        arrays = self.scope.repeats.arrays
        found: dict[str, str] = {}
        for name, entry in self.section("coordinates").items():
            if isinstance(entry, dict) and "unit" in entry:
                members = ranges.labels(name) if (ranges := arrays.get(name)) else [name]
                found |= dict.fromkeys(members, str(entry["unit"]))
        return found

    def system(self, coordinates: tuple[sp.Expr, ...], **description: Any) -> Any:
        """The system; mistakes that it finds itself are located."""
        try:
            return System(coordinates, **description)
        except (ModelError, InputError) as error:
            for mistake in error.mistakes:
                self.document.of(place_of(mistake, self.document.data), in_file_words(mistake))
        return None


def exact(built: Built) -> Any:
    """A constant as a parameter's value: exact if it is, else a float."""
    return float(built.expr) if built.expr.is_Float else built.expr
