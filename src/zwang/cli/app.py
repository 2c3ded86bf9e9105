"""The command itself: its name, its options, and all its commands."""

from typing import Annotated

import typer

from zwang._version import __version__
from zwang.cli.commands import (
    assemble,
    check,
    compare,
    equations,
    equilibrium,
    examples,
    fit,
    kinematics,
    linear,
    new,
    periodic,
    pictures,
    run,
    schema,
    sweep,
)
from zwang.cli.error_boundary import DEBUG, Guarded
from zwang.cli.exits import MEANING

EPILOG = "\n".join(
    [
        "Start with `zwang new pendulum` and `zwang run pendulum.toml`, or look at `zwang examples`.",
        "",
        "Exit codes:",
        *(f"{int(code):>4}  {words}" for code, words in MEANING.items()),
    ]
)

app = typer.Typer(
    name="zwang",
    cls=Guarded,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(value: bool) -> None:
    """Print the version and end."""
    if value:
        typer.echo(f"zwang {__version__}")
        raise typer.Exit


@app.callback()
def zwang(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and end.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="ZWANG_DEBUG", help="Show where an error comes from.")
    ] = False,
) -> None:
    """The motion of constrained mechanical systems: equations, verdict, motion, forces and pictures of a model file."""
    DEBUG.set(debug)


app.command()(run.run)
app.command()(sweep.sweep)
app.command()(check.check)
app.command()(equations.equations)
app.command()(assemble.assemble)
app.command()(compare.compare)
app.command()(equilibrium.equilibrium)
app.command()(equilibrium.steady)
app.command()(linear.linearize)
app.command()(linear.modes)
app.command()(kinematics.kinematics)
app.command()(periodic.periodic)
app.command()(periodic.lyapunov)
app.command()(fit.fit)
app.command()(pictures.plot)
app.command()(pictures.animate)
app.command()(new.new)
app.add_typer(examples.app, name="examples")
app.command()(schema.schema)
