"""The grammar of expressions in model files: text to trees, by precedence, with the place of every part.

::

    relation    = sum ("=" | ">=" | "<=") sum
    sum         = product (("+" | "-") product)*
    product     = signed (("*" | "/") signed)*
    signed      = ("-" | "+") signed | power
    power       = operand (("^" | "**") signed)?            so −x^2 is −(x^2), and x^y^z is x^(y^z)
    operand     = number | name (index suffix?)? "'"* | "(" sum ")" | function "(" argument ("," argument)* ")"
    index       = "[" sum ("," sum)* "]"
    suffix      = "." and a word, at once after an index    link[3].x: a coordinate of a repeated body
    argument    = sum (("<" | ">" | "<=" | ">=") sum)?      a comparison: the condition of if(…) alone

A tree is data: nothing here looks a name up, computes or calls anything.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from zwang.files.language.functions import RESERVED
from zwang.files.language.slips import bare_function, decimal_comma, foreign_sign, product_hint
from zwang.files.language.tokens import Token, tokenize
from zwang.files.toml.problems import Misread
from zwang.words import quoted

DEEPEST = 40  # parentheses within parentheses, signs before signs, powers of powers

COMPARISONS = ("<", ">", "<=", ">=")
RELATION_SIGNS = ("=", ">=", "<=")
INDEX = "[]"  # where the index of a name stands that goes on after it
INDEXING = ("[", "]", ":")  # signs of indices and their ranges: elsewhere people write them by habit


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression: what it is, where it begins, and its parts.

    ============  ==========================================  ==========================
    kind          value                                       args
    ============  ==========================================  ==========================
    number        its text
    name          (name, number of rate marks)                its indices, in place of [] where it goes on after them
    text          a quoted name
    sum           a sign (1 or −1) for each part              the parts
    product       an exponent (1 or −1) for each part         the parts
    minus                                                     the part
    power                                                     base, exponent
    call          the function's name                         arguments
    compare       the sign of comparison                      left, right
    ============  ==========================================  ==========================
    """

    kind: str
    at: int
    value: Any = None
    args: tuple["Node", ...] = ()


def parse(text: str) -> Node:
    """An expression as a tree.

    >>> parse("-x^2").kind, parse("2*x'").args[1].value
    ('minus', ('x', 1))
    """
    parser = Parser(text)
    tree = parser.sum(0)
    parser.finish()
    return tree


def parse_relation(text: str, signs: tuple[str, ...] = RELATION_SIGNS) -> tuple[Node, str, Node]:
    """`left = right`, `left >= right` or `left <= right` as two trees with the sign between them."""
    parser = Parser(text)
    left = parser.sum(0)
    sign = parser.now
    if sign.kind not in signs:
        parser.refuse_relation(signs)
    parser.advance()
    if sign.kind == "=" and parser.now.kind in ("<", ">"):
        turned = f"{parser.now.kind}="
        meant = turned if turned in signs else "="
        raise Misread(f"'={parser.now.kind}' has no meaning", sign.at, f"write {meant}")
    right = parser.sum(0)
    if parser.now.kind in (*RELATION_SIGNS, *COMPARISONS):
        raise Misread(f"a second {parser.now.text}", parser.now.at, "write two entries, one for each sign")
    parser.finish()
    return left, sign.kind, right


class Parser:
    """Reads tokens from left to right; a method for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.index = 0
        if self.now.kind == "end":
            raise Misread("the expression is empty", 0, "write 0 for nothing")

    @property
    def now(self) -> Token:
        """The token to be read next."""
        return self.tokens[self.index]

    def advance(self) -> Token:
        """Read one token."""
        token = self.now
        self.index += 1
        return token

    def sum(self, depth: int) -> Node:
        """Parts between + and −."""
        first = self.product(depth)
        signs, parts = [1], [first]
        while self.now.kind in ("+", "-"):
            signs.append(1 if self.advance().kind == "+" else -1)
            parts.append(self.product(depth))
        return first if len(parts) == 1 else Node("sum", first.at, tuple(signs), tuple(parts))

    def product(self, depth: int) -> Node:
        """Parts between * and /."""
        first = self.signed(depth)
        exponents, parts = [1], [first]
        while self.now.kind in ("*", "/"):
            exponents.append(1 if self.advance().kind == "*" else -1)
            parts.append(self.signed(depth))
        return first if len(parts) == 1 else Node("product", first.at, tuple(exponents), tuple(parts))

    def signed(self, depth: int) -> Node:
        """A sign before a power."""
        if depth > DEEPEST:
            raise Misread(
                f"the expression is nested more than {DEEPEST} deep", self.now.at, "name its parts in [definitions]"
            )
        if self.now.kind == "-":
            return Node("minus", self.advance().at, None, (self.signed(depth + 1),))
        if self.now.kind == "+":
            self.advance()
            return self.signed(depth + 1)
        return self.power(depth)

    def power(self, depth: int) -> Node:
        """An operand, perhaps raised; the mark's place is the power's, for messages about it."""
        base = self.operand(depth)
        if self.now.kind not in ("^", "**"):
            return base
        mark = self.advance()
        return Node("power", mark.at, None, (base, self.signed(depth + 1)))

    def operand(self, depth: int) -> Node:
        """A number, a name, a call, or a sum in parentheses."""
        token = self.now
        if token.kind == "number":
            self.advance()
            return Node("number", token.at, token.text)
        if token.kind == "(":
            self.advance()
            inner = self.sum(depth + 1)
            self.close(token)
            return inner
        if token.kind == "name":
            self.advance()
            if self.now.kind == "(":
                return self.call(token, depth)
            if token.text in RESERVED:
                self.refuse_indexing()
                following = tuple(t.text for t in self.tokens[self.index : self.index + 3])
                message = f"{quoted(token.text)} is a function: parentheses are missing after it"
                raise Misread(message, token.at, bare_function(token.text, following))
            return self.name(token, depth)
        return self.refuse_operand()

    def name(self, token: Token, depth: int) -> Node:
        """A name with its indices and its rate marks."""
        name, indices = token.text, self.indices(depth) if self.now.kind == "[" else ()
        if self.now.kind == "suffix":  # link[3].x: the index stands inside the name
            name += INDEX + self.advance().text
        marks = 0
        while self.now.kind == "'":
            self.advance()
            marks += 1
        if marks and self.now.kind == "(":
            rate = f"{name.replace(INDEX, '[…]')}{marks * chr(39)}"
            hint = f"write {rate}*(…), or {rate} alone for its value"
            raise Misread(f"an operator is missing after {rate}", self.now.at, hint)
        if marks and self.now.kind == "[":
            raise Misread("an index comes before rate marks", self.now.at, f"write {token.text}[…]{marks * chr(39)}")
        return Node("name", token.at, (name, marks), indices)

    def indices(self, depth: int) -> tuple[Node, ...]:
        """The indices of a name, in brackets."""
        parts: list[Node] = []
        while self.now.kind in ("[", ","):
            self.advance()
            parts.append(self.sum(depth + 1))
            if self.now.kind == "[":
                break
        if self.now.kind != "]":
            at = max(0, self.now.at - (self.now.kind == "end"))
            raise Misread("the closing bracket of an index is missing", at, "write x[i - 1]; each [ needs its ]")
        self.advance()
        return tuple(parts)

    def call(self, function: Token, depth: int) -> Node:
        """A function with its arguments."""
        bracket = self.advance()
        args: list[Node] = []
        if self.now.kind == ")":
            raise Misread(f"{quoted(function.text)} has no argument between its parentheses", self.now.at)
        while True:
            args.append(self.argument(depth + 1))
            if self.now.kind != ",":
                break
            self.advance()
        self.close(bracket)
        return Node("call", function.at, function.text, tuple(args))

    def argument(self, depth: int) -> Node:
        """A sum, a quoted name, or a comparison of two sums."""
        if self.now.kind == "text":
            token = self.advance()
            return Node("text", token.at, token.text[1:-1])
        left = self.sum(depth)
        if self.now.kind in ("=", "==", "!="):
            hint = "if compares with <, >, <= or >=: what changes is equal for an instant only"
            raise Misread(f"{quoted(self.now.text)} has no place here", self.now.at, hint)
        if self.now.kind not in COMPARISONS:
            return left
        sign = self.advance()
        return Node("compare", sign.at, sign.kind, (left, self.sum(depth)))

    def close(self, bracket: Token) -> None:
        """The parenthesis that closes one."""
        if self.now.kind == ")":
            self.advance()
            return
        self.refuse_indexing()
        if self.now.kind in ("name", "number", "(", ","):
            self.finish()
        else:
            found = f"before {quoted(self.now.text)}" if self.now.text else "at the end"
            raise Misread(f"a closing parenthesis is missing {found}", self.now.at, "each ( needs its )")

    def finish(self) -> None:
        """Nothing may follow."""
        token = self.now
        if token.kind == "end":
            return
        self.refuse_indexing()
        if token.kind == ")":
            raise Misread("a closing parenthesis without an opening one", token.at)
        if token.kind in ("name", "number", "(", "text"):
            hint = product_hint(self.shown(self.index - 1), self.shown(self.index))
            raise Misread(f"an operator is missing before {quoted(token.text)}", token.at, hint)
        if token.kind == "'":
            raise Misread("a rate mark ' follows the name of a coordinate", token.at, "write x' for the rate of x")
        if token.kind in ("=", "==", "!=", *COMPARISONS):
            hint = "relations stand in constraints and events; here, write what follows it alone"
            raise Misread(f"{quoted(token.text)} has no place here", token.at, hint)
        if token.kind == "," and (comma := decimal_comma(self.text, token.at)):
            raise comma
        raise Misread(f"{quoted(token.text)} has no place here", token.at)

    def shown(self, index: int) -> str:
        """An operand by its token, as a hint writes it."""
        token = self.tokens[index]
        if token.kind == "'":
            marks = next(i for i in range(index, -1, -1) if self.tokens[i].kind != "'")
            return self.tokens[marks].text + "'" * (index - marks)
        return "(…)" if token.kind in ("(", ")") else token.text

    def refuse_indexing(self) -> None:
        """Refuse a bracket or a colon that does not belong to an index."""
        if self.now.kind in INDEXING:
            raise foreign_sign(self.text, self.now.at)

    def refuse_operand(self) -> NoReturn:
        """A number, a name or a parenthesis is missing."""
        token = self.now
        self.refuse_indexing()
        if token.kind == "end":
            raise Misread("the expression ends where something must follow", max(0, token.at - 1))
        if token.kind == "'":
            raise Misread("a rate mark ' follows the name of a coordinate", token.at, "write x' for the rate of x")
        raise Misread(f"a number, a name or ( is missing before {quoted(token.text)}", token.at)

    def refuse_relation(self, signs: tuple[str, ...]) -> None:
        """One of some signs is missing."""
        wanted = " or ".join(signs)
        if self.now.kind == "end":
            raise Misread(f"{wanted} is missing: left {signs[0]} right is meant", max(0, self.now.at - 1))
        if self.now.kind in ("<", ">") and f"{self.now.kind}=" in signs:
            raise Misread(f"{quoted(self.now.text)} leaves out the limit", self.now.at, f"write {self.now.text}=")
        if self.now.kind == "==":
            raise Misread("'==' is one sign too many", self.now.at, "write =")
        if self.now.kind in (*RELATION_SIGNS, *COMPARISONS, "!="):
            raise Misread(f"{quoted(self.now.text)} has no place here: {wanted} is meant", self.now.at)
        self.finish()


def names_in(tree: Node) -> Iterator[str]:
    """The names in a tree."""
    return (name for name, _ in every_name(tree))


def marked_names(tree: Node) -> set[tuple[str, int]]:
    """The names in a tree that have rate marks, with their number."""
    return {(name, marks) for name, marks in every_name(tree) if marks}


def every_name(tree: Node) -> Iterator[tuple[str, int]]:
    """The names in a tree, each with the number of its rate marks."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.kind == "name":
            yield node.value
        stack.extend(node.args)
