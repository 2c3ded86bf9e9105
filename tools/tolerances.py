"""The tuned numbers of the core, read from the source, and whether docs/maintain/tolerances.md has them.

A tuned number is a constant of a module, in capitals, that is a float, or a tuple of numbers with a float in it.
`python tools/tolerances.py` prints those that the page lacks or has with another value, as rows to be filled in;
a test holds the page to the source.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "zwang"
PAGE = ROOT / "docs" / "maintain" / "tolerances.md"
ROOMS = (
    "linalg",
    "nonsmooth",
    "formulations",
    "lowering",
    "engines",
    "motion",
    "analysis",
    "results",
    "verdict",
    "generic_rank",
    "evaluation",
)
LONGEST = 8  # numbers of a tuple; longer ones are tables, of a method's coefficients for example
NAME = re.compile(r"_?[A-Z][A-Z0-9_]*")


@dataclass(frozen=True)
class Constant:
    """A tuned number: where it stands, its name, its value as written, and the comment beside it."""

    file: str
    name: str
    value: str
    comment: str

    @property
    def row(self) -> str:
        """A row of the page, with the last columns to be filled in."""
        return f"| `{self.name}` | {self.value} | | {self.comment} | |"


def constants() -> list[Constant]:
    """All tuned numbers of the rooms, in the order of the files."""
    places = [PACKAGE / room for room in ROOMS]
    files = [path for place in places for path in [*sorted(place.rglob("*.py")), place.with_suffix(".py")]]
    return [constant for path in files if path.is_file() for constant in constants_of(path)]


def constants_of(path: Path) -> Iterator[Constant]:
    """The tuned numbers of one file."""
    text = path.read_text(encoding="utf-8")
    lines, body = text.splitlines(), ast.parse(text).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                pairs = [(name, value)]
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)):
                pairs = [(n.id, v) for n, v in zip(names, values, strict=True) if isinstance(n, ast.Name)]
            case _:
                continue
        words = comment_of(lines, node, after)
        for name, value in pairs:
            if NAME.fullmatch(name) and tuned(value):
                written = ast.get_source_segment(text, value) or ""
                yield Constant(path.relative_to(PACKAGE).as_posix(), name, " ".join(written.split()), words)


def tuned(value: ast.expr) -> bool:
    """Whether an expression is a number, or a tuple of numbers, with a float in it."""
    if isinstance(value, ast.Tuple):
        return 0 < len(value.elts) <= LONGEST and all(map(number, value.elts)) and any(map(tuned, value.elts))
    floats = [e for e in ast.walk(value) if isinstance(e, ast.Div | ast.Constant)]
    return number(value) and any(isinstance(e, ast.Div) or isinstance(e.value, float) for e in floats)


def number(value: ast.expr) -> bool:
    """Whether an expression is arithmetic of literal numbers."""
    allowed = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    return all(
        isinstance(e, allowed) or (isinstance(e, ast.Constant) and isinstance(e.value, int | float))
        for e in ast.walk(value)
    )


def comment_of(lines: list[str], node: ast.stmt, after: ast.stmt | None) -> str:
    """The words beside a constant: behind it, above it, or as a string below it."""
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
        return " ".join(after.value.value.split())
    end = lines[(node.end_lineno or node.lineno) - 1]
    if "  # " in end:
        return end.split("  # ", 1)[1].strip()
    above: list[str] = []
    for line in reversed(lines[: node.lineno - 1]):
        if not line.startswith("#"):
            break
        above.insert(0, line.lstrip("# "))
    return " ".join(above)


def on_the_page() -> set[tuple[str, str, str]]:
    """File, name and value of every row of the page."""
    found: set[tuple[str, str, str]] = set()
    file = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"#+ `([\w/.]+)`", line):
            file = heading[1]
        elif row := re.match(r"\| `(\w+)` \| (.+?) \|", line):
            found.add((file, row[1], row[2]))
    return found


def main() -> int:
    """Print what the page lacks, and what it has that the source has not; their number."""
    source = {(c.file, c.name, c.value): c for c in constants()}
    page = on_the_page() if PAGE.exists() else set()
    file = ""
    for key, constant in source.items():
        if key not in page:
            if constant.file != file:
                file = constant.file
                print(
                    f"\n### `{file}`\n\n| name | value | unit | what it decides | how it was found |\n"
                    + "| --- " * 5
                    + "|"
                )
            print(constant.row)
    for key in sorted(page - source.keys()):
        print(f"not in the source any more: {' '.join(key)}")
    return len(page ^ source.keys())


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
