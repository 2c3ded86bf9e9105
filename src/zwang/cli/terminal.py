"""What goes to the terminal: results to standard output, words about them to standard error.

Text from model files is data: no markup is read in it, and control characters do not reach the terminal.
"""

import json
import math
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def out() -> "Console":
    """Standard output."""
    return console(stderr=False)


def err() -> "Console":
    """Standard error."""
    return console(stderr=True)


def console(stderr: bool) -> "Console":
    """A console that takes text as it is; a broken pipe is left to the guard."""
    from rich.console import Console

    class Plain(Console):
        """A console that does not end the process by itself."""

        def on_broken_pipe(self) -> None:
            """Hand the broken pipe on."""
            raise BrokenPipeError

    return Plain(stderr=stderr, markup=False, highlight=False, emoji=False)


def clean(text: str) -> str:
    """Text without control characters: a name must not move the cursor or turn the line round.

    >>> clean("a\\x1b[31mb")
    'a�[31mb'
    """
    return _CONTROL.sub("�", text)


def text(words: Any, style: str = "") -> "Text":
    """Text for a console, with no markup read in it."""
    from rich.text import Text

    return Text(clean(str(words)), style=style)


def joined(*parts: "Text") -> "Text":
    """Texts one after the other, each in its own style."""
    from rich.text import Text

    return Text().join(parts)


def hanging(row: str, width: int) -> str:
    """A row in lines of a width; those after the first begin where its second column does.

    >>> print(hanging("  rod  a long story of a rod", 20))
      rod  a long story
           of a rod
    """
    indent = len(row) - len(row.lstrip())
    gap = re.match(r"\s*\S+(?: \S+)*?  +(?=\S)", row)
    within = " " * (gap.end() if gap and gap.end() < width // 2 else indent)
    return filled(row, width, within)


def filled(row: str, width: int, within: str) -> str:
    """A row in lines of a width, with what stands before those after the first; words, such as paths, stay whole."""
    import textwrap

    lines = textwrap.wrap(row, width, subsequent_indent=within, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) or row


def fitted(message: str, width: int) -> str:
    """A message about a file in lines of a width; a line of the file is cut around the mark under it."""
    rows, done = message.split("\n"), []
    for i, row in enumerate(rows):
        mark = rows[i + 1] if i + 1 < len(rows) else ""
        if mark.strip() == "^" and mark.startswith("    "):
            first = max(0, mark.index("^") - 4 - (width - 8) * 3 // 4) if len(row) > width else 0
            body = row[4 + first :]
            room = width - 4 - bool(first)
            shown = f"{'…' * bool(first)}{body if len(body) <= room else body[: room - 1] + '…'}"
            done += [f"    {shown}", f"{mark[first - bool(first) :]}"]
        elif not (row.strip() == "^" and i):
            indent = len(row) - len(row.lstrip())
            done.append(filled(row, width, " " * (indent + 6 if row.lstrip().startswith("hint: ") else indent + 4)))
    return "\n".join(done)


def say(words: str, style: str = "") -> None:
    """A remark, to standard error."""
    console = err()
    console.print(text(filled(clean(words), console.width, ""), style), soft_wrap=True)


def emit(words: str) -> None:
    """Lines to standard output as they are: no wrapping, no colour."""
    sys.stdout.write(words if words.endswith("\n") else f"{words}\n")


def emit_file(content: str) -> None:
    """A file's content to standard output: into another file as UTF-8, which model files are, whatever the encoding."""
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None or sys.stdout.isatty():
        emit(content)
    else:
        sys.stdout.flush()
        buffer.write(content.encode())


def emit_json(values: Any) -> None:
    """One JSON object to standard output; what is not a finite number is null.

    Where the encoding does not have every character, JSON has a way of its own to write them.
    """
    utf = (sys.stdout.encoding or "").lower().startswith("utf")
    emit(json.dumps(plain(values), indent=2, ensure_ascii=not utf))


def plain(value: Any) -> Any:
    """A value as JSON can hold it.

    >>> plain({"a": float("nan"), "b": (1, 2.5)})
    {'a': None, 'b': [1, 2.5]}
    """
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        return plain(value.tolist())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return str(value)


def ledger(rows: Iterable[tuple[str, "Text | str"]]) -> "Table":
    """Two columns: what it is, and its value."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(text(name), text(value) if isinstance(value, str) else value)
    return table


def columns(*heads: str, right: Iterable[str] = ()) -> "Table":
    """A table with a line under its heads; those named in `right` hold numbers."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for head in heads:
        table.add_column(
            text(head), justify="right" if head in right else "left", no_wrap=head in right, overflow="fold"
        )
    return table


def figure(value: float) -> str:
    """A measured size with two digits; a dash where there is none.

    >>> figure(1.2345e-13), figure(0.0), figure(float("nan"))
    ('1.2e-13', '0', '–')
    """
    return "–" if math.isnan(value) else f"{value:.2g}"


def seconds(value: float) -> str:
    """A time a person can read.

    >>> seconds(0.00042), seconds(0.035), seconds(12.3), seconds(float("nan"))
    ('420 µs', '35 ms', '12 s', '–')
    """
    if math.isnan(value):
        return "–"
    size, unit = next(
        (size, unit) for size, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")) if value >= size or unit == "µs"
    )
    count = value / size
    return f"{count:.1f} {unit}" if count < 9.95 else f"{count:.0f} {unit}"
