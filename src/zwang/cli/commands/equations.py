"""`zwang equations`: the equations of motion in symbols, for the terminal, a paper or a page."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from zwang.cli.exits import Exit, Failure
from zwang.cli.models import Case, load, sources
from zwang.cli.options import Floating, Model, Pull, one_of
from zwang.cli.output_paths import require_targets
from zwang.cli.outputs import Outputs
from zwang.endings import PAGES, TEXTS
from zwang.formulations.forms import DEFAULT, FORMS
from zwang.words import count

if TYPE_CHECKING:
    from zwang.cli.formulas import PageRoom
    from zwang.equations import Equations


def equations(
    model: Model,
    form: Annotated[
        str, typer.Option(metavar="FORM", help=f"Which form: {', '.join(FORMS)}.", **one_of(lambda: FORMS))
    ] = DEFAULT,
    every: Annotated[bool, typer.Option("--all", help="All forms.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="As LaTeX.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="As a page with MathML.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="To a file, however long they are.", show_default=False),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            min=0, help="Processor time to write q̈ out, and to put M, Q, A and b in order.", show_default="4, and 2"
        ),
    ] = None,
    gravity: Pull = None,
    floating: Floating = False,
) -> None:
    """Show the equations of motion in symbols, as text, LaTeX or a page.

    M, Q, A and b, and the explicit accelerations in the chosen form. Accelerations that take longer
    than 4 seconds to write out are left out; --seconds gives them more.
    """
    from zwang.cli import formulas, terminal
    from zwang.cli.formulas import file_room, terminal_room
    from zwang.cli.progress import busy
    from zwang.equations.equations import as_derived
    from zwang.equations.textbook import SECONDS
    from zwang.time_limit import within

    case = load(model, symbolic=True, gravity=gravity, floating=floating)
    require_targets({"--html": html, "--out": out}, sources(case), {"--html": PAGES, "--out": TEXTS})
    forms = list(FORMS) if every else [form]

    def text() -> str:
        limit = formulas.READING if seconds is None else seconds
        room = terminal_room(terminal.out().width, limit) if out is None else file_room(limit)
        derived = within(formulas.DERIVING, lambda: as_derived(case.model.system))
        if derived is None:
            raise Failure(Exit.REFUSED, f"the equations take longer than {formulas.DERIVING:g} s to derive")
        found = derived.simplified(max(SECONDS, seconds or 0.0))
        return documents(found, forms, limit) if latex else written(case, found, forms, room)

    def page() -> str:
        from zwang.show.report.page import equations_page

        return equations_page(case.model, forms)

    if out is None and (html is None or latex):
        with busy("deriving"):
            words = text()
        terminal.emit(words if latex else terminal.clean(words))
    files = Outputs()
    files.add("--out", out, partial(write, text))
    files.add("--html", html, partial(write, page))
    files.end()


def write(made: Callable[[], str], path: Path) -> None:
    """Make the content of a file and write it, and say so."""
    from zwang.cli.progress import busy
    from zwang.cli.terminal import say
    from zwang.files.store import write_atomically

    with busy("deriving"):
        content = made()
    write_atomically(path, content if content.endswith("\n") else f"{content}\n")
    say(f"written: {path}", "dim")


def written(case: Case, found: "Equations", forms: list[str], room: "PageRoom") -> str:
    """The equations as text."""
    from zwang.cli.formulas import DERIVING, accelerations, general, matrices
    from zwang.time_limit import within

    def explicit(form: str) -> list[str]:
        return accelerations(found, found.acceleration(form=form), room)

    known = within(DERIVING, lambda: matrices(found, room))
    rows = [case.model.system.name or case.label, ""]
    rows += known or [f"M, Q, A and b take longer than {DERIVING:g} s to write out."]
    rows += [] if known is None or not found.unread else ["", as_derived_only(found.unread)]
    slow = known is None
    for form in forms:
        rows += ["", f"── {form} ".ljust(min(room.width, 72), "─"), *general(form, found), ""]
        lines = None if slow else within(room.seconds, partial(explicit, form))
        slow = lines is None  # then the other forms, which say the same, are not tried
        rows += [too_long(room.seconds)] if lines is None else lines
    return "\n".join(rows)


def as_derived_only(entries: int) -> str:
    """Which part of the matrices is not written as in a textbook."""
    which = f"{count(entries, 'entry', 'entries')} of these matrices {'stands' if entries == 1 else 'stand'} as derived"
    return f"{which}: --seconds 60 gives time to put more in order."


def too_long(seconds: float) -> str:
    """Why q̈ is not written out."""
    return (
        f"q̈ takes longer than {seconds:g} s to write out, and is left out: --seconds {max(60, 10 * seconds):g} gives "
        "it more; a simulation needs only the matrices."
    )


def documents(found: "Equations", forms: list[str], seconds: float) -> str:
    """The equations as LaTeX, one block a form."""
    from zwang.equations.latex import aligned, setting
    from zwang.time_limit import within

    parts, slow = [], False
    for form in forms:
        block = None if slow else within(seconds, partial(found.latex, form=form))
        slow = block is None
        parts.append(f"% {form}" if block else f"% {form}: {too_long(seconds)}")
        parts.append(f"{block or aligned(setting(found, form, {}))}\n")
    return "\n".join(parts)
