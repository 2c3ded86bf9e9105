"""What sensitivities are taken by: coordinates, rates, parameters, directions; what cannot be is refused."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.motion.systems import HANGING, PENDULUM, g, k, m, x
from zwang import dot
from zwang.errors import InconsistentError, InputError, SimulationError

z = zw.coordinates("z")
w = zw.parameters("w")


def test_inputs_by_name_and_together():
    run = zw.sensitivities(PENDULUM, HANGING, 0.5, ["x", "dot(y)", "g", {g: 2, "x": -1}], samples=2)
    assert list(run.input.values) == ["x", "dot(y)", "g", "2 g - x"]
    np.testing.assert_allclose(run.dq[..., 3], 2 * run.dq[..., 2] - run.dq[..., 0], atol=1e-11)
    alone = zw.sensitivities(PENDULUM, HANGING, 0.5, g, samples=2)
    np.testing.assert_allclose(alone.dq[..., 0], run.dq[..., 2], atol=1e-11)


def test_parameters_without_influence():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=k * x**2, parameters={k: 1.0, w: 5.0})
    assert not zw.sensitivities(system, {x: 1, dot(x): 0}, 1.0, [w], samples=2).dq.any()


def test_parameters_inside_known_functions_of_time():
    drive = zw.coordinates("u")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: drive}, parameters={drive: w * zw.t, w: 2.0})
    run = zw.sensitivities(system, {x: 0, dot(x): 0}, 1.0, [w], samples=2)
    np.testing.assert_allclose(run.dq[-1, 0, 0], 1 / 6, atol=1e-12)
    with pytest.raises(InputError, match=r"u\(t\), a known function of time"):
        zw.sensitivities(system, {x: 0, dot(x): 0}, 1.0, [drive])


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ([], "inputs is empty"),
        ({}, "inputs is empty"),
        (3, "inputs = 3: list what to differentiate by"),
        ([sp.Symbol("gg")], r"gg, which is not a coordinate.*did you mean g\?"),
        ([sp.Symbol("g", positive=True)], "looks like one of them but is another symbol"),
        ([dot(z)], r"dot\(z\), which is not a coordinate"),
        ([z], "inputs names z, which"),
        ([g, "g"], "g is listed twice"),
        ([{}], "changes nothing"),
        ([{g: 0.0}], "changes nothing"),
        ([{g: float("nan")}], "the change of g = nan is not finite"),
        ([3], "inputs names 3, which is not a coordinate"),
    ],
)
def test_wrong_inputs_are_refused(inputs, words):
    with pytest.raises(InputError, match=words):
        zw.sensitivities(PENDULUM, HANGING, 1.0, inputs)


def test_inconsistent_starts_are_refused():
    with pytest.raises(InputError, match="'rod' reads"):
        zw.sensitivities(PENDULUM, HANGING | {x: 0.6}, 1.0, [g])


def parallelogram(lengths):
    a, b = zw.parameters("a b")
    x1, y1, x2, y2 = q = zw.coordinates("x1 y1 x2 y2")
    constraints = {
        "crank": (x1**2 + y1**2 - a**2) / 2,
        "rocker": ((x2 - 2) ** 2 + y2**2 - b**2) / 2,
        "coupler": ((x2 - x1) ** 2 + (y2 - y1) ** 2 - 4) / 2,
    }
    if lengths == "redundant":
        constraints["parallel"] = y1 - y2
    system = zw.System(
        q,
        kinetic=sum(dot(c) ** 2 for c in q) / 2,
        potential=g * (y1 + y2),
        constraints=constraints,
        parameters={g: 1.0, a: 1.0, b: 1.0},
    )
    c, s, rate = np.cos(1.0), np.sin(1.0), -1.0
    values = (c, s, 2 + c, s, -rate * s, rate * c, -rate * s, rate * c)
    return system, dict(zip([*q, *map(dot, q)], values, strict=True)), (a, b)


def test_singular_positions_stop_with_words():
    system, start, _ = parallelogram("plain")
    with pytest.raises(SimulationError, match="Sensitivities are not defined across a singular position") as caught:
        zw.sensitivities(system, start, 3.0, [g])
    assert caught.value.status == "singular"
    motion = caught.value.motion
    assert 0 < motion.time[-1] < 1  # the linkage is flat when the cranks have turned by one radian
    assert np.isfinite(motion.dq).all()
    early = zw.sensitivities(system, start, float(motion.time[-1]), [g], samples=2)
    np.testing.assert_allclose(motion.dq[-1], early.dq[-1], atol=1e-9)


def test_directions_that_break_redundant_rows_are_refused_by_name():
    system, start, (a, b) = parallelogram("redundant")
    with pytest.raises(InconsistentError, match=r"constraint '(parallel|coupler|crank|rocker)' contradicts"):
        zw.admissible(system, start, [a])
    together = zw.admissible(system, start, {"size": {a: 1, b: 1}})
    run = zw.sensitivities(system, start, 0.5, together, samples=2)
    np.testing.assert_allclose(run.dq[:, 1], run.dq[:, 3], atol=1e-10)


def test_signals_are_followed():
    force = zw.coordinates("u")
    signal = zw.Signal([0, 1, 2], [0, 2, -1])
    system = zw.System((x,), kinetic=m * dot(x) ** 2 / 2, forces={x: force}, parameters={force: signal, m: 2.0})
    run = zw.sensitivities(system, {x: 0, dot(x): 0}, 2.0, [m], samples=2)
    np.testing.assert_allclose(run.dv[-1, 0, 0], -run.v[-1, 0] / 2, rtol=1e-12)


def test_models_without_derivatives_are_refused():
    with pytest.raises(InputError, match="sensitivities takes a System, a Mechanism or a model"):
        zw.sensitivities(lambda: None, {}, 1.0, [g])


def test_progress_is_told():
    seen = []
    zw.sensitivities(PENDULUM, HANGING, 1.0, [g], samples=2, progress=lambda t, end: seen.append((t, end)))
    assert seen[-1] == (1.0, 1.0)
