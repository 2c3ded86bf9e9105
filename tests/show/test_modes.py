"""Modes of contacts for pictures."""

import json
import re

import numpy as np

import zwang as zw
from zwang.show.modes import contact_data, stretches
from zwang.show.player import player_html


def bouncing():
    """A ball that bounces twice before the end."""
    x, y = zw.coordinates("x y")
    floor = zw.Constraint(y >= 0, "floor <b>", restitution=0.5)
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=kinetic, potential=9.81 * y, constraints=[floor])
    return zw.simulate(system, {x: 0, y: 1, zw.dot(x): 1, zw.dot(y): 0}, until=1.1, samples=45)


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
    assert contact_data(free) == {}
    assert 'class="zw-legend zw-contacts"' not in player_html(free)
