"""What there is to see: shapes, places between samples, bounds, speeds and units."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from tests.show.motions import double_pendulum, four_bar, gyroscope, pendulum, rolling_disc
from zwang import dot
from zwang.errors import InputError
from zwang.show.colors import PAIRS
from zwang.show.scene import frames_of, points_named, scene_of


def test_places_between_samples_stay_on_the_circle_of_the_rod() -> None:
    scene = scene_of(pendulum())
    bob = scene.at(np.linspace(0, 5, 1777)).places[:, -1]
    assert np.abs(np.hypot(*bob.T) - 1).max() < 1e-4  # 20 ms apart; straight chords would miss by 1e-3
    np.testing.assert_allclose(scene.at(scene.times).places, scene.places, atol=1e-15)


def test_bounds_hold_the_rims_of_circles() -> None:
    low, high = scene_of(rolling_disc()).bounds()
    assert abs(low[2]) < 1e-9  # the disc touches the ground, and never goes below
    assert 0.9 < high[2] < 1.0  # it leans, so its top stays below its diameter
    low, _ = scene_of(four_bar()).bounds()
    assert low[0] < -1


@pytest.mark.parametrize("until", [1e-6, 0.03, 2.0, 3.0, 8.0, 20.0, 21.0, 3600.0, 1e7])
def test_a_playthrough_takes_some_seconds_at_a_round_speed(until: float) -> None:
    motion = pendulum().assign_coords(time=np.linspace(0, until, 251))
    scene = scene_of(motion)
    assert 3 <= scene.duration / scene.speed <= 20
    assert scene.speed == 1 or float(f"{scene.speed:.0e}") == pytest.approx(scene.speed, rel=1e-12)
    assert (scene.speed == 1) == (3 <= until <= 20) or 8 / 1.5 < until < 12


def test_units_of_length_where_the_coordinates_share_one() -> None:
    assert scene_of(pendulum()).axes == ("x (m)", "y (m)")
    assert scene_of(rolling_disc()).axes == ("x (m)", "y (m)", "z (m)")  # its angles have none
    assert scene_of(double_pendulum()).axes == ("x", "y")
    assert scene_of(four_bar()).axes == ("x", "y")  # all coordinates are angles


def test_coordinates_called_x_and_y_are_points_without_a_drawing() -> None:
    scene = scene_of(double_pendulum().drop_vars(["drawing", "axis"]))
    assert [(s.name, s.kind, s.trail) for s in scene.shapes] == [("1", "point", True), ("2", "point", True)]
    np.testing.assert_array_equal(scene.places[:, 1], double_pendulum().q.values[:, 2:])


@pytest.mark.parametrize(
    ("names", "points"),
    [
        (["x", "y"], [("point", ("x", "y"))]),
        (["bob.x", "bob.y", "bob.z", "theta"], [("bob", ("bob.x", "bob.y", "bob.z"))]),
        (["x_1", "y_1"], [("1", ("x_1", "y_1"))]),
        (["x", "z"], []),
        (["x"], []),
        (["mix", "miy"], []),
        (["x1", "y1", "x2", "y2", "z2"], []),  # some in the plane, some in space
    ],
)
def test_names_tell_places(names: list[str], points: list[tuple[str, tuple[str, ...]]]) -> None:
    assert list(points_named(names)) == points


def test_what_cannot_be_drawn_is_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match=r"no drawing.*p1, p2, p3.*\[draw\]"):
        scene_of(four_bar().drop_vars(["drawing", "axis"]))
    with pytest.raises(InputError, match="nothing was computed"):
        scene_of(pendulum().isel(time=slice(0)))
    x = zw.coordinates("x")
    free = zw.System((x,), kinetic=dot(x) ** 2 / 2)
    with pytest.raises(InputError, match=r"isel\(sample=0\)"):
        scene_of(zw.simulate_many(free, {x: [0, 1], dot(x): 0}, until=1))


@pytest.mark.parametrize(
    "listed",
    [
        "[" * 50_000,
        "",
        "[]",
        "7",
        '[{"name": "a"}]',
        '[{"name":"a","kind":"point","first":9,"count":1,"color":"","trail":0}]',
    ],
)
def test_a_list_of_shapes_from_a_strange_file_is_refused(listed: str) -> None:
    motion = pendulum().copy()
    motion["drawing"] = motion.drawing.assign_attrs(shapes=listed)
    with pytest.raises(InputError, match="does not say which shapes"):
        scene_of(motion)


@pytest.mark.parametrize(
    "wrong",
    [
        {"solid": None},
        {"solid": {}},
        {"solid": {"kind": "teapot"}},
        {"solid": {"kind": "box", "size": [1, 2, "3"]}},
        {"solid": {"kind": "box", "size": [1, 2, -3]}},
        {"solid": {"kind": "box", "size": [1, 2, 3], "color": "red; x"}},
        {"solid": {"kind": "box", "size": [1, 2, 3], "__class__": 1}},
        {"solid": {"kind": "mesh", "vertices": [0, 10**9], "faces": [0, 1]}},
        {"solid": {"kind": "mesh", "vertices": [-4, 4], "faces": [0, 1]}},
        {"solid": {"kind": "mesh", "vertices": "all", "faces": [0, 1]}},
        {"count": 1},
        {"first": 99},
    ],
)
def test_solids_from_a_strange_file_are_refused(wrong: dict[str, Any]) -> None:
    motion = gyroscope().copy()
    shapes = json.loads(motion.drawing.attrs["shapes"])
    shapes[0] |= wrong
    motion["drawing"] = motion.drawing.assign_attrs(shapes=json.dumps(shapes))
    with pytest.raises(InputError, match="does not say which shapes"):
        scene_of(motion)


def test_meshes_from_a_strange_file_are_refused() -> None:
    motion = gyroscope()
    for strange in (
        motion.drop_vars("mesh_faces"),
        motion.assign(mesh_faces=motion.mesh_faces + 1),
        motion.assign(mesh_faces=motion.mesh_faces * np.nan),
        motion.assign(mesh_vertices=("vertex", ["a", "b", "c", "d"])),
    ):
        with pytest.raises(InputError, match="does not say which shapes"):
            scene_of(strange)


def test_a_mesh_that_is_named_without_end_is_refused_at_once() -> None:
    motion = gyroscope().copy()
    mesh = json.loads(motion.drawing.attrs["shapes"])[0]
    many = motion.assign(mesh_vertices=(("vertex", "axis"), np.zeros((60_000, 3))))
    mesh["solid"] |= {"vertices": [0, 60_000]}
    many["drawing"] = many.drawing.assign_attrs(shapes=json.dumps([mesh] * 3000))
    started = time.process_time()
    with pytest.raises(InputError, match="does not say which shapes"):
        scene_of(many)
    assert time.process_time() - started < 1


def test_solids_are_saved_and_loaded_with_their_motion(tmp_path: Path) -> None:
    from zwang.files.store import load_motion, save_motion

    again = load_motion(save_motion(gyroscope(), tmp_path / "motion.nc"))
    assert scene_of(again).shapes == scene_of(gyroscope()).shapes


def test_bounds_hold_solids() -> None:
    low, high = scene_of(gyroscope()).bounds()
    np.testing.assert_allclose(low[:2], (-1.2, -1.2), atol=1e-12)  # of the ball beside: its centre less its radius
    np.testing.assert_allclose(high[:2], (1.5, 1.5), atol=1e-12)  # of the tetrahedron
    assert 1.5 < high[2] < 2.0


def test_axes_between_samples_are_right_angled() -> None:
    scene = scene_of(gyroscope())
    top = next(s for s in scene.shapes if s.name == "top")
    _, turns = frames_of(scene.at(np.linspace(0, 4, 777)).places[:, top.first : top.first + 3])
    np.testing.assert_allclose(turns @ turns.swapaxes(1, 2), np.broadcast_to(np.eye(3), turns.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(turns), 1, atol=1e-12)


def test_colours_are_ours_or_six_digits_and_nothing_else() -> None:
    motion = pendulum().copy()
    shapes = motion.drawing.attrs["shapes"].replace('"black"', '"red; background: url(x)"')
    motion["drawing"] = motion.drawing.assign_attrs(shapes=shapes)
    assert {s.colors for s in scene_of(motion).shapes} <= set(PAIRS.values())


def test_a_single_moment_can_be_seen() -> None:
    scene = scene_of(pendulum().isel(time=slice(1)))
    assert scene.duration == 0
    assert scene.at(np.zeros(3)).places.shape == (3, 4, 2)
    assert scene.speed == 1
