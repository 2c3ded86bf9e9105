"""What people write in expressions by habit, and what to write instead.

Nothing of this is read: a sign that could mean two things must not be guessed at. But what is commonly meant by it is
known, and the hint says how to write that here.
"""

import re
import unicodedata

from zwang.files.toml.problems import Misread
from zwang.words import quoted

# Signs that people type and that mean something else here, with what to write instead.
INSTEAD = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "×": "*", "·": "*", "⋅": "*", "∙": "*", "•": "*", "∗": "*",
    "÷": "/", "∕": "/", "⁄": "/", ":": "/ to divide", "≥": ">=", "≤": "<=", "⩾": ">=", "⩽": "<=", "′": "'", "’": "'",
    "‘": "'", "´": "'", "`": "'", "ʹ": "'", "″": "''", "”": "''", "“": "''", "‴": "'''", '"': "' for a rate mark",
    "[": "(", "{": "(", "]": ")", "}": ")", "√": "sqrt(…)", "∛": "(…)^(1/3)", "∞": "a large number", "|": "abs(…)",
    "%": "/100", ";": ", between arguments", "°": "*pi/180: angles are in radians", "∂": "x' for a rate",
    "\\": "functions without a backslash, as in sin(x)", "≠": "two constraints, >= and <=", "!": "a product",
    "?": "if(x > 0, this, that)", "&": "one if(…) within the other", "$": "it without $", "@": "it without @",
    "\u0307": "x' for the rate of x", "\u0308": "x'' for the acceleration of x",
}  # fmt: skip
PLAIN = "numbers, names, + - * / ^ ( ) ' and functions make an expression"
RADIANS = "angles are in radians"
UNIT = re.compile(
    r"(?:[kMGmcdµμn]?(?:m|s|g|N|Nm|J|W|Hz|Pa|V|A|K|rad|Ω|bar|l|L)|min|h|t|in|ft|lb|lbf|rpm|mph|kmh|km/h|U/min|Grad|"
    r"deg|degrees?|°|%)(?![^\W_])"
)
DEGREES = ("deg", "degree", "degrees", "Grad", "°")

# Functions by the names that they have elsewhere.
ELSEWHERE = {
    "arcsin": "asin(…)", "arccos": "acos(…)", "arctan": "atan(…)", "arctan2": "atan2(y, x)", "arcsinh": "asinh(…)",
    "arsinh": "asinh(…)", "arccosh": "acosh(…)", "arcosh": "acosh(…)", "arctanh": "atanh(…)", "artanh": "atanh(…)",
    "tg": "tan(…)", "tang": "tan(…)", "ctg": "cot(…)", "cotan": "cot(…)", "lg": "log10(…)", "log2": "log(…)/log(2)",
    "sgn": "sign(…)", "signum": "sign(…)", "fabs": "abs(…)", "betrag": "abs(…)", "pow": "x^y", "power": "x^y",
    "sqr": "x^2", "square": "x^2", "cbrt": "x^(1/3)", "wurzel": "sqrt(…)", "root": "sqrt(…)", "ceiling": "ceil(…)",
    "diff": "x' for the rate of x", "dot": "x' for the rate of x", "ddot": "x'' for the acceleration of x",
    "der": "x' for the rate of x", "derivative": "x' for the rate of x", "radians": "x*pi/180", "deg2rad": "x*pi/180",
    "heaviside": "if(x > 0, 1, 0)", "step": "if(x > 0, 1, 0)", "round": "floor(x + 1/2)", "mod": "x - y*floor(x/y)",
}  # fmt: skip
DOTTED = re.compile(r"d?(?P<one>[^\W\d]\w*?)(?:_?dot|_t|_punkt|dt|prime)|v_(?P<two>\w+)|d(?P<three>\w+)")


def foreign_sign(text: str, at: int) -> Misread:
    """What to say of a sign that has no meaning."""
    c = text[at]
    if c.isspace():
        name = unicodedata.name(c, "a strange space").lower()
        return Misread(f"a space that is not a plain one: {name}", at, "delete it, and type a space")
    if c in "\u0307\u0308":
        return Misread("a dot above a letter has no meaning in an expression", at, f"write {INSTEAD[c]}")
    before = text[max(0, at - 40) : at]
    digits = before[len(before.rstrip("0123456789.")) :]
    if c == "°" and digits:
        return Misread("'°' has no meaning in an expression", at, f"{RADIANS}: write {digits}*pi/180")
    return Misread(f"{quoted(c)} has no meaning in an expression", at, f"write {INSTEAD[c]}" if c in INSTEAD else PLAIN)


def small_digit(name: str, at: int) -> Misread | None:
    """What to say of a name with a digit that is raised, lowered or a fraction; None if it has none."""
    found = next((i for i, c in enumerate(name) if unicodedata.category(c) == "No"), None)
    if found is None:
        return None
    c, before = name[found], name[:found]
    plain = unicodedata.normalize("NFKC", c).replace("⁄", "/")
    if "/" in plain:
        hint = f"write ({plain}), and * before what follows"
        return Misread(f"the fraction {c} has no meaning in an expression", at + found, hint)
    if "SUBSCRIPT" in unicodedata.name(c, ""):
        hint = f"write {before}_{plain}"
        return Misread(f"the small digit {c} has no meaning in an expression", at + found, hint)
    base = before if before else "…"
    hint = f"write {base}(…)^{plain}" if name.endswith(c) and before in TRIGONOMETRIC else f"write {base}^{plain}"
    return Misread(f"the small digit {c} has no meaning in an expression", at + found, hint)


TRIGONOMETRIC = ("sin", "cos", "tan", "cot", "sinh", "cosh", "tanh", "log", "ln", "exp")


def stuck(digits: str, word: str, at: int) -> Misread:
    """What to say of a word that follows a number at once, `at` where the word begins."""
    if digit := small_digit(word, at):
        fraction = unicodedata.numeric(word[0], 0.0)
        mixed = f"write {float(digits) + fraction:g}"
        return Misread(digit.message, digit.at, mixed if 0 < fraction < 1 else digit.hint.replace("…^", f"{digits}^"))
    message = f"an operator is missing between {digits} and {quoted(word)}"
    return Misread(message, at, product_hint(digits, word))


def product_hint(before: str, word: str) -> str:
    """What to write where a product is meant, or a number with its unit."""
    number = before[:1].isdigit()
    if number and word in DEGREES:
        return f"{RADIANS}: write {before}*pi/180"
    unit = number and UNIT.match(word)
    return f"write {before}*{word[:40]}" + (f"; if {word} is a unit, leave it out" if unit else "")


def decimal_comma(text: str, at: int) -> Misread | None:
    """What to say of the comma at a place, if digits are on both sides of it; None if it is another comma."""
    before = re.search(r"(?<![\w.])[0-9]+$", text[max(0, at - 40) : at])
    after = re.match(r"[0-9]+", text[at + 1 : at + 41])
    if not (before and after):
        return None
    written = f"{before.group()}{text[at]}{after.group()}"
    return Misread(f"{written} has a decimal comma", at, f"write {before.group()}.{after.group()}")


def bare_function(name: str, following: tuple[str, ...]) -> str:
    """What to write where a function has no parentheses, by the texts of the tokens that follow it.

    >>> bare_function("sin", ("x", "")), bare_function("sin", ("^", "2", "("))
    ('write sin(x)', 'write sin(…)^2')
    """
    first, second = (*following, "", "")[:2]
    if first in ("^", "**"):
        if second == "-":
            return f"write 1/{name}(…)" + (f", or a{name}(…) for the inverse" if name in ("sin", "cos", "tan") else "")
        return f"write {name}(…)^{second}" if second[:1].isdigit() else f"write {name}(…)^…"
    if re.fullmatch(r"\w+", first) and second not in ("*", "/", "^", "**", "(", "'"):
        return f"write {name}({first})"
    return f"write {name}(…)"


def other_name(name: str, known: "set[str]") -> str:
    """What to write for a name that is unknown: a constant, or the rate of a known one; empty if nothing is near.

    >>> other_name("π", set()), other_name("xdot", {"x"}), other_name("ẍ", {"x"})
    ('write pi', "write x' for the rate of x", "write x'' for the acceleration of x")
    """
    if name in ("π", "PI", "Pi"):
        return "write pi"
    base = unicodedata.normalize("NFD", name)
    for mark in "\u0307\u0308":
        if base.endswith(mark) and base[:-1] in known:
            return f"write {INSTEAD[mark].replace('x', base[:-1])}"
    if found := DOTTED.fullmatch(name):
        inner = next((part for part in found.groups() if part in known), None)
        if inner is not None:
            return f"write {inner}' for the rate of {inner}"
    return ""
