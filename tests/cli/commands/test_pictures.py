"""`zwang plot` and `zwang animate`: pictures of a motion in a file, or of a model."""

import numpy as np
import pytest

from tests.cli.models import PENDULUM
from zwang.cli.exits import Exit
from zwang.files.read import read_model
from zwang.files.store import save_motion

PNG, GIF = b"\x89PNG", b"GIF8"


@pytest.fixture
def motion(zwang, here):
    assert zwang("run", "pendulum.toml", "--out", "motion.nc", "--until", 0.4, "--samples", 5).exit_code == 0
    return here / "motion.nc"


def test_plot_of_a_motion(zwang, here, motion):
    result = zwang("plot", "motion.nc", "-o", "p.png")
    assert result.exit_code == 0, result.output
    assert (here / "p.png").read_bytes().startswith(PNG)
    assert "written: p.png" in result.stderr
    assert result.stdout == ""


def test_plot_of_a_model(zwang, here):
    assert zwang("plot", "pendulum.toml", "-o", "p.svg", "--what", "q", "--only", "x", "--set", "L=2").exit_code == 0
    assert "<svg" in (here / "p.svg").read_text(encoding="utf-8")


def test_one_against_another(zwang, here, motion):
    assert zwang("plot", "motion.nc", "-o", "p.pdf", "--what", "x:y", "--what", "energy").exit_code == 0
    assert (here / "p.pdf").read_bytes().startswith(b"%PDF")


def test_without_a_name_it_is_the_motions(zwang, here, motion):
    assert zwang("plot", "motion.nc", "--what", "x").exit_code == 0
    assert (here / "motion.png").exists()
    result = zwang("plot", "motion.nc", "--what", "x")
    assert result.exit_code == Exit.USAGE  # a name that was not given does not overwrite
    assert "motion.png is there already: choose another name with -o" in " ".join(result.stderr.split())
    assert "--force" not in result.stderr
    assert zwang("plot", "motion.nc", "--what", "x", "-o", "motion.png").exit_code == 0


def test_what_is_not_there_is_named(zwang, motion):
    result = zwang("plot", "motion.nc", "-o", "p.png", "--what", "speed")
    assert result.exit_code == Exit.USAGE
    assert "speed" in result.stderr


@pytest.mark.parametrize(("suffix", "begin"), [("gif", GIF), ("png", PNG), ("html", b"<!DOCTYPE html>")])
def test_animations(zwang, here, motion, suffix, begin):
    result = zwang("animate", "motion.nc", "-o", f"a.{suffix}", "--fps", 5)
    assert result.exit_code == 0, result.output
    assert (here / f"a.{suffix}").read_bytes().lstrip()[: len(begin)].lower() == begin.lower()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plot", "motion.nc", "-o", "p.docx"], "must end in .png, .svg or .pdf"),
        (["animate", "motion.nc", "-o", "a.avi"], "must end in .gif, .mp4, .html, .png or .glb"),
        (["animate", "motion.nc", "-o", "no/a.gif"], "the folder no does not exist"),
        (["plot", "motion.nc", "--set", "m=2", "-o", "p.png"], "cannot be changed"),
    ],
)
def test_what_is_refused(zwang, motion, words, said):
    result = zwang(*words)
    assert result.exit_code == Exit.USAGE
    assert said in " ".join(result.stderr.replace("│", " ").split())


def test_a_motion_that_is_none(zwang, here):
    (here / "broken.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + b"x" * 100)
    result = zwang("plot", "broken.nc", "-o", "p.png")
    assert result.exit_code == Exit.MODEL
    assert "broken.nc" in result.stderr
    assert not (here / "p.png").exists()


def test_no_such_motion(zwang):
    result = zwang("plot", "motion.nc", "-o", "p.png")
    assert result.exit_code == Exit.MODEL
    assert "motion.nc: there is no such file" in result.stderr


def test_the_model_is_not_drawn_over(zwang, here):
    (here / "m.png").write_text(PENDULUM)
    assert zwang("plot", "m.png", "-o", "m.png").exit_code == Exit.USAGE
    assert (here / "m.png").read_text() == PENDULUM


@pytest.mark.parametrize("unit", ["$", "$\\frac{", "\\alpha_{", "a\nb", "\x1b[31m", "<script>"])
def test_units_of_strangers_are_text(unit, zwang):
    motion = read_model(PENDULUM).simulate(samples=5)
    motion.time.attrs["units"] = motion.energy.attrs["units"] = unit
    save_motion(motion.assign_coords(unit_q=("coordinate", [unit] * 2)), zwang.folder / "m.nc")
    assert zwang("plot", "m.nc", "-o", "m.svg", "--what", "q", "--what", "energy").exit_code == 0
    assert zwang("animate", "m.nc", "-o", "m.html").exit_code == 0


@pytest.mark.parametrize("size", [1e308, -1e308, 1e200])
def test_numbers_that_no_picture_holds_are_said(size, zwang):
    motion = read_model(PENDULUM).simulate(samples=5)
    for name in ("q", "drawing"):
        motion[name] = motion[name] * 0 + size * np.array([1.0, -1.0])
    save_motion(motion, zwang.folder / "m.nc")
    for words in (["plot", "m.nc", "-o", "m.png"], ["plot", "m.nc", "-o", "m.png", "--what", "x:y"],
                  ["animate", "m.nc", "-o", "m.html"], ["animate", "m.nc", "-o", "m.png"]):  # fmt: skip
        done = zwang(*words)
        assert done.exit_code in (Exit.REFUSED, Exit.USAGE)
        assert "what is beyond 1e+100 cannot be drawn" in done.stderr.replace("\n", " ")


def test_a_trail_is_drawn_by_name_and_a_glb_is_written(zwang, here, motion):
    result = zwang("animate", "motion.nc", "-o", "a.glb", "--trail", "bob")
    assert result.exit_code == 0, result.output
    content = (here / "a.glb").read_bytes()
    assert content.startswith(b"glTF")
    assert b'"bob trail"' in content
    result = zwang("animate", "motion.nc", "-o", "b.glb", "--trail", "bab")
    assert result.exit_code == Exit.USAGE
    assert "nothing that is drawn is called 'bab'" in " ".join(result.stderr.split())
