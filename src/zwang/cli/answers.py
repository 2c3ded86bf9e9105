"""What the commands that ask something share: from a model and options to a question, and from the answer to files."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from zwang.cli.exits import Exit, Failure
from zwang.cli.models import Case, sources
from zwang.cli.output_paths import require_targets
from zwang.cli.outputs import Outputs

if TYPE_CHECKING:
    import sympy as sp

    from zwang.files.analyses.analysis import Analysis

T = TypeVar("T", bound="Analysis")

WHAT, FILES = "What is asked", "What is written"


def option(name: str, metavar: str | None, words: str, panel: str = WHAT) -> Any:
    """An option in place of what the model says."""
    return typer.Option(*name.split(), metavar=metavar, help=words, rich_help_panel=panel, show_default=False)


Out = Annotated[Path | None, option("--out -o", "FILE", "The answer, as NetCDF (.nc) or JSON (.json).", FILES)]
OutJson = Annotated[Path | None, option("--out -o", "FILE", "The answer, as JSON (.json).", FILES)]
Plot = Annotated[Path | None, option("--plot", "FILE", "A picture: a .png, .svg or .pdf.", FILES)]
Hold = Annotated[
    list[str] | None,
    option("--hold", "NAME[=NUMBER]", "Keep a coordinate (x) or rate (x'), or set it; may be repeated."),
]


def asked(case: Case, kind: type[T], **changes: Any) -> T:
    """What the model asks in the section of this kind, with what was typed in its place."""
    found = case.model.analyses.get(kind.section.name)
    own = found if isinstance(found, kind) else kind()
    given = {name: value for name, value in changes.items() if value or value == 0}
    return replace(own, **given) if given else own  # type: ignore[type-var]


def require_said(asks: "Analysis", name: str, remedy: str) -> None:
    """Refuse a question that lacks something, which neither the model nor an option says."""
    if not getattr(asks, name):
        section = asks.section.name
        raise Failure(Exit.USAGE, f"{remedy}, or put {name} = … under [{section}] in the model")


def held_of(case: Case, hold: Sequence[str] | None, hint: str = "--hold") -> "dict[sp.Expr, sp.Expr | None]":
    """What is held, or shifts, from texts such as `x` or `x=0.2`."""
    import sympy as sp

    from zwang.cli.options import number

    found: dict[sp.Expr, sp.Expr | None] = {}
    for text in hold or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        try:
            found[quantity(case, name, hint)] = sp.Float(number(value)) if equals else None
        except typer.BadParameter as error:
            raise typer.BadParameter(error.message, param_hint=hint) from None
    if None in found.values() and any(value is not None for value in found.values()):
        raise typer.BadParameter("give every one a value, or none of them", param_hint=hint)
    return found


def quantity(case: Case, name: str, option: str) -> "sp.Expr":
    """A coordinate or rate by its name."""
    from zwang.model.values import by_name, suggestion

    system = case.model.system
    found: Any = by_name(system, name)
    if isinstance(found, str):
        known = [*system.coordinates, *system.velocities]
        words = f"{name} is not a coordinate or rate of this model{suggestion(name, known)}"
        raise typer.BadParameter(words, param_hint=option)
    return found


def quantities(case: Case, names: Sequence[str] | None, option: str) -> "dict[str, sp.Expr]":
    """Coordinates and rates by their names."""
    return {name: quantity(case, name, option) for name in names or ()}


def require_out(case: Case, targets: Mapping[str, Path | None], kinds: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse outputs that cannot be written, and names that say another kind of file, before any work is done."""
    require_targets(targets, sources(case), kinds)


def found_with(words: str, ask: Callable[[], Any]) -> Any:
    """An answer, with a word on the terminal while it is looked for."""
    from zwang.cli.progress import busy
    from zwang.model.moved import StartMovedWarning

    with busy(words), warnings.catch_warnings():
        warnings.simplefilter("ignore", StartMovedWarning)  # where it begins is only a guess
        return ask()


def finish(
    case: Case,
    answer: Any,
    json: bool,
    out: Path | None,
    show: Callable[[], None],
    more: Mapping[str, tuple[Path | None, Callable[[Path], object]]] | None = None,
    code: Exit = Exit.DONE,
) -> None:
    """Write an answer and what `more` was asked for, say it to people or to machines, and end with an exit code."""
    from zwang.cli import terminal
    from zwang.files.analyses.answers import save_answer, values_of

    files = Outputs()
    files.add("--out", out, lambda path: save_answer(answer, path))
    for option, (path, write) in (more or {}).items():
        files.add(option, path, write)
    if json:
        head = {"name": case.model.system.name, "model": case.label}
        terminal.emit_json(
            head
            | values_of(answer)
            | {"files": files.written}
            | ({"failures": files.failures} if files.failures else {})
        )
    else:
        show()
        for written in files.written.values():
            terminal.out().print(terminal.text("written  ", "dim"), terminal.text(written), sep="", soft_wrap=True)
    files.end(code)


def draw(path: Path, picture: Callable[[], Any]) -> None:
    """Write a picture, a matplotlib figure."""
    from io import BytesIO

    from zwang.cli.progress import busy
    from zwang.files.store import write_atomically

    with busy("drawing"):
        memory = BytesIO()
        picture().savefig(memory, format=path.suffix[1:].lower(), dpi=150)
    write_atomically(path, memory.getvalue())


def heading(case: Case, more: str = "") -> None:
    """The name of the model."""
    from zwang.cli import terminal

    name = case.model.system.name or Path(case.label).stem
    terminal.out().print(terminal.text(f"{name}{more}", "bold"))


def remark(words: str, style: str = "") -> None:
    """A sentence about an answer, on standard output."""
    from zwang.cli import terminal

    console = terminal.out()
    console.print(terminal.text(terminal.filled(terminal.clean(words), console.width, ""), style), soft_wrap=True)
