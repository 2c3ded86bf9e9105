"""`zwang examples`: listed, shown and copied."""

import json

import pytest

from zwang.cli import library
from zwang.cli.exits import Exit
from zwang.files.read import load_model


def test_the_examples_are_listed(zwang):
    for words in (["examples"], ["examples", "list"]):
        result = zwang(*words)
        assert result.exit_code == 0
        assert "appell" in result.stdout
        assert "Appell's particle" in result.stdout


def test_the_examples_as_json(zwang):
    found = json.loads(zwang("examples", "list", "--json").stdout)["examples"]
    assert [e["name"] for e in found] == library.names()
    assert len(found) >= 15
    assert all(e["title"] and e["teaches"] for e in found)


def test_an_example_is_shown_as_it_is(zwang):
    shown = zwang("examples", "show", "appell").stdout
    assert shown == (library.folder() / "appell.toml").read_text(encoding="utf-8")


def test_an_example_that_is_none(zwang):
    result = zwang("examples", "show", "apell")
    assert result.exit_code == Exit.USAGE
    assert "there is no example 'apell', did you mean appell?" in result.stderr


@pytest.mark.parametrize("name", ["../pendulum", "appell.toml", ""])
def test_examples_are_names_and_not_paths(zwang, name):
    assert zwang("examples", "show", name).exit_code == Exit.USAGE


def test_copies_run_and_bring_their_tables(zwang, here):
    with_tables = [n for n in library.names() if library.tables_of(library.example(n).read_text(encoding="utf-8"))]
    for name in ("appell", *with_tables):
        (here / name).mkdir()
        assert zwang("examples", "copy", name, name).exit_code == 0
        assert zwang("run", f"{name}/{name}.toml", "-q").exit_code == 0
        assert load_model(here / name / f"{name}.toml") is not None


def test_a_copy_to_a_folder_that_is_not_there(zwang, here):
    result = zwang("examples", "copy", "tall_building", "models/")
    assert result.exit_code == Exit.USAGE
    assert "the folder models does not exist; make it first" in " ".join(result.stderr.split())
    assert sorted(path.name for path in here.iterdir()) == ["pendulum.toml"]
    (here / "models").mkdir()
    assert zwang("examples", "copy", "tall_building", "models/").exit_code == 0
    assert sorted(path.name for path in (here / "models").iterdir()) == ["tall_building.csv", "tall_building.toml"]


def test_copies_go_where_they_are_told_and_overwrite_nothing(zwang, here):
    assert zwang("examples", "copy", "appell").exit_code == 0
    assert (here / "appell.toml").exists()
    assert zwang("examples", "copy", "appell", "mine.toml").exit_code == 0
    assert (here / "mine.toml").exists()
    assert zwang("examples", "copy", "appell").exit_code == Exit.USAGE
    assert zwang("examples", "copy", "appell", "--force").exit_code == 0
