"""Trails of any point, asked for in one argument."""

from typing import Any

import numpy as np
import pytest

import zwang as zw
from tests.show.motions import gyroscope, pendulum
from zwang import multibody as mb
from zwang.errors import InputError
from zwang.show.animate import animate
from zwang.show.scene import scene_of


def trails(motion: Any) -> dict[str, Any]:
    scene = scene_of(motion)
    return {s.name: scene.places[:, s.first] for s in scene.shapes if s.trail}


def test_a_shape_or_a_body_leaves_a_trail_by_its_name() -> None:
    assert set(trails(animate(pendulum(), trail="pivot").motion)) == {"pivot", "bob"}
    assert set(trails(animate(gyroscope(), trail=["top", "arm"]).motion)) == {"top", "arm"}
    assert "trail" not in str(trails(gyroscope()))  # the motion itself stays as it was


def test_a_point_of_a_body_in_space_leaves_one() -> None:
    motion = gyroscope()
    found = trails(animate(motion, trail=("top", (0.6, 0, 0.1))).motion)["top (0.6, 0, 0.1)"]
    top = mb.Body("top", 2, (1, 1, 1.6), position=(0, 0, 1), angular_velocity=(0.3, 0.2, 4))
    made = mb.Mechanism([top])
    expected = made.track(zw.simulate(made, until=4, samples=201), "top", (0.6, 0, 0.1)).values
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_place_in_expressions_leaves_one_with_its_mechanism() -> None:
    rod = mb.PlanarBody("rod", 1, 0.1, position=(1, 0))
    made = mb.Mechanism([rod], joints=[mb.Revolute("pin", mb.ground, rod, at=(0, 0))], forces=[mb.Gravity((0, -10))])
    motion = zw.simulate(made, until=1, samples=11)
    found = trails(animate(motion, made, trail=rod.point((1, 0))).motion)["trail"]
    np.testing.assert_allclose(found, made.track(motion, "rod", (1, 0)).values, atol=1e-12)
    assert set(trails(animate(motion, trail="rod").motion)) == {"rod 1"}
    x, y = zw.coordinates("x y")
    free = zw.System((x, y), kinetic=(zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2)
    flight = zw.simulate(free, {x: 0, y: 0, zw.dot(x): 1, zw.dot(y): 2}, until=1, samples=3)
    np.testing.assert_allclose(trails(animate(flight, system=free, trail=(x, 2 * y)).motion)["trail"][-1], (1, 4))


@pytest.mark.parametrize(
    ("trail", "said"),
    [
        ("bab", "nothing that is drawn is called 'bab'.*bob"),
        (("bob", (1, 0)), "'bob' has no point"),
        (("bob", "x"), "is not a point"),
        (("bob",), "is not a point"),
        ((1, 2, 3, 4), "is not a point"),
        (3, "is not a point"),
        ((), "is not a point"),
        ((1, 2), "expressions need their system"),
        (["bob", "bab"], "nothing that is drawn is called 'bab'"),
    ],
)
def test_what_leaves_no_trail_is_refused(trail: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        animate(pendulum(), trail=trail)
    with pytest.raises(InputError, match="has 3 coordinates, the drawing 2"):
        animate(pendulum(), system=zw.System(zw.coordinates("x y"), mass=np.eye(2).tolist()), trail=(1, 2, 3))
