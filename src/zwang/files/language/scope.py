"""What the names of a model file stand for, and where which of them may be used."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import sympy as sp

from zwang.files.language.build import LARGEST_GROWTH, LARGEST_SIZE, Builder, Built, plain
from zwang.files.language.differentiate import ONE, ZERO
from zwang.files.language.differentiate import rate as rate_of_tree
from zwang.files.language.functions import RESERVED
from zwang.files.language.grammar import RELATION_SIGNS, Node, marked_names, names_in, parse, parse_relation
from zwang.files.language.indices import Broken
from zwang.files.language.names import CONSTANTS, TIME, skeleton, wrong_name
from zwang.files.language.repeat import Repeats
from zwang.files.language.slips import other_name
from zwang.files.language.uses import DEFINITION, WHY, Use
from zwang.files.toml.document import Document
from zwang.files.toml.positions import Path
from zwang.files.toml.problems import Misread
from zwang.model.event import constraint_force, multiplier
from zwang.model.symbols import rates, t
from zwang.words import quoted

T = TypeVar("T")
# velocities of a body: angular ones along the world's axes and along its own, and those of its centre along its own
QUANTITIES = ("omega_x", "omega_y", "omega_z", "omega_1", "omega_2", "omega_3", "v_1", "v_2", "v_3")
Freedoms = dict[str, tuple[Built, Built]]
"""The coordinates of a joint by name, each with its rate."""

LARGEST_MODEL = 150_000  # parts of all expressions together, definitions counted in full
MOST_RATES = 4  # marks of an input or a definition; coordinates have two


MAKE: dict[str, Callable[[str], sp.Expr | None]] = {
    "local": sp.Symbol,
    "parameter": sp.Symbol,
    "coordinate": lambda name: sp.Function(name)(t),
    "input": lambda name: sp.Function(name)(t),
    "definition": lambda name: None,
    "count": lambda name: None,
    "array": lambda name: None,
}
SECTIONS = {
    "counts": "count",
    "parameters": "parameter",
    "coordinates": "coordinate",
    "inputs": "input",
    "definitions": "definition",
}


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
    of a joint that is not made (yet); they are written when somebody asks for them. `quantities` are velocities of
    bodies, likewise.
    """

    document: Document
    names: dict[str, Meaning] = field(default_factory=dict)
    definitions: dict[str, Built] = field(default_factory=dict)
    trees: dict[tuple[str, int], Node] = field(default_factory=dict)
    """Definitions and their rates as trees, by name and number of rate marks."""
    rates: dict[tuple[str, int], Built] = field(default_factory=dict)
    """The rates of definitions that were asked for."""
    constraints: tuple[str, ...] = ()
    fixed: dict[str, Built] = field(default_factory=dict)
    freedoms: dict[str, Freedoms | Callable[[], Freedoms] | None] = field(default_factory=dict)
    quantities: dict[str, dict[str, Built] | Callable[[], dict[str, Built]] | None] = field(default_factory=dict)
    repeats: Repeats = field(default_factory=Repeats)
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
            if name.endswith("]") or "]." in name:  # of a member of a repeated part, whose own name is looked at
                self.names[name] = Meaning("coordinate", path, MAKE["coordinate"](name))
            else:
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
            where = ", ".join(f"{i} = {k}" for i, k in self.repeats.at.items())
            self.document.of(
                path, f"where {where}: {error.message}" if where else error.message, error.hint, index=error.at
            )
            return None
        except Exception as error:
            self.document.trouble(path, error)
            return None

    def build(self, tree: Node, where: Use) -> Built:
        """A tree in SymPy, its names looked up."""
        builder = Builder(lambda node: self.name(node, where), lambda node: self.reaction(node, where))
        built = builder.build(self.repeats.resolved(tree))
        self.repeats.charge(built, tree.at)
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
        if meaning is None and (found := self.repeats.stands_for(name)) is not None:
            meaning = Meaning(found[0], (), found[1])
        if meaning is None:
            return self.freedom(name, marks, node.at, where)
        if meaning.kind == "definition":
            return self.used(self.definition(name, marks, node.at), name + "'" * marks, node.at, where)
        return self.used(self.function(name, marks, meaning, node.at), name + "'" * marks, node.at, where)

    def definition(self, name: str, marks: int, at: int) -> Built:
        """A definition, differentiated as often as its rate marks say."""
        if name not in self.definitions:
            raise Broken
        if not marks:
            return self.definitions[name]
        try:
            self.differentiate(name, marks)
        except Misread as error:  # its place is in the definition, and what is wrong may be a mark here
            raise Misread(f"{name}{marks * chr(39)} cannot be formed: {error.message}", at, error.hint) from None
        return self.rates[name, marks]

    def differentiate(self, name: str, marks: int) -> None:
        """Build a rate of a definition after all those that it is made of; without recursion, as chains may be long."""
        stack = [(name, marks)]
        while stack:
            name, marks = wanted = stack[-1]
            before = self.rates.get((name, marks - 1)) if marks > 1 else self.definitions[name]
            if wanted in self.rates:
                stack.pop()
            elif marks > MOST_RATES:
                raise Misread(f"{quoted(name)} is differentiated {marks} times, {MOST_RATES} are the most", 0)
            elif before is None:
                stack.append((name, marks - 1))
            else:
                if before.first > LARGEST_SIZE:
                    raise Misread(f"it has more than {LARGEST_SIZE} parts", 0, "differentiate something shorter")
                if wanted not in self.trees:
                    changes = bool(before.uses - {"parameter"})
                    self.trees[wanted] = rate_of_tree(self.trees[name, marks - 1], self.rate_of) if changes else ZERO
                tree = self.trees[wanted]
                parts = [pair for pair in marked_names(tree) if pair[0] in self.definitions and pair not in self.rates]
                if parts:
                    stack += parts
                else:
                    self.rates[wanted] = self.build(tree, DEFINITION)

    def rate_of(self, node: Node) -> Node:
        """The rate of a name in a definition: zero, one, or the name with a mark more."""
        name, marks = node.value
        if name == TIME:
            return ONE
        fixed = name in self.names and self.names[name].kind == "parameter"
        if fixed or name in CONSTANTS or (name in self.definitions and not self.definitions[name].uses - {"parameter"}):
            return ZERO
        return Node("name", 0, (name, marks + 1))

    def forget_definitions(self) -> None:
        """Forget what was built, to build it again with parameters that stand for their values."""
        self.definitions.clear()
        self.rates.clear()

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
        if marks > MOST_RATES:
            raise Misread(f"{quoted(name)} is differentiated {marks} times, {MOST_RATES} are the most", at)
        return Built(expr.diff(t, marks) if marks else expr, uses=frozenset([kind]))

    def freedom(self, name: str, marks: int, at: int, where: Use) -> Built:
        """The coordinate of a joint, as in pin.angle, or its rate."""
        joint, _, what = name.partition(".")
        if joint in self.quantities and what in QUANTITIES:
            return self.quantity(name, marks, at, where)
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

    def quantity(self, name: str, marks: int, at: int, where: Use) -> Built:
        """What a body does, as in rod.omega_x: its angular velocity, or its velocity along its own axes."""
        body, _, what = name.partition(".")
        if marks:
            raise Misread(f"{quoted(name)} is a velocity: it has no rate mark", at)
        self.used(Built(sp.S.Zero, uses=frozenset(["coordinate", "rate"])), name, at, where)
        known = self.quantities[body]
        if known is None:
            raise Broken
        if callable(known):
            known = self.quantities[body] = known()
        if what not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise Misread(f"body {quoted(body)} has no {what}", at, there)
        return self.used(known[what], name, at, where)

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
        if hint := other_name(name, {*self.names}):
            return Misread(f"unknown name {quoted(name)}", at, hint)
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
            known += [m for name, ranges in self.repeats.arrays.items() if ranges for m in ranges.labels(name)]
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
                trees[name] = self.attempt(path, partial(self.parsed, value))
            elif (built := self.attempt(path, partial(plain, value))) is not None:
                self.definitions[name] = built
        needs = {name: list(dict.fromkeys(names_in(tree))) for name, tree in trees.items() if tree is not None}
        self.trees.update({(name, 0): tree for name, tree in trees.items() if tree is not None})
        for name in self.ordered(needs):
            tree = trees[name]
            assert tree is not None
            built = self.attempt(("definitions", name), partial(self.build, tree, DEFINITION))
            if built is not None:
                self.definitions[name] = built

    def parsed(self, text: str) -> Node:
        """A text as a tree, its indices put in: rates of a definition are made of it."""
        return self.repeats.resolved(parse(text))

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
