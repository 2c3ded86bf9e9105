"""Tables of the documentation that are made from what the code declares: `python docs/_site/tables.py` renews them.

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`. A test compares every one of them with what
would be made now.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from zwang.cli.terminal import fitted
from zwang.engines.registry import ENGINES
from zwang.errors import ModelFileError
from zwang.files.read import read_model
from zwang.formulations.forms import FORMS
from zwang.functions import FUNCTIONS, Function

DOCS = Path(__file__).parents[1]
SPOILT = DOCS.parent / "tests" / "files" / "spoilt"
TABLE = re.compile(r"(<!-- table: ([^\n]+) -->\n)(.*?)(<!-- end of table -->\n)", re.DOTALL)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    lines = [list(head), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def forms() -> str:
    """The forms, what they say, and what they are good for."""
    rows = (
        (f'`"{name}"`', f"{form.how} ([{form.theory[0]}](../theory.md#{form.theory[1]}))", form.purpose)
        for name, form in FORMS.items()
    )
    return table(("`form`", "what it does", "good for"), rows)


def costs() -> str:
    """The forms, what they need, and what they cost."""
    head = ("form", "needs", "cost, for n coordinates and r independent rows", "in motion", "good for")
    rows = (
        (
            f'`"{name}"`',
            form.needs,
            form.cost,
            "is not integrated" if form.elimination is None else f"eliminates {form.elimination.value}",
            form.purpose,
        )
        for name, form in FORMS.items()
    )
    return table(head, rows)


def functions() -> str:
    """The functions that model files may call."""
    rows = (
        (" or ".join(f"`{name}{arguments(function)}`" for name in function.files), function.meaning)
        for function in FUNCTIONS.values()
        if function.files
    )
    return table(("function", "is"), rows)


def arguments(function: Function) -> str:
    """The arguments of a function, unless it takes one."""
    least, most = function.arguments
    return "" if most == 1 else "(y, x)" if (least, most) == (2, 2) else "(a, b, …)"


def engines() -> str:
    """The engines, what they are, what they are for, and what they can do."""
    head = ("`method`", "is", "for", "tightest tolerance", "reads signals", "integrates")
    rows = (
        (
            f'`"{name}"`',
            engine.what + (f" (`pip install zwang[{engine.extra}]`)" if engine.extra else ""),
            engine.purpose,
            f"{engine.tightest:g}",
            "yes" if engine.reads_signals else "no",
            " and ".join(["systems"] * (engine.run is not None) + ["black boxes"] * bool(engine.solver)),
        )
        for name, engine in ENGINES.items()
    )
    return table(head, rows)


def spoilt() -> str:
    """Model files as teachers spoil them, and what the command says of them in a terminal of 80 columns."""
    return "\n".join(f"## {title}\n\n```text\n{said}\n```\n" for title, said in told_of_spoilt().items())


def told_of_spoilt() -> dict[str, str]:
    """What is said of each spoilt file, by what was done to it."""
    told = {}
    for path in sorted(SPOILT.glob("*.toml")):
        _, model, what = path.stem.split("-", 2)
        try:
            read_model(path.read_text(encoding="utf-8"), f"{model}.toml")
        except ModelFileError as error:
            told[what.replace("-", " ").capitalize()] = fitted(str(error), 80)
    return told


TABLES: dict[str, Callable[[], str]] = {
    "forms": forms,
    "what forms cost": costs,
    "functions": functions,
    "engines": engines,
    "spoilt": spoilt,
}


def renewed(text: str) -> str:
    """A page with its tables as they would be made now."""
    return TABLE.sub(lambda match: f"{match[1]}\n{TABLES[match[2]]()}\n{match[4]}", text)


def main() -> None:
    """Renew the tables of all pages."""
    for page in sorted(DOCS.rglob("*.md")):
        old = page.read_text(encoding="utf-8")
        if (new := renewed(old)) != old:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(DOCS))


if __name__ == "__main__":
    main()
