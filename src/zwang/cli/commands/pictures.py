"""`zwang plot` and `zwang animate`: pictures of a motion."""

from io import BytesIO
from pathlib import Path
from typing import Annotated

import typer

from zwang.cli.exits import Exit, Failure, wrong_use
from zwang.cli.models import find, is_netcdf, motion_of
from zwang.cli.options import Floating, Inputs, Packages, Pull, Settings, Starts, changed, complete_model
from zwang.cli.output_paths import require_targets
from zwang.endings import FILMS, PICTURES

Source = Annotated[
    str,
    typer.Argument(
        metavar="MOTION",
        help="A motion in NetCDF, or a model to simulate.",
        show_default=False,
        autocompletion=complete_model,
    ),
]
Until = Annotated[float | None, typer.Option("--until", metavar="TIME", help="When to stop.", show_default=False)]


def plot(
    source: Source,
    output: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", "--output", metavar="FILE", help="A .png, .svg or .pdf.", show_default="MOTION.png"
        ),
    ] = None,
    what: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A variable (q, v, energy, residual, …), a coordinate (x, x'), or one against another (x:y); "
            "may be repeated.",
            show_default="the usual ones",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this coordinate or constraint; may be repeated.", show_default=False),
    ] = None,
    until: Until = None,
    starts: Starts = None,
    gravity: Pull = None,
    floating: Floating = False,
    packages: Packages = None,
    settings: Settings = None,
    inputs: Inputs = None,
) -> None:
    """Plot a motion: coordinates, forces, residuals, energies over time."""
    from zwang.cli.progress import busy
    from zwang.cli.terminal import say
    from zwang.files.store import write_atomically

    path = source_path(source)
    target = output or Path(f"{path.stem}.png")
    require_targets({"--out": target}, [path], {"--out": PICTURES})
    if output is None and target.exists():
        raise Failure(
            Exit.USAGE, f"{target} is there already: choose another name with -o, or give this one to replace it"
        )
    begin = changed(starts=starts, gravity=gravity, floating=floating or None, until=until, inputs=inputs)
    begin |= changed(packages=packages)
    motion = motion_of(source, settings, **begin)
    from zwang.show.plot import plot as draw

    with busy("drawing"):
        picture = BytesIO()
        with wrong_use():
            figure = draw(motion, *map(pair, what or ()), only=only or ())
        figure.savefig(picture, format=target.suffix[1:].lower(), dpi=150)
    write_atomically(target, picture.getvalue())
    say(f"written: {target}", "dim")


def animate(
    source: Source,
    output: Annotated[
        Path,
        typer.Option(
            "--out", "-o", "--output", metavar="FILE", help="A .gif, .mp4, .html, .png or .glb.", show_default=False
        ),
    ],
    speed: Annotated[
        float | None, typer.Option(help="The motion's time that passes in a second.", show_default="about 8 s in all")
    ] = None,
    fps: Annotated[float, typer.Option(help="Pictures a second.")] = 25.0,
    trail: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A body or shape whose path is drawn, or a point on a body (arm:0,0,0.2); may be repeated.",
            show_default=False,
        ),
    ] = None,
    until: Until = None,
    starts: Starts = None,
    gravity: Pull = None,
    floating: Floating = False,
    packages: Packages = None,
    settings: Settings = None,
    inputs: Inputs = None,
) -> None:
    """Animate a motion: a GIF, a film, a page with a player, a still, or glTF for viewers."""
    from zwang.cli.progress import bar
    from zwang.cli.terminal import say
    from zwang.show.animate import SIZE, require_sizes, save_animation

    with wrong_use():
        require_sizes(fps, SIZE, speed)
    require_targets({"--out": output}, [source_path(source)], {"--out": FILMS})
    begin = changed(starts=starts, gravity=gravity, floating=floating or None, until=until, inputs=inputs)
    begin |= changed(packages=packages)
    motion = motion_of(source, settings, **begin)
    if trail:
        from zwang.show.trails import with_trails

        with wrong_use():
            motion = with_trails(motion, [trail_point(one) for one in trail])
    with bar("drawing") as progress:
        save_animation(motion, output, fps=fps, speed=speed, progress=progress)
    say(f"written: {output}", "dim")


def source_path(source: str) -> Path:
    """The file that a motion comes from."""
    path = Path(source)
    return path if path.is_file() and is_netcdf(path) else find(source)[0]


def trail_point(text: str) -> str | tuple[str, list[str]]:
    """What leaves a trail: a name, or a name and a point."""
    name, colon, point = text.partition(":")
    return (name, point.split(",")) if colon else text


def pair(what: str) -> str | tuple[str, str]:
    """What to plot: a name, or two of them, one against the other."""
    across, colon, up = what.partition(":")
    return (across, up) if colon else what
