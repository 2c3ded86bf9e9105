"""`zwang compare`: one motion in all forms, by all engines, and from a derivation of its own."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zwang.cli.exits import Exit, Failure
from zwang.cli.models import Case, load, require_end, require_start, simulate
from zwang.cli.options import AsJson, Floating, Inputs, Model, Pull, Settings, Starts, changed
from zwang.formulations.forms import DEFAULT
from zwang.words import count

if TYPE_CHECKING:
    from zwang.motion.compare import EngineRow, FormRow
    from zwang.motion.independent import DerivationRow

SLACK = 100  # an engine may disagree by this many of its tolerances a step, if that is more than the bound


@dataclass(frozen=True)
class Deviation:
    """One figure of a comparison, and its limit."""

    kind: str
    """derivation, forms, engines, drift or energy"""
    who: str
    value: float
    allowed: float

    @property
    def wrong(self) -> bool:
        """Whether it exceeds its limit."""
        return self.value > self.allowed


def compare(
    model: Model,
    until: Annotated[float | None, typer.Option(metavar="TIME", help="When to stop.", show_default=False)] = None,
    bound: Annotated[
        float, typer.Option(help=f"Largest disagreement; engines are allowed {SLACK} of their tolerances a step.")
    ] = 1e-6,
    starts: Starts = None,
    gravity: Pull = None,
    floating: Floating = False,
    settings: Settings = None,
    inputs: Inputs = None,
    json: AsJson = False,
) -> None:
    """Compare one motion in all forms, by all engines, and with another derivation of its equations.

    The derivation takes the energies and constraints as they stand, by differences, at 9 states of the motion. The
    forms are compared at up to 50 states, the engines at the end. The exit code is 9 where something disagrees, where
    constraints drift or energy is not balanced, and where nothing could be compared. A chaotic motion disagrees at its
    end, or one that passes a singular position; a shorter run or a tighter tolerance tells.
    """
    from zwang.cli import terminal
    from zwang.cli.progress import busy
    from zwang.model.has_system import resets_of
    from zwang.motion.compare import compare_forms, engines_from
    from zwang.motion.independent import compare_derivation

    if not 0 <= bound < inf:
        raise typer.BadParameter(f"{bound:g}: give a finite number that is not negative", param_hint="--bound")
    case = load(
        model, settings, inputs=inputs, starts=starts, gravity=gravity, floating=floating, **changed(until=until)
    )
    require_end(case)
    require_start(case)
    motion = simulate(case)
    if motion.sizes["time"] < 2:
        raise Failure(Exit.STOPPED, f"there is no motion to compare: {motion.attrs['message']}")
    run, end = case.model.run, float(motion.time.values[-1])
    with busy("comparing"):
        derivation = compare_derivation(case.model.system, motion, case.parameters)
        forms = compare_forms(case.model.system, motion, case.parameters)
        engines = engines_from(case.start, end, run.tol, resets=resets_of(case.model, ()))
    figures = figures_of(derivation, forms, engines, bound)
    agree = bool(compared(figures)) and not any(figure.wrong for figure in figures)
    if json:
        terminal.emit_json(
            {
                "name": case.model.system.name,
                "model": case.label,
                "begin": run.begin,
                "end": end,
                "bound": bound,
                "agree": agree,
                "derivation": asdict(derivation),
                "forms": [asdict(row) for row in forms],
                "engines": [asdict(row) for row in engines],
            }
        )
    else:
        show(case, end, derivation, forms, engines, figures)
    if not agree:
        raise typer.Exit(Exit.DISAGREE)


def figures_of(
    derivation: "DerivationRow", forms: "Sequence[FormRow]", engines: "Sequence[EngineRow]", bound: float
) -> list[Deviation]:
    """Every figure that was found, with its limit; of a kind with only one row there is nothing to compare."""
    figures = [Deviation("derivation", "the derivation", derivation.error, bound)]
    figures += [Deviation("forms", f"the {row.form} form", row.error, bound) for row in several(forms)]
    for row in several(engines):
        figures.append(Deviation("engines", name_of(row), row.error, allowed(row, bound)))
    for row in engines:
        if not row.note:  # what did not get to its end says why
            figures.append(Deviation("drift", name_of(row), row.drift_error, allowed(row, bound)))
            figures.append(Deviation("energy", name_of(row), row.energy_error, allowed(row, bound)))
    return [figure for figure in figures if not isnan(figure.value)]


def several(rows: Sequence[Any]) -> Sequence[Any]:
    """Those rows that were compared, if there is more than the first, which the others are compared with."""
    known = [row for row in rows if not isnan(row.error)]
    return known if len(known) > 1 else []


def compared(figures: Sequence[Deviation]) -> list[Deviation]:
    """Figures that set one computation against another; drift and energy are what a motion says of itself."""
    return [figure for figure in figures if figure.kind in ("derivation", "forms", "engines")]


def allowed(row: "EngineRow", bound: float) -> float:
    """How far an engine may disagree."""
    return max(bound, SLACK * row.tol * row.steps)


def name_of(row: "EngineRow") -> str:
    """An engine, and its form if that is not the usual one."""
    return row.engine if row.form == DEFAULT else f"{row.engine}, {row.form}"


def show(
    case: Case,
    end: float,
    derivation: "DerivationRow",
    forms: "Sequence[FormRow]",
    engines: "Sequence[EngineRow]",
    figures: Sequence[Deviation],
) -> None:
    """The tables and the conclusion."""
    from zwang.cli import terminal
    from zwang.cli.summaries import cut_at_word
    from zwang.cli.terminal import figure, joined, seconds, text

    console = terminal.out()
    limit = {(f.kind, f.who): f.allowed for f in figures}

    def mark(kind: str, who: str, value: float) -> Any:
        """A figure, in red where it is beyond its limit."""
        return text(figure(value), "red" if value > limit.get((kind, who), inf) else "")

    console.print(text(case.model.system.name or case.label, "bold"))
    states = max((row.states for row in forms), default=0)
    console.print(text(f"\nForms: acceleration at {count(states, 'state')} of the motion"))
    table = terminal.columns("form", "disagreement", "time", right=("disagreement", "time"))
    for form in forms:
        table.add_row(text(form.form), mark("forms", f"the {form.form} form", form.error), text(seconds(form.seconds)))
    console.print(table)
    console.print(text(f"\nEngines: the state at t = {end:.9g}"))
    heads = ("tol", "disagreement", "drift", "energy", "steps", "time")
    table = terminal.columns("engine", *heads, right=heads)
    for row in engines:
        name = name_of(row)
        table.add_row(
            text(name),
            text(f"{row.tol:g}"),
            mark("engines", name, row.error),
            mark("drift", name, row.drift_error),
            mark("energy", name, row.energy_error),
            text(f"{row.steps:,}" if row.steps else "–"),
            text(seconds(row.seconds)),
        )
    console.print(table)
    console.print(text("\nThe largest of each kind, and what is allowed"))
    table = terminal.columns("kind", "largest", "allowed", "where", right=("largest", "allowed"))
    for kind, worst in largest(figures).items():
        where = count(derivation.states, "state") if kind == "derivation" else worst.who
        table.add_row(text(kind), mark(kind, worst.who, worst.value), text(figure(worst.allowed)), text(where))
    console.print(table)
    console.print()
    noted = [("derivation", derivation.note), *((form.form, form.note) for form in forms)]
    noted += [(name_of(row), row.note) for row in engines]
    for name, note in noted:
        if note:
            console.print(joined(text(f"{name}: ", "bold"), text(cut_at_word(note))))
    if any(note for _, note in noted):
        console.print()
    console.print(text(*conclusion(forms, engines, figures)))


def largest(figures: Sequence[Deviation]) -> dict[str, Deviation]:
    """Of each kind, the figure that is nearest to its limit or farthest beyond it."""
    found: dict[str, Deviation] = {}
    for figure in figures:
        best = found.get(figure.kind)
        if best is None or figure.value * best.allowed > best.value * figure.allowed:
            found[figure.kind] = figure
    return found


def conclusion(
    forms: "Sequence[FormRow]", engines: "Sequence[EngineRow]", figures: Sequence[Deviation]
) -> tuple[str, str]:
    """What it comes to, with its colour: red, or how much of it all could be compared, green only if all kinds were."""
    wrong = [f for f in figures if f.wrong]
    if wrong:
        kinds = {"drift": " (its constraints drift)", "energy": " (its energy is not balanced)"}
        names = "; ".join(dict.fromkeys(f"{f.who}{kinds.get(f.kind, '')}" for f in wrong))
        words = f"They disagree by more than is allowed: {names}."
        if all(f.kind == "engines" for f in wrong):
            words += " A chaotic motion does that: try a shorter one with --until."
        return words, "red"
    some = {kind: sum(f.kind == kind for f in figures) for kind in ("derivation", "forms", "engines")}
    derivation = "The derivation" if some["derivation"] else "Not the derivation"
    words = (
        f"{derivation}, {some['forms']} of {len(forms)} forms and {some['engines']} of {len(engines)} engines could be "
        "compared"
    )
    if not any(some.values()):
        return f"{words}: that says nothing about the motion.", "yellow"
    if not some["derivation"]:
        return f"{words}, and they agree; that does not show whether the equations are the right ones.", "yellow"
    return f"{words}, and they agree.", "green" if some["engines"] else "yellow"
