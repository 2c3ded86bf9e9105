"""`zwang linearize` and `zwang modes`."""

import json

import numpy as np
import pytest
import xarray as xr

from tests.files.analyses.models import ASKS, CONICAL, PENDULUM
from zwang.cli.exits import Exit


def test_the_state_space_of_a_file_is_shown_by_names(zwang):
    result = zwang("linearize", "m.toml", m=PENDULUM + ASKS)
    assert result.exit_code == 0
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "Pendulum, state space at rest"
    assert "state 2: angle, angle'" in lines
    assert "angle' -9.81 -0.05" in lines
    assert "A angle angle'" in lines


def test_states_inputs_and_outputs_can_be_typed(zwang, here):
    words = ["--state", "x", "--state", "x'", "--input", "F", "--output", "x", "--out", "lin.nc", "--json"]
    told = json.loads(zwang("linearize", "m.toml", *words, m=PENDULUM).stdout)
    assert told["coordinates"]["state"] == ["x", "x'"]
    assert np.array(told["variables"]["B"]["values"]) == pytest.approx(np.array([[0], [0.5]]), abs=1e-13)
    with xr.open_dataset(here / "lin.nc", engine="h5netcdf") as lin:
        assert lin.A.values == pytest.approx(np.array(told["variables"]["A"]["values"]))


def test_modes_are_shown_a_row_each(zwang):
    result = zwang("modes", "pendulum.toml")
    assert result.exit_code == 0
    assert "0 ± 3.13209 i" in result.stdout
    assert "3.13209" in result.stdout.split("i", 5)[-1]


def test_modes_along_a_parameter(zwang, here):
    result = zwang("modes", "pendulum.toml", "--against", "L=1:4:31", "--out", "m.nc")
    assert result.exit_code == 0
    with xr.open_dataset(here / "m.nc", engine="h5netcdf") as found:
        assert found.frequency.values[:, 0] == pytest.approx(np.sqrt(9.81 / found.L.values), rel=1e-10)
    assert "written  m.nc" in result.stdout


def test_where_a_steady_motion_becomes_unstable_is_said(zwang):
    # a bead on a hoop that turns about the vertical: at its lowest point stable up to w² = g/r
    bead = """
[parameters]
g = 9.0
w = 2.0
[coordinates]
a = 0.0
[energy]
kinetic = "(a'^2 + (w*sin(a))^2)/2"
potential = "-g*cos(a)"
"""
    words = " ".join(zwang("modes", "m.toml", "--at", "start", "--against", "w=2:4:21", m=bead).stdout.split())
    assert "Between w = 3 and 3.1 disturbances begin to grow" in words
    assert zwang("modes", "m.toml", "--at", "middle").exit_code == Exit.USAGE


def test_the_section_follows_the_steady_motion(zwang):
    told = json.loads(zwang("modes", "m.toml", "--json", m=CONICAL).stdout)
    assert told["coordinates"]["turns"] == [4.0, 4.5, 5.0, 5.5, 6.0]
    result = zwang("linearize", "m.toml")
    assert "turns from 4 to 6, 5 values" in result.stdout


def test_pictures_of_a_root_locus_a_response_and_a_mode(zwang, here):
    words = ["--against", "L=1:2:5", "--plot", "locus.svg", "--animate", "mode.html", "--mode", "1"]
    result = zwang("modes", "pendulum.toml", *words)
    assert result.exit_code == 0, result.output
    assert "<svg" in (here / "locus.svg").read_text(encoding="utf-8")
    assert 'data-role="play"' in (here / "mode.html").read_text(encoding="utf-8")
    assert zwang("linearize", "m.toml", "--plot", "bode.png", m=PENDULUM + ASKS).exit_code == 0
    assert (here / "bode.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_that_cannot_be_drawn_are_refused(zwang):
    none = zwang("linearize", "pendulum.toml", "--plot", "bode.png")
    assert none.exit_code == Exit.USAGE
    assert "name one with --input" in none.stderr
    assert zwang("modes", "pendulum.toml", "--plot", "locus.txt").exit_code == Exit.USAGE
    many = zwang("modes", "pendulum.toml", "--animate", "mode.html", "--mode", "7")
    assert many.exit_code == Exit.USAGE
    assert "a whole number from 0 to 1" in many.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--against", "L"], "write a name, = and a range"),
        (["--against", "l=1:2:3"], "l is not a parameter of this model"),
        (["--against", "L=1:2"], "is not a range"),
        (["--against", "L=1:2:3", "--set", "L=1"], "varied, too"),
        (["--state", "z"], "z is not a coordinate or rate"),
    ],
)
def test_wrong_use_is_explained(zwang, words, said):
    result = zwang("modes", "pendulum.toml", *words)
    assert result.exit_code == Exit.USAGE
    assert said in " ".join(result.output.split())


def test_inputs_that_are_not_there_are_wrong_use(zwang):
    result = zwang("linearize", "pendulum.toml", "--input", "l")
    assert result.exit_code == Exit.USAGE
    assert "--input: l is not a parameter" in " ".join(result.output.split())


def test_states_that_do_not_close_and_states_that_do_not_stay_are_refused(zwang):
    result = zwang("linearize", "pendulum.toml", "--state", "x")
    assert result.exit_code == Exit.REFUSED
    moving = zwang("modes", "pendulum.toml", "--at", "start")
    assert moving.exit_code == Exit.REFUSED
    assert "Traceback" not in result.output + moving.output
