"""Derivatives of programs with loops are those of straight-line code, in which every line is differentiated."""

from importlib.resources import files

import numpy as np
import pytest

import zwang as zw
from zwang.compile import compile_program
from zwang.compile.rolled.kernel import compile_rolled
from zwang.engines.scipy.jacobian import jacobian_program
from zwang.lowering import acceleration, projection
from zwang.lowering.lowered import lower
from zwang.lowering.rolled import programs
from zwang.lowering.rolled.families import families_of
from zwang.lowering.rows import choose
from zwang.lowering.variational import projection_beside, variational_loops, variational_program
from zwang.model.signal import Handle

FOLDER = files("zwang") / "examples"
EXAMPLES = sorted(f.name.removesuffix(".toml") for f in FOLDER.iterdir() if f.name.endswith(".toml"))


def lowered_example(name):
    start = zw.load_model(FOLDER / f"{name}.toml").begin()
    lowered = lower(start.system, start.values.inputs)
    now, rank = start.polished
    return start, lowered, choose(now, start.system.coordinate_names, lowered=lowered, found=rank)


def near(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * (np.abs(expected).max(initial=0.0) + 1e-3))


@pytest.mark.parametrize("name", EXAMPLES)
def test_accelerations_with_their_derivatives_are_the_same_in_loops(name):
    start, lowered, basis = lowered_example(name)
    loops = programs.acceleration_program(families_of(lowered), basis, False, None)
    varied = [i for i, s in enumerate(start.values.symbols) if not isinstance(s, Handle)]
    pattern = ((), tuple(varied), tuple(varied[::2]))
    straight, rolled = variational_program(lowered, basis, "fundamental", pattern), variational_loops(loops, pattern)
    assert {k: len(s) for k, s in straight.inputs.items()} == {k: len(s) for k, s in rolled.inputs.items()}
    rng, (t, q, v) = np.random.default_rng(5), start.state
    aside = 0.0 if basis.damping else 0.3  # redundant rows are at odds beside their constraints
    state = {
        "t": [t + aside],
        "q": np.concatenate([q, rng.normal(size=3 * len(q))]),
        "v": np.concatenate([v + aside * rng.normal(size=len(v)), rng.normal(size=3 * len(v))]),
        "p": np.concatenate([start.p, rng.normal(size=sum(map(len, pattern)))]),
    }
    here, there = compile_program(straight, optimise=0)(**state), compile_rolled(rolled)(**state)
    near(there["acceleration"], here["acceleration"])
    way = projection.projection_program(lowered, basis, None)
    back = programs.projection_program(families_of(lowered), basis, None)
    here = compile_program(projection_beside(way, straight.inputs), optimise=0)(**state)
    there = compile_rolled(projection_beside(back, rolled.inputs))(**state)
    for part in ("dq", "dv"):
        near(there[part], here[part])


@pytest.mark.parametrize("name", ["andrews", "four_bar", "heavy_top"])
def test_jacobians_are_the_same_in_loops(name):
    start, lowered, basis = lowered_example(name)
    (t, q, v), n = start.state, len(start.state[1])
    loops = programs.acceleration_program(families_of(lowered), basis, False, None)
    straight = jacobian_program(acceleration.acceleration_program(lowered, basis))
    state = {"t": [t], "q": q, "v": v, "p": start.p}
    kernels = compile_program(straight, optimise=0), compile_rolled(jacobian_program(loops))
    here, there = (
        [kernel(**state, direction=along)["d_acceleration"] for along in np.eye(2 * n)] for kernel in kernels
    )
    near(np.array(there), np.array(here))
