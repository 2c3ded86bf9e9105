"""States that do not satisfy their constraints: said with a number and a warning, by whatever evaluates them."""

import warnings

import numpy as np
import pytest

import zwang as zw
import zwang.multibody as mb
from zwang import ConstraintViolationWarning, dot
from zwang.errors import InputError
from zwang.files.library import find_model, names

pytestmark = pytest.mark.filterwarnings("error::zwang.evaluation.ConstraintViolationWarning")
x, y = zw.coordinates("x y")
PENDULUM = zw.System(
    (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y, constraints={"rod": (x**2 + y**2 - 1) / 2}
)


def at(q, v):
    return dict(zip((x, y, dot(x), dot(y)), (*q, *v), strict=True))


@pytest.mark.parametrize("large", [False, True])
def test_a_state_off_its_constraints_is_told_in_position_and_velocity(large, monkeypatch):
    monkeypatch.setattr("zwang.lowering.matrices.SPARSE_FROM", 0 if large else 10**6)
    with pytest.warns(ConstraintViolationWarning, match=r"'rod' reads 0\.625 in position and 3 in velocity") as caught:
        now = zw.evaluate(PENDULUM, at((1.5, 0), (2, 0)))
    assert now.residuals.position == pytest.approx((1.5**2 - 1) / 2)
    assert now.residuals.velocity == pytest.approx(1.5 * 2)
    assert now.residuals.constraint == pytest.approx(0, abs=1e-12)  # the acceleration itself is in order
    assert caught[0].filename == __file__


def test_of_a_stack_the_first_state_that_is_off_is_named():
    angles = np.linspace(0, 1, 5)
    states = {x: np.cos(angles), y: np.sin(angles), dot(x): 0 * angles, dot(y): 0 * angles}
    assert zw.evaluate(PENDULUM, states).residuals.position.shape == (5,)
    states[x] = states[x] + np.where(angles == 0.5, 0.1, 0.0)
    with pytest.warns(ConstraintViolationWarning, match="state 2 of the stack"):
        off = zw.evaluate(PENDULUM, states).residuals.position
    assert np.flatnonzero(off > 1e-12).tolist() == [2]


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_rounding_is_no_violation_in_any_unit(size):
    rod = zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, constraints={"rod": x**2 + y**2 - size**2})
    for angle in np.linspace(0, 6, 40):
        c, s = size * np.cos(angle), size * np.sin(angle)
        now = zw.evaluate(rod, at((c, s), (-3 * s, 3 * c)))  # a warning is an error here
        assert now.residuals.position <= 1e-15 * size**2 * 4


def test_a_driver_that_reads_another_pose_is_told():
    """A torque that holds an arm is m g l cos φ at the driver's own angle, and at another one nothing."""
    arm = mb.PlanarBody("arm", mass=2, inertia=0.1, position=(0.5, 0))
    joint = mb.Revolute("pivot", mb.ground, arm, at=(0, 0))
    held = mb.Mechanism([arm], joints=[joint, mb.Driver("motor", joint, motion=0.5)], forces=[mb.Gravity((0, -9.81))])
    right = zw.assemble(held, held.start)
    torque = dict(zip(held.system.constraint_names, zw.evaluate(held, right).multipliers, strict=True))
    assert abs(torque["motor.motion"]) == pytest.approx(2 * 9.81 * 0.5 * np.cos(0.5))
    wrong = dict.fromkeys(right, 0.0) | {key: 0.5 for key in right if str(key) == "arm.x(t)"}
    with pytest.warns(ConstraintViolationWarning, match=r"'motor\.motion' reads -?0\.5 in position"):
        zw.evaluate(held, wrong)


def test_a_function_is_warned_of_its_first_state_and_tells_of_any():
    f = zw.function(PENDULUM)
    with pytest.warns(ConstraintViolationWarning, match="'rod' reads 0.625") as caught:
        f(0.0, np.array([1.5, 0.0]), np.zeros(2))
    assert caught[0].filename == __file__
    assert f.residuals(0.0, [1.5, 0], [2, 0]) == pytest.approx((0.625, 3.0))
    assert f.residuals(0.0, [0.6, -0.8], [0.8, 0.6]) == pytest.approx((0, 0), abs=1e-15)
    with pytest.warns(ConstraintViolationWarning) as caught:
        zw.function(PENDULUM).batch(0.0, [[1.5, 0.0]], [[0.0, 0.0]])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zw.function(PENDULUM)(0.0, [0.6, -0.8], [0.8, 0.6])


@pytest.mark.parametrize("name", names())
def test_starts_of_examples_are_no_violations(name):
    model = zw.load_model(find_model(name)[0])
    try:
        now = zw.evaluate(model, model.state())  # a warning is an error here
    except InputError as error:
        pytest.skip(str(error))
    assert now.residuals.position < 1e-8
