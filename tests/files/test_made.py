"""Systems and mechanisms that were made in Python are reported on as model files are."""

import html
import re

import numpy as np
import pytest

import zwang as zw
from tests.multibody.test_mechanism import slider_crank
from zwang import dot
from zwang.errors import InputError
from zwang.files.made import model_of
from zwang.files.read import read_model

x, y = zw.coordinates("x y")
L = zw.parameters("L")
PENDULUM = zw.System(
    (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y,
    constraints={"rod": x**2 + y**2 - L**2}, parameters={L: 1.0}, name="Made here",
)  # fmt: skip


def text_in(page):
    """The model file that a report shows."""
    found = re.search(r"The model file, model.toml.*?<pre><code>(.*?)</code>", page, re.DOTALL)
    return found and html.unescape(found.group(1))


def test_a_system_is_reported_on_with_a_file_that_repeats_the_motion():
    motion = zw.simulate(PENDULUM, {x: 2, y: 0, dot(x): 0, dot(y): 1}, 1.0, samples=11, parameters={L: 2.0})
    page = zw.report(PENDULUM, motion, parameters={L: 2.0}, checks=False)
    again = read_model(text_in(page)).simulate(parameters={"L": 2.0})
    assert np.array_equal(again.q, motion.q)
    assert "--set L=2.0" in re.sub(r"</?span>", "", page)


def test_a_mechanism_is_reported_on_with_its_joints_and_its_drawing():
    engine = slider_crank()
    for motion in (
        zw.simulate(engine, until=0.5, samples=11),
        zw.simulate(engine.system, engine.start, 0.5, samples=11),
    ):
        page = zw.report(engine, motion, checks=False)
        assert 'id="animation"' in page
        assert 'id="joints"' in page
        assert np.array_equal(read_model(text_in(page)).simulate().q, motion.q)


def test_a_motion_that_began_elsewhere_has_no_file_that_would_repeat_it():
    engine = slider_crank()
    still = engine.start | dict.fromkeys(engine.system.velocities, 0.0)
    page = zw.report(engine, zw.simulate(engine, still, 0.5, samples=11), checks=False)
    assert text_in(page) is None
    assert "The model was made in Python" in page


def test_a_motion_of_another_system_is_refused():
    motion = zw.simulate(PENDULUM, {x: 1, y: 0, dot(x): 0, dot(y): 0}, 0.1, samples=3)
    with pytest.raises(InputError, match=r"not one of this system: its coordinates are x and y, those of .* crank.x"):
        zw.report(slider_crank(), motion)
    with pytest.raises(InputError, match=r"report takes a motion, not a System: simulate\(it, until=…\)"):
        zw.report(motion, PENDULUM)
    with pytest.raises(InputError, match=r"report takes a System, a Mechanism or a model; got a Dataset"):
        zw.report(motion, motion)
    many = zw.simulate_many(PENDULUM, {x: [1, 1], y: 0, dot(x): 0, dot(y): 0}, 0.1, samples=3)
    with pytest.raises(InputError, match="choose one to report on"):
        zw.report(PENDULUM, many)


def test_a_model_file_is_what_it_is():
    model = read_model('[coordinates]\nx = {}\n[energy]\nkinetic = "x\'^2/2"\n')
    assert model_of(model, "report") is model
