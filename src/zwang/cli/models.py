"""From what a person typed to a model with its numbers."""

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from zwang.cli.exits import Exit, Failure
from zwang.cli.options import pairs, texts, vector
from zwang.cli.summaries import first_few, levels
from zwang.errors import InputError, ModelFileError
from zwang.files.library import find_model

if TYPE_CHECKING:
    import xarray as xr

    from zwang.files.model_file import ModelFile, Run
    from zwang.model import System
    from zwang.model.moved import Moved
    from zwang.motion.start import Start
    from zwang.verdict import Verdict


FROM_REST = "begins at rest, joints as the file has them; see --start, --gravity and --until"
MOST_WARNINGS = 10  # of a robot's file that are shown
LARGE = 10_000  # entries of A; beyond, a verdict takes longer than most motions


@dataclass(frozen=True)
class Case:
    """A model, how it is to be run, and the values of parameters that were changed."""

    model: "ModelFile"
    parameters: dict[str, Any]
    """Numbers, and of inputs expressions or signals."""
    label: str
    """What to call the model in a message: as it was typed."""

    @cached_property
    def start(self) -> "Start":
        """The start: evaluated, checked and ranked once, and handed to whatever begins there."""
        return self.model.begin(self.parameters)

    @cached_property
    def moved(self) -> "Moved | None":
        """What was moved to put the start together; None if nothing was."""
        begin, q, v = self.start.state
        system = self.model.system
        start = dict(zip([*system.coordinates, *system.velocities], [*q, *v], strict=True))
        found = self.model.moved_with(self.parameters, begin, start)
        return None if found is None or found.nothing else found


def load(
    model: str,
    settings: list[str] | None = None,
    *,
    quiet: bool = False,
    symbolic: bool = False,
    starts: list[str] | None = None,
    gravity: str | None = None,
    floating: bool = False,
    limits: bool = False,
    packages: list[str] | None = None,
    inputs: list[str] | None = None,
    **changes: Any,
) -> Case:
    """The model of a file or example, with parameters, inputs, its start and fields of its run changed.

    Everything in it has a value, except where symbols are enough.
    """
    from zwang.files.read import load_model_with
    from zwang.files.robots import is_robot

    values, begin = pairs(settings), pairs(starts, "--start")
    for_robots = {
        "--gravity": gravity is not None, "--floating-base": floating, "--limits": limits, "--package": packages
    }  # fmt: skip
    path, example = find(model)
    if is_robot(path):
        folders = texts(packages, "--package", "a folder, as in my_arm=ros/src/my_arm")
        found = robot(path, begin, None if gravity is None else vector(gravity), floating, limits, folders)
        if not quiet:
            mind(found, "" if symbolic or begin or gravity is not None else FROM_REST)
    elif of_robots := [option for option, given in for_robots.items() if given]:
        raise Failure(Exit.USAGE, f"{of_robots[0]} is for robots in URDF or MJCF: a model file says this itself")
    else:
        found = started(load_model_with(path, values), begin)
    if example and not quiet:
        from zwang.cli.terminal import say

        say(f"no file {model!r} here: taking the example of that name", "dim")
    require_names(found, values)
    run = replace(found.run, **changes)
    require_run(found.system, run, changes)
    driven = given_inputs(found, inputs)
    case = Case(replace(found, run=run).with_parameters(values), {**values, **driven}, model)
    if not symbolic:
        require_values(case.model, driven)
    return case


def given_inputs(model: "ModelFile", given: list[str] | None) -> dict[str, Any]:
    """What the inputs of a model are to be, by name: numbers, expressions and signals."""
    from zwang.files.given_inputs import given_input
    from zwang.model.values import suggestion

    known = [f.func.__name__ for f in model.system.inputs]
    found: dict[str, Any] = {}
    for name, text in texts(given, "--input", "a number, an expression in t or a table, as in u=u.csv").items():
        if name not in known:
            there = suggestion(name, known) if known else ": the model has none"
            raise typer.BadParameter(f"{name} is not an input of this model{there}", param_hint="--input")
        try:
            found[name] = given_input(name, text, map(str, model.system.symbols))
        except InputError as error:
            raise typer.BadParameter(str(error), param_hint="--input") from None
    return found


def robot(
    path: Path,
    begin: dict[str, float],
    gravity: Sequence[float] | None,
    floating_base: bool,
    limits: bool,
    packages: dict[str, str],
) -> "ModelFile":
    """A robot's model, from where its joints are told to begin."""
    from zwang.files.robots import load_robot

    rates = {name[:-1]: value for name, value in begin.items() if name.endswith("'")}
    readings = {name: value for name, value in begin.items() if not name.endswith("'")}
    try:
        return load_robot(path, gravity, readings, rates, floating_base, limits, packages)
    except ModelFileError as error:
        raise Failure(Exit.MODEL, str(error).replace("floating_base=True", "--floating-base")) from None
    except InputError as error:
        words = str(error).removeprefix("values: ").removeprefix("rates: ")
        if words.startswith("packages: "):
            raise Failure(Exit.USAGE, words.replace("packages", "--package", 1)) from None
        raise Failure(*(Exit.USAGE, f"--start: {words}") if begin else (Exit.REFUSED, words)) from None


def mind(model: "ModelFile", further: str) -> None:
    """Say what is to be minded about a robot."""
    from zwang.cli.terminal import say

    more = len(model.warnings) - MOST_WARNINGS
    for words in (*model.warnings[:MOST_WARNINGS], *([f"and {more} more like these"] if more > 0 else [])):
        say(f"warning: {words}", "yellow")
    if further:
        say(further, "dim")


def started(model: "ModelFile", begin: dict[str, float]) -> "ModelFile":
    """A model that begins elsewhere, by the names of coordinates and rates."""
    from zwang.model.values import suggestion

    if not begin:
        return model
    if model.mechanism is not None:
        raise Failure(Exit.USAGE, "--start is for coordinates and robots: change the places in [bodies] of the model")
    system = model.system
    keys = dict(zip(system.coordinate_names, system.coordinates, strict=True))
    keys |= dict(zip([f"{name}'" for name in keys], system.velocities, strict=True))
    for name in begin:
        if name not in keys:
            words = f"{name} is not a coordinate or rate of this model{suggestion(name, [*keys])}"
            raise typer.BadParameter(words, param_hint="--start")
    given = {keys[name]: value for name, value in begin.items()}
    return replace(model, start={**model.start, **given}, unstated=model.unstated - given.keys())


def sources(case: Case) -> list[Path]:
    """The files that a model is made from."""
    path = case.model.path
    if path is None:
        return []
    return [Path(path), *(Path(path).parent / name for name in case.model.tables)]


def find(model: str) -> tuple[Path, bool]:
    """The file that is meant, and whether it is an example's."""
    try:
        return find_model(model)
    except ModelFileError as error:
        raise Failure(Exit.MODEL, str(error)) from None


def require_names(model: "ModelFile", values: dict[str, float], option: str = "--set") -> None:
    """Refuse values for what is not a parameter of the model."""
    from zwang.model.values import suggestion

    inputs = {f.func.__name__ for f in model.system.inputs}
    known = [*(s.name for s in model.system.parameters if s not in model.system.inputs), *map(str, model.missing)]
    for name in values:
        if name in inputs:
            raise typer.BadParameter(
                f"{name} is a function of time, not a number: say --input {name}=…, or change it under [inputs] in the "
                f"model",
                param_hint=option,
            )
        if name not in known:
            there = suggestion(name, known) if known else ": the model has none"
            raise typer.BadParameter(f"{name} is not a parameter of this model{there}", param_hint=option)


def require_run(system: "System", run: "Run", changes: Iterable[str]) -> None:
    """Refuse changes to a run that do not fit; what the model itself says was checked when it was read."""
    from zwang.engines.registry import LOOSEST, TIGHTEST
    from zwang.files.model_file import most_samples, too_many

    until, samples = run.until or 0.0, run.samples or 0
    most = most_samples(len(system.coordinate_names), len(system.constraint_names))
    if "samples" in changes and samples > most:
        sentence = too_many(samples, len(system.coordinate_names))
        raise typer.BadParameter(f"{sentence}; {most:,} samples are the most here", param_hint="--samples")
    fits = {
        "until": (run.begin < until < math.inf, f"give a finite time after the beginning, t = {run.begin:.12g}"),
        "samples": (samples >= 2, f"give a whole number from 2 to {most:,}"),
        "max_step": ((run.max_step or 0.0) > 0, "give a positive number"),
        "step": (run.step is None or run.step > 0, "give a positive number"),
        "tol": (TIGHTEST <= run.tol <= LOOSEST, f"give a number from {TIGHTEST:g} to {LOOSEST:g}"),
    }
    for name in changes:
        right, remedy = fits.get(name, (True, ""))
        if not right:
            raise typer.BadParameter(f"{getattr(run, name)!r}: {remedy}", param_hint=f"--{name.replace('_', '-')}")


def require_values(model: "ModelFile", driven: Mapping[str, Any]) -> None:
    """Refuse a model that leaves values open: they are to be given with --set, those of inputs with --input."""
    missing = [s.name for s in model.missing]
    if missing:
        settings = " ".join(f"--set {name}=NUMBER" for name in missing)
        raise Failure(Exit.USAGE, f"{first_few(missing)}: no value is given in the model; add {settings}")
    missing = [f.func.__name__ for f, value in model.system.inputs.items() if value is None]
    missing = [name for name in missing if name not in driven]
    if missing:
        options = " ".join(f"--input {name}=…" for name in missing)
        remedy = f"say what it is under [inputs], or add {options}"
        raise Failure(Exit.USAGE, f"{first_few(missing)}: nothing is given in the model; {remedy}")


def require_end(case: Case) -> None:
    """Refuse a model that does not say when to stop."""
    if case.model.run.until is None:
        raise Failure(
            Exit.USAGE, "the model does not say when to stop: give --until, or put until = … under [run] in the model"
        )


def simulate(case: Case, quiet: bool = False, **changes: Any) -> "xr.Dataset":
    """The motion of a case from its start, with a bar on a terminal if it takes long; an interrupt is handed on.

    `changes` are fields of its run that do not change where it begins.
    """
    from zwang.cli.progress import bar

    with bar("simulating", quiet=quiet) as progress:
        motion = case.model.simulate(
            start=case.start, parameters=case.parameters, progress=progress, throw=False, **changes
        )
    if motion.attrs["status"] == "interrupted":
        raise KeyboardInterrupt
    return motion


def motion_of(source: str, settings: list[str] | None = None, **begin: Any) -> "xr.Dataset":
    """The motion in a file, or the one that a model asks for; `begin` is how `load` changes it."""
    path = Path(source)
    if path.is_file() and is_netcdf(path):
        names = {"starts": "--start", "floating": "--floating-base", "inputs": "--input", "packages": "--package"}
        given = {"--set": settings} | {names.get(key, f"--{key}"): value for key, value in begin.items()}
        for option, value in given.items():
            if value is not None:
                raise typer.BadParameter("a motion that is computed already cannot be changed", param_hint=option)
        from zwang.files.store import load_motion

        try:
            return load_motion(path)
        except InputError as error:
            raise Failure(Exit.MODEL, f"{error}, or with `zwang run MODEL --out FILE.nc`") from None
    case = load(source, settings, **begin)
    require_end(case)
    require_start(case)
    return simulate(case)


def is_netcdf(path: Path) -> bool:
    """Whether a file is NetCDF: by what it begins with, not by its name."""
    with path.open("rb") as file:
        begin = file.read(8)
    return begin == b"\x89HDF\r\n\x1a\n" or begin[:3] == b"CDF" or path.suffix == ".nc"


def require_start(case: Case) -> "Verdict | None":
    """The verdict at the start, None where the system is too large for it; a start that cannot move is refused."""
    names, now = case.model.system.constraint_names, case.start.matrices
    if bad := case.start.violated:
        reading = "; ".join(f"{names[i]} reads {levels(now.residual[i], now.residual_rate[i])}" for i in bad)
        raise Failure(
            Exit.START,
            f"the start does not satisfy its constraints: {reading}; "
            f"add --assemble, or see the nearest start that does with `zwang assemble {shlex.quote(case.label)}`",
        )
    if now.A.size > LARGE:
        return None
    verdict = case.start.verdict
    if verdict.inconsistent:
        listing = ", ".join(verdict.inconsistent)
        raise Failure(
            Exit.INCONSISTENT,
            f"no acceleration obeys {listing} together with the other constraints: drop one, or mend the right-hand "
            f"sides; `zwang check {shlex.quote(case.label)}` says more",
        )
    return verdict
