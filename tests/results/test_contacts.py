"""What a dataset says of contacts."""

import numpy as np
import xarray as xr

import zwang as zw
from zwang.results.contacts import OVER_TIME, TABLE, WORKS


def test_every_variable_has_its_dimensions_and_words(tmp_path):
    x, y = zw.coordinates("x y")
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    limits = [zw.Constraint(y >= 0, "floor", restitution=0.5), zw.Constraint(x <= 3, "wall", restitution=1)]
    ball = zw.System((x, y), kinetic=kinetic, potential=9.81 * y, constraints=limits)
    motion = zw.simulate(ball, {x: 0, y: 1, zw.dot(x): 4, zw.dot(y): 0}, until=2, samples=9)
    assert motion.contact.values.tolist() == ["floor", "wall"]
    for name, (dims, words) in (OVER_TIME | WORKS).items():
        assert motion[name].dims == ("time", *dims)
        assert motion[name].long_name == words
    for name, (dims, words) in TABLE.items():
        assert motion[name].dims == dims
        assert motion[name].long_name == words
    zw.save_motion(motion, tmp_path / "motion.nc")
    again = zw.load_motion(tmp_path / "motion.nc")
    xr.testing.assert_equal(motion, again)
    assert again["mode"].values[0].tolist() == ["open", "open"]


def test_states_saved_at_an_impact_are_those_after_it():
    y = zw.coordinates("y")
    floor = zw.Constraint(y >= 0, "floor", restitution=0.5)
    ball = zw.System((y,), kinetic=zw.dot(y) ** 2 / 2, potential=8 * y, constraints=[floor])
    start = {y: 1, zw.dot(y): 0}
    hit = float(zw.simulate(ball, start, until=0.7).transition_time[0])
    motion = zw.simulate(ball, start, until=0.7, times=[0.25, hit, 0.7])
    assert motion.transition_time.values.tolist() == [hit]
    assert np.allclose(motion.v.values[:, 0], [-2, 2, 0.4], atol=1e-14)
    assert np.allclose(motion.velocity_before.values, -4)
    assert np.allclose(motion.velocity_after.values, 2)
