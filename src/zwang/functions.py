"""The elementary functions: what each is called in every language that zwang speaks, declared once.

Expressions come from SymPy or from model files, are derived in SymEngine, compiled to machine code, expanded by heyoka,
checked with mpmath and bounded over stretches of time. All of these read this table, which therefore stands below all
of them; so a new function is one entry here. Nothing that is slow to import is imported here: entries name what they
mean, or have it called with the module that it is made of.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from typing import Any

MOST_ARGUMENTS = 20


@dataclass(frozen=True)
class Function:
    """A function, which the table knows by what SymPy and SymEngine call its class.

    SymEngine must have it and know its derivative, or there is a `recipe`. Machine code needs the same, and beyond it
    `native`, the C library's name or that of an instruction (`llvm.…`). Of what is left empty the rest gets by, but:
    heyoka refuses, mpmath is replaced by SymPy's own evaluation, bounds over time are guessed from samples.
    """

    meaning: str
    files: tuple[str, ...] = ()
    """What model files call it, the name to write first; none if they cannot say it."""
    arguments: tuple[int, int] = (1, 1)
    """How many it takes, at least and at most."""
    numbers: Callable[..., float] | None = None
    """What computes it from floats; it must be there if model files have it."""
    sympy: Any = ""
    """Where SymPy has it, if not as sympy.NAME: a dotted name, or the class itself."""
    native: str = ""
    heyoka: str = ""
    mpmath: str | Callable[..., Any] = ""
    """mpmath's name, or what computes it from the module mpmath and the arguments."""
    recipe: Callable[..., Any] | None = None
    """What makes it of others, from a language (the module symengine, or sympy) and the arguments."""
    reciprocal_of: str = ""
    """f for 1/f(x)."""
    of_reciprocal: str = ""
    """f for f(1/x)."""
    rises: str = ""
    """What computes it from arrays, if it rises all along: a dotted name."""
    falls: str = ""
    """The same if it falls."""
    switch: str = ""
    """What makes it switch, if it does: the "sign" of something, or the "floor" of something."""
    steps: bool = False
    """Whether it is constant but for its jumps."""
    slow: bool = False
    """Whether SymPy asks long questions about its arguments when symbols are replaced in it.

    The time that takes grows exponentially where such functions are nested.
    """


def known(meaning: str, name: str, **more: Any) -> Function:
    """A function that everybody knows by this name, model files too."""
    usual = {
        "files": (name,),
        "numbers": getattr(math, name),
        "native": name,
        "heyoka": name,
        "mpmath": name,
    }
    return Function(meaning, **(usual | more))


def over(meaning: str, name: str, base: str, **more: Any) -> Function:
    """The reciprocal of a function."""

    def numbers(x: float) -> float:
        below = FUNCTIONS[base].numbers
        assert below is not None
        return 1 / below(x)

    return Function(meaning, (name,), numbers=numbers, mpmath=name, reciprocal_of=base, **more)


def sign(x: float) -> float:
    """The sign of a number: −1, 0 or 1."""
    return (x > 0) - (x < 0)


FUNCTIONS: dict[str, Function] = {
    "sin": known("sine; angles are in radians", "sin"),
    "cos": known("cosine", "cos"),
    "tan": known("tangent", "tan"),
    "cot": over("cotangent", "cot", "tan"),
    "sec": over("secant", "sec", "cos"),
    "csc": over("cosecant", "csc", "sin"),
    "asin": known("inverse of the sine", "asin", rises="numpy.arcsin"),
    "acos": known("inverse of the cosine", "acos", falls="numpy.arccos"),
    "atan": known("inverse of the tangent", "atan", rises="numpy.arctan"),
    "atan2": known("the angle of the direction (x, y)", "atan2", arguments=(2, 2)),
    "acot": Function("inverse of the cotangent", mpmath="acot", of_reciprocal="atan"),
    "asec": Function("inverse of the secant", mpmath="asec", of_reciprocal="acos"),
    "acsc": Function("inverse of the cosecant", mpmath="acsc", of_reciprocal="asin"),
    "sinh": known("hyperbolic sine", "sinh", rises="numpy.sinh", slow=True),
    "cosh": known("hyperbolic cosine", "cosh", slow=True),
    "tanh": known("hyperbolic tangent", "tanh", rises="numpy.tanh", slow=True),
    "coth": over("hyperbolic cotangent", "coth", "tanh", slow=True),
    "sech": over("hyperbolic secant", "sech", "cosh", slow=True),
    "csch": over("hyperbolic cosecant", "csch", "sinh", slow=True),
    "asinh": known("inverse of the hyperbolic sine", "asinh", rises="numpy.arcsinh"),
    "acosh": known("inverse of the hyperbolic cosine", "acosh", rises="numpy.arccosh"),
    "atanh": known("inverse of the hyperbolic tangent", "atanh", rises="numpy.arctanh"),
    "acoth": Function("inverse of the hyperbolic cotangent", mpmath="acoth", of_reciprocal="atanh"),
    "asech": Function("inverse of the hyperbolic secant", mpmath="asech", of_reciprocal="acosh"),
    "acsch": Function("inverse of the hyperbolic cosecant", mpmath="acsch", of_reciprocal="asinh"),
    "exp": known("exponential function", "exp", rises="numpy.exp"),
    "log": known("natural logarithm", "log", files=("log", "ln"), rises="numpy.log"),
    "log10": Function(
        "logarithm to base 10",
        ("log10",),
        numbers=math.log10,
        sympy="sympy.codegen.cfunctions.log10",
        mpmath="log10",
        recipe=lambda language, x: language.log(x) / language.log(10),
    ),
    "sqrt": Function("square root", ("sqrt",), numbers=math.sqrt),  # a power: SymPy and SymEngine have no class for it
    "erf": known("error function", "erf", rises="scipy.special.erf"),
    "erfc": known("1 − erf", "erfc", falls="scipy.special.erfc"),
    "gamma": Function("gamma function", native="tgamma", mpmath="gamma"),
    "floor": Function(
        "the next integer below", ("floor",), numbers=math.floor,
        native="llvm.floor.f64", mpmath="floor", switch="floor", steps=True,
    ),
    "ceiling": Function(
        "the next integer above", ("ceil",), numbers=math.ceil,
        native="llvm.ceil.f64", mpmath="ceil", switch="floor", steps=True,
    ),
    "frac": Function(
        "the part beyond the next integer below", arguments=(1, 1), mpmath="frac",
        recipe=lambda language, x: x - language.floor(x), switch="floor",
    ),
    "Mod": Function(
        "the remainder of a division", arguments=(2, 2), mpmath=lambda mp, x, y: x - y * mp.floor(x / y),
        recipe=lambda language, x, y: x - y * language.floor(x / y), switch="floor",
    ),
    # SymEngine does not differentiate these; written in pieces, it does.
    "Abs": Function(
        "absolute value", ("abs",), numbers=abs, native="llvm.fabs.f64", mpmath=lambda mp, x: abs(x),
        recipe=lambda language, x: language.Piecewise((x, language.Ge(x, 0)), (-x, True)), switch="sign",
    ),
    "sign": Function(
        "−1, 0 or 1", ("sign",), numbers=sign, mpmath="sign",
        recipe=lambda language, x: language.Piecewise((1, language.Gt(x, 0)), (-1, language.Lt(x, 0)), (0, True)),
        switch="sign", steps=True,
    ),
    "Heaviside": Function(
        "0 or 1; one half at zero, or what is said", arguments=(1, 2),
        mpmath=lambda mp, x, half: half if x == 0 else mp.mpf(x > 0),
        recipe=lambda language, x, half: language.Piecewise(
            (1, language.Gt(x, 0)), (0, language.Lt(x, 0)), (half, True)
        ),
        switch="sign",
    ),
    "Min": Function(
        "the least of its arguments", ("min",), (2, MOST_ARGUMENTS), min, mpmath=lambda mp, *args: min(args),
        recipe=lambda language, *args: reduce(
            lambda x, y: language.Piecewise((x, language.Le(x, y)), (y, True)), args
        ),
        switch="sign",
    ),
    "Max": Function(
        "the greatest of its arguments", ("max",), (2, MOST_ARGUMENTS), max, mpmath=lambda mp, *args: max(args),
        recipe=lambda language, *args: reduce(
            lambda x, y: language.Piecewise((x, language.Ge(x, y)), (y, True)), args
        ),
        switch="sign",
    ),
}  # fmt: skip

FLOORS = ("floor", "ceiling")  # what functions that switch by a floor are made of


def in_sympy(name: str) -> Any:
    """The class of a function in SymPy."""
    given = FUNCTIONS[name].sympy or f"sympy.{name}"
    return imported(given) if isinstance(given, str) else given


def in_mpmath(name: str) -> Callable[..., Any] | None:
    """What computes a function in mpmath's precision; None if SymPy's own evaluation must do."""
    import mpmath  # type: ignore[import-untyped]

    given = FUNCTIONS[name].mpmath
    if isinstance(given, str):
        return getattr(mpmath, given) if given else None
    return lambda *args: given(mpmath, *args)


def imported(name: str) -> Any:
    """What a dotted name means."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)
