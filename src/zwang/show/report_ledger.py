"""The constraint ledger: every constraint by name, what it asks for, its standing and what it reads."""

from html import escape

import sympy as sp

from zwang.equations import Equations
from zwang.equations.latex import latex
from zwang.model import Constraint
from zwang.show.report_html import NOTHING, Section, badge, listed, number, paragraph, table
from zwang.show.report_math import LONGEST, sides, too_long
from zwang.show.report_subject import Subject
from zwang.show.report_words import conclusions
from zwang.symbols import t
from zwang.verdict import Verdict

HEAD = ("Constraint", "What it asks for", "At the start", "Reaction", "Largest residual", "Its row of A q̈ = b")


def ledger_section(subject: Subject, equations: Equations | None) -> Section | None:
    """The section on the constraints; none where there are none."""
    if not subject.system.constraints:
        return None
    rows = [row(subject, equations, i, c) for i, c in enumerate(subject.system.constraints)]
    body = [paragraph(line) for line in verdict_lines(subject)]
    body.append(table("The constraint ledger", HEAD, rows, "ledger"))
    return Section("constraints", "Constraints", "\n".join(body))


def verdict_lines(subject: Subject) -> list[str]:
    """The verdict in words, and what the motion has to add."""
    verdict = subject.verdict
    lines = conclusions(verdict) if isinstance(verdict, Verdict) else [verdict]
    motion = subject.motion
    shared = [str(name) for name in motion.constraint.values[~motion.unique.values]]
    if shared:
        lines.append(f"Along the motion the multipliers of {listed(shared)} are not unique; given are the least ones.")
    return lines


def row(subject: Subject, equations: Equations | None, i: int, constraint: Constraint) -> list[str]:
    """One constraint's line in the ledger."""
    unique = bool(subject.motion.unique.values[i])
    return [
        f'{escape(constraint.name)}<span class="kinds">{", ".join(constraint.kinds)}</span>',
        condition(subject, constraint),
        standing(subject.verdict, constraint.name),
        badge("unique", "good") if unique else badge("not unique", "note"),
        readings(*subject.residuals[constraint.name]),
        NOTHING if equations is None else acceleration_level(subject, equations, i, constraint.one_sided),
    ]


def readings(position: float, velocity: float) -> str:
    """What a constraint reads at the levels that it has."""
    both = [(position, "position"), (velocity, "velocity")]
    found = [
        f'{number(value, digits=2)} <span class="none">in {level}</span>' for value, level in both if value == value
    ]
    return "<br>".join(found) or NOTHING


def condition(subject: Subject, constraint: Constraint) -> str:
    """The constraint as an equation, or as an inequality."""
    if constraint.one_sided:
        return formula(subject, rf"{subject.notation.tex(constraint.expression)} \geq 0")
    left, right = sides(constraint.expression)
    return formula(subject, f"{subject.notation.tex(left)} = {subject.notation.tex(right)}")


def acceleration_level(subject: Subject, equations: Equations, i: int, one_sided: bool) -> str:
    """The row of A times q̈, and the entry of b."""
    columns = zip(equations.coordinates, equations.A[i, :], strict=True)
    terms = [coefficient(entry) + latex(q.diff(t, 2)) for q, entry in columns if entry != 0]
    left = " ".join(terms).removeprefix("+ ") or "0"
    relation = r"\geq" if one_sided else "="
    return formula(subject, f"{left} {relation} {latex(equations.b[i])}")


def coefficient(entry: sp.Expr) -> str:
    """A factor with its sign before it, in LaTeX; a sum in brackets, a one not at all."""
    sign = "- " if entry.could_extract_minus_sign() else "+ "
    size = -entry if sign == "- " else entry
    if size == 1:
        return sign
    return sign + (rf"\left({latex(size)}\right) " if isinstance(size, sp.Add) else f"{latex(size)} ")


def formula(subject: Subject, tex: str) -> str:
    """A formula in a cell."""
    return subject.notation.math(tex) if len(tex) <= LONGEST // 3 else too_long(tex)


def standing(verdict: Verdict | str, name: str) -> str:
    """Whether a constraint is independent, redundant or inconsistent at the start, and with which others."""
    if isinstance(verdict, str):
        return NOTHING
    if name in verdict.inactive:
        return badge("not at its limit", "note")
    if name in verdict.inconsistent:
        others = verdict.inconsistent[name]
        return badge("inconsistent", "bad") + why(
            f"contradicts {listed(others)}" if others else "a zero row asks for something"
        )
    if name in verdict.redundant:
        others = verdict.redundant[name]
        return badge("redundant", "note") + (
            why(f"follows from {listed(others)}" if others else "its row is zero here")
        )
    return badge("violated", "bad") if name in verdict.violated else badge("independent", "good")


def why(text: str) -> str:
    """What a badge rests on."""
    return f'<span class="why">{escape(text)}</span>'
