"""What the documentation says is true: its code runs, its output is real, its names and links exist."""

import contextlib
import doctest
import importlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.engines.registry import names
from zwang.files.read import read_model
from zwang.formulations.forms import FORMS, integrable
from zwang.formulations.solution import Residuals, Solution

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "benchmarks" / "README.md",
    ROOT / "examples" / "README.md",
]
NEEDS = {"sweeps.md": ("zarr", "distributed")}  # what the blocks of a page need, of packages that are extras
LABELS = {"C": 6, "F": 4, "G": 12, "U": 10, "N": 8, "K": 6, "L": 6}
BLOCK = re.compile(r'^```(\w*)(?: title="(.+?)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
TABLE = re.compile(r'file = "(.+?)", time = "(\w+)", value = "(\w+)"')
# What differs from machine to machine in the output of a command: times, counts of work, and rounding errors.
VARIES = re.compile(r"[\d.,]+ [µm]?s\b|[\d.,]+(?= (?:steps|evaluations)\b)|\b[\d.]+e-\d+")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


@each_page
def test_blocks_are_true(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of a page is used, in order, in a folder of the page's own.

    Python runs, and prints what a text block after it shows. Commands of a console block run and print what the block
    shows. TOML is TOML, and complete models are models. A block whose title names a file becomes that file.
    """
    monkeypatch.chdir(tmp_path)
    for package in NEEDS.get(page.name, ()):
        pytest.importorskip(package)
    namespace: dict[str, Any] = {}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    for (language, file, content), (following, _, expected) in pairwise([*blocks, ("", "", "")]):
        if file:
            Path(file).write_text(content, encoding="utf-8")
        if language == "python":
            printed = run_python(content, namespace, page.name)
            if following == "text" and ">>>" not in content:
                assert printed == expected
        elif language == "console":
            run_commands(content)
        elif language == "toml":
            require_model(content)


def run_python(code: str, namespace: dict[str, Any], name: str) -> str:
    """What a block prints; one with >>> is checked as a doctest."""
    if ">>>" in code:
        run_doctest(code, namespace, name)
        return ""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), namespace)
    return printed.getvalue()


def run_doctest(code: str, namespace: dict[str, Any], name: str) -> None:
    test = doctest.DocTestParser().get_doctest(code, namespace, name, None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    assert result.failed == 0, "".join(report)


def run_commands(session: str) -> None:
    """Run the zwang commands of a console block; `$ echo $?` shows the exit code of the one before, otherwise it is 0.

    Output is compared where the block shows any, but for numbers that vary. In it … stands for anything in a line,
    and alone in its line for any lines.
    """
    code = 0
    for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
        if command == "echo $?":
            assert shown == f"{code}\n"
            code = 0
            continue
        assert code == 0, f"the command before {command!r} ended with {code}"
        words = shlex.split(command, comments=True)
        assert words[0] == "zwang", command
        environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "zwang", *words[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            encoding="utf-8",
            timeout=600,
        )
        code = done.returncode
        assert "Traceback" not in done.stdout
        if shown.strip():
            lines = [re.escape(line).replace("…", ".*") + "\n" for line in settled(shown).splitlines()]
            pattern = "".join(r"(?:.*\n)*" if line == ".*\n" else line for line in lines)
            assert re.fullmatch(pattern, settled(done.stdout)), f"{command} prints\n{done.stdout}"
    assert code == 0, f"{session!r} ended with {code}: say so with `$ echo $?`"


def settled(output: str) -> str:
    """Output without what varies, and without the widths of columns that follow from it."""
    lines = [re.sub("─+", "─", re.sub(r"(?<=\S) +", " ", VARIES.sub("#", line))) for line in output.splitlines()]
    return "\n".join(map(str.rstrip, lines)).strip("\n") + "\n"


def require_model(text: str) -> None:
    """TOML that is a whole model can be read; of a part, that it is TOML."""
    sections = tomllib.loads(text)
    if "coordinates" in sections and {"energy", "mass"} & set(sections):
        for file, time, value in TABLE.findall(text):
            if not Path(file).exists():
                Path(file).write_text(f"{time},{value}\n0,0\n1,1\n2,0\n3,0\n")
        read_model(text, "model.toml")


@each_page
def test_names_in_backticks_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [name for name in re.findall(r"`(zwang(?:\.\w+)+)", text) if not exists(name)]
    homes = {"zw": zw, "mb": mb, "Solution": Solution, "Equations": zw.Equations, "System": zw.System}
    for home, name in re.findall(r"`(zw|mb|Solution|Equations|System)\.(\w+)", text):
        has = hasattr(homes[home], name) or name in getattr(homes[home], "__dataclass_fields__", {})
        missing += [] if has else [f"{home}.{name}"]
    assert not missing


@each_page
def test_files_in_backticks_exist(page: Path) -> None:
    """A path of more than one part, from the top of the repository or of the package."""
    paths = re.findall(r"`((?:[\w.]+/)+(?:\w+\.(?:py|toml|md))?)(?::\d+)?`", page.read_text(encoding="utf-8"))
    homes = (ROOT, ROOT / "src" / "zwang", ROOT / "docs", page.parent)
    assert not [path for path in paths if not any((home / path).exists() for home in homes)]


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


def test_the_api_pages_describe_every_public_name() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    described = set(re.findall(r"^::: (\S+)$", pages, re.MULTILINE))
    homes = {f"zwang.{name}": f"{getattr(getattr(zw, name), '__module__', '')}.{name}" for name in zw.__all__}
    del homes["zwang.__version__"]
    assert not [name for name, home in homes.items() if not {name, home} & described]
    assert not {f"zwang.multibody.{name}" for name in mb.__all__} - described
    assert all(map(exists, described))


def test_the_site_has_every_page() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert not pages - set(re.findall(r"[\w/-]+\.md", navigation))


def test_every_entry_of_the_bibliography_is_cited_and_has_its_year() -> None:
    """By the surname of its first author and its year, or by its label S0 … S4, or by its title for a book."""
    theory, _, entries = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8").partition("## Bibliography")
    text = " ".join((theory + (ROOT / "docs" / "motion.md").read_text(encoding="utf-8")).split())
    for entry in re.findall(r"^- (.*?)(?=^- |\Z|^$)", entries, re.MULTILINE | re.DOTALL):
        entry = " ".join(entry.split())
        if re.match(r"\*\*S\d\*\*", entry):
            assert re.search(rf"\b{entry[2:4]}\b", text), entry
            continue
        first = re.match(r"(?:(?:[A-Z]\.[ -]?)+)(?:de )?([^\W\d_]+)", entry)
        years = re.findall(r"\b1[89]\d\d\b|\b20\d\d\b", entry)
        assert first, entry
        assert years, entry
        cited = re.search(rf"{first[1]}[^.;]{{0,60}}{years[0]}", text) or first[1] == "Gauss"
        assert cited, f"not cited: {entry}"


def test_tables_are_those_of_the_code() -> None:
    renewed = runpy.run_path(str(ROOT / "docs" / "_site" / "tables.py"))["renewed"]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert renewed(text) == text, f"{page.name}: run python docs/_site/tables.py"


def test_pages_that_list_forms_and_engines_list_all_of_them() -> None:
    listed = {"command.md": FORMS, "model-file.md": (*integrable(), *names()), "motion.md": integrable()}
    for page, wanted in listed.items():
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert [name for name in wanted if name not in text] == []
