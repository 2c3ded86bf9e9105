"""What notebooks show of a noun. Rooms below do not know how it is written: the door of the package says who does."""

from collections.abc import Callable, Iterable

from zwang.words import listed, shortened

MOST_NAMES = 6  # in one line of text
LONGEST = 100  # characters of an expression or a list there

_writers: list[Callable[[object], str | None]] = []


class Displayed:
    """A noun that notebooks show as a page writes it; in plain text its `repr` is one line."""

    def _repr_html_(self) -> str | None:
        return _writers[-1](self) if _writers else None


def write_with(writer: Callable[[object], str | None]) -> None:
    """Name the function that writes the HTML of a noun, or gives None where it cannot."""
    _writers[:] = [writer]


def told(noun: object, name: str, *parts: str) -> str:
    """The line of text that stands for a noun: what it is, its name, and a few words.

    >>> told(Displayed(), "pendulum", "coordinates x and y", "")
    "<Displayed 'pendulum': coordinates x and y>"
    """
    words = "; ".join(part for part in parts if part)
    return f"<{type(noun).__name__}{f' {shortened(name, LONGEST)!r}' if name else ''}{f': {words}' if words else ''}>"


def named(what: str, names: Iterable[object]) -> str:
    """A few of some names after what they are; empty where there are none.

    >>> named("constraints", ["rod", "floor"]), named("constraints", [])
    ('constraints rod and floor', '')
    """
    each = [shortened(name, LONGEST) for name in names]
    return f"{what} {listed(each, MOST_NAMES)}" if each else ""
