"""What is wrong with a model file, and where: the place, the line itself, a mark under it, a remedy."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

from zwang.errors import ModelFileError
from zwang.words import count, shortened

WINDOW = 100  # characters of a line that are shown
TAB = 4
MOST_SHOWN = 20  # problems that a message spells out
MOST_WORDS = 400  # characters of one message


class Misread(Exception):
    """An expression, a document or a table cannot be read on, `at` so many characters from its beginning."""

    def __init__(self, message: str, at: int, hint: str = "") -> None:
        self.message, self.at, self.hint = message, at, hint
        super().__init__(message)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a file; lines and columns count from 1, a hint may be empty.

    `path` is the way to the value through sections and keys, where the problem is with a value.
    """

    file: str
    line: int
    column: int
    message: str
    hint: str = ""
    source: str = ""
    path: tuple[str | int, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        """The place and what is wrong, then the line with a mark under the place, then the remedy.

        >>> print(Problem("a.toml", 2, 5, "unknown name 'y'", "declare it", "x = y"))
        a.toml:2:5: error: unknown name 'y'
            x = y
                ^
            hint: declare it
        """
        lines = [f"{self.file}:{self.line}:{self.column}: error: {in_one_line(self.message)}"]
        if self.source.strip():
            shown, mark = window(self.source, self.column - 1)
            lines += [f"    {shown}", f"    {mark}"]
        if self.hint:
            lines.append(f"    hint: {in_one_line(self.hint)}")
        return "\n".join(lines)


def window(line: str, column: int) -> tuple[str, str]:
    """The part of a line around a column, fit for a terminal, and a line with a mark under that column.

    >>> window("a\\tb", 2)
    ('a    b', '     ^')
    """
    first = max(0, column - WINDOW * 3 // 4) if len(line) > WINDOW else 0
    part = line[first : first + WINDOW]
    before = ("…" if first else "") + visible(part[: column - first])
    shown = before + visible(part[column - first :]) + ("…" if len(line) > first + WINDOW else "")
    return shown, " " * width(before) + "^"


def visible(text: str) -> str:
    """Text in which tabs are spaces, and control and format characters show as ␀."""
    return "".join(
        " " * TAB if c == "\t" else "␀" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else c
        for c in text
    )


def width(text: str) -> int:
    """How many columns of a terminal a text takes: East Asian letters take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def in_one_line(text: str) -> str:
    """A message of bearable length, with nothing in it that could move a cursor."""
    return shortened(visible(text.replace("\n", " ")), MOST_WORDS)


def file_error(problems: Iterable[Problem]) -> ModelFileError:
    """All problems of a file as one exception, in the order of the file."""
    ordered = sorted(dict.fromkeys(problems), key=lambda p: (p.file, p.line, p.column))
    shown = [str(problem) for problem in ordered[:MOST_SHOWN]]
    if len(ordered) > MOST_SHOWN:
        shown.append(f"… and {len(ordered) - MOST_SHOWN} more")
    return ModelFileError(ordered, "\n".join([f"the model file has {count(len(ordered), 'mistake')}:", *shown]))
