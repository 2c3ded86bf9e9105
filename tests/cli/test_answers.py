"""What the commands that ask something share: files, JSON, what is held, and refusals before any work."""

import json

import pytest

from zwang.cli.exits import Exit

ASKING = ("equilibrium", "steady", "linearize", "modes", "kinematics", "periodic", "lyapunov", "fit")


@pytest.mark.parametrize("command", ASKING)
def test_every_one_helps_and_refuses_a_model_that_is_not_there(zwang, command):
    assert zwang(command, "--help").exit_code == 0
    result = zwang(command, "nowhere.toml")
    assert result.exit_code == Exit.MODEL
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["equilibrium", "modes", "linearize", "lyapunov"])
def test_json_is_one_object_and_the_same_goes_into_a_file(zwang, here, command):
    result = zwang(command, "pendulum.toml", "--json", "--out", "a.json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["files"] == {"out": "a.json"}
    written = json.loads((here / "a.json").read_text(encoding="utf-8"))
    assert written == {key: told[key] for key in written}
    assert told["model"] == "pendulum.toml"


def test_a_name_that_says_another_kind_of_file_is_refused_before_any_work(zwang):
    result = zwang("modes", "pendulum.toml", "--out", "a.csv")
    assert result.exit_code == Exit.USAGE
    assert "must end in .nc or .json" in result.stderr
    assert zwang("equilibrium", "pendulum.toml", "--out", "pendulum.toml").exit_code == Exit.USAGE


def test_what_is_held_is_known_and_has_numbers(zwang):
    result = zwang("equilibrium", "pendulum.toml", "--hold", "z")
    assert result.exit_code == Exit.USAGE
    assert "z is not a coordinate or rate" in result.output
    assert zwang("equilibrium", "pendulum.toml", "--hold", "x=one").exit_code == Exit.USAGE
    both = zwang("equilibrium", "pendulum.toml", "--hold", "x=1", "--hold", "y")
    assert "give every one a value, or none" in both.output


def test_a_start_that_is_far_off_is_no_warning_of_pythons(zwang):
    result = zwang("equilibrium", "pendulum.toml", "--start", "x=3")
    assert result.exit_code == 0
    assert "Warning" not in result.output
