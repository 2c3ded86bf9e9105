"""Indices: whole numbers that run over ranges, and what is simple in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from zwang.arrays import Indices
from zwang.files.language.functions import RESERVED
from zwang.files.language.grammar import INDEX, Node, Parser
from zwang.files.language.names import CONSTANTS, TIME
from zwang.files.toml.problems import Misread
from zwang.words import quoted

MOST_MEMBERS = 10_000  # of one repeated entry
MOST_INDICES = 3
LARGEST_INDEX = 1_000_000
EXAMPLE = 'write for = "i = 1:20", both ends included'
SIMPLE = "an index is a whole number, or simple in an index: 3, i, i - 1, 2*i + 1"


class Broken(Exception):
    """An expression uses a name whose own mistake is noted already."""


@dataclass(frozen=True)
class Ranges:
    """Indices with their first and last values; the last index runs fastest."""

    names: tuple[str, ...]
    firsts: tuple[int, ...]
    lasts: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each index has."""
        return tuple(last - first + 1 for first, last in zip(self.firsts, self.lasts, strict=True))

    @property
    def size(self) -> int:
        """How many members there are."""
        return prod(self.shape)

    @cached_property
    def columns(self) -> dict[str, Indices]:
        """The value of every index in every member."""
        grids = np.meshgrid(*(np.arange(a, b + 1) for a, b in self.pairs), indexing="ij")
        return {name: grid.ravel() for name, grid in zip(self.names, grids, strict=True)}

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """First and last values."""
        return list(zip(self.firsts, self.lasts, strict=True))

    @property
    def members(self) -> Iterator[tuple[int, ...]]:
        """The values of the indices, member by member."""
        return product(*(range(a, b + 1) for a, b in self.pairs))

    @property
    def indexed(self) -> Iterator[dict[str, int]]:
        """The same by the names of the indices."""
        return (dict(zip(self.names, at, strict=True)) for at in self.members)

    def labels(self, name: str) -> list[str]:
        """What the members of a name are called.

        >>> Ranges(("i",), (1,), (3,)).labels("x")
        ['x[1]', 'x[2]', 'x[3]']
        """
        return [label(name, at) for at in self.members]


def label(name: str, at: Sequence[object]) -> str:
    """A member's name, as Python has it: x[2,0].

    >>> label("x", (2, 0)), label("link[].x", (3,))
    ('x[2,0]', 'link[3].x')
    """
    head, _, tail = name.partition(INDEX)
    return f"{head}[{','.join(map(str, at))}]{tail}"


@dataclass(frozen=True)
class Linear:
    """A whole number, linear in indices."""

    constant: int
    factors: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """As a person writes it: 2*i+1."""
        parts = [f"{'' if c == 1 else '-' if c == -1 else f'{c}*'}{name}" for name, c in self.factors.items() if c]
        parts += [str(self.constant)] if self.constant or not parts else []
        return "+".join(parts).replace("+-", "-")

    def column(self, ranges: Ranges) -> Indices:
        """Its value in every member."""
        total = np.full(ranges.size, self.constant, dtype=np.int64)
        for name, factor in self.factors.items():
            total += factor * ranges.columns[name]
        return total


def whole(name: str, counts: Mapping[str, int | None]) -> int:
    """A whole number by its name."""
    found = counts[name]
    if found is None:
        raise Broken
    return found


def linear(node: Node, indices: tuple[str, ...], counts: Mapping[str, int | None]) -> Linear:
    """An index as it is written; a `Misread` where it is not simple.

    >>> from zwang.files.language.grammar import parse
    >>> str(linear(parse("2*(i - 1) + n"), ("i",), {"n": 5}))
    '2*i+3'
    """
    if node.kind == "number" and node.value.isdigit():
        found = Linear(int(node.value))
    elif node.kind == "name" and not node.args and node.value[0] in counts and not node.value[1]:
        found = Linear(whole(node.value[0], counts))
    elif node.kind == "name" and not node.args and node.value[0] in indices and not node.value[1]:
        found = Linear(0, {node.value[0]: 1})
    elif node.kind == "minus":
        found = times(-1, linear(node.args[0], indices, counts))
    elif node.kind == "sum":
        parts = [linear(arg, indices, counts) for arg in node.args]
        found = added([times(sign, part) for sign, part in zip(node.value, parts, strict=True)])
    elif node.kind == "product" and all(exponent == 1 for exponent in node.value):
        found = multiplied([(linear(arg, indices, counts), arg.at) for arg in node.args])
    elif node.kind == "name" and not node.args and not indices:
        name = node.value[0]
        raise Misread(f"{quoted(name)} is not a whole number with a name", node.at, f"declare it: [counts] {name} = 20")
    elif node.kind == "name" and not node.args:
        there = f"the indices here are {', '.join(indices)}"
        raise Misread(f"{quoted(node.value[0])} is not an index; {there}", node.at, SIMPLE)
    else:
        raise Misread("this is not simple enough for an index", node.at, SIMPLE)
    if max(abs(found.constant), *map(abs, found.factors.values()), 0) > LARGEST_INDEX:
        raise Misread(f"an index beyond {LARGEST_INDEX:,}", node.at)
    return found


def times(factor: int, what: Linear) -> Linear:
    """A multiple."""
    return Linear(factor * what.constant, {name: factor * c for name, c in what.factors.items()})


def added(parts: list[Linear]) -> Linear:
    """A sum."""
    names = dict.fromkeys(name for part in parts for name in part.factors)
    factors = {name: sum(part.factors.get(name, 0) for part in parts) for name in names}
    return Linear(sum(part.constant for part in parts), factors)


def multiplied(parts: list[tuple[Linear, int]]) -> Linear:
    """A product, each part with its place; refused where it is not linear, or large."""
    found = Linear(1)
    for part, at in parts:
        if found.factors and part.factors:
            raise Misread("a product of indices", at, SIMPLE)
        found = times(found.constant, part) if part.factors or not found.factors else times(part.constant, found)
        if abs(found.constant) > LARGEST_INDEX:
            raise Misread(f"an index beyond {LARGEST_INDEX:,}", at)
    return found


def parse_ranges(text: str, counts: Mapping[str, int | None]) -> Ranges:
    """The indices of a repeated entry: "i = 1:20", or several, "i = 0:n, j = 1:n"; both ends included.

    >>> parse_ranges("i = 1:n - 1", {"n": 20})
    Ranges(names=('i',), firsts=(1,), lasts=(19,))
    """
    parser = Parser(text)
    found: dict[str, tuple[int, int]] = {}
    while True:
        token = parser.now
        if token.kind != "name" or "." in token.text:
            raise Misread("the name of an index is missing", min(token.at, max(0, len(text) - 1)), EXAMPLE)
        if token.text in (*CONSTANTS, TIME, *RESERVED, *counts, *found):
            why = "stands here twice" if token.text in found else "has a meaning already"
            raise Misread(f"the index {quoted(token.text)} {why}", token.at, "choose another name")
        parser.advance()
        ends = []
        for sign in ("=", ":"):
            if parser.now.kind != sign:
                at = min(parser.now.at, max(0, len(text) - 1))
                raise Misread(f"{sign} is missing in the range of {quoted(token.text)}", at, EXAMPLE)
            parser.advance()
            ends.append(linear(parser.sum(0), (), counts).constant)
        first, last = ends
        if last < first:
            message = f"the index {quoted(token.text)} runs from {first} to {last}: it has no values"
            raise Misread(message, token.at, EXAMPLE)
        found[token.text] = first, last
        if len(found) > MOST_INDICES:
            raise Misread(f"more than {MOST_INDICES} indices", token.at)
        if parser.now.kind != ",":
            break
        parser.advance()
    parser.finish()
    ranges = Ranges(tuple(found), *zip(*found.values(), strict=True))
    if ranges.size > MOST_MEMBERS:
        raise Misread(f"this makes {ranges.size:,} members, more than {MOST_MEMBERS:,}", 0)
    return ranges
