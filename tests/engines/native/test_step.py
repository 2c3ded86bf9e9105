"""How long a step may be: narrow forces and dips of pivots are seen, `max_step` is kept, and clocks are honest."""

import os
import subprocess
import sys

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.engines.native.records import array, record
from zwang import dot
from zwang.compile.restricted import native, native_library
from zwang.engines.native.pivots import DIP, dips
from zwang.engines.native.record import RunRecord
from zwang.engines.native.runs import Kernels
from zwang.engines.native.step import NODES
from zwang.errors import InputError

x, y = zw.coordinates("x y")
ENGINES = ("native", "taylor", "radau", "lsoda")


def well(width, free=True):
    """A well of depth 20 at x = 5; in the other direction, gravity."""
    energy = -20 * sp.exp(-(((x - 5) / width) ** 2))
    if free:
        return zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=energy), {x: 0, dot(x): 1}
    kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
    return zw.System((x, y), kinetic=kinetic, potential=energy + 9.81 * y), {x: 0, y: 0, dot(x): 1, dot(y): 0}


def passed(width, until):
    """Where a body is that crosses the well at speed 1: until less the time won, ∫ (1 − 1/√(1 + 40 e^(−u²/w²))) du."""
    u = np.linspace(-8, 8, 2001)  # the trapezoidal rule converges faster than any power here
    return until + width * float(np.sum(1 - 1 / np.sqrt(1 + 40 * np.exp(-(u**2))))) * (u[1] - u[0])


@pytest.mark.parametrize("method", ENGINES)
@pytest.mark.parametrize("tol", [1e-6, 1e-9, 1e-12])
def test_a_narrow_well_is_not_stepped_over(method, tol):
    # Errors add up on the way through a well that speeds the body up sevenfold, LSODA's most.
    system, start = well(0.05)
    end = float(zw.simulate(system, start, 10.0, tol=tol, method=method, samples=3).q[-1, 0])
    assert abs(end - passed(0.05, 10.0)) < (1e4 if method == "lsoda" else 1e3) * tol


@pytest.mark.parametrize("width", [0.03, 0.01])
@pytest.mark.parametrize("free", [True, False])
def test_the_same_well_elsewhere_in_other_motions_and_in_lanes(width, free):
    system, start = well(width, free)
    speeds = np.linspace(0.9, 1.1, 9)
    many = zw.simulate_many(system, start | {dot(x): speeds}, 12.0, samples=2)
    for i in (0, 4, 8):
        alone = zw.simulate(system, start | {dot(x): speeds[i]}, 12.0, samples=2)
        assert np.abs(many.q[i, -1] - alone.q[-1]).max() < 1e-11
    assert abs(float(many.q[4, -1, 0]) - passed(width, 12.0)) < 1e-9


@pytest.mark.parametrize("method", [*ENGINES, "dop853"])
def test_no_step_is_longer_than_max_step(method):
    oscillator = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x**2 / 2)
    system = zw.BlackBox(("x",), M=np.eye(1), Q=lambda q, v, t: -q) if method == "dop853" else oscillator
    start = ([1.0], [0.0]) if method == "dop853" else {x: 1, dot(x): 0}
    few = zw.simulate(system, start, 0.05, method=method, tol=1e-4, samples=2)
    many = zw.simulate(system, start, 0.05, method=method, tol=1e-4, samples=2, max_step=4e-4)
    assert few.attrs["steps"] < 110 < 125 <= many.attrs["steps"]
    assert many.attrs["max_step"] == 4e-4
    assert abs(float(many.q[-1, 0]) - np.cos(0.05)) < 1e-5


def test_max_step_holds_in_ensembles_and_sensitivities():
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=-20 * sp.exp(-(((x - 5) / 1e-4) ** 2)))
    start = {x: 0, dot(x): 1}
    known = passed(1e-4, 10.0)
    many = zw.simulate_many(system, start | {x: np.zeros(9)}, 10.0, samples=2, max_step=1e-3)
    assert np.abs(many.q[:, -1, 0] - known).max() < 1e-9
    slopes = zw.sensitivities(system, start, 10.0, [x], samples=2, max_step=1e-3)
    assert abs(float(slopes.q[-1, 0]) - known) < 1e-9


@pytest.mark.parametrize("given", [0, -1.0, np.nan, "1", True])
def test_a_max_step_that_is_not_positive_is_refused(given):
    system, start = well(0.05)
    with pytest.raises(InputError, match="max_step"):
        zw.simulate(system, start, 1.0, max_step=given)


def test_regular_motions_take_the_steps_that_their_tolerance_asks_for():
    # Ten swings: far more steps than the least number, with and without a bound.
    pendulum = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=-sp.cos(x))
    runs = [zw.simulate(pendulum, {x: 1, dot(x): 0}, 60.0, samples=2, max_step=bound) for bound in (None, np.inf)]
    assert runs[0].attrs["steps"] == runs[1].attrs["steps"] > 100
    assert np.array_equal(runs[0].q, runs[1].q)


def test_compiling_counts_as_compiling(tmp_path):
    # In a new process with an empty cache the step loop itself has to be compiled first, which takes a second.
    # Its clocks tell processor time here, so that it does not matter what else the machine does.
    script = (
        "import time; time.perf_counter = time.process_time;"
        "import zwang as zw; x = zw.coordinates('x');"
        "s = zw.System((x,), kinetic=zw.dot(x)**2/2, potential=x**2/2);"
        "a = zw.simulate(s, {x: 1, zw.dot(x): 0}, 1.0, progress=False).attrs;"
        "print(a['compile_seconds'], a['run_seconds'], a['total_seconds'])"
    )
    environment = os.environ | {"ZWANG_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    compiling, running, total = map(float, done.stdout.split())
    assert running < 0.1 * compiling
    assert 0.7 * total < compiling + running <= total


# Pivots between the stages of a step


@native
def dipping(run: RunRecord) -> int:
    return 1 if dips(run) else 0


def dip(shape, scale, which):
    """Whether a step is said to have a pivot that may vanish, where one has a shape over θ and the others are even."""
    runs = record(Kernels(0, 2, pivots=len(scale)), pivot_scale=scale)
    stages = array(runs, "k")
    stages[:, :2] = 1e9  # accelerations, which say nothing
    stages[:, 2 : 2 + len(scale)] = scale
    stages[:13, 2 + which] *= [shape(theta) for theta in NODES[:13]]
    stages[13:] *= 1e9  # and what is not of this step
    return bool(native_library(dipping)(runs.records.ctypes.data))


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (1e-3, 5.0, 40.0), (7.0, -0.02, 3e4)])
def test_a_pivot_dips_if_it_is_low_inside_the_step_and_high_at_both_ends(scale, which):
    def dipped(shape):
        return dip(shape, scale, which)

    assert not dipped(lambda theta: 1.0)
    assert not dipped(lambda theta: 1.0 - 0.95 * theta)  # on its way down, or up: low at one end as well
    assert not dipped(lambda theta: 0.05 + 0.95 * theta)
    assert dipped(lambda theta: 1.0 if theta in (0.0, 1.0) else 0.9 * DIP)
    assert dipped(lambda theta: (theta - 0.45) ** 2)  # touches zero, between two stages
    assert not dipped(lambda theta: (theta - 0.45) ** 2 + 1.0)
