"""Expressions in time and parameters as plain data: numbers, names and how many parts are put together.

A motion keeps what its inputs were, and its file may come from a stranger. So an expression is written as a row of
entries, each operation behind its parts, and read back by a list of operations; nothing of it is ever executed.

>>> A = sp.Symbol("A")
>>> recorded(A*sp.sin(2*t))
[['name', 'A'], 2, ['time'], ['Mul', 2], ['sin', 1], ['Mul', 2]]
>>> read_back(recorded(A*sp.sin(2*t)))
A*sin(2*t)
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sympy as sp

from zwang.errors import InputError
from zwang.functions import FUNCTIONS, in_sympy
from zwang.model.symbols import t

LARGEST_SIZE = 20_000  # entries, as many as the parts of an expression in a model file
LARGEST_DEPTH = 60  # as there
LARGEST_SLOW = 4  # as there: functions that SymPy takes long with, one in the other
LARGEST_EXPONENT = 100  # as there
LARGEST_NUMBER = 10**30  # integers beyond are written as floats, as there

CONSTANTS = {"pi": sp.pi, "e": sp.E, "true": sp.true, "false": sp.false}
RELATIONS = {kind.__name__: kind for kind in (sp.Eq, sp.Ne, sp.Lt, sp.Le, sp.Gt, sp.Ge)}
LOGIC = {"And": sp.And, "Or": sp.Or, "Not": sp.Not}
ARITHMETIC = {"Add": sp.Add, "Mul": sp.Mul, "Pow": sp.Pow}
PIECES, PIECE = "Piecewise", "ExprCondPair"
NOT_KEPT = "an input of a motion is kept where it is made of t, parameters, elementary functions and Piecewise"


def recorded(expression: sp.Basic) -> list[Any]:
    """An expression as plain data; refused where it contains what cannot be read back."""
    found = list(entries(expression))
    read_back(found)  # what is too large or too deep is told now, and not to who opens the file
    return found


def entries(part: sp.Basic) -> Iterator[Any]:
    """The entries of a part, its own last."""
    if part == t:
        yield ["time"]
    elif part.is_Symbol:
        yield ["name", part.name]
    elif part.is_Number and part.is_finite:
        yield number(part)
    elif (name := next((name for name, value in CONSTANTS.items() if part is value), None)) is not None:
        yield [name]
    elif isinstance(part, sp.Expr) and not part.free_symbols and not part.has(sp.Piecewise):
        yield float(part)  # a constant such as sqrt(2): machine code has a float of it, too
    else:
        name = operation(part)
        for inner in part.args:
            yield from entries(inner)
        yield [name, len(part.args)]


def number(value: Any) -> Any:
    """A number: an integer, a fraction as numerator and denominator, or a float."""
    if value.is_Rational and max(abs(value.p), value.q) < LARGEST_NUMBER:
        return int(value.p) if value.q == 1 else ["ratio", int(value.p), int(value.q)]
    return float(value)


def operation(part: sp.Basic) -> str:
    """What an operation or a function is called."""
    for name, kind in operations().items():
        if type(part) is kind or part.func is kind:
            return name
    raise InputError(f"{type(part).__name__} cannot be kept: {NOT_KEPT}")


def operations() -> dict[str, Any]:
    """Everything that puts parts together, by name."""
    functions = {name: in_sympy(name) for name in FUNCTIONS if name != "sqrt"}  # which is a power
    pieces = {PIECES: sp.Piecewise, PIECE: sp.functions.elementary.piecewise.ExprCondPair}
    return ARITHMETIC | RELATIONS | LOGIC | pieces | functions


def read_back(data: Any) -> sp.Expr:
    """The expression that some plain data say; whatever else they are is refused, and nothing is executed."""
    if not isinstance(data, Sequence) or isinstance(data, str) or not 0 < len(data) <= LARGEST_SIZE:
        raise InputError(f"no row of 1 to {LARGEST_SIZE:,} entries: {NOT_KEPT}")
    known = operations()
    stack: list[tuple[sp.Basic, int, int]] = []  # parts, how deep they are, how deep slow functions stand in each other
    for entry in data:
        made = atom(entry)
        if made is not None:
            stack.append((made, 1, 0))
            continue
        name, count = pair(entry)
        if name not in known or not 0 < count <= len(stack):
            raise InputError(f"{name!r} of {count} parts is no operation here: {NOT_KEPT}")
        parts, stack = stack[-count:], stack[:-count]
        depth, slow = 1 + max(d for _, d, _ in parts), max(s for *_, s in parts) + is_slow(name)
        if depth > LARGEST_DEPTH or slow > LARGEST_SLOW:
            raise InputError(f"it is nested too deeply: {NOT_KEPT}, up to {LARGEST_DEPTH} deep")
        stack.append((put_together(name, known[name], [p for p, *_ in parts]), depth, slow))
    if len(stack) != 1 or not isinstance(stack[0][0], sp.Expr):
        raise InputError(f"its entries are no expression: {NOT_KEPT}")
    return stack[0][0]


def is_slow(name: str) -> bool:
    """Whether SymPy takes long with this function within itself."""
    return name == PIECES or (name in FUNCTIONS and FUNCTIONS[name].slow)


def atom(entry: Any) -> sp.Basic | None:
    """A number, a name, a constant or the time; None if this is an operation."""
    if isinstance(entry, bool) or not isinstance(entry, int | float | list):
        raise InputError(f"{entry!r} is no entry of an expression: {NOT_KEPT}")
    if isinstance(entry, int):
        return sp.Integer(entry) if abs(entry) < LARGEST_NUMBER else sp.Float(small(entry))
    if isinstance(entry, float):
        return sp.Float(small(entry))
    match entry:
        case ["time"]:
            return t
        case ["name", str(name)] if name:
            return sp.Symbol(name)
        case ["ratio", int(p), int(q)] if q > 0 and max(abs(p), q) < LARGEST_NUMBER:
            return sp.Rational(p, q)
        case [str(name)] if name in CONSTANTS:
            return CONSTANTS[name]
    return None


def small(value: float) -> float:
    """A finite float."""
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise InputError(f"a number is not finite: {NOT_KEPT}")
    return found


def pair(entry: list[Any]) -> tuple[str, int]:
    """The name of an operation, and of how many parts it is."""
    match entry:
        case [str(name), int(count)] if not isinstance(count, bool):
            return name, count
    raise InputError(f"{str(entry)[:40]} is no entry of an expression: {NOT_KEPT}")


def put_together(name: str, kind: Callable[..., Any], parts: list[Any]) -> Any:
    """An operation on its parts, as it was: SymPy evaluates sums, products and powers of bounded numbers alone."""
    logical = name in LOGIC
    if name == PIECES and all(isinstance(p, sp.functions.elementary.piecewise.ExprCondPair) for p in parts):
        return sp.Piecewise(*parts, evaluate=False)
    if name == PIECE and len(parts) == 2 and isinstance(parts[0], sp.Expr) and is_truth(parts[1]):
        return kind(*parts)
    if logical and all(map(is_truth, parts)) and (name != "Not" or len(parts) == 1):
        return kind(*parts, evaluate=False)
    if name in (PIECES, PIECE) or logical or not all(isinstance(p, sp.Expr) for p in parts):
        raise InputError(f"{name} has parts of another kind: {NOT_KEPT}")
    if name in RELATIONS and len(parts) == 2:
        return kind(*parts, evaluate=False)
    if name == "Pow":
        require_power(parts)
        return kind(*parts, evaluate=False)
    if name in FUNCTIONS:
        least, most = FUNCTIONS[name].arguments
        if least <= len(parts) <= most:
            return kind(*parts, evaluate=False)
    if name in ("Add", "Mul"):
        return kind(*parts, evaluate=False)
    raise InputError(f"{name} of {len(parts)} parts is no operation here: {NOT_KEPT}")


def is_truth(part: Any) -> bool:
    """Whether this holds or does not."""
    return isinstance(part, sp.logic.boolalg.Boolean) and not isinstance(part, sp.Symbol)


def require_power(parts: list[Any]) -> None:
    """Refuse a power of numbers, which was written as a number, and one that takes for ever."""
    if len(parts) != 2 or (not parts[0].free_symbols and not parts[1].free_symbols):
        raise InputError(f"a power of numbers is a number: {NOT_KEPT}")
    exponent = parts[1]
    if exponent.is_Number and abs(exponent) > LARGEST_EXPONENT:
        raise InputError(f"an exponent beyond {LARGEST_EXPONENT}: {NOT_KEPT}")
