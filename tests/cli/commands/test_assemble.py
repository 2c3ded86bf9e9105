"""`zwang assemble`: the block it prints is a start that obeys every constraint."""

import json
import tomllib

import pytest

from tests.cli.models import IMPOSSIBLE, OFF, PENDULUM
from zwang.cli import library
from zwang.cli.exits import Exit
from zwang.files.read import load_model

TILTED = OFF.replace("y = { start = 0.0", "y = { start = 0.6, rate = 1.0")


def test_the_block_can_be_pasted(zwang):
    result = zwang("assemble", "m.toml", m=TILTED)
    assert result.exit_code == 0
    block = tomllib.loads(result.stdout)["coordinates"]
    x, y = block["x"], block["y"]
    assert all(isinstance(entry[key], float) for entry in (x, y) for key in ("start", "rate"))  # no number as text
    assert x["start"] ** 2 + y["start"] ** 2 == pytest.approx(1.0, abs=1e-14)
    assert x["start"] * x["rate"] + y["start"] * y["rate"] == pytest.approx(0.0, abs=1e-14)
    assert x["unit"] == "m"
    pasted = TILTED[: TILTED.index("[coordinates]")] + result.stdout + TILTED[TILTED.index("[energy]") :]
    assert zwang("check", "pasted.toml", pasted=pasted).exit_code == Exit.DONE


def test_the_table_goes_to_standard_error(zwang):
    result = zwang("assemble", "m.toml", m=TILTED)
    assert result.stdout.startswith("[coordinates]\n")
    assert "before" in result.stderr
    assert "change" in result.stderr


def test_what_is_held_stays(zwang):
    block = tomllib.loads(zwang("assemble", "m.toml", "--hold", "y", "--hold", "y'", m=TILTED).stdout)["coordinates"]
    assert block["y"]["start"] == 0.6
    assert block["y"]["rate"] == 1.0
    assert block["x"]["start"] == pytest.approx(0.8)
    assert block["x"]["rate"] == pytest.approx(-0.75)


def test_json(zwang):
    found = json.loads(zwang("assemble", "m.toml", "--json", m=OFF).stdout)
    assert found["before"] == {"x": 0.9, "x'": 0.0, "y": 0.0, "y'": 0.0}
    assert found["after"]["x"] == pytest.approx(1.0)


def test_the_model_is_written_with_its_new_start(zwang, here):
    assert zwang("assemble", "m.toml", "--write", "n.toml", m=TILTED).exit_code == 0
    model = load_model(here / "n.toml")
    assert model.system == load_model(here / "m.toml").system
    assert zwang("check", "n.toml").exit_code == Exit.DONE


def test_nothing_is_overwritten_unless_forced(zwang, here):
    for target in ("pendulum.toml", "m.toml"):
        result = zwang("assemble", "m.toml", "--write", target, m=OFF)
        assert result.exit_code == Exit.USAGE
    assert (here / "pendulum.toml").read_text() == PENDULUM
    assert zwang("assemble", "m.toml", "--write", "m.toml", "--force").exit_code == 0
    assert zwang("check", "m.toml").exit_code == Exit.DONE


def test_what_cannot_be_assembled(zwang):
    result = zwang("assemble", "m.toml", m=IMPOSSIBLE)
    assert result.exit_code == Exit.ASSEMBLY
    assert result.stdout == ""


def test_names_that_need_quotes_get_them(zwang):
    text = """
[coordinates]
"rod.x" = 1.0
"θ" = 0.5
[energy]
kinetic = "rod.x'^2 + θ'^2"
[constraints]
c = "rod.x = 2"
"""
    result = zwang("assemble", "m.toml", m=text)
    assert result.exit_code == 0, result.output
    block = tomllib.loads(result.stdout)["coordinates"]
    assert block["rod.x"]["start"] == 2.0
    assert block["θ"]["start"] == 0.5


# Bodies are put together when their file is read, which takes no [coordinates].

LOOSE = """
[bodies.rod]
kind = "planar"
mass = 3.0
inertia = 1.0
position = [1.0, 0.0]
spin = 0.5
[joints.pin]
kind = "revolute"
second = "rod"
at = [0, 0]
"""


def test_bodies_get_a_table_and_nothing_to_paste(zwang):
    result = zwang("assemble", "m.toml", m=LOOSE)
    assert result.exit_code == 0, result.output
    assert "[coordinates]" not in result.stdout
    table = {row.split()[0]: row.split()[1:] for row in result.stdout.splitlines() if row.startswith("rod.")}
    assert table["rod.x"] == ["1", "1", "–"]
    assert table["rod.angle'"] == ["0.5", "0.5", "–"]  # stated
    assert table["rod.y'"] == ["0", "0.5", "+0.5"]  # follows


def test_bodies_as_json(zwang):
    found = json.loads(zwang("assemble", "m.toml", "--json", m=LOOSE).stdout)
    assert found["before"]["rod.y'"] == 0
    assert found["after"]["rod.y'"] == pytest.approx(0.5, rel=1e-14)


def test_an_example_with_bodies(zwang):
    assert "universal_joint" in library.names()
    result = zwang("assemble", "universal_joint", "--set", "corner=0.3")
    assert result.exit_code == 0, result.output
    assert "wheel.q0'" in result.stdout


@pytest.mark.parametrize("options", [["--hold", "rod.x"], ["--write", "n.toml"]])
def test_bodies_are_mended_in_their_file(zwang, here, options):
    result = zwang("assemble", "m.toml", *options, m=LOOSE)
    assert result.exit_code == Exit.USAGE
    assert "give better places in [bodies]" in " ".join(result.stderr.split())
    assert not (here / "n.toml").exists()
