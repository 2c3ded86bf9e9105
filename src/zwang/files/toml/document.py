"""A TOML document with the place of everything in it, and the problems that were found so far.

A text is parsed once: tomllib gives the values, and one scan of the text (`places`) gives where they stand. tomllib
has no places to give. The scan could give values only by being a TOML parser of our own, with its numbers, dates,
escapes and rules of what may be said twice; instead tomllib stays the judge of what TOML is, and the scan follows keys
and brackets. The scan goes first, because it bounds a hostile text before tomllib meets it.
"""

import re
import tomllib
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from zwang.errors import ModelError, ZwangError
from zwang.files.toml.positions import Path, Place, find_places, inside
from zwang.files.toml.problems import Misread, Problem, file_error
from zwang.model.signal import Signal
from zwang.words import did_you_mean

LARGEST_FILE = 500_000  # bytes
MOST_COMPARED = 10_000  # pairs of names that are compared to find what was meant: half a second
BEYOND = "zwang cannot work with this"  # how a problem begins that nobody foresaw

AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
# Characters that change how a line looks but not what it says.
HIDDEN = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
EXPRESSION = 'an expression goes in quotes: energy = "m*v^2/2"'
PLAIN = 'write key = value; quote a key that is not plain: "θ" = 1'
ONE_LINE = "a string in one pair of quotes ends in its line; use three quotes for several lines"

# What tomllib says, what it means, and what to do.
WORDS = {
    "Invalid value": ("this is not a value", EXPRESSION),
    "Expected newline or end of document after a statement": ("the line should end here", EXPRESSION),
    "Expected '=' after a key in a key/value pair": ("= is missing after the key", PLAIN),
    "Invalid statement": ("no key, section or comment begins like this", PLAIN),
    "Invalid initial character for a key part": ("no key begins like this", PLAIN),
    "Unterminated string": ("a string that begins here or earlier does not end", 'close it with " in the same line'),
    "Illegal character": ("a character that is not allowed here", ONE_LINE),
    "Unclosed array": ("a list does not end, or a comma is missing in it", "separate entries with , and close with ]"),
    "Unclosed inline table": (
        "a table { … } does not end, or a comma is missing in it",
        "separate entries with , and close with } in the same line",
    ),
    "Unescaped '\\' in a string": ("a backslash in a string", "write '…' instead of \"…\" to have it as it is"),
    "Expected ']' at the end of a table declaration": ("] is missing after the name of the section", "write [section]"),
    "Cannot overwrite a value": ("this is given twice, or is both a value and a table", ""),
}


@dataclass
class Document:
    """The text, what it says, and where."""

    file: str
    text: str
    data: dict[str, Any] = field(default_factory=dict)
    places: dict[Path, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    compared: int = 0
    signals: dict[Path, Signal] = field(default_factory=dict)
    """The inputs that were read from CSV files, by where they are named."""

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer("\n", self.text))]

    def at(self, offset: int, message: str, hint: str = "", path: Path = ()) -> None:
        """Note a problem at an offset into the text, where the value at a path stands."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        end = self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self.text)
        source = self.text[start:end]
        self.problems.append(Problem(self.file, line + 1, offset - start + 1, message, hint, source, path))

    def of(self, path: Path, message: str, hint: str = "", *, key: bool = False, index: int | None = None) -> None:
        """Note a problem with the value (or the key) at a path, `index` characters into its string."""
        place, known = None, path
        while place is None and known:
            place = self.places.get(known)
            if place is None:  # an entry without a place of its own: what it stands in has one
                known, index = known[:-1], None
        if place is None:
            self.at(0, message, hint, path)
        elif key:
            self.at(place.key, message, hint, path)
        else:
            raw = self.text[place.value : place.end]
            within = inside(raw, index) if index is not None and raw[:1] in ("'", '"') else 0
            self.at(place.value + within, message, hint, path)

    def meant(self, wrong: str, known: Iterable[str]) -> str:
        """The end of a message: what may have been meant; nothing after very many wrong names in a file."""
        names = list(known)
        self.compared += len(names)
        return did_you_mean(wrong, names if self.compared <= MOST_COMPARED else ())

    def trouble(self, path: Path, error: Exception) -> None:
        """Note an error as a problem at a path, even one of a kind that zwang does not expect.

        SymPy, NumPy and SciPy have errors of their own, and the next version may have others.
        """
        if isinstance(error, Misread):
            self.of(path, error.message, error.hint)
        elif isinstance(error, ModelError):
            for mistake in error.mistakes:
                self.of(path, mistake)
        elif isinstance(error, ZwangError):
            self.of(path, str(error))
        else:
            first = (str(error).splitlines() or [""])[0]
            self.of(path, f"{BEYOND} ({type(error).__name__}{first and ': '}{first})", "write it in another way")

    def again(self) -> "Document":
        """The same document, without the problems that were found in it, to be read with other values."""
        return Document(self.file, self.text, self.data, self.places, signals=self.signals)

    def raise_problems(self) -> None:
        """Raise what was found, if anything was."""
        if self.problems:
            raise file_error(self.problems)


def parse_document(text: str, file: str) -> Document:
    """The document of a text; raises `ModelFileError` where it is not TOML."""
    document = Document(file, text.replace("\r\n", "\n"))
    text = document.text
    if found := HIDDEN.search(text):
        name = unicodedata.name(found.group(), "a character")
        document.at(found.start(), f"a character that cannot be seen: {name}", "delete it")
        document.raise_problems()
    try:
        document.places = find_places(text)
        document.data = tomllib.loads(text)
    except Misread as error:
        document.at(error.at, error.message, error.hint)
    except tomllib.TOMLDecodeError as error:
        explain(document, str(error))
    except (ValueError, RecursionError):
        document.at(0, "the file is not TOML", "a number may be out of range")
    document.raise_problems()
    return document


def explain(document: Document, said: str) -> None:
    """What tomllib found wrong, in words of ours, at its place."""
    place = AT.search(said)
    what = said[: place.start()] if place else said
    if place and place.group(1):
        offset = document._starts[int(place.group(1)) - 1] + int(place.group(2)) - 1
    else:
        offset = len(document.text.rstrip())
    message, hint = WORDS.get(what, (what[:1].lower() + what[1:], ""))
    if what.startswith("Illegal character"):
        message, hint = WORDS["Illegal character"]
    if what.startswith(("Cannot", "Duplicate")):
        message = WORDS["Cannot overwrite a value"][0]
    if what == "Invalid value" and (word := re.match(r"\w+", document.text[offset:])):
        word_text = word.group()
        if word_text.lower() in ("true", "false", "yes", "no", "on", "off"):
            hint = "write true or false"
        elif word_text[0].isdigit():
            hint = f"a number is written like 1.5 or 2e-3; {EXPRESSION}"
        message = f"{word_text[:40]!r} is not a value"
    document.at(offset, message, hint)
