"""Models as a teacher spoils them: a page of the documentation shows what the command says, and of the right lines."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from zwang.cli.app import app
from zwang.cli.exits import Exit
from zwang.errors import ModelFileError
from zwang.files.read import read_model

HERE = Path(__file__).parent / "spoilt"
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "mistakes.md").read_text(encoding="utf-8")
SPOILT = sorted(HERE.glob("*.toml"))


def good(path):
    return HERE / "good" / f"{path.stem.split('-')[1]}.toml"


def test_there_are_twenty_and_they_were_good():
    assert len(SPOILT) >= 20
    for path in (HERE / "good").glob("*.toml"):
        assert read_model(path.read_text(encoding="utf-8")).simulate(until=0.1).attrs["status"] == "finished"


@pytest.mark.parametrize("path", SPOILT, ids=lambda path: path.stem)
def test_messages_are_about_the_lines_that_were_spoilt_and_say_what_to_do(path):
    before, after = (p.read_text(encoding="utf-8").split("\n") for p in (good(path), path))
    changed = {i for i, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b}
    with pytest.raises(ModelFileError) as caught:
        read_model("\n".join(after))
    found = {problem.line for problem in caught.value.problems}
    assert found <= changed
    assert found == changed or path.stem.endswith("greek")  # what refers to a spoilt name is right itself
    assert all(problem.hint or "did you mean" in problem.message for problem in caught.value.problems)


@pytest.mark.parametrize("path", SPOILT, ids=lambda path: path.stem)
def test_the_page_shows_what_the_command_prints(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    file = good(path).name
    Path(file).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    result = CliRunner().invoke(app, ["check", file])
    assert result.exit_code == Exit.MODEL
    assert f"```text\n{result.stderr}```\n" in PAGE
