"""`zwang equilibrium` and `zwang steady`: where a model stays, the forces that hold it there, and whether for long."""

from typing import TYPE_CHECKING, Annotated

from zwang.cli.answers import (
    Hold,
    OutJson,
    asked,
    finish,
    found_with,
    heading,
    held_of,
    option,
    quantities,
    remark,
    require_out,
    require_said,
)
from zwang.cli.models import Case, load
from zwang.cli.options import AsJson, Floating, Inputs, Model, Pull, Settings, Starts
from zwang.endings import RECORDS

if TYPE_CHECKING:
    from zwang.analysis.equilibrium import Equilibrium

SMALL, NOTHING = 1e-14, 1e-30  # what is smaller, as a share of the largest number or at all, is printed as zero
COLORS = {True: "green", False: "red", None: "yellow"}


def equilibrium(
    model: Model,
    hold: Hold = None,
    starts: Starts = None,
    gravity: Pull = None,
    floating: Floating = False,
    settings: Settings = None,
    inputs: Inputs = None,
    out: OutJson = None,
    json: AsJson = False,
) -> None:
    """Find where a model rests near its start, and whether that is stable.

    \\[equilibrium] in the model says where to look and what is held. The exit code is 11 where there is none near.
    """
    from zwang.files.analyses.equilibrium import Rest

    case = load(model, settings, inputs=inputs, starts=starts, gravity=gravity, floating=floating)
    require_out(case, {"--out": out}, {"--out": RECORDS})
    asks = asked(case, Rest, hold=held_of(case, hold))
    if starts:
        asks = Rest(hold=asks.hold)
    found = found_with("looking for an equilibrium", lambda: asks.answer(case.model, case.parameters))
    finish(case, found, json, out, lambda: show(case, found))


def steady(
    model: Model,
    constant: Annotated[
        list[str] | None, option("--constant", "NAME", "A coordinate or rate that stays constant; may be repeated.")
    ] = None,
    hold: Hold = None,
    starts: Starts = None,
    settings: Settings = None,
    inputs: Inputs = None,
    out: OutJson = None,
    json: AsJson = False,
) -> None:
    """Find a steady motion of a model near its start, in which something stays constant.

    \\[steady] in the model says what stays constant and what is held. The exit code is 11 where there is none near.
    """
    from zwang.files.analyses.steady import Steadiness

    case = load(model, settings, inputs=inputs, starts=starts)
    require_out(case, {"--out": out}, {"--out": RECORDS})
    asks = asked(case, Steadiness, constant=quantities(case, constant, "--constant"), hold=held_of(case, hold))
    require_said(asks, "constant", "what stays constant? give --constant NAME")
    if starts:
        asks = Steadiness(constant=asks.constant, hold=asks.hold)
    found = found_with("looking for a steady motion", lambda: asks.answer(case.model, case.parameters))
    finish(case, found, json, out, lambda: show(case, found))


def show(case: Case, found: "Equilibrium") -> None:
    """The state, the multipliers and the verdict, for people."""
    from zwang.cli import terminal
    from zwang.model.symbols import in_a_line
    from zwang.words import listed

    heading(case, f", steady in {listed(found.constant, 6)}" if found.constant else ", at rest")
    console = terminal.out()
    state = {in_a_line(key): value for key, value in found.state.items()}
    state = state if found.constant else {name: x for name, x in state.items() if not name.endswith("'")}
    least = max(SMALL * max(map(abs, state.values()), default=0.0), NOTHING)
    table = terminal.columns("coordinate", "value", right=("value",))
    for name, value in state.items():
        table.add_row(terminal.text(name), terminal.text(f"{value if abs(value) > least else 0:.9g}"))
    console.print(table)
    if found.multipliers:
        console.print()
        table = terminal.columns("constraint", "multiplier", "", right=("multiplier",))
        least = max(SMALL * max(map(abs, found.multipliers.values())), NOTHING)
        for name, value in found.multipliers.items():
            row = name, f"{value if abs(value) > least else 0:.9g}", "" if found.unique[name] else "not unique"
            table.add_row(*map(terminal.text, row))
        console.print(table)
    console.print()
    remark(f"{found.verdict[:1].upper()}{found.verdict[1:]}.", COLORS[found.stable])
