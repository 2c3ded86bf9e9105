"""`zwang kinematics`: positions, velocities, accelerations and driving forces of a driven mechanism."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zwang.cli.answers import FILES, Out, asked, finish, found_with, heading, option, require_out, require_said
from zwang.cli.exits import Exit
from zwang.cli.models import Case, load
from zwang.cli.options import AsJson, Inputs, Model, Settings, Starts
from zwang.endings import ANSWERS, TABLES

if TYPE_CHECKING:
    import xarray as xr


def kinematics(
    model: Model,
    times: Annotated[str | None, option("--times", "FROM:TO:COUNT", "The times; those of the run without it.")] = None,
    starts: Starts = None,
    settings: Settings = None,
    inputs: Inputs = None,
    out: Out = None,
    csv: Annotated[Path | None, option("--csv", "FILE", "The motion, as a table.", FILES)] = None,
    json: AsJson = False,
) -> None:
    """Give the positions of a driven mechanism at given times, without integrating, and the forces of its drivers.

    \\[kinematics] in the model says at which times. At a dead point it ends, and the exit code is 7.
    """
    from zwang.files.analyses.kinematics import Positions
    from zwang.files.ranges import range_values, wrong_range
    from zwang.files.store import save_csv

    if times is not None and (words := wrong_range(times)):
        raise typer.BadParameter(words, param_hint="--times")
    if times is not None and (range_values(times)[1:] <= range_values(times)[:-1]).any():
        raise typer.BadParameter(f"{times} does not ascend: give earlier times first", param_hint="--times")
    case = load(model, settings, inputs=inputs, starts=starts)
    require_out(case, {"--out": out, "--csv": csv}, {"--out": ANSWERS, "--csv": TABLES})
    asks = asked(case, Positions, times=times)
    if case.model.span[1] is None:
        require_said(asks, "times", "at which times? give --times FROM:TO:COUNT")
    motion = found_with("looking for positions", lambda: asks.answer(case.model, case.parameters, throw=False))
    code = Exit.DONE if motion.attrs["status"] == "finished" else Exit.STOPPED
    more = {"--csv": (csv, partial(save_csv, motion))}
    finish(case, motion, json, out, lambda: show(case, motion), more, code)


def show(case: Case, motion: "xr.Dataset") -> None:
    """How far it got, between which values the coordinates move, and the forces of the drivers."""
    import numpy as np

    from zwang.cli import summaries, terminal
    from zwang.files.analyses.linear import ROUNDED
    from zwang.results.units import with_unit

    heading(case, ", kinematics")
    console, a = terminal.out(), motion.attrs
    at = motion.time.values
    fine = a["status"] == "finished"
    end = terminal.text(with_unit(summaries.cut_at_word(a["message"]), case.model.units.time), "" if fine else "red")
    rows: list[tuple[str, Any]] = [
        ("times", f"{len(at)}, from {at[0]:.6g} to {at[-1]:.6g}"),
        ("residuals", summaries.residual_words(motion)),
        ("end", end),
    ]
    console.print(terminal.ledger(rows))
    console.print()
    table = terminal.columns("", "least", "greatest", "fastest", right=("least", "greatest", "fastest"))
    both = [
        np.where(np.abs(x) > ROUNDED * np.abs(x).max(initial=0.0), x, 0.0) for x in (motion.q.values, motion.v.values)
    ]
    for i, name in enumerate(motion.coordinate.values):
        q, v = (x[:, i] for x in both)
        table.add_row(*map(terminal.text, (name, *(f"{x:.6g}" for x in (q.min(), q.max(), np.abs(v).max())))))
    console.print(table)
    drivers = [c.name for c in case.model.system.constraints if c.rheonomic]
    if drivers:
        console.print()
        table = terminal.columns("driver", "multiplier from", "to", right=("multiplier from", "to"))
        for name in drivers:
            force = motion.multiplier.sel(constraint=name).values
            table.add_row(*map(terminal.text, (name, f"{force.min():.6g}", f"{force.max():.6g}")))
        console.print(table)
