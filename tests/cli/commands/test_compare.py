"""`zwang compare`: agreement is a certificate, and disagreement an exit code."""

import json
import re
from dataclasses import replace

import pytest

from tests.cli.models import BLOWS_UP, OFF, STOPS
from zwang.cli.commands.compare import conclusion, figures_of
from zwang.cli.exits import Exit
from zwang.motion.compare import EngineRow, FormRow
from zwang.motion.independent import DerivationRow

SWING = """
[coordinates]
x = { start = 1.37, rate = 0.0 }
y = { start = 0.0, rate = -0.5 }
[energy]
kinetic = "(x'^2 + y'^2)*(2 + x^2)/2"
potential = "9.81*y"
[constraints]
rod = "x^2 + y^2 = 1.37^2"
[run]
until = 1.0
"""


@pytest.fixture
def quick(monkeypatch):
    """Only the engines that are quick."""
    monkeypatch.setattr("zwang.motion.compare.LONG", 0.0)


def test_forms_and_engines_agree(zwang):
    result = zwang("compare", "pendulum.toml")
    assert result.exit_code == 0
    for words in ("generalized-inverse", "gibbs-appell", "native", "radau", "lsoda", "literal"):
        assert words in result.stdout
    assert "Forms: acceleration at 50 states of the motion" in result.stdout
    words = " ".join(result.stdout.split())
    assert re.search(r"The derivation, 6 of 6 forms and [45] of 5 engines could be compared, and they agree\.", words)


def test_the_largest_disagreement_is_set_against_what_is_allowed(zwang, quick):
    words = zwang("compare", "pendulum.toml").stdout.splitlines()
    at = words.index("The largest of each kind, and what is allowed")
    rows = [line.split() for line in words[at + 3 : at + 8]]
    assert [row[0] for row in rows] == ["derivation", "forms", "engines", "drift", "energy"]
    for row in rows:
        assert float(row[1]) < float(row[2])


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
    assert re.search(r"0 of 6 forms and [02] of 5 engines could be compared", words)  # one alone is not compared


NAN = float("nan")
ALONE = (FormRow("fundamental", 0.0, 5, 0.1), FormRow("gauss", NAN, 0, 0.1, "refused"))
NONE = (EngineRow("native", "fundamental", 1e-12, NAN, NAN, NAN, 0, NAN, "refused"),)
BOTH = tuple(EngineRow(name, "fundamental", 1e-12, 0.0, 0.0, 0.0, 10, 0.1, "", 0.0) for name in ("native", "taylor"))


@pytest.mark.parametrize(
    ("derivation", "engines", "words", "colour"),
    [
        (NAN, NONE, "0 of 2 forms and 0 of 1 engines could be compared: that says nothing", "yellow"),
        (NAN, BOTH, "and they agree; that does not show whether the equations are the right ones.", "yellow"),
        (1e-15, NONE, "The derivation, 0 of 2 forms and 0 of 1 engines could be compared, and they agree.", "yellow"),
        (1e-15, BOTH, "The derivation, 0 of 2 forms and 2 of 2 engines could be compared, and they agree.", "green"),
    ],
)  # fmt: skip
def test_nothing_that_compared_nothing_is_green(derivation, engines, words, colour):
    """One row alone is compared with nothing but itself."""
    figures = figures_of(DerivationRow(derivation, 9, 0.1), ALONE, engines, 1e-6)
    said, found = conclusion(ALONE, engines, figures)
    assert words in said
    assert found == colour


def test_where_nothing_could_be_compared_the_code_says_so(zwang, monkeypatch):
    from zwang.motion import compare, independent

    monkeypatch.setattr(independent, "OPERATION", 1e9)
    monkeypatch.setattr(compare, "DENSE_SIZE", 0)
    monkeypatch.setattr(compare, "left_out", lambda *_: "left out")
    result = zwang("compare", "pendulum.toml")
    assert result.exit_code == Exit.DISAGREE
    assert "that says nothing about the motion" in " ".join(result.stdout.split())


@pytest.mark.parametrize("part", ["b", "A", "Q", "M"])
def test_a_wrong_derivation_is_found(zwang, quick, monkeypatch, part):
    """All forms and engines share it and agree; the description itself does not."""
    from zwang.lowering import lowered, matrices

    true = lowered.derive_plain

    def wrong(description):
        found = true(description)
        half = [
            {j: e / 2 for j, e in row.items()} if isinstance(row, dict) else row / 2 for row in getattr(found, part)
        ]
        return replace(found, **{part: half})

    monkeypatch.setattr(lowered, "derive_plain", wrong)
    monkeypatch.setattr(lowered, "_MODELS", lowered.Kept())
    monkeypatch.setattr(matrices, "_KERNELS", lowered.Kept())
    result = zwang("compare", "m.toml", m=SWING.replace("1.37", f"1.37{'bAQM'.index(part)}"))
    assert result.exit_code == Exit.DISAGREE
    words = " ".join(result.stdout.split())
    assert "They disagree by more than is allowed: the derivation" in words
    found = json.loads(zwang("compare", "m.toml", "--json").stdout)
    assert found["agree"] is False
    assert found["derivation"]["error"] > 1e-3
    assert max(row["error"] for row in found["forms"]) < 1e-12


@pytest.mark.parametrize(
    ("figure", "words"), [("drift_error", "its constraints drift"), ("energy_error", "its energy is not balanced")]
)
def test_drift_and_energy_beyond_their_bounds_fail(zwang, quick, monkeypatch, figure, words):
    from zwang.motion import compare

    true = compare.engines_from
    monkeypatch.setattr(
        compare, "engines_from", lambda *a, **k: tuple(replace(row, **{figure: 1e-3}) for row in true(*a, **k))
    )
    result = zwang("compare", "pendulum.toml")
    assert result.exit_code == Exit.DISAGREE
    assert f"native ({words})" in " ".join(result.stdout.split())
    assert zwang("compare", "pendulum.toml", "--bound", "0.01").exit_code == 0


def test_json(zwang, quick):
    found = json.loads(zwang("compare", "pendulum.toml", "--json").stdout)
    assert found["agree"] is True
    assert found["forms"][0]["form"] == "fundamental"
    assert max(row["error"] for row in found["forms"]) < 1e-13
    assert [row["engine"] for row in found["engines"]] == ["native", "taylor", "radau", "lsoda", "native"]
    assert found["derivation"]["error"] < 1e-13
    assert found["derivation"]["states"] == 9
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
    assert "They disagree by more than is allowed: the generalized-inverse form" in result.stdout
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
