"""What the documentation says is true: its code runs, its output is real, its names and links exist."""

import contextlib
import doctest
import importlib
import io
import re
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import zwang as zw
from zwang.formulations import Residuals, Solution

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks" / "README.md"]
LABELS = {"C": 6, "F": 4, "G": 12, "U": 10, "N": 8}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


@each_page
def test_code_runs_and_prints_what_the_page_shows(page: Path) -> None:
    namespace: dict[str, Any] = {}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for (language, code), (following, expected) in pairwise([*blocks, ("", "")]):
        if language != "python":
            continue
        if ">>>" in code:
            run_doctest(code, namespace, page.name)
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), namespace)
        if following == "text":
            assert printed.getvalue() == expected


def run_doctest(code: str, namespace: dict[str, Any], name: str) -> None:
    test = doctest.DocTestParser().get_doctest(code, namespace, name, None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    assert result.failed == 0, "".join(report)


@each_page
def test_names_in_backticks_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [name for name in re.findall(r"`(zwang(?:\.\w+)+)", text) if not exists(name)]
    homes = {"zw": zw, "Solution": Solution, "Equations": zw.Equations, "System": zw.System}
    for home, name in re.findall(r"`(zw|Solution|Equations|System)\.(\w+)", text):
        has = hasattr(homes[home], name) or name in getattr(homes[home], "__dataclass_fields__", {})
        missing += [] if has else [f"{home}.{name}"]
    assert not missing


def exists(name: str) -> bool:
    """Whether a dotted name is a module or something in one."""
    module, parts = name, list[str]()
    while True:
        try:
            found = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            parts.insert(0, last)
    for part in parts:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_notation_names_every_field_of_a_solution() -> None:
    text = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8")
    assert not [f.name for f in fields(Solution) if f"`Solution.{f.name}" not in text]
    assert not [f.name for f in fields(Residuals) if f"`Solution.residuals.{f.name}`" not in text]


def test_theory_names_every_label_and_numbers_equations_in_order() -> None:
    text = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    labels = [f"{letter}{i}" for letter, last in LABELS.items() for i in range(1, last + 1)]
    assert not [label for label in labels if not re.search(rf"\b{label}\b", text)]
    tags = [int(tag) for tag in re.findall(r"\\tag\{(\d+)\}", text)]
    assert tags == list(range(1, len(tags) + 1))
