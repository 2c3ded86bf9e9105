"""Signals: tables of values and their native code, and their place in a model."""

import pickle

import numpy as np
import pytest
import symengine as se
from scipy.interpolate import CubicSpline

import zwang as zw
from tests.motion.systems import k, m, oscillator, record, u, x
from zwang import dot
from zwang.compile import Program, compile_program
from zwang.errors import InputError, ModelError
from zwang.model.signal import INTERPOLATIONS
from zwang.motion.breaks import breaks_of

RNG = np.random.default_rng(7)
h, t = se.symbols("h t")
LOOKED_UP = se.Function("signal")(h, t)
ORDERS = [LOOKED_UP, *(LOOKED_UP.diff(*[t] * order) for order in range(1, 5))]


@pytest.mark.parametrize("optimise", [0, 1, 2])
@pytest.mark.parametrize("kind", INTERPOLATIONS)
@pytest.mark.parametrize("outside", ["hold", "zero"])
def test_native_lookup(optimise, kind, outside):
    kernel = compile_program(Program({"h": (h,), "t": (t,)}, {"u": tuple(ORDERS)}), optimise=optimise)
    for times in (
        np.linspace(0, 10, 101),
        np.sort(RNG.uniform(-1, 4, 57)),
        np.array([0.0, 1.0]),
        np.array([-3.0, 0.0, 1e-9, 5.0]),
        1e6 + 0.1 * np.arange(7),
    ):
        signal = zw.Signal(times, RNG.normal(size=len(times)), kind, outside)
        at = np.concatenate(
            [
                RNG.uniform(times[0] - 1, times[-1] + 1, 300),
                times,
                np.nextafter(times, -np.inf),
                np.nextafter(times, np.inf),
            ]
        )
        found = kernel(h=[signal.address], t=at[:, None])["u"]
        for order in range(5):
            np.testing.assert_allclose(found[:, order], signal(at, order), rtol=1e-13, atol=0)


def test_signals_are_what_scipy_and_numpy_make_of_points():
    times, values = np.sort(RNG.uniform(0, 1, 20)), RNG.normal(size=20)
    at = RNG.uniform(times[0], times[-1], 200)
    np.testing.assert_allclose(zw.Signal(times, values)(at), np.interp(at, times, values), rtol=1e-12, atol=1e-12)
    spline = CubicSpline(times, values)
    for order in range(4):
        wanted = spline(at, order)
        found = zw.Signal(times, values, "cubic")(at, order)
        np.testing.assert_allclose(found, wanted, atol=1e-12 * abs(wanted).max())


def test_outside():
    points = ([0, 1, 2], [1, 3, 2])
    assert zw.Signal(*points)([-1, 3]).tolist() == [1, 2]
    assert zw.Signal(*points, outside="zero")([-1, 0, 2, 3]).tolist() == [0, 1, 2, 0]
    assert zw.Signal(*points)([-1, 3], 1).tolist() == [0, 0]
    assert zw.Signal(*points)(2, 1) == -1  # the end belongs to the last interval
    with pytest.raises(InputError, match="outside of 0 to 2"):
        zw.Signal(*points, outside="error")([0, 3])


def test_breaks():
    bent = zw.Signal([0, 1, 2, 3], [0, 1, 2, 0])
    after = np.nextafter(bent.breaks(1), np.inf)
    np.testing.assert_array_equal(after, [0, 2, np.nextafter(3, 4)])  # straight on at 1
    assert not len(bent.breaks(0))
    assert len(zw.Signal([0, 1, 2, 3], [1, 1, 2, 4], outside="zero").breaks(0)) == 2
    assert len(zw.Signal([0, 1, 2, 3], [0, 1, 2, 0], outside="error").breaks(3)) == 1
    spline = zw.Signal(np.arange(7.0), RNG.normal(size=7), "cubic", outside="error")
    assert not len(spline.breaks(2))
    assert len(spline.breaks(3)) == 3  # not at the second and the last but one: no knots there
    assert not len(breaks_of({}))


def test_equal_by_content():
    one, same = zw.Signal([0, 1], [2, 3]), zw.Signal(np.array([0.0, 1.0]), (2, 3))
    assert one == same
    assert hash(one) == hash(same)
    assert one != zw.Signal([0, 1], [2, 3], "cubic")
    assert one != zw.Signal([0, 1], [2, 4])
    assert one != "signal"
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert again.address != one.address
    assert oscillator(one) == oscillator(same)
    assert pickle.loads(pickle.dumps(oscillator(one))).parameters[u] == one
    assert repr(one) == "Signal(2 points from 0 to 1, linear, outside='hold')"


def test_points_cannot_be_changed():
    times = np.array([0.0, 1.0])
    signal = zw.Signal(times, [0, 1])
    times[1] = 5
    assert signal(1.0) == 1
    with pytest.raises(ValueError, match="read-only"):
        signal.values[0] = 3


def test_from_csv(tmp_path):
    file = tmp_path / "quake.csv"
    file.write_text("time, a, b\n0.0, 1.5, 9\n0.5, 2.5, 8\n")
    assert zw.Signal.from_csv(file, time="time", value="a", kind="cubic") == zw.Signal([0, 0.5], [1.5, 2.5], "cubic")
    with pytest.raises(InputError, match="no column 'c': there are 'time', 'a', 'b'"):
        zw.Signal.from_csv(file, time="time", value="c")
    file.write_text("t,u\n0,1\n1,\n")
    with pytest.raises(InputError, match="values are not real numbers"):
        zw.Signal.from_csv(file)


WRONG = {
    "unsorted": (([0, 2, 1], [1, 2, 3]), {}, "times must ascend, but entry 2 is 1 after 2"),
    "twice": (([0, 1, 1], [1, 2, 3]), {}, "times must ascend"),
    "NaN": (([0, 1], [1, np.nan]), {}, "entry 1 of values is nan"),
    "infinite": (([0, np.inf], [1, 2]), {}, "entry 1 of times is inf"),
    "lengths": (([0, 1, 2], [1, 2]), {}, "3 times for 2 values"),
    "one point": (([0], [1]), {}, "1 point does not make a function of time"),
    "a matrix": (([[0, 1]], [[1, 2]]), {}, r"times has shape \(1, 2\)"),
    "text": ((["now", "then"], [1, 2]), {}, "times are not real numbers"),
    "kind": (([0, 1], [1, 2]), {"kind": "quintic"}, "kind='quintic' is unknown: choose 'linear', 'cubic'"),
    "outside": (([0, 1], [1, 2]), {"outside": "wrap"}, "outside='wrap' is unknown"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_signal(case):
    points, options, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        zw.Signal(*points, **options)


# In models.


def test_symbols_stay_symbols():
    equations = zw.derive(oscillator(record()))
    assert equations.acceleration()[0] == u - k * x
    follow = zw.System(
        (x,), kinetic=m * dot(x) ** 2 / 2, constraints={"c": x - u}, parameters={u: record(kind="cubic")}
    )
    assert zw.derive(follow).constraint_force()[0] == m * u.diff(zw.t, 2)
    assert follow.symbols == (m,)


def test_mistakes_in_models():
    with pytest.raises(ModelError, match=r"x\(t\) is a coordinate: give its value in a state"):
        zw.System((x,), kinetic=dot(x) ** 2 / 2, parameters={x: record()})
    with pytest.raises(ModelError, match="parameter m = Signal"):
        zw.System((x,), kinetic=m * dot(x) ** 2 / 2, parameters={m: record()})
    with pytest.raises(InputError, match=r"signal\[u\], which this system does not have"):
        zw.evaluate(oscillator(record()), {x: 0, dot(x): 0}, parameters={"signal[u]": 0})
    with pytest.raises(InputError, match=r"parameter u\(t\) has no value"):
        zw.evaluate(oscillator(), {x: 0, dot(x): 0})
