"""Repeated entries: indices that run over whole numbers, and names with an index, as in x[i-1].

Nothing is executed, and nothing is repeated by text: an entry is read once, as a template. Names with an index become
symbols of it, each with what it stands for in every member; so do numbers that are made of indices.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from zwang.files.language.build import Builder, Built
from zwang.files.language.functions import REACTIONS
from zwang.files.language.grammar import INDEX, Node, every_name, parse
from zwang.files.language.indices import Broken, Ranges, label, linear, whole
from zwang.files.language.names import CONSTANTS
from zwang.files.toml.problems import Misread
from zwang.model.time import coordinate
from zwang.words import quoted

MOST_REPEATED = 50_000  # members of all repeated entries of a file
MOST_COMPUTED = 200_000  # numbers that are made of indices, part by part and member by member
LARGEST_REPEATED = 2_000_000  # parts of second derivatives, members counted one by one


@dataclass
class Template:
    """What the symbols of a repeated entry stand for in its members."""

    ranges: Ranges
    names: dict[str, Any] = field(default_factory=dict)
    """Names of coordinates, by what they are called in the template: x[i-1]."""
    numbers: dict[str, list[Any]] = field(default_factory=dict)
    """Numbers that are made of indices, by what they are called there."""
    trees: dict[str, Node] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    """The indices that occur."""


@dataclass
class Repeats:
    """What is repeated in one document, and the entry that is being read."""

    counts: dict[str, int | None] = field(default_factory=dict)
    """Whole numbers by name: those of the file, and indices of a member that is written out; None for a wrong one."""
    arrays: dict[str, Ranges | None] = field(default_factory=dict)
    """Coordinates with an index; None where it could not be read."""
    parts: dict[str, Ranges | None] = field(default_factory=dict)
    """Bodies, joints and force elements with an index, likewise."""
    single: set[str] = field(default_factory=set)
    """Those that are called as members are, bar[3], and stand by themselves."""
    here: Template | None = None
    at: Mapping[str, int] = field(default_factory=dict)
    """The indices of the member that is being read."""
    members: int = 0
    computed: int = 0
    growth: int = 0

    @contextmanager
    def over(self, ranges: Ranges) -> Iterator[Template]:
        """Within it, expressions are templates over these indices."""
        self.here = Template(ranges)
        try:
            yield self.here
        finally:
            self.here = None

    @contextmanager
    def member(self, at: Mapping[str, int]) -> Iterator[None]:
        """Within it, indices are the numbers of one member."""
        kept = self.counts
        self.counts, self.at = {**kept, **at}, at
        try:
            yield
        finally:
            self.counts, self.at = kept, {}

    def count(self, ranges: Ranges) -> Ranges:
        """Indices whose members are counted: a file has a limited number."""
        self.members += ranges.size
        if self.members > MOST_REPEATED:
            raise Misread(f"the repeated entries of this file have more than {MOST_REPEATED:,} members", 0)
        return ranges

    def charge(self, built: Built, at: int) -> None:
        """Count what the members of a template would cost, written out."""
        if self.here is None:
            return
        self.growth += built.second * self.here.ranges.size
        if self.growth > LARGEST_REPEATED:
            raise Misread(
                f"the second derivatives of this file's repeated entries have more than {LARGEST_REPEATED:,} parts",
                at,
                "repeat fewer of them, or shorter ones",
            )

    def stands_for(self, name: str) -> tuple[str, sp.Expr] | None:
        """The kind and the symbol of a name with an index, or of a number that is made of indices."""
        if self.here is not None and name in self.here.numbers:
            return "parameter", sp.Symbol(name)
        return ("coordinate", coordinate(name)) if name.endswith("]") else None

    def resolved(self, node: Node) -> Node:
        """A tree in which indices are put in: names have none any more."""
        if node.kind == "name":
            return self.entry(node) if node.args else self.plain(node)
        if node.kind == "call" and node.value in REACTIONS:
            return Node(node.kind, node.at, node.value, tuple(map(self.labelled, node.args)))
        if not node.args:
            return node
        if self.here is not None and self.is_number(node):
            return self.number(node, self.here)
        return Node(node.kind, node.at, node.value, tuple(map(self.resolved, node.args)))

    def plain(self, node: Node) -> Node:
        """A name without an index."""
        name, marks = node.value
        index = self.here is not None and name in self.here.ranges.names
        if marks and (index or name in self.counts):
            raise Misread(f"{quoted(name)} is a whole number: it has no rate", node.at)
        if self.here is not None and index:
            return self.number(node, self.here)
        if name in self.counts:
            return Node("number", node.at, str(whole(name, self.counts)))
        owner, dot, suffix = name.partition(".")
        if name in self.arrays:
            ranges, own = self.arrays[name], f"{name}{INDEX}"
        elif dot and owner in self.parts:
            ranges, own = self.parts[owner], f"{owner}{INDEX}.{suffix}"
        else:
            return node
        first = "" if ranges is None else f", or {label(own, ranges.firsts)}"
        hint = f"write {label(own, ('i',))}{first}"
        raise Misread(f"{quoted(name)} is repeated: its index is missing", node.at, hint)

    def entry(self, node: Node) -> Node:
        """A name with an index: one coordinate, or a symbol of the template for one in each member."""
        name, marks = node.value
        if (one := self.single_part(node)) is not None:
            return one
        ranges = self.ranges_of(node)
        indices = self.here.ranges.names if self.here is not None else ()
        parts = [linear(arg, indices, self.counts) for arg in node.args]
        there = f"there are {label(name, ranges.firsts)} to {label(name, ranges.lasts)}"
        shown = label(name, parts)
        if self.here is None or not any(c for part in parts for c in part.factors.values()):
            if not all(a <= part.constant <= b for part, (a, b) in zip(parts, ranges.pairs, strict=True)):
                raise Misread(f"{shown} is out of range", node.at, there)
            return Node("name", node.at, (shown, marks))
        if shown not in self.here.names:
            columns = [part.column(self.here.ranges) for part in parts]
            out = np.any([(c < a) | (c > b) for c, (a, b) in zip(columns, ranges.pairs, strict=True)], axis=0)
            if out.any():
                k = int(np.argmax(out))
                where = ", ".join(f"{i} = {column[k]}" for i, column in self.here.ranges.columns.items())
                found = label(name, tuple(int(c[k]) for c in columns))
                raise Misread(f"{shown} is out of range: where {where}, it is {found}", node.at, there)
            made = np.empty(self.here.ranges.size, dtype=object)
            made[:] = [label(name, at) for at in zip(*(c.tolist() for c in columns), strict=True)]
            self.here.names[shown] = made
        self.here.used.update(i for part in parts for i, c in part.factors.items() if c)
        return Node("name", node.at, (shown, marks))

    def single_part(self, node: Node) -> Node | None:
        """What a part has that is called as a member is, and stands by itself: bar[3].x; None of others."""
        name, marks = node.value
        part, inside, _ = name.partition(INDEX)
        if not inside or not self.single:
            return None
        at = [linear(arg, self.here.ranges.names if self.here is not None else (), self.counts) for arg in node.args]
        return Node("name", node.at, (label(name, at), marks)) if label(part, at) in self.single else None

    def ranges_of(self, node: Node) -> Ranges:
        """The indices of what a name with an index is of: a repeated coordinate, or a repeated part, link[].x."""
        name, _ = node.value
        part, inside, _ = name.partition(INDEX)
        known = self.parts if inside else self.arrays
        if part not in known:
            if inside:
                hint = f"repeat it: [bodies.{part}] for = …"
                raise Misread(f"{quoted(part)} is not a repeated part: it has no index", node.at, hint)
            hint = f"write {name}*(…) to multiply, or repeat it: [coordinates] {name} = {{ for = … }}"
            raise Misread(f"{quoted(name)} is not a repeated coordinate: it has no index", node.at, hint)
        ranges = known[part]
        if ranges is None:
            raise Broken
        if len(node.args) != len(ranges.names):
            wanted, given = len(ranges.names), len(node.args)
            message = f"{quoted(part)} has {wanted} {'index' if wanted == 1 else 'indices'}, {given} are given"
            raise Misread(message, node.at)
        return ranges

    def named(self, text: str) -> str:
        """The name of a part, or of what it has, its indices put in: link[i-1] is link[2] where i is 3."""
        if "[" not in text:
            return text
        node = parse(text)
        if node.kind != "name" or node.value[1] or not node.args:
            raise Misread("this is not the name of a part", node.at, "write link[3], or link[i-1] in a repeated one")
        return str(self.labelled(node).value[0])

    def labelled(self, node: Node) -> Node:
        """The argument of multiplier(link[3]): the name of a member."""
        if node.kind != "name" or not node.args:
            return node
        at = tuple(linear(arg, (), self.counts).constant for arg in node.args)
        return Node("name", node.at, (label(node.value[0], at), node.value[1]))

    def is_number(self, node: Node) -> bool:
        """Whether a part is made of indices and numbers alone."""
        assert self.here is not None
        known = (*self.here.ranges.names, *self.counts, *CONSTANTS)
        names = list(every_name(node))
        return all(name in known and not marks for name, marks in names) and any(
            name in self.here.ranges.names for name, _ in names
        )

    def number(self, node: Node, here: Template) -> Node:
        """A number that is made of indices, as a symbol of the template: it is computed here, member by member."""
        own = [i for i in here.ranges.names if any(name == i for name, _ in every_name(node))]
        here.used.update(own)
        if node.kind == "name":
            here.numbers.setdefault(own[0], here.ranges.columns[own[0]].tolist())
            return Node("name", node.at, (own[0], 0))
        name = next((n for n, tree in here.trees.items() if same_tree(tree, node)), None)
        if name is None:
            name = f"{own[0]}#{len(here.trees) + 1}"
            here.trees[name] = node
            here.numbers[name] = self.values(node, here.ranges, own)
        return Node("name", node.at, (name, 0))

    def compute(self, parts: int, at: int) -> None:
        """Count numbers that are to be computed for members."""
        self.computed += parts
        if self.computed > MOST_COMPUTED:
            raise Misread(f"more than {MOST_COMPUTED:,} numbers are to be computed from indices", at)

    def values(self, node: Node, ranges: Ranges, own: list[str]) -> list[sp.Expr]:
        """A number in every member, by the rules and within the bounds of constants."""
        rows = list(zip(*(ranges.columns[i].tolist() for i in own), strict=True))
        different = dict.fromkeys(rows)
        self.compute(parts_of(node) * len(different), node.at)
        made: dict[tuple[int, ...], sp.Expr] = {}
        for row in different:
            counts = self.counts | dict(zip(own, row, strict=True))
            try:
                made[row] = Builder(partial(constant, counts=counts), refuse).build(node).expr
            except Misread as error:
                where = ", ".join(f"{i} = {k}" for i, k in zip(own, row, strict=True))
                raise Misread(f"where {where}: {error.message}", error.at, error.hint) from None
        return [made[row] for row in rows]


def constant(node: Node, counts: Mapping[str, int | None]) -> Built:
    """A whole number by name, or π or e."""
    name = node.value[0]
    if name in counts:
        value = whole(name, counts)
        return Built(sp.Integer(value), float(value))
    return Built(sp.pi, float(sp.pi)) if name == "pi" else Built(sp.E, float(sp.E))


def refuse(node: Node) -> Built:
    """Reactions are not made of indices."""
    raise Misread(f"{quoted(node.value)} has no place here", node.at)


def parts_of(node: Node) -> int:
    """How many parts a tree has."""
    return 1 + sum(map(parts_of, node.args))


def same_tree(one: Node, other: Node) -> bool:
    """Whether two trees say the same, in whatever places."""
    alike = (one.kind, one.value, len(one.args)) == (other.kind, other.value, len(other.args))
    return alike and all(map(same_tree, one.args, other.args))
