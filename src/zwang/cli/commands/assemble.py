"""`zwang assemble`: the nearest start that obeys every constraint, ready to paste."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from zwang.cli.exits import Exit, Failure
from zwang.cli.models import Case, load, sources
from zwang.cli.options import AsJson, Force, Model, Settings
from zwang.cli.output_paths import require_targets
from zwang.endings import MODELS


def assemble(
    model: Model,
    hold: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Keep a coordinate (x) or a rate (x'); may be repeated.", show_default=False),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the model with this start; comments are lost.", show_default=False),
    ] = None,
    force: Force = False,
    settings: Settings = None,
    json: AsJson = False,
) -> None:
    """Bring the start onto its constraints, and print it ready to paste.

    The nearest state in the metric of the kinetic energy: positions first, then velocities. Bodies are put together
    whenever their file is read: for them, a table says from where to where.
    """
    from zwang.cli import terminal
    from zwang.files.write import coordinates_text, save_model
    from zwang.motion.assemble import assemble as bring

    case = load(model, settings, assemble=False)
    if case.model.mechanism is not None:
        put_together(case, {"--hold": hold, "--write": write}, json)
        return
    require_targets({"--write": write}, [] if force else sources(case), {"--write": MODELS}, overwrite=force)
    require_held(hold or [], [name for name, _ in rows(case)])
    before = case.model.state(case.parameters)
    guess = case.model.described(before)
    after = bring(case.model.system, guess, hold=hold or [], parameters=case.parameters, t=case.model.run.begin)
    assembled = replace(case.model, start=after)
    if write is not None:
        save_model(assembled, write)
    if json:
        terminal.emit_json(values(case, before, after, write))
        return
    show(case, before, after, terminal.err())  # so that the block alone goes down a pipe
    terminal.err().print()
    terminal.emit(coordinates_text(assembled))
    if write is not None:
        terminal.say(f"written: {write}", "dim")


def require_held(names: list[str], known: list[str]) -> None:
    """Refuse to keep what the model does not have."""
    from zwang.model.values import suggestion

    for name in names:
        if name not in known:
            raise typer.BadParameter(
                f"{name} is not a coordinate or rate of this model{suggestion(name, known)}", param_hint="--hold"
            )


def put_together(case: Case, options: dict[str, Any], json: bool) -> None:
    """Where bodies were put and where they are: there is nothing to paste, as their file takes no [coordinates]."""
    from zwang.cli import terminal

    for option, given in options.items():
        if given:
            raise Failure(
                Exit.USAGE,
                f"{option} is not for a model with bodies: their places are assembled whenever the file is read; "
                "give better places in [bodies] instead",
            )
    assert case.model.mechanism is not None
    before, after = case.model.mechanism.guess, case.model.state(case.parameters)
    if json:
        terminal.emit_json(values(case, before, after, None))
    else:
        show(case, before, after, terminal.out())


def rows(case: Case) -> list[tuple[str, Any]]:
    """The coordinates and rates with their names, in the order of the model."""
    system = case.model.system
    named = zip(system.coordinate_names, system.coordinates, system.velocities, strict=True)
    return [row for name, q, v in named for row in ((name, q), (f"{name}'", v))]


def values(case: Case, before: Mapping[Any, float], after: Mapping[Any, float], write: Path | None) -> dict[str, Any]:
    """The two starts, for machines."""
    return {
        "name": case.model.system.name,
        "model": case.label,
        "before": {name: before[key] for name, key in rows(case)},
        "after": {name: after[key] for name, key in rows(case)},
        "files": {} if write is None else {"write": str(write)},
    }


def show(case: Case, before: Mapping[Any, float], after: Mapping[Any, float], console: Any) -> None:
    """What was changed."""
    from zwang.cli import terminal

    table = terminal.columns("", "before", "after", "change", right=("before", "after", "change"))
    for name, key in rows(case):
        change = after[key] - before[key]
        moved = f"{change:+.3g}" if change else "–"
        table.add_row(*map(terminal.text, (name, f"{before[key]:.9g}", f"{after[key]:.9g}", moved)))
    console.print(table)
