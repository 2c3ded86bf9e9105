"""Mechanisms to model files: bodies, joints and force elements as the tables that describe them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
import sympy as sp

from zwang import multibody as mb
from zwang.errors import InputError
from zwang.files.language.names import without_index, wrong_name
from zwang.files.part_table import BODIES, ELEMENTS, JOINTS
from zwang.files.table_types import Key
from zwang.files.writing.values import constraint_text, inline, key, section, toml_text, written
from zwang.model import Constraint
from zwang.model.signal import Signal
from zwang.model.solids import Solid
from zwang.model.symbols import as_scalar
from zwang.multibody.body import AnyBody, Ground
from zwang.multibody.element import ForceElement

SECTIONS = {"bodies": BODIES, "joints": JOINTS, "elements": ELEMENTS}
WHAT = {"bodies": "body", "joints": "joint", "elements": "force element"}
OWN_NAMES = {mb.length: sp.Symbol("length"), mb.rate: sp.Symbol("rate"), mb.start: sp.Symbol("start")}


def part_sections(mechanism: mb.Mechanism) -> Iterator[list[str]]:
    """The sections of a mechanism's parts, as lines; what model files do not know is refused by name."""
    yield from (part_lines("bodies", body, mechanism) for body in all_bodies(mechanism))
    yield from (part_lines("joints", j, mechanism) for j in mechanism.joints if not is_one_sided(mechanism, j))
    uniform = [f for f in mechanism.forces if type(f) is mb.Gravity]
    if uniform:
        total = [sp.Add(*map(as_scalar, parts)) for parts in zip(*(f.acceleration for f in uniform), strict=True)]
        yield section("gravity", {"acceleration": nested(total, "gravity")})
    yield from (part_lines("elements", f, mechanism) for f in mechanism.forces if type(f) is not mb.Gravity)
    if mechanism.scenery:
        yield section("scenery", {"solids": solids(mechanism.scenery, "scenery")})


def all_bodies(mechanism: mb.Mechanism) -> tuple[AnyBody, ...]:
    """The bodies that are listed, and those with prescribed motion that joints and forces name."""
    named = [*(b for j in mechanism.joints for b in j.bodies), *(b for f in mechanism.forces for b in f.bodies)]
    return tuple(b for b in dict.fromkeys([*mechanism.bodies, *named]) if not isinstance(b, Ground))


def one_sided_conditions(mechanism: mb.Mechanism) -> list[Constraint]:
    """The constraints of conditions that are one-sided: a model file has them among the constraints."""
    rows = {row for j in mechanism.joints if is_one_sided(mechanism, j) for row in mechanism.rows[j.name]}
    return [c for c in mechanism.system.constraints if c.name in rows]


def is_one_sided(mechanism: mb.Mechanism, joint: Any) -> bool:
    """Whether a condition asks for an inequality."""
    rows = mechanism.rows[joint.name] if isinstance(joint, mb.Condition) else ()
    return any(c.one_sided for c in mechanism.system.constraints if c.name in rows)


def part_lines(where: str, part: Any, mechanism: mb.Mechanism) -> list[str]:
    """A part as a table of its own: its kind, and every argument that is not the usual one."""
    kind = next((k for k in SECTIONS[where] if getattr(mb, k.part) is type(part)), None)
    who = f"{WHAT[where]} {part.name!r}"
    if kind is None:
        raise InputError(f"{who} is a {type(part).__name__}, which a model file does not know")
    wrong = wrong_name(without_index(part.name)) or ("has a dot" * ("." in part.name))
    if wrong:
        raise InputError(f"the name of {who} {wrong}: a model file cannot have it, rename it")
    usual = {f.name: f.default if f.default is not MISSING else None for f in fields(part)}
    entries = {"kind": toml_text(kind.name)}
    for k in sorted(kind.keys, key=lambda k: k.name != "first"):
        given = getattr(part, k.name)
        if not (is_usual(given, usual[k.name]) or (k.name == "first" and isinstance(given, Ground))):
            entries[k.name] = value_of(part, mechanism, k, given, f"{k.name} of {who}")
    return [f"[{where}.{key(part.name)}]", *(f"{name} = {value}" for name, value in entries.items())]


def is_usual(given: Any, usual: Any) -> bool:
    """Whether an argument is what it would be if it were not given."""
    if given is None or given is usual:
        return True
    if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str):
        return isinstance(usual, tuple) and len(given) == len(usual) and all(map(is_usual, given, usual))
    return bool(isinstance(given, int | float | str | bool) and isinstance(usual, int | float | str) and given == usual)


def value_of(part: Any, mechanism: mb.Mechanism, k: Key, given: Any, who: str) -> str:
    """The value of a key as TOML."""
    writers: dict[str, Callable[[], str]] = {
        "text": lambda: toml_text(given),
        "truth": lambda: str(bool(given)).lower(),
        "body": lambda: toml_text(given.name),
        "joint": lambda: toml_text(given.name),
        "selection": lambda: toml_text(selection(given)),
        "name": lambda: toml_text(str(given)),
        "names": lambda: f"[{', '.join(toml_text(str(name)) for name in given)}]",
        "factors": lambda: inline({selection(j): nested(f, who) for j, f in given.items()}),
        "conditions": lambda: conditions(part, mechanism),
        "steps": lambda: f"[{', '.join(step(s, who) for s in given)}]",
        "solids": lambda: solids(given, who),
    }
    if k.type in writers:
        return writers[k.type]()
    if isinstance(part, ForceElement) and part.inputs:  # signals stand there by the names of their inputs
        names = dict(zip(map(id, part.inputs.values()), part.inputs, strict=True))
        given = with_inputs(given, names)
    return nested(given, who)


def with_inputs(given: Any, names: Mapping[int, sp.Expr]) -> Any:
    """An argument with the known functions of time in place of their signals."""
    if isinstance(given, Signal):
        return names[id(given)]
    if isinstance(given, Sequence) and not isinstance(given, str):
        return tuple(with_inputs(inner, names) for inner in given)
    return given


def nested(given: Any, who: str) -> str:
    """A number or expression, or a list of such."""
    if isinstance(given, Sequence | np.ndarray) and np.ndim(np.asarray(given, dtype=object)) > 0:
        return f"[{', '.join(nested(inner, who) for inner in given)}]"
    return written(as_scalar(given).xreplace(OWN_NAMES), who)


def selection(given: Any) -> str:
    """A joint, or a joint's coordinate."""
    joint, coordinate = given if isinstance(given, tuple) else (given, None)
    return joint.name if coordinate is None else f"{joint.name}.{coordinate}"


def conditions(part: mb.Condition, mechanism: mb.Mechanism) -> str:
    """One condition, or several by name."""
    asked = {c.name: constraint_text(c) for c in mechanism.system.constraints}
    texts = {suffix: asked[f"{part.name}.{suffix}"] for suffix in part.asked}
    return inline(texts) if isinstance(part.expressions, Mapping) else next(iter(texts.values()))


def step(given: mb.Step, who: str) -> str:
    """A step of a series."""
    entries = {"name": toml_text(given.name), "kind": toml_text(given.kind), "axis": nested(given.axis, who)}
    for f in fields(given)[3:]:
        value = getattr(given, f.name)
        if not is_usual(value, f.default):
            entries[f.name] = nested(value, who)
    return inline(entries)


def solids(given: Sequence[Solid], who: str) -> str:
    """Solids of a body or of the scenery."""
    return f"[\n{''.join(f'  {solid(s, who)},{chr(10)}' for s in given)}]"


def solid(given: Solid, who: str) -> str:
    """One solid."""
    entries = {"kind": toml_text(given.kind)}
    for f in fields(given):
        value = getattr(given, f.name)
        if not is_usual(value, f.default):
            entries[f.name] = toml_text(value) if isinstance(value, str) else nested(value, who)
    return inline(entries)
