"""`zwang linearize` and `zwang modes`: the motion beside a state, to first order."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zwang.cli.answers import (
    FILES,
    Out,
    Plot,
    asked,
    draw,
    finish,
    found_with,
    heading,
    option,
    quantities,
    remark,
    require_out,
)
from zwang.cli.exits import Exit, Failure, wrong_use
from zwang.cli.models import Case, load, require_names
from zwang.cli.options import AsJson, Floating, Model, Pull, Settings, Starts, one_of
from zwang.endings import ANSWERS, FILMS, PICTURES
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

    from zwang.files.analyses.linear import Linear

MOST_SHOWN = 12  # rows and columns of a matrix
MOST_ALONG = 25  # values of a parameter
SMALL = 1e-12  # what is smaller than this share of the largest number is printed as zero


def places() -> tuple[str, ...]:
    """Beside which states there are linear systems."""
    from zwang.files.analyses.linear import PLACES

    return PLACES


At = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="PLACE",
        help="Beside which state: equilibrium, steady or start.",
        rich_help_panel="What is asked",
        show_default=False,
        **one_of(places),
    ),
]
Against = Annotated[
    str | None, option("--against", "NAME=FROM:TO:COUNT", "Vary a parameter; the state is found for each value.")
]
States = Annotated[list[str] | None, option("--state", "NAME", "A coordinate or rate as a state; may be repeated.")]


def linearize(
    model: Model,
    at: At = None,
    states: States = None,
    inputs: Annotated[
        list[str] | None,
        option("--input", "NAME", "A parameter or known function of time; may be repeated."),
    ] = None,
    outputs: Annotated[
        list[str] | None, option("--output", "NAME", "A coordinate or rate as an output; may be repeated.")
    ] = None,
    against: Against = None,
    starts: Starts = None,
    gravity: Pull = None,
    floating: Floating = False,
    settings: Settings = None,
    out: Out = None,
    picture: Plot = None,
    json: AsJson = False,
) -> None:
    """Give the state space of a model beside an equilibrium: A, B, C and D by names.

    \\[linear] in the model says beside which state, and what are states, inputs and outputs: there any expression.
    """
    case = load(model, settings, starts=starts, gravity=gravity, floating=floating)
    files = {"--out": out, "--plot": picture}
    require_out(case, files, {"--out": ANSWERS, "--plot": PICTURES})
    asks = linear_asked(
        case,
        against,
        at=at,
        states=quantities(case, states, "--state"),
        inputs=inputs_of(case, inputs),
        outputs=quantities(case, outputs, "--output"),
    )
    if picture is not None and not asks.inputs:
        remedy = "name one with --input, or inputs = … under [linear] in the model"
        raise Failure(Exit.USAGE, f"--plot draws the response to an input: {remedy}")
    found = found_with("linearizing", lambda: asks.answer(case.model, case.parameters))
    here = replace(asks, against={})

    def plotted(path: Path) -> None:
        draw(path, lambda: plot_of("plot_response")(here.answer(case.model, case.parameters)))

    finish(case, found, json, out, lambda: show_space(case, asks, found), {"--plot": (picture, plotted)})


def modes(
    model: Model,
    at: At = None,
    against: Against = None,
    states: States = None,
    starts: Starts = None,
    gravity: Pull = None,
    floating: Floating = False,
    settings: Settings = None,
    out: Out = None,
    picture: Plot = None,
    film: Annotated[
        Path | None, option("--animate", "FILE", "One mode in motion: a .html, .gif, .mp4 or .png.", FILES)
    ] = None,
    mode: Annotated[int, typer.Option("--mode", metavar="N", help="Which mode moves.", rich_help_panel=FILES)] = 0,
    json: AsJson = False,
) -> None:
    """Give the modes of a model beside an equilibrium: eigenvalues, frequencies, damping and shapes.

    \\[linear] in the model says beside which state. With --against they are followed along a parameter.
    """
    case = load(model, settings, starts=starts, gravity=gravity, floating=floating)
    files = {"--out": out, "--plot": picture, "--animate": film}
    require_out(case, files, {"--out": ANSWERS, "--plot": PICTURES, "--animate": FILMS})
    asks = linear_asked(case, against, at=at, states=quantities(case, states, "--state"))
    found = found_with("looking for modes", lambda: asks.modes(case.model, case.parameters))
    more: dict[str, Any] = {
        "--plot": (picture, lambda path: draw(path, lambda: plot_of("plot_modes")(found))),
        "--animate": (film, partial(animate, case, replace(asks, against={}), mode)),
    }
    finish(case, found, json, out, lambda: show_modes(case, asks, found), more)


def plot_of(name: str) -> Any:
    """A function that draws linear systems."""
    from zwang.show import plot_linear

    return getattr(plot_linear, name)


def animate(case: Case, asks: "Linear", mode: int, path: Path) -> None:
    """Write the motion of one mode."""
    from zwang.analysis.mode_motion import mode_motion
    from zwang.cli.progress import bar
    from zwang.show.animate import save_animation

    one = found_with("looking for modes", lambda: asks.modes(case.model, case.parameters))
    with wrong_use():
        motion = mode_motion(case.model, one, mode, parameters=case.parameters)
    with bar("drawing") as progress:
        save_animation(motion, path, progress=progress)


def linear_asked(case: Case, against: str | None, **changes: Any) -> "Linear":
    """What [linear] asks, with what was typed in its place."""
    from zwang.files.analyses.linear import Linear

    return asked(case, Linear, against=range_of(case, against), **changes)


def inputs_of(case: Case, names: Sequence[str] | None) -> tuple[str, ...]:
    """Parameters and known functions of time, by their names."""
    functions = {f.func.__name__ for f in case.model.system.inputs}
    require_names(case.model, {name: 0.0 for name in names or () if name not in functions}, "--input")
    return tuple(names or ())


def range_of(case: Case, against: str | None) -> dict[str, str]:
    """A parameter and its range, from a text such as `v=0:10:101`."""
    from zwang.files.analyses.types import followed

    if against is None:
        return {}
    name, equals, given = (part.strip() for part in against.partition("="))
    if not equals or not name:
        raise typer.BadParameter(f"{against!r}: write a name, = and a range, as in v=0:10:101", param_hint="--against")
    if wrong := followed(given):
        raise typer.BadParameter(f"{name}: {wrong[0][1]}", param_hint="--against")
    require_names(case.model, {name: 0.0}, "--against")
    if name in case.parameters:
        raise typer.BadParameter(f"{name} is given by --set and varied, too: choose one", param_hint="--against")
    return {name: given}


def place_words(case: Case, asks: "Linear") -> str:
    """Beside which state, in words."""
    place = asks.place(case.model)
    return {"equilibrium": "at rest", "steady": "in steady motion", "start": "at the start"}[place]


def show_space(case: Case, asks: "Linear", found: "xr.Dataset") -> None:
    """The matrices, for people; of a stack, how it lies."""
    from zwang.cli import terminal

    heading(case, f", state space {place_words(case, asks)}")
    console = terminal.out()
    rows: list[tuple[str, Any]] = [(kind, names(found, kind)) for kind in ("state", "input", "output")]
    if asks.against:
        name, values = asks.varied
        rows.append(("along", f"{name} from {values.min():.6g} to {values.max():.6g}, {count(len(values), 'value')}"))
    rows.append(("closure", f"{found.attrs['closure']:.2g}"))
    console.print(terminal.ledger(rows))
    if asks.against:
        remark("A, B, C and D are stacks: --out FILE.nc or --json has them.", "dim")
        return
    for matrix in "ABCD":
        if 0 not in found[matrix].shape:
            console.print()
            show_matrix(console, matrix, found[matrix])


def names(found: "xr.Dataset", kind: str) -> str:
    """The names of states, inputs or outputs."""
    from zwang.cli.summaries import first_few

    each = [str(name) for name in found[kind].values]
    return f"{len(each)}: {first_few(each)}" if each else "none"


def show_matrix(console: Any, name: str, matrix: "xr.DataArray") -> None:
    """A matrix under its names."""
    from zwang.cli import terminal

    down, across = (list(map(str, matrix[dim].values)) for dim in matrix.dims)
    if max(len(down), len(across)) > MOST_SHOWN:
        console.print(terminal.text(f"{name} is {len(down)} × {len(across)}: --out FILE or --json has it", "dim"))
        return
    table = terminal.columns(name, *across, right=tuple(across))
    least = SMALL * float(abs(matrix.values).max())
    for row, values in zip(down, matrix.values, strict=True):
        table.add_row(*map(terminal.text, (row, *(f"{x if abs(x) > least else 0:.6g}" for x in values))))
    console.print(table)


def show_modes(case: Case, asks: "Linear", found: "xr.Dataset") -> None:
    """A row a mode, for people; along a parameter a row a value."""
    from zwang.cli import terminal
    from zwang.files.analyses.linear import clear_values, damping_ratio

    heading(case, f", modes {place_words(case, asks)}")
    console = terminal.out()
    if asks.against:
        show_along(console, asks, found)
        return
    head = ("mode", "eigenvalue", "frequency", "damping", "mostly in")
    table = terminal.columns(*head, right=("mode", "frequency", "damping"))
    for i, value in enumerate(clear_values(found)):
        if value.imag < 0:
            continue  # of a pair one is enough
        frequency, damping = float(found.frequency.values[i]), damping_ratio(value)
        pair = f"{value.real + 0.0:.6g}" + (f" ± {value.imag:.6g} i" if value.imag else "")
        cells = (str(i), pair, f"{frequency:.6g}", terminal.figure(damping), mostly(found, i))
        table.add_row(*map(terminal.text, cells))
    console.print(table)
    zeros = int(found.zeros.values)
    if zeros:
        along = f", along {found.attrs['families']}" if found.attrs["families"] else ""
        remark(f"{count(zeros, 'eigenvalue')} zero because the state is one of a family{along}.", "dim")


def mostly(found: "xr.Dataset", mode: int) -> str:
    """The coordinates that a mode is seen in, the largest first."""
    import numpy as np

    size = np.abs(found["shape"].values[mode])
    named = [str(name) for name in found.coordinate.values]
    return ", ".join(named[i] for i in np.argsort(-size)[:3] if size[i] > 0.3 * size.max(initial=0.0))


def show_along(console: Any, asks: "Linear", found: "xr.Dataset") -> None:
    """Eigenvalues at some values of a parameter, and where the motion becomes unstable."""
    import numpy as np

    from zwang.cli import terminal
    from zwang.files.analyses.linear import clear_values, growth_changes

    name, values = asks.varied
    kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_ALONG)).round().astype(int))
    clear = clear_values(found)
    growth = clear.real.max(axis=1)
    table = terminal.columns(name, "largest real part", "eigenvalues", right=(name, "largest real part"))
    for i in kept:
        shown = shown_values(clear[i])
        table.add_row(*map(terminal.text, (f"{values[i]:.6g}", f"{growth[i] + 0.0:.4g}", shown)))
    console.print(table)
    for words in growth_changes(name, values, clear)[:MOST_SHOWN]:
        remark(words)


def shown_values(values: Sequence[complex]) -> str:
    """The first few eigenvalues, one of a pair."""
    pairs = [v for v in values if v.imag >= 0]
    shown = [f"{v.real + 0.0:.4g} ± {v.imag:.4g} i" if v.imag else f"{v.real:.4g}" for v in pairs[:5]]
    return "; ".join(shown) + ("; …" if len(pairs) > 5 else "")
