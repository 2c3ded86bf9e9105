"""What several displays are made of: a heading, facts, lists that end somewhere, and numbers of any kind."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import sympy as sp

from zwang.show.report.html import NOTHING, number, table
from zwang.show.report.math import Notation
from zwang.words import listed, shortened

MOST_ROWS = 12  # of a table; beyond, how many more there are
MOST_NAMES = 12  # in a line
LONGEST = 120  # characters of a value in a line


def heading(kind: str, name: str, *facts: str) -> str:
    """What a thing is, its name, and a few words on it; all of it plain text."""
    title = f"<strong>{escape(shortened(name, LONGEST))}</strong> " if name else ""
    said = f' <span class="facts">{escape(" · ".join(fact for fact in facts if fact))}</span>' if any(facts) else ""
    return f'<p class="head"><span class="kind">{escape(kind)}</span> {title}{said}</p>'


def bounded(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "", total: int = 0) -> str:
    """A table of the first rows, which are HTML; below it how many of `total` rows there are more."""
    if not rows:
        return ""
    shown = [[f'<span class="name">{first}</span>', *rest] for first, *rest in rows[:MOST_ROWS]]
    more = max(total, len(rows)) - len(shown)
    return table(caption, head, shown, kind) + (f'<p class="more">… and {more:,} more</p>' if more else "")


def names(some: Iterable[object]) -> str:
    """Names in a line, escaped; of many the first ones and how many more."""
    each = [shortened(name, LONGEST) for name in some]
    return escape(listed(each, MOST_NAMES)) if each else NOTHING


def value(given: Any, notation: Notation | None = None) -> str:
    """Whatever was given as an argument, as HTML in a line: a number, an expression, names, or text that ends."""
    if isinstance(given, bool) or given is None:
        return escape(str(given))
    if isinstance(given, int | float):
        return number(float(given), digits=6)
    if isinstance(given, sp.Expr):
        if given.is_number and given.is_real:
            return number(float(given), digits=6)
        return (notation or Notation.of([given])).show(given)
    if isinstance(given, tuple | list):
        inner = ", ".join(value(each, notation) for each in given[:MOST_NAMES])
        return f"({inner}{', …' if len(given) > MOST_NAMES else ''})"
    own = getattr(given, "name", None)
    return escape(shortened(own if isinstance(own, str) else given, LONGEST))
