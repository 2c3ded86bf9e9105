"""Files of real robots are sloppy, and are read: what is mended leaves the motion as it is, and is said."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.multibody.readers.sloppy import FLAT, GROUND, INERTIA, SLOPPY, arm
from tests.references.sloppy_urdf import FILE, accelerations
from zwang import multibody as mb
from zwang.errors import ModelFileError

REFERENCES = json.loads(FILE.read_text(encoding="utf-8"))["robots"]


def read(name):
    return mb.read_urdf(SLOPPY[name].text, floating_base=SLOPPY[name].floating)


@pytest.mark.parametrize("name", SLOPPY)
def test_a_sloppy_file_is_read_with_the_right_warnings(name):
    robot, case = read(name), SLOPPY[name]
    assert len(robot.warnings) == len(case.warnings), robot.warnings
    for line, words in zip(robot.warnings, case.warnings, strict=True):
        assert all(word in line for word in words), line
    assert set(case.ignored) <= set(robot.ignored)


@pytest.mark.parametrize("name", SLOPPY)
def test_a_sloppy_robot_moves_as_pinocchio_says(name, joint_accelerations):
    robot = read(name)
    for state in REFERENCES[name]:
        found = joint_accelerations(robot, *full_state(robot, state))
        for joint, expected in state["accelerations"].items():
            np.testing.assert_allclose(found[joint], np.atleast_1d(expected), rtol=1e-9, atol=1e-9)


def full_state(robot, state):
    """Values and rates of all joints of a robot: followers and leaders without mass go with the others."""
    values, rates = dict(state["values"]), dict(state["rates"])
    for m in robot.mechanism.joints:
        if not m.name.endswith("_mimic"):
            continue
        names = [held.slots[0].name for f in m.factors for held in robot.held if held.joint is f[0]]
        (own, k), (other, l) = zip(names, m.factors.values(), strict=True)
        if own not in values:
            values[own], rates[own] = (m.value - l * values[other]) / k, -l * rates[other] / k
        if other not in values:
            values[other], rates[other] = (m.value - k * values[own]) / l, -k * rates[own] / l
    return values, rates


@pytest.mark.parametrize("name", SLOPPY)
def test_the_references_are_pinocchios(name):
    pytest.importorskip("pinocchio", reason="Pinocchio is in the environment of the benchmarks")
    for ours, theirs in zip(REFERENCES[name], accelerations(SLOPPY[name]), strict=True):
        for joint, value in theirs["accelerations"].items():
            np.testing.assert_allclose(ours["accelerations"][joint], value, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in SLOPPY if name != "negative by rounding, moving"])
def test_strict_refuses_what_is_sloppy(name):
    with pytest.raises(ModelFileError):
        mb.read_urdf(SLOPPY[name].text, floating_base=SLOPPY[name].floating, strict=True)


def test_a_possible_file_is_read_alike_in_both_ways():
    strict, lenient = (mb.read_urdf(arm(), strict=strict) for strict in (True, False))
    assert str(strict) == str(lenient)
    assert not lenient.warnings
    assert strict.mechanism.system.kinetic == lenient.mechanism.system.kinetic
    assert strict.start({"turn": 0.3}) == lenient.start({"turn": 0.3})


def test_the_text_shows_warnings():
    assert (
        f"warnings:\n  - link 'plate': mass 0.5 and moments 0.001, 0.001, 0.01 cannot belong to a body; it is {GROUND}"
        in str(mb.read_urdf(arm({"plate": (0.5, FLAT)})))
    )


def test_a_negative_mass_matters_only_where_something_moves():
    assert "where they do not matter" in mb.read_urdf(arm({"plate": (-1.0, FLAT)})).warnings[0]
    with pytest.raises(ModelFileError, match="'lower': its mass is -1"):
        mb.read_urdf(arm({"lower": (-1.0, INERTIA["lower"][1])}))


def test_a_negative_moment_about_the_own_hinge_is_refused():
    spoilt = {"lower": (1.5, (0.02, -0.03, 0.02, 0, 0, 0))}
    with pytest.raises(ModelFileError, match="the moment about the axis of joint 'swing' is negative"):
        mb.read_urdf(arm(spoilt))


def test_what_cannot_move_says_what_frees_it():
    alone = replace(SLOPPY["a base that floats alone"], floating=False)
    with pytest.raises(ModelFileError, match="floating_base=True"):
        mb.read_urdf(alone.text)
