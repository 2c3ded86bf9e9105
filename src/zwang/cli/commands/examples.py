"""`zwang examples`: the models that come with zwang, to list, read and copy."""

import os
import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from zwang.cli import library
from zwang.cli.options import AsJson, Force, complete_example
from zwang.cli.output_paths import require_targets

app = typer.Typer(help="List, show and copy the example models.", invoke_without_command=True)

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="An example.", show_default=False, autocompletion=complete_example),
]


@app.callback()
def examples(ctx: typer.Context) -> None:
    """List, show and copy the example models that come with zwang."""
    if ctx.invoked_subcommand is None:
        show_list()


@app.command("list")
def list_examples(json: AsJson = False) -> None:
    """List the examples."""
    if not json:
        show_list()
        return
    from zwang.cli.terminal import emit_json

    emit_json({"examples": [{"name": name, "title": title, "teaches": words} for name, title, words in entries()]})


@app.command("show")
def show_example(name: Name) -> None:
    """Print an example's model file."""
    from zwang.cli.terminal import emit_file

    emit_file(library.example(name).read_text(encoding="utf-8"))


@app.command("copy")
def copy_example(
    name: Name,
    dest: Annotated[
        str, typer.Argument(metavar="[DEST]", help="A file or a folder; here if not given.", show_default=False)
    ] = ".",
    force: Force = False,
) -> None:
    """Copy an example, with the tables that it reads, to change it."""
    from zwang.cli.terminal import say
    from zwang.files.store import write_atomically

    source = library.example(name)
    text = source.read_text(encoding="utf-8")
    target = Path(dest)
    if target.is_dir() or dest.endswith(("/", os.sep)):  # a folder is meant, even if there is none
        target = target / f"{name}.toml"
    beside = {target.parent / table: library.folder() / table for table in library.tables_of(text)}
    for path in (target, *beside):
        require_targets({"copy": path}, [], overwrite=force)
    for path, table in beside.items():
        write_atomically(path, table.read_bytes())
    write_atomically(target, text.encode())
    say(f"copied to {', '.join(map(str, (target, *beside)))}. Next: zwang run {shlex.quote(str(target))}")


def entries() -> list[tuple[str, str, str]]:
    """Each example's name, title and first sentence."""
    found = []
    for name in library.names():
        values = library.contents(library.example(name).read_text(encoding="utf-8"))
        words = " ".join(str(values.get("description", "")).split())
        found.append((name, str(values.get("name", "")), re.split(r"(?<=[.!?]) (?=[A-Z])", words)[0]))
    return found


def show_list() -> None:
    """The examples as a table."""
    from zwang.cli import terminal

    table = terminal.columns("example", "what it is")
    for name, title, words in entries():
        table.add_row(
            terminal.text(name, "bold"), terminal.joined(terminal.text(f"{title}\n"), terminal.text(words, "dim"))
        )
    console = terminal.out()
    console.print(table)
    console.print(terminal.text("\nzwang run NAME · zwang examples show NAME · zwang examples copy NAME", "dim"))
