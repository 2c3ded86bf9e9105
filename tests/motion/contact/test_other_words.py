"""A scene elsewhere, turned, in other units or in another order is the same motion."""

from functools import cache

import numpy as np
import pytest

from tests.scenes.frames import Frame, as_told, in_frame
from tests.scenes.ordinary import FIRST_OF, ordinary_scene

FRAMES = {
    "30 m away": Frame(shift=30.0),
    "turned": Frame(turn=0.7),
    "in mm and g": Frame(length=1e3, mass=1e3),
    "in km, t and minutes": Frame(length=1e-3, mass=1e-3, time=1 / 60),
}
SCENES = {
    kind: FIRST_OF[kind] + k
    for kind, k in {
        "thrown boxes": 1,
        "chains on a floor": 6,
        "stacks of boxes": 0,
        "carts on slopes": 0,
        "rods into a corner": 2,
        "in a groove": 0,
        "chains in space": 1,
    }.items()
}


@cache
def as_it_is(number):
    """A scene and its motion in its own words."""
    scene = ordinary_scene(number)
    return scene, scene.run()


def require_same(number, frame, order=list):
    """Hold a motion in a frame against that in its own words."""
    scene, motion = as_it_is(number)
    again = in_frame(scene, frame, order).run()
    assert motion.attrs["status"] == again.attrs["status"] == "finished", again.attrs["message"]
    before, after = as_told(motion, scene), as_told(again, scene, frame)
    for name, values in before.items():
        size = max(np.abs(values).max(initial=0), scene.size)
        assert after[name] == pytest.approx(values, abs=1e-8 * size), name


@pytest.mark.parametrize("words", FRAMES)
@pytest.mark.parametrize("kind", SCENES)
def test_a_scene_is_the_same_motion_wherever_and_in_whatever_units(kind, words):
    require_same(SCENES[kind], FRAMES[words])


@pytest.mark.parametrize("kind", SCENES)
def test_a_scene_is_the_same_motion_with_its_bodies_and_parts_in_another_order(kind):
    require_same(SCENES[kind], Frame(), lambda parts: parts[::-1])
