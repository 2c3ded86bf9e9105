"""What was computed at a state: a verdict, and the solution of the equations."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from zwang.arrays import Array
from zwang.show.notebook.pieces import MOST_ROWS, bounded, heading
from zwang.show.report.analyses.equilibrium import multiplier_rows, state_rows, verdict_line
from zwang.show.report.html import NOTHING, badge, number, pairs, paragraph
from zwang.show.report.ledger import readings, standing
from zwang.words import count, listed

if TYPE_CHECKING:
    from zwang.analysis.equilibrium import Equilibrium
    from zwang.analysis.fitting.found import Fit
    from zwang.formulations.solution import Solution
    from zwang.motion.handles.stepper import Stepper
    from zwang.verdict import Verdict


def verdict(given: "Verdict") -> str:
    """A verdict: whether there is anything to object to, each constraint, and the conclusions."""
    kinds = {"redundant": "note"}
    words = [badge(word, kinds.get(word, "bad")) for word, found in given.objections.items() if found]
    rows = [
        [
            f'{escape(name)}<span class="kinds">{escape(", ".join(kinds))}</span>',
            standing(given, name),
            badge("unique", "good") if given.unique_multipliers.get(name) else badge("not unique", "note"),
            readings(*given.residuals[name]),
        ]
        for name, kinds in [*given.kinds.items()][:MOST_ROWS]
    ]
    facts = (
        count(len(given.coordinates), "coordinate"),
        f"{count(len(given.kinds), 'constraint')} of rank {given.rank}",
        count(given.degrees_of_freedom, "degree") + " of freedom",
    )
    head = ("Constraint", "Standing", "Reaction", "Reads")
    return (
        heading("Verdict", given.name, *facts)
        + f"<p>{' '.join(words) or badge('ok', 'good')}</p>"
        + bounded("Constraints", head, rows, "ledger", len(given.kinds))
        + "".join(paragraph(line) for line in given.conclusions)
    )


def solution(given: "Solution") -> str:
    """A solution: acceleration and forces by coordinate, multipliers by constraint, and how well it obeys."""
    *stack, n = given.acceleration.shape
    m = given.multipliers.shape[-1]
    facts = count(n, "coordinate"), count(m, "constraint")
    if stack:
        size = " × ".join(f"{k:,}" for k in stack)
        entries = [(name, f"{size} × {n}") for name in ("acceleration", "constraint_force")]
        return heading("Solution", "", f"{size} systems", *facts) + pairs([*entries, ("multipliers", f"{size} × {m}")])
    columns = {
        "Acceleration": given.acceleration,
        "Free acceleration": given.free_acceleration,
        "Force of constraint": given.constraint_force,
    }
    rows = [[str(i + 1), *(number(float(x[i]), digits=6) for x in columns.values())] for i in range(min(n, MOST_ROWS))]
    body = bounded("By coordinate", ("No.", *columns), rows, "numbers", n)
    unique = [badge("unique", "good") if flag else badge("not unique", "note") for flag in given.unique]
    multipliers = [
        [str(i + 1), number(float(given.multipliers[i]), digits=6), unique[i]] for i in range(min(m, MOST_ROWS))
    ]
    body += bounded("By constraint", ("No.", "Multiplier", "Reaction"), multipliers, "numbers", m)
    return heading("Solution", "", *facts, f"rank {int(given.rank)}") + body + pairs(accounts(given))


def stepper(given: "Stepper") -> str:
    """A motion that is taken on step by step: where it is."""
    each = zip(given.coordinates, given.q, given.v, strict=True)
    rows = [[escape(name), number(q, digits=9), number(v, digits=9)] for name, q, v in [*each][:MOST_ROWS]]
    head = ("Coordinate", "Value", "Rate")
    return heading("Stepper", "", f"t = {given.t:g}") + bounded("State", head, rows, "numbers", len(given.q))


def equilibrium(given: "Equilibrium") -> str:
    """An equilibrium or a steady motion: the verdict, the state, the multipliers."""
    state, rows = state_rows(given), multiplier_rows(given)
    what = f"steady in {listed(given.constant)}" if given.constant else "at rest"
    return (
        heading("Equilibrium", given.name, what)
        + verdict_line(given)
        + bounded("State", ("Coordinate or rate", "Value"), state[:MOST_ROWS], "numbers", len(state))
        + bounded("Multipliers", ("Constraint", "Multiplier", "Reaction"), rows[:MOST_ROWS], "numbers", len(rows))
    )


def fit(given: "Fit") -> str:
    """A fit: values with their errors, and what data can tell."""
    kinds = {True: badge("told", "good"), False: badge("open", "note")}
    rows = [
        [escape(str(s)), number(x, digits=9), number(given.errors[s], digits=3), kinds[given.identifiable[s]]]
        for s, x in [*given.values.items()][:MOST_ROWS]
    ]
    facts = count(len(given.values), "unknown"), count(given.numbers, "number")
    body = bounded("Values", ("Unknown", "Value", "Standard error", "Data"), rows, "numbers", len(given.values))
    return heading("Fit", given.name, *facts) + body + paragraph(given.verdict)


def accounts(given: "Solution") -> list[tuple[str, str]]:
    """What Gauss's principle makes least, and the residuals."""
    told: dict[str, Array] = {
        "Gaussian": given.gaussian,
        "‖A q̈ − b‖": given.residuals.constraint,
        "Equilibrium": given.residuals.equilibrium,
    }
    return [(name, number(float(x), digits=3) if np.ndim(x) == 0 else NOTHING) for name, x in told.items()]
