"""The report's part on an equilibrium or a steady motion: state, forces, verdict."""

from html import escape
from typing import TYPE_CHECKING

from zwang.files.analyses.analysis import Analysis
from zwang.model.symbols import in_a_line
from zwang.show.report.figures import Plots
from zwang.show.report.html import badge, number, paragraph, table
from zwang.show.report.subject import Subject

if TYPE_CHECKING:
    from zwang.analysis.equilibrium import Equilibrium

MOST_ROWS = 60
SMALL, NOTHING = 1e-14, 1e-30  # what is smaller, as a share of the largest number or at all, is printed as zero
KINDS = {True: ("stable", "good"), False: ("unstable", "bad"), None: ("not told", "note")}


def equilibrium_part(subject: Subject, plots: Plots, asks: Analysis) -> list[str]:
    """Where the model stays, what holds it there, and whether for long."""
    found = asks.answer(subject.model, subject.parameters)
    states, rows = state_rows(found), multiplier_rows(found)
    body = [verdict_line(found), table("The state", ("Coordinate or rate", "Value"), states[:MOST_ROWS], "numbers")]
    if rows:
        head = ("Constraint", "Multiplier", "Reaction")
        body.append(table("What holds it there", head, rows[:MOST_ROWS], "numbers"))
    more = max(len(states), len(rows)) - MOST_ROWS
    if more > 0:
        body.append(paragraph(f"Rows beyond {MOST_ROWS} are left out.", "note"))
    return body


def verdict_line(found: "Equilibrium") -> str:
    """The verdict, with a badge."""
    return f"<p>{badge(*KINDS[found.stable])} {escape(found.verdict)}</p>"


def state_rows(found: "Equilibrium") -> list[list[str]]:
    """Coordinates and rates with their values; at rest, where rates vanish, the coordinates."""
    state = {in_a_line(key): value for key, value in found.state.items()}
    shown = state if found.constant else {name: x for name, x in state.items() if not name.endswith("'")}
    least = max(SMALL * max(map(abs, shown.values()), default=0.0), NOTHING)
    return [[escape(name), number(x if abs(x) > least else 0.0, digits=9)] for name, x in shown.items()]


def multiplier_rows(found: "Equilibrium") -> list[list[str]]:
    """Multipliers, and whether they are unique."""
    flags = {True: badge("unique", "good"), False: badge("not unique", "note")}
    least = max(SMALL * max(map(abs, found.multipliers.values()), default=0.0), NOTHING)
    return [
        [escape(name), number(x if abs(x) > least else 0.0, digits=9), flags[found.unique[name]]]
        for name, x in found.multipliers.items()
    ]
