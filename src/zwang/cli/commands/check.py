"""`zwang check`: the verdict on a model's constraints, in words and as an exit code."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from zwang.cli.exits import Exit, Failure
from zwang.cli.models import Case, load, require_start, simulate
from zwang.cli.options import (
    AsJson,
    Assemble,
    Floating,
    Inputs,
    Limits,
    Model,
    Packages,
    Pull,
    Settings,
    Starts,
    number,
)

if TYPE_CHECKING:
    from zwang.verdict import Verdict


def check(
    model: Model,
    at: Annotated[
        str, typer.Option("--at", metavar="start|TIME", help="At the start, or at a time of the motion.")
    ] = "start",
    strict: Annotated[bool, typer.Option("--strict", help="Redundant constraints are a failure too.")] = False,
    assemble: Assemble = False,
    starts: Starts = None,
    gravity: Pull = None,
    floating: Floating = False,
    limits: Limits = False,
    packages: Packages = None,
    settings: Settings = None,
    inputs: Inputs = None,
    json: AsJson = False,
) -> None:
    """Give the verdict on the constraints: redundant, inconsistent, singular.

    The exit code says which: 0 fine, 4 inconsistent, 6 the start does not satisfy them, 5 singular.
    """
    from zwang.cli import summaries, terminal
    from zwang.cli.progress import busy
    from zwang.motion.contact.standing import verdict_at

    more = {"assemble": True} if assemble else {}
    case = load(
        model,
        settings,
        inputs=inputs,
        starts=starts,
        gravity=gravity,
        floating=floating,
        limits=limits,
        packages=packages,
        **more,
    )
    time = case.model.run.begin if at == "start" else time_of(at)
    with busy("looking at the constraints"):
        verdict = verdict_at(case.start) if at == "start" else later(case, time)
    code = code_for(verdict, strict)
    if not code:
        case.model.require_run(case.start)
    if json:
        terminal.emit_json(
            {
                "name": verdict.name,
                "model": case.label,
                "time": time,
                "coordinates": verdict.coordinates,
                **summaries.verdict_values(verdict),
                "exit_code": int(code),
            }
        )
    else:
        show(verdict)
    if code:
        raise typer.Exit(code)


def time_of(at: str) -> float:
    """A time of the motion."""
    try:
        return number(at)
    except typer.BadParameter as error:
        raise typer.BadParameter(f"{error.message}: give start, or a time", param_hint="--at") from None


def later(case: Case, time: float) -> "Verdict":
    """The verdict at a time of the motion."""
    from zwang.motion.diagnose import diagnose

    begin = case.model.run.begin
    if time == begin:
        return case.start.verdict
    if time < begin:
        raise Failure(Exit.USAGE, f"--at {time:.12g}: the motion begins at t = {begin:.12g}")
    require_start(case)
    motion = simulate(case, until=time, samples=2)
    if motion.attrs["status"] != "finished":
        raise Failure(Exit.STOPPED, f"the motion does not get to t = {time:.12g}: {motion.attrs['message']}")
    last = motion.isel(time=-1)
    names = case.model.system.coordinate_names
    state: dict[Any, float] = dict(zip(names, map(float, last.q.values), strict=True))
    state |= dict(zip([f"{name}'" for name in names], map(float, last.v.values), strict=True))
    return diagnose(case.model.system, state, time, case.parameters)


def code_for(verdict: "Verdict", strict: bool) -> Exit:
    """The exit code of a verdict."""
    if verdict.inconsistent:
        return Exit.INCONSISTENT
    if verdict.violated:
        return Exit.START
    if verdict.singular:
        return Exit.SINGULAR
    if verdict.imprecise:
        return Exit.START
    return Exit.REDUNDANT if strict and verdict.redundant else Exit.DONE


def show(verdict: "Verdict") -> None:
    """The verdict in full, for people; its last lines are what it comes to."""
    from zwang.cli import summaries, terminal

    color = summaries.in_one_line(verdict)[1]
    console = terminal.out()
    console.print(terminal.text(verdict.head, "bold"))
    for row in verdict.rows:
        console.print(terminal.text(terminal.hanging(row, console.width)), soft_wrap=True)
    console.print()
    console.print(terminal.text("\n".join(verdict.conclusions), color))
