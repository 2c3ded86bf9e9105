"""Models to model files: a `System` or a `ModelFile` as text that a person reads and `read_model` reads back equal."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.endings import MODELS, require_ending
from zwang.errors import InputError, ModelFileError
from zwang.files.analyses.write import entries_of, range_text
from zwang.files.language.functions import RESERVED
from zwang.files.language.names import CONSTANTS, TIME, without_index, wrong_name
from zwang.files.language.printer import expression_text
from zwang.files.language.reactions import with_calls
from zwang.files.made import model_of
from zwang.files.model_file import ModelFile, Run
from zwang.files.read import read_model
from zwang.files.reader import NO_VALUE
from zwang.files.schema import DIRECTIONS, LONGEST_LABEL
from zwang.files.store import write_atomically
from zwang.files.writing.values import constraint_text, inline, section, toml_text, written
from zwang.model import System
from zwang.model.drawing import Shape
from zwang.model.event import REACTION, Event, multiplier
from zwang.model.fixed import FrozenValue
from zwang.model.has_system import HasSystem
from zwang.model.moved import ROUNDING
from zwang.model.signal import Signal
from zwang.model.state import place_of, state_name
from zwang.model.symbols import as_scalar, rates, t
from zwang.model.time import coordinate
from zwang.model.values import state_arrays

if TYPE_CHECKING:
    from zwang.multibody import Mechanism


PLAIN = str.maketrans({"[": "_", ",": "_", "]": None})  # names of arrays, as a file has them


def save_model(model: System | HasSystem, path: str | os.PathLike[str]) -> Path:
    """Write a model file; `load_model` reads an equal one back.

    A mechanism is written by its bodies, joints and force elements, a system by its energies and constraints. Tables
    are written into the file itself, and definitions are written out: a system does not remember them. A model that
    was read from a file and says the same as ever is written as the text that it was read from, if it has bodies.
    """
    require_ending(path, MODELS)
    return write_atomically(path, model_text(model))


def model_text(model: System | HasSystem) -> str:
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
    model = model_of(model, "save_model")
    if model.mechanism is not None:
        return text_of_bodies(model)
    if model.system.families is not None and model.text and says_the_same(model):
        return model.text  # repeated entries stay as they are
    model = with_plain_names(model)
    require_names(model)
    text = joined(sections(model))
    require_same(model, text)
    return text


def with_plain_names(model: ModelFile) -> ModelFile:
    """A model whose coordinates in arrays are called x_0_1, and members of other names link_0: files have no brackets.

    Only where nothing else speaks of them, and the names are free.
    """
    system = model.system
    plain = {name: name.translate(PLAIN) for name in (*system.coordinate_names, *system.constraint_names)}
    new = [*(plain[name] for name in system.coordinate_names), *(s.name for s in system.symbols)]
    said = model.events or model.drawing.shapes or model.analyses
    if said or all(name == other for name, other in plain.items()) or len(set(new)) < len(new):
        return model
    put: dict[sp.Expr, sp.Expr] = {}
    for q in system.coordinates:
        other = coordinate(plain[q.func.__name__])
        put |= zip((q, *rates(q)), (other, *rates(other)), strict=True)
    put |= {symbol: multiplier(plain[system.constraint_names[i]]) for i, symbol in system.reactions.items()}
    again = System(
        [put[q] for q in system.coordinates],
        kinetic=None if system.kinetic is None else system.kinetic.xreplace(put),
        potential=system.potential.xreplace(put),
        forces=[e.xreplace(put) for e in system.forces],
        mass=None if system.mass is None else system.mass.xreplace(put),
        constraints={
            plain[c.name]: replace(c, expression=c.expression.xreplace(put), name=plain[c.name])
            for c in system.constraints
        },
        nonideal=[e.xreplace(put) for e in system.nonideal],
        parameters=dict(system.parameters),
        name=system.name,
    )
    start = {put.get(key, key): value for key, value in model.start.items()}
    units = {plain.get(name, name): unit for name, unit in model.units.coordinates.items()}
    return replace(model, system=again, start=start, units=replace(model.units, coordinates=units))


def joined(parts: Iterable[list[str]]) -> str:
    """Sections as one text."""
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def text_of_bodies(model: ModelFile) -> str:
    """The text of a model of bodies: the one that it was read from, if that still says the same, or a new one."""
    made = model.mechanism
    assert made is not None
    instead = "write its equations instead, with save_model(model.system, …)"
    if made.system != model.system:
        raise InputError(f"the system of this model is not that of its bodies any more: {instead}")
    if model.text and not model.is_changed("start") and says_the_same(model):
        return model.text
    try:
        require_names(model)
        text = joined(sections_of_bodies(model, made))
    except InputError as error:
        raise InputError(f"{error}; or {instead}") from None
    require_same_bodies(model, text)
    return text


def says_the_same(model: ModelFile) -> bool:
    """Whether the text that a model was read from gives the same model, without what stood beside its file."""
    try:
        again = read_model(model.text)
    except ModelFileError:
        return False
    same = ["system", "run", "sweep", "analyses", "events", "drawing", "units", "description"]
    same += ["start"] if model.mechanism is None else []
    return all(getattr(again, what) == getattr(model, what) for what in same)


def sections_of_bodies(model: ModelFile, made: "Mechanism") -> Iterator[list[str]]:
    """The sections of a file that describes bodies, as lines."""
    from zwang.files.writing.parts import one_sided_conditions, part_sections  # systems do not wait for multibody

    yield head(model)
    fixed = {s.name for s, value in made.parameters.items() if isinstance(value, FrozenValue)}  # numbers in every part
    yield section("parameters", {name: value for name, value in parameters(model).items() if name not in fixed})
    yield section("inputs", {f.func.__name__: input_text(f, value) for f, value in made.system.inputs.items()})
    yield from part_sections(made)
    yield section("start", start_entries(model, made))
    own = [c for c in made.system.constraints if c.name in made.constraints]
    yield section("constraints", {c.name: constraint_text(c) for c in (*one_sided_conditions(made), *own)})
    yield from further_sections(model, [s for s in model.drawing.shapes if s not in made.drawing.shapes])


def start_entries(model: ModelFile, made: "Mechanism") -> dict[str, str]:
    """Where a model of bodies starts, if it starts elsewhere than its bodies say."""
    names = {place: state_name(made.system, place) for place in range(2 * len(made.system.coordinate_names))}
    if model.is_assembled:
        given = {place_of(made.system, key): value for key, value in made.initial.items()}
        return {names[place]: repr(float(value)) for place, value in given.items() if place is not None}
    start, own = (np.concatenate(state_arrays(made.system, it)) for it in (model.state(), made.start))
    if np.abs(start - own).max(initial=0.0) <= ROUNDING * np.abs(own).max(initial=0.0):
        return {}
    return {names[place]: repr(float(value)) for place, value in enumerate(start)}


def sections(model: ModelFile) -> Iterator[list[str]]:
    """The sections of the file, as lines."""
    system = model.system
    names = dict(zip(system.coordinates, system.coordinate_names, strict=True))
    yield head(model)
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
        yield section(key, {name: written(with_calls(e), f"{key}[{name}]") for name, e in along if e != 0})
    yield section("inputs", {f.func.__name__: input_text(f, value) for f, value in system.inputs.items()})
    yield section("constraints", {c.name: constraint_text(c) for c in system.constraints})
    yield from further_sections(model, model.drawing.shapes)


def head(model: ModelFile) -> list[str]:
    """What stands above all sections."""
    words = {"name": model.system.name, "description": model.description}
    return [f"{key} = {toml_text(value)}" for key, value in words.items() if value]


def further_sections(model: ModelFile, shapes: Sequence[Shape]) -> Iterator[list[str]]:
    """What goes with a system, whatever it is described by."""
    yield section("events", {e.name: event_text(e) for e in model.events})
    yield section("units", {key: toml_text(unit) for key in ("time", "energy") if (unit := getattr(model.units, key))})
    yield section("run", run(model.run))
    yield section("sweep", {name: range_text(values) for name, values in model.sweep.items()})
    for name, asked in model.analyses.items():
        yield section(name, entries_of(asked), empty=True)
    yield section("draw", {shape.name: shape_text(shape) for shape in shapes})


def coordinates_text(model: ModelFile) -> str:
    """The section [coordinates] alone: the start, ready to paste."""
    return "\n".join(section("coordinates", coordinates(model)))


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


def event_text(event: Event) -> str:
    """An event as a TOML value."""
    when = toml_text(f"{expression_text(with_calls(event.expression), f'event {event.name!r}')} = 0")
    direction = next(word for word, number in DIRECTIONS.items() if number == event.direction)
    parts = [f"when = {when}"]
    parts += [f'direction = "{direction}"'] if event.direction else []
    parts += ["stop = true"] if event.stop else []
    parts += [f"reset = {reset_text(event)}"] if event.reset else []
    return when if len(parts) == 1 else f"{{ {', '.join(parts)} }}"


def reset_text(event: Event) -> str:
    """Where the state jumps to at an event, as a TOML value."""
    what = f"event {event.name!r}"
    names = {key: key if isinstance(key, str) else expression_text(key, what) for key in event.reset}
    return inline({name: written(event.reset[key], what) for key, name in names.items()})


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

    single = shape.kind in ("point", "circle", "solid")
    points = point(shape.points[0]) if single else f"[{', '.join(map(point, shape.points))}]"
    parts = [f"{shape.kind} = {points}"]
    if shape.solid is not None:
        from zwang.files.writing.parts import solid

        turn = ", ".join(point(row) for row in shape.orientation or ())
        parts = [f"solid = {solid(shape.solid, f'shape {shape.name!r}')}", f"at = {points}", f"orientation = [{turn}]"]
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
        if wrong := wrong_name(name if model.mechanism is None else without_index(name)):
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


def require_same_bodies(model: ModelFile, text: str) -> None:
    """Read the text of a mechanism back: what does not come back is refused by name."""
    try:
        again = read_model(text).system
    except ModelFileError as error:
        raise InputError(f"this mechanism cannot be written: {error}") from None
    system = model.system
    before, after = system.expressions, again.expressions
    changed = (name for name in before | after if not is_same(before.get(name, sp.S.Zero), after.get(name, sp.S.Zero)))
    if which := next(changed, None):
        raise InputError(f"{which} would not be read back as it is; write the equations, save_model(model.system, …)")


def is_same(one: sp.Basic, other: sp.Basic) -> bool:
    """Whether two expressions are the same, products multiplied out: two fields of gravity are written as their sum."""
    return one == other or (isinstance(one, sp.Expr) and isinstance(other, sp.Expr) and sp.expand(one - other) == 0)
