"""`zwang kinematics`."""

import json

import numpy as np
import pytest

import zwang as zw
from tests.files.analyses.models import CRANK
from zwang.cli.exits import Exit


def test_positions_of_a_driven_mechanism(zwang, here):
    integrated = zw.load_model("slider_crank").simulate()
    times = f"0:{integrated.time.values[-1]!s}:{len(integrated.time)}"
    result = zwang("kinematics", "slider_crank", "--times", times, "--out", "m.nc", "--csv", "m.csv")
    assert result.exit_code == 0
    words = " ".join(result.stdout.split())
    assert "times 401, from 0 to 1.25664" in words
    assert "motor -7.259 7.259" in words
    motion = zw.load_motion(here / "m.nc")
    assert np.abs(motion.q.values - integrated.q.values).max() < 1e-9
    assert (here / "m.csv").read_text(encoding="utf-8").startswith("t,theta")


def test_times_are_those_of_the_section_or_typed(zwang):
    told = json.loads(zwang("kinematics", "m.toml", "--json", m=CRANK).stdout)
    assert told["coordinates"]["time"] == [0.0, 1.0, 1.5]
    told = json.loads(zwang("kinematics", "m.toml", "--times", "0:1:11", "--json").stdout)
    assert len(told["coordinates"]["time"]) == 11


def test_at_a_dead_point_it_ends_and_says_so(zwang):
    result = zwang("kinematics", "m.toml", "--times", "0:3:31", m=CRANK)
    assert result.exit_code == Exit.STOPPED
    assert "dead point" in result.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--times", "0:1"], "is not a range"),
        (["--times", "x"], "not a number"),
        (["--times", "1:0:5"], "does not ascend"),
    ],
)
def test_wrong_times_are_explained(zwang, words, said):
    result = zwang("kinematics", "slider_crank", *words)
    assert result.exit_code == Exit.USAGE
    assert said in " ".join(result.output.split())


def test_what_is_free_is_named(zwang):
    result = zwang("kinematics", "pendulum.toml")
    assert result.exit_code == Exit.REFUSED
    assert "1 degree of freedom is left" in " ".join(result.stderr.split())


def test_without_times_and_without_an_end_it_asks(zwang):
    result = zwang("kinematics", "m.toml", m=CRANK.split("[kinematics]")[0])
    assert result.exit_code == Exit.USAGE
    assert "at which times? give --times FROM:TO:COUNT" in " ".join(result.stderr.split())
