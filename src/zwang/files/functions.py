"""The functions that expressions may call, each with its SymPy class and with its value for plain numbers."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy as sp


@dataclass(frozen=True)
class Function:
    """A function by its SymPy class, what computes it from floats, and how many arguments it takes.

    SymPy asks many questions about an argument that is not constant, and some answers take long: `make` takes such
    an argument as it stands. `slow` functions are asked all the same when symbols are replaced in an expression; the
    time that takes grows exponentially where they are nested.
    """

    kind: Any
    compute: Callable[..., float]
    least: int = 1
    most: int = 1
    meaning: str = ""
    slow: bool = False

    def make(self, *args: sp.Expr) -> sp.Expr:
        """The function of arguments that are not all constant."""
        return self.kind(*args, evaluate=False)


def sign(x: float) -> float:
    """The sign of a number: −1, 0 or 1."""
    return (x > 0) - (x < 0)


MOST_ARGUMENTS = 20

FUNCTIONS: dict[str, Function] = {
    "sin": Function(sp.sin, math.sin, meaning="sine; angles are in radians"),
    "cos": Function(sp.cos, math.cos, meaning="cosine"),
    "tan": Function(sp.tan, math.tan, meaning="tangent"),
    "cot": Function(sp.cot, lambda x: 1 / math.tan(x), meaning="cotangent"),
    "sec": Function(sp.sec, lambda x: 1 / math.cos(x), meaning="secant"),
    "csc": Function(sp.csc, lambda x: 1 / math.sin(x), meaning="cosecant"),
    "asin": Function(sp.asin, math.asin, meaning="inverse of the sine"),
    "acos": Function(sp.acos, math.acos, meaning="inverse of the cosine"),
    "atan": Function(sp.atan, math.atan, meaning="inverse of the tangent"),
    "atan2": Function(sp.atan2, math.atan2, 2, 2, "atan2(y, x): the angle of the direction (x, y)"),
    "sinh": Function(sp.sinh, math.sinh, meaning="hyperbolic sine", slow=True),
    "cosh": Function(sp.cosh, math.cosh, meaning="hyperbolic cosine", slow=True),
    "tanh": Function(sp.tanh, math.tanh, meaning="hyperbolic tangent", slow=True),
    "asinh": Function(sp.asinh, math.asinh, meaning="inverse of the hyperbolic sine"),
    "acosh": Function(sp.acosh, math.acosh, meaning="inverse of the hyperbolic cosine"),
    "atanh": Function(sp.atanh, math.atanh, meaning="inverse of the hyperbolic tangent"),
    "exp": Function(sp.exp, math.exp, meaning="exponential function"),
    "log": Function(sp.log, math.log, meaning="natural logarithm"),
    "ln": Function(sp.log, math.log, meaning="natural logarithm"),
    "sqrt": Function(sp.sqrt, math.sqrt, meaning="square root"),
    "erf": Function(sp.erf, math.erf, meaning="error function"),
    "erfc": Function(sp.erfc, math.erfc, meaning="1 − erf"),
    "floor": Function(sp.floor, math.floor, meaning="the next integer below"),
    "ceil": Function(sp.ceiling, math.ceil, meaning="the next integer above"),
    "abs": Function(sp.Abs, abs, meaning="absolute value"),
    "sign": Function(sp.sign, sign, meaning="−1, 0 or 1"),
    "min": Function(sp.Min, min, 2, MOST_ARGUMENTS, "the least of its arguments"),
    "max": Function(sp.Max, max, 2, MOST_ARGUMENTS, "the greatest of its arguments"),
}

# Not functions of numbers: their arguments are a condition, and names.
IF = "if"
REACTIONS = ("multiplier", "constraint_force")

RESERVED = frozenset([*FUNCTIONS, IF, *REACTIONS])
