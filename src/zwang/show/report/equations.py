"""The equations of motion: the matrices, the chosen forms in general, and q̈ written out where that can be read."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html import escape

import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.equations import Equations
from zwang.equations.equations import as_derived
from zwang.equations.latex import beside, general, latex
from zwang.errors import ZwangError
from zwang.formulations.forms import FORMS
from zwang.formulations.solve import require_form
from zwang.model.symbols import t
from zwang.show.report.html import PageSection, paragraph
from zwang.show.report.math import LONGEST, MOST_OPERATIONS
from zwang.show.report.subject import Subject
from zwang.time_limit import within
from zwang.words import count

MOST_IN_FULL = 4  # rows of a diagonal matrix that is written with its zeros
MOST_COORDINATES = 40  # beyond, no matrix could be read
DERIVE_SECONDS = 4.0
# What is worth trying to write out, and for how long: beyond, accelerations fill pages even if SymPy comes to an end.
# With rows that change along the motion one row is as much as can be read; constant ones come out short.
OPERATIONS, CHANGING_RANK, CONSTANT_RANK, SECONDS = 300, 1, 4, 3.0
READABLE = 900  # operations in all accelerations together


def derived(subject: Subject) -> Equations | None:
    """The equations in symbols, in the characters of the notation; None where they are too large to derive here."""
    if len(subject.system.coordinate_names) > MOST_COORDINATES:
        return None
    found = within(DERIVE_SECONDS, lambda: as_derived(subject.system))
    if found is None:
        return None
    equations, put = found.simplified(), subject.notation.put
    matrices = {name: put(getattr(equations, name)) for name in ("M", "Q", "A", "b", "C")}
    return replace(equations, coordinates=tuple(map(put, equations.coordinates)), **matrices)


def equations_section(subject: Subject, forms: Sequence[str]) -> PageSection:
    """The section on the equations of motion."""
    for form in forms:
        require_form(form, {})
    system, equations = subject.system, derived(subject)
    body = [paragraph(statement(subject))]
    if equations is None:
        body += [block(subject, general(form, {}, bool(system.constraints), nonideal(subject))) for form in forms]
        body.append(
            left_out(subject, f"The matrices of {count(len(system.coordinate_names), 'coordinate')} are too large")
        )
        return PageSection("equations", "Equations of motion", "\n".join(body))
    body.append(matrices_of(subject, equations))
    if equations.names:
        body.append(paragraph(f"{assumption(equations)}.", "note"))
    known = written_out(equations, forms) if worth_writing_out(equations) else {}
    for form in forms:
        body.append(f"<h3>{escape(FORMS[form].title)}</h3>")
        body.append(paragraph(FORMS[form].how if equations.names else "Without constraints all forms are this one."))
        body.append(block(subject, general(form, {}, bool(equations.names), nonideal(subject))))
        if form in known:
            body.append(shown(subject, known[form]))
    limits = ", while every one-sided constraint is at its limit" if one_sided(subject) else ""
    body.append(f"<h3>Written out{limits}</h3>")
    body.append(shown(subject, known["acceleration"]) if "acceleration" in known else not_written_out(subject))
    return PageSection("equations", "Equations of motion", "\n".join(body))


def statement(subject: Subject) -> str:
    """What is solved, in words."""
    if not subject.system.constraints:
        return "M is the mass matrix and Q the given force, terms of inertia included."
    limits = ""
    if one_sided(subject):
        limits = " One-sided constraints stand here as they are while they are at their limits."
    extra = ", C the nonideal part of the forces of constraint" if nonideal(subject) else ""
    return (
        "M is the mass matrix, Q the given force, terms of inertia included; each constraint, differentiated until "
        f"accelerations appear, is a row of A q̈ = b{extra}.{limits}"
    )


def assumption(equations: Equations) -> str:
    """Which rank the formulas assume."""
    independent = [equations.names[i] for i in equations.rows]
    if equations.rank == len(equations.names):
        return f"In symbols A has full rank, {equations.rank}, at almost every state"
    return (
        f"In symbols A has rank {equations.rank} at almost every state; independent rows: "
        f"{', '.join(independent) or 'none'}"
    )


def one_sided(subject: Subject) -> bool:
    """Whether a constraint holds on one side only."""
    return any(constraint.one_sided for constraint in subject.system.constraints)


def nonideal(subject: Subject) -> bool:
    """Whether there are nonideal forces C."""
    return any(c != 0 for c in subject.system.nonideal)


def block(subject: Subject, tex: str) -> str:
    """A displayed formula; its parts, where it has several, stand side by side and wrap where there is no room."""
    parts = "".join(f'<div class="scroll part">{subject.notation.math(part, block=True)}</div>' for part in split(tex))
    return f'<div class="formula">{parts}</div>'


def split(tex: str) -> list[str]:
    """The parts of a line between wide spaces."""
    return [part.strip().removesuffix(",") for part in tex.replace(r"\qquad", r"\quad").split(r",\quad")]


def matrices_of(subject: Subject, equations: Equations) -> str:
    """q, M, Q, C, A and b, each in its own box."""
    parts = [rf"q = {latex(sp.Matrix([equations.coordinates]))}^{{\mathsf T}}"]
    shown = {"M": equations.M, "Q": equations.Q}
    if any(equations.C):
        shown["C"] = equations.C
    if equations.names:
        shown |= {"A": equations.A, "b": equations.b}
    omitted = []
    for name, matrix in shown.items():
        text = matrix_text(matrix) if sp.count_ops(matrix) <= 2 * MOST_OPERATIONS else ""
        if not 0 < len(text) <= 2 * LONGEST:
            entries = sum(1 for entry in matrix if entry != 0)
            omitted.append(f"{name} ({matrix.rows}×{matrix.cols}, {count(entries, 'entry', 'entries')} not zero)")
        else:
            parts.append(f"{name} = {text}")
    body = block(subject, r",\quad ".join(parts))
    return body + (left_out(subject, f"Too large to show: {', '.join(omitted)}") if omitted else "")


def matrix_text(matrix: sp.Matrix) -> str:
    """LaTeX of a matrix; a large one with nothing beside its diagonal is diag(…)."""
    size = min(matrix.shape)
    if size > MOST_IN_FULL and matrix.rows == matrix.cols and matrix.is_diagonal():
        return rf"\operatorname{{diag}}\left({', '.join(latex(matrix[i, i]) for i in range(size))}\right)"
    return str(latex(matrix))


def left_out(subject: Subject, what: str) -> str:
    """What is missing here and how to get it."""
    command = f"zwang equations {subject.file_name} --latex"
    return f'<p class="note">{escape(what)}. <code>{escape(command)}</code> prints them all.</p>'


def worth_writing_out(equations: Equations) -> bool:
    """Whether anybody could read q̈ written out."""
    operations = sum(int(sp.count_ops(matrix)) for matrix in (equations.M, equations.Q, equations.A, equations.b))
    changing = bool(equations.A.atoms(AppliedUndef))
    return operations <= OPERATIONS and equations.rank <= (CHANGING_RANK if changing else CONSTANT_RANK)


def written_out(equations: Equations, forms: Sequence[str]) -> dict[str, list[str] | str]:
    """What was found in the time there is: q̈ as lines of LaTeX, and what forms give beside it; or why it is refused."""
    found: dict[str, list[str] | str] = {}

    def acceleration() -> list[str]:
        values = equations.acceleration()
        both = zip(equations.coordinates, values, strict=True)
        return [f"{latex(q.diff(t, 2))} = {latex(a)}" for q, a in both] if sp.count_ops(values) <= READABLE else []

    makers: dict[str, Callable[[], list[str]]] = {"acceleration": acceleration}
    makers |= {form: partial(beside, equations, form, {}) for form in forms if FORMS[form].beside and equations.names}

    def work() -> None:
        for key, make in makers.items():
            try:
                lines = make()
            except ZwangError as error:
                found[key] = str(error)
            else:
                if lines and max(map(len, lines)) <= LONGEST:
                    found[key] = lines

    within(SECONDS, work)
    return found


def shown(subject: Subject, lines: list[str] | str) -> str:
    """Lines of LaTeX one below the other; or why there are none."""
    if isinstance(lines, str):
        return paragraph(f"This cannot be written out: {lines}", "note")
    return "".join(block(subject, line) for line in lines)


def not_written_out(subject: Subject) -> str:
    """Why q̈ is not there, and how to get it."""
    return (
        "<p>Written out in symbols the accelerations of this system would fill pages and tell little. They are "
        "computed from the matrices above in native code, where they are one expression graph all the same. "
        f"<code>{escape(f'zwang equations {subject.file_name} --latex')}</code> tries to print them.</p>"
    )
