"""What expressions of model files may call: the functions that have a name there, `if`, and reactions."""

from typing import Any

import sympy as sp

from zwang.functions import FUNCTIONS, in_sympy

CALLED = {name: key for key, function in FUNCTIONS.items() for name in function.files}
"""The functions of `zwang.functions`, by their names in model files."""
WRITTEN = {key: function.files[0] for key, function in FUNCTIONS.items() if function.files and key != "sqrt"}
"""What is written for each; a root is written as the power that it is."""

# Not functions of numbers: their arguments are a condition, and names.
IF = "if"
REACTIONS = ("multiplier", "constraint_force")

RESERVED = frozenset([*CALLED, IF, *REACTIONS])
SLOW = [IF, *(name for name, key in CALLED.items() if FUNCTIONS[key].slow)]


def unevaluated(key: str, args: list[sp.Expr]) -> sp.Expr:
    """A function of arguments that are not all constant, as they stand.

    SymPy would ask many questions about them, and some answers take long.
    """
    return in_sympy(key)(*args, evaluate=False)


def written(expression: Any) -> str:
    """What model files call an expression's function; nothing if they cannot say it."""
    key = type(expression).__name__
    return WRITTEN[key] if key in WRITTEN and expression.func is in_sympy(key) else ""
