"""Forward-mode derivatives of straight-line programs: as programs, exact, in several directions at once.

Every value of a program gets tangents, its derivatives along the directions, by the chain rule from the values it is
made of. Expressions are taken apart node by node, so the cost is that of the program times the number of directions;
what does not change along a direction gets no tangent, and factors that all directions share are computed once.

Conditions are not differentiated: a piecewise expression has the derivatives of its pieces, a step has derivative
zero.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any

import symengine as se

from zwang.compile import Program
from zwang.compile.program import expression_of
from zwang.errors import InputError
from zwang.functions import FUNCTIONS

# SymEngine does not differentiate these; written in pieces, it does.
PIECES = {
    "Abs": lambda x: se.Piecewise((x, se.Ge(x, 0)), (-x, True)),
    "Max": lambda x, *rest: se.Piecewise((x, se.And(*[se.Ge(x, y) for y in rest])), (se.Max(*rest), True)),
    "Min": lambda x, *rest: se.Piecewise((x, se.And(*[se.Le(x, y) for y in rest])), (se.Min(*rest), True)),
}

Tangent = tuple[Any, ...] | None
"""One derivative a direction, None where it is zero by structure; None alone if all of them are."""


def tangent(
    program: Program,
    directions: Sequence[Mapping[Any, Any]],
    of: Iterable[str] | None = None,
    inputs: Mapping[str, tuple[Any, ...]] | None = None,
) -> Program:
    """The program with the derivatives of its outputs along k directions as further outputs.

    A direction maps input symbols to their tangents: numbers, or expressions in the symbols of `inputs`, which are
    the program's own unless others are given; symbols that are left out do not change. For every output named in
    `of` (all of them if not given) there is an output `d_name` with a leading axis of length k.

    >>> from symengine import symbols
    >>> from zwang.compile import compile_program
    >>> x, y, r = symbols("x y r")
    >>> polar = Program({"point": (x, y)}, {"distance": (r,)}, steps=((r, (x**2 + y**2)**0.5),))
    >>> compile_program(tangent(polar, [{x: 1}, {y: 1}]))(point=[3.0, 4.0])
    {'distance': array([5.]), 'd_distance': array([[0.6],
           [0.8]])}
    """
    taken = map(str, chain(*program.inputs.values(), *(inputs or {}).values(), (s for s, _ in program.steps)))
    tangents = Tangents(directions, frozenset(taken))
    for symbol, expression in program.steps:
        tangents.define(symbol, expression)
    outputs, shapes = dict(program.outputs), dict(program.shapes)
    for name in program.outputs if of is None else of:
        each = [tangents.of(e) for e in program.outputs[name]]
        outputs[f"d_{name}"] = tuple(entry(e, j) for j in range(len(directions)) for e in each)
        shapes[f"d_{name}"] = (len(directions), *program.shape(name))
    return Program(inputs or program.inputs, outputs, shapes, tuple(tangents.steps))


def entry(tangents: Tangent, direction: int) -> Any:
    """One derivative, structural zeros as zeros."""
    e = None if tangents is None else tangents[direction]
    return se.Integer(0) if e is None else e


class Tangents:
    """A program in the making: `steps` so far, and the tangents of every expression met, which are names or numbers."""

    def __init__(
        self,
        directions: Sequence[Mapping[Any, Any]],
        taken: frozenset[str] = frozenset(),
        steps: list[tuple[Any, Any]] | None = None,
    ) -> None:
        """Start from the tangents of the inputs; `taken` are names in use, `steps` a program to go on with.

        Symbols that no direction mentions, those of given steps among them, do not change.
        """
        self.count = len(directions)
        self.steps: list[tuple[Any, Any]] = [] if steps is None else steps
        self._known: dict[Any, Tangent] = {}
        self._names: dict[Any, Any] = {}  # expression -> its symbol
        self._free = (se.Symbol(name) for i in count() if (name := f"d{i}") not in taken)
        for symbol in dict.fromkeys(chain(*directions)):
            given = [expression_of(d[symbol]) if symbol in d else se.Integer(0) for d in directions]
            self._known[symbol] = some(None if e == 0 else e for e in given)

    def define(self, symbol: Any, expression: Any) -> None:
        """A step of the program itself: the value of a symbol, and with it its tangents."""
        self._known[symbol] = self.of(expression)
        self.steps.append((symbol, expression))
        self._names.setdefault(expression, symbol)

    def of(self, expression: Any) -> Tangent:
        """The tangents of an expression; parts come before the whole, so no depth exhausts Python's stack."""
        known, stack = self._known, [expression]
        while stack:
            node = stack[-1]
            missing = [] if node in known else [a for a in parts(node) if a not in known]
            if missing:
                stack.extend(missing)
                continue
            if node not in known:
                known[node] = self._rule(node)
            stack.pop()
        return known[expression]

    def name(self, e: Any) -> Any:
        """A symbol for an expression; symbols and numbers stand for themselves."""
        if e.is_Symbol or e.is_Number:
            return e
        if e not in self._names:
            self._names[e] = next(self._free)
            self.steps.append((self._names[e], e))
        return self._names[e]

    def _rule(self, node: Any) -> Tangent:
        """The tangents of a node from those of its parts."""
        if all(self._known[a] is None for a in parts(node)):
            return None
        kind = type(node).__name__
        if node.is_Add or node.is_Mul:
            return self._of_sum(node)
        if kind == "Piecewise":
            return self._of_pieces(node)
        if kind in FUNCTIONS and FUNCTIONS[kind].steps:
            return None
        if kind in PIECES:
            return self.of(PIECES[kind](*node.args))
        return self._of_function(node)

    def _of_sum(self, node: Any) -> Tangent:
        """Sums and products: the derivative by a factor is the product of the others."""
        partials: dict[Any, list[Any]] = {}
        for term in node.args if node.is_Add else (node,):
            factors = term.args if term.is_Mul else (term,)
            for i, factor in enumerate(factors):
                if self._known[factor] is not None:
                    others = [self.name(f) for j, f in enumerate(factors) if j != i]
                    partials.setdefault(factor, []).append(se.Mul(*others))
        return self._chained((se.Add(*terms), self._known[factor]) for factor, terms in partials.items())

    def _of_pieces(self, node: Any) -> Tangent:
        """Piece by piece, under the same conditions."""
        pieces = [self._known[e] for e in node.args[::2]]
        return some(
            self.name(se.Piecewise(*zip([entry(e, j) for e in pieces], node.args[1::2], strict=True)))
            if any(e is not None and e[j] is not None for e in pieces)
            else None
            for j in range(self.count)
        )

    def _of_function(self, node: Any) -> Tangent:
        """Powers and functions of one or two variables, as SymEngine differentiates them."""
        names = [self.name(a) for a in node.args]
        plain = node.func(*names)
        pairs = []
        for name, argument in dict(zip(names, node.args, strict=True)).items():
            if self._known[argument] is not None:
                partial = plain.diff(name)
                if isinstance(partial, se.Derivative):
                    raise InputError(
                        f"{node} cannot be differentiated: write it with elementary functions or Piecewise"
                    )
                pairs.append((partial, self._known[argument]))
        return self._chained(pairs)

    def _chained(self, pairs: Iterable[tuple[Any, Tangent]]) -> Tangent:
        """Σ partial derivative × tangent, direction by direction."""
        named = [(self.name(partial), tangents) for partial, tangents in pairs if tangents is not None]
        sums = [[partial * d[j] for partial, d in named if d[j] is not None] for j in range(self.count)]
        return some(self.name(se.Add(*terms)) if terms else None for terms in sums)


def parts(node: Any) -> Sequence[Any]:
    """What a node's tangents are made of: its terms and factors, its pieces without conditions, its arguments."""
    if node.is_Add:
        return [f for term in node.args for f in (term.args if term.is_Mul else (term,))]
    arguments: Sequence[Any] = node.args
    return arguments[::2] if type(node).__name__ == "Piecewise" else arguments


def some(tangents: Iterable[Any]) -> Tangent:
    """Tangents as they are kept: nothing if all of them are zero."""
    kept = tuple(None if e is None or e == 0 else e for e in tangents)
    return kept if any(e is not None for e in kept) else None
