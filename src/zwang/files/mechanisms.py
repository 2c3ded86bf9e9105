"""Bodies, joints and force elements of a model file to a mechanism."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang import multibody as mb
from zwang.errors import InputError, ModelError, ZwangError
from zwang.files.argument_values import Values, Wrong, dependence, found_names, texts_in
from zwang.files.language.build import Built, plain
from zwang.files.language.names import without_index, wrong_name
from zwang.files.language.scope import Scope
from zwang.files.mistakes import in_file_words, place_of_part
from zwang.files.part_table import LATER
from zwang.files.repeated_parts import PART_TABLES, SECTION, Part, entries, parts_in
from zwang.files.table_types import Kind
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.model.state import place_of
from zwang.model.symbols import as_scalar, t
from zwang.multibody.body import MassBody, Moving
from zwang.multibody.joint import Joint
from zwang.words import quoted

GRAVITY = next(key for key in SECTION["gravity"].keys if key.name == "acceleration")
# The coordinates of a body; of one whose kind is unknown there may be any of them.
COORDINATES = {"Body": "x y z q0 q1 q2 q3", "PlanarBody": "x y angle", "Particle": "x y z", "Moving": ""}


def coordinate_paths(data: Mapping[str, Any]) -> dict[str, Path]:
    """The coordinates that bodies and joints have, and whose they are, as the file says before anything is checked."""
    found: dict[str, Path] = {}
    for body in parts_in(data, "bodies"):
        kind = body.kind
        suffixes = "x y z angle q0 q1 q2 q3" if kind is None else COORDINATES[kind.part]
        if kind is not None and kind.part == "Particle" and isinstance(at := body.entry.get("position"), list):
            suffixes = "x y z" if len(at) == 3 else "x y"
        found |= {f"{body.name}.{suffix}": body.path for suffix in suffixes.split()}
    for joint in parts_in(data, "joints"):
        kind = joint.kind
        if kind is not None and kind.part == "PointOnCurve":
            found[f"{joint.name}.s"] = joint.path
        steps = joint.entry.get("steps") if kind is not None and kind.part == "Series" else None
        for step in steps if isinstance(steps, list) else ():
            if isinstance(step, dict) and isinstance(word := step.get("name"), str):
                found[f"{joint.name}.{word}"] = joint.path
    return found


def place_names(data: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[str]:
    """The names that places, directions and starts depend on, those in definitions included."""
    wanted: set[str] = set()
    for section in PART_TABLES:
        for part in entries(data, section):
            for key in part.kind.keys if part.kind is not None else ():
                if key.name in part.entry and dependence(key, part.entry[key.name], part.entry) == "number":
                    wanted.update(*map(found_names, texts_in(part.entry[key.name])))
    wanted.update(*map(found_names, texts_in(data.get("scenery"))))
    todo = list(wanted)
    while todo:
        text = definitions.get(todo.pop())
        new = found_names(text) - wanted if isinstance(text, str) else set()
        wanted |= new
        todo += new
    return wanted


def fixed_values(names: set[str], parameters: Mapping[str, Any]) -> dict[str, Built]:
    """The parameters that stand for their values, because places depend on them."""
    found = {}
    for name in parameters:
        value = parameters[name]
        if name in names and value is not None:
            built = Built(value, float(value)) if isinstance(value, sp.Expr) else plain(value)
            found[name] = Built(built.expr, built.value, uses=frozenset(["parameter"]))
    return found


class MechanismReader:
    """Makes the parts of a mechanism; every mistake is noted at its place."""

    def __init__(self, document: Document, scope: Scope, names: Mapping[str, list[str]], values: Any) -> None:
        self.document, self.scope = document, scope
        self.names = names
        self.numbers = {sp.Symbol(n): as_scalar(v) for n, v in values.items() if v is not None}
        self.values = Values(document, scope)
        self.forces: dict[str, Any] = {}
        self.refused: set[Path] = set()
        self.scenery: tuple[Any, ...] = ()

    def read(self, definitions: Mapping[str, Any]) -> None:
        """Bodies, then joints, then what refers to joints, then force elements."""
        self.check_names()
        bodies, joints = self.values.bodies, self.values.joints
        bodies |= {"ground": mb.ground} | dict.fromkeys(self.known("bodies"))
        joints |= dict.fromkeys(self.known("joints"))
        for body in parts_in(self.document.data, "bodies"):
            bodies[body.name] = self.part(body)
        self.require_motions()
        self.scope.quantities |= {name: partial(velocities, b) for name, b in bodies.items() if isinstance(b, MassBody)}
        self.scope.freedoms = dict.fromkeys(joints)
        listed = list(parts_in(self.document.data, "joints"))
        for later in (False, True):
            for joint in listed:
                if joint.kind is not None and later == any(key.type in LATER for key in joint.kind.needed):
                    joints[joint.name] = made = self.part(joint)
                    self.scope.freedoms[joint.name] = None if made is None else partial(freedoms, made)
            self.scope.define(dict(definitions))
        self.gravity()
        self.surround()
        for section in ("springs", "elements"):
            for force in parts_in(self.document.data, section):
                if force.name in self.forces:
                    message = f"{quoted(force.name)} is a force element twice"
                    self.document.of(force.path, message, "choose another name", key=True)
                self.forces[force.name] = self.part(force)

    def known(self, section: str) -> list[str]:
        """The names of the parts of a section, those that are wrong included; members in place of a repeated entry."""
        there = {whole.name for whole in entries(self.document.data, section)}
        wrong = [name for name in self.names.get(section, ()) if name not in there]
        return [*wrong, *(part.name for part in parts_in(self.document.data, section))]

    def check_names(self) -> None:
        """Note names that no part can have."""
        for section in PART_TABLES:
            for name in self.names.get(section, ()):
                wrong = wrong_name(without_index(name)) or ("has a dot" if "." in name else "")
                if name == "ground":
                    wrong = "is taken: it is the ground"
                if wrong:
                    self.document.of((section, name), f"the name {quoted(name)} {wrong}", key=True)

    def part(self, part: Part) -> Any:
        """A part of its kind, or None where something is wrong with it; of a repeated entry that is told once.

        What its class refuses is refused with the parameters' values too: a mass "m" where m is negative.
        """
        path, kind = part.path, part.kind
        if kind is None or path in self.refused:
            return None
        before = len(self.document.problems)
        with self.scope.repeats.member(part.at):
            made = self.made(part, kind)
        if part.at and len(self.document.problems) > before:
            self.refused.add(path)
        return made

    def made(self, part: Part, kind: Kind) -> Any:
        """A part of a kind, or None where something is wrong with it."""
        path, arguments = part.path, self.values.of(part.path, kind, part.entry)
        if arguments is None:
            return None
        make = getattr(mb, kind.part)
        if any(key.name == "first" for key in kind.further):
            arguments.setdefault("first", mb.ground)
        try:
            with_values = numbered(arguments, self.numbers)
            if with_values != arguments:
                make(part.name, **with_values)
            return make(part.name, **arguments)
        except InputError as error:
            self.blame(path, error)
        except (ArithmeticError, ValueError, TypeError, np.linalg.LinAlgError) as error:
            words = f"{quoted(part.name)} has no meaning with these numbers ({error})"
            self.document.of(path, words, "every number of a part is real and of bearable size")
        except Exception as error:
            self.document.trouble(path, error)
        return None

    def blame(self, path: Path, error: InputError) -> None:
        """Note what a part's class refuses, at the key of the argument that is wrong."""
        for mistake in error.mistakes:
            self.document.of((*path, *mistake.where), in_file_words(mistake))

    def require_motions(self) -> None:
        """Note prescribed motions that do not fit the dimension in which the other bodies live."""
        bodies = self.values.bodies
        size = next((b.dimension for b in bodies.values() if isinstance(b, MassBody)), 3)
        for name, body in bodies.items():
            if isinstance(body, Moving):
                try:
                    body.pose(size)
                except InputError as error:
                    self.blame(("bodies", name), error)
                    bodies[name] = None
                except Exception as error:
                    self.document.trouble(("bodies", name), error)
                    bodies[name] = None

    def gravity(self) -> None:
        """Gravity, where it is given."""
        section = self.document.data.get("gravity")
        if section is None:
            return
        if "acceleration" not in section:
            self.document.of(("gravity",), "[gravity] has no acceleration", "write acceleration = [0, -9.81]")
            return
        try:
            given = self.values.nested(("gravity", "acceleration"), section["acceleration"], GRAVITY.of)
            self.forces["gravity"] = mb.Gravity(given)
        except Wrong:
            self.forces["gravity"] = None

    def surround(self) -> None:
        """What stands around, where it is given."""
        given = self.document.data.get("scenery", {}).get("solids", ())
        with suppress(Wrong):
            self.scenery = self.values.solids(("scenery", "solids"), given)

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the conditions of bodies and joints."""
        bodies = [f"{b.name}.{row}" for b in self.values.bodies.values() for row in getattr(b, "conditions", ())]
        return (*bodies, *(row for j in self.values.joints.values() if j for row in j.row_names))

    def mechanism(
        self, parameters: Mapping[Any, Any], constraints: Mapping[str, Any], name: str
    ) -> mb.Mechanism | None:
        """The mechanism with its system; mistakes that they find themselves are located."""
        bodies = [body for body in self.values.bodies.values() if body is not mb.ground]
        try:
            made = mb.Mechanism(bodies, [*self.values.joints.values()], [*self.forces.values()], parameters, name,
                             constraints, self.scenery, self.document.data.get("start", {}))  # fmt: skip
            for key in made.initial:
                if place_of(made.system, key) is None:
                    known = list(made.system.coordinate_names)
                    words = f"{quoted(key)} is not a coordinate or rate{self.document.meant(key, known)}"
                    self.document.of(("start", key), words, 'write "rod.x" = 1 or "rod.x\'" = 1', key=True)
            _ = made.system, made.drawing
            return made
        except (ModelError, InputError) as error:
            self.note(error)
        except Exception as error:
            self.document.trouble(("bodies",), error)
        return None

    def start(self, mechanism: mb.Mechanism, time: float) -> dict[sp.Expr, Any]:
        """Where the mechanism starts: put together, where every parameter has a value."""
        system = mechanism.system
        given = system.parameters
        if any(given.get(s) is None for s in (*system.symbols, *system.inputs)):
            return dict(mechanism.guess)
        try:
            with np.errstate(all="ignore"):  # masses of 1e200 overflow: then it cannot be put together
                return dict(mechanism.assembled(t=time))
        except ZwangError as error:
            self.note(error, "mend the places of bodies and joints, or what they must obey")
        except (np.linalg.LinAlgError, ArithmeticError, ValueError) as error:
            self.note(
                ZwangError(f"the mechanism cannot be put together with these numbers ({error})"),
                "mend masses, places and forces that are out of all proportion",
            )
        return {}

    def note(self, error: ZwangError, hint: str = "") -> None:
        """Note what a mechanism says of itself, at the part that it is about."""
        for mistake in error.mistakes:
            self.document.of(place_of_part(mistake, self.document.data), in_file_words(mistake), hint)


def numbered(given: Any, numbers: Mapping[sp.Expr, Any]) -> Any:
    """Arguments with the values of parameters in them."""
    if isinstance(given, tuple):
        return tuple(numbered(inner, numbers) for inner in given)
    if isinstance(given, dict):
        return {key: numbered(inner, numbers) for key, inner in given.items()}
    return given.xreplace(numbers) if isinstance(given, sp.Expr) else given


def freedoms(joint: Any) -> dict[str, tuple[Built, Built]]:
    """A joint's coordinates and their rates, for use in expressions."""
    found = joint.freedoms if isinstance(joint, Joint) else {}
    return {
        name: (weighed(f.reading, "coordinate"), weighed(f.rate, "coordinate", "rate")) for name, f in found.items()
    }


def velocities(body: MassBody) -> dict[str, Built]:
    """A body's velocities, for use in expressions: omega_x in world axes, omega_1 and v_1 in its own."""
    d = body.dimension
    found = {f"v_{i + 1}": e for i, e in enumerate(body.point_velocity((0,) * d, frame="body"))}
    if d == 3 and not isinstance(body, mb.Particle):
        found |= {f"omega_{axis}": e for axis, e in zip("xyz", body.angular_rate(), strict=True)}
        found |= {f"omega_{i + 1}": e for i, e in enumerate(body.angular_rate(frame="body"))}
    return {name: weighed(e, "coordinate", "rate") for name, e in found.items()}


def weighed(expr: Any, *uses: str) -> Built:
    """An expression of the mechanism's own, with its size; its depth is not limited, as the file did not write it."""
    expr = as_scalar(expr)
    still = expr.xreplace({f: sp.Dummy() for f in expr.atoms(AppliedUndef, sp.Derivative)})
    kinds = {*uses, "parameter"} | ({"time"} if t in still.free_symbols else set())
    return Built(expr, size=sum(1 for _ in sp.preorder_traversal(expr)), uses=frozenset(kinds))
