"""Contacts of bodies: known motions, names, pictures, and what is refused."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references.contact import expected
from zwang import multibody as mb
from zwang.errors import InputError, ModelFileError
from zwang.files.read import read_model

G = mb.Gravity((0, -9.81))
EXACT = 1e-11


def disc(name="disc", at=(0, 0.03), velocity=(0, 0), spin=0.0, radius=0.03):
    """A ball in the plane: two fifths of m R²."""
    return mb.PlanarBody(name, 1, 0.4 * radius**2, position=at, velocity=velocity, spin=spin)


def test_a_disc_slides_then_rolls_as_coriolis_says():
    truth = expected("h2-draw")
    ball = disc(velocity=(2, 0), spin=8 / 0.03)
    floor = mb.Contact("floor", mb.ground, ball, normal=(0, 1), radius=0.03, friction=0.2)
    motion = zw.simulate(mb.Mechanism([ball], [floor], [G]), until=2)
    assert motion.contact.values.tolist() == ["floor"]
    assert motion.transition_kind.values.tolist() == ["stick"]
    assert motion.transition_time.values[0] == pytest.approx(float(truth["t_roll"]), rel=EXACT)
    assert motion.v.values[-1, 0] == pytest.approx(float(truth["v_end"]), rel=EXACT)


def test_the_corners_of_a_box_rock_with_housners_ratio():
    truth = expected("c-rocking-block")
    lean = 0.1
    at = (np.cos(lean) / 4 - np.sin(lean), np.sin(lean) / 4 + np.cos(lean))
    block = mb.PlanarBody("block", 1, (0.25**2 + 1) / 3, position=at, angle=lean)
    floor = mb.Contact("floor", mb.ground, block, normal=(0, 1), box=(0.5, 2), friction=2)
    mechanism = mb.Mechanism([block], [floor], [G])
    assert mechanism.system.constraint_names == tuple(f"floor.corner{i}" for i in (1, 2, 3, 4))
    motion = zw.simulate(mechanism, until=3.2)
    known = [float(k["impact_time"]) for k in truth["impacts"]]
    assert np.allclose(motion.transition_time.values, known, rtol=EXACT)
    ratio = motion.velocity_after.values[:, 2] / motion.velocity_before.values[:, 2]
    assert np.allclose(ratio, float(truth["ratio"]), rtol=EXACT)


def test_a_box_in_space_has_eight_corners_and_falls_on_them():
    die = mb.Body("die", 1, mb.inertia.box(1, (1, 1, 1)), position=(0, 0, 2))
    floor = mb.Contact("floor", mb.ground, die, normal=(0, 0, 1), box=(1, 1, 1), restitution=0.5)
    mechanism = mb.Mechanism([die], [floor], [mb.Gravity((0, 0, -9.81))])
    assert len(mechanism.system.constraint_names) == 9
    motion = zw.simulate(mechanism, until=1.0)
    falls = np.sqrt(2 * 1.5 / 9.81)
    assert motion.transition_time.values[0] == pytest.approx(falls, rel=EXACT)
    after = motion.velocity_after.values[0]
    assert after[2] == pytest.approx(0.5 * 9.81 * falls, rel=EXACT)  # flat: it does not begin to turn
    assert np.abs(after[3:]).max() < 1e-12


def test_equal_discs_exchange_their_velocities_along_the_normal():
    a, b = disc("a", (0, 0), (1, 0), radius=0.1), disc("b", (1, 0.1), radius=0.1)
    hit = mb.Contact("hit", a, b, radii=(0.1, 0.1), restitution=1)
    motion = zw.simulate(mb.Mechanism([a, b], [hit]), until=2)
    normal = np.array([np.sqrt(0.2**2 - 0.1**2), 0.1]) / 0.2  # where the centres are 0.2 apart, 0.1 of it across
    along = normal[0] * normal
    assert np.allclose(motion.velocity_after.values[0][[0, 1, 3, 4]], [1 - along[0], -along[1], *along], atol=1e-13)
    assert motion.transition_time.values[0] == pytest.approx(1 - np.sqrt(0.03), rel=EXACT)


def test_a_disc_in_a_rough_bowl_rolls_like_a_longer_pendulum():
    # Rolling in a bowl: T = ½·(7/5)·m v² for two fifths of m R², so that l = 7/5 (R₁ − R₂).
    lean, long = 0.3, 0.9
    ball = disc("ball", (long * np.sin(lean), -long * np.cos(lean)), radius=0.1)
    bowl = mb.Contact("bowl", mb.ground, ball, radii=(1, 0.1), inside=True, friction=1)
    from scipy.special import ellipk

    period = 4 * np.sqrt(1.4 * long / 9.81) * ellipk(np.sin(lean / 2) ** 2)
    motion = zw.simulate(mb.Mechanism([ball], [bowl], [G]), until=period, samples=3)
    assert motion.sizes["transition"] == 0
    assert np.abs(motion.q.values[-1] - motion.q.values[0]).max() < 1e-10
    assert motion["mode"].values[-1, 0] == "sticking"


def test_a_ball_settles_in_a_pipe_in_space():
    ball = mb.Body("ball", 1, mb.inertia.sphere(1, 0.1), position=(0, 0.2, -0.8), velocity=(0.5, 0, 0))
    pipe = mb.Contact("pipe", mb.ground, ball, radii=(1, 0.1), axis=(1, 0, 0), at=(0, 0, 0), inside=True)
    motion = zw.simulate(mb.Mechanism([ball], [pipe], [mb.Gravity((0, 0, -9.81))]), until=3, tol=1e-13)
    end = motion.q.values[-1]
    assert np.hypot(end[1], end[2]) <= 0.9 + 1e-10
    assert end[0] == pytest.approx(1.5, rel=1e-12)  # nothing acts along the pipe
    assert float(abs(motion.energy_balance).max()) < 1e-10


def test_a_particle_falls_from_a_moving_ball():
    """Both bodies move, momentum is kept, and the particle leaves where the force vanishes."""
    big = mb.PlanarBody("big", 2, 1, position=(0, 0))
    dot = mb.Particle("dot", 1, position=(np.sin(0.1), np.cos(0.1)))
    rails = mb.Prismatic("rails", mb.ground, big, at=(0, 0), axis=(1, 0))
    on = mb.Contact("on", big, dot, radii=(1, 0))
    motion = zw.simulate(mb.Mechanism([big, dot], [rails, on], [G]), until=1.2)
    assert motion.transition_kind.values.tolist() == ["lift"]
    total = 2 * motion.v.sel(coordinate="big.x") + motion.v.sel(coordinate="dot.x")
    assert float(abs(total).max()) < 1e-12


@pytest.mark.parametrize("first", ["mb.ground", "table"])
def test_a_plane_may_move(first):
    table = mb.Moving("table", position=(0, -0.1 * zw.t))
    ball = disc(at=(0, 0.1), radius=0.1)
    body = table if first == "table" else mb.ground
    floor = mb.Contact("floor", body, ball, normal=(0, 1), radius=0.1)
    motion = zw.simulate(mb.Mechanism([ball], [floor], [G]), until=1.0, samples=3)
    down = 0.1 if first == "table" else 0.0
    assert motion.q.values[-1, 1] == pytest.approx(0.1 - down, abs=1e-12)


def test_contacts_take_the_way_of_large_mechanisms():
    """Rows are written one by one there, and have their names and laws."""
    from zwang.multibody.families import by_families

    ball = disc()
    floor = mb.Contact("floor", mb.ground, ball, normal=(0, 1), radius=0.03, friction=0.2, restitution=0.5)
    mechanism = mb.Mechanism([ball], [floor], [G])
    found = by_families(mechanism, frozenset(), {})
    assert found.constraint_names == ("floor",)
    assert found.constraints[0] == mechanism.system.constraints[0]


def test_what_touches_is_drawn():
    ball = disc()
    floor = mb.Contact("floor", mb.ground, ball, normal=(0, 1), radius=0.03)
    kinds = {s.name: s.kind for s in mb.Mechanism([ball], [floor]).drawing.shapes}
    assert kinds == {"disc": "point", "floor": "circle", "floor spoke": "line", "floor line": "line"}
    block = mb.PlanarBody("block", 1, 1, position=(0, 1))
    box = mb.Contact("box", mb.ground, block, normal=(0, 1), box=(1, 2))
    assert "body" in {s.kind for s in mb.Mechanism([block], [box]).drawing.shapes}


MU = sp.Symbol("mu")
BALL = disc("ball")
SOLID = mb.Body("solid", 1, (1, 1, 1), position=(0, 0, 2))
DOT = mb.Particle("dot", 1, position=(0, 1))


@pytest.mark.parametrize(
    ("second", "given", "words", "where"),
    [
        (BALL, {}, "neither a plane \\(normal\\) nor radii", ("normal",)),
        (BALL, {"normal": (0, 1), "radii": (1, 1)}, "both a plane \\(normal\\) and radii", ("normal",)),
        (BALL, {"normal": (0, 0)}, "has no direction", ("normal",)),
        (BALL, {"normal": (0, 1), "radius": -1}, "-1 is negative, and no radius is", ("radius",)),
        (BALL, {"normal": (0, 1), "inside": True}, "inside goes with radii", ("inside",)),
        (BALL, {"radii": (1, 1), "radius": 1}, "radius goes with the normal of a plane", ("radius",)),
        (BALL, {"radii": (1,)}, "give two, that of the first body and that of the second", ("radii",)),
        (BALL, {"radii": (0, 0)}, "both radii are 0: two points do not touch", ("radii",)),
        (BALL, {"radii": (1, 2), "inside": True}, "no room inside", ("radii",)),
        (BALL, {"radii": (1, 1), "axis": (0, 1)}, "a cylinder stands in space", ("axis",)),
        (BALL, {"normal": (0, 1), "rim": (0, 1)}, "a rim is that of one disc in space", ("rim",)),
        (SOLID, {"normal": (0, 0, 1), "rim": (0, 1, 0)}, "a rim needs the radius of its disc", ("radius",)),
        (BALL, {"normal": (0, 1), "box": (1, 1), "corners": [(0, 0)]}, "corners and box say twice", ("corners",)),
        (BALL, {"normal": (0, 1), "box": (1, 0)}, "box is 0, but it must be positive", ("box",)),
        (BALL, {"normal": (0, 1), "corners": 3}, "3 are not points: give 2 entries each", ("corners",)),
        (DOT, {"normal": (0, 1), "box": (1, 1)}, "'dot' is a particle, which has no corners", ("second",)),
        (DOT, {"normal": (0, 1), "centre": (3, 3)}, "away from the particle 'dot'", ("centre",)),
        (BALL, {"normal": (0, 1), "restitution": 1.5}, "restitution is 1.5, but must be from 0", ("restitution",)),
        (BALL, {"normal": (0, 1), "friction": -0.1}, "friction is -0.1, but a coefficient", ("friction",)),
        (BALL, {"normal": (0, 1), "friction": (0.1, 0.2)}, "of sliding, 0.2, is above that of sticking", ("friction",)),
        (BALL, {"normal": (0, 1), "friction": zw.t}, "friction contains t", ("friction",)),
        (mb.ground, {"normal": (0, 0, 1)}, "", ()),
    ],
)  # fmt: skip
def test_what_cannot_be_a_contact_is_refused_at_its_argument(second, given, words, where):
    with pytest.raises(InputError, match=f"contact 'c'.*{words}") as caught:
        mb.Contact("c", mb.ground, second, **given)
    if where:
        assert caught.value.mistakes[0].where == where


def test_a_model_file_says_where_a_contact_is_wrong():
    text = """
[bodies.ball]
kind = "planar"
mass = 1
inertia = 1
position = [0, 2]
[joints.floor]
kind = "contact"
second = "ball"
normal = [0, 1]
restitution = 2
"""
    with pytest.raises(ModelFileError, match=r"11:15: error: contact .floor.: restitution is 2, but must be from 0"):
        read_model(text)


def test_a_start_in_penetration_names_the_contact_and_how_deep_it_is():
    ball = disc(at=(0, 0.02))
    floor = mb.Contact("floor", mb.ground, ball, normal=(0, 1), radius=0.03)
    with pytest.raises(InputError, match=r"beyond the limit 'floor' by 0\.01"):
        zw.simulate(mb.Mechanism([ball], [floor], [G]), mb.Mechanism([ball], [floor], [G]).guess, until=1)


def test_a_box_that_is_set_down_with_a_spin_begins_with_an_impact():
    """Housner's ratio, once more: a block that turns about the centre of its base loses what its other corner does."""
    w, h = 0.2, 1.0
    inertia = (w * w + h * h) / 12
    block = mb.PlanarBody("block", 1.0, inertia, position=(0, h / 2), velocity=(0.5 * h, 0), spin=-1.0)
    floor = mb.Contact("floor", mb.ground, block, normal=(0, 1), box=(w, h), friction=50)
    motion = zw.simulate(mb.Mechanism([block], [floor], [mb.Gravity((0, -9.81))]), until=1e-3, samples=2)
    assert motion.transition_time.values[0] == 0
    about = inertia + (w * w + h * h) / 4  # about the corner that is met; before, the angular momentum is I ω + m v h/2
    spin = -(inertia + h * h / 4) / about
    np.testing.assert_allclose(motion.velocity_after.values[0, 2], spin, rtol=1e-13)
