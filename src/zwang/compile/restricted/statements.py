"""Statements of native functions as LLVM instructions."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir

from zwang.compile.restricted.decorators import Native
from zwang.compile.restricted.expressions import Expressions, Value, kind_of
from zwang.compile.restricted.module import AS_WRITTEN, INT, Loop, Module, counted


def module_text(entry: Callable[..., Any]) -> str:
    """LLVM's text of a native function, under its own name, and of all it calls, unseen from outside."""
    module = Module()
    module.function(cast(Native, entry)).linkage = "external"
    while module.waiting:
        FunctionBody(module, *module.waiting.pop()).translate()
    return str(module.module) + AS_WRITTEN.text


class FunctionBody(Expressions):
    """The body of one native function, statement by statement."""

    def __init__(self, module: Module, function: Callable[..., Any], declared: Any) -> None:
        super().__init__(module, function, declared)
        self._result = declared.function_type.return_type
        self._loops: list[Loop] = []
        self._left: set[Any] = set()  # ends of loops that a break leads to

    def translate(self) -> None:
        """Write the body."""
        tree = cast(ast.FunctionDef, ast.parse(textwrap.dedent(inspect.getsource(self.function))).body[0])
        # Beside a loop a call costs nothing, but a loop takes LLVM long: each is compiled in one place.
        if any(isinstance(node, ast.For | ast.While) for node in ast.walk(tree)):
            self.declared.attributes.add("noinline")
        for argument, value in zip(tree.args.args, self.declared.args, strict=True):
            self._assign(ast.Name(argument.arg), value)
        self._block(tree.body)
        if not self.builder.block.is_terminated:
            if not isinstance(self._result, ir.VoidType):
                raise self.refused(tree.body[-1], "it may end without a return")
            self.builder.ret_void()

    def _block(self, statements: list[ast.stmt]) -> None:
        """Statements up to the first that leads elsewhere."""
        for statement in statements:
            write = getattr(self, f"_do_{type(statement).__name__}", None)
            if write is None:
                raise self.refused(statement, f"{type(statement).__name__} is not among the statements it may use")
            write(statement)
            if self.builder.block.is_terminated:
                return

    def _do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.value(node.value)

    def _do_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._assign(target, value)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        place = self.place(node.target)
        value = self.operation(node, node.op, self.builder.load(place), self.value(node.value))
        self.builder.store(self.convert(node, value, place.type.pointee), place)

    def _assign(self, target: ast.expr, value: Value) -> None:
        """A value into a variable, an element or a field; several values into as many."""
        if isinstance(target, ast.Tuple):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise self.refused(target, "there are not as many values as targets")
            for part, item in zip(target.elts, value, strict=True):
                self._assign(part, item)
            return
        if isinstance(target, ast.Name) and target.id not in self.variables:
            if isinstance(kind_of(value), ir.VoidType):
                raise self.refused(target, "a variable has one value")
            with self.builder.goto_block(self.declared.entry_basic_block):
                self.builder.position_at_start(self.declared.entry_basic_block)
                self.variables[target.id] = self.builder.alloca(value.type)
        place = self.place(target)
        self.builder.store(self.convert(target, value, place.type.pointee), place)

    def _do_Return(self, node: ast.Return) -> None:
        value = self.value(node.value) if node.value else None
        if isinstance(value, tuple):
            kinds = getattr(self._result, "elements", ())
            if len(kinds) != len(value):
                raise self.refused(node, "not as many values as are declared")
            packed = ir.Constant(self._result, ir.Undefined)
            for k, part in enumerate(value):
                packed = self.builder.insert_value(packed, self.convert(node, part, kinds[k]), k)
            self.builder.ret(packed)
        elif isinstance(self._result, ir.VoidType) and value is None:
            self.builder.ret_void()
        else:
            self.builder.ret(self.convert(node, value, self._result))

    def _do_If(self, node: ast.If) -> None:
        then, other, after = (self.builder.append_basic_block(name) for name in ("then", "else", "after"))
        self.builder.cbranch(self.truth(node.test), then, other)
        reached = False
        for start, statements in ((then, node.body), (other, node.orelse)):
            self.builder.position_at_end(start)
            self._block(statements)
            if not self.builder.block.is_terminated:
                self.builder.branch(after)
                reached = True
        self.builder.position_at_end(after)
        if not reached:
            self.builder.unreachable()

    def _do_While(self, node: ast.While) -> None:
        head, body, done = (self.builder.append_basic_block(name) for name in ("head", "body", "done"))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        self.builder.cbranch(self.truth(node.test), body, done)
        self.builder.position_at_end(body)
        self._inside(Loop(None, head, done), node)
        if not self.builder.block.is_terminated:
            self.builder.branch(head)
        self.builder.position_at_end(done)
        forever = isinstance(node.test, ast.Constant) and node.test.value is True
        if forever and done not in self._left:
            self.builder.unreachable()

    def _do_For(self, node: ast.For) -> None:
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
            raise self.refused(node, "a loop goes over a range")
        bounds = [self.convert(bound, self.value(bound), INT) for bound in call.args]
        if len(bounds) > 2:
            raise self.refused(node, "a range goes in steps of one")
        with counted(self.builder, *bounds if len(bounds) == 2 else (INT(0), *bounds)) as loop:
            self._assign(node.target, loop.index)
            self._inside(loop, node)

    def _inside(self, loop: Loop, node: ast.For | ast.While) -> None:
        """The body of a loop."""
        if node.orelse:
            raise self.refused(node, "a loop has no else")
        self._loops.append(loop)
        self._block(node.body)
        self._loops.pop()

    def _do_Break(self, node: ast.Break) -> None:
        self._left.add(self._loops[-1].done)
        self.builder.branch(self._loops[-1].done)

    def _do_Continue(self, node: ast.Continue) -> None:
        self.builder.branch(self._loops[-1].again)
