"""The house keeps its own rules: what every test, command and page of the repository must obey."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import house

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
PARSERS = ("sympify", "parse_expr", "S", "eval", "exec")
ROOMS = sorted(path.name for path in (ROOT / "src" / "zwang").iterdir() if (path / "__init__.py").exists())


def recipe(target: str) -> str:
    """The commands of a target of the Makefile."""
    return re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1].replace("$(BIN)", ".venv/bin")


def files(variable: str) -> list[str]:
    """The test files and folders that a variable of the Makefile lists."""
    return re.search(rf"^{variable} := (.*)", MAKEFILE, re.MULTILINE)[1].split()


def test_what_is_checked_before_a_commit_is_what_make_test_checks():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]
    commands = [line.strip() for line in recipe("test").splitlines()]
    assert [hook["entry"] for hook in hooks] == commands[:5]


@pytest.mark.parametrize("variable", ["QUICK", "LOWEST"])
def test_subsets_name_files_that_exist(variable):
    assert not [name for name in files(variable) if not (ROOT / "tests" / name).exists()]


@pytest.mark.parametrize("room", ROOMS)
def test_the_quick_tests_touch_every_room(room):
    assert [name for name in files("QUICK") if name.split("/")[0] == room]


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: path.stem)
def test_no_test_measures_by_the_clock_on_the_wall(path):
    """A busy machine must not make a test fail: processor time or operations are counted instead."""
    clocks = re.findall(r"\bperf_counter\(|\btime\.time\(", path.read_text(encoding="utf-8"))
    assert not clocks


# Where tests are


def test_sympy_is_never_left_to_parse_text():
    """`sympify` executes text, also text within what it is given, unless it is strict.

    SymEngine's has no such word: there `compile/program.py` refuses text before.
    """
    calls = [
        f"{path.relative_to(ROOT)}: {ast.unparse(node)}"
        for path in sorted((ROOT / "src" / "zwang").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in PARSERS
    ]
    loose = [call for call in calls if not call.endswith(("strict=True)", "strict=True, evaluate=False)"))]
    assert loose == ["src/zwang/compile/program.py: sympify(value)"]


def test_every_module_has_its_tests_by_its_name_or_a_place_that_is_listed():
    places = {module: house.places_of(module) for module in house.modules()}
    assert not [module for module, found in places.items() if not found]
    assert not [str(path) for found in places.values() for path in found if not path.exists()]


def test_no_place_in_its_own_room_is_listed_for_a_module_that_has_tests_of_its_name():
    for module, places in house.TESTED_IN.items():
        assert module in house.modules()
        rooms = {place.split("/")[0] for place in places}
        assert not house.of_its_name(module) or module.split("/")[0] not in rooms, module


def test_folders_of_tests_are_those_of_the_package():
    folders = {path.parent.relative_to(ROOT / "tests").as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert {folder for folder in folders if not (ROOT / "src" / "zwang" / folder).is_dir()} == set()


# The pages for those who carry on


PAGES = ROOT / "docs" / "maintain"


def said(code: str) -> str:
    """What Python prints with the tools at hand, in a process that has not run anything yet."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT / "tools", capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_tuned_number_is_on_the_page_of_tolerances_with_its_value():
    assert said("import sys, tolerances; sys.exit(tolerances.main())") == ""


NAMES_OF_NUMBERS = """
import ast, importlib, numbers, tolerances
import numpy as np
values = {}
for path in sorted(tolerances.PACKAGE.rglob("*.py")):
    inside = path.relative_to(tolerances.PACKAGE).with_suffix("")
    if inside.parts[0] not in (*tolerances.ROOMS, "arrays", "time_limit"):
        continue
    module = importlib.import_module(".".join(["zwang", *inside.parts]).removesuffix(".__init__"))
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for name in (n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)):
            value = getattr(module, name, None)
            if name.isupper() and not name.startswith("_") and isinstance(value, numbers.Real | np.ndarray):
                values.setdefault(name, {}).setdefault(repr(np.asarray(value, float).tolist()), []).append(str(inside))
print(*(f"{name}: {found}" for name, found in values.items() if len(found) > 1), sep="\\n", end="")
"""


def test_a_number_that_has_a_name_in_the_core_is_the_same_wherever_it_is_called_so():
    assert said(NAMES_OF_NUMBERS) == ""


def test_the_drawing_shows_every_room():
    drawing = (PAGES / "architecture.md").read_text(encoding="utf-8").split("```")[1]
    package = ROOT / "src" / "zwang"
    single = {path.stem for path in package.glob("*.py") if not path.stem.startswith("_")}
    assert {*ROOMS, *single} <= set(re.findall(r"\w+", drawing))


def test_the_verbs_of_a_run_are_those_of_a_run():
    """In the order of the page, and as often as it says."""
    page = (PAGES / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \d+ \| .*? \| `([\w/.]+)` `([\w.]+)` \| (\d+|…) \|$", page, re.MULTILINE)
    calls = json.loads(said("import json, walk; print(json.dumps(walk.traced(['run', 'pendulum']).calls()))"))
    called = {(file, name): count for file, name, count in calls}
    order = list(called)
    assert len(rows) > 15
    assert not [row for row in rows if row[:2] not in called]
    assert [row[:2] for row in rows] == sorted((row[:2] for row in rows), key=order.index)
    assert not [(file, name, called[file, name]) for file, name, n in rows if n != "…" and int(n) != called[file, name]]


def test_the_vocabulary_is_that_of_the_source():
    page = (PAGES / "vocabulary.md").read_text(encoding="utf-8")
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "zwang").rglob("*.py"))
    defined = set(re.findall(r"^\s*(?:class|def) (\w+)|^(\w+)(?:: Final)?(?:, \w+)* =", source, re.MULTILINE))
    names = {name for pair in defined for name in pair}
    assert not [name for name in re.findall(r"\| `(\w+)` \|$", page, re.MULTILINE) if name not in names]
