"""How each kind of SymEngine expression is computed: one builder per class, found by the class's name."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import TYPE_CHECKING, Protocol

from zwang.compile import table
from zwang.compile.code import NAN, ONE, ZERO, Code, constant
from zwang.compile.machine_code import LIBRARY
from zwang.errors import InputError
from zwang.functions import FUNCTIONS
from zwang.words import shortened

if TYPE_CHECKING:
    from symengine import Expr


class Translation(Protocol):
    """What a builder asks of the one who walks the expression (translate.py): where to write, and the parts' values."""

    code: Code

    def token(self, e: Expr, depth: int = ...) -> str:
        """The value of an expression that stands `depth` levels inside."""

    def denominator(self, e: Expr, depth: int) -> str:
        """The value of a power's inverse if its exponent is negative, otherwise nothing."""


Builder = Callable[[Translation, "Expr", int], str]

# Longer products than this lose more accuracy than the library's pow, which then takes over.
LARGEST_POWER = 64

SPECIAL = {"Infinity": inf, "NegativeInfinity": -inf, "NaN": nan}
LLVM_RELATIONS = {"Equality": "oeq", "Unequality": "une", "LessThan": "ole", "StrictLessThan": "olt"}


def number(translator: Translation, e: Expr, depth: int) -> str:
    """A real number."""
    return constant(nearest_double(e))


def nearest_double(e: Expr) -> float:
    """A real number, rounded once: 1/10 is the double nearest to it."""
    special = SPECIAL.get(type(e).__name__)
    if special is not None:
        return special
    try:
        return rounded(e)
    except (RuntimeError, OverflowError):
        raise InputError(f"the number {shortened(e)} is not a real number in the range of doubles") from None


def rounded(e: Expr) -> float:
    """The double nearest to a number: Python divides integers of any size correctly rounded."""
    return int(e.p) / int(e.q) if e.is_Rational else float(e)


def add(translator: Translation, e: Expr, depth: int) -> str:
    """A sum, term by term as SymEngine orders them."""
    first, *rest = e.args
    total = translator.token(first, depth)
    for a in rest:
        total = translator.code.add(total, translator.token(a, depth))
    return total


def multiply(translator: Translation, e: Expr, depth: int) -> str:
    """A product over a product: x y⁻¹ z⁻² is x/(y z²), one division."""
    code = translator.code
    above = below = coefficient = ""
    for a in e.args:
        if a.is_Number:
            coefficient = translator.token(a, depth)
            continue
        inverse = translator.denominator(a, depth) if a.is_Pow else ""
        if inverse:
            below = code.multiply(below, inverse) if below else inverse
        else:
            factor = translator.token(a, depth)
            above = code.multiply(above, factor) if above else factor
    if coefficient:  # comes last, so that 2xy, -xy and xy share xy
        above = code.multiply(above, coefficient) if above else coefficient
    return code.divide(above or ONE, below) if below else above


def power(translator: Translation, e: Expr, depth: int) -> str:
    """Whole and half powers by products, roots and one division; else exp, exp2 or pow."""
    code = translator.code
    inverse = translator.denominator(e, depth)
    if inverse:
        return code.divide(ONE, inverse)
    base, exponent = e.args
    twice = twice_exponent(exponent)
    if twice:
        return code.power(translator.token(base, depth), twice)
    x = translator.token(exponent, depth)
    if type(base).__name__ == "Exp1":
        return code.call(f"{LIBRARY}exp", x)
    if base == 2:
        return code.call(f"{LIBRARY}exp2", x)
    return code.call(f"{LIBRARY}pow", translator.token(base, depth), x)


def twice_exponent(exponent: Expr) -> int:
    """Twice an exponent if that is a whole number of moderate size, otherwise 0."""
    if not exponent.is_Rational and type(exponent).__name__ != "RealDouble":
        return 0
    twice = 2 * float(exponent)
    return int(twice) if abs(twice) <= 2 * LARGEST_POWER and twice == int(twice) else 0


def function(translator: Translation, e: Expr, depth: int) -> str:
    """A function that LLVM or the C library has, or one that follows from it by a reciprocal."""
    code = translator.code
    known = FUNCTIONS[type(e).__name__]
    arguments = [translator.token(a, depth) for a in e.args]
    if known.reciprocal_of:
        return code.divide(ONE, code.call(native(known.reciprocal_of), *arguments))
    if known.of_reciprocal:
        return code.call(native(known.of_reciprocal), code.divide(ONE, arguments[0]))
    return code.call(native(type(e).__name__), *arguments)


def native(name: str) -> str:
    """What machine code calls: an instruction of the processor, or a function of the C library."""
    found = FUNCTIONS[name].native
    return found if found.startswith("llvm.") else f"{LIBRARY}{found}"


def sign(translator: Translation, e: Expr, depth: int) -> str:
    """1, -1, or the argument itself where it is zero or not a number."""
    code = translator.code
    x = code.unsigned(translator.token(e.args[0], depth))
    below = code.choose(code.compare("olt", x, ZERO), "-" + ONE, x)
    return code.choose(code.compare("ogt", x, ZERO), ONE, below)


def extreme(translator: Translation, e: Expr, depth: int) -> str:
    """The greatest or least argument; not a number if any of them is not."""
    code = translator.code
    relation = "ogt" if type(e).__name__ == "Max" else "olt"
    best, *rest = (code.unsigned(translator.token(a, depth)) for a in e.args)
    for x in rest:
        # The comparison fails if either is not a number; then x is taken, unless best is the culprit.
        better = code.choose(code.compare(relation, best, x), best, x)
        best = code.choose(code.compare("uno", best, best), best, better)
    return best


def piecewise(translator: Translation, e: Expr, depth: int) -> str:
    """The value of the first condition that holds, not a number if none does; all values are computed."""
    tokens = [translator.token(a, depth) for a in e.args]
    value = NAN
    for branch, condition in zip(tokens[-2::-2], tokens[::-2], strict=True):
        value = branch if condition == "true" else translator.code.choose(condition, branch, value)
    return value


def relation(translator: Translation, e: Expr, depth: int) -> str:
    """A comparison of two numbers; SymEngine writes > and >= the other way round."""
    a, b = (translator.token(a, depth) for a in e.args)
    return translator.code.compare(LLVM_RELATIONS[type(e).__name__], a, b)


def logic(translator: Translation, e: Expr, depth: int) -> str:
    """And, Or, Xor of any number of truth values, Not of one."""
    code = translator.code
    name = type(e).__name__.lower()
    first, *rest = (translator.token(a, depth) for a in e.args)
    if name == "not":
        return code.logic("xor", first, "true")
    for other in rest:
        first = code.logic(name, first, other)
    return first


def truth(translator: Translation, e: Expr, depth: int) -> str:
    """True or False itself."""
    return "true" if type(e).__name__ == "BooleanTrue" else "false"


def unknown_symbol(translator: Translation, e: Expr, depth: int) -> str:
    """Refuse a symbol without a value."""
    raise without_value(e)


def signal(translator: Translation, e: Expr, depth: int) -> str:
    """A signal or a derivative of it with respect to time, read from its table."""
    looked_up, *variables = e.args if type(e).__name__ == "Derivative" else (e,)
    if type(looked_up).__name__ != "FunctionSymbol" or looked_up.get_name() != table.NAME:
        return unsupported(translator, e, depth)
    handle, time = looked_up.args
    if any(variable != time for variable in variables):
        return unsupported(translator, e, depth)
    if len(variables) > table.HIGHEST:
        return ZERO
    code, arguments = translator.code, [translator.token(a, depth) for a in (handle, time)]
    return code.call(f"{table.NAME}.{len(variables)}", *arguments, code.call(table.FIND, *arguments))


def unsupported(translator: Translation, e: Expr, depth: int) -> str:
    """Refuse everything else."""
    raise InputError(
        f"{name_of(e)} cannot be compiled, in {shortened(e)}: "
        "write it with elementary functions or Piecewise, or make it an input"
    )


def name_of(e: Expr) -> str:
    """What messages call the kind of an expression: its class, or the function's own name."""
    return str(e.get_name()) if type(e).__name__ == "FunctionSymbol" else type(e).__name__


def without_value(e: Expr) -> InputError:
    """The refusal of a symbol that is neither an input nor defined."""
    return InputError(f"the symbol {e} has no value: make it an input, or define it by an earlier step")


BUILDERS: dict[str, Builder] = {
    "Number": number,
    "Constant": number,
    "Symbol": unknown_symbol,
    "Add": add,
    "Mul": multiply,
    "Pow": power,
    "sign": sign,
    "Max": extreme,
    "Min": extreme,
    "Piecewise": piecewise,
    "BooleanAtom": truth,
    "FunctionSymbol": signal,
    "Derivative": signal,
    **{name: function for name, f in FUNCTIONS.items() if f.native or f.reciprocal_of or f.of_reciprocal},
    **dict.fromkeys(LLVM_RELATIONS, relation),
    **dict.fromkeys(["And", "Or", "Xor", "Not"], logic),
}


def builder_of(e: Expr) -> Builder:
    """The builder of an expression's class, or of the nearest class it derives from."""
    for kind in type(e).__mro__:
        builder = BUILDERS.get(kind.__name__)
        if builder is not None:
            return builder
    return unsupported
