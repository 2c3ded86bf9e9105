import ctypes
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import symengine as se

from zwang.compile import Program, compile_program
from zwang.errors import InputError

q = se.symbols("q0:3")
v = se.symbols("v0:3")
m, s, r = se.symbols("m s r")

PROGRAM = Program(
    inputs={"q": q, "v": v, "m": (m,)},
    outputs={
        "M": tuple(m * q[i] * q[j] + (1 if i == j else 0) for i in range(2) for j in range(3)),
        "energy": (m * s / 2 - r,),
        "echo": (q[2], se.Integer(7)),
    },
    shapes={"M": (2, 3), "energy": ()},
    steps=((s, v[0] ** 2 + v[1] ** 2 + v[2] ** 2), (r, se.sin(s) / s + se.cos(s) / s)),
)


@pytest.fixture(scope="module")
def kernel():
    return compile_program(PROGRAM)


def inputs(*batch, seed=0):
    generator = np.random.default_rng(seed)
    return {name: generator.normal(size=(*batch, k)) for name, k in (("q", 3), ("v", 3), ("m", 1))}


def test_values_and_shapes(kernel):
    given = inputs()
    result = kernel(**given)
    a, w = given["q"], given["v"] @ given["v"]
    np.testing.assert_allclose(result["M"], given["m"] * np.outer(a[:2], a) + np.eye(2, 3), rtol=1e-15)
    assert result["energy"].shape == ()
    np.testing.assert_allclose(result["energy"], given["m"][0] * w / 2 - (np.sin(w) + np.cos(w)) / w, rtol=1e-14)
    assert result["echo"].tolist() == [a[2], 7]


def test_a_batch_equals_single_calls(kernel):
    given = inputs(4, 5)
    together = kernel(**given)
    assert together["M"].shape == (4, 5, 2, 3)
    for k in np.ndindex(4, 5):
        alone = kernel(**{name: array[k] for name, array in given.items()})
        for name, value in alone.items():
            np.testing.assert_array_equal(together[name][k], value)


def test_leading_axes_broadcast(kernel):
    q, v, m = inputs(4, 1)["q"], inputs(5)["v"], inputs()["m"]
    together = kernel(q=q, v=v, m=m)["energy"]
    assert together.shape == (4, 5)
    full = kernel(q=np.broadcast_to(q, (4, 5, 3)), v=np.broadcast_to(v, (4, 5, 3)), m=np.full((4, 5, 1), m))
    np.testing.assert_array_equal(together, full["energy"])


def test_an_empty_batch(kernel):
    assert kernel(**inputs(0))["M"].shape == (0, 2, 3)


def test_every_level_gives_the_same_bits():
    given = inputs(20)
    reference = compile_program(PROGRAM, optimise=0)(**given)
    for level in (1, 2, 3):
        result = compile_program(PROGRAM, optimise=level)(**given)
        for name, value in reference.items():
            np.testing.assert_array_equal(result[name], value)


def test_native_callers_use_the_addresses(kernel):
    given = inputs(3)
    rows = np.concatenate([given[name] for name in kernel.inputs], axis=-1)
    out = np.full((3, kernel.output_size), np.nan)
    work = np.empty(kernel.work_size)
    single = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(kernel.address)
    for k in range(3):
        single(out[k].ctypes.data, rows[k].ctypes.data, work.ctypes.data)
    result = kernel(**given)
    for name, part in kernel.outputs.items():
        np.testing.assert_array_equal(out[:, part].reshape(result[name].shape), result[name])


def test_the_slices_say_where_each_name_is(kernel):
    assert kernel.inputs == {"q": slice(0, 3), "v": slice(3, 6), "m": slice(6, 7)}
    assert kernel.outputs == {"M": slice(0, 6), "energy": slice(6, 7), "echo": slice(7, 9)}
    assert kernel.shapes == {"M": (2, 3), "energy": (), "echo": (2,)}
    assert (kernel.input_size, kernel.output_size, kernel.work_size) == (7, 9, 0)


def test_threads_may_call_at_the_same_time(kernel):
    cases = [inputs(2000, seed=k) for k in range(8)]
    expected = [kernel(**case)["energy"] for case in cases]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            for result, value in zip(pool.map(lambda case: kernel(**case)["energy"], cases), expected, strict=True):
                np.testing.assert_array_equal(result, value)


def test_threads_may_compile_at_the_same_time():
    with ThreadPoolExecutor(4) as pool:
        kernels = pool.map(lambda k: compile_program(Program({"m": (m,)}, {"o": (m**k,)})), range(1, 13))
    assert [int(kernel(m=[2.0])["o"][0]) for kernel in kernels] == [2**k for k in range(1, 13)]


def test_a_program_without_inputs():
    assert compile_program(Program({}, {"c": (se.pi, se.sin(1))}))()["c"].tolist() == [np.pi, np.sin(1)]


def test_a_program_without_outputs():
    assert compile_program(Program({"m": (m,)}, {}))(m=[1.0]) == {}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"v": None}, "'v' is missing; expected: 'q', 'v', 'm'"),
        ({"w": [1.0]}, "'w' is unknown; expected: 'q', 'v', 'm'"),
        ({"q": [1.0, 2.0]}, r"'q' has shape \(2,\), expected \(\.\.\., 3\)"),
        ({"m": 1.0}, r"'m' has shape \(\), expected \(\.\.\., 1\)"),
        ({"q": np.zeros((2, 3)), "v": np.zeros((4, 3))}, r"do not broadcast: 'q' \(2, 3\), 'v' \(4, 3\)"),
        ({"q": ["a", "b", "c"]}, "'q' is not an array of real numbers"),
    ],
)
def test_inputs_that_do_not_fit(kernel, change, message):
    given = {name: value for name, value in (inputs() | change).items() if value is not None}
    with pytest.raises(InputError, match=message):
        kernel(**given)


def test_an_unknown_level():
    with pytest.raises(InputError, match="optimise is 4, expected 0, 1, 2, 3 or None"):
        compile_program(PROGRAM, optimise=4)


def test_the_import_is_light():
    check = "import sys, zwang.compile; print({'llvmlite', 'symengine'} & sys.modules.keys())"
    assert subprocess.check_output([sys.executable, "-c", check], text=True).strip() == "set()"
