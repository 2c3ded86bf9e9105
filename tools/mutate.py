"""Would the tests notice? A seeded sample of small mistakes in the core, one at a time. `make mutate`.

Each mutant is one changed sign, operator, comparison or number, made in a copy of the tree. The tests of its room are
run on it, those of its own module first, until one fails (killed) or a budget of processor time is used up (survived).
What killed is run on the unchanged tree, too: a test that fails there says nothing. Survivors are listed at the end:
some are harmless, a scale or an order; for the others a test is missing.

    python tools/mutate.py --mutants 40 --seed 7
    python tools/mutate.py --only src/zwang/linalg           (a room, or one file)
    python tools/mutate.py --only src/zwang/verdict.py:120   (all mutants of a line)
"""

import argparse
import ast
import os
import random
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

ROOT = Path(__file__).parents[1]
CORE = ("lowering", "engines", "motion", "formulations", "linalg", "equations", "results", "verdict", "evaluation")
BUDGET = "MUTATE_BUDGET"  # processor time of one mutant's tests, between two of them
STUCK = 60  # seconds of processor time more than the budget: a test that goes on for ever has noticed

OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*")}
COMPARISONS = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
}
TALK = (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)  # messages, and what the type checker needs


@dataclass(frozen=True)
class Mutant:
    """One changed piece of one file, in bytes from its beginning."""

    path: str
    line: int
    begin: int
    end: int
    old: str
    new: str
    text: str
    """The line, as it was when the mutant was made."""

    def __str__(self) -> str:
        """Where, what, and the line."""
        return f"{self.path}:{self.line}: {self.old.strip()} -> {self.new.strip() or 'nothing'}   in   {self.text}"


# Mutants


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All mutants of a file."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int | None, column: int | None) -> int:
        return starts[(line or 1) - 1] + (column or 0)

    def between(left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Mutant]:
        begin, end = at(left.end_lineno, left.end_col_offset), at(right.lineno, right.col_offset)
        gap = source[begin:end].decode()
        if gap.count(old) == 1 and "#" not in gap:
            place = begin + len(gap[: gap.index(old)].encode())
            line = source[:place].count(b"\n") + 1
            yield mutant(line, place, place + len(old.encode()), new)

    def mutant(line: int, begin: int, end: int, new: str) -> Mutant:
        return Mutant(name, line, begin, end, source[begin:end].decode(), new, lines[line - 1].strip())

    name, lines = path.relative_to(ROOT).as_posix(), source.decode().splitlines()
    for node in expressions(ast.parse(source)):
        match node:
            case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
                yield from between(left, right, *OPERATORS[type(operator)])
            case ast.Compare(left, [operator], [right]) if type(operator) in COMPARISONS:
                old, changes = COMPARISONS[type(operator)]
                for new in changes:
                    yield from between(left, right, old, new)
            case ast.BoolOp(operator, [left, right]):
                both = ("and", "or") if isinstance(operator, ast.And) else ("or", "and")
                yield from between(left, right, *both)
            case ast.UnaryOp(ast.USub()):
                begin = at(node.lineno, node.col_offset)
                yield mutant(node.lineno, begin, begin + 1, "")
            case ast.Constant(value) if isinstance(value, int | float) and not isinstance(value, bool):
                begin, end = at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
                changed = value + 1 if isinstance(value, int) else value * 2 or 1.0
                yield mutant(node.lineno, begin, end, repr(changed))


def expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions that compute something: no annotations, no decorators, no messages."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, TALK):
                if isinstance(child, ast.expr):
                    yield child
                yield from expressions(child)


def core(only: str | None) -> list[Mutant]:
    """All mutants of the core, or of what is asked for."""
    place, _, line = (only or "").partition(":")
    package = ROOT / "src" / "zwang"
    folders = [ROOT / place] if place else [package / room for room in CORE]
    files = [path for folder in folders for path in [*folder.rglob("*.py"), folder, folder.with_suffix(".py")]]
    found = [m for path in sorted({p for p in files if p.is_file()}) for m in mutants_of(path)]
    return [m for m in found if not line or m.line == int(line)]


# Tests


def tests_of(mutant: Mutant, tree: Path) -> list[str]:
    """The tests that should notice, nearest first.

    The module's examples and the tests of its name or place (tests/house.py), tests that import it, its room's, and
    those of the rooms that import it.
    """
    inside = Path(mutant.path).relative_to("src/zwang")
    room = inside.parts[0].removesuffix(".py")
    module = ".".join(["zwang", *inside.with_suffix("").parts]).removesuffix(".__init__")
    every = sorted((tree / "tests").rglob("test_*.py"))
    text = {path: path.read_text(encoding="utf-8") for path in every}
    own = runpy.run_path(str(tree / "tests" / "house.py"))["places_of"](inside.with_suffix("").as_posix())
    importing = [p for p in every if module in text[p]]
    roommates = [p for p in every if room in p.relative_to(tree / "tests").parts or p.stem == f"test_{room}"]
    package = tree / "src" / "zwang"
    users = [p.relative_to(package).parts[0] for p in package.rglob("*.py") if module in p.read_text(encoding="utf-8")]
    above = [p for p in every if p.relative_to(tree / "tests").parts[0].removeprefix("test_") in users]
    chosen = dict.fromkeys([tree / mutant.path, *own, *importing, *roommates, *above])
    return [path.relative_to(tree).as_posix() for path in chosen]


def pytest_runtest_teardown(item: Any) -> None:
    """As a plugin of pytest: stop between two tests when the budget is used up."""
    if time.process_time() > float(os.environ[BUDGET]):
        item.session.shouldstop = "the budget is used up"


def outcome(mutant: Mutant, tree: Path, cache: Path, seconds: float) -> tuple[bool, str]:
    """Whether a mutant is killed, and by what."""
    path = tree / mutant.path
    whole = path.read_bytes()
    try:
        path.write_bytes(whole[: mutant.begin] + mutant.new.encode() + whole[mutant.end :])
        code, lines = tried(tests_of(mutant, tree), tree, cache, seconds)
    finally:
        path.write_bytes(whole)
    if code < 0:
        return True, "a test that does not end" if code in (-9, -24) else f"signal {-code}"
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    if failed:
        by = failed[0].split(" - ")[0].split(" ", 1)[1]
        if tried([by], tree, cache, seconds)[0]:
            raise SystemExit(f"{by} fails without any mutant: the tree must be green")
        return True, by
    return code not in (0, 2), lines[-1]  # 2: the budget is used up


def tried(tests: list[str], tree: Path, cache: Path, seconds: float) -> tuple[int, list[str]]:
    """The exit code of tests in a tree until the first fails, and what they print."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tree / "src"), str(ROOT / "tools")]),
        "PYTHONDONTWRITEBYTECODE": "1",  # a stale file of the same second and size would run the wrong code
        "XDG_CACHE_HOME": str(cache),
        BUDGET: str(seconds),
    }
    words = ["-m", "pytest", "-x", "-rfE", "-p", "mutate", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
    limit = f'ulimit -t {int(seconds) + STUCK}; exec "$@"'
    done = subprocess.run(
        ["bash", "-c", limit, "mutate", sys.executable, *words, *tests],
        cwd=tree,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout.strip().splitlines() or [""]


def copy_of_tree(place: Path) -> Path:
    """The files that git knows, copied."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place / name)
    return place


def main() -> None:
    """Draw a sample, try each, and list the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=20, help="how many (20)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    parser.add_argument("--only", help="a folder or file, or FILE:LINE for all mutants of a line")
    parser.add_argument("--seconds", type=float, default=60, help="processor time for each mutant (60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="at the same time (all cores)")
    asked = parser.parse_args()
    every = core(asked.only)
    line = ":" in (asked.only or "")
    sample = every if line else random.Random(asked.seed).sample(every, min(asked.mutants, len(every)))
    print(f"{len(sample)} of {len(every)} mutants", flush=True)
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        trees: Queue[Path] = Queue()
        for job in range(asked.jobs):
            trees.put(copy_of_tree(Path(folder) / f"tree{job}"))

        def attempt(mutant: Mutant) -> bool:
            tree = trees.get()
            try:
                killed, words = outcome(mutant, tree, Path(folder) / "cache", asked.seconds)
            finally:
                trees.put(tree)
            print(f"{'killed  ' if killed else 'SURVIVED'} {mutant}\n         {words}", flush=True)
            return killed

        with ThreadPoolExecutor(asked.jobs) as pool:
            survivors = [m for m, killed in zip(sample, pool.map(attempt, sample), strict=True) if not killed]
    print(f"\n{len(sample) - len(survivors)} killed, {len(survivors)} survived")
    for mutant in survivors:
        print(f"  {mutant}")


if __name__ == "__main__":
    main()
