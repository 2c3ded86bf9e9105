"""`zwang run`: simulate a model, say how it went, and write what is asked for."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zwang.cli.exits import Exit, Failure
from zwang.cli.models import Case, load, require_end, require_start, simulate, sources
from zwang.cli.options import (
    AsJson,
    Floating,
    Inputs,
    Limits,
    Model,
    Packages,
    Pull,
    Settings,
    Starts,
    changed,
    number,
    one_of,
)
from zwang.cli.output_paths import require_targets
from zwang.cli.outputs import Outputs
from zwang.endings import MOTIONS, PAGES, TABLES
from zwang.engines.registry import AUTO, LOOSEST, TIGHTEST, methods
from zwang.formulations.forms import DEFAULT, integrable
from zwang.results.units import with_unit
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

    from zwang.model.moved import Moved
    from zwang.verdict import Verdict

DRIFTS = ("none", "projection", "baumgarte")
RUN, FILES = "The run", "What is written"


def option(name: str, metavar: str | None, words: str, panel: str, **more: Any) -> Any:
    """An option of `run`; its default is what the model says."""
    return typer.Option(*name.split(), metavar=metavar, help=words, rich_help_panel=panel, show_default=False, **more)


def engine_words(a: Mapping[str, Any]) -> str:
    """What a motion was computed by, and how accurately."""
    if a.get("contacts") == "steps":
        return f"{a['method']}, steps of {a['step']:g}"
    return f"{a['method']}, {a['form']} form, tol {a['tol']:g}" + drift_words(a["drift"])


def ways() -> tuple[str, ...]:
    """How contacts may be followed."""
    from zwang.model.contact_law import CONTACTS

    return CONTACTS


def run(
    model: Model,
    until: Annotated[float | None, option("--until", "TIME", "When to stop.", RUN)] = None,
    samples: Annotated[int | None, option("--samples", "N", "Number of saved times.", RUN)] = None,
    tol: Annotated[
        float | None, option("--tol", "SIZE", f"Error of a step, from {TIGHTEST:g} to {LOOSEST:g}.", RUN)
    ] = None,
    max_step: Annotated[
        float | None, option("--max-step", "TIME", "The longest step; a 20th of the motion without it.", RUN)
    ] = None,
    method: Annotated[
        str | None, option("--method", "ENGINE", f"The engine: {', '.join(methods())}.", RUN, **one_of(methods))
    ] = None,
    form: Annotated[
        str | None,
        option("--form", "FORM", f"The equation to integrate: {', '.join(integrable())}.", RUN, **one_of(integrable)),
    ] = None,
    contacts: Annotated[
        str | None,
        option("--contacts", "WAY", "How contacts are followed: events or steps.", RUN, **one_of(ways)),
    ] = None,
    step: Annotated[float | None, option("--step", "TIME", "The length of steps, for --contacts steps.", RUN)] = None,
    drift: Annotated[
        str | None, option("--drift", "KIND", f"Against drift: {', '.join(DRIFTS)} or baumgarte,α,β.", RUN)
    ] = None,
    assemble: Annotated[
        bool | None, option("--assemble/--no-assemble", None, "Bring the start onto its constraints first.", RUN)
    ] = None,
    starts: Starts = None,
    gravity: Pull = None,
    floating: Floating = False,
    limits: Limits = False,
    packages: Packages = None,
    settings: Settings = None,
    inputs: Inputs = None,
    out: Annotated[Path | None, option("--out -o", "FILE", "The motion, as NetCDF.", FILES)] = None,
    csv: Annotated[Path | None, option("--csv", "FILE", "The motion, as a table.", FILES)] = None,
    report: Annotated[Path | None, option("--report", "FILE", "A report to read and hand on, as HTML.", FILES)] = None,
    open_report: Annotated[bool, option("--open", None, "Open the report in a browser.", FILES)] = False,
    json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Simulate a model; nothing is written unless asked for.

    A motion that stops early is written as far as it got, with its status in it, and the exit code is 7. The motion is
    written first: what goes wrong with one file costs none of the others.
    """
    if open_report and report is None:
        raise Failure(Exit.USAGE, "--open needs --report FILE: there is nothing to open otherwise")
    case = load(
        model,
        settings,
        inputs=inputs,
        quiet=quiet,
        starts=starts,
        gravity=gravity,
        floating=floating,
        limits=limits,
        packages=packages,
        **changed(until=until, samples=samples, tol=tol, max_step=max_step, method=method, form=form),
        **changed(drift=None if drift is None else drift_of(drift), assemble=assemble),
        **followed(contacts, step, {"tol": tol, "method": method, "form": form, "drift": drift}),
    )
    targets = {"--out": out, "--csv": csv, "--report": report}
    require_targets(targets, sources(case), {"--out": MOTIONS, "--csv": TABLES, "--report": PAGES})
    require_end(case)
    verdict = require_start(case)
    motion = simulate(case, quiet)
    files = write(case, motion, out, csv, report, quiet)
    if json:
        show_json(case, verdict, motion, files)
    elif not quiet:
        show(case, verdict, motion, files.written)
    if open_report and "report" in files.written:
        files.add("--open", report, open_in_browser)
    fine = motion.attrs["status"] in ("finished", "event")
    files.end(Exit.DONE if fine else Exit.STOPPED)


def open_in_browser(page: Path) -> None:
    """Show a page."""
    import webbrowser

    webbrowser.open(page.resolve().as_uri())


def followed(contacts: str | None, step: float | None, given: dict[str, Any]) -> dict[str, Any]:
    """What changes with how contacts are followed: steps have no use for what a model says of other methods.

    What is `given` beside them on the command line is not changed, and refused.
    """
    if contacts is None:
        return changed(step=step)
    if contacts != "steps":
        return {"contacts": contacts, "step": step}
    usual = {"tol": 1e-12, "method": AUTO, "form": DEFAULT, "drift": "none", "impacts": "moreau", "split": "compliant"}
    other = {name: value for name, value in usual.items() if given.get(name) is None}
    return {"contacts": contacts, **changed(step=step), **other}


def drift_of(given: str) -> str | tuple[str, float, float]:
    """What to do about drift, from `projection` or `baumgarte,10,10`."""
    kind, *gains = given.split(",")
    if kind not in DRIFTS or (gains and (kind != "baumgarte" or len(gains) != 2)):
        raise typer.BadParameter(
            f"{given!r}: choose none, projection, baumgarte or baumgarte,α,β with two numbers", param_hint="--drift"
        )
    if not gains:
        return kind
    try:
        alpha, beta = map(number, gains)
    except typer.BadParameter as error:
        raise typer.BadParameter(error.message, param_hint="--drift") from None
    if min(alpha, beta) < 0:
        raise typer.BadParameter(f"{given!r}: the gains α and β are not negative", param_hint="--drift")
    return kind, alpha, beta


def write(
    case: Case, motion: "xr.Dataset", out: Path | None, csv: Path | None, report: Path | None, quiet: bool
) -> Outputs:
    """Write the files that were asked for, the motion itself first; each is complete or not there."""
    from zwang.cli.progress import busy
    from zwang.files.store import save_csv, save_motion, write_atomically

    def write_report(path: Path) -> None:
        from zwang.show.report.page import report_on
        from zwang.show.report.subject import Subject

        with busy("writing the report", quiet):
            page = report_on(Subject(case.model, motion, case.parameters, case.start))
        write_atomically(path, page.encode())

    files = Outputs()
    files.add("--out", out, lambda path: save_motion(motion, path))
    files.add("--csv", csv, lambda path: save_csv(motion, path))
    files.add("--report", report, write_report)
    return files


def show(case: Case, verdict: "Verdict | None", motion: "xr.Dataset", files: dict[str, str]) -> None:
    """How the run went, for people."""
    from zwang.cli import summaries, terminal

    system, a = case.model.system, motion.attrs
    names, constraints = system.coordinate_names, system.constraint_names
    line, color = summaries.in_one_line(verdict)
    fine = a["status"] in ("finished", "event")
    rows: list[tuple[str, Any]] = [
        ("coordinates", f"{len(names)}: {summaries.first_few(names)}"),
        ("constraints", f"{len(constraints)}: {summaries.first_few(constraints)}" if constraints else "none"),
        ("freedom", freedom_words(motion)),
        ("verdict", terminal.text(line, color)),
        *start_row(case),
        ("engine", engine_words(a)),
        ("work", summaries.work_words(motion)),
    ]
    if constraints:
        rows.append(("residuals", summaries.residual_words(motion)))
    rows.append(("energy", summaries.energy_words(motion)))
    if case.model.events:
        rows.append(("events", summaries.event_words(motion, case.model.units.time)))
    if "rest_switch" in motion:
        rows.append(("rests", summaries.rest_words(motion, case.model.units.time)))
    color = "yellow" if a["doubts"] else "" if fine else "red"
    unit = case.model.units.time
    rows.append(("end", terminal.text(with_unit(summaries.cut_at_word(a["message"]), unit), color)))
    if summaries.is_still(motion):
        words = f"nothing moves: the start is an equilibrium; {elsewhere(case)}"
        rows.append(("note", terminal.text(words, "yellow")))
    console = terminal.out()
    console.print(terminal.text(system.name or Path(case.label).stem, "bold"))
    console.print(terminal.ledger(rows))
    for path in files.values():  # whole, to be copied
        console.print(terminal.text("written      ", "dim"), terminal.text(path), sep="", soft_wrap=True)


def elsewhere(case: Case) -> str:
    """How to begin elsewhere than in an equilibrium."""
    made = case.model.mechanism
    if made is not None and case.model.text:
        return "change the places or velocities in [bodies]"
    name = made.joints[0].name if made is not None and made.joints else case.model.system.coordinate_names[0]
    return f'begin elsewhere, as with --start {name}=0.1 or --start "{name}\'=1"'


def start_row(case: Case) -> list[tuple[str, Any]]:
    """What was moved to put the start together: a warning above a tenth of the whole, a note below."""
    from zwang.cli import terminal

    if case.moved is None:
        return []
    remedy = "; describe it nearer to where it is" if case.moved.remarkable else ""
    return [("start", terminal.text(f"{case.moved}{remedy}", "yellow" if case.moved.remarkable else "dim"))]


def told(moved: "Moved") -> dict[str, Any]:
    """What was moved, for machines."""
    which = ("translation", "translated", "turn", "turned", "size", "followed")
    return {key: getattr(moved, key) for key in which} | {"warning": moved.remarkable}


def freedom(motion: "xr.Dataset") -> int:
    """The degrees of freedom: those of most of the motion, should it pass singular positions; with contacts open."""
    if not motion.sizes["time"]:
        return int(motion.sizes["coordinate"])
    rank = motion["rank"].min() if "contact" in motion.sizes else motion["rank"].max()
    return int(motion.sizes["coordinate"]) - int(rank)


def freedom_words(motion: "xr.Dataset") -> str:
    """The degrees of freedom, and what contacts leave of them."""
    most, least = freedom(motion), motion.sizes["coordinate"] - int(motion["rank"].max(initial=0))
    some = f"; {least} while the most contacts hold" if "contact" in motion.sizes and least < most else ""
    return f"{count(most, 'degree')} of freedom{some}"


def drift_words(drift: str) -> str:
    """What was done about drift, if anything was."""
    return "" if drift == "none" else f", drift: {drift}"


def show_json(case: Case, verdict: "Verdict | None", motion: "xr.Dataset", files: Outputs) -> None:
    """How the run went, for machines."""
    from zwang.cli import summaries, terminal
    from zwang.results.account import LEVELS, energy_gap, worst_residual

    system, a = case.model.system, motion.attrs
    worst = {level: worst_residual(motion, name) for name, level in LEVELS.items()}
    gap, size = energy_gap(motion)
    last = motion.isel(time=slice(-1, None))
    end = zip(system.coordinate_names, *(last[name].values.reshape(-1) for name in ("q", "v")), strict=False)
    terminal.emit_json(
        {
            "name": system.name,
            "model": case.label,
            "status": a["status"],
            "message": a["message"],
            "doubts": a["doubts"],
            "warnings": case.model.warnings,
            "coordinates": system.coordinate_names,
            "degrees_of_freedom": freedom(motion),
            "verdict": verdict and summaries.verdict_values(verdict),
            "start_moved": case.moved and told(case.moved),
            "parameters": summaries.parameter_values(motion),
            **({"inputs": summaries.input_words(system, motion)} if system.inputs else {}),
            "begin": case.model.run.begin,
            "end": float(motion.time.values[-1]) if motion.sizes["time"] else None,
            "end_state": {key: value for name, q, v in end for key, value in ((name, q), (f"{name}'", v))},
            "samples": motion.sizes["time"],
            **{key: a[key] for key in ("method", "form", "tol", "drift", "steps", "evaluations")},
            **{key: a[key] for key in ("compile_seconds", "run_seconds", "total_seconds")},
            "residuals": {k: found and {"largest": found[0], "constraint": found[1]} for k, found in worst.items()},
            "energy_balance": {"largest": gap, "energy": size},
            "events": summaries.event_list(motion),
            "rests": summaries.rest_list(motion),
            "files": files.written,
            **({"failures": files.failures} if files.failures else {}),
            "zwang_version": a["zwang_version"],
        }
    )
