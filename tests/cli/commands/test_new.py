"""`zwang new`: a model to start from."""

import pytest

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
