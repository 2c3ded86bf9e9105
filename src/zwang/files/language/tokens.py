"""Expressions as text, cut into tokens."""

import re
from dataclasses import dataclass

from zwang.files.language.names import PATTERN, wrong_name
from zwang.files.language.slips import foreign_sign, small_digit, stuck
from zwang.files.toml.problems import Misread
from zwang.words import quoted

LONGEST_TEXT = 20_000  # characters of one expression
MOST_TOKENS = 10_000
MOST_DIGITS = 40

NUMBER = re.compile(r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
SUFFIX = re.compile(r"\.[^\W\d_]\w*")
SPACE = re.compile(r"[ \t\r\n]+")
SIGN = re.compile(r"\*\*|<=|>=|==|!=|[-+*/^()<>=,'\[\]:]")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of an expression: its kind, text and place.

    Kinds are "number", "name", "text", "suffix" (.x after an index, as in link[3].x), "end", or the sign itself.
    """

    kind: str
    text: str
    at: int


def tokenize(text: str) -> list[Token]:
    """The tokens of an expression, the last of kind "end"; a `Misread` where no token can begin.

    >>> [token.text for token in tokenize("m*x'^2")]
    ['m', '*', 'x', "'", '^', '2', '']
    """
    if len(text) > LONGEST_TEXT:
        raise Misread(
            f"the expression has {len(text)} characters, more than {LONGEST_TEXT}", 0, "name its parts in [definitions]"
        )
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        if len(tokens) >= MOST_TOKENS:
            raise Misread(f"the expression has more than {MOST_TOKENS} parts", at, "name its parts in [definitions]")
        if found := SPACE.match(text, at):
            at = found.end()
            continue
        token = next_token(text, at, tokens[-1] if tokens else None)
        tokens.append(token)
        at += len(token.text)
    tokens.append(Token("end", "", len(text)))
    return tokens


def next_token(text: str, at: int, before: Token | None) -> Token:
    """The token that begins at a place."""
    if found := NUMBER.match(text, at):
        return number(found.group(), text, at)
    if found := PATTERN.match(text, at):
        name = found.group()
        if digit := small_digit(name, at):
            raise digit
        if wrong := wrong_name(name):
            raise Misread(f"the name {quoted(name)} {wrong}", at)
        return Token("name", name, at)
    if before is not None and before.kind == "]" and (found := SUFFIX.match(text, at)):
        return Token("suffix", found.group(), at)
    if text[at] == "'" and (before is None or before.kind in ("(", ",")):
        end = text.find("'", at + 1)
        if end < 0:
            raise Misread("a rate mark ' follows the name of a coordinate", at, "write x' for the rate of x")
        return Token("text", text[at : end + 1], at)
    if found := SIGN.match(text, at):
        return Token(found.group(), found.group(), at)
    raise foreign_sign(text, at)


def number(digits: str, text: str, at: int) -> Token:
    """A number, unless it is too long or something is stuck to it."""
    if len(digits) > MOST_DIGITS:
        raise Misread(f"a number of {len(digits)} characters: {MOST_DIGITS} are enough", at)
    after = text[at + len(digits) : at + len(digits) + 1]
    if after == "." or after == "'":
        hint = "an exponent is a whole number" if after == "." and "e" in digits.lower() else ""
        raise Misread(f"{quoted(digits + after)} is not a number", at, hint)
    if after and (after.isalnum() or after == "_"):
        word = PATTERN.match(text, at + len(digits))
        raise stuck(digits, word.group() if word else after, at + len(digits))
    return Token("number", digits, at)
