"""Tests say something: none without an assertion, none whose assertions cannot fail by their form.

An assertion counts wherever it surely runs: in the body of the test, in a function of the tests that it calls, as
`pytest.raises` or a function of NumPy's. Under an `if` without an else it does not: the law of a name would hold in
green though nobody looked.
"""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
CHECKS = {"raises", "warns", "fail", "validate"}
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(TESTS.rglob("*.py"))}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[Path, Function]]:
    """Every function of the tests."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield path, node


def called(node: ast.AST) -> Iterator[str]:
    """The names of functions that are called within a piece of code."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            yield getattr(call.func, "id", getattr(call.func, "attr", ""))


def checks_itself(node: ast.AST) -> bool:
    """Whether there is an assertion within a piece of code."""
    own = any(isinstance(part, ast.Assert | ast.Raise) for part in ast.walk(node))
    return own or any(name in CHECKS or name.startswith("assert_") for name in called(node))


def checking() -> set[str]:
    """The functions of the tests that assert something, or call one that does."""
    helpers = [node for _, node in functions() if not node.name.startswith("test_")]
    found = {node.name for node in helpers if checks_itself(node)}
    while more := {node.name for node in helpers if node.name not in found and found & set(called(node))}:
        found |= more
    return found


def only_under_if(body: list[ast.stmt], helpers: set[str]) -> bool:
    """Whether all assertions of a test stand under an `if` without an else."""

    def checks(node: ast.AST) -> bool:
        return checks_itself(node) or bool(helpers & set(called(node)))

    with_checks = [statement for statement in body if checks(statement)]
    return bool(with_checks) and all(
        isinstance(s, ast.If) and not checks(s.test) and not (any(map(checks, s.body)) and any(map(checks, s.orelse)))
        for s in with_checks
    )


def hollow(test: ast.expr) -> bool:
    """Whether an assertion holds by its form: of a constant, of a tuple, or of something with itself."""
    if isinstance(test, ast.Tuple) or (isinstance(test, ast.Constant) and bool(test.value)):
        return True
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(map(hollow, test.values))
    if isinstance(test, ast.Compare) and not any(isinstance(op, ast.Is | ast.IsNot) for op in test.ops):
        sides = [test.left, *test.comparators]
        return any(
            ast.dump(one) == ast.dump(other) and not any(isinstance(part, ast.Call) for part in ast.walk(one))
            for one, other in pairwise(sides)
        )
    return False


def test_every_test_asserts_something():
    helpers = checking()
    silent = [
        f"{path.relative_to(TESTS)}:{node.lineno} {node.name}"
        for path, node in functions()
        if node.name.startswith("test_") and not checks_itself(node) and not helpers & set(called(node))
    ]
    assert not silent


def test_no_test_asserts_under_an_if_alone():
    helpers = checking()
    weak = [
        f"{path.relative_to(TESTS)}:{node.lineno} {node.name}"
        for path, node in functions()
        if node.name.startswith("test_") and only_under_if(node.body, helpers)
    ]
    assert not weak


def test_no_assertion_holds_by_its_form():
    found = [
        f"{path.relative_to(TESTS)}:{part.lineno} {ast.unparse(part.test)}"
        for path, tree in TREES.items()
        for part in ast.walk(tree)
        if isinstance(part, ast.Assert) and hollow(part.test)
    ]
    assert not found


@pytest.mark.parametrize(
    ("code", "silent", "weak", "empty"),
    [
        ("x = 1", True, False, False),
        ("assert x == 1", False, False, False),
        ("if x:\n    assert x", False, True, False),
        ("if x:\n    assert x\nelse:\n    assert not x", False, False, False),
        ("assert True", False, False, True),
        ("assert x == x", False, False, True),
        ("assert f(x) == f(x)", False, False, False),
        ("assert (x, 'words')", False, False, True),
        ("with pytest.raises(E):\n    f()", False, False, False),
    ],
)
def test_the_guard_sees_what_it_is_for(code, silent, weak, empty):
    body = ast.parse(code).body
    assert any(map(checks_itself, body)) is not silent
    assert only_under_if(body, set()) is weak
    assert any(hollow(part.test) for s in body for part in ast.walk(s) if isinstance(part, ast.Assert)) is empty
