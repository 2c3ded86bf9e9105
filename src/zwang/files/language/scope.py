"""What the names of a model file stand for, and where which of them may be used."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import sympy as sp

from zwang.files.language.build import LARGEST_GROWTH, Builder, Built, plain
from zwang.files.language.functions import RESERVED
from zwang.files.language.grammar import RELATION_SIGNS, Node, parse, parse_relation
from zwang.files.language.names import CONSTANTS, TIME, skeleton, wrong_name
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.files.toml.problems import Misread
from zwang.model.event import constraint_force, multiplier
from zwang.model.symbols import rates, t
from zwang.words import quoted

T = TypeVar("T")
Freedoms = dict[str, tuple[Built, Built]]
"""The coordinates of a joint by name, each with its rate."""

LARGEST_MODEL = 150_000  # parts of all expressions together, definitions counted in full
MOST_INPUT_RATES = 4


@dataclass(frozen=True)
class Use:
    """A place for expressions: what it is called, and the kinds of names (beside parameters) that may stand there."""

    words: str
    allowed: frozenset[str]
    relation: bool = False


def use(words: str, *allowed: str) -> Use:
    """A place for expressions."""
    return Use(words, frozenset(allowed))


CONSTANT = use("the value of a parameter")
START = use("a start", "parameter")
INPUT = use("an input", "parameter", "time")
POTENTIAL = use("the potential energy", "parameter", "time", "input", "coordinate")
KINETIC = use("the kinetic energy", "parameter", "time", "input", "coordinate", "rate")
MASS = use("the mass matrix", "parameter", "time", "input", "coordinate", "rate")
FORCE = use("a force", "parameter", "time", "input", "coordinate", "rate")
DRAWING = use("a drawing", "parameter", "time", "input", "coordinate", "rate")
CONSTRAINT = use("a constraint", "parameter", "time", "input", "coordinate", "rate", "acceleration")
DEFINITION = use("a definition", "parameter", "time", "input", "coordinate", "rate", "acceleration")
EVENT = use("an event", "parameter", "time", "input", "coordinate", "rate", "reaction")

# Why a kind of name may not be used somewhere, for those places where people try.
WHY = {
    "acceleration": "accelerations are allowed in constraints only",
    "reaction": "multiplier(…) and constraint_force(…) stand in events only",
    "rate": "it may not contain rates",
    "coordinate": "it may not contain coordinates",
    "input": "it may not contain inputs",
    "time": "it may not contain the time t",
    "parameter": "it is a plain number",
    "local": "it is known elsewhere only",
}
MAKE: dict[str, Callable[[str], sp.Expr | None]] = {
    "local": sp.Symbol,
    "parameter": sp.Symbol,
    "coordinate": lambda name: sp.Function(name)(t),
    "input": lambda name: sp.Function(name)(t),
    "definition": lambda name: None,
}
SECTIONS = {"parameters": "parameter", "coordinates": "coordinate", "inputs": "input", "definitions": "definition"}


class Broken(Exception):
    """An expression uses a name whose own mistake is noted already."""


@dataclass(frozen=True)
class Meaning:
    """What a name stands for: its kind, and the SymPy symbol or function."""

    kind: str
    path: Path
    expr: sp.Expr | None = None


@dataclass
class Scope:
    """The names of one document.

    `fixed` are parameters that stand for their values, `freedoms` the coordinates of joints, by the joint's name: None
    of a joint that is not made (yet); they are written when somebody asks for them.
    """

    document: Document
    names: dict[str, Meaning] = field(default_factory=dict)
    definitions: dict[str, Built] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    fixed: dict[str, Built] = field(default_factory=dict)
    freedoms: dict[str, Freedoms | Callable[[], Freedoms] | None] = field(default_factory=dict)
    size: int = 0
    growth: int = 0
    looks: dict[str, str] = field(default_factory=dict)

    def declare(self, declared: dict[str, list[str]], coordinates: dict[str, Path] | None = None) -> None:
        """Give every name of the sections its meaning; note texts that cannot be names, and names that are taken.

        `coordinates` are names that bodies and joints bring along, and where.
        """
        for section, names in declared.items():
            for name in names:
                self.introduce(name, SECTIONS[section], (section, name))
        for name, path in (coordinates or {}).items():
            self.introduce(name, "coordinate", path)

    def introduce(self, name: str, kind: str, path: Path) -> None:
        """Give a name its meaning."""
        self.check_name(name, path)
        self.names.setdefault(name, Meaning(kind, path, MAKE[kind](name)))

    def check_name(self, name: str, path: Path) -> None:
        """Note what is wrong with a name."""
        if wrong := wrong_name(name):
            self.document.of(path, f"the name {quoted(name)} {wrong}", key=True)
        elif name in RESERVED or name in CONSTANTS or name == TIME:
            what = "the time" if name == TIME else "a constant" if name in CONSTANTS else "a function"
            self.document.of(path, f"{quoted(name)} is taken: it is {what}", "choose another name", key=True)
        elif (first := self.looks.get(skeleton(name))) is not None:
            same = first == name
            words = f"{quoted(name)} is declared twice" if same else f"{quoted(name)} looks like {quoted(first)}"
            where = f"[{self.names[first].path[0]}] has it too" if first in self.names else ""
            self.document.of(path, words, f"{where}; choose another name".lstrip("; "), key=True)
        self.looks.setdefault(skeleton(name), name)

    def expression(self, path: Path, value: Any, where: Use) -> Built | None:
        """The expression at a path, or None where something is wrong with it, which is then noted."""

        def make() -> Built:
            return self.build(parse(value), where) if isinstance(value, str) else plain(value)

        return self.attempt(path, make)

    def relation(
        self, path: Path, value: str, where: Use, signs: tuple[str, ...] = RELATION_SIGNS
    ) -> tuple[Built, str, Built] | None:
        """The two sides of the relation at a path with its sign, or None where something is wrong."""

        def make() -> tuple[Built, str, Built]:
            left, sign, right = parse_relation(value, signs)
            return self.build(left, where), sign, self.build(right, where)

        return self.attempt(path, make)

    def attempt(self, path: Path, make: Callable[[], T]) -> T | None:
        """The result of reading the text at a path, or None where it is wrong, which is then noted at its place."""
        try:
            return make()
        except Broken:
            return None
        except Misread as error:
            self.document.of(path, error.message, error.hint, index=error.at)
            return None
        except Exception as error:
            self.document.trouble(path, error)
            return None

    def build(self, tree: Node, where: Use) -> Built:
        """A tree in SymPy, its names looked up."""
        built = Builder(lambda node: self.name(node, where), lambda node: self.reaction(node, where)).build(tree)
        self.size, self.growth = self.size + built.size, self.growth + built.second
        if self.size > LARGEST_MODEL:
            raise Misread(
                f"the expressions of this file have more than {LARGEST_MODEL:,} parts, definitions counted in full",
                tree.at,
            )
        if self.growth > LARGEST_GROWTH:
            raise Misread(
                f"the second derivatives of this file's expressions have more than {LARGEST_GROWTH:,} parts",
                tree.at,
                "multiply fewer sums with each other",
            )
        return built

    def name(self, node: Node, where: Use) -> Built:
        """What a name with its rate marks stands for."""
        name, marks = node.value
        if (name in CONSTANTS or name == TIME) and marks:
            what = "the time" if name == TIME else "a constant"
            raise Misread(f"{quoted(name)} is {what}: it has no rate", node.at)
        if name in CONSTANTS:
            return Built(sp.pi, float(sp.pi)) if name == "pi" else Built(sp.E, float(sp.E))
        if name == TIME:
            return self.used(Built(t, uses=frozenset(["time"])), name, node.at, where)
        meaning = self.names.get(name)
        if meaning is None:
            return self.freedom(name, marks, node.at, where)
        if meaning.kind == "definition":
            if marks:
                raise Misread(f"{quoted(name)} is a definition: it has no rate mark", node.at, "write its rate out")
            if name not in self.definitions:
                raise Broken
            return self.used(self.definitions[name], name, node.at, where)
        return self.used(self.function(name, marks, meaning, node.at), name + "'" * marks, node.at, where)

    def function(self, name: str, marks: int, meaning: Meaning, at: int) -> Built:
        """A parameter, coordinate or input, differentiated as often as its rate marks say."""
        kind, expr = meaning.kind, meaning.expr
        assert expr is not None
        if kind in ("parameter", "local") and marks:
            raise Misread(f"{quoted(name)} is a parameter: it does not change, so it has no rate", at)
        if kind == "parameter" and name in self.fixed:
            return self.fixed[name]
        if kind == "coordinate":
            if marks > 2:
                raise Misread(f"{name}{marks * chr(39)} is differentiated {marks} times, 2 are the most", at)
            kind = ("coordinate", "rate", "acceleration")[marks]
            return Built((expr, *rates(expr))[marks], uses=frozenset([kind]))
        if marks > MOST_INPUT_RATES:
            raise Misread(f"{quoted(name)} is differentiated {marks} times, {MOST_INPUT_RATES} are the most", at)
        return Built(expr.diff(t, marks) if marks else expr, uses=frozenset([kind]))

    def freedom(self, name: str, marks: int, at: int, where: Use) -> Built:
        """The coordinate of a joint, as in pin.angle, or its rate."""
        joint, _, what = name.partition(".")
        if joint not in self.freedoms:
            raise self.unknown(name, at)
        if marks > 1:
            raise Misread(f"{name}{marks * chr(39)} is differentiated {marks} times, 1 is the most of a joint's", at)
        self.used(Built(sp.S.Zero, uses=frozenset(["coordinate", "rate"][: marks + 1])), name, at, where)
        known = self.freedoms[joint]
        if known is None:
            raise Broken
        if callable(known):
            known = self.freedoms[joint] = known()
        if what not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise Misread(
                f"joint {quoted(joint)} has no coordinate {quoted(what)}{self.document.meant(what, known)}", at, there
            )
        return self.used(known[what][marks], name + "'" * marks, at, where)

    def used(self, built: Built, name: str, at: int, where: Use) -> Built:
        """What a name stands for, if names of its kind may be used in this place; otherwise it is refused."""
        wrong = sorted(built.uses - where.allowed, key=list(WHY).index)
        if wrong:
            raise Misread(f"{quoted(name)} may not be used in {where.words}: {WHY[wrong[0]]}", at)
        return built

    def unknown(self, name: str, at: int) -> Misread:
        """What to say of a name that is not declared anywhere."""
        if name in RESERVED:
            return Misread(f"{quoted(name)} is a function", at, f"write {name}(…)")
        same = self.looks.get(skeleton(name))
        if same is not None and same != name:
            return Misread(f"{quoted(name)} only looks like {quoted(same)}: its letters are others", at)
        known = [*self.names, TIME, *CONSTANTS]
        suggestion = self.document.meant(name, known)
        place = "[bodies]" if "bodies" in self.document.data else "[coordinates]"
        hint = "" if suggestion else f"declare it in [parameters], {place}, [definitions] or [inputs]"
        return Misread(f"unknown name {quoted(name)}{suggestion}", at, hint)

    def reaction(self, node: Node, where: Use) -> Built:
        """multiplier(rod) or constraint_force(x)."""
        example = "multiplier(rod)" if node.value == "multiplier" else "constraint_force(x)"
        argument = node.args[0]
        if (
            len(node.args) != 1
            or argument.kind not in ("name", "text")
            or (argument.kind == "name" and argument.value[1])
        ):
            raise Misread(f"{node.value} takes one name", node.at, f"write {example}")
        name = argument.value if argument.kind == "text" else argument.value[0]
        if node.value == "multiplier":
            known = list(self.constraints)
            what, expr = "constraint", multiplier(name)
        else:
            known = [name for name, meaning in self.names.items() if meaning.kind == "coordinate"]
            what, expr = "coordinate", constraint_force(name)
        if name not in known:
            raise Misread(f"there is no {what} {quoted(name)}{self.document.meant(name, known)}", argument.at)
        return self.used(Built(expr, uses=frozenset(["reaction"])), node.value, node.at, where)

    def define(self, texts: dict[str, Any]) -> None:
        """Build the definitions that are not built yet, each after those that it uses; note cycles."""
        trees: dict[str, Node | None] = {}
        for name, value in texts.items():
            if name in self.definitions:
                continue
            path = ("definitions", name)
            if isinstance(value, str):
                trees[name] = self.attempt(path, partial(parse, value))
            elif (built := self.attempt(path, partial(plain, value))) is not None:
                self.definitions[name] = built
        needs = {name: list(dict.fromkeys(names_in(tree))) for name, tree in trees.items() if tree is not None}
        for name in self.ordered(needs):
            tree = trees[name]
            assert tree is not None
            built = self.attempt(("definitions", name), partial(self.build, tree, DEFINITION))
            if built is not None:
                self.definitions[name] = built

    def ordered(self, needs: dict[str, list[str]]) -> Iterator[str]:
        """Definitions, each after those that it needs; those in a cycle are noted and left out."""
        done: set[str] = set()
        for root in needs:
            trail: list[str] = []  # a search in depth without recursion: files may chain thousands
            stack = [(root, iter(needs[root]))] if root not in done else []
            if stack:
                trail.append(root)
            while stack:
                name, rest = stack[-1]
                following = next((n for n in rest if n in needs and n not in done), None)
                if following is None:
                    stack.pop()
                    trail.pop()
                    if name not in done:
                        done.add(name)
                        yield name
                elif following in trail:
                    circle = [*trail[trail.index(following) :], following]
                    shown = circle if len(circle) <= 8 else [*circle[:7], "…", following]
                    self.document.of(
                        ("definitions", following),
                        f"{quoted(following)} is defined by itself: {' uses '.join(shown)}",
                    )
                    done.update(circle)
                else:
                    trail.append(following)
                    stack.append((following, iter(needs[following])))


def names_in(tree: Node) -> Iterator[str]:
    """The names in a tree."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.kind == "name":
            yield node.value[0]
        stack.extend(node.args)
