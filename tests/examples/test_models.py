"""Every example: it loads, says what it teaches, runs to its end, keeps its account, and can be drawn."""

import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

import zwang as zw
from tests.examples.models import EXAMPLES, NAMES, model, run

# What drives or brakes those whose energy is not conserved.
DRIVEN = {
    "acatastatic": "rule in time",
    "appell_variant": "rule that works",
    "balanced_pole": "regulator",
    "ball_on_turntable": "turning table",
    "bead_with_drag": "friction",
    "dry_friction": "friction",
    "flyball_governor": "shaft",
    "governor": "dampers",
    "kapitza": "shaking pivot",
    "measured_pendulum": "drag",
    "moving_hoop": "turning hoop",
    "nonideal_rosenberg": "drag",
    "robot_arm": "path in time",
    "servo": "shaking and control",
    "slider_crank": "motor",
    "slider_crank_bodies": "motor",
    "tall_building": "earthquake",
    "two_wheeled_cart": "torques",
    "universal_joint": "motor",
    "ziegler": "follower force",
}
# Degrees of freedom at the start.
FREEDOM = {
    "acatastatic": 1,
    "andrews": 1,
    "appell": 2,
    "appell_variant": 2,
    "arm_with_limits": 1,
    "balanced_pole": 2,
    "ball_on_turntable": 3,
    "bead_with_drag": 1,
    "billiard_ball": 2,
    "block_on_incline": 1,
    "bouncing_ball": 2,
    "cart_pole": 2,
    "chaplygin_sleigh": 2,
    "crank_with_stop": 1,
    "double_pendulum": 2,
    "dry_friction": 1,
    "eulers_disc": 3,
    "flyball_governor": 1,
    "four_bar": 1,
    "four_bar_in_space": 1,
    "governor": 4,
    "heavy_top": 3,
    "kapitza": 1,
    "knife_edge": 2,
    "leaving_a_sphere": 1,
    "loop_the_loop": 1,
    "measured_pendulum": 1,
    "moving_hoop": 1,
    "newtons_cradle": 2,
    "nonideal_rosenberg": 2,
    "pendulum": 1,
    "robot_arm": 0,
    "rocking_block": 2,
    "rolling_disc": 3,
    "rolling_wheel": 3,
    "rosenberg": 2,
    "row_of_parallelograms": 1,
    "servo": 1,
    "simplest_walker": 2,
    "slack_rope": 1,
    "slack_tether": 2,
    "slider_crank": 0,
    "slider_crank_bodies": 0,
    "sliding_ladder": 1,
    "spherical_pendulum": 2,
    "stick_slip": 1,
    "tall_building": 9,
    "two_wheeled_cart": 2,
    "universal_joint": 0,
    "woodpecker": 2,
    "ziegler": 2,
}
REDUNDANT = {"appell": {"twice"}, "four_bar": {"right_y"}, "four_bar_in_space": {"D.z", "D.axis1", "D.axis2"}}


def test_the_list_is_complete():
    assert set(NAMES) == set(FREEDOM)
    assert all(not path.name.startswith(".") and path.stat().st_size < 60_000 for path in EXAMPLES.iterdir())


def test_the_readme_names_every_model_and_script():
    folder = Path(__file__).parents[2] / "examples"
    named = set(re.findall(r"^\| `([\w.]+)` \|", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert named == {*NAMES, *(path.name for path in folder.glob("*.py"))}


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_is_and_what_it_teaches(name):
    m = model(name)
    assert m.system.name
    sentences = [s for s in m.description.replace("\n", " ").split(". ") if s.strip()]
    assert 2 <= len(sentences) <= 5
    assert m.units.time == "s"
    assert m.units.energy
    assert m.drawing.shapes


@pytest.mark.parametrize("name", NAMES)
def test_verdict_at_the_start(name):
    m = model(name)
    verdict = zw.diagnose(m.system, m.state(), t=m.run.begin)
    assert verdict.ok
    assert not verdict.singular
    assert verdict.degrees_of_freedom == FREEDOM[name]
    assert set(verdict.redundant) == REDUNDANT.get(name, set())


@pytest.mark.parametrize("name", NAMES)
def test_runs_to_its_end_and_stays_on_its_constraints(name):
    began = time.process_time()
    motion = run(name)
    assert time.process_time() - began < 10  # a few seconds at most, compilation included
    assert motion.status == ("event" if name == "slack_rope" else "finished")
    assert "mode" not in motion or motion.sizes["transition"] > 0  # what has contacts shows what they do
    for level in ("residual", "residual_rate"):
        assert not (abs(motion[level]) > 1e-10).any()
    assert not np.isnan(motion.q).any()


@pytest.mark.parametrize("name", NAMES)
def test_energy_is_accounted_for(name):
    motion = run(name)
    size = float(abs(motion.kinetic).max())
    if name in DRIVEN:
        # The work is integrated over the saved instants only, and the earthquake changes from one to the next.
        assert float(abs(motion.energy_balance).max()) < (1e-4 if name == "tall_building" else 1e-5) * size
        work = abs(motion.constraint_power) + abs(motion.given_power) + abs(motion.nonideal_power)
        assert float(work.max()) > 1e-4 * size
    elif "mode" in motion or "event_energy_loss" in motion:  # impacts, friction and resets take what they take
        assert float(abs(motion.energy_balance).max()) < 1e-11 * max(size, 1)
    elif name == "andrews":  # its motor gives work; nothing else does
        assert float(abs(motion.energy - motion.energy[0] - 0.033 * (motion.q[:, 0] - motion.q[0, 0])).max()) < 1e-11
    else:
        assert float(abs(motion.energy - motion.energy[0]).max()) < 1e-11 * max(size, 1)


@pytest.mark.parametrize("name", NAMES)
def test_drawing_is_finite_and_stays_in_the_picture(name):
    motion = run(name)
    drawing = motion.drawing.values
    assert np.isfinite(drawing).all()
    shapes = json.loads(motion.drawing.attrs["shapes"])
    assert len(shapes) == len(model(name).drawing.shapes)
    assert any(shape["trail"] for shape in shapes) or name in ("four_bar", "servo", "tall_building")
    assert all(shape["color"] for shape in shapes)
