"""A motion's variables have the dimensions and kinds that everybody relies on, or it is said which has not."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import InputError
from zwang.files.store import load_motion, save_motion
from zwang.results.misfit import misfit

x, y = zw.coordinates("x y")


@pytest.fixture(scope="module")
def motions():
    """Of contacts, of events, of many samples, of dry friction that held."""
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    plain = zw.System((x, y), kinetic=kinetic, potential=9.81 * y, constraints={"wall": x - 1})
    start, events = {x: 1, y: 1, zw.dot(x): 0, zw.dot(y): 0}, [zw.Event(y - 0.5, "half")]
    dry = zw.System((x,), kinetic=zw.dot(x) ** 2 / 2, forces={x: -sp.sign(zw.dot(x)) + sp.Rational(1, 2)})
    return [
        zw.load_model("bouncing_ball").simulate(samples=5),
        zw.simulate(plain, start, until=1, samples=5, events=events),
        zw.simulate_many(plain, start | {y: [1.0, 2.0]}, until=1, samples=5, events=events),
        zw.simulate(dry, {x: 0, zw.dot(x): 1}, until=4, samples=5),
    ]


def test_every_motion_of_simulate_fits(motions):
    assert [misfit(motion) for motion in motions] == [""] * 4


@pytest.mark.parametrize(
    ("which", "name", "value", "words"),
    [
        (0, "gap", ("time", np.zeros(5)), r"gap has the dimensions \(time\), not \(time, contact\)"),
        (0, "mode", (("time", "contact"), np.zeros((5, 1))), "mode does not hold text"),
        (0, "unit_q", ("coordinate", np.zeros(2)), "unit_q does not hold text"),
        (0, "contact", ("contact", [3.0]), "contact is not a row of names"),
        (0, "drawing", ("time", np.zeros(5)), r"drawing has the dimensions \(time\)"),
        (1, "event_time", ((), 3.0), r"event_time has the dimensions \(\), not \(event\)"),
        (1, "event_name", ("event", [3.0]), "event_name does not hold text"),
        (1, "unique", ("time", np.zeros(5)), "unique has the dimensions"),
        (2, "event_q", (("event", "sample", "coordinate"), np.zeros((1, 2, 2))), "event_q has the dimensions"),
        (3, "rest_begin", ((), 1.0), "rest_begin has the dimensions"),
    ],
)  # fmt: skip
def test_a_variable_that_does_not_fit_is_named(motions, which, name, value, words, tmp_path):
    spoilt = motions[which].drop_vars(name, errors="ignore").assign({name: value})
    if name in motions[which].coords:
        spoilt = spoilt.set_coords(name)
    with pytest.raises(InputError, match=words):
        load_motion(save_motion(spoilt, tmp_path / "m.nc"))


def test_times_of_events_without_names_are_no_events(motions):
    assert "it has event_time, but not the times and names of events" in misfit(motions[1].drop_vars("event_name"))


def test_a_motion_of_many_samples_with_events_is_plotted(motions):
    assert zw.plot(motions[2])
    with pytest.raises(InputError, match=r"the dimensions case and coordinate beside time.*motion.isel\(case=0\)"):
        zw.plot(motions[1].expand_dims(case=2), "q")
