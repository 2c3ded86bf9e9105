"""Modes of contacts for pictures."""

import json
import re

import numpy as np

import zwang as zw
from zwang.show.colors import PAIRS
from zwang.show.modes import Light, color_of, contact_data, lights_of, stretches
from zwang.show.player import player_html


def bouncing():
    """A ball that bounces twice before the end."""
    x, y = zw.coordinates("x y")
    floor = zw.Constraint(y >= 0, "floor <b>", restitution=0.5)
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=kinetic, potential=9.81 * y, constraints=[floor])
    return zw.simulate(system, {x: 0, y: 1, zw.dot(x): 1, zw.dot(y): 0}, until=1.1, samples=221)


def test_a_stretch_ends_where_the_next_mode_was_first_seen():
    modes, times = np.array(["open", "open", "closed", "open"]), np.array([0.0, 1.0, 2.0, 3.0])
    assert stretches(modes, times) == [("open", 0.0, 2.0), ("closed", 2.0, 3.0), ("open", 3.0, 3.0)]


def test_the_player_knows_modes_and_impacts():
    motion = bouncing()
    page = player_html(motion)
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    [contact] = data["contacts"]
    assert contact["spans"] == [["open", 0.0]]
    assert np.allclose(contact["impacts"], motion.transition_time.values, rtol=1e-8)
    assert '<li data-contact="0">floor &lt;b&gt; <span></span></li>' in page
    assert data["modeColors"].keys() == {"open", "closed", "sticking", "sliding", "struck"}


def test_a_motion_without_contacts_has_no_list():
    x, y = zw.coordinates("x y")
    system = zw.System((x, y), kinetic=(zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2)
    free = zw.simulate(system, {x: 0, y: 0, zw.dot(x): 1, zw.dot(y): 0}, until=1)
    assert lights_of(free) == ()
    assert contact_data(()) == {}
    assert 'class="zw-legend zw-contacts"' not in player_html(free)


def test_shapes_of_a_contact_take_its_colour():
    floor = Light("floor.corner1", (("open", 0.0), ("sticking", 2.0), ("open", 3.0)), (1.0,))
    assert all(floor.lights(name) for name in ("floor", "floor line", "floor.corner1"))
    assert not any(floor.lights(name) for name in ("flo", "corner1", "floor.corner2"))
    modes = [floor.mode(t, 0.1) for t in (0.5, 1.05, 1.2, 2.5, 3.5)]
    assert modes == ["open", "struck", "open", "sticking", "open"]
    assert color_of([floor], "floor", 2.5, 0.1) == PAIRS["green"]
    assert color_of([floor], "floor", 0.5, 0.1) is None
    assert color_of([floor], "ball", 2.5, 0.1) is None


def test_a_motion_from_a_strange_file_shows_no_contacts():
    motion = bouncing()
    assert lights_of(motion.drop_vars("impulse")) == ()
    strange = motion.assign(mode=motion["mode"].copy(data=np.full(motion["mode"].shape, "<script>")))
    assert lights_of(strange) == ()


def test_films_light_what_is_touched():
    from zwang.show.scene import Seen, scene_of

    scene = scene_of(bouncing())
    shape = Seen("floor <b>", "line", 0, 1, ("#000000", "#ffffff"), False)
    hit = int(np.searchsorted(scene.times, scene.lights[0].impacts[0]))
    assert scene.seen(shape, hit).colors == PAIRS["red"]
    assert scene.seen(shape, 0) is shape
