"""The composer: what it refuses and in which words, how it stops, and how it can be interrupted."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.errors import InconsistentError, InputError, SimulationError

x, y = zw.coordinates("x y")
t = zw.t
FREE = (dot(x) ** 2 + dot(y) ** 2) / 2


@pytest.fixture(scope="module")
def pendulum():
    return problems.pendulum()


# What is refused, each with words of its own


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"until": -1.0}, r"until = -1 is not after the start t = 0: a positive duration is needed"),
        ({"until": 0.0}, r"until = 0 is not after the start"),
        ({"until": 1.0, "t": 2.0}, r"until = 1 is not after the start t = 2"),
        ({"until": np.inf}, r"until = inf, t = 0.0: both must be finite"),
        ({"until": "soon"}, r"until = 'soon', t = 0.0: both must be numbers"),
        ({"method": "euler"}, r"method='euler' is unknown: choose one of 'auto', 'native', 'taylor', 'radau', 'lsoda'"),
        ({"form": "newton"}, r"form='newton' cannot be integrated: choose one of 'fundamental', 'gibbs-appell'"),
        ({"form": "gauss"}, r"form='gauss' cannot be integrated"),
        ({"tol": 0.0}, r"tol = 0.0 is out of range: choose between 1e-18 and 0.01"),
        ({"tol": 1.0}, r"tol = 1.0 is out of range"),
        ({"tol": float("nan")}, r"tol = nan is out of range"),
        ({"drift": "gentle"}, r"drift='gentle' is unknown: choose 'none', 'projection', 'baumgarte' or"),
        ({"drift": ("baumgarte", 1.0)}, r"drift=\('baumgarte', 1.0\) is unknown"),
        ({"drift": ("projection", 1.0, 2.0)}, r"drift=\('projection', 1.0, 2.0\) is unknown"),
        ({"times": [0.0, 0.5, 0.4]}, r"times must be finite, at least one, and in ascending order"),
        ({"times": []}, r"times must be finite, at least one"),
        ({"times": [0.0, np.nan]}, r"times must be finite"),
        ({"times": [-1.0, 0.5]}, r"times run from -1 to 0.5, outside of the motion's 0 to 1"),
        ({"times": [0.5, 1.5]}, r"times run from 0.5 to 1.5, outside of the motion's 0 to 1"),
        ({"times": [0.5], "samples": 3}, r"times and samples are both given: give one of them"),
        ({"samples": 1}, r"samples = 1: a whole number from 2 to"),
        ({"samples": 2.5}, r"samples = 2.5: a whole number"),
        ({"parameters": {"gg": 1.0}}, r"parameters sets gg, which this system does not have"),
        ({"parameters": {"g": [9.81, 1.62]}}, r"parameters are arrays: simulate takes one value each"),
    ],
)
def test_refused_options(pendulum, change, words):
    system, start = pendulum
    with pytest.raises(InputError, match=words):
        zw.simulate(system, start, **({"until": 1.0} | change))


def test_an_inconsistent_start_is_refused_by_name_and_number(pendulum):
    system, start = pendulum
    with pytest.raises(InputError, match=r"'rod' reads 0.105 in position and 0 in velocity; call zwang.assemble"):
        zw.simulate(system, start | {x: 1.1}, 1.0)
    with pytest.raises(InputError, match=r"'rod' reads 0 in position and 0.5 in velocity; call zwang.assemble"):
        zw.simulate(system, start | {dot(x): 0.5}, 1.0)
    mended = zw.assemble(system, start | {x: 1.1, dot(x): 0.5})
    assert zw.simulate(system, mended, 1.0, samples=2).status == "finished"


def test_an_incomplete_or_strange_start_is_refused(pendulum):
    system, start = pendulum
    with pytest.raises(InputError, match=r"does not say what .*y.* is"):
        zw.simulate(system, {x: 1, dot(x): 0, dot(y): 0}, 1.0)
    with pytest.raises(InputError, match="takes one start"):
        zw.simulate(system, start | {y: [0, 0], x: [1, 1]}, 1.0)
    with pytest.raises(InputError, match="is not finite"):
        zw.simulate(system, start | {y: np.nan}, 1.0)


def test_a_missing_parameter_is_named():
    m, g = zw.parameters("m g")
    system = zw.System((x,), kinetic=m * dot(x) ** 2 / 2, potential=m * g * x, parameters={m: 1})
    with pytest.raises(InputError, match="g"):
        zw.simulate(system, {x: 0, dot(x): 0}, 1.0)


def test_constraints_that_contradict_each_other_at_the_start_are_named():
    system = zw.System((x, y), kinetic=FREE, constraints={"one": x - t**2, "two": x})
    with pytest.raises(InconsistentError, match=r"'(one|two)'"):
        zw.simulate(system, {x: 0, y: 0, dot(x): 0, dot(y): 0}, 1.0)


@pytest.mark.parametrize("method", ["native", "taylor"])
@pytest.mark.parametrize("force", [1 / (1 - t), sp.log(1 - t), sp.sqrt(1 - t) / (t - 1)], ids=str)
def test_forces_that_become_infinite_or_undefined_stop_the_motion(force, method):
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: force})
    with pytest.raises(SimulationError) as caught:
        zw.simulate(system, {x: 0, dot(x): 0}, 2.0, samples=41, method=method)
    assert caught.value.status in ("not finite", "step too small")
    assert caught.value.motion.time[-1] <= 1.0
    assert len(caught.value.motion.time) >= 15
    kept = zw.simulate(system, {x: 0, dot(x): 0}, 2.0, samples=41, method=method, throw=False)
    assert kept.status == caught.value.status
    assert str(caught.value) == kept.message


def test_a_force_that_jumps_to_nan_stops_with_its_own_status():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: sp.sqrt(sp.Rational(1, 2) - x)})
    with pytest.raises(SimulationError, match="infinite or not a number there: check its expression") as caught:
        zw.simulate(system, {x: 0, dot(x): 1}, 2.0, samples=5)
    assert caught.value.status == "not finite"


def test_a_force_that_is_infinite_at_the_start_is_refused():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: 1 / x})
    with pytest.raises(InputError, match="entry of Q of x is not finite"):
        zw.simulate(system, {x: 0, dot(x): 1}, 1.0)


# How it runs


def test_auto_says_whether_it_chose_taylor(pendulum):
    system, start = pendulum
    assert zw.simulate(system, start, 0.1, samples=2).method == "native"
    assert zw.simulate(system, start, 0.1, samples=2, tol=1e-15).method == "taylor"


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_saved_times_are_the_ones_asked_for(pendulum, method):
    system, start = pendulum
    times = [0.1, 0.25, 0.25, 0.9]
    motion = zw.simulate(system, start, 1.0, times=times, method=method)
    assert motion.time.values.tolist() == [*times, 1.0]
    dense = zw.simulate(system, start, 1.0, times=np.linspace(0, 1, 101), method=method)
    at = [10, 25, 25, 90, 100]
    assert np.abs(motion.q.values - dense.q.values[at]).max() < 1e-11
    assert len(zw.simulate(system, start, 1.0, method=method).time) == 201


def test_a_start_at_another_time():
    system, start = problems.bead_on_wire()
    whole = zw.simulate(system, start, 1.5, samples=4, tol=1e-13)
    half = whole.isel(time=1)
    middle = dict(zip(system.coordinates, half.q.values, strict=True))
    middle |= dict(zip(system.velocities, half.v.values, strict=True))
    rest = zw.simulate(system, middle, 1.5, t=0.5, samples=3, tol=1e-13)
    assert rest.time.values.tolist() == [0.5, 1.0, 1.5]
    assert np.abs(rest.q.values - whole.q.values[1:]).max() < 1e-11


def test_parameters_of_this_call_count(pendulum):
    system, start = pendulum
    (g,) = (p for p in system.parameters if str(p) == "g")
    slow = zw.simulate(system, start, 2.0, samples=3, parameters={g: 9.81 / 4})
    fast = zw.simulate(system, start, 1.0, samples=3)
    assert np.abs(slow.q.values - fast.q.values).max() < 1e-10


def test_a_system_without_constraints():
    k = zw.parameters("k")
    oscillator = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=k * x**2 / 2, parameters={k: 4})
    motion = zw.simulate(oscillator, {x: 1, dot(x): 0}, 3.0, samples=31)
    assert np.abs(motion.q.values[:, 0] - np.cos(2 * motion.time.values)).max() < 1e-11
    assert motion.sizes["constraint"] == 0


def test_a_system_without_freedom():
    system = zw.System((x, y), kinetic=FREE, constraints={"x": x - sp.sin(t), "y": y - t**3})
    motion = zw.simulate(system, {x: 0, y: 0, dot(x): 1, dot(y): 0}, 2.0, samples=21)
    assert np.abs(motion.q.values - np.stack([np.sin(motion.time), motion.time**3], 1)).max() < 1e-11
    assert np.abs(motion.constraint_force.values - np.stack([-np.sin(motion.time), 6 * motion.time], 1)).max() < 1e-10


# Progress and interruption


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_progress_gets_the_time_reached_and_the_end(pendulum, method):
    system, start = pendulum
    said = []
    zw.simulate(system, start, 20.0, samples=2, method=method, progress=lambda now, end: said.append((now, end)))
    assert said
    assert {end for _, end in said} == {20.0}
    assert [now for now, _ in said] == sorted(now for now, _ in said)
    assert said[-1][0] == 20.0


@pytest.mark.parametrize("method", ["native", "taylor"])
def test_an_interrupt_returns_what_was_computed(method):
    system, start = problems.double_pendulum()

    def enough(now, end):
        if now > 1:
            raise KeyboardInterrupt

    motion = zw.simulate(system, start, 1e4, samples=100_001, method=method, progress=enough)
    assert motion.status == "interrupted"
    assert 1 < len(motion.time) < 100_001
    assert motion.message.startswith("interrupted at t = ")
    assert "what was computed before is here" in motion.message
    assert float(abs(motion.residual).max()) < 1e-8


def test_another_error_of_a_callback_is_passed_on(pendulum):
    system, start = pendulum

    def fails(now, end):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        zw.simulate(system, start, 1.0, progress=fails)


def test_a_bar_on_request(pendulum, capsys, monkeypatch):
    system, start = pendulum
    monkeypatch.setattr("zwang.motion.progress.PATIENCE", 0.0)
    zw.simulate(system, start, 1.0, samples=2, progress=True)
    assert "100%  t = 1 of 1" in capsys.readouterr().err
    zw.simulate(system, start, 1.0, samples=2, progress=False)
    zw.simulate(system, start, 1.0, samples=2)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tol": "1e-9"}, "tol = '1e-9' is out of range"),
        ({"drift": None}, "drift=None is unknown"),
        ({"drift": ("baumgarte", -1.0, 1.0)}, "gains must be numbers, finite and not negative"),
        ({"events": [x]}, "make it an event"),
        ({"times": ["a"]}, "numbers are needed"),
        ({"progress": "yes"}, "True or False is meant"),
        ({"outputs": [["q"]]}, r"outputs names \['q'\], which no motion has"),
    ],
)
def test_odd_options_are_refused(pendulum, change, words):
    system, start = pendulum
    with pytest.raises(InputError, match=words):
        zw.simulate(system, start, 1.0, **change)


def test_more_times_than_there_is_memory_for_are_refused(pendulum, monkeypatch):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr("zwang.motion.simulate.values_of", full)
    system, start = pendulum
    with pytest.raises(InputError, match="not enough memory for this motion: save fewer times"):
        zw.simulate(system, start, 1.0)


def test_one_event_needs_no_list(pendulum):
    system, start = pendulum
    motion = zw.simulate(system, start, 1.0, events=zw.Event(x, stop=True))
    assert motion.attrs["message"].startswith("stopped by the event 'event 1'")
    with pytest.raises(InputError, match="is not an expression"):
        zw.Event(sp.Eq(x, 1))


def test_rows_left_out_are_watched_between_samples():
    """Two rules that agree at both ends and disagree between them."""
    system = zw.System((x, y), kinetic=FREE, constraints={"one": dot(x) - t**2, "two": dot(x) - t**3})
    with pytest.raises(SimulationError, match="at odds") as caught:
        zw.simulate(system, {x: 0, y: 0, dot(x): 0, dot(y): 0}, 1.0, samples=2)
    assert caught.value.status == "inconsistent"


# What is asked for is what is computed


@pytest.mark.parametrize("name", ["four_bar", "nonideal_rosenberg", "slider_crank"])
def test_a_motion_has_the_variables_that_are_asked_for_and_they_are_the_same(name):
    model = zw.load_model(name)
    whole = zw.simulate(model, until=0.3, samples=5)
    for asked in (("q", "v"), ("nonideal_power",), ("multiplier", "energy_balance", "energy"), ("a", "rank")):
        motion = zw.simulate(model, until=0.3, samples=5, outputs=asked)
        assert set(motion.data_vars) - {"drawing"} == {*asked, *(["unique"] if "multiplier" in asked else [])}
        assert "drawing" in motion
        for each in asked:
            np.testing.assert_allclose(motion[each], whole[each], rtol=1e-12, atol=1e-13)
            assert motion[each].attrs == whole[each].attrs


def test_what_nobody_asks_for_still_tells_doubts_and_contradictions():
    well = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=-sp.exp(-(((x - 5.05) / 0.02) ** 2)))
    motion = zw.simulate(well, {x: 0, dot(x): 1}, 10.0, tol=1e-6, max_step=np.inf, outputs=("q",))
    assert "Not vouched for" in motion.attrs["message"]
    system = zw.System((x, y), kinetic=FREE, constraints={"one": dot(x) - t**2, "two": dot(x) - t**3})
    with pytest.raises(SimulationError, match="at odds") as caught:
        zw.simulate(system, {x: 0, y: 0, dot(x): 0, dot(y): 0}, 1.0, samples=2, outputs=("v",))
    assert set(caught.value.motion.data_vars) == {"v"}


@pytest.mark.parametrize(
    ("outputs", "words"),
    [("q", "outputs = 'q': give names"), (("energi",), "did you mean 'energy'"), ((), "outputs is empty")],
)
def test_outputs_that_there_are_not_are_refused(pendulum, outputs, words):
    with pytest.raises(InputError, match=words):
        zw.simulate(*pendulum, 1.0, outputs=outputs)


def test_a_black_box_has_the_outputs_that_are_asked_for_too():
    box = zw.BlackBox(("x",), M=np.eye(1), Q=lambda q, v, t: -q)
    motion = zw.simulate(box, ([1.0], [0.0]), np.pi, samples=2, outputs=("q", "v"))
    assert set(motion.data_vars) == {"q", "v"}


def test_what_is_kept_of_events_is_not_taken_for_those_of_a_system_with_the_same_equations():
    """Two masses that are alike: the same equations, with names exchanged; cos t and cos 2t begin at 1."""
    a, b = zw.coordinates("a b")
    k, w = zw.parameters("k w")

    def found(first, second, event, stiffness):
        system = zw.System(
            (first, second),
            kinetic=(dot(first) ** 2 + dot(second) ** 2) / 2,
            potential=k * first**2 / 2 + 2 * second**2,
            parameters={k: stiffness, w: 0.5},
        )
        start = {first: 1, second: 1, dot(first): 0, dot(second): 0}
        return zw.simulate(system, start, 2.0, samples=2, events=[zw.Event(event)]).event_time

    for _ in range(2):
        assert abs(found(a, b, a, 1)[0] - np.pi / 2) < 1e-12
        assert abs(found(b, a, a, 1)[0] - np.pi / 4) < 1e-12
        assert abs(found(a, b, b, 1)[0] - np.pi / 4) < 1e-12
        assert abs(found(a, b, a - w, 1)[0] - np.pi / 3) < 1e-12  # a parameter of the event alone
        assert abs(found(a, b, a, 9)[0] - np.pi / 6) < 1e-12
