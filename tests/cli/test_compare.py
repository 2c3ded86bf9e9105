"""`zwang compare`: agreement is a certificate, and disagreement an exit code."""

import json

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
    assert "Forms: acceleration at 41 states of the motion" in result.stdout
    assert "All that could be compared agree to 1e-06" in result.stdout


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
