"""`zwang fit`."""

import json

import numpy as np
import pytest

import zwang as zw
from tests.files.analyses.models import SPRING
from zwang.cli.exits import Exit


@pytest.fixture
def measured(here):
    """What was measured of a spring with k/m = 4 that starts at 0.3, with an offset of 0.1."""
    rows = [f"{t},{0.3 * np.cos(2 * t) + 0.1}" for t in np.linspace(0, 3, 20)]
    (here / "spring.csv").write_text("\n".join(["t,seen", *rows]), encoding="utf-8")
    return here


def test_values_errors_and_what_cannot_be_told(zwang, measured):
    result = zwang("fit", "m.toml", m=SPRING)
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert "20 numbers for 4 unknowns" in words
    assert "Of k and m only k/m can be told from these data." in words
    assert "open" in words


def test_options_take_the_place_of_the_section_and_the_model_is_written_with_what_was_found(zwang, measured):
    words = ["--unknown", "k=2", "--unknown", "a", "--unknown", "offset", "--write", "new.toml", "--json"]
    result = zwang("fit", "m.toml", *words, m=SPRING.replace("bounds = { m", "bounds = { k"))
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["values"] == pytest.approx({"k": 4.0, "a": 0.3, "offset": 0.1}, abs=1e-9)
    new = zw.load_model(measured / "new.toml")
    assert {str(s): x for s, x in new.system.parameters.items()}["k"] == pytest.approx(4, abs=1e-9)


def test_data_can_be_typed(zwang, measured):
    (measured / "other.csv").write_text("time,x\n0,0.3\n1,-0.1248\n2,-0.196\n", encoding="utf-8")
    plain = SPRING.split("[fit]")[0]
    words = ["--data", "other.csv", "--unknown", "k", "--unknown", "a"]
    told = json.loads(zwang("fit", "m.toml", *words, "--json", m=plain).stdout)
    assert told["values"]["k"] == pytest.approx(4, abs=1e-2)
    assert zwang("fit", "m.toml", *words, "--data", "other.csv").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "what is unknown? give --unknown NAME"),
        (["--unknown", "k"], "there are no data: give --data FILE.csv"),
        (["--unknown", "q", "--data", "spring.csv"], "q is not a parameter of this model"),
        (["--unknown", "k=x", "--data", "spring.csv"], "'x' is not a number"),
        (["--unknown", "k", "--data", "no.csv"], "there is no file 'no.csv'"),
        (["--unknown", "k", "--data", "spring.csv"], "the column 'seen' is not a coordinate or rate"),
        (["--unknown", "k", "--data", "bad.csv"], "bad.csv:2:3: error: 'one' is not a finite number"),
        (["--unknown", "k", "--unknown", "a", "--data", "few.csv"], "1 number cannot tell 2 unknowns"),
        (["--unknown", "offset", "--data", "few.csv"], "offset occurs neither"),
    ],
)
def test_what_is_missing_or_wrong_is_said(zwang, measured, words, said):
    (measured / "bad.csv").write_text("t,x\n0,one\n", encoding="utf-8")
    (measured / "few.csv").write_text("t,x\n0,1\n", encoding="utf-8")
    result = zwang("fit", "m.toml", *words, m=SPRING.split("[fit]")[0])
    assert result.exit_code == Exit.USAGE
    assert said in " ".join(result.output.split())


def test_what_is_open_in_the_model_may_be_sought(zwang, measured):
    text = SPRING.replace("k = 3.0\nm", 'k = "?"\nm').replace(", m = 1", "").replace("bounds = { m", "bounds = { k")
    assert zwang("fit", "m.toml", m=text).exit_code == 0
    other = zwang("fit", "m.toml", m=text.replace("m = 1.0", 'm = "?"'))
    assert other.exit_code == Exit.USAGE
    assert "add --set m=NUMBER" in other.stderr
