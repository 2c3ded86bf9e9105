"""The constraint ledger: every constraint by name, what it asks for, its standing and what it reads."""

from collections import Counter
from collections.abc import Sequence
from html import escape

import sympy as sp

from zwang.model import Constraint
from zwang.model.symbols import in_a_line, t
from zwang.show.report.html import MOST_LISTED, NOTHING, PageSection, badge, number, paragraph, table
from zwang.show.report.math import Notation, sides
from zwang.show.report.subject import Subject
from zwang.verdict import Verdict
from zwang.words import listed

MOST_ROWS = 20  # constraints; beyond, their rows of A take longer to make than anybody will look at them
HEAD = ("Constraint", "At the start", "Reaction", "Largest residual", "What it asks for, and its row of A q̈ = b")


def ledger_section(subject: Subject) -> PageSection | None:
    """The section on the constraints; none where there are none."""
    if not subject.system.constraints:
        return None
    usual = usual_kinds(subject.system.constraints)
    rows = [row(subject, i, c, usual) for i, c in enumerate(subject.system.constraints)]
    body = [paragraph(line) for line in verdict_lines(subject)]
    if usual:
        same = all(tuple(c.kinds) == usual for c in subject.system.constraints)
        body.append(paragraph(f"{'All' if same else 'Where nothing else is said they'} are {listed(usual)}."))
    body.append(table("The constraint ledger", HEAD, rows, "ledger"))
    if len(rows) > MOST_ROWS:
        body.append(paragraph(f"The rows of A and b are left out: there are {len(rows)}.", "note"))
    return PageSection("constraints", "Constraints", "\n".join(body))


def verdict_lines(subject: Subject) -> list[str]:
    """The verdict in words, and what the motion has to add."""
    verdict = subject.verdict
    lines = verdict.conclusions if isinstance(verdict, Verdict) else [verdict]
    motion = subject.motion
    shared = [str(name) for name in motion.constraint.values[~motion.unique.values]]
    if shared:
        names = listed(shared, MOST_LISTED)
        lines.append(f"Along the motion the multipliers of {names} are not unique; given are the least ones.")
    return lines


def usual_kinds(constraints: Sequence[Constraint]) -> tuple[str, ...]:
    """The kinds that most of several constraints have: said once, and not of each of them."""
    counted = Counter(tuple(c.kinds) for c in constraints)
    kinds, most = counted.most_common(1)[0]
    return kinds if most > 1 else ()


def row(subject: Subject, i: int, constraint: Constraint, usual: Sequence[str]) -> list[str]:
    """One constraint's line in the ledger; of kinds it says those that are not the usual ones."""
    unique = bool(subject.motion.unique.values[i])
    kinds = () if tuple(constraint.kinds) == usual else constraint.kinds
    said = [*kinds, *map(escape, said_of_law(constraint))]
    asked = [condition(subject.notation, constraint)]
    if len(subject.system.constraint_names) <= MOST_ROWS:
        asked.append(acceleration_level(subject, constraint))
    return [
        escape(constraint.name) + (f'<span class="kinds">{", ".join(said)}</span>' if said else ""),
        standing(subject.verdict, constraint.name),
        badge("unique", "good") if unique else badge("not unique", "note"),
        readings(*subject.residuals[constraint.name]),
        "".join(f'<div class="line">{line}</div>' for line in asked),
    ]


def said_of_law(constraint: Constraint) -> list[str]:
    """Restitution, friction and slip of a contact, in words."""
    said = [f"restitution {law_words(constraint.restitution)}"] if constraint.restitution != 0 else []
    coefficients = list(dict.fromkeys(map(law_words, constraint.friction)))
    if coefficients:
        two = f" in sticking, {coefficients[-1]} in sliding" if len(coefficients) > 1 else ""
        said.append(f"friction {coefficients[0]}{two}")
    if constraint.slip:
        said.append(f"slip {' and '.join(map(law_words, constraint.slip))}")
    return said


def law_words(value: sp.Expr) -> str:
    """A coefficient of a contact, or the speed of its slip."""
    return f"{float(value):.6g}" if value.is_number else in_a_line(value)


def readings(position: float, velocity: float) -> str:
    """What a constraint reads at the levels that it has."""
    both = [(position, "position"), (velocity, "velocity")]
    found = [
        f'{number(value, digits=2)} <span class="none">in {level}</span>' for value, level in both if value == value
    ]
    return "<br>".join(found) or NOTHING


def condition(notation: Notation, constraint: Constraint) -> str:
    """The constraint as an equation, or as an inequality."""
    left, right = (constraint.expression, sp.S.Zero) if constraint.one_sided else sides(constraint.expression)
    return notation.relation(left, r"\geq" if constraint.one_sided else "=", right)


def acceleration_level(subject: Subject, constraint: Constraint) -> str:
    """The row of A times q̈, and the entry of b; only coordinates that occur have entries."""
    columns = [q for q in subject.system.coordinates if q in constraint.functions]
    A, b = constraint.row(columns)
    terms = [sp.Mul(entry, q.diff(t, 2), evaluate=False) for q, entry in zip(columns, A, strict=True) if entry != 0]
    left = sp.Add(*terms, evaluate=False) if terms else sp.S.Zero
    return subject.notation.relation(left, r"\geq" if constraint.one_sided else "=", b)


def standing(verdict: Verdict | str, name: str) -> str:
    """Whether a constraint is independent, redundant or inconsistent at the start; of a contact, how it stands."""
    if isinstance(verdict, str):
        return NOTHING
    contact = verdict.contacts.get(name)
    return in_the_rank(verdict, name) + (why(str(contact)) if contact is not None else "")


def in_the_rank(verdict: Verdict, name: str) -> str:
    """Whether a constraint is independent, redundant or inconsistent, and with which others."""
    if name in verdict.inactive:
        return badge("not at its limit", "note")
    if name in verdict.inconsistent:
        others = verdict.inconsistent[name]
        text = f"contradicts {listed(others, MOST_LISTED)}" if others else "a zero row asks for something"
        return badge("inconsistent", "bad") + why(text)
    if name in verdict.redundant:
        others = verdict.redundant[name]
        return badge("redundant", "note") + why(
            f"follows from {listed(others, MOST_LISTED)}" if others else "its row is zero here"
        )
    return badge("violated", "bad") if name in verdict.violated else badge("independent", "good")


def why(text: str) -> str:
    """What a badge rests on."""
    return f'<span class="why">{escape(text)}</span>'
