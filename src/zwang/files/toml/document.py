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
from functools import lru_cache
from itertools import islice
from typing import Any

from zwang.errors import ModelError, ZwangError, lacks_memory
from zwang.files.toml.positions import Path, Place, Repeated, find_places, inside
from zwang.files.toml.problems import Misread, Problem, file_error
from zwang.files.toml.repair import set_aside, statement
from zwang.files.toml.slips import slip_in
from zwang.model.signal import Signal
from zwang.words import did_you_mean

LARGEST_FILE = 500_000  # bytes
MOST_SLIPS = 20  # statements that are set aside: as many as a message shows
MOST_COMPARED = 10_000  # pairs of names that are compared to find what was meant: half a second
BEYOND = "zwang cannot work with this"  # how a problem begins that nobody foresaw

AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
# Characters that change how a line looks but not what it says.
HIDDEN = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@lru_cache(maxsize=4)
def line_starts(text: str) -> list[int]:
    """Where the lines of a text begin."""
    return [0, *(found.end() for found in re.finditer("\n", text))]


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

    lines: list[str] = field(default_factory=list)
    """The lines as they were given: in `text`, statements that cannot be read are set aside."""
    slips: tuple[Problem, ...] = ()
    """What is wrong with these."""
    spoilt: set[Path] = field(default_factory=set)
    """Their paths: nothing more is said of these."""
    broken: tuple[int, int, bool] = (0, 0, False)
    """The lines of the statement that cannot be read, and whether it is one that is given again."""

    @property
    def starts(self) -> list[int]:
        """Where the lines of the text begin."""
        return line_starts(self.text)

    def line(self, offset: int) -> int:
        """The line, counted from 0, in which an offset into the text is."""
        return bisect_right(self.starts, offset) - 1

    def at(self, offset: int, message: str, hint: str = "", path: Path = ()) -> None:
        """Note a problem at an offset into the text, where the value at a path stands."""
        offset = max(0, min(offset, len(self.text)))
        line = self.line(offset)
        column = min(offset - self.starts[line], len(self.lines[line]))
        self.problems.append(Problem(self.file, line + 1, column + 1, message, hint, self.lines[line], path))

    def of(self, path: Path, message: str, hint: str = "", *, key: bool = False, index: int | None = None) -> None:
        """Note a problem with the value (or the key) at a path, `index` characters into its string."""
        if any(path[: len(spoilt)] == spoilt for spoilt in self.spoilt):
            return
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
        elif lacks_memory(error):  # nothing is wrong with the file
            raise MemoryError from error
        else:
            first = (str(error).splitlines() or [""])[0]
            self.of(path, f"{BEYOND} ({type(error).__name__}{first and ': '}{first})", "write it in another way")

    def again(self) -> "Document":
        """The same document, without the problems that were found in it, to be read with other values."""
        kept = {name: getattr(self, name) for name in ("data", "places", "signals", "lines", "slips", "spoilt")}
        return Document(self.file, self.text, problems=list(self.slips), **kept)

    def raise_problems(self) -> None:
        """Raise what was found, if anything was."""
        if self.problems:
            raise file_error(self.problems)


def parse_document(text: str, file: str) -> Document:
    """The document of a text; raises `ModelFileError` where it is not TOML.

    What cannot be read is noted and set aside, statement by statement. If it is still known what these were for, the
    document is given all the same, with its `slips`: the rest may have mistakes, too.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    document = Document(file, text, lines=text.split("\n"))
    if hidden := list(islice(HIDDEN.finditer(text), MOST_SLIPS)):
        for found in hidden:
            name = unicodedata.name(found.group(), "a character")
            document.at(found.start(), f"a character that cannot be seen: {name}", "delete it")
        document.raise_problems()
    aside: set[int] = set()
    known = True
    while not parsed(document):
        first, end, again = document.broken
        if first in aside or len(aside) >= MOST_SLIPS:
            document.raise_problems()
        aside.update(range(first, end))
        document.text, certain = set_aside(document.text, first, end, again)
        known = known and certain
    if not known:
        document.raise_problems()
    document.slips = tuple(document.problems)
    document.spoilt = {path for path, place in document.places.items() if document.line(place.key) in aside}
    return document


def parsed(document: Document) -> bool:
    """Whether a document could be parsed; if not, the first thing that is wrong with it is noted."""
    starts: list[int] = []
    try:
        document.places = find_places(document.text, starts)
        document.data = tomllib.loads(document.text)
        return True
    except Misread as error:
        document.at(error.at, error.message, error.hint)
        if not isinstance(error, Repeated):
            document.raise_problems()
        document.broken = (*statement(document.text, starts, error.at), error.at in starts)
    except tomllib.TOMLDecodeError as error:
        explain(document, str(error), starts)
    except (ValueError, RecursionError):
        document.at(0, "the file is not TOML", "a number may be out of range")
        document.raise_problems()
    return False


def explain(document: Document, said: str, starts: list[int]) -> None:
    """Note what tomllib found wrong, in words of ours, at its place."""
    place = AT.search(said)
    what = said[: place.start()] if place else said
    if place and place.group(1):
        offset = document.starts[int(place.group(1)) - 1] + int(place.group(2)) - 1
    else:
        offset = len(document.text.rstrip())
    first, end = statement(document.text, starts, offset)
    line = min(document.line(offset), end - 1)
    begin = document.starts[line]
    slip = slip_in(document.lines[line], min(offset - begin, len(document.lines[line])), what)
    document.at(begin + slip.at, slip.message, slip.hint)
    document.broken = (first, end, what.startswith(("Cannot", "Duplicate")))
