"""What is no motion, or not all of one, is refused in a sentence by whatever shows motions."""

import pytest
import xarray as xr

import zwang as zw
from zwang import dot
from zwang.errors import InputError

x, y = zw.coordinates("x y")
k = zw.parameters("k")
ENERGIES = {"kinetic": (dot(x) ** 2 + dot(y) ** 2) / 2, "potential": k * y}
SYSTEM = zw.System((x, y), **ENERGIES, constraints={"rod": x**2 + y**2 - 1}, parameters={k: 9.81})
FREE = zw.System((x, y), **ENERGIES, parameters={k: 9.81})
START = {x: 1, y: 0, dot(x): 0, dot(y): 0}


@pytest.fixture(scope="module")
def motion():
    return zw.simulate(SYSTEM, START, 1.0, samples=5)


def made(motion, what):
    """Datasets that are no whole motion of the system."""
    lowest = {x: 0, y: -1, dot(x): 0, dot(y): 0}
    return {
        "foreign": lambda: xr.Dataset({"temperature": (("time",), [1.0, 2.0])}, coords={"time": [0.0, 1.0]}),
        "few outputs": lambda: zw.simulate(SYSTEM, START, 1.0, samples=5, outputs=("q", "v")),
        "a mode": lambda: zw.mode_motion(SYSTEM, zw.modes(SYSTEM, lowest)),
        "modes": lambda: zw.modes(SYSTEM, lowest),
        "sensitivities": lambda: zw.sensitivities(SYSTEM, START, 1.0, inputs=[k], samples=5),
        "one instant": lambda: motion.isel(time=0),
        "without names": lambda: motion.drop_vars("constraint"),
        "without attributes": lambda: motion.drop_attrs(),
        "of another system": lambda: zw.simulate(FREE, START, 1.0, samples=5),
        "an array": lambda: motion.q,
        "nothing": lambda: None,
    }[what]()


WHAT = ["foreign", "few outputs", "a mode", "modes", "sensitivities", "one instant", "without names",
        "without attributes", "of another system", "an array", "nothing"]  # fmt: skip


@pytest.mark.parametrize("what", WHAT)
def test_a_report_of_what_is_no_whole_motion_is_refused_in_a_sentence(motion, what):
    with pytest.raises(InputError, match=r"report takes a motion|this motion is not one of this system"):
        zw.report(SYSTEM, made(motion, what))


@pytest.mark.parametrize("what", ["foreign", "modes", "one instant", "an array", "nothing"])
@pytest.mark.parametrize("show", [zw.plot, zw.animate])
def test_a_picture_of_what_is_no_motion_is_refused_in_a_sentence(motion, what, show):
    with pytest.raises(InputError, match=f"{show.__name__} takes a motion"):
        show(made(motion, what))


def test_words_and_wrong_choices_are_no_curves(motion):
    ball = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=y, constraints=[zw.Constraint(y >= 0, "floor")])
    bounces = zw.simulate(ball, {y: 1, dot(y): 0}, 1.0, samples=5)
    with pytest.raises(InputError, match="mode holds words, not numbers"):
        zw.plot(bounces, "mode")
    with pytest.raises(InputError, match=r"only=3: give names of coordinates or constraints, as in only=\['x'\]"):
        zw.plot(motion, only=3)
    with pytest.raises(InputError, match="3 cannot be plotted"):
        zw.plot(motion, 3)


def test_a_motion_without_constraints_has_a_report():
    assert "<html" in zw.report(FREE, zw.simulate(FREE, START, 1.0, samples=5), checks=False)
