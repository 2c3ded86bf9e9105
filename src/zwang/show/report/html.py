"""Small pieces of HTML: everything that comes from a model is escaped here."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from zwang.files.analyses.answers import finite

# Nothing may be loaded; what a page brings along may run, and pictures may be made of plots.
SCRIPTLESS = "default-src 'none'; style-src 'unsafe-inline'"
POLICY = f"{SCRIPTLESS}; script-src 'unsafe-inline'; img-src data: blob:"
NOTHING = '<span class="none">–</span>'
MOST_LISTED = 8  # names in a sentence before the rest is only counted


@dataclass(frozen=True)
class PageSection:
    """A part of the report: its anchor, its heading, and its content as HTML."""

    anchor: str
    title: str
    body: str

    @property
    def html(self) -> str:
        """The section as it stands on the page."""
        return (
            f'<section id="{self.anchor}" aria-labelledby="{self.anchor}-title">\n'
            f'<h2 id="{self.anchor}-title">{escape(self.title)}</h2>\n{self.body}\n</section>'
        )


def paragraph(text: str, kind: str = "") -> str:
    """Plain text as a paragraph."""
    return f"<p{class_of(kind)}>{escape(text)}</p>"


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """A table in a box of its own that scrolls where it is too wide; cells are HTML, the first of a row its header."""
    columns = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in rows
    )
    return (
        f'<div class="table"><p class="caption">{escape(caption)}</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f'<table{class_of(kind)} aria-label="{escape(caption)}">'
        f"<thead><tr>{columns}</tr></thead><tbody>{lines}</tbody></table></div></div>"
    )


def pairs(entries: Iterable[tuple[str, str]]) -> str:
    """Terms, escaped, and what is to be said of each, as HTML."""
    return f"<dl>{''.join(f'<dt>{escape(term)}</dt><dd>{said}</dd>' for term, said in entries)}</dl>"


def details(summary: str, body: str) -> str:
    """Something to unfold."""
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def badge(text: str, kind: str) -> str:
    """A word in a coloured box; `kind` is good, note or bad."""
    return f'<span class="badge {kind}">{escape(text)}</span>'


def class_of(kind: str) -> str:
    """The class attribute, if any."""
    return f' class="{kind}"' if kind else ""


def number(value: float, unit: str = "", digits: int = 4) -> str:
    """A number for people: 0.25, or 3.1 × 10⁻¹⁵; a dash where there is none.

    >>> number(0.25, "m"), number(3.1e-15, digits=2)
    ('0.25&nbsp;m', '3.1&nbsp;×&nbsp;10<sup>−15</sup>')
    """
    if not math.isfinite(value):
        return NOTHING
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    power = int(exponent)
    if value == 0 or -4 < power < 6:
        text = f"{value:.{max(digits, power + 1)}g}"
    else:
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        text = f"{mantissa}&nbsp;×&nbsp;10<sup>{power}</sup>"
    return text.replace("-", "−") + (f"&nbsp;{escape(unit)}" if unit else "")


def inert_json(value: Any) -> str:
    """JSON that no HTML parser takes for markup, with null for what is not finite."""
    text = json.dumps(finite(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
