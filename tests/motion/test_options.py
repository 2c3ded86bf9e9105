"""What is asked of motions and handles in a way that nobody means: it is refused in a sentence, whoever is asked."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import InputError

x, y = zw.coordinates("x y")
k = zw.parameters("k")
PENDULUM = zw.System(
    (x, y),
    kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
    potential=k * y,
    constraints={"rod": x**2 + y**2 - 1},
    parameters={k: 9.81},
)
START = {x: 1, y: 0, dot(x): 0, dot(y): 0}
HUGE = 10**400  # no double is as large


def simulated(**asked):
    return zw.simulate(PENDULUM, START, **{"until": 0.1, "samples": 2, **asked})


def sampled(**asked):
    return zw.simulate_many(PENDULUM, START, **{"until": 0.1, "samples": 2, **asked})


def stepped(**asked):
    return zw.Stepper(PENDULUM, START, **asked)


def evaluated(**asked):
    return zw.evaluate(PENDULUM, START, **asked)


def as_function(**asked):
    return zw.function(PENDULUM, **asked)


@pytest.mark.parametrize("call", [simulated, sampled, stepped, evaluated, as_function])
@pytest.mark.parametrize("given", [3, "k", [1, 2], np.array([1.0, 2.0]), k, {k}])
def test_parameters_that_are_no_mapping(call, given):
    with pytest.raises(InputError, match="parameters maps parameters to values"):
        call(parameters=given)


@pytest.mark.parametrize("call", [simulated, sampled, stepped])
@pytest.mark.parametrize("given", [3, None, x, "x", [x], np.array(1.0), sp.Integer(1)])
def test_events_that_are_none(call, given):
    with pytest.raises(InputError, match=r"events .*make it an event, zwang.Event\(expression, name\)"):
        call(events=given)


@pytest.mark.parametrize("call", [stepped, as_function])
def test_inputs_that_are_no_list(call):
    with pytest.raises(InputError, match="inputs = 3: give parameters or known functions of time, in a list"):
        call(inputs=3)


@pytest.mark.parametrize("call", [simulated, sampled])
@pytest.mark.parametrize("name", ["form", "impacts", "contacts", "drift"])
def test_arrays_are_no_words(call, name):
    with pytest.raises(InputError, match=name):
        call(**{name: np.arange(3.0)})


@pytest.mark.parametrize("form", [["fundamental"], np.arange(2.0), {}])
def test_forms_that_are_no_words(form):
    for call in (evaluated, lambda form: zw.solve(np.eye(1), [1.0], [[1.0]], [0.0], form=form)):
        with pytest.raises(InputError, match="is unknown: choose one of"):
            call(form=form)


@pytest.mark.parametrize("call", [simulated, sampled])
def test_numbers_beyond_all_doubles(call):
    with pytest.raises(InputError, match="both must be numbers"):
        call(until=HUGE)
    with pytest.raises(InputError, match="numbers are needed"):
        call(times=[HUGE], samples=None)
    assert call(max_step=HUGE).attrs["max_step"] == np.inf


def test_numbers_beyond_all_doubles_in_handles():
    f, stepper = as_function(inputs=[k]), stepped(inputs=[k])
    for call in (
        lambda: f(HUGE, [1, 0], [0, 0]),
        lambda: f(0.0, [1, HUGE], [0, 0]),
        lambda: f.batch(0.0, [[1, 0]], [[0, 0]], [HUGE]),
        lambda: stepper.advance(HUGE),
        lambda: stepper.advance(0.1, HUGE),
        lambda: evaluated(t=HUGE),
    ):
        with pytest.raises(InputError, match="is not a real number"):
            call()


def test_a_model_takes_one_event_as_a_system_does():
    model = zw.load_model("pendulum")
    motion = zw.simulate(model, until=5.0, events=zw.Event(model.system.coordinates[0], "middle", stop=True))
    assert motion.attrs["status"] == "event"
