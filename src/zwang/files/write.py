"""Models to model files: a `System` or a `ModelFile` as text that a person reads and `read_model` reads back equal."""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sympy as sp

from zwang.errors import InputError, ModelFileError
from zwang.files.language.functions import RESERVED
from zwang.files.language.names import CONSTANTS, TIME, wrong_name
from zwang.files.language.printer import expression_text
from zwang.files.model_file import ModelFile, Run
from zwang.files.read import read_model
from zwang.files.reader import NO_VALUE
from zwang.files.schema import DIRECTIONS, LONGEST_LABEL
from zwang.files.store import write_atomically
from zwang.model import Constraint, System
from zwang.model.drawing import Shape
from zwang.model.event import REACTION, Event
from zwang.model.signal import Signal
from zwang.model.symbols import as_scalar, rates, t

BARE = re.compile(r"[A-Za-z0-9_-]+")


def save_model(model: ModelFile | System, path: str | os.PathLike[str]) -> Path:
    """Write a model file; `load_model` reads an equal system back.

    Tables are written into the file itself, and definitions are written out: a system does not remember them. A model
    of bodies is written as the text that it was read from.
    """
    return write_atomically(path, model_text(model))


def model_text(model: ModelFile | System) -> str:
    """The text of a model file; what a model file cannot say is refused by name.

    >>> import zwang as zw
    >>> x = zw.coordinates("x")
    >>> print(model_text(zw.System((x,), kinetic=zw.dot(x)**2/2, name="Free")))
    name = "Free"
    <BLANKLINE>
    [coordinates]
    x = {}
    <BLANKLINE>
    [energy]
    kinetic = "x'^2/2"
    <BLANKLINE>
    """
    if isinstance(model, System):
        model = ModelFile(model, {})
    if not isinstance(model, ModelFile):
        raise InputError(f"a model file is written of a System or a ModelFile, not of a {type(model).__name__}")
    if model.mechanism is not None:
        return text_of_bodies(model)
    require_names(model)
    text = "\n\n".join("\n".join(section) for section in sections(model) if section) + "\n"
    require_same(model, text)
    return text


def text_of_bodies(model: ModelFile) -> str:
    """The text of a model of bodies: the one that it was read from, if that still says the same."""
    instead = "write its equations instead, with save_model(model.system, …)"
    if not model.text:
        raise InputError(f"a mechanism that was made in Python cannot be written as bodies: {instead}")
    try:
        again = read_model(model.text)
    except ModelFileError as error:
        raise InputError(f"this model cannot be read by its text alone, copy its folder: {error}") from None
    for what in ("system", "run", "events", "drawing", "units", "description"):
        if getattr(again, what) != getattr(model, what):
            raise InputError(
                f"a model of bodies is written as the text it was read from, but its {what} was changed since: change "
                f"the text, or {instead}"
            )
    return model.text


def sections(model: ModelFile) -> Iterator[list[str]]:
    """The sections of the file, as lines."""
    system = model.system
    names = dict(zip(system.coordinates, system.coordinate_names, strict=True))
    head = {"name": system.name, "description": model.description}
    yield [f"{key} = {toml_text(value)}" for key, value in head.items() if value]
    yield section("parameters", parameters(model))
    yield section("coordinates", coordinates(model))
    if system.kinetic is not None:
        entries = {"kinetic": written(system.kinetic, "kinetic")}
        if system.potential != 0:
            entries["potential"] = written(system.potential, "potential")
        yield section("energy", entries)
    if system.mass is not None:
        rows = ",\n".join(f"  [{', '.join(written(e, 'mass') for e in row)}]" for row in system.mass.tolist())
        yield section("mass", {"matrix": f"[\n{rows},\n]"})
    for key, values in (("forces", system.forces), ("nonideal", system.nonideal)):
        along = zip(names.values(), values, strict=True)
        yield section(key, {name: written(e, f"{key}[{name}]") for name, e in along if e != 0})
    yield section("inputs", {f.func.__name__: input_text(f, value) for f, value in system.inputs.items()})
    yield section("constraints", {c.name: constraint_text(c) for c in system.constraints})
    yield section("events", {e.name: event_text(e) for e in model.events})
    yield section("units", {key: toml_text(unit) for key in ("time", "energy") if (unit := getattr(model.units, key))})
    yield section("run", run(model.run))
    yield section("draw", {shape.name: shape_text(shape) for shape in model.drawing.shapes})


def coordinates_text(model: ModelFile) -> str:
    """The section [coordinates] alone: the start, ready to paste."""
    return "\n".join(section("coordinates", coordinates(model)))


def section(name: str, entries: Mapping[str, str]) -> list[str]:
    """A section as lines; nothing if it is empty."""
    return [f"[{name}]", *(f"{key(k)} = {value}" for k, value in entries.items())] if entries else []


def key(name: str) -> str:
    """A key, in quotes if it is not plain."""
    return name if BARE.fullmatch(name) else toml_text(name)


def toml_text(text: str) -> str:
    """Text as TOML has it; in three pairs of quotes if it has several lines."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = "".join(c if c.isprintable() or c in "\n\t" else f"\\U{ord(c):08x}" for c in escaped)
    return f'"""\n{escaped}"""' if "\n" in text else f'"{escaped}"'.replace("\t", "\\t")


def written(expression: sp.Expr, who: str) -> str:
    """An expression as a TOML value: a number if TOML has it, else text."""
    text = expression_text(expression, who)
    plain = expression.is_Float or (expression.is_Integer and len(text) <= 18)  # integers of 64 bits, no longer ones
    return text if plain else toml_text(text)


def value_text(value: Any, who: str) -> str:
    """The value of a parameter as a TOML value."""
    if value is None:
        return toml_text(NO_VALUE)
    if isinstance(value, sp.Expr):
        return written(value, who) if not value.is_Float else repr(float(value))
    return repr(int(value)) if isinstance(value, int) else repr(float(value))


def parameters(model: ModelFile) -> dict[str, str]:
    """The parameters; those that occur without a value too."""
    given = {s: v for s, v in model.system.parameters.items() if isinstance(s, sp.Symbol)}
    return {s.name: value_text(v, f"parameter {s}") for s, v in (given | dict.fromkeys(model.missing)).items()}


def coordinates(model: ModelFile) -> dict[str, str]:
    """The coordinates with their starts and units."""
    entries = {}
    for q, name in zip(model.system.coordinates, model.system.coordinate_names, strict=True):
        starts = {"start": model.start.get(q, 0), "rate": model.start.get(rates(q)[0], 0)}
        parts = [f"{k} = {written(as_scalar(v), f'{k} of {name}')}" for k, v in starts.items() if v != 0]
        if name in model.units.coordinates:
            parts.append(f"unit = {toml_text(model.units.coordinates[name])}")
        entries[name] = f"{{ {', '.join(parts)} }}" if parts else "{}"
    return entries


def input_text(f: sp.Expr, value: Any) -> str:
    """A known function of time as a TOML value."""
    if value is None:
        return toml_text(NO_VALUE)
    if not isinstance(value, Signal):
        return written(value, f"input {f.func.__name__}")
    options = f'kind = "{value.kind}", outside = "{value.outside}"'
    times, values = (", ".join(map(repr, array.tolist())) for array in (value.times, value.values))
    return f"{{ times = [{times}], values = [{values}], {options} }}"


def constraint_text(constraint: Constraint) -> str:
    """A constraint as a TOML value."""
    text = expression_text(constraint.expression, f"constraint {constraint.name!r}")
    return toml_text(f"{text} {'>=' if constraint.one_sided else '='} 0")


def event_text(event: Event) -> str:
    """An event as a TOML value."""
    calls = {}
    for symbol in event.expression.free_symbols:
        if found := REACTION.fullmatch(symbol.name):
            inner = found.group(2)
            argument = f"'{inner}'" if wrong_name(inner) else inner
            calls[symbol] = sp.Symbol(f"{found.group(1)}({argument})")
    when = toml_text(f"{expression_text(event.expression.xreplace(calls), f'event {event.name!r}')} = 0")
    direction = next(word for word, number in DIRECTIONS.items() if number == event.direction)
    parts = [f"when = {when}"]
    parts += [f'direction = "{direction}"'] if event.direction else []
    parts += ["stop = true"] if event.stop else []
    return when if len(parts) == 1 else f"{{ {', '.join(parts)} }}"


def run(settings: Run) -> dict[str, str]:
    """The run's settings, where they are not the usual ones."""
    entries = {}
    for name, usual in vars(Run()).items():
        value = getattr(settings, name)
        if value == usual:
            continue
        if isinstance(value, bool):
            entries[name] = str(value).lower()
        elif isinstance(value, str):
            entries[name] = toml_text(value)
        elif isinstance(value, tuple | list):
            entries[name] = f"[{', '.join(toml_text(v) if isinstance(v, str) else repr(float(v)) for v in value)}]"
        else:
            entries[name] = repr(value)
    return entries


def shape_text(shape: Shape) -> str:
    """A shape as a TOML value; the corners of a body are where they are, so it is a body that is not moved."""

    def point(place: Any) -> str:
        return f"[{', '.join(written(e, f'shape {shape.name!r}') for e in place)}]"

    single = shape.kind in ("point", "circle")
    points = point(shape.points[0]) if single else f"[{', '.join(map(point, shape.points))}]"
    parts = [f"{shape.kind} = {points}"]
    if shape.radius is not None:
        parts.append(f"radius = {written(shape.radius, f'shape {shape.name!r}')}")
    if shape.normal is not None:
        parts.append(f"normal = {point(shape.normal)}")
    parts += [f"color = {toml_text(shape.color)}"] if shape.color else []
    parts += ["trail = true"] if shape.trail else []
    return f"{{ {', '.join(parts)} }}"


def require_names(model: ModelFile) -> None:
    """Refuse names that a model file cannot have, and symbols with assumptions, which it does not know."""
    system = model.system
    functions = [*system.coordinates, *system.inputs]
    symbols = {*system.symbols, *system.parameters}.union(*(e.free_symbols for e in model.further_expressions))
    for s in [*functions, *sorted((s for s in symbols - {t} if isinstance(s, sp.Symbol)), key=str)]:
        name = s.func.__name__ if s in functions else s.name
        if REACTION.fullmatch(name) and s not in functions:
            continue
        if wrong := wrong_name(name):
            raise InputError(f"the name {name!r} {wrong}: a model file cannot have it, rename it")
        if name in RESERVED or name in CONSTANTS or name == TIME:
            raise InputError(f"the name {name!r} is taken in model files: rename it")
        if s != (sp.Function(name)(t) if s in functions else sp.Symbol(name)):
            raise InputError(
                f"{name} has assumptions ({assumptions(s)}), which a model file cannot say: make it without them"
            )
    for name in system.constraint_names:
        if not name.strip() or len(name) > LONGEST_LABEL or not name.isprintable():
            raise InputError(f"the constraint's name {name!r} cannot be written: choose a short one in one line")


def assumptions(symbol: Any) -> str:
    """What is assumed of a symbol."""
    given = getattr(symbol, "_assumptions_orig", None) or getattr(symbol.func, "_kwargs", {})
    return ", ".join(k for k, v in given.items() if v and k != "commutative") or "its own"


def require_same(model: ModelFile, text: str) -> None:
    """Read the text back: what does not come back as it was, unevaluated sums for example, is refused by name."""
    try:
        again = read_model(text).system
    except ModelFileError as error:
        raise InputError(f"this model cannot be written: {error}") from None
    system = model.system
    if again == system:
        return
    before, after = system.expressions, again.expressions
    which = next((name for name in before | after if before.get(name) != after.get(name)), "the parameters")
    raise InputError(
        f"{which} would not be read back as it is: numbers too long, or parts that SymPy was told not to evaluate; "
        f"evaluate them with .doit(), or round the numbers"
    )
