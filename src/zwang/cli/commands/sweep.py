"""`zwang sweep`: a model for many values of its parameters, into a store that can be gone on with."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zwang.cli.commands.run import drift_of, option
from zwang.cli.exits import Exit, Failure
from zwang.cli.models import Case, load, require_end, require_names
from zwang.cli.options import AsJson, Inputs, Model, Settings, changed, one_of
from zwang.cli.output_paths import require_kind
from zwang.endings import STORES
from zwang.errors import InputError
from zwang.formulations.forms import integrable
from zwang.words import count, listed

if TYPE_CHECKING:
    import xarray as xr

RUN, WHERE = "The runs", "Where they are computed and kept"
NATIVE = ("auto", "native")
PATIENCE = 20  # seconds to wait for a scheduler

Ranges = Mapping[str, str | Sequence[float]]


def sweep(
    model: Model,
    over: Annotated[
        list[str] | None,
        option("--over", "NAME=FROM:TO:COUNT", "Vary a parameter; may be repeated, for all combinations.", RUN),
    ] = None,
    until: Annotated[float | None, option("--until", "TIME", "When to stop.", RUN)] = None,
    samples: Annotated[int | None, option("--samples", "N", "Number of saved times.", RUN)] = None,
    tol: Annotated[float | None, option("--tol", "SIZE", "Error of a step.", RUN)] = None,
    max_step: Annotated[float | None, option("--max-step", "TIME", "The longest step.", RUN)] = None,
    form: Annotated[
        str | None, option("--form", "FORM", f"The equation: {', '.join(integrable())}.", RUN, **one_of(integrable))
    ] = None,
    drift: Annotated[str | None, option("--drift", "KIND", "Against drift, as in `zwang run`.", RUN)] = None,
    settings: Settings = None,
    inputs: Inputs = None,
    store: Annotated[Path | None, option("--store", "FOLDER", "Where the motions are kept, with Zarr.", WHERE)] = None,
    keep: Annotated[str | None, option("--keep", "NAMES", "Variables to keep, as in q,v,energy.", WHERE)] = None,
    chunk: Annotated[int, typer.Option(metavar="N", help="Motions of a part.", rich_help_panel=WHERE)] = 1000,
    workers: Annotated[int | None, option("--workers", "N", "Compute in so many processes here.", WHERE)] = None,
    scheduler: Annotated[
        str | None, option("--scheduler", "ADDRESS", "Compute on a cluster of dask, as in tcp://host:8786.", WHERE)
    ] = None,
    json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Simulate a model for many values of its parameters, and keep the motions in a store.

    Without --over the parameters under \\[sweep] in the model are varied. The same command goes on where it was
    interrupted. The exit code is 7 if no motion got to its end; how each fared is in the store.
    """
    if store is None:
        raise Failure(Exit.USAGE, "where are the motions to be kept? give --store FOLDER, as in --store sweep.zarr")
    require_kind("--store", store, {"--store": STORES})
    if workers is not None and scheduler is not None:
        raise Failure(Exit.USAGE, "--workers are processes here, --scheduler is a cluster: give one of them")
    if workers is not None and workers < 1:
        raise typer.BadParameter(f"{workers}: give a whole number from 1 on", param_hint="--workers")
    if chunk < 1:
        raise typer.BadParameter(f"{chunk}: give a whole number from 1 on", param_hint="--chunk")
    case = load(
        model,
        settings,
        inputs=inputs,
        quiet=quiet,
        symbolic=True,
        **changed(until=until, samples=samples, tol=tol, max_step=max_step, form=form),
        **changed(drift=None if drift is None else drift_of(drift)),
    )
    ranges = ranges_of(over) if over else case.model.sweep
    require_swept(case, ranges, "--over" if over else "[sweep]")
    require_end(case)
    mind_what_differs(case, quiet)
    motion = computed(case, ranges, store, names_of(keep), chunk, workers, scheduler, quiet)
    if json:
        show_json(case, ranges, motion, store)
    elif not quiet:
        show(case, ranges, motion, store)
    if motion.sizes["sample"] and not (motion.status == "finished").any():
        raise typer.Exit(Exit.STOPPED)


def ranges_of(over: Sequence[str]) -> dict[str, str]:
    """Ranges by name, from texts such as `L=0.5:2:100`."""
    from zwang.files.ranges import wrong_range

    found: dict[str, str] = {}
    for text in over:
        name, equals, given = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise typer.BadParameter(f"{text!r}: write a name, = and a range, as in L=0.5:2:100", param_hint="--over")
        if name in found:
            raise typer.BadParameter(f"{name} is varied twice", param_hint="--over")
        if words := wrong_range(given):
            raise typer.BadParameter(f"{name}: {words}", param_hint="--over")
        found[name] = given
    return found


def names_of(keep: str | None) -> list[str] | None:
    """The variables to keep."""
    return None if keep is None else [name.strip() for name in keep.split(",") if name.strip()]


def require_swept(case: Case, ranges: Ranges, option: str) -> None:
    """Refuse a sweep over nothing, over what is no parameter, what is set, or what the equations hold as a number."""
    from zwang.files.ranges import grid_of

    if not ranges:
        words = "give --over NAME=FROM:TO:COUNT, or put parameters under [sweep] in the model"
        raise Failure(Exit.USAGE, f"what is to be varied? {words}")
    require_names(case.model, dict.fromkeys(ranges, 0.0), option)
    for name in ranges:
        if name in case.parameters:
            raise typer.BadParameter(f"{name} is given by --set and varied, too: choose one", param_hint=option)
        if name in map(str, case.model.fixed):
            raise typer.BadParameter(
                f"places of the mechanism depend on {name}, and they are numbers in its equations: run it for each "
                f"value, as in `zwang run {case.label} --set {name}=…`",
                param_hint=option,
            )
    missing = [s.name for s in case.model.missing if s.name not in ranges]
    if missing:
        settings = " ".join(f"--set {name}=NUMBER" for name in missing)
        raise Failure(Exit.USAGE, f"{listed(missing)}: no value is given in the model; add {settings}")
    try:
        grid_of(ranges)
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def mind_what_differs(case: Case, quiet: bool) -> None:
    """Say what of the model's own run is otherwise in a sweep; events that end a motion are refused."""
    from zwang.cli.terminal import say

    stops = [event.name for event in case.model.events if event.stop and not event.reset]
    if stops:
        raise Failure(
            Exit.REFUSED,
            f"the event {stops[0]!r} ends motions of this model, and a sweep looks for no events: its motions would go "
            f"on; take stop = true away in a copy of the model",
        )
    if quiet:
        return
    if any(not event.reset for event in case.model.events):
        say("the events of the model are not looked for in a sweep", "dim")
    if case.model.run.method not in NATIVE:
        say(f"the model asks for the engine {case.model.run.method!r}; a sweep is run by 'native'", "dim")


def computed(
    case: Case,
    ranges: Ranges,
    store: Path,
    keep: list[str] | None,
    chunk: int,
    workers: int | None,
    scheduler: str | None,
    quiet: bool,
) -> "xr.Dataset":
    """The motions in the store, after those that were missing have been computed; an interrupt leaves the others."""
    from zwang.cli.progress import bar
    from zwang.files.ranges import grid_of
    from zwang.motion.ensemble.many import simulate_many

    run, reached = case.model.run, (0.0, 0.0)
    values: dict[str, Any] = {**case.parameters, **grid_of(ranges)}
    try:
        with client_of(workers, scheduler) as client, bar("simulating", quiet=quiet) as show:

            def progress(done: float, of: float) -> None:
                nonlocal reached
                reached = done, of
                show(done, of)

            return simulate_many(
                case.model,
                until=run.until,
                samples=run.samples,
                parameters=values,
                form=run.form,
                tol=run.tol,
                drift=run.drift,
                max_step=run.max_step,
                keep=keep,
                store=store,
                client=client,
                chunk=chunk,
                progress=progress,
            )
    except KeyboardInterrupt:
        there = f"{reached[0]:,.0f} of {reached[1]:,.0f} motions are in {store}"
        raise Failure(Exit.INTERRUPTED, f"interrupted; {there}: the same command goes on") from None


@contextmanager
def client_of(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """The cluster that computes: one that is there, processes that are started for this, or none."""
    from zwang.motion.ensemble.store import require_extra

    require_extra("zwang sweep")
    if scheduler is None and workers is None:
        yield None
        return
    from distributed import Client, LocalCluster

    if scheduler is None:
        local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL")
        with local, Client(local) as client:
            yield client
        return
    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, ValueError, TypeError) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        raise Failure(Exit.REFUSED, f"--scheduler: no answer from {scheduler} ({why})") from None
    with client:
        yield client


def in_words(ranges: Ranges) -> list[str]:
    """What was varied, for people: `L from 0.5 to 2, 100 values`."""
    from zwang.files.ranges import range_values

    found = {name: range_values(given) for name, given in ranges.items()}
    return [f"{name} from {x.min():.6g} to {x.max():.6g}, {count(len(x), 'value')}" for name, x in found.items()]


def show(case: Case, ranges: Ranges, motion: "xr.Dataset", store: Path) -> None:
    """How the sweep went, for people."""
    from zwang.cli import summaries, terminal

    a = motion.attrs
    fine = a["status"] == f"{motion.sizes['sample']} finished"
    rows: list[tuple[str, Any]] = [
        ("over", "; ".join(in_words(ranges))),
        ("motions", f"{motion.sizes['sample']:,}, {count(motion.sizes['time'], 'instant')} of each"),
        ("engine", f"{a['method']}, {a['form']} form, tol {a['tol']:g}"),
        ("kept", summaries.first_few([name for name in motion.data_vars if "time" in motion[name].dims])),
        ("end", terminal.text(a["status"], "" if fine else "yellow")),
    ]
    if a["doubts"]:
        rows.append(("doubts", terminal.text(summaries.cut_at_word(a["doubts"]), "yellow")))
    console = terminal.out()
    console.print(terminal.text(case.model.system.name or Path(case.label).stem, "bold"))
    console.print(terminal.ledger(rows))
    console.print(terminal.text("written  ", "dim"), terminal.text(str(store)), sep="", soft_wrap=True)


def show_json(case: Case, ranges: Ranges, motion: "xr.Dataset", store: Path) -> None:
    """How the sweep went, for machines."""
    from collections import Counter

    from zwang.cli import terminal
    from zwang.files.ranges import range_values

    a = motion.attrs
    terminal.emit_json(
        {
            "name": case.model.system.name,
            "model": case.label,
            "over": {name: len(range_values(given)) for name, given in ranges.items()},
            "samples": motion.sizes["sample"],
            "times": motion.sizes["time"],
            "statuses": dict(Counter(motion.status.values.tolist())),
            "doubts": a["doubts"],
            **{key: a[key] for key in ("method", "form", "tol", "drift", "run_seconds", "total_seconds")},
            "store": str(store),
            "zwang_version": a["zwang_version"],
        }
    )
