"""What bodies in space look like where nobody says."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb
from zwang.multibody.looks import rods


def test_a_body_in_space_looks_like_a_box_of_its_inertia() -> None:
    size = np.array([1.0, 2.0, 3.0])
    turn = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
    inertia = turn @ np.diag(mb.inertia.box(5, size)) @ turn.T
    (shape,) = mb.Mechanism([mb.Body("brick", 5, inertia.tolist())]).drawing.shapes
    # the same second moments of mass, ∫ x xᵀ dm = m/12 R diag(size²) Rᵀ
    found = shape.solid.turn @ np.diag(np.square(shape.solid.size)) @ shape.solid.turn.T
    assert np.abs(found - turn @ np.diag(size**2) @ turn.T).max() < 1e-12


def test_bodies_look_like_their_solids_and_differ_in_colour() -> None:
    m = zw.parameters("m")
    plain = mb.Body("plain", m, (m, m, m))
    dressed = mb.Body("dressed", 1, (1, 1, 1), solids=[mb.Sphere(1), mb.Box((1, 1, 1), color="red")])
    made = mb.Mechanism([plain, dressed], parameters={m: 3.0}, scenery=[mb.Cylinder(1, 2)])
    looks = {s.name: (s.kind, s.solid.kind, s.color) for s in made.drawing.shapes}
    assert looks == {
        "scenery": ("solid", "cylinder", "gray"),
        "plain": ("solid", "box", "blue"),
        "dressed": ("solid", "sphere", "orange"),
        "dressed 2": ("solid", "box", "red"),
    }
    unknown = mb.Mechanism([plain]).drawing.shapes  # no value for m: a point, as ever
    assert [s.kind for s in unknown] == ["point"]


def test_links_in_space_are_rods_between_their_joints() -> None:
    link = mb.Body("link", 1, (1, 1, 0.1), position=(0, 0, 1))
    joints = [
        mb.Spherical("low", mb.ground, link, at=(0, 0, 0)),
        mb.PointOnLine("high", mb.ground, link, at=(0, 0, 2), axis=(0, 0, 1)),
    ]
    solids = [s.solid for s in mb.Mechanism([link], joints=joints).drawing.shapes if s.solid is not None]
    assert [s.kind for s in solids] == ["box", "capsule"]
    assert solids[1].length == pytest.approx(2)
    assert solids[1].at == pytest.approx((0, 0, 0))


def test_wheels_and_balls_are_solids() -> None:
    r = zw.parameters("r")
    ball = mb.Body("ball", 1, (1, 1, 1), position=(0, 0, 0.5))
    coin = mb.Body("coin", 1, mb.inertia.disc(1, 0.5), position=(3, 0, 0.5), orientation=(1, 1, 0, 0))
    joints = [
        mb.RollingBall("rolls", mb.ground, ball, radius=r),
        mb.RollingDisc("turns", mb.ground, coin, radius=0.5, axis=(0, -1, 0)),
    ]
    drawing = mb.Mechanism([ball, coin], joints=joints, parameters={r: 0.5}).drawing
    solids = {s.name: s.solid for s in drawing.shapes if s.solid is not None}
    assert solids["ball"] == mb.Sphere(0.5)
    assert (solids["coin"].kind, solids["coin"].radius) == ("cylinder", 0.5)
    assert np.abs(solids["coin"].turn[:, 2]).round(12).tolist() == [0, 0, 1]  # its axis, in body axes


def test_a_body_whose_mass_is_set_to_zero_has_no_box() -> None:
    k = zw.parameters("k")
    body = mb.Body("body", k, (1, 1, 1))
    pin = mb.Spherical("pin", mb.ground, body, at=(1, 0, 0))
    shapes = mb.Mechanism([body], joints=[pin], parameters={k: 0}).drawing.shapes
    assert "box" not in [s.solid.kind for s in shapes if s.solid is not None]


def test_a_joint_that_is_almost_at_the_centre_of_mass_has_no_rod():
    """Squares of 2e-161 lose their digits: the rod had a direction that is none."""
    for size, count in ((2e-161, 0), (2e-140, 1), (1.0, 1)):
        assert len(rods([np.array([0.0, 0.6 * size, 0.8 * size])])) == count
