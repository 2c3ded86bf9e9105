"""Expressions of native functions as LLVM instructions."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from llvmlite import ir

from zwang.compile.machine_code import LIBRARY
from zwang.compile.restricted.decorators import Intrinsic, Native
from zwang.compile.restricted.module import ARRAY, BOOL, FLOAT, INT, Module, spread

Value = Any
"""A value of LLVM, or a tuple of them."""

POWER: Final = LIBRARY + "pow"

_ARITHMETIC: Final = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
# What Python computes while translating: constants of the source, and no more than these operations on them.
_PYTHON: Final[dict[type, Callable[..., Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_COMPUTED: Final = ast.Constant | ast.Attribute | ast.Subscript | ast.UnaryOp | ast.BinOp | ast.Call
_LOGIC: Final = {ast.BitAnd: "and_", ast.BitOr: "or_"}
_RELATIONS: Final = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class Expressions:
    """What one native function computes. Statements give the variables their places."""

    def __init__(self, module: Module, function: Callable[..., Any], declared: Any) -> None:
        self.module, self.function, self.declared = module, function, declared
        self.builder = ir.IRBuilder(declared.append_basic_block("entry"))
        self.variables: dict[str, Value] = {}
        outer = inspect.getclosurevars(function)
        self._known = {**vars(builtins), **function.__globals__, **outer.nonlocals}
        self._local = frozenset(function.__code__.co_varnames)
        self._constants: dict[ast.expr, bool] = {}

    def refused(self, node: Any, why: str) -> SyntaxError:
        """What cannot be translated, and where it stands."""
        code = self.function.__code__
        line = code.co_firstlineno + node.lineno - 1
        said = ast.unparse(node).splitlines()[0]
        return SyntaxError(f"{code.co_filename}:{line}: native function {code.co_name}: {why}: {said}")

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        if self._is_constant(node):
            return self._constant(node)
        write = getattr(self, f"_on_{type(node).__name__}", None)
        if write is None:
            raise self.refused(node, f"{type(node).__name__} is not among the expressions it may use")
        return write(node)

    def truth(self, node: ast.expr) -> Value:
        """The value of a condition."""
        return self.convert(node, self.value(node), BOOL)

    def convert(self, node: ast.AST, value: Value, kind: Any) -> Value:
        """A value where this type is needed: an int becomes a float, a number stands in all lanes."""
        given = kind_of(value)
        if given == kind:
            return value
        if isinstance(kind, ir.VectorType) and kind.element == FLOAT and given in (FLOAT, INT):
            return spread(self.builder, self.convert(node, value, FLOAT), kind)
        if (given, kind) == (INT, FLOAT):
            return self.builder.sitofp(value, FLOAT)
        raise self.refused(node, f"{_named(given)} where {_named(kind)} is needed")

    def place(self, node: ast.AST) -> Value:
        """Where a variable, an element or a field is in memory."""
        if isinstance(node, ast.Name):
            if node.id not in self.variables:
                raise self.refused(node, "it has no value yet, or is not known")
            return self.variables[node.id]
        if isinstance(node, ast.Subscript):
            index = self.convert(node.slice, self.value(node.slice), INT)
            name = node.value.id if isinstance(node.value, ast.Name) else ""
            if name not in self._local and isinstance(self._known.get(name), np.ndarray):
                return self.builder.gep(self.module.table(self._known[name]), [INT(0), index])
            if isinstance(node.value, ast.Attribute) and self._in_lanes(lanes := self.place(node.value)):
                return self.builder.gep(self.builder.bitcast(lanes, ARRAY), [index])
            return self.builder.gep(self._pointer(node.value), [index])
        if isinstance(node, ast.Attribute):
            record = self._pointer(node.value)
            names = self.module.fields.get(getattr(record.type.pointee, "name", ""), [])
            if node.attr not in names:
                raise self.refused(node, "there is no such field")
            return self.builder.gep(record, [ir.IntType(32)(0), ir.IntType(32)(names.index(node.attr))])
        raise self.refused(node, "not a place where a value could be")

    def operation(self, node: ast.AST, operator: ast.operator, a: Value, b: Value) -> Value:
        """A op b."""
        kind = type(operator)
        if kind in _LOGIC and isinstance(kind_of(a), ir.VectorType):
            return getattr(self.builder, _LOGIC[kind])(a, self.convert(node, b, kind_of(a)))
        if kind in _LOGIC:
            return getattr(self.builder, _LOGIC[kind])(self.convert(node, a, BOOL), self.convert(node, b, BOOL))
        if kind in _ARITHMETIC and kind_of(a) == kind_of(b) == INT:
            return getattr(self.builder, _ARITHMETIC[kind])(a, b)
        a, b = self._alike(node, a, b)
        if kind in _ARITHMETIC:
            return getattr(self.builder, "f" + _ARITHMETIC[kind])(a, b)
        if kind is ast.Div:
            return self.builder.fdiv(a, b)
        if kind is ast.Pow and a.type == FLOAT:
            return self.builder.call(self.module.outside(POWER, 2), [a, b])
        raise self.refused(node, f"{kind.__name__} is not among the operations it may use")

    def _alike(self, node: ast.AST, *values: Value) -> list[Value]:
        """Numbers as floats, or all in lanes if one of them is."""
        wide = next((kind for kind in map(kind_of, values) if isinstance(kind, ir.VectorType)), FLOAT)
        return [self.convert(node, value, wide) for value in values]

    @staticmethod
    def _in_lanes(place: Value) -> bool:
        """Whether what is there in memory are numbers in lanes: each of them has a place, too."""
        return isinstance(place.type.pointee, ir.VectorType)

    def _pointer(self, node: ast.expr) -> Value:
        """The value of an expression that is an array or a record."""
        value = self.value(node)
        if not isinstance(kind_of(value), ir.PointerType):
            raise self.refused(node, "neither an array nor a record")
        return value

    def _is_constant(self, node: ast.expr) -> bool:
        """Whether Python can compute it now."""
        if node not in self._constants:
            if isinstance(node, ast.Name):
                known = node.id not in self._local and node.id in self._known
                constant = known and not isinstance(self._known[node.id], Native | Intrinsic)
            else:
                parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
                constant = isinstance(node, _COMPUTED) and all(map(self._is_constant, parts))
            self._constants[node] = constant
        return self._constants[node]

    def _constant(self, node: ast.expr) -> Value:
        """What Python computes."""
        value = self._computed(node)
        if isinstance(value, bool | np.bool_):
            return BOOL(int(value))
        if isinstance(value, int | np.integer):
            return INT(int(value))
        if isinstance(value, float):
            return FLOAT(float(value))
        raise self.refused(node, f"a constant is a number, not {type(value).__name__}")

    def _computed(self, node: ast.expr) -> Any:
        """The value of a constant expression, from what the function's own module knows."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self._known[node.id]
            case ast.Attribute():
                return getattr(self._computed(node.value), node.attr)
            case ast.Subscript():
                return self._computed(node.value)[self._computed(node.slice)]
            case ast.Call(keywords=[]):
                return self._computed(node.func)(*map(self._computed, node.args))
            case ast.UnaryOp() if type(node.op) in _PYTHON:
                return _PYTHON[type(node.op)](self._computed(node.operand))
            case ast.BinOp() if type(node.op) in _PYTHON:
                return _PYTHON[type(node.op)](self._computed(node.left), self._computed(node.right))
        raise self.refused(node, "Python does not compute this while translating")

    def _on_Name(self, node: ast.Name) -> Value:
        return self.builder.load(self.place(node))

    def _on_Attribute(self, node: ast.Attribute) -> Value:
        return self.builder.load(self.place(node))

    def _on_Subscript(self, node: ast.Subscript) -> Value:
        place = self.place(node)
        return place if isinstance(place.type.pointee, ir.IdentifiedStructType) else self.builder.load(place)

    def _on_Tuple(self, node: ast.Tuple) -> Value:
        return tuple(self.value(part) for part in node.elts)

    def _on_BinOp(self, node: ast.BinOp) -> Value:
        return self.operation(node, node.op, self.value(node.left), self.value(node.right))

    def _on_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return self.builder.not_(self.truth(node.operand))
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            return self.builder.neg(value) if kind_of(value) == INT else self.builder.fneg(*self._alike(node, value))
        if isinstance(node.op, ast.Invert) and (kind_of(value) == BOOL or isinstance(kind_of(value), ir.VectorType)):
            return self.builder.not_(value)
        raise self.refused(node, "not among the operations it may use")

    def _on_Compare(self, node: ast.Compare) -> Value:
        last = self.value(node.left)

        def link(operator: ast.cmpop, right: ast.expr) -> Value:
            nonlocal last
            before, last = last, self.value(right)
            return self._compare(node, operator, before, last)

        return self._decide(False, [partial(link, *pair) for pair in zip(node.ops, node.comparators, strict=True)])

    def _compare(self, node: ast.Compare, operator: ast.cmpop, a: Value, b: Value) -> Value:
        relation = _RELATIONS.get(type(operator))
        if relation is None:
            raise self.refused(node, "not among the comparisons it may use")
        if kind_of(a) == kind_of(b) == INT:
            return self.builder.icmp_signed(relation, a, b)
        # What is not a number is unequal to every number, and nothing else.
        compare = self.builder.fcmp_unordered if relation == "!=" else self.builder.fcmp_ordered
        return compare(relation, *self._alike(node, a, b))

    def _on_BoolOp(self, node: ast.BoolOp) -> Value:
        return self._decide(isinstance(node.op, ast.Or), [partial(self.truth, part) for part in node.values])

    def _decide(self, deciding: bool, parts: Sequence[Callable[[], Value]]) -> Value:
        """And (False decides) or or (True decides) of conditions, none of them looked at once it is decided."""
        builder, known = self.builder, []
        if len(parts) == 1:
            return parts[0]()
        done = builder.append_basic_block("decided")
        for part in parts[:-1]:
            value, further = part(), builder.append_basic_block("further")
            known.append((BOOL(int(deciding)), builder.block))
            builder.cbranch(value, *((done, further) if deciding else (further, done)))
            builder.position_at_end(further)
        known.append((parts[-1](), builder.block))
        builder.branch(done)
        builder.position_at_end(done)
        return self._join(BOOL, known)

    def _on_IfExp(self, node: ast.IfExp) -> Value:
        builder = self.builder
        starts = [builder.append_basic_block(name) for name in ("if", "else")]
        done = builder.append_basic_block("chosen")
        builder.cbranch(self.truth(node.test), *starts)
        values, ends = [], []
        for start, part in zip(starts, (node.body, node.orelse), strict=True):
            builder.position_at_end(start)
            value = self.value(part)
            values.append(value if isinstance(value, tuple) else (value,))
            ends.append(builder.block)
        if len(values[0]) != len(values[1]):
            raise self.refused(node, "its two values are not alike")
        kinds = [FLOAT if FLOAT in map(kind_of, pair) else kind_of(pair[0]) for pair in zip(*values, strict=True)]
        joined = []
        for value, end in zip(values, ends, strict=True):
            builder.position_at_end(end)
            joined.append([(self.convert(node, v, kind), end) for v, kind in zip(value, kinds, strict=True)])
            builder.branch(done)
        builder.position_at_end(done)
        parts = tuple(self._join(kind, pair) for kind, *pair in zip(kinds, *joined, strict=True))
        return parts if len(parts) > 1 else parts[0]

    def _join(self, kind: Any, known: list[tuple[Value, Any]]) -> Value:
        """The value from whichever block it comes."""
        joined = self.builder.phi(kind)
        for value, block in known:
            joined.add_incoming(value, block)
        return joined

    def _on_Call(self, node: ast.Call) -> Value:
        called = self._called(node)
        given = [self.value(argument) for argument in node.args]
        if isinstance(called, Intrinsic):
            self.module.know(called.emit)
            return called.emit(self.builder, *given)
        if isinstance(called, Native):
            function = self.module.function(called, [kind_of(value) for value in given])
            kinds = function.function_type.args
            if len(kinds) != len(given):
                raise self.refused(node, f"{len(kinds)} arguments are expected")
            arguments = [self.convert(a, v, kind) for a, v, kind in zip(node.args, given, kinds, strict=True)]
            result = self.builder.call(function, arguments)
            if isinstance(result.type, ir.LiteralStructType):
                return tuple(self.builder.extract_value(result, k) for k in range(len(result.type.elements)))
            return result
        if len(given) != 1:
            raise self.refused(node, "one argument is expected")
        if called is int and kind_of(given[0]) == INT:
            return given[0]
        if called is int:
            return self.builder.fptosi(self.convert(node, given[0], FLOAT), INT)
        (number,) = self._alike(node, given[0])
        width = f"v{number.type.count}" if isinstance(number.type, ir.VectorType) else ""
        name = f"llvm.{'fabs' if called is abs else 'sqrt'}.{width}f64"
        return self.builder.call(self.module.outside(name, 1, number.type), [number])

    def _called(self, node: ast.Call) -> Any:
        """The function that is called, if it may be."""
        called = self._looked_up(node.func)
        if node.keywords or not (isinstance(called, Native | Intrinsic) or called in (int, abs, math.sqrt)):
            raise self.refused(node, "not among the functions it may call")
        return called

    def _looked_up(self, node: ast.expr) -> Any:
        """What a global name, or an attribute of one, stands for; None for all else."""
        if isinstance(node, ast.Attribute):
            return getattr(self._looked_up(node.value), node.attr, None)
        known = isinstance(node, ast.Name) and node.id not in self._local
        return self._known.get(node.id) if known and isinstance(node, ast.Name) else None


def kind_of(value: Value) -> Any:
    """The LLVM type of one value; for none, or for several, LLVM's void, which no value has."""
    return getattr(value, "type", ir.VoidType())


def _named(kind: Any) -> str:
    """A type as it is declared."""
    names = {FLOAT: "float", INT: "int", BOOL: "bool", ARRAY: "Array", ir.VoidType(): "no value, or several,"}
    return names.get(kind, str(kind))
