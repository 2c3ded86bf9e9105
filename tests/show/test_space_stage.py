"""Scenes in space as pixels: solids hide what is behind them, and show how they are turned."""

import numpy as np
import pytest

import zwang as zw
from tests.show.motions import gyroscope, rolling_disc
from zwang import multibody as mb
from zwang.results.drawing import with_drawing
from zwang.show.animate import stage_of
from zwang.show.scene import scene_of
from zwang.show.space_stage import SpaceStage


def resting(**solids: mb.Box) -> zw.show.scene.Scene:
    """Bodies at rest with one solid each."""
    bodies = [mb.Body(name, 1, (1, 1, 1), solids=[solid]) for name, solid in solids.items()]
    made = mb.Mechanism(bodies)
    return scene_of(with_drawing(zw.simulate(made.system, made.start, until=1, samples=2), made.drawing, made.system))


def shown(scene: zw.show.scene.Scene, index: int = 0) -> np.ndarray:
    stage = SpaceStage(scene, (200, 160))
    stage.prepare(index)
    return stage.painted(index)


def pure(pixels: np.ndarray, channel: int) -> int:
    """How many pixels are of one primary colour, in whatever light."""
    rest = [i for i in range(3) if i != channel]
    return int(((pixels[..., 3] > 0.99) & (pixels[..., channel] > 0.3) & (pixels[..., rest].max(axis=-1) < 0.3)).sum())


def test_what_is_nearer_to_the_eye_hides_what_is_behind_in_any_order() -> None:
    # the eye stands in front (towards −y) and to the right
    near, far = mb.Box((1, 0.1, 1), at=(0.65, -1, 0.4), color="#ff0000"), mb.Box((0.4, 0.1, 0.4), color="#00ff00")
    assert pure(shown(resting(far=far)), 1) > 100
    for scene in (resting(near=near, far=far), resting(far=far, near=near)):
        found = shown(scene)
        assert pure(found, 0) > 100
        assert pure(found, 1) < 0.2 * pure(shown(resting(far=far)), 1)


def test_a_body_that_turns_in_place_looks_different() -> None:
    body = mb.Body("brick", 12, (13, 10, 5), angular_velocity=(0, 1, 0))
    made = mb.Mechanism([body])
    motion = with_drawing(zw.simulate(made.system, made.start, until=1, samples=2), made.drawing, made.system)
    scene = scene_of(motion)
    first, last = shown(scene, 0), shown(scene, 1)
    assert (np.abs(first - last).max(axis=2) > 0.1).mean() > 0.02


@pytest.mark.parametrize("make", [gyroscope, rolling_disc])
def test_a_still_has_ghosts_and_trails_and_white_corners(make: object) -> None:
    scene = scene_of(make())  # type: ignore[operator]
    stage = stage_of(scene, (240, 180))
    whole, last = stage.still(), stage.picture(len(scene.times) - 1)
    assert (whole != last).any()
    assert (whole[0, 0] == 255).all()
    assert whole.shape == (180, 240, 4)


def test_solids_of_one_body_are_of_its_colour_where_they_say_none() -> None:
    seen = {s.name: s.colors[0] for s in scene_of(gyroscope()).shapes}
    assert seen["top"] == seen["top 3"] != seen["top 2"]
    assert seen["scenery 2"] == "#204060"
