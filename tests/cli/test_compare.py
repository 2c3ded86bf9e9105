"""`zwang compare`: agreement is a certificate, and disagreement an exit code."""

import json
import re

import pytest

from zwang.cli.exits import Exit

from .models import BLOWS_UP, OFF, STOPS


@pytest.fixture
def quick(monkeypatch):
    """Only the engines that are quick."""
    monkeypatch.setattr("zwang.motion.compare.LONG", 0.0)


def test_forms_and_engines_agree(zwang):
    result = zwang("compare", "pendulum.toml")
    assert result.exit_code == 0
    for words in ("generalized-inverse", "gibbs-appell", "native", "radau", "lsoda", "native, lagrange"):
        assert words in result.stdout
    assert "Forms: acceleration at 50 states of the motion" in result.stdout
    words = " ".join(result.stdout.split())
    assert re.search(r"5 of 5 forms and [56] of 6 engines could be compared, and they agree to 1e-06", words)


@pytest.mark.parametrize("bound", ["nan", "inf", "-1e-6"])
def test_a_bound_that_bounds_nothing(zwang, bound):
    result = zwang("compare", "pendulum.toml", "--bound", bound)
    assert result.exit_code == Exit.USAGE
    assert "finite number" in result.stderr


def test_what_could_not_be_compared_is_not_counted(zwang, quick):
    """M = diag(1, 0) is singular: the constraint determines y, but only the fundamental form does without M⁻¹."""
    text = """
[coordinates]
x = { start = 0.0, rate = 1.0 }
y = { start = 0.0, rate = 1.0 }
[energy]
kinetic = "x'^2/2"
[constraints]
tie = "x = y"
[run]
until = 1.0
"""
    found = json.loads(zwang("compare", "m.toml", "--json", m=text).stdout)
    assert [row["form"] for row in found["forms"] if row["error"] is not None] == ["fundamental"]
    words = " ".join(zwang("compare", "m.toml").stdout.split())
    assert re.search(r"0 of 5 forms and [1-6] of 6 engines could be compared", words)  # one alone is not compared


def test_one_row_alone_is_no_certificate():
    from zwang.cli.compare import agreement
    from zwang.motion.compare import EngineRow, FormRow

    nan = float("nan")
    forms = (FormRow("fundamental", 0.0, 5, 0.1), FormRow("gauss", nan, 0, 0.1, "refused"))
    engines = (EngineRow("native", "fundamental", 1e-12, nan, nan, nan, 0, nan, "refused"),)
    assert agreement(forms, engines, 1e-6) == (
        "0 of 2 forms and 0 of 1 engines could be compared: that says nothing about the motion.",
        "yellow",
    )


def test_json(zwang, quick):
    found = json.loads(zwang("compare", "pendulum.toml", "--json").stdout)
    assert found["agree"] is True
    assert found["forms"][0]["form"] == "fundamental"
    assert max(row["error"] for row in found["forms"]) < 1e-13
    assert [row["engine"] for row in found["engines"]] == ["native", "taylor", "radau", "lsoda", "native", "native"]
    assert found["engines"][2]["error"] is None
    assert found["engines"][2]["note"].startswith("left out")


def test_disagreement_is_found_and_has_its_code(zwang, quick, monkeypatch):
    from zwang.motion import compare

    true = compare.compare_forms

    def wrong(*args):
        first, *rest = true(*args)
        return (first, *(compare.replace(row, error=1e-3) for row in rest))

    monkeypatch.setattr(compare, "compare_forms", wrong)
    result = zwang("compare", "pendulum.toml")
    assert result.exit_code == Exit.DISAGREE
    assert "They disagree by more than 1e-06: the generalized-inverse form" in result.stdout
    assert zwang("compare", "pendulum.toml", "--bound", "0.01").exit_code == 0


def test_until_and_parameters(zwang, quick):
    found = json.loads(zwang("compare", "pendulum.toml", "--json", "--until", 0.5, "--set", "g=1").stdout)
    assert found["end"] == 0.5


def test_a_motion_that_an_event_stops_is_compared_up_to_there(zwang, quick):
    found = json.loads(zwang("compare", "m.toml", "--json", m=STOPS).stdout)
    assert 0.5 < found["end"] < 0.6


def test_a_motion_that_stops_early_is_compared_up_to_there(zwang, quick):
    found = json.loads(zwang("compare", "m.toml", "--json", m=BLOWS_UP).stdout)
    assert 0.9 <= found["end"] < 1


def test_a_start_off_its_constraints(zwang):
    assert zwang("compare", "m.toml", m=OFF).exit_code == Exit.START
