"""A model file that describes bodies and joints: its mechanism, and everything that goes with one."""

from collections.abc import Mapping

import sympy as sp

from zwang.files.drawings import joined, read_drawing
from zwang.files.mechanisms import MechanismReader, coordinate_paths, fixed_values, place_names
from zwang.files.model_file import ModelFile
from zwang.files.reader import Reader
from zwang.files.repeated_parts import PART_TABLES, declare_parts, parts_in, require_members
from zwang.files.toml.positions import Path
from zwang.model.fixed import FrozenValue

MOST_COORDINATES = 2100  # of a mechanism: 300 bodies in space, 700 in the plane
ENERGETIC = ("coordinates", "energy", "mass", "forces", "nonideal")  # sections of a model without bodies


def model_of_bodies(reader: Reader) -> ModelFile:
    """A model by its bodies and joints.

    A place is a number. So a parameter that a place depends on stands for its value in every expression: otherwise a
    later value would change some of them and leave others as they were.
    """
    document, scope, raw = reader.document, reader.scope, reader.document.data
    require_bodies(reader)
    names = {key: list(raw[key]) for key in PART_TABLES if isinstance(raw.get(key), dict)}
    require_members(document)
    scope.freedoms = dict.fromkeys([*names.get("joints", ()), *(joint.name for joint in parts_in(raw, "joints"))])
    scope.quantities = dict.fromkeys([*names.get("bodies", ()), *(body.name for body in parts_in(raw, "bodies"))])
    coordinates = coordinate_paths(raw)
    require_size(reader, coordinates)
    reader.declare(coordinates, declare_parts)
    definitions, parameters = reader.section("definitions"), reader.parameters()
    scope.fixed = fixed_values(place_names(raw, definitions), parameters)
    scope.forget_definitions()
    scope.define(definitions)
    inputs = reader.inputs()
    parts = MechanismReader(document, scope, names, parameters)
    parts.read(definitions)
    constraints = reader.constraints()
    scope.constraints = (*scope.constraints, *parts.rows)
    events = reader.events(inputs)
    drawing = read_drawing(document, scope, reader.section("draw"))
    run, sweep, asked = reader.run(), reader.sweep(), reader.analyses()
    document.raise_problems()
    values = {sp.Symbol(n): FrozenValue(v) if n in scope.fixed else v for n, v in parameters.items()}
    made = parts.mechanism(values | inputs, constraints, raw.get("name", ""))
    document.raise_problems()
    assert made is not None
    drawing = joined(document, made.drawing, drawing)
    start = parts.start(made, run.begin)
    units = reader.units()
    return ModelFile(made.system, start, run, events, drawing, units, mechanism=made, sweep=sweep, analyses=asked)


def require_size(reader: Reader, coordinates: Mapping[str, Path]) -> None:
    """Refuse a mechanism whose equations would take minutes and gigabytes to write."""
    if len(coordinates) > MOST_COORDINATES:
        message = f"the bodies and joints have {len(coordinates)} coordinates, more than {MOST_COORDINATES}"
        reader.document.of(("bodies",), message, "a body in space has seven, one in the plane three")
        reader.document.raise_problems()


def require_bodies(reader: Reader) -> None:
    """Note parts of a mechanism without bodies, and descriptions of the other sort beside them."""
    document, raw = reader.document, reader.document.data
    if not raw.get("bodies"):
        there = (
            "bodies"
            if "bodies" in raw
            else next(key for key in raw if key in (*PART_TABLES, "gravity", "scenery", "start"))
        )
        document.of((there,), "there are no bodies", "write [bodies.NAME], then mass = … and inertia = …")
    for key in ENERGETIC:
        if key in raw:
            hint = "bodies have coordinates and energies of their own"
            if key in ("forces", "nonideal"):
                hint = 'write [elements.NAME] with kind = "force", "actuator" or "joint-friction"'
            document.of((key,), f"[{key}] and [bodies] do not go together", hint, key=True)
