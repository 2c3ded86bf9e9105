"""`zwang fit`: parameters from measured motions."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zwang.cli.answers import FILES, Out, asked, finish, found_with, heading, option, remark, require_out, require_said
from zwang.cli.exits import Exit, Failure, wrong_use
from zwang.cli.models import Case, load, require_names
from zwang.cli.options import AsJson, Model, Settings, number
from zwang.endings import ANSWERS, MODELS
from zwang.words import count, listed

if TYPE_CHECKING:
    import sympy as sp

    from zwang.analysis.fitting.found import Fit
    from zwang.files.analyses.fit import Measurement

STRONG = 0.9  # correlations above this are worth a word


def fit(
    model: Model,
    data: Annotated[
        list[Path] | None, option("--data", "FILE", "Measured motions as CSV; repeat it for several trials.")
    ] = None,
    unknown: Annotated[
        list[str] | None, option("--unknown", "NAME[=NUMBER]", "A parameter that is sought, and a first guess.")
    ] = None,
    pieces: Annotated[
        int | None, option("--pieces", "N", "In how many pieces a long or chaotic motion is fitted.")
    ] = None,
    settings: Settings = None,
    out: Out = None,
    write: Annotated[
        Path | None, option("--write", "FILE", "The model with these values, as a model file.", FILES)
    ] = None,
    json: AsJson = False,
) -> None:
    """Find the parameters of a model with which its motion comes nearest to measured ones.

    \\[fit] in the model says which are sought, what was measured, and how well. Data have times in a column t or time.
    """
    from zwang.files.analyses.fit import Measurement

    case = load(model, settings, symbolic=True)
    targets = {"--out": out, "--write": write}
    require_out(case, targets, {"--out": ANSWERS, "--write": MODELS})
    if pieces is not None and pieces < 1:
        raise typer.BadParameter(f"{pieces}: give a whole number from 1 on", param_hint="--pieces")
    asks = asked(case, Measurement, data=tables_of(data), unknown=unknown_of(case, unknown), pieces=pieces)
    require_said(asks, "unknown", "what is unknown? give --unknown NAME")
    require_said(asks, "data", "there are no data: give --data FILE.csv")
    require_others(case, asks)
    require_fitting(case, asks)
    with wrong_use():
        found = found_with("fitting", lambda: asks.answer(case.model, case.parameters))
    more = {"--write": (write, partial(save, case, found))}
    finish(case, found, json, out, lambda: show(case, found), more)


def tables_of(files: Sequence[Path] | None) -> tuple[dict[str, tuple[float, ...]], ...]:
    """The columns of CSV files that were named."""
    from zwang.files.analyses.data import columns_in
    from zwang.files.tables import CellError, table_text
    from zwang.files.toml.problems import Misread

    found = []
    for file in files or ():
        try:
            found.append(columns_in(table_text(file, str(file)), str(file)))
        except Misread as error:
            words = error.message.replace(" beside the model", "")
            raise Failure(Exit.USAGE, f"--data: {words}{error.hint and f'; {error.hint}'}") from None
        except CellError as error:
            raise Failure(Exit.USAGE, f"--data: {error.problem}") from None
    return tuple(found)


def unknown_of(case: Case, given: Sequence[str] | None) -> "dict[str, sp.Expr | None]":
    """What is sought, from texts such as `g` or `g=9.5`."""
    import sympy as sp

    found: dict[str, sp.Expr | None] = {}
    for text in given or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        try:
            found[name] = sp.Float(number(value)) if equals else None
        except typer.BadParameter as error:
            raise typer.BadParameter(f"{name}: {error.message}", param_hint="--unknown") from None
    require_names(case.model, dict.fromkeys(found, 0.0), "--unknown")
    return found


def require_others(case: Case, asks: "Measurement") -> None:
    """Refuse a model that leaves open what is not sought, and values for what is."""
    missing = [s.name for s in case.model.missing if s.name not in asks.unknown]
    if missing:
        settings = " ".join(f"--set {name}=NUMBER" for name in missing)
        raise Failure(Exit.USAGE, f"{listed(missing)}: no value is given in the model; add {settings}")


def require_fitting(case: Case, asks: "Measurement") -> None:
    """Refuse data that do not fit to what was measured, as in a file."""
    for _, message, hint in asks.wrong(case.model.system.coordinate_names):
        raise Failure(Exit.USAGE, f"{message}{hint and f'; {hint} under [fit] in the model'}")


def save(case: Case, found: "Fit", path: Path) -> None:
    """The model with the values that were found."""
    from dataclasses import replace

    from zwang.files.write import save_model

    system = case.model.system
    changed = replace(system, parameters={**system.parameters, **found.values})
    save_model(replace(case.model, system=changed, text=""), path)


def show(case: Case, found: "Fit") -> None:
    """Values with errors, how good the fit is, and what data can tell."""
    import math

    import numpy as np

    from zwang.cli import terminal

    heading(case, ", fitted")
    left = max(found.numbers - len(found.values), 1)
    rows = [
        ("data", f"{count(found.numbers, 'number')} for {count(len(found.values), 'unknown')}"),
        ("residual", f"{math.sqrt(found.rss / left):.4g} a number, weighted"),
        ("work", count(found.evaluations, "evaluation")),
    ]
    console = terminal.out()
    console.print(terminal.ledger(rows))
    console.print()
    table = terminal.columns("unknown", "value", "error", "", right=("value", "error"))
    for s, x in found.values.items():
        error, told = found.errors[s], found.identifiable[s]
        share = f"{100 * error / abs(x):.2g} %" if told and x and math.isfinite(error) else "" if told else "open"
        cells = (str(s), f"{x:.9g}", f"{error:.3g}" if math.isfinite(error) else "–", share)
        table.add_row(*map(terminal.text, cells))
    console.print(table)
    console.print()
    with np.errstate(all="ignore"):
        strong = strong_pairs([str(s) for s in found.values], found.correlation)
    if strong:
        remark(f"Correlated: {listed(strong, 6)}.")
    remark(found.verdict, "green" if all(found.identifiable.values()) else "yellow")


def strong_pairs(names: list[str], correlation: Sequence[Sequence[float]]) -> list[str]:
    """Pairs whose values are strongly correlated."""
    return [
        f"{names[j]} and {names[i]} {correlation[i][j]:+.3f}"
        for i in range(len(names))
        for j in range(i)
        if abs(correlation[i][j]) > STRONG
    ]
