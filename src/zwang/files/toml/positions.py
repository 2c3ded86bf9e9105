"""Where the keys and values of a TOML document stand: tomllib gives values, this gives their places.

The scanner follows TOML's structure and nothing more. It refuses what would exhaust tomllib (nesting, long dotted
keys, endless numbers) and what is given twice; of other mistakes tomllib is the judge, and the scanner stops there.
"""

import contextlib
import re
from dataclasses import dataclass, field

from zwang.files.toml.problems import Misread
from zwang.words import quoted

Path = tuple[str | int, ...]

DEEPEST = 12  # arrays in arrays
MOST_PARTS = 6  # of a dotted key
MOST_KEYS = 10_000
LONGEST_KEY = 200
LONGEST_BARE = 400  # characters of a number, a date or a truth value

BLANK = re.compile(r"[ \t]*")
BETWEEN = re.compile(r"(?:[ \t\n]+|#[^\n]*)*")
REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?=\n|$)")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
BARE_VALUE = re.compile(r"[^\s,\]}#\[{\"']+(?: [0-9:.]+)?")
NUMBERS = re.compile(r"\[[ \t\n]*(?:[-+]?[0-9][-+0-9_.eE]{0,30}[ \t\n]*(?:,[ \t\n]*|(?=\])))+\]")
STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}' r"|'''(?:[^']|'(?!''))*'{3,5}" r'|"(?:[^"\\\n]|\\[^\n])*"' r"|'[^'\n]*'",
    re.DOTALL,
)
ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[ \t]*\n[ \t\n]*|.)", re.DOTALL)


class Repeated(Misread):
    """Raised where a key or a section is given a second time."""


class Stop(Exception):
    """Raised where the text stops being TOML."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a key begins and from where to where its value reaches, as offsets into the text."""

    key: int
    value: int
    end: int
    dotted: bool = False


@dataclass
class Scanner:
    """Reads a document from its beginning; `places` fills on the way."""

    text: str
    at: int = 0
    keys: int = 0
    places: dict[Path, Place] = field(default_factory=dict)
    headers: set[Path] = field(default_factory=set)
    counts: dict[Path, int] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)

    def document(self) -> None:
        """Every statement of the document."""
        table: Path = ()
        while True:
            self.skip(BETWEEN)
            if self.at >= len(self.text):
                return
            self.starts.append(self.at)
            table = self.header() if self.text[self.at] == "[" else self.pair(table, 0)
            self.skip(REST)

    def skip(self, pattern: re.Pattern[str]) -> str:
        """Read what matches a pattern."""
        found = pattern.match(self.text, self.at)
        if found is None:
            raise Stop
        self.at = found.end()
        return found.group()

    def take(self, sign: str) -> bool:
        """Read a sign, if it is there."""
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def header(self) -> Path:
        """`[table]` or `[[array of tables]]`."""
        start = self.at
        self.count(start)
        many = self.take("[[") or not self.take("[")
        path = self.absolute(self.key_parts())
        if not self.take("]]" if many else "]"):
            raise Stop
        if many:
            self.counts[path] = self.counts.get(path, -1) + 1
            path = (*path, self.counts[path])
        elif path in self.headers:
            first = self.line(self.places[path].key)
            raise Repeated(f"[{'.'.join(map(str, path))}] is given twice", start, f"the first is in line {first}")
        self.headers.add(path)
        self.places.setdefault(path, Place(start, start, self.at))
        return path

    def count(self, at: int) -> None:
        """Count one more key or section; a file has a limited number."""
        self.keys += 1
        if self.keys > MOST_KEYS:
            raise Misread(f"the file has more than {MOST_KEYS} keys and sections", at)

    def absolute(self, parts: list[str]) -> Path:
        """A header's path; within an array of tables its last entry is meant."""
        path: Path = ()
        for i, part in enumerate(parts):
            path = (*path, part)
            if i + 1 < len(parts) and path in self.counts:
                path = (*path, self.counts[path])
        return path

    def key_parts(self) -> list[str]:
        """The parts of a dotted key."""
        parts: list[str] = []
        start = self.at
        while True:
            self.skip(BLANK)
            if self.text[self.at : self.at + 1] in ('"', "'"):
                raw = self.skip(STRING)
                parts.append(decoded(raw))
            else:
                raw = self.skip(BARE_KEY)
                parts.append(raw)
            if len(raw) > LONGEST_KEY:
                raise Misread(f"a key of {len(raw)} characters: {LONGEST_KEY} are enough", start)
            self.skip(BLANK)
            if not self.take("."):
                return parts
            if len(parts) >= MOST_PARTS:
                raise Misread(f"a key of more than {MOST_PARTS} parts", start, "no key of a model has so many dots")

    def pair(self, table: Path, depth: int) -> Path:
        """`key = value`; gives the table back."""
        self.skip(BLANK)
        start = self.at
        parts = self.key_parts()
        if not self.take("="):
            raise Stop
        self.count(start)
        path = table
        for part in parts[:-1]:
            path = (*path, part)
            self.places.setdefault(path, Place(start, start, self.at, dotted=True))
        path = (*path, parts[-1])
        if path in self.places:
            first = self.line(self.places[path].key)
            raise Repeated(f"{quoted('.'.join(parts))} is given twice", start, f"the first is in line {first}")
        self.skip(BLANK)
        self.value(path, start, depth, dotted=len(parts) > 1)
        return table

    def value(self, path: Path, key: int, depth: int, dotted: bool = False) -> None:
        """A string, an array, an inline table, or anything bare."""
        start = self.at
        first = self.text[start : start + 1]
        if depth > DEEPEST:
            raise Misread(f"arrays or tables nested more than {DEEPEST} deep", start)
        if first in ('"', "'"):
            self.skip(STRING)
        elif first == "[":
            self.array(path, depth)
        elif first == "{":
            self.inline_table(path, depth)
        else:
            bare = self.skip(BARE_VALUE)
            if len(bare) > LONGEST_BARE:
                raise Misread(f"a value of {len(bare)} characters: {LONGEST_BARE} are enough", start)
        self.places[path] = Place(key, start, self.at, dotted)

    def array(self, path: Path, depth: int) -> None:
        """`[value, …]`; plain numbers get no places of their own, there may be many."""
        if numbers := NUMBERS.match(self.text, self.at):
            self.at = numbers.end()
            return
        self.at += 1
        index = 0
        while True:
            self.skip(BETWEEN)
            if self.take("]"):
                return
            self.value((*path, index), self.at, depth + 1)
            index += 1
            self.skip(BETWEEN)
            if not self.take(",") and self.text[self.at : self.at + 1] != "]":
                raise Stop

    def inline_table(self, path: Path, depth: int) -> None:
        """`{ key = value, … }`."""
        self.at += 1
        self.skip(BLANK)
        while not self.take("}"):
            self.pair(path, depth + 1)
            self.skip(BLANK)
            if self.take(","):
                self.skip(BLANK)
            elif self.text[self.at : self.at + 1] != "}":
                raise Stop

    def line(self, at: int) -> int:
        """The number of the line in which a place is."""
        return self.text.count("\n", 0, at) + 1


def find_places(text: str, starts: list[int] | None = None) -> dict[Path, Place]:
    """The places of a document's keys and values, by their path; a `Misread` where a bound is passed.

    `starts` is filled with where statements begin, as far as the document can be followed.

    >>> find_places("a = [1, 'b']")[("a", 1)].value
    8
    """
    scanner = Scanner(text, starts=[] if starts is None else starts)
    with contextlib.suppress(Stop):  # tomllib will say what is wrong there
        scanner.document()
    return scanner.places


def opening(raw: str) -> tuple[str, int]:
    """The quotes that a string begins with, and where its content begins."""
    quotes = raw[:3] if raw[:3] in ('"""', "'''") else raw[:1]
    begin = len(quotes)
    return quotes, begin + 1 if len(quotes) == 3 and raw[begin : begin + 1] == "\n" else begin


def inside(raw: str, index: int) -> int:
    """Where a character of a string's value stands in the string as it is written.

    >>> inside(r'"a\\u0062c"', 2), inside("'abc'", 2)
    (8, 3)
    """
    quotes, at = opening(raw)
    last = len(raw) - len(quotes)
    if quotes[0] == "'":
        return min(at + index, last)
    while at < last:
        escape = ESCAPE.match(raw, at)
        if escape and escape.group().rstrip(" \t\n") == "\\":
            at = escape.end()  # a backslash at the end of a line stands for nothing
            continue
        if index == 0:
            break
        index -= 1
        at = escape.end() if escape else at + 1
    return min(at, last)


def decoded(raw: str) -> str:
    """The text of a quoted key."""
    if raw[0] == "'":
        return raw[1:-1]
    plain = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}

    def character(found: re.Match[str]) -> str:
        code = found.group()[1:]
        if code[0] in "uU" and len(code) > 1:
            number = int(code[1:], 16)
            return chr(number) if number < 0x110000 else "?"
        return plain.get(code, code)

    return ESCAPE.sub(character, raw[1:-1])
