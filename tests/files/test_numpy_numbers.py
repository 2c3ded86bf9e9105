"""NumPy's numbers in a model are Python's numbers: they run, are written, and are read back equal."""

from dataclasses import fields

import numpy as np
import pytest

import zwang as zw
import zwang.multibody as mb
from zwang import dot
from zwang.files.analyses.fit import Measurement
from zwang.files.analyses.kinematics import Positions
from zwang.files.analyses.linear import Linear
from zwang.files.analyses.lyapunov import Divergence
from zwang.files.model_file import ModelFile, Run
from zwang.files.read import read_model
from zwang.files.write import model_text

x = zw.coordinates("x")
k = zw.parameters("k")
KINDS = [np.float64, np.float32, np.int64, np.int32, np.array, lambda value: np.array([value])[0]]


def spring(**more):
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=k * x**2 / 2, parameters={k: more.pop("k", 2)})
    return ModelFile(system, more.pop("start", {x: 1, dot(x): 0}), **more)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_takes_numbers_of_numpy(kind):
    run = Run(until=kind(2), samples=np.int64(5), max_step=kind(1), tol=np.float64(1e-10), assemble=np.bool_(True),
              drift=("baumgarte", kind(10), kind(5)))  # fmt: skip
    model = spring(run=run, k=kind(3), start={x: kind(1), dot(x): kind(0)}, sweep={"k": np.array([1.0, 2.0])})
    again = read_model(model_text(model))
    assert again.run == run == Run(2, 5, max_step=1, tol=1e-10, assemble=True, drift=("baumgarte", 10, 5))
    assert not [f.name for f in fields(run) if isinstance(getattr(again.run, f.name), np.generic)]
    assert np.array_equal(again.swept["k"], [1, 2])
    assert model.simulate().q.values.tolist() == again.simulate().q.values.tolist()


def test_questions_take_numbers_of_numpy():
    asked = {
        "lyapunov": Divergence(until=np.float64(3), count=np.int64(1), stretches=np.int32(7)),
        "kinematics": Positions(times=np.linspace(0, 1, 3)),
        "linear": Linear(against={"k": np.array([1.0, 2.0])}),
        "fit": Measurement(
            data=({"t": np.array([0.0, 1.0]), "x": np.array([1.0, 0.5])},),
            unknown={"k": None},
            bounds={"k": (np.float64(1), np.int64(4))},
            pieces=np.int64(2),
        ),
    }
    plain = {
        "lyapunov": Divergence(until=3.0, count=1, stretches=7),
        "kinematics": Positions(times=(0.0, 0.5, 1.0)),
        "linear": Linear(against={"k": (1.0, 2.0)}),
        "fit": Measurement(({"t": (0.0, 1.0), "x": (1.0, 0.5)},), {"k": None}, bounds={"k": (1.0, 4)}, pieces=2),
    }
    assert asked == plain
    text = model_text(spring(run=Run(until=1.0), analyses=asked))
    assert "np." not in text
    assert text == model_text(spring(run=Run(until=1.0), analyses=plain))
    assert read_model(text).analyses["lyapunov"] == plain["lyapunov"]


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.float32])
def test_contacts_events_and_bodies_take_numbers_of_numpy(kind):
    floor = zw.Constraint(x >= 0, "floor", restitution=kind(1))
    event = zw.Event(x - 2, "two", direction=np.int64(1), stop=np.bool_(True))
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=10 * x, constraints=[floor])
    model = ModelFile(system, {x: kind(1), dot(x): kind(0)}, Run(until=kind(1), samples=np.int64(3)), (event,))
    again = read_model(model_text(model))
    assert again.simulate().q.values.tolist() == model.simulate().q.values.tolist()

    def pendulum(number):
        arm = mb.PlanarBody("arm", mass=number(2), inertia=number(1), position=(number(1), number(0)))
        pin = mb.Revolute("pin", mb.ground, arm, at=(number(0), number(0)))
        more = [mb.Gravity((number(0), number(-10))), mb.JointSpring("coil", pin, stiffness=number(3))]
        return mb.Mechanism([arm], joints=[pin], forces=more)

    text = model_text(pendulum(kind))
    assert "np." not in text
    for made in (pendulum(kind), read_model(text).mechanism):
        assert zw.evaluate(made).acceleration == pytest.approx(zw.evaluate(pendulum(int)).acceleration)
