"""`zwang periodic` and `zwang lyapunov`: motions that repeat themselves, and how fast neighbours go away."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from zwang.cli.answers import (
    Hold,
    Out,
    asked,
    finish,
    found_with,
    heading,
    held_of,
    option,
    remark,
    require_out,
    require_said,
)
from zwang.cli.models import Case, load
from zwang.cli.options import AsJson, Inputs, Model, Settings, Starts
from zwang.endings import ANSWERS
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

COLORS = {"stable": "green", "unstable": "red"}
MOST_SHOWN = 12  # multipliers and exponents


def periodic(
    model: Model,
    period: Annotated[float | None, option("--period", "TIME", "The period, roughly.")] = None,
    hold: Hold = None,
    shift: Annotated[
        list[str] | None,
        option("--shift", "NAME[=NUMBER]", "A coordinate that need not return, or how far it gets; may be repeated."),
    ] = None,
    starts: Starts = None,
    settings: Settings = None,
    inputs: Inputs = None,
    out: Out = None,
    json: AsJson = False,
) -> None:
    """Find a motion near the start that repeats itself, and what becomes of its neighbours.

    \\[periodic] in the model says where to look and what is held. The exit code is 11 where there is none near.
    """
    import sympy as sp

    from zwang.files.analyses.periodic import Repetition

    if period is not None and not 0 < period < float("inf"):
        raise typer.BadParameter(f"{period}: give a positive number", param_hint="--period")
    case = load(model, settings, inputs=inputs, starts=starts)
    require_out(case, {"--out": out}, {"--out": ANSWERS})
    given = None if period is None else sp.Float(period)
    asks = asked(case, Repetition, period=given, hold=held_of(case, hold), shift=held_of(case, shift, "--shift"))
    require_said(asks, "period", "what is the period, roughly? give --period TIME")
    if starts:
        asks = Repetition(asks.period, hold=asks.hold, shift=asks.shift)
    motion = found_with("looking for a periodic motion", lambda: asks.answer(case.model, case.parameters))
    finish(case, motion, json, out, lambda: show(case, motion))


def show(case: Case, motion: "xr.Dataset") -> None:
    """Period, start, multipliers and verdict."""
    from zwang.cli import terminal

    heading(case, ", periodic motion")
    console, a = terminal.out(), motion.attrs
    unit = case.model.units.time
    rows: list[tuple[str, Any]] = [
        ("period", f"{a['period']:.12g} {unit}".rstrip()),
        ("misses", f"its start by {a['residual']:.2g}, in natural units"),
        *(
            [("shifts", ", ".join(f"{name} by {way:.9g}" for name, way in moved_of(motion)))]
            if moved_of(motion)
            else []
        ),
        ("multipliers", multiplier_words(motion.floquet.values, motion.floquet_name.values)),
    ]
    console.print(terminal.ledger(rows))
    console.print()
    table = terminal.columns("", "start", "least", "greatest", right=("start", "least", "greatest"))
    for key, mark in (("q", ""), ("v", "'")):
        for i, coordinate in enumerate(motion.coordinate.values):
            x = motion[key].values[:, i]
            cells = (f"{coordinate}{mark}", *(f"{v:.9g}" for v in (x[0], x.min(), x.max())))
            table.add_row(*map(terminal.text, cells))
    console.print(table)
    console.print()
    verdict = str(a["verdict"])
    remark(f"{verdict[:1].upper()}{verdict[1:]}.", COLORS.get(verdict.partition(":")[0], "yellow"))


def moved_of(motion: "xr.Dataset") -> list[tuple[str, float]]:
    """The coordinates that differ after a period, and by how much."""
    both = zip(motion.coordinate.values.tolist(), motion["shift"].values.tolist(), strict=True)
    return [(name, way) for name, way in both if way]


def multiplier_words(values: Any, names: Any) -> str:
    """Floquet multipliers, as people write them, with what they are by structure."""
    shown = [
        (f"{v.real:.6g}" if not v.imag else f"{v.real:.6g} {v.imag:+.6g} i") + (f" ({name})" if name else "")
        for v, name in zip(values[:MOST_SHOWN], names, strict=False)
    ]
    return ", ".join(shown) + (f", … ({len(values)} in all)" if len(values) > MOST_SHOWN else "")


def lyapunov(
    model: Model,
    until: Annotated[float | None, option("--until", "TIME", "For how long the motion is followed.")] = None,
    number: Annotated[int | None, option("--count", "N", "How many exponents; all without it.")] = None,
    stretches: Annotated[int | None, option("--stretches", "N", "Into how many parts the time is divided.")] = None,
    starts: Starts = None,
    settings: Settings = None,
    inputs: Inputs = None,
    out: Out = None,
    json: AsJson = False,
) -> None:
    """Give the Lyapunov exponents of a motion: how fast its neighbours go away from it, in the mean.

    \\[lyapunov] in the model says for how long it is followed.
    """
    from zwang.cli.exits import wrong_use
    from zwang.files.analyses.lyapunov import Divergence

    for name, value in (("--count", number), ("--stretches", stretches)):
        if value is not None and value < 1:
            raise typer.BadParameter(f"{value}: give a whole number from 1 on", param_hint=name)
    case = load(model, settings, inputs=inputs, starts=starts)
    require_out(case, {"--out": out}, {"--out": ANSWERS})
    asks = asked(case, Divergence, until=until, count=number, stretches=stretches)
    if asks.until is None and case.model.span[1] is None:
        require_said(asks, "until", "for how long is the motion followed? give --until TIME")
    with wrong_use():
        found = found_with("following neighbours", lambda: asks.answer(case.model, case.parameters))
    finish(case, found, json, out, lambda: show_exponents(case, found))


def show_exponents(case: Case, found: "xr.Dataset") -> None:
    """The exponents, and how far they have settled."""
    import numpy as np

    from zwang.cli import terminal

    heading(case, ", Lyapunov exponents")
    table = terminal.columns("", "exponent", "in the last half", right=("exponent", "in the last half"))
    history = found.history.values
    last = history[len(history) // 2 :]
    for i, value in enumerate(found.exponent.values[:MOST_SHOWN]):
        spread = float(np.ptp(last[:, i]))
        table.add_row(*map(terminal.text, (str(i + 1), f"{value:.6g}", f"changed by {spread:.2g}")))
    terminal.out().print(table)
    structural = int(found.attrs["structural"])
    if structural:
        remark(f"{count(structural, 'exponent')} vanish by structure in the limit of long times.", "dim")
