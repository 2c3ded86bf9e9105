"""The house keeps its own rules: what every test, command and page of the repository must obey."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
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
    assert [hook["entry"] for hook in hooks] == commands[:4]


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
