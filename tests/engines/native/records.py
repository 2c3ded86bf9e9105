"""The record of a run by hand: its arrays filled in, for tests of single native functions."""

import numpy as np

from tests.engines.native.prepared import prepare
from zwang.engines.native.record import lengths
from zwang.engines.native.runs import Kernels, Runs


def record(kernels: Kernels, **settings) -> Runs:
    """One run at rest at t = 0, whose arrays are there to be written."""
    zeros = np.zeros(kernels.coordinates)
    return prepare(kernels, 0.0, zeros, zeros, **settings)


def array(runs: Runs, name: str) -> np.ndarray:
    """An array of the run, by its name in the record; k by stages."""
    k = runs.kernels
    size = lengths(k.coordinates, k.parameters, k.pivots, k.events, k.work, k.bridge > 0, k.powers)[name]
    begin = (int(runs.records[name][0]) - runs.memory.ctypes.data) // 8
    found = runs.memory[0, begin : begin + size]
    return found.reshape(17, -1) if name == "k" else found
