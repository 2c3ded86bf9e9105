"""The values of a part's keys: numbers where a place is meant, expressions elsewhere, bodies and joints by name."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.files.language.build import Built, scaled
from zwang.files.language.grammar import names_in
from zwang.files.language.names import wrong_name
from zwang.files.language.scope import Meaning, Scope
from zwang.files.language.uses import CONSTRAINT, FORCE, Use, use
from zwang.files.repetition import FOR
from zwang.files.table_types import Key, Kind
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.model.solids import SOLIDS, Solid
from zwang.words import quoted

OF: dict[str, Use] = {
    "number": use("a place, a direction or a start", "parameter"),
    "nothing": use("a solid of [draw], whose sizes are numbers"),
    "parameters": use("a constant of a part", "parameter"),
    "prescribed": use("a prescribed motion", "parameter", "time"),
    "time": use("what is known beforehand", "parameter", "time", "input"),
    "driven": use("what is known beforehand", "parameter", "time", "input", "local"),
    "motion": FORCE,
    "constraint": CONSTRAINT,
    "local": use("a curve or a surface", "parameter", "local"),
    "tension": use("the force of a spring", "parameter", "time", "input", "coordinate", "rate", "local"),
}
FARTHEST = 1e12  # numbers of a place or a start: beyond, nothing of the rest would be left beside them


class Wrong(Exception):
    """Raised where a value is wrong, after the problem has been noted."""


@dataclass
class Values:
    """Gives the keys of parts their values; `bodies` and `joints` fill as they are made, None for those that fail."""

    document: Document
    scope: Scope
    bodies: dict[str, Any] = field(default_factory=dict)
    joints: dict[str, Any] = field(default_factory=dict)

    def of(self, path: Path, kind: Kind, entry: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments that an entry gives to its class, or None where one of them is wrong."""
        known = {key.name: key for key in kind.keys}
        found, right = {}, True
        for name, given in entry.items():
            if name in ("kind", FOR):
                continue
            try:
                with self.locals_of(path, known[name], entry):
                    found[name] = self.value((*path, name), known[name], given, entry)
            except Wrong:
                right = False
        return found if right else None

    def value(self, path: Path, key: Key, given: Any, entry: Mapping[str, Any]) -> Any:
        """The value of one key."""
        simple: dict[str, Callable[[Path, Any], Any]] = {
            "text": lambda _, value: value,
            "truth": lambda _, value: value,
            "body": self.body,
            "joint": self.joint,
            "selection": self.selection,
            "name": self.name,
            "names": lambda path, names: tuple(self.name((*path, i), name) for i, name in enumerate(names)),
            "factors": self.factors,
            "conditions": self.conditions,
            "steps": self.steps,
            "solids": self.solids,
        }
        if key.type in simple:
            return simple[key.type](path, given)
        return self.nested(path, given, dependence(key, given, entry))

    def nested(self, path: Path, given: Any, of: str) -> Any:
        """An expression, or lists of them as tuples."""
        if isinstance(given, list):
            return tuple(each(lambda i: self.nested((*path, i), given[i], of), range(len(given))))
        built = self.scope.expression(path, given, OF[of])
        if built is None:
            raise Wrong
        return self.number(path, built) if of in ("number", "nothing") else built.expr

    def number(self, path: Path, built: Built) -> Any:
        """A number: exact if it is rational, else a float."""
        if built.expr.free_symbols:
            names = ", ".join(sorted(map(str, built.expr.free_symbols)))
            self.document.of(path, f"this must be a number, but {names} has no value", "give it one in [parameters]")
            raise Wrong
        if abs(float(built.expr)) > FARTHEST:
            self.document.of(path, f"{float(built.expr):g} is out of range: places and starts reach to {FARTHEST:g}")
            raise Wrong
        return built.expr if built.expr.is_Rational else float(built.expr)

    def body(self, path: Path, name: str) -> Any:
        """A body by its name."""
        return self.look_up(path, name, self.bodies, "body", "bodies")

    def joint(self, path: Path, name: str) -> Any:
        """A joint by its name; drivers and couplings are not joints, though they stand beside them."""
        from zwang.multibody.joint import Joint

        joint = self.look_up(path, name, self.joints, "joint", "joints")
        if not isinstance(joint, Joint):
            self.document.of(path, f"{quoted(name)} joins no bodies, so it has no coordinate", "name a joint that does")
            raise Wrong
        return joint

    def look_up(self, path: Path, name: str, known: Mapping[str, Any], what: str, many: str) -> Any:
        """A part by its name; `Wrong` where it is unknown, which is noted, or where it has a mistake of its own."""
        name = self.named(path, name)
        if name not in known:
            there = f"the {many} are {', '.join(list(known)[:20])}" if known else f"there are no {many}"
            self.document.of(path, f"there is no {what} {quoted(name)}{self.document.meant(name, known)}", there)
            raise Wrong
        if known[name] is None:
            raise Wrong
        return known[name]

    def named(self, path: Path, text: str) -> str:
        """A name with its indices put in."""
        found = self.scope.attempt(path, lambda: self.scope.repeats.named(text))
        if found is None:
            raise Wrong
        return found

    def selection(self, path: Path, text: str) -> Any:
        """A joint, or a pair of joint and coordinate."""
        name, _, coordinate = self.named(path, text).partition(".")
        joint = self.joint(path, name)
        return (joint, coordinate) if coordinate else joint

    def factors(self, path: Path, given: dict[str, Any]) -> dict[Any, Any]:
        """The factors of a coupling, by joint."""

        def one(text: str) -> tuple[Any, Any]:
            return self.selection((*path, text), text), self.nested((*path, text), given[text], "parameters")

        return dict(each(one, given))

    def conditions(self, path: Path, given: Any) -> Any:
        """One condition, or several by name."""
        if isinstance(given, str):
            return self.condition(path, given)
        return dict(each(lambda name: (name, self.condition((*path, name), given[name])), given))

    def condition(self, path: Path, text: str) -> sp.Expr:
        """left − right; one-sided ones belong in [constraints]."""
        sides = self.scope.relation(path, text, CONSTRAINT, ("=",))
        if sides is None:
            raise Wrong
        return sp.Add(sides[0].expr, scaled(sp.S.NegativeOne, sides[2].expr))

    def steps(self, path: Path, given: list[dict[str, Any]]) -> list[Any]:
        """The steps of a series."""
        from zwang.multibody import Step

        def one(i: int) -> Any:
            numbers = [key for key in given[i] if key not in ("name", "kind")]
            name = str(self.name((*path, i, "name"), given[i]["name"]))
            values = each(lambda key: (key, self.nested((*path, i, key), given[i][key], "number")), numbers)
            return Step(name, given[i]["kind"], **dict(values))

        return each(one, range(len(given)))

    def solids(self, path: Path, given: list[dict[str, Any]]) -> tuple[Solid, ...]:
        """The solids of a body."""
        return tuple(each(lambda i: self.solid((*path, i), given[i]), range(len(given))))

    def solid(self, path: Path, given: dict[str, Any], of: str = "number") -> Solid:
        """One solid, in numbers; `of` says what they may be computed from."""
        plain = ("kind", "color", "vertices", "faces")  # what holds no expressions
        values = {key: given[key] for key in plain[1:] if key in given}
        numbers = [key for key in given if key not in plain]
        values |= dict(each(lambda key: (key, self.nested((*path, key), given[key], of)), numbers))
        try:
            return SOLIDS[given["kind"]](**values)
        except InputError as error:
            self.document.of((*path, *error.mistakes[0].where), error.mistakes[0])
        raise Wrong

    def name(self, path: Path, name: str) -> sp.Symbol:
        """A name that the part itself brings along, as a symbol."""
        if wrong := wrong_name(name):
            self.document.of(path, f"the name {quoted(name)} {wrong}")
            raise Wrong
        return sp.Symbol(name)

    @contextmanager
    def locals_of(self, path: Path, key: Key, entry: Mapping[str, Any]) -> Iterator[None]:
        """Makes the names known that only this key's value may use, while it is read."""
        names: dict[str, Any] = {}
        if key.of == "tension":
            from zwang.multibody import length, rate

            names = {"length": length, "rate": rate}
        elif key.of == "driven" and "start" not in self.scope.names:  # a file's own name is the one that is meant
            from zwang.multibody import start

            names = {"start": start}
        elif key.of == "local":
            given = entry.get("symbols", [entry.get("parameter", "")])
            names = {name: sp.Symbol(name) for name in given if not wrong_name(name)}
        before = self.scope.names
        taken = next((name for name in names if name in before and used_in(entry[key.name], name)), None)
        if taken is not None:
            where = before[taken].path[0]
            self.document.of(
                (*path, key.name), f"{quoted(taken)} is known in [{where}] too: which is meant?", "rename that one"
            )
            raise Wrong
        self.scope.names = before | {name: Meaning("local", path, symbol) for name, symbol in names.items()}
        try:
            yield
        finally:
            self.scope.names = before


def each(make: Callable[[Any], Any], items: Any) -> list[Any]:
    """What `make` makes of every item; all are tried before `Wrong` is raised, so that every mistake is noted."""
    made, right = [], True
    for item in items:
        try:
            made.append(make(item))
        except Wrong:
            right = False
    if not right:
        raise Wrong
    return made


def dependence(key: Key, given: Any, entry: Mapping[str, Any]) -> str:
    """What the expressions of a key may depend on: a pair of points in body axes may keep its parameters.

    A wheel in a wheel needs numbers to know which is the larger one.
    """
    if key.name == "at" and key.type == "place" and isinstance(given[0], list):
        return "parameters"
    return "number" if key.name == "radii" and entry.get("inside") is True else key.of


def used_in(given: Any, name: str) -> bool:
    """Whether a name stands in an expression, or in one of a list."""
    return any(name in found_names(text) for text in texts_in(given))


def texts_in(given: Any) -> Iterator[str]:
    """The texts in a value."""
    if isinstance(given, str):
        yield given
    elif isinstance(given, list | dict):
        for inner in given.values() if isinstance(given, dict) else given:
            yield from texts_in(inner)


def found_names(text: str) -> set[str]:
    """The names in an expression; none where it is wrong, which is noted elsewhere."""
    from zwang.files.language.grammar import parse
    from zwang.files.toml.problems import Misread

    try:
        return set(names_in(parse(text)))
    except Misread:
        return set()
