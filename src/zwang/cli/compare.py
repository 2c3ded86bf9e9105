"""`zwang compare`: all forms and all engines side by side; their disagreement is the certificate."""

from dataclasses import asdict
from math import inf, isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zwang.cli.exits import Exit, Failure
from zwang.cli.models import Case, load, require_end, require_start, simulate
from zwang.cli.options import AsJson, Model, Settings, changed
from zwang.show.report_html import count

if TYPE_CHECKING:
    from zwang.motion.compare import EngineRow, FormRow

SLACK = 100  # an engine may disagree by this many of its tolerances a step, if that is more than the bound


def compare(
    model: Model,
    until: Annotated[float | None, typer.Option(metavar="TIME", help="When to stop.", show_default=False)] = None,
    bound: Annotated[
        float, typer.Option(help=f"Largest disagreement; engines are allowed {SLACK} of their tolerances a step.")
    ] = 1e-6,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Compare all forms and all engines: their disagreement is the certificate.

    The forms are compared at up to 50 states of the motion, the engines at its end. The exit code is 9 where they
    disagree: the motion may be chaotic, or pass a singular position; a shorter run or a tighter tolerance tells.
    """
    from zwang.cli import terminal
    from zwang.cli.progress import busy
    from zwang.motion.compare import compare_engines, compare_forms

    if not 0 <= bound < inf:
        raise typer.BadParameter(f"{bound:g}: give a finite number that is not negative", param_hint="--bound")
    case = load(model, settings, **changed(until=until))
    require_end(case)
    require_start(case)
    motion = simulate(case)
    if motion.sizes["time"] < 2:
        raise Failure(Exit.STOPPED, f"there is no motion to compare: {motion.attrs['message']}")
    run, end = case.model.run, float(motion.time.values[-1])
    with busy("comparing"):
        forms = compare_forms(case.model.system, motion, case.parameters)
        engines = compare_engines(
            case.model.system, case.state(), end, parameters=case.parameters, tol=run.tol, t=run.begin
        )
    wrong = [f"the {row.form} form" for row in forms if row.error > bound]
    wrong += [name_of(row) for row in engines if row.error > allowed(row, bound)]
    if json:
        terminal.emit_json(
            {
                "name": case.model.system.name,
                "model": case.label,
                "begin": run.begin,
                "end": end,
                "bound": bound,
                "agree": not wrong,
                "forms": [asdict(row) for row in forms],
                "engines": [asdict(row) for row in engines],
            }
        )
    else:
        show(case, end, forms, engines, bound, wrong)
    if wrong:
        raise typer.Exit(Exit.DISAGREE)


def allowed(row: "EngineRow", bound: float) -> float:
    """How far an engine may disagree."""
    return max(bound, SLACK * row.tol * row.steps)


def name_of(row: "EngineRow") -> str:
    """An engine, and its form if that is not the usual one."""
    return row.engine if row.form == "fundamental" else f"{row.engine}, {row.form}"


def show(
    case: Case,
    end: float,
    forms: "tuple[FormRow, ...]",
    engines: "tuple[EngineRow, ...]",
    bound: float,
    wrong: list[str],
) -> None:
    """Both tables and the conclusion."""
    from zwang.cli import terminal
    from zwang.cli.terminal import figure, joined, seconds, text
    from zwang.cli.words import shortened

    console = terminal.out()
    states = max((row.states for row in forms), default=0)
    console.print(text(case.model.system.name or case.label, "bold"))
    console.print(text(f"\nForms: acceleration at {count(states, 'state')} of the motion"))
    table = terminal.columns("form", "disagreement", "time", right=("disagreement", "time"))
    for form in forms:
        table.add_row(text(form.form), mark(form.error, bound), text(seconds(form.seconds)))
    console.print(table)
    console.print(text(f"\nEngines: the state at t = {end:.9g}"))
    heads = ("tol", "disagreement", "drift", "energy", "steps", "time")
    table = terminal.columns("engine", *heads, right=heads)
    for row in engines:
        figures = (figure(row.drift), figure(row.energy_error), f"{row.steps:,}" if row.steps else "–")
        first = text(name_of(row)), text(f"{row.tol:g}"), mark(row.error, allowed(row, bound))
        table.add_row(*first, *map(text, figures), text(seconds(row.seconds)))
    console.print(table)
    console.print()
    noted = [(form.form, form.note) for form in forms] + [(name_of(row), row.note) for row in engines]
    for name, note in noted:
        if note:
            console.print(joined(text(f"{name}: ", "bold"), text(shortened(note))))
    if any(note for _, note in noted):
        console.print()
    if wrong:
        words = f"They disagree by more than {bound:g}: {'; '.join(wrong)}."
        console.print(text(f"{words} A chaotic motion does that: try a shorter one with --until.", "red"))
    else:
        console.print(text(*agreement(forms, engines, bound)))


def agreement(forms: "tuple[FormRow, ...]", engines: "tuple[EngineRow, ...]", bound: float) -> tuple[str, str]:
    """What it comes to where nothing disagrees, with its colour: how much of it all could be compared."""
    known = [sum(not isnan(row.error) for row in rows) for rows in (forms, engines)]
    some_forms, some_engines = (n if n > 1 else 0 for n in known)  # one alone is compared with nothing but itself
    count = f"{some_forms} of {len(forms)} forms and {some_engines} of {len(engines)} engines could be compared"
    if not some_forms and not some_engines:
        return f"{count}: that says nothing about the motion.", "yellow"
    return f"{count}, and they agree to {bound:g}, or to {SLACK} of their tolerances a step.", "green"


def mark(error: float, limit: float) -> Any:
    """A disagreement, in red where it is beyond its limit."""
    from zwang.cli.terminal import figure, text

    return text(figure(error), "red" if error > limit else "")
