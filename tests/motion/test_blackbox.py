"""Systems from plain functions, against the same systems from formulas."""

import math

import numpy as np
import pytest

import zwang as zw
from zwang import dot
from zwang.errors import InconsistentError, InputError, MassError, SimulationError
from zwang.formulations import FORMS
from zwang.results.dataset import VARIABLES

x, y = zw.coordinates("x y")
m, g = zw.parameters("m g")
START = {"x": 1.0, "y": 0.0, "x'": 0.0, "y'": 0.0}


def pendulum(**changes):
    parts = {
        "M": lambda q, t: 2 * np.eye(2),
        "Q": lambda q, v, t: np.array([0, -2 * 9.81]),
        "A": lambda q, v, t: 2 * q[None],
        "b": lambda q, v, t: np.array([-2 * v @ v]),
        "constraints": ("rod",),
    }
    return zw.BlackBox(("x", "y"), **(parts | changes))


def same_from_formulas():
    return zw.System(
        (x, y),
        kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=m * g * y,
        constraints={"rod": x**2 + y**2 - 1},
        parameters={m: 2, g: 9.81},
    )


@pytest.mark.parametrize(("method", "tol"), [("auto", 1e-11), ("dop853", 1e-9), ("radau", 1e-7), ("lsoda", 1e-9)])
def test_agrees_with_formulas(method, tol):
    motion = zw.simulate(pendulum(), START, until=1.0, samples=11, method=method, tol=tol)
    exact = zw.simulate(same_from_formulas(), {x: 1, y: 0, dot(x): 0, dot(y): 0}, until=1.0, samples=11)
    for name in (
        "q",
        "v",
        "a",
        "force",
        "constraint_force",
        "ideal_force",
        "multiplier",
        "kinetic",
        "gaussian",
        "rank",
    ):
        np.testing.assert_allclose(motion[name], exact[name], atol=1e3 * tol, err_msg=name)
    np.testing.assert_allclose(motion.constraint_power, 0, atol=1e3 * tol)
    assert motion.status == "finished"
    assert motion.method == ("dop853" if method == "auto" else method)
    assert list(motion.coordinate.values) == ["x", "y"]
    assert list(motion.constraint.values) == ["rod"]
    assert motion.unique.all()


def test_what_only_formulas_know_is_not_a_number():
    motion = zw.simulate(pendulum(), START, until=0.1, samples=2)
    assert set(VARIABLES) <= set(motion.data_vars)
    for name in ("residual", "residual_rate", "potential", "energy", "energy_balance"):
        assert np.isnan(motion[name]).all(), name


def test_a_free_system_and_constant_arrays():
    motion = zw.simulate(zw.BlackBox(("x",), M=[[2.0]], Q=[4.0], name="fall"), ([1.0], [0.0]), until=2.0, samples=3)
    np.testing.assert_allclose(motion.q[:, 0], [1, 2, 5], atol=1e-12)
    assert motion.system == "fall"
    assert motion.sizes["constraint"] == 0
    assert (motion["rank"] == 0).all()


def test_nonideal_forces():
    """Friction in a groove: C acts along it."""
    box = zw.BlackBox(
        ("x", "y"),
        M=np.eye(2),
        Q=[0, 0],
        A=[[0, 1]],
        b=[0],
        C=lambda q, v, t: -0.5 * v,
    )
    motion = zw.simulate(box, {"x": 0, "x'": 1, "y": 0, "y'": 0}, until=1.0, samples=3)
    np.testing.assert_allclose(motion.v[:, 0], np.exp(-0.5 * motion.time), atol=1e-10)
    np.testing.assert_allclose(motion.nonideal_power, -0.5 * np.exp(-motion.time), atol=1e-10)
    assert list(motion.constraint.values) == ["constraint 1"]


@pytest.mark.parametrize("form", FORMS)
def test_redundant_rows_in_every_form(form):
    box = pendulum(
        A=lambda q, v, t: np.array([2 * q, 4 * q]), b=lambda q, v, t: -2 * v @ v * np.array([1, 2]), constraints=None
    )
    motion = zw.simulate(box, START, until=0.3, samples=2, tol=1e-8, form=form)
    once = zw.simulate(pendulum(), START, until=0.3, samples=2, tol=1e-8)
    np.testing.assert_allclose(motion.q, once.q, atol=1e-7)
    assert (motion["rank"] == 1).all()
    assert not motion.unique.any()


@pytest.mark.parametrize("start", [([1, 0], [0, 0]), {x: 1, y: 0, dot(x): 0, dot(y): 0}, {**START, y: 0, "y": 0}])
def test_ways_to_give_a_start(start):
    motion = zw.simulate(pendulum(), start, until=0.1, samples=2, tol=1e-6)
    np.testing.assert_allclose(motion.q[0], [1, 0])


def test_events():
    events = [zw.Event(x - 0.5, "half"), zw.Event(x, "bottom", stop=True)]
    motion = zw.simulate(pendulum(), START, until=3.0, samples=31, tol=1e-9, events=events)
    assert motion.status == "event"
    assert list(motion.event_name.values) == ["half", "bottom"]
    assert abs(motion.event_time.values[-1] - 0.591960491) < 1e-8
    with pytest.raises(InputError, match="event 'heavy': unknown symbol m"):
        zw.simulate(pendulum(), START, until=1.0, events=[zw.Event(x - m, "heavy")])


def test_a_change_of_rank_stops():
    """A second wall appears at x = 0.5: the rank of A goes from 1 to 2."""
    box = zw.BlackBox(
        ("x", "y"),
        M=np.eye(2),
        Q=[0, 0],
        A=lambda q, v, t: [[0, 1], [float(q[0] < 0.5), 0]],
        b=[0, 0],
        constraints=("floor", "wall"),
    )
    start = {"x": 1, "x'": -1, "y": 0, "y'": 0}
    motion = zw.simulate(box, start, until=1.0, samples=101, throw=False)
    assert motion.status == "singular"
    assert "rank of A is 1 up to here" in motion.message
    assert 0.48 < motion.time.values[-1] <= 0.5
    assert (motion["rank"] == 1).all()
    with pytest.raises(SimulationError, match="singular"):
        zw.simulate(box, start, until=1.0)


def test_rows_that_come_to_contradict_each_other():
    box = zw.BlackBox(
        ("x",), M=[[1]], Q=[0], A=[[1], [1]], b=lambda q, v, t: [0, max(t - 0.5, 0)], constraints=("rest", "go")
    )
    motion = zw.simulate(box, ([0], [0]), until=1.0, samples=101, throw=False)
    assert motion.status == "inconsistent"
    assert "'go' contradicts constraint 'rest'" in motion.message
    assert 0.45 < motion.time.values[-1] <= 0.51


def test_a_function_that_ends():
    box = zw.BlackBox(("x",), M=[[1]], Q=lambda q, v, t: np.sqrt(1 - q))
    with np.errstate(invalid="ignore"):
        motion = zw.simulate(box, ([0], [1]), until=3.0, samples=301, tol=1e-8, throw=False)
    assert motion.status == "not finite"
    assert "Q(q, v, t) is not finite" in motion.message
    assert abs(motion.time.values[-1] - 0.7613) < 0.011


def test_a_function_that_raises_beyond_its_domain():
    box = zw.BlackBox(("x",), M=[[1]], Q=lambda q, v, t: [math.sqrt(1 - q[0])])
    motion = zw.simulate(box, ([0], [1]), until=3.0, samples=301, tol=1e-8, throw=False)
    assert motion.status == "not finite"
    assert "Q(q, v, t) raised ValueError" in motion.message


@pytest.mark.parametrize("method", ["dop853", "radau", "lsoda"])
def test_a_function_that_fails_on_the_way(method):
    def Q(q, v, t):
        if t > 0.5:
            raise KeyError("spring")
        return [0.0, 0.0]

    with pytest.raises(InputError, match=r"Q\(q, v, t\) raised KeyError at t = .*spring"):
        zw.simulate(pendulum(Q=Q), START, until=1.0, method=method, tol=1e-6)


def test_an_interrupt():
    def impatient(at, end):
        raise KeyboardInterrupt

    motion = zw.simulate(pendulum(), START, until=1e6, times=np.arange(10.0), progress=impatient)
    assert motion.status == "interrupted"


def test_functions_may_do_what_they_like_with_their_arrays():
    def Q(q, v, t):
        q[:], v[:] = 7, 7
        return [0, -2 * 9.81]

    motion = zw.simulate(pendulum(Q=Q), START, until=0.5, samples=2, tol=1e-8)
    tidy = zw.simulate(pendulum(), START, until=0.5, samples=2, tol=1e-8)
    np.testing.assert_array_equal(motion.q, tidy.q)


WRONG = {
    "M of the wrong shape": ({"M": lambda q, t: np.eye(3)}, InputError, r"M\(q, t\) returned shape \(3, 3\): \(2, 2\)"),
    "Q of the wrong shape": (
        {"Q": lambda q, v, t: [[0, 1]]},
        InputError,
        r"Q\(q, v, t\) returned shape \(1, 2\): \(2,\)",
    ),
    "A of the wrong shape": ({"A": lambda q, v, t: q}, InputError, r"A\(q, v, t\) returned shape \(2,\): \(1, 2\)"),
    "A without names": ({"A": [[1, 2, 3]], "constraints": None}, InputError, r"A\(q, v, t\) returned .*\(m, 2\)"),
    "b of the wrong shape": ({"b": [1, 2]}, InputError, r"b\(q, v, t\) returned shape \(2,\): \(1,\)"),
    "C of the wrong shape": ({"C": 3.0}, InputError, r"C\(q, v, t\) returned shape \(\): \(2,\)"),
    "NaN": ({"b": lambda q, v, t: [np.nan]}, InputError, r"b\(q, v, t\) is not finite at t = 0: entry \[0\]"),
    "text": ({"Q": lambda q, v, t: "heavy"}, InputError, r"Q\(q, v, t\) returned 'heavy', which is not an array"),
    "nothing": ({"Q": lambda q, v, t: None}, InputError, r"Q\(q, v, t\) "),
    "an exception": ({"M": lambda q, t: q[5]}, InputError, r"M\(q, t\) raised IndexError at t = 0"),
    "wrong arguments": ({"M": lambda q, v, t: q}, InputError, r"M\(q, t\) raised TypeError"),
    "half a constraint": ({"b": None}, InputError, "A and b make A q̈ = b together"),
    "names in one text": ({"constraints": "rod"}, InputError, "give names one by one"),
    "a mass matrix that is none": ({"M": [[1, 2], [0, 1]]}, MassError, "not symmetric"),
    "contradictions": (
        {"A": [[1, 0], [1, 0]], "b": [0, 1], "constraints": ("rest", "go")},
        InconsistentError,
        "'go' contradicts constraint 'rest'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_named(case):
    changes, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        zw.simulate(pendulum(**changes), START, until=1.0)


OPTIONS = {
    "parameters": ({"parameters": {m: 1}}, "a black box has no parameters"),
    "drift": ({"drift": "projection"}, "put Baumgarte's terms into its b"),
    "method": ({"method": "native"}, "does not serve black boxes: choose one of 'auto', 'dop853'"),
    "form": ({"form": "newton"}, "form='newton' is unknown"),
    "a tight tolerance": ({"tol": 1e-15}, "tighter than method='dop853' can hold"),
    "a loose tolerance": ({"tol": 1.0}, "out of range"),
    "an incomplete start": ({"start": {"x": 1}}, "does not say what y, x', y' is"),
    "an unknown name": ({"start": START | {"z": 1}}, "sets z, which this system does not have"),
    "a start of the wrong length": ({"start": ([1], [0])}, r"q \(1,\) and v \(1,\): \(2,\) is needed"),
    "a start that is none": ({"start": 3}, "is a mapping"),
    "a start without number": ({"start": START | {"x": np.nan}}, "not finite"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options_that_do_not_fit_are_refused(case):
    changes, message = OPTIONS[case]
    given = {"start": START, "until": 1.0} | changes
    with pytest.raises(InputError, match=message):
        zw.simulate(pendulum(), **given)


def test_no_system_at_all():
    with pytest.raises(InputError, match="takes a System, a Mechanism or a model; got a dict"):
        zw.simulate({}, START, until=1.0)
    with pytest.raises(InputError, match="no name twice"):
        zw.BlackBox(("x", "x"), M=np.eye(2), Q=[0, 0])
