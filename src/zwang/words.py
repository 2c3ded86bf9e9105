"""Words that every message is made of: how many, which ones, cut if too long, and what may have been meant."""

from collections.abc import Iterable

MOST_COMPARED = 2000  # names among which the one that was meant is looked for
LONGEST_NAME = 100  # characters of a name for which one is looked for: more is not a slip of a finger
SHOWN_NAME = 40  # characters of a name that are shown


def count(number: int, one: str, many: str = "") -> str:
    """`1 row`, `2 rows`; `many` where the plural is not made by an s.

    >>> count(12345, "step"), count(2, "entry", "entries")
    ('12,345 steps', '2 entries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Iterable[object], most: int = 0, last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`; of more than `most`, the first ones and how many more there are.

    >>> listed("abc"), listed("abcde", most=3)
    ('a, b and c', 'a, b and 3 more')
    """
    words = [str(name) for name in names]
    if most and len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def shortened(what: object, most: int = 80) -> str:
    """Something in a message, cut after so many characters.

    >>> shortened("x + y", 4)
    'x + …'
    """
    text = str(what)
    return text if len(text) <= most else f"{text[:most]}…"


def quoted(name: str) -> str:
    """A name as messages show it."""
    return f"'{shortened(name, SHOWN_NAME)}'"


def nearest(wrong: str, known: Iterable[str]) -> str:
    """The name that may have been meant, empty if none is near.

    >>> nearest("thta", ["theta", "x"]), nearest("X", ["theta", "x"]), nearest("y", ["theta", "x"])
    ('theta', 'x', '')
    """
    import difflib

    if len(wrong) > LONGEST_NAME:
        return ""
    names = list(known)[:MOST_COMPARED]
    close = [name for name in names if name.lower() == wrong.lower()]
    close = close or difflib.get_close_matches(wrong, names, n=1)
    return close[0] if close else ""


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """The end of a message: what may have been meant.

    >>> did_you_mean("thta", ["theta", "x"])
    "; did you mean 'theta'?"
    """
    meant = nearest(wrong, known)
    return f"; did you mean {quoted(meant)}?" if meant else ""
