"""The sections and keys of a model file, in one table: the reader, `zwang schema` and the documentation follow it."""

import re
from dataclasses import replace
from typing import Any

from zwang.engines.registry import AUTO, LOOSEST, TIGHTEST, methods
from zwang.files.analyses.registry import ANALYSES
from zwang.files.analyses.types import ASKED_TYPES
from zwang.files.part_table import BODIES, ELEMENTS, JOINTS, SOLIDS, SPRING
from zwang.files.table_types import Key, Kind, Section
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.files.value_types import TYPES as PLAIN_TYPES
from zwang.formulations.forms import DEFAULT, integrable
from zwang.model.contact_law import CONTACTS, IMPACTS, SPLITS
from zwang.model.signal import INTERPOLATIONS, OUTSIDE
from zwang.model.solids import COLORS
from zwang.words import quoted

TYPES = PLAIN_TYPES | ASKED_TYPES
MOST_ENTRIES = 2000  # of one section
MOST_PARTS = 4000  # of one kind in a mechanism: bodies, joints, springs, elements; as many as repeated ones
DIRECTIONS = {"up": 1, "down": -1, "both": 0}
RESET = Key("reset", "guess", "where the state jumps to there: coordinates and rates by what they were before")
REPEATED = Key("for", "indices", "over which indices it is repeated, both ends included")
NUMBER = re.compile(r"\s*[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
LONGEST_LABEL = 80  # the name of a constraint


TOP = (
    Key("name", "text", "what the system is called", ""),
    Key("description", "text", "what the model is about, in one or more sentences", ""),
)

FORCE = (
    Key("force", "expression", "along each of repeated coordinates"),
    Key("for", "indices", "over which indices, both ends included"),
)

SECTIONS = (
    Section("counts", "whole numbers with names, for indices and in expressions", short="whole number", named=True),
    Section("parameters", "numbers with names; \"?\" for one that is given later", short="constant", named=True),
    Section("definitions", "expressions with names, for use in other expressions; x' is the rate of x",
            short="expression", named=True),
    Section(
        "coordinates",
        "the coordinates, in their order; a number or an expression is short for { start = … }",
        keys=(
            Key("start", "expression", "value at the start, of parameters", 0),
            Key("rate", "expression", "rate at the start, of parameters", 0),
            Key("unit", "text", "unit, a label for tables and axes", ""),
            REPEATED,
        ),
        short="expression",
        named=True,
    ),
    Section(
        "energy",
        "energies, for Lagrange's equations",
        keys=(
            Key("kinetic", "energy", "kinetic energy T, quadratic in the rates"),
            Key("potential", "energy", "potential energy V, free of rates", 0),
        ),
    ),
    Section(
        "mass",
        "a mass matrix in place of energies; [forces] are then the whole right-hand side Q",
        keys=(Key("matrix", "matrix", "M, a row a coordinate"),),
    ),
    Section("bodies", "bodies, in place of coordinates and energies; each has coordinates of its own", named=True,
            kinds=BODIES),
    Section("joints", "what joins the bodies, and what drives and couples the joints", named=True, kinds=JOINTS),
    Section("gravity", "on every body", keys=(Key("acceleration", "point", "in world axes", of="time"),)),
    Section("springs", "springs and dampers between points of bodies", named=True, kinds=(SPRING,)),
    Section("elements", "what else acts on the bodies", named=True, kinds=ELEMENTS),
    Section("start", "where a model of bodies starts: coordinates and rates, in place of what [bodies] says",
            short="number", named=True),
    Section("scenery", "what stands around, for the picture", keys=(replace(SOLIDS, meaning="in world axes"),)),
    Section("forces", "generalized force along a coordinate", keys=FORCE, short="expression", named=True),
    Section("nonideal", "nonideal force C of constraint along a coordinate; may use multiplier(rod)", keys=FORCE,
            short="expression", named=True),
    Section(
        "inputs",
        "known functions of time: an expression in t and parameters, or a table of points",
        keys=(
            Key("file", "text", "a CSV file beside the model, with a line of column names"),
            Key("time", "text", "the column of times", "t"),
            Key("value", "text", "the column of values", "u"),
            Key("times", "numbers", "times, in place of a file"),
            Key("values", "numbers", "a value a time, in place of a file"),
            Key("kind", "text", "straight lines or a spline between the points", "linear", INTERPOLATIONS),
            Key("outside", "text", "what holds before the first and after the last time", "hold", OUTSIDE),
        ),
        short="input",
        named=True,
    ),
    Section(
        "constraints",
        "what the motion must obey: left = right, or >=, or <=; text is short for { rule = … }",
        keys=(
            Key("rule", "relation", "left = right, or >=, or <=, which makes it a contact"),
            Key("restitution", "expression", "of impacts, from 0 (plastic) to 1 (elastic), of parameters", 0),
            Key("friction", "one or two", "the coefficient of friction, or those of sticking and of sliding", 0),
            Key("slip", "one or two", "the speed at which the surfaces rub; in space, two speeds"),
            REPEATED,
        ),
        short="relation",
        named=True,
    ),
    Section(
        "events",
        "instants to find along the motion, where left = right; text is short for { when = … }",
        keys=(
            Key("when", "relation", "left = right; multiplier(rod) and constraint_force(x) may be used"),
            Key("direction", "text", "whether left − right rises (up) or falls (down)", "both", tuple(DIRECTIONS)),
            Key("stop", "truth", "whether the motion ends there", False),
            RESET,
        ),
        short="relation",
        named=True,
    ),
    Section(
        "units",
        "labels for tables and axes; they never multiply anything",
        keys=(Key("time", "text", "unit of time", ""), Key("energy", "text", "unit of energy", "")),
    ),
    Section(
        "run",
        "how to simulate",
        keys=(
            Key("until", "number", "when the motion ends"),
            Key("samples", "count", "how many instants are saved, both ends included", 201),
            Key("begin", "number", "when it begins", 0.0),
            Key("tol", "number", f"bound of the error of a step, {TIGHTEST:g} to {LOOSEST:g}", 1e-12),
            Key("max_step", "number", "the longest step; a 20th of the motion without it"),
            Key("method", "text", "the engine", AUTO, methods()),
            Key("form", "text", "the equation that is integrated", DEFAULT, integrable()),
            Key("impacts", "text", "the law of impacts with several contacts", "moreau", IMPACTS),
            Key("split", "text", "what is done where how contacts share a load decides", "compliant", SPLITS),
            Key("contacts", "text", "how contacts are followed: as events, or by steps", "events", CONTACTS),
            Key("step", "number", "the length of these steps"),
            Key("drift", "drift", "what is done about constraints drifting away", "none"),
            Key("assemble", "truth", "whether the start is brought onto its constraints first", False),
        ),
    ),
    Section("sweep", "parameters to vary in `zwang sweep`: \"from:to:count\" or a list of values", short="range",
            named=True),
    *(kind.section for kind in ANALYSES.values()),
    Section(
        "draw",
        "what to draw: each entry is a point, a line, a circle or a body, in the plane or in space, or a solid",
        keys=(
            Key("point", "point", "a point: two or three expressions"),
            Key("line", "points", "a line through two or more points"),
            Key("circle", "point", "the centre of a circle"),
            Key("radius", "expression", "its radius"),
            Key("normal", "point", "its normal, in space"),
            Key("body", "points", "the outline of a body, in its own axes: three or more points"),
            Key("solid", "solid", "a box, a sphere, …, in space"),
            Key("at", "point", "where the origin of the body or solid is"),
            Key("angle", "expression", "how far the body is turned, in the plane", 0),
            Key("orientation", "orientation", "how the body or solid is turned, in space: a unit quaternion, scalar "
                "first; of a solid also a 3×3 matrix"),
            Key("color", "text", f"#rrggbb or one of {', '.join(COLORS)}", ""),
            Key("trail", "truth", "whether the path of the (first) point is drawn", False),
        ),
        named=True,
    ),
)  # fmt: skip


def check(document: Document) -> None:
    """Note every key that is unknown and every value of a wrong type; what is wrong is dropped from the data."""
    known = {key.name: key for key in TOP}
    sections = {section.name: section for section in SECTIONS}
    for name, value in list(document.data.items()):
        if name in known:
            valid = fits(document, (name,), value, known[name])
        elif name in sections:
            valid = check_section(document, sections[name], value)
        else:
            valid = False
            what = "section" if isinstance(value, dict) else "key"
            meant = document.meant(name, [*known, *sections])
            there = f"there are {', '.join(f'[{s}]' if s in sections else s for s in [*known, *sections])}"
            message = f"unknown {what} {quoted(name)}{meant}"
            document.of((name,), message, "" if meant else there, key=True)
        if not valid:
            del document.data[name]


def check_section(document: Document, section: Section, value: Any) -> bool:
    """Whether a section is a table; its wrong entries are dropped."""
    path = (section.name,)
    if not isinstance(value, dict):
        document.of(path, f"{section.name} is a section, not a value", f"write [{section.name}] in a line of its own")
        return False
    most = MOST_PARTS if section.kinds else MOST_ENTRIES
    if section.named and len(value) > most:
        document.of(path, f"[{section.name}] has {len(value)} entries, more than {most}")
        return False
    keys = {key.name: key for key in section.keys}
    for name, entry in list(value.items()):
        if not section.named:
            valid = check_key(document, (*path, name), entry, keys, f"[{section.name}]")
        elif section.kinds:
            valid = check_part(document, (*path, name), entry, section)
        elif isinstance(entry, dict):
            valid = check_table(document, (*path, name), entry, section)
        else:
            valid = check_short(document, (*path, name), entry, section)
        if not valid:
            del value[name]
    return True


def check_key(document: Document, path: Path, value: Any, keys: dict[str, Key], where: str) -> bool:
    """Whether a key is known and its value of the right type."""
    name = str(path[-1])
    if name not in keys:
        document.of(
            path,
            f"unknown key {quoted(name)} in {where}{document.meant(name, keys)}",
            f"there {'is' if len(keys) == 1 else 'are'} {', '.join(keys)}",
            key=True,
        )
        return False
    return fits(document, path, value, keys[name])


def check_table(document: Document, path: Path, entry: dict[str, Any], section: Section) -> bool:
    """Whether a named entry may be a table, and is a right one."""
    name = str(path[-1])
    dotted = any(p.dotted for key in entry if (p := document.places.get((*path, key))) is not None)
    if dotted and not all(key in {k.name for k in section.keys} for key in entry):
        inner = next(iter(entry))
        document.of(path, f"a name with a dot in [{section.name}]", f'put it in quotes: "{name}.{inner}" = …', key=True)
        return False
    if not section.keys:
        document.of(path, f"{quoted(name)} is a table, but {TYPES[section.short].words} is meant")
        return False
    keys = {key.name: key for key in section.keys}
    right = [check_key(document, (*path, key), value, keys, quoted(name)) for key, value in entry.items()]
    return all(right)


def check_part(document: Document, path: Path, entry: Any, section: Section) -> bool:
    """Whether an entry is a part of a mechanism: of a known kind, with the keys that this kind takes."""
    name = str(path[-1])
    if not isinstance(entry, dict):
        document.of(path, f"{quoted(name)} is not a table", f"write [{section.name}.{name}], then its keys")
        return False
    kind = kind_of(section, entry)
    if kind is None:
        refuse_kind(document, path, entry, section)
        return False
    keys = {"kind": Key("kind", "text", "what it is"), REPEATED.name: REPEATED} | {key.name: key for key in kind.keys}
    where = f"{quoted(name)}, of kind {kind.name}"
    right = [check_key(document, (*path, key), value, keys, where) for key, value in entry.items()]
    for key in kind.needed:
        if key.name not in entry:
            hint = f"{key.name} = {TYPES[key.type].words}: {key.meaning}"
            if section.name == "bodies" and key.name == "inertia":
                hint += '; a point mass says kind = "particle"'
            document.of(path, f"{quoted(name)} has no {key.name}, which the kind {kind.name} needs", hint, key=True)
            right.append(False)
    return all(right)


def kind_of(section: Section, entry: dict[str, Any]) -> Kind | None:
    """The kind of a part: as it says; a body that does not say is one in the plane if it has one moment of inertia."""
    said = entry.get("kind")
    if said is None and section.name == "bodies":
        said = "body" if isinstance(entry.get("inertia", []), list) else "planar"
    if said is None and len(section.kinds) == 1:
        return section.kinds[0]
    return next((kind for kind in section.kinds if said in kind.names), None)


def refuse_kind(document: Document, path: Path, entry: dict[str, Any], section: Section) -> None:
    """Note a part whose kind is missing or unknown."""
    names = [kind.name for kind in section.kinds]
    there = f"choose {', '.join(names)}"
    if "kind" not in entry:
        document.of(path, f"{quoted(str(path[-1]))} does not say its kind", there, key=True)
    elif not isinstance(said := entry["kind"], str):
        fits(document, (*path, "kind"), said, Key("kind", "text", ""))
    else:
        meant = document.meant(said, [*names, *(kind.part for kind in section.kinds)])
        document.of((*path, "kind"), f"the kind {quoted(said)} is unknown in [{section.name}]{meant}", there)


def check_short(document: Document, path: Path, entry: Any, section: Section) -> bool:
    """Whether a named entry that is not a table is of the right type."""
    if not section.short:
        keys = ", ".join(key.name for key in section.keys[:6])
        document.of(path, f"{quoted(str(path[-1]))} is not a table", f"write {{ … }} with keys such as {keys}")
        return False
    return fits(document, path, entry, Key(str(path[-1]), section.short, ""))


def fits(document: Document, path: Path, value: Any, key: Key) -> bool:
    """Whether a value is of a key's type and among its choices."""
    wrong = TYPES[key.type].check(value)
    for inner, message in wrong[:5]:
        document.of((*path, *inner), f"{quoted(key.name)}: {message}", value_hint(key, value))
    if not wrong and key.choices and value not in key.choices:
        document.of(
            path,
            f"{quoted(key.name)} = {quoted(value)} is unknown{document.meant(value, key.choices)}",
            f"choose {', '.join(key.choices)}",
        )
        return False
    return not wrong


def value_hint(key: Key, value: Any) -> str:
    """What may have been meant by a value of a wrong type: a number in quotes, or numbers with decimal commas."""
    if key.type in ("number", "count") and isinstance(value, str) and (number := NUMBER.match(value)):
        return f"write {key.name} = {number.group()}"
    if key.type == "count" and isinstance(value, float) and value.is_integer():
        return f"write {key.name} = {int(value)}"
    if isinstance(value, list) and value and len(value) % 2 == 0 and all(type(entry) is int for entry in value):
        pairs = [f"{whole}.{abs(rest)}" for whole, rest in zip(value[::2], value[1::2], strict=True)]
        return f"if these are decimal commas, write [{', '.join(pairs)}]"
    return ""


def json_schema() -> dict[str, Any]:
    """The same as a JSON Schema (draft 2020-12), for editors that complete and check TOML.

    >>> sorted(json_schema()["properties"])[:3]
    ['bodies', 'constraints', 'coordinates']
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "zwang model file",
        "type": "object",
        "properties": {key.name: key_schema(key) for key in TOP} | {s.name: section_schema(s) for s in SECTIONS},
        "anyOf": [{"required": ["coordinates"]}, {"required": ["bodies"]}],
        "additionalProperties": False,
        "$defs": {name: kind.schema for name, kind in TYPES.items()},
    }


def key_schema(key: Key) -> dict[str, Any]:
    """One key in JSON Schema."""
    schema: dict[str, Any] = {"description": key.meaning, "$ref": f"#/$defs/{key.type}"}
    if key.default is not None:
        schema["default"] = list(key.default) if isinstance(key.default, tuple) else key.default
    if key.choices:
        schema["enum"] = list(key.choices)
    return schema


def section_schema(section: Section) -> dict[str, Any]:
    """One section in JSON Schema."""
    properties = {key.name: key_schema(key) for key in section.keys}
    table: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if not section.named:
        return {"description": section.meaning, **table}
    forms = [{"$ref": f"#/$defs/{section.short}"}] if section.short else []
    entry = [kind_schema(kind, section) for kind in section.kinds] or ([*forms, table] if section.keys else forms)
    return {
        "description": section.meaning,
        "type": "object",
        "maxProperties": MOST_PARTS if section.kinds else MOST_ENTRIES,
        "additionalProperties": entry[0] if len(entry) == 1 else {"anyOf": entry},
    }


def kind_schema(kind: Kind, section: Section) -> dict[str, Any]:
    """One kind of part in JSON Schema."""
    properties = {"kind": {"description": kind.meaning, "enum": list(kind.names)}}
    needed = [key.name for key in kind.needed]
    silent = len(section.kinds) == 1 or kind.part in ("Body", "PlanarBody")
    return {
        "type": "object",
        "properties": properties | {key.name: key_schema(key) for key in (*kind.keys, REPEATED)},
        "required": needed if silent else ["kind", *needed],
        "additionalProperties": False,
    }
