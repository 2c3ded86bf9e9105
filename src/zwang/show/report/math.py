"""Formulas as native MathML, with the model's own names in them, whatever these are.

Names do not pass through LaTeX: while a formula is on its way each stands for itself as one character of Unicode's
private area, so that no name can be taken for a command or for markup, and `mass` is not read as m·a·s·s.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.equations.latex import latex
from zwang.model.event import REACTION
from zwang.model.symbols import t

PRIVATE = 0xF0000  # a plane of 65,534 characters that mean nothing
GREEK = re.compile(
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|iota|kappa|lambda|mu|nu|xi|omicron|pi|rho|sigma|tau|upsilon|phi|chi|"
    "psi|omega",
    re.IGNORECASE,
)
LONGEST = 2400  # characters of LaTeX: about ten lines; beyond, nobody reads on
MOST_OPERATIONS = 800  # in one formula; beyond, not even its length is worth finding out
# Brackets of matrices are drawn by the page's style: without a mathematical font browsers do not stretch them.
BRACKETED = re.compile(r"<mo[^>]*>\[</mo><mtable>((?:(?!</?mtable>).)*)</mtable><mo[^>]*>\]</mo>", re.DOTALL)
ZERO = re.compile(r"<mtd[^>]*><mn>0</mn></mtd>")
FEW = 4  # columns up to which zeros of a matrix are written
INDEXED_POWER = re.compile(r"<msup><msub>((?:(?!</?msu).)*)</msub><mrow><mn>(\d+)</mn></mrow></msup>")
COMBINING = {"˙": "\u0307", "¨": "\u0308"}
LOW = re.compile("[acegijm-su-zαγεηικμνοπρστυχω]")  # letters that leave room for dots
THIN = '<mspace width="0.14em"/>'
DISPLAY = ' display="block"'
NUMBERED = re.compile(r"([^\W\d_]+)(\d+)")


@dataclass(frozen=True)
class Name:
    """A name in formulas: a letter or a word, and an index, in MathML, where there is one."""

    base: str
    index: str = ""

    def mathml(self, accent: str = "") -> str:
        """The name, with a dot or two over it."""
        base = f"<mi>{escape(self.base)}</mi>"
        if accent:
            # One character where that works: browsers without a mathematical font misplace dots of their own.
            together = unicodedata.normalize("NFC", self.base + COMBINING.get(accent, accent))
            low = LOW.fullmatch(self.base) and accent in COMBINING
            dots = f"<mover>{base}<mo>{accent}</mo></mover>"
            if len(self.base) > 1 and accent in COMBINING:  # over a word a dot must be a dot that is seen
                spots = "\u2009".join("●" * (1 + (accent == "¨")))
                dots = f'<mover>{base}<mo class="rate" stretchy="false">{spots}</mo></mover>'
            base = f'<mi class="dotted">{together}</mi>' if low or len(together) == 1 else dots
        whole = f"<msub>{base}{self.index}</msub>" if self.index else base
        return f"<mrow>{THIN}{whole}</mrow>" if len(self.base) > 1 else whole


@dataclass(frozen=True)
class Notation:
    """The names of a model and the characters that stand for them while a formula is made."""

    forward: dict[sp.Basic, sp.Basic]
    names: dict[str, Name]

    @classmethod
    def of(cls, expressions: Iterable[sp.Basic]) -> "Notation":
        """A notation for everything that occurs in some expressions; terms keep their order."""
        found: set[sp.Basic] = set()
        for e in expressions:
            found |= e.free_symbols | e.atoms(AppliedUndef)
        known = sorted((s for s in found if s != t), key=lambda s: (word_of(s), str(s)))
        forward: dict[sp.Basic, sp.Basic] = {}
        names = {}
        for i, s in enumerate(known):
            mark = chr(PRIVATE + i)
            forward[s] = sp.Function(mark)(*s.args) if isinstance(s, AppliedUndef) else sp.Symbol(mark)
            names[mark] = name_of(word_of(s))
        return cls(forward, names)

    def put(self, expression: Any) -> Any:
        """An expression or matrix in the characters that stand for names; 1.0 x is x, as a person would write it."""
        whole = {f: sp.Integer(int(f)) for f in expression.atoms(sp.Float) if f.is_finite and float(f).is_integer()}
        return expression.xreplace(whole | self.forward)

    def tex(self, expression: sp.Basic) -> str:
        """LaTeX of an expression or matrix of the model, names as characters."""
        return latex(self.put(expression))

    def math(self, tex: str, *, block: bool = False) -> str:
        """LaTeX with characters for names as MathML."""
        from latex2mathml.converter import convert

        body = re.sub(r"^<math[^>]*>|</math>$", "", convert(tex))
        body = re.sub(r"&#x([0-9A-F]+);", plain_character, body)
        body = body.replace('mathvariant="sans-serif"', 'mathvariant="normal"')  # browsers know no other variant
        body = re.sub(r"<mo>((?!min|rank)[A-Za-z]{2,})</mo>", r"<mi>\1</mi>", body)  # functions stand close ...
        body = re.sub(r"<mi>[A-Za-z]{2,}</mi>", rf"<mrow>{THIN}\g<0></mrow>", body)  # ... to what follows
        body = BRACKETED.sub(matrix, body)
        body = re.sub(r"<mover><mrow><mi>(.)</mi></mrow><mo>(.)</mo></mover>", self._accented, body)
        body = re.sub(r"<mi>(.)</mi>", self._named, body)
        body = INDEXED_POWER.sub(r"<msubsup>\1<mn>\2</mn></msubsup>", body)
        return f"<math{DISPLAY if block else ''}>{body}</math>"

    def show(self, expression: sp.Basic) -> str:
        """An expression of the model as MathML in the line; a note where it is too long to read."""
        return self._short(expression, lambda: self.tex(expression))

    def relation(self, left: sp.Expr, sign: str, right: sp.Expr) -> str:
        """Two expressions of the model and a sign, in LaTeX, between them."""
        return self._short(sp.Tuple(left, right), lambda: f"{self.tex(left)} {sign} {self.tex(right)}")

    def _short(self, expression: sp.Basic, make: Callable[[], str]) -> str:
        operations = int(sp.count_ops(expression))
        tex = make() if operations <= MOST_OPERATIONS else ""
        if 0 < len(tex) <= LONGEST:
            return self.math(tex)
        return f'<span class="none">too long to show ({operations:,} operations)</span>'

    def _accented(self, match: re.Match[str]) -> str:
        return self.names.get(match[1], Name(match[1])).mathml(match[2])

    def _named(self, match: re.Match[str]) -> str:
        name = self.names.get(match[1])
        return name.mathml() if name else match[0]


def matrix(match: re.Match[str]) -> str:
    """A matrix in brackets that the page's style draws: columns from the left, zeros faint, of large ones only dots."""
    rows = match[1].split("<mtr>")[1:]
    columns = rows[0].count("<mtd") if rows else 0
    zero = "·" if columns > FEW else "0"
    body = ZERO.sub(f'<mtd class="zero"><mn>{zero}</mn></mtd>', match[1]).replace(' columnalign="center"', "")
    return f'<mtable class="matrix{" column" * (columns == 1)}">{body}</mtable>'


def plain_character(match: re.Match[str]) -> str:
    """The character that an entity stands for, unless it is markup."""
    character = chr(int(match[1], 16))
    return match[0] if character in "<>&" else character


def word_of(symbol: sp.Basic) -> str:
    """The name of a symbol or function."""
    return str(symbol.func.__name__ if isinstance(symbol, AppliedUndef) else symbol)


def name_of(word: str) -> Name:
    """How a name is written: theta1 with an index, a word upright, a reaction as λ or Q with its owner below.

    >>> name_of("theta1")
    Name(base='θ', index='<mn>1</mn>')
    """
    reaction = REACTION.fullmatch(word)
    if reaction:
        letter = "λ" if reaction[1] == "multiplier" else "Q"
        return Name(letter, f"<mtext>{escape(reaction[2])}</mtext>")
    base, _, index = word.partition("_")
    if not base or not index:
        numbered = NUMBERED.fullmatch(word)
        base, index = numbered.groups() if numbered else (word, "")
    return Name(greek(base), index_of(index))


def index_of(index: str) -> str:
    """The index of a name as MathML."""
    if not index:
        return ""
    return f"<mn>{index}</mn>" if index.isdecimal() else f"<mi>{escape(greek(index).replace('_', ','))}</mi>"


def greek(word: str) -> str:
    """The letter that a word names, or the word itself."""
    if not GREEK.fullmatch(word) or word[1:] != word[1:].lower():
        return word
    size = "CAPITAL" if word[0].isupper() else "SMALL"
    return unicodedata.lookup(f"GREEK {size} LETTER {word.upper().replace('LAMBDA', 'LAMDA')}")


def plain_name(word: str) -> str:
    """A name in plain text, as it stands in formulas: beta as β, theta1 as θ₁.

    >>> plain_name("theta1"), plain_name("first_x")
    ('θ₁', 'first_x')
    """
    numbered = NUMBERED.fullmatch(word)
    base, index = numbered.groups() if numbered else (word, "")
    return greek(base) + "".join(chr(0x2080 + int(digit)) for digit in index)


def sides(expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """An expression that is zero as two sides without a leading minus, as a person would write the equation.

    >>> x, y = sp.symbols("x y")
    >>> sides(x**2 - y)
    (x**2, y)
    """
    terms = sp.Add.make_args(expression)
    right = [term for term in terms if term.could_extract_minus_sign()]
    if not right or len(right) == len(terms):
        return (expression, sp.S.Zero) if not right else (-expression, sp.S.Zero)
    return sp.Add(*[term for term in terms if term not in right]), -sp.Add(*right)
