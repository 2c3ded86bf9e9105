"""Arguments and options that several commands share."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from zwang.cli.error_boundary import JSON


def one_of(names: Callable[[], Iterable[str]]) -> dict[str, Any]:
    """What makes an option take one of some names, which are looked up when they are needed, and complete them."""

    def read(value: str) -> str:
        if value not in names():
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(map(repr, names()))}.")
        return value

    def complete(ctx: typer.Context, args: list[str], incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return {"parser": read, "autocompletion": complete}


def complete_model(ctx: typer.Context, args: list[str], incomplete: str) -> list[str]:
    """Model files of the folder, and examples by name."""
    from zwang.cli.library import names

    folder, _, start = incomplete.rpartition("/")
    here = Path(folder or ".")
    prefix = f"{folder}/" if folder else ""
    try:
        entries = sorted(here.iterdir())
    except OSError:
        entries = []
    files = [
        f"{prefix}{entry.name}{'/' if entry.is_dir() else ''}"
        for entry in entries
        if entry.name.startswith(start) and (entry.is_dir() or entry.suffix in (".toml", ".nc", ".urdf", ".xml"))
    ]
    return [*files, *(name for name in names() if name.startswith(incomplete))]


def complete_example(ctx: typer.Context, args: list[str], incomplete: str) -> list[str]:
    """Examples by name."""
    from zwang.cli.library import names

    return [name for name in names() if name.startswith(incomplete)]


def ask_for_json(ctx: typer.Context, value: bool) -> bool:
    """Remember that JSON was asked for: errors become JSON too."""
    ctx.meta[JSON] = value
    return value


def number(value: str) -> float:
    """A finite number."""
    import math

    try:
        found = float(value)
    except ValueError:
        raise typer.BadParameter(f"{value!r} is not a number") from None
    if not math.isfinite(found):
        raise typer.BadParameter(f"{value} is not finite")
    return found


def texts(settings: list[str] | None, option: str, what: str) -> dict[str, str]:
    """Texts by name from `m=2`; `what` says what is to be written behind the sign."""
    found: dict[str, str] = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        name = name.strip()
        if not equals or not name:
            raise typer.BadParameter(f"{setting!r}: write a name, = and {what}", param_hint=option)
        if name in found:
            raise typer.BadParameter(f"{name} is set twice", param_hint=option)
        found[name] = value
    return found


def pairs(settings: list[str] | None, option: str = "--set") -> dict[str, float]:
    """Values by name from texts such as `m=2`."""
    values: dict[str, float] = {}
    for name, value in texts(settings, option, "a number, as in m=2").items():
        try:
            values[name] = number(value)
        except typer.BadParameter as error:
            raise typer.BadParameter(f"{name}: {error.message}", param_hint=option) from None
    return values


def vector(text: str) -> tuple[float, float, float]:
    """Three numbers from a text such as `0,0,-9.81`."""
    try:
        x, y, z = (number(part.strip()) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"{text!r}: give three numbers, as in 0,0,-9.81", param_hint="--gravity") from None
    except typer.BadParameter as error:
        raise typer.BadParameter(
            f"{error.message}: give three numbers, as in 0,0,-9.81", param_hint="--gravity"
        ) from None
    return x, y, z


Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model file, a robot in URDF or MJCF, or the name of an example where there is no such file.",
        show_default=False,
        autocompletion=complete_model,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=NUMBER", help="Change a parameter; may be repeated.", show_default=False),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=WHAT",
        help="Drive an input: a number, an expression in t, or a table u.csv (u.csv,cubic); may be repeated.",
        show_default=False,
    ),
]
Starts = Annotated[
    list[str] | None,
    typer.Option(
        "--start",
        metavar="NAME=NUMBER",
        help="Begin elsewhere: a coordinate, a robot's joint, or a rate (x'); may be repeated.",
        show_default=False,
    ),
]
Pull = Annotated[
    str | None,
    typer.Option(
        "--gravity", metavar="X,Y,Z", help="Gravity of a robot, in world axes.", show_default="0,0,-9.81 for URDF"
    ),
]
Limits = Annotated[bool, typer.Option("--limits", help="The ranges of a robot's joints are stops.")]
Floating = Annotated[bool, typer.Option("--floating-base", help="The root of a robot in URDF is free to move.")]
Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--package",
        metavar="NAME=FOLDER",
        help="Where package://NAME of a robot in URDF is; may be repeated.",
        show_default=False,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", callback=ask_for_json, is_eager=True, help="Print one JSON object and nothing else."),
]
Assemble = Annotated[bool, typer.Option("--assemble", help="Bring the start onto its constraints first.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that is there already.")]


def changed(**values: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in values.items() if value is not None}
