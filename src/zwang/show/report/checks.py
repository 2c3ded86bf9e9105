"""Why to trust the motion: residuals, energy, and the same motion by other forms, engines and tolerances."""

from collections.abc import Callable, Sequence
from html import escape
from math import isfinite
from typing import TypeVar

from zwang.engines import registry
from zwang.errors import ZwangError
from zwang.formulations.forms import DEFAULT
from zwang.model.has_system import resets_of
from zwang.motion.compare import EngineRow, FormRow, PrecisionRow, compare_forms, engines_from, tolerances_from
from zwang.motion.independent import compare_derivation
from zwang.results.account import LEVELS, worst_residual
from zwang.show.report.figures import Figure, Plots, plot
from zwang.show.report.html import PageSection, number, pairs, paragraph, table
from zwang.show.report.opening import seconds
from zwang.show.report.subject import Subject
from zwang.words import count

T = TypeVar("T")


def checks_section(subject: Subject, plots: Plots, compare: bool) -> PageSection | None:
    """The section on trust; the comparisons take time, so they can be left out."""
    if subject.empty:
        return None
    body = [pairs(accounts(subject))]
    if compare:
        body += [derivation(subject), forms(subject), *engines(subject, plots)]
    else:
        body.append(paragraph("Comparisons with other forms and engines were not asked for.", "note"))
    return PageSection("trust", "Why to trust it", "\n".join(body))


def accounts(subject: Subject) -> list[tuple[str, str]]:
    """What the motion says of its own errors."""
    gap, size = subject.balance
    said = []
    for variable, level in LEVELS.items():
        if found := worst_residual(subject.motion, variable):
            said.append((f"Constraints in {level}", f"kept to {number(found[0], digits=2)}"))
    share = f", {number(gap / size, digits=2)} of the largest energy on the way" if size else ""
    said.append(
        (
            "Energy",
            f"balanced to {number(gap, subject.unit('energy'), 2)}{share}; the work of forces outside of the potential "
            "comes from a spline through the saved powers",
        )
    )
    return said


def attempt(work: Callable[[], T]) -> T | str:
    """The result of a comparison, or why there is none."""
    try:
        return work()
    except ZwangError as error:
        return str(error)


def derivation(subject: Subject) -> str:
    """The accelerations beside those that the description itself gives."""
    row = attempt(lambda: compare_derivation(subject.system, subject.motion, subject.parameters))
    title = "<h3>Another derivation</h3>"
    if isinstance(row, str) or not row.states:
        why = row if isinstance(row, str) else row.note
        return title + paragraph(f"The equations could not be derived in another way: {why}", "note")
    words = (
        "Forms and engines share one derivation of M, Q, A and b, so that their agreement cannot show whether it is "
        "right. Here the energies and constraints were taken as they stand and differentiated by differences, with "
        f"ninety digits, at {count(row.states, 'state')} of the motion: the accelerations differ by at most "
    )
    return title + f"<p>{escape(words)}{number(row.error, digits=2)} of their size.</p>"


def forms(subject: Subject) -> str:
    """The forms side by side, and the fundamental equation as it is printed."""
    rows = attempt(lambda: compare_forms(subject.system, subject.motion, subject.parameters))
    if isinstance(rows, str):
        return paragraph(f"The forms could not be compared: {rows}", "note")
    return "<h3>All forms, one acceleration</h3>" + table(
        "Accelerations at saved states beside those of the fundamental form; “literal” is that form as it is printed, "
        "with roots of M and a Moore–Penrose inverse",
        ("Form", "Largest difference, relative", "States", "Time", "Note"),
        [form_cells(row) for row in rows],
        "numbers",
    )


def form_cells(row: FormRow) -> list[str]:
    """A form's line."""
    own = "the reference" if row.form == DEFAULT and not row.note else row.note
    return [escape(row.form), number(row.error, digits=2), str(row.states), seconds(row.seconds), note(own)]


def engines(subject: Subject, plots: Plots) -> list[str]:
    """The same motion by every engine, and what each tolerance costs and brings."""
    begin, end = subject.span
    if end <= begin:
        return [paragraph("The motion has no duration, so engines cannot be compared.", "note")]
    tol, resets = float(subject.motion.attrs["tol"]), resets_of(subject.model, ())
    by_engine = attempt(lambda: engines_from(subject.start, end, tol, stiff=False, resets=resets))
    by_tol = attempt(lambda: tolerances_from(subject.start, end, resets))
    body = ["<h3>Engines</h3>"]
    if isinstance(by_engine, str):
        body.append(paragraph(f"The engines could not be compared: {by_engine}", "note"))
    else:
        head = ("Engine, form", "Tolerance", "End state differs by", "Drift", "Energy error", "Steps", "Time", "Note")
        caption = "The same motion by other engines and forms: how far each end is from the first"
        body.append(table(caption, head, [engine_cells(row) for row in by_engine], "numbers"))
    body.append("<h3>Work and precision</h3>")
    if isinstance(by_tol, str):
        body.append(paragraph(f"Tolerances could not be compared: {by_tol}", "note"))
        return body
    body.append(precision_plot(by_tol, plots))
    columns = ("Tolerance", "Error of the end state", "Steps", "Evaluations", "Time", "Note")
    caption = "What a tolerance costs with the native engine, and what it brings"
    body.append(table(caption, columns, [precision_cells(row) for row in by_tol], "numbers"))
    return body


def engine_cells(row: EngineRow) -> list[str]:
    """An engine's line."""
    ran = isfinite(row.seconds)
    return [
        escape(f"{row.engine}, {row.form}"),
        number(row.tol, digits=2),
        number(row.error, digits=2),
        number(row.drift, digits=2),
        number(row.energy_error, digits=2),
        f"{row.steps:,}" if ran else number(row.seconds),
        seconds(row.seconds),
        note(row.note),
    ]


def precision_cells(row: PrecisionRow) -> list[str]:
    """A tolerance's line."""
    error = "" if row.note == "the reference" else number(row.error, digits=2)
    return [
        number(row.tol, digits=2),
        error,
        f"{row.steps:,}",
        f"{row.evaluations:,}",
        seconds(row.seconds),
        note(row.note),
    ]


def note(text: str) -> str:
    """A remark in a cell."""
    return f'<span class="remark">{escape(text)}</span>' if text else ""


def precision_plot(rows: Sequence[PrecisionRow], plots: Plots) -> str:
    """Error over evaluations; nothing where there are not two points."""
    points = [row for row in rows if isfinite(row.error) and row.error > 0 and row.evaluations > 0]
    if len(points) < 2:
        return ""
    curve = {
        "name": registry.DEFAULT,
        "x": [row.evaluations for row in points],
        "y": [float(f"{row.error:.3g}") for row in points],
        "text": [f"tol {row.tol:g}" for row in points],
    }
    panel = {"label": "error of the end state, relative", "log": True, "curves": [curve]}
    figure = Figure("precision", "Work and precision", "", (panel,), "evaluations", logarithmic_axis=True, legend=False)
    plots.figures.append(figure)
    return plot(figure)
