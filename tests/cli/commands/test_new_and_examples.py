"""`zwang new`, `zwang examples` and `zwang schema`: something to start from."""

import json

import pytest

from zwang.cli import library
from zwang.cli.exits import Exit
from zwang.files.read import load_model


def test_a_new_model_runs_as_it_is(zwang, here):
    result = zwang("new", "double-clock")
    assert result.exit_code == 0
    assert "Next: zwang run double-clock.toml" in result.stderr
    assert load_model(here / "double-clock.toml").system.name == "Double clock"
    assert zwang("run", "double-clock.toml").exit_code == 0


def test_its_commented_lines_work_too(zwang, here):
    zwang("new", "m")
    text = (here / "m.toml").read_text(encoding="utf-8")
    text = (
        text.replace("# [forces] ", "[forces] ")
        .replace('# x = "-c*x\'"', 'x = "-c*x\'"')
        .replace('# y = "-c*y\'"', 'y = "-c*y\'"')
    )
    text = text.replace("L = 1.0 ", "c = 0.1\nL = 1.0 ")
    assert zwang("run", "n.toml", n=text).exit_code == 0


def test_a_new_model_overwrites_nothing(zwang, here):
    result = zwang("new", "pendulum.toml")
    assert result.exit_code == Exit.USAGE
    assert "this file is there already; --force overwrites it" in result.stderr
    assert zwang("new", "pendulum.toml", "--force").exit_code == 0
    assert "commented" not in (here / "pendulum.toml").read_text()
    assert "[draw]" in (here / "pendulum.toml").read_text()


@pytest.mark.parametrize("name", ['quo"te', "back\\slash", "line\nbreak", "[red]", "über"])
def test_any_name_makes_a_model_that_can_be_read(zwang, here, name):
    assert zwang("new", name).exit_code == 0
    assert zwang("check", f"{name}.toml").exit_code == 0


@pytest.mark.parametrize("name", ["", ".toml", "./"])
def test_a_new_model_has_a_name(zwang, here, name):
    result = zwang("new", name)
    assert result.exit_code == Exit.USAGE
    assert "this is not a name for a model" in result.stderr
    assert not (here / ".toml").exists()


def test_the_next_command_can_be_pasted(zwang, here):
    assert "Next: zwang run 'my clock.toml'" in zwang("new", "my clock").stderr
    result = zwang("examples", "copy", "appell", "a copy.toml")
    assert "Next: zwang run 'a copy.toml'" in result.stderr


def test_a_new_model_in_a_folder_that_is_not_there(zwang):
    assert zwang("new", "no/model").exit_code == Exit.USAGE


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


def test_the_schema_is_a_schema_and_the_starter_obeys_it(zwang, here):
    import tomllib

    import jsonschema

    schema = json.loads(zwang("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    zwang("new", "m")
    jsonschema.validate(tomllib.loads((here / "m.toml").read_text(encoding="utf-8")), schema)
