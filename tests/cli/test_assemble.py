"""`zwang assemble`: the block it prints is a start that obeys every constraint."""

import json
import tomllib

import pytest

from zwang.cli.exits import Exit
from zwang.files.read import load_model

from .models import IMPOSSIBLE, OFF, PENDULUM

TILTED = OFF.replace("y = { start = 0.0", "y = { start = 0.6, rate = 1.0")


def test_the_block_can_be_pasted(zwang):
    result = zwang("assemble", "m.toml", m=TILTED)
    assert result.exit_code == 0
    block = tomllib.loads(result.stdout)["coordinates"]
    x, y = block["x"], block["y"]
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


def test_what_cannot_be_held_is_named(zwang):
    result = zwang("assemble", "m.toml", "--hold", "u", m=TILTED)
    assert result.exit_code == Exit.REFUSED
    assert "hold names u" in result.stderr


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
