"""The equations of motion: matrices that can be read, and of the others the entries that are not zero."""

from html import escape
from typing import TYPE_CHECKING, Any

import sympy as sp

from zwang.equations.latex import general, latex
from zwang.formulations.forms import DEFAULT
from zwang.linalg.exact import operations
from zwang.show.notebook.pieces import heading
from zwang.show.report.html import paragraph, table
from zwang.show.report.math import LONGEST, MOST_OPERATIONS, Notation
from zwang.words import count

if TYPE_CHECKING:
    from zwang.equations import Equations

MOST_COLUMNS, MOST_ROWS = 8, 10  # of a matrix that is drawn as one
MOST_ENTRIES = 16  # of one that is not
MOST_NAMES = 16  # coordinates in a line


def equations(given: "Equations") -> str:
    """The form in general, q, M, Q, C, A and b, and what is assumed of the rank."""
    n, m = len(given.coordinates), len(given.names)
    shown: dict[str, Any] = {"M": given.M, "Q": given.Q}
    if any(given.C):
        shown["C"] = given.C
    if m:
        shown |= {"A": given.A, "b": given.b}
    notation = Notation.of([*given.coordinates, *(X for X in shown.values() if operations(X) <= 40 * MOST_OPERATIONS)])
    facts = count(n, "coordinate"), f"{count(m, 'constraint')} of rank {given.rank}" if m else ""
    parts = [part(notation, general(DEFAULT, {}, bool(m), any(given.C)))]
    if n <= MOST_NAMES:
        q = latex(sp.Matrix([list(map(notation.put, given.coordinates))]))
        parts.append(part(notation, rf"q = {q}^{{\mathsf T}}"))
    lists = []
    for name, matrix in shown.items():
        text = drawn(notation, matrix)
        if text:
            parts.append(part(notation, f"{name} = {text}", "column" if matrix.cols == 1 else ""))
        else:
            lists.append(entries(notation, name, matrix, given))
    taken = f"Taken as equalities: {', '.join(given.one_sided)}." if given.one_sided else ""
    return (
        heading("Equations", "", *facts)
        + f'<div class="formula">{"".join(parts)}</div>'
        + "".join(lists)
        + (paragraph(taken, "more") if taken else "")
    )


def part(notation: Notation, tex: str, kind: str = "") -> str:
    """A displayed formula in a box of its own that scrolls where it is too wide."""
    return f'<div class="scroll part {kind}">{notation.math(tex, block=True)}</div>'


def drawn(notation: Notation, matrix: Any) -> str:
    """LaTeX of a matrix that is small enough to be drawn as one; empty for others."""
    if matrix.rows > MOST_ROWS or matrix.cols > MOST_COLUMNS or operations(matrix) > MOST_OPERATIONS:
        return ""
    text = notation.tex(matrix)
    return text if len(text) <= LONGEST else ""


def entries(notation: Notation, name: str, matrix: Any, given: "Equations") -> str:
    """The entries of a matrix that are not zero, by the names of row and column; the first of them."""
    found = sorted(matrix.todok().items())
    across = [q.func.__name__ for q in given.coordinates]
    down = list(given.names) if name in ("A", "b") else across
    rows = []
    for (i, j), entry in found[:MOST_ENTRIES]:
        place = escape(down[i]) + ("" if matrix.cols == 1 else f", {escape(across[j])}")
        rows.append([f'<span class="name">{place}</span>', notation.show(entry)])
    size = f"{matrix.rows} × {matrix.cols}" if matrix.cols > 1 else count(matrix.rows, "row")
    caption = f"{name}: {size}, {count(len(found), 'entry', 'entries')} not zero"
    more = len(found) - len(rows)
    return table(caption, ("Place", "Entry"), rows) + (f'<p class="more">… and {more:,} more</p>' if more > 0 else "")
