"""`zwang check`: each verdict has its words and its exit code."""

import json

import pytest

from tests.cli.models import AT_REST, CONTRADICTION, OFF, PENDULUM, TWICE
from zwang.cli.exits import Exit

FREE = '[coordinates]\nx = 0.0\n[energy]\nkinetic = "x\'^2/2"\n'
FLOOR = FREE + '[constraints]\nfloor = "x >= 0"\n'


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (PENDULUM, Exit.DONE, "Nothing to object to"),
        (FREE, Exit.DONE, "There are no constraints."),
        (TWICE, Exit.DONE, "redundant: follows from rod"),
        (FLOOR, Exit.DONE, "floor holonomic"),
        (CONTRADICTION, Exit.INCONSISTENT, "inconsistent: contradicts one"),
        (AT_REST, Exit.SINGULAR, "Singular: the rank is 0 here but 1 at nearby states."),
        (OFF, Exit.START, "The state does not satisfy its constraints: rod reads -0.19 in position"),
    ],
)
def test_verdicts(zwang, text, code, words):
    result = zwang("check", "m.toml", m=text)
    assert result.exit_code == code
    assert words in " ".join(result.stdout.split())


def test_strict_makes_redundancy_a_failure_and_nothing_else(zwang):
    assert zwang("check", "m.toml", "--strict", m=TWICE).exit_code == Exit.REDUNDANT
    assert zwang("check", "pendulum.toml", "--strict").exit_code == Exit.DONE
    assert zwang("check", "m.toml", "--strict", m=OFF).exit_code == Exit.START


def test_json_says_the_same(zwang):
    result = zwang("check", "m.toml", "--json", m=TWICE)
    found = json.loads(result.stdout)
    assert found["ok"] is True
    assert found["exit_code"] == result.exit_code == 0
    assert found["redundant"] == {"again": ["rod"]}
    assert found["degrees_of_freedom"] == 1
    assert found["constraints"]["rod"]["unique_multiplier"] is False
    off = json.loads(zwang("check", "m.toml", "--json", m=OFF).stdout)
    assert (off["ok"], off["violated"], off["exit_code"]) == (False, ["rod"], Exit.START)


def test_a_level_that_a_constraint_does_not_have_is_null(zwang):
    found = json.loads(zwang("check", "m.toml", "--json", m=AT_REST).stdout)
    assert found["constraints"]["cone"]["position"] is None


def test_an_assembled_start_satisfies_its_constraints(zwang):
    assert zwang("check", "m.toml", "--assemble", m=OFF).exit_code == Exit.DONE


def test_at_a_time_of_the_motion(zwang):
    """Thrown up at ẋ = ż = 1, Appell's particle is at rest when ż = 1 − gt/2 is zero."""
    text = AT_REST.replace("x = 0.0", "x = { rate = 1.0 }").replace("z = 0.0", "z = { rate = 1.0 }")
    assert zwang("check", "m.toml", m=text).exit_code == Exit.DONE
    assert zwang("check", "m.toml", "--at", "start").exit_code == Exit.DONE
    assert zwang("check", "m.toml", "--at", 0.1).exit_code == Exit.DONE
    assert json.loads(zwang("check", "m.toml", "--at", 0.1, "--json").stdout)["time"] == 0.1


@pytest.mark.parametrize(("at", "words"), [("soon", "'soon' is not a number: give start"), ("-1", "begins at t = 0")])
def test_times_that_are_none(zwang, at, words):
    result = zwang("check", "pendulum.toml", "--at", at)
    assert result.exit_code == Exit.USAGE
    assert words in result.stderr


def test_parameters_count(zwang):
    assert zwang("check", "m.toml", "--set", "L=0.9", m=OFF).exit_code == Exit.DONE


BOUNCING = """
[coordinates]
y = 1.0
[energy]
kinetic = "y'^2/2"
potential = "9.81*y"
[constraints]
floor = "y >= 0"
[run]
until = 1.0
"""


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ('contacts = "steps"\nstep = 2.0', "step = 2.0: a positive number is needed, not longer than the motion's 1"),
        ('contacts = "steps"\nstep = 0.01\ndrift = "projection"', "drift='projection' does not go with"),
    ],
)
def test_what_run_would_refuse_of_its_options_check_refuses(zwang, asked, words):
    results = [zwang(command, "m.toml", m=f"{BOUNCING}{asked}\n") for command in ("check", "run")]
    assert results[0].exit_code == results[1].exit_code != 0
    for result in results:
        assert words in " ".join(result.stderr.split())
