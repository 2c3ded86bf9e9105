"""`zwang new`: a commented model to start from."""

import shlex
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from zwang.cli.exits import Exit, Failure
from zwang.cli.options import Force
from zwang.cli.output_paths import require_targets


def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The model's name; the file is NAME.toml.", show_default=False)
    ],
    force: Force = False,
) -> None:
    """Write a commented model to start from; it runs as it is."""
    from zwang.cli.terminal import say
    from zwang.files.store import write_atomically

    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    if path.name == ".toml":
        raise Failure(
            Exit.USAGE, f"NAME {name!r}: this is not a name for a model; give a name, as in `zwang new pendulum`"
        )
    require_targets({"NAME": path}, [], overwrite=force)
    title = "".join(c for c in path.stem.replace("_", " ").replace("-", " ") if c.isprintable() and c not in '"\\')
    text = (files("zwang") / "cli" / "starter.toml").read_text(encoding="utf-8")
    write_atomically(
        path,
        text.replace('name = "A pendulum"', f'name = "{title[:1].upper() + title[1:] or "A pendulum"}"', 1).encode(),
    )
    say(f"{path} is written. Next: zwang run {shlex.quote(str(path))}")
