"""What is compiled: expressions with named inputs, named outputs and named intermediates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

from zwang.errors import InputError

if TYPE_CHECKING:
    from symengine import Expr, Symbol


@dataclass(frozen=True, eq=False)
class Program:
    """A straight-line program in SymEngine expressions.

    `inputs` names tuples of symbols, packed in this order into one array of doubles; `outputs` names
    flat tuples of expressions, packed likewise. `shapes` may give an output a shape, row by row; without
    one it is a vector. `steps` are intermediates (symbol, expression), in order: a step may use the
    inputs and the steps before it, an output may use all of them. A step is computed once, however
    often it is used; naming the intermediates keeps expressions, and so the time to compile, small.

    >>> from symengine import cos, sin, symbols
    >>> r, a, c = symbols("r a c")
    >>> polar = Program(
    ...     inputs={"r": (r,), "angle": (a,)},
    ...     outputs={"point": (r*c, r*sin(a))},
    ...     steps=((c, cos(a)),),
    ... )
    >>> polar.shape("point")
    (2,)
    """

    inputs: Mapping[str, tuple[Symbol, ...]]
    outputs: Mapping[str, tuple[Expr, ...]]
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    steps: tuple[tuple[Symbol, Expr], ...] = ()

    def __post_init__(self) -> None:
        """Refuse text, symbols with two meanings, and shapes that fit no output; make numbers expressions."""
        outputs = {name: tuple(map(expression_of, es)) for name, es in self.outputs.items()}
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "steps", tuple([(symbol, expression_of(e)) for symbol, e in self.steps]))
        defined: dict[Symbol, str] = {}
        for name, symbols in self.inputs.items():
            for symbol in symbols:
                _define(defined, symbol, f"the input {name!r}")
        for symbol, _ in self.steps:
            _define(defined, symbol, "a step")
        for name, shape in self.shapes.items():
            if name not in self.outputs:
                raise InputError(f"a shape is given for {name!r}, which is not an output: {_listed(self.outputs)}")
            if prod(shape) != len(self.outputs[name]):
                raise InputError(
                    f"the output {name!r} has {len(self.outputs[name])} expressions, "
                    f"but its shape {tuple(shape)} wants {prod(shape)}"
                )

    def shape(self, output: str) -> tuple[int, ...]:
        """The shape of an output: the one given, or that of a vector."""
        return tuple(self.shapes.get(output, (len(self.outputs[output]),)))

    def giving(self, *outputs: str) -> Program:
        """The part of the program that gives these outputs only.

        >>> from symengine import symbols
        >>> x, y, z = symbols("x y z")
        >>> both = Program({"x": (x,)}, {"a": (y,), "b": (z,)}, steps=((y, 2*x), (z, 3*x)))
        >>> both.giving("b").steps
        ((z, 3*x),)
        """
        wanted = {name: self.outputs[name] for name in outputs}
        used: set[Any] = set().union(*(e.free_symbols for row in wanted.values() for e in row))
        steps = []
        for symbol, e in reversed(self.steps):
            if symbol in used:
                used |= e.free_symbols
                steps.append((symbol, e))
        shapes = {name: shape for name, shape in self.shapes.items() if name in wanted}
        return Program(self.inputs, wanted, shapes, tuple(reversed(steps)))


_NO_EXPRESSION = (str, bytes, tuple, list, dict, set, frozenset)


def expression_of(value: Expr | float) -> Expr:
    """An expression of SymEngine, or a number as one; SymEngine itself would parse text."""
    if isinstance(value, _NO_EXPRESSION):
        raise InputError(f"{value!r} is text, or may hold some, and not an expression: nothing here parses text")
    sympify, refusal = _sympify()
    try:
        return sympify(value)
    except refusal:
        raise InputError(f"{value!r} is neither a number nor an expression: nothing here parses text") from None


@cache
def _sympify() -> tuple[Callable[[Any], Expr], type[Exception]]:
    """SymEngine's own conversion and its refusal, imported once and not for each of many thousand expressions."""
    from symengine import SympifyError, sympify

    return sympify, SympifyError


def _define(defined: dict[Symbol, str], symbol: Symbol, where: str) -> None:
    """Note where a symbol gets its value, once."""
    if symbol in defined:
        raise InputError(f"{symbol} is defined twice, by {defined[symbol]} and by {where}: rename one of them")
    defined[symbol] = where


def _listed(names: Mapping[str, object]) -> str:
    """Names for a message."""
    return "the outputs are " + (", ".join(map(repr, names)) or "none")
