"""`zwang equations`: the equations of motion in symbols, for the terminal, a paper or a page."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zwang.cli.models import Case, load
from zwang.cli.options import Form, Model
from zwang.cli.targets import require_targets

if TYPE_CHECKING:
    from zwang.cli.formulas import Room
    from zwang.equations import Equations

PATIENCE = 8.0  # seconds for writing out q̈; how long that takes cannot be told from the size of a system
TOO_LONG = f"q̈ takes longer than {PATIENCE:g} s to write out; the computer needs no more than the equation above"

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1d2430; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }}
div {{ overflow-x: auto; padding: .5rem 0 }}
math {{ font-size: 1.1rem }}
h2 {{ margin-top: 2rem }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def equations(
    model: Model,
    form: Annotated[Form, typer.Option(help="Which form of the equations.")] = Form.FUNDAMENTAL,
    every: Annotated[bool, typer.Option("--all", help="All five forms.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="As LaTeX.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="As a page with MathML.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="To a file, however long they are.", show_default=False)
    ] = None,
) -> None:
    """Show the equations of motion in symbols: M, Q, A, b, and the explicit accelerations.

    Accelerations that take longer than 8 seconds to write out are left out, and it is said so.
    """
    from zwang.cli import terminal
    from zwang.cli.formulas import FILE, terminal_room
    from zwang.cli.progress import busy
    from zwang.equations import derive

    case = load(model)
    require_targets({"--html": html, "--out": out}, [] if case.model.path is None else [case.model.path])
    forms = [str(f) for f in Form] if every else [str(form)]
    with busy("deriving"):
        found = derive(case.model.system)
        page = page_of(case, found, forms) if html is not None else ""
        room = terminal_room(terminal.out().width) if out is None else FILE
        wanted = out is not None or html is None
        words = "" if not wanted else documents(found, forms) if latex else written(case, found, forms, room)
    if html is not None:
        write(html, page)
    if out is not None:
        write(out, words)
    elif html is None:
        terminal.emit(words if latex else terminal.clean(words))


def write(path: Path, content: str) -> None:
    """Write a file, and say so."""
    from zwang.cli.terminal import say
    from zwang.files.store import write_atomically

    write_atomically(path, content if content.endswith("\n") else f"{content}\n")
    say(f"written: {path}", "dim")


def written(case: Case, found: "Equations", forms: list[str], room: "Room") -> str:
    """The equations as text."""
    from zwang.cli.formulas import accelerations, general, matrices
    from zwang.show.limit import within

    rows, slow = [case.model.system.name or case.label, "", *matrices(found, room)], False
    for form in forms:
        rows += ["", f"── {form} ".ljust(min(room.width, 72), "─"), *general(form, found), ""]
        values = None if slow else within(PATIENCE, lambda form=form: found.acceleration(form=form))  # type: ignore[misc]
        slow = values is None
        rows += [TOO_LONG] if values is None else accelerations(found, values, room)
    return "\n".join(rows)


def documents(found: "Equations", forms: list[str]) -> str:
    """The equations as LaTeX, one block a form."""
    return "\n\n".join(
        f"% {form}{'' if whole else ': ' + TOO_LONG}\n{block}" for form, block, whole in blocks(found, forms)
    )


def blocks(found: "Equations", forms: list[str]) -> Iterator[tuple[str, str, bool]]:
    """Each form as a LaTeX block, and whether q̈ is written out in it."""
    from zwang.equations.latex import aligned, setting
    from zwang.show.limit import within

    slow = False
    for form in forms:
        block = None if slow else within(PATIENCE, lambda form=form: found.latex(form=form))  # type: ignore[misc]
        slow = block is None  # then the other forms, which say the same, are not tried
        yield form, aligned(setting(found, form, {})) if block is None else block, block is not None


def page_of(case: Case, found: "Equations", forms: list[str]) -> str:
    """The equations as a page with MathML, which browsers show without any script."""
    from latex2mathml.converter import convert

    parts = [f"<p>{escape(case.model.description)}</p>"] if case.model.description else []
    if found.names:
        parts.append(f"<p>{escape(found.assumption)}.</p>")
    for form, block, whole in blocks(found, forms):
        parts.append(f"<h2>{escape(form)}</h2>\n<div>{convert(block, display='block')}</div>")
        parts += [] if whole else [f"<p>{escape(TOO_LONG)}.</p>"]
    return PAGE.format(title=escape(case.model.system.name or case.label), body="\n".join(parts))
