"""What becomes of a step: in a lane the same, to the last bit, as for a run alone; and nothing in the other lanes."""

import numpy as np
import pytest

from tests.engines.native.prepared import prepare
from zwang.compile.lanes import LANES
from zwang.compile.restricted import native, native_library
from zwang.engines.native.lanes.group import Group
from zwang.engines.native.lanes.group import prepare as prepare_group
from zwang.engines.native.lanes.step import rows
from zwang.engines.native.outcome import accept, refuse
from zwang.engines.native.record import RunRecord, lengths
from zwang.engines.native.runs import Kernels

N, PIVOTS, POWERS = 2, 2, 1
KERNELS = Kernels(acceleration=0, coordinates=N, pivots=PIVOTS, powers=POWERS)
WHICH = np.arange(LANES) % 3 != 1
REMEMBERED = [
    "h", "t_low", "error", "held", "trouble", "pivot", "volume", "accepted", "rejected",
    "worked", "worked_low", "turned",
]  # fmt: skip
RNG = np.random.default_rng(0)
STEP, ERROR, LOW = RNG.uniform(0.1, 0.2, LANES), 10.0 ** RNG.uniform(-9, 0, LANES), RNG.uniform(-1e-17, 1e-17, LANES)


@native
def alone(runs: RunRecord, i: int, h: float, error: float, t_low: float, good: int) -> int:
    if good != 0:
        accept(runs[i], True, h, error, t_low)
    else:
        refuse(runs[i], True, h, error)
    return 0


@native
def together(groups: Group, which: int, given: int, good: int) -> int:
    group, mask, numbers = groups[0], rows(which)[0] > 0.0, rows(given)
    if good != 0:
        accept(group, mask, numbers[0], numbers[1], numbers[2])
    else:
        refuse(group, mask, numbers[0], numbers[1])
    return 0


def in_memory(runs, name, lane):
    size = lengths(N, 0, PIVOTS, 0, 0, bridge=False, powers=POWERS)[name]
    begin = (int(runs.records[name][lane]) - runs.memory[lane].ctypes.data) // 8
    return runs.memory[lane, begin : begin + size]


@pytest.fixture
def runs():
    """As many runs as there are lanes, each somewhere else; some of their pivots have grown, some errors are tiny."""
    made = prepare(KERNELS, 0.0, np.zeros((LANES, N)), np.zeros((LANES, N)), growing=PIVOTS, zone=0.1, pivot_tol=1e-9,
                   quiet_step=0.15, max_step=1.0, first_step=0.3)  # fmt: skip
    for lane in range(LANES):
        for name in ("now", "low", "new", "new_low", "k", "pivot_scale"):
            memory = in_memory(made, name, lane)
            memory[:] = RNG.uniform(0.5, 1.5, memory.size)
        made.records["held"][lane] = lane % 2
        made.records["volume"][lane] = RNG.uniform(0.2, 0.8)
    return made


def in_lanes(runs, name):
    """An array of all runs as a group has it; k in rows as long as a group's."""
    parts = [in_memory(runs, name, lane) for lane in range(LANES)]
    if name == "k":
        parts = [part.reshape(17, -1)[:16, : N + PIVOTS + POWERS].ravel() for part in parts]
    return np.stack(parts, axis=1).ravel()


@pytest.mark.parametrize("good", [0, 1], ids=["refused", "accepted"])
def test_a_lane_fares_as_a_run_alone_does_and_the_others_stay_as_they_are(runs, good):
    group = prepare_group(runs.records, np.zeros(1 + 2 * N), (0, 0, 0), 0, 0, 1, np.arange(LANES, dtype=float))
    memory = group.kept[0][0]
    arrays = {}
    for name in ("now", "low", "new", "new_low", "k", "pivot_scale"):
        begin = (int(group.records[name][0]) - memory.ctypes.data) // 8
        arrays[name] = memory[begin : begin + in_lanes(runs, name).size]
        arrays[name][:] = in_lanes(runs, name)
    for name in REMEMBERED:
        group.records[name][0] = runs.records[name]
    spare = np.zeros(5 * LANES)
    given = spare[-spare.ctypes.data // 8 % LANES :][: 4 * LANES].reshape(4, LANES)
    given[:] = WHICH, STEP, ERROR, LOW
    native_library(together)(group.records.ctypes.data, given.ctypes.data, given[1:].ctypes.data, good)
    for lane in np.flatnonzero(WHICH):
        native_library(alone)(runs.records.ctypes.data, lane, STEP[lane], ERROR[lane], LOW[lane], good)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, in_lanes(runs, name), err_msg=name)
    for name in REMEMBERED:
        np.testing.assert_array_equal(group.records[name][0], runs.records[name], err_msg=name)
    counted = "accepted" if good else "rejected"
    np.testing.assert_array_equal(runs.records[counted], WHICH)
