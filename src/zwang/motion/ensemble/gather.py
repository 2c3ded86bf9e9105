"""From the states of many runs to all that is said of them, in one native pass: evaluated, summed, put in place.

Each state is packed, evaluated by the report's kernel and handed out, number by number, to the arrays of the results.
Nothing of the size of the results is made on the way.
"""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final

import numpy as np

from zwang.arrays import Array, Indices
from zwang.compile import Kernel
from zwang.compile.restricted import Record, native, native_library
from zwang.compile.restricted.memory import at, call, shift
from zwang.engines.native.runs import Runs

JOB: Final = np.dtype(
    [
        ("kernel", "i8"),
        ("n", "i8"),  #         coordinates
        ("parameters", "i8"),
        ("times", "i8"),
        ("results", "i8"),  #   length of the kernel's output
        ("copies", "i8"),  #    rows of the table
        ("force", "i8"),  #     where, in a row, the force of constraint is
        ("ideal", "i8"),  #     its ideal part
        ("kinetic", "i8"),
        ("potential", "i8"),
        # Arrays, by address.
        ("at_times", "i8"),
        ("q", "i8"),  #         (runs, times, n)
        ("v", "i8"),
        ("p", "i8"),  #         (runs, parameters)
        ("saved", "i8"),  #     (runs) how many times of each were reached
        ("places", "i8"),  #    (runs) which row of the results each is
        ("table", "i8"),  #     (copies, 4): from where in a row, how many numbers, to which array, its width
        ("row", "i8"),  #       [t, q, v, p], the kernel's output, the nonideal force, the energy
        ("work", "i8"),
        ("padding", "i8", 8),  # threads have a job each: their cache lines are kept apart
    ]
)


class Job(Record):
    """A record of `JOB` as native functions see it."""

    layout = JOB


@native
def evaluate(job: Job, i: int, j: int) -> None:
    """The row of one saved state of a run."""
    n, row, q, v = job.n, at(job.row), at(job.q), at(job.v)
    state, given = (i * job.times + j) * n, 1 + 2 * n + job.parameters
    row[0] = at(job.at_times)[j]
    for c in range(n):
        row[1 + c] = q[state + c]
        row[1 + n + c] = v[state + c]
    call(job.kernel, shift(row, given), row, at(job.work))
    behind = given + job.results
    for c in range(n):
        row[behind + c] = row[job.force + c] - row[job.ideal + c]
    row[behind + n] = row[job.kinetic] + row[job.potential]


@native
def hand_out(job: Job, state: int) -> None:
    """The row to its places in the results."""
    row, table = at(job.row), at(job.table)
    for c in range(job.copies):
        first, count, width = int(table[4 * c]), int(table[4 * c + 1]), int(table[4 * c + 3])
        to = at(int(table[4 * c + 2]))
        for e in range(count):
            to[state * width + e] = row[first + e]


@native
def gather(jobs: Job, thread: int, first: int, last: int) -> int:
    """All states of some runs; what a run did not reach is not touched."""
    job = jobs[thread]
    row, p, behind = at(job.row), at(job.p), 1 + 2 * job.n
    for i in range(first, last):
        for c in range(job.parameters):
            row[behind + c] = p[i * job.parameters + c]
        place = int(at(job.places)[i]) * job.times
        for j in range(int(at(job.saved)[i])):
            evaluate(job, i, j)
            hand_out(job, place + j)
    return 0


ALIKE: Final = (
    "force", "constraint_force", "ideal_force", "residual", "residual_rate",
    "kinetic", "potential", "jacobi", "given_power", "gaussian",
)  # fmt: skip
"""Outputs of the report that the results call the same."""


def gathered(
    kernel: Kernel,
    runs: Runs,
    p: Array,
    used: tuple[int, ...],
    values: Mapping[str, Array],
    places: Indices,
    threads: int,
) -> None:
    """Put what the report says of the saved states of some runs into values (S, T, …); run i is row places[i] there.

    `used` are the constraints whose multipliers the report gives.
    """
    n, k, given = runs.kernels.coordinates, p.shape[1], kernel.input_size
    names = {"t": slice(0, 1), "q": slice(1, 1 + n), "v": slice(1 + n, 1 + 2 * n), "p": slice(1 + 2 * n, given)}
    assert names == kernel.inputs
    at_out = {name: slice(given + part.start, given + part.stop) for name, part in kernel.outputs.items()}
    behind = given + kernel.output_size
    where = {"q": names["q"], "v": names["v"], "a": at_out["acceleration"]} | {name: at_out[name] for name in ALIKE}
    where |= {"nonideal_force": slice(behind, behind + n), "energy": slice(behind + n, behind + n + 1)}
    copies = [
        (part.start, part.stop - part.start, values[name].ctypes.data, part.stop - part.start)
        for name, part in where.items()
    ]
    multiplier = values["multiplier"]
    copies += [
        (at_out["multiplier"].start + i, 1, multiplier.ctypes.data + 8 * row, multiplier.shape[-1])
        for i, row in enumerate(used)
    ]
    count = min(threads, len(runs), os.cpu_count() or 1)
    rows, work = np.zeros((count, behind + n + 8)), np.zeros((count, kernel.work_size + 8))
    table, saved = np.array(copies, dtype=float), runs.records["saved"].astype(float)
    p, rows_of = np.ascontiguousarray(p), places.astype(float)
    jobs = np.zeros(count, JOB)
    settings = {
        "kernel": kernel.address,
        "n": n,
        "parameters": k,
        "times": runs.times.size,
        "results": kernel.output_size,
        "copies": len(copies),
        "force": at_out["constraint_force"].start,
        "ideal": at_out["ideal_force"].start,
        "kinetic": at_out["kinetic"].start,
        "potential": at_out["potential"].start,
        "at_times": runs.times.ctypes.data,
        "q": runs.q.ctypes.data,
        "v": runs.v.ctypes.data,
        "p": p.ctypes.data,
        "saved": saved.ctypes.data,
        "places": rows_of.ctypes.data,
        "table": table.ctypes.data,
        "row": rows.ctypes.data + rows.strides[0] * np.arange(count),
        "work": work.ctypes.data + work.strides[0] * np.arange(count),
    }
    for name, value in settings.items():
        jobs[name] = value
    ends = np.linspace(0, len(runs), count + 1).astype(int).tolist()
    if count == 1:
        compiled()(jobs.ctypes.data, 0, 0, len(runs))
        return
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(lambda i: compiled()(jobs.ctypes.data, i, ends[i], ends[i + 1]), range(count)))


@cache
def compiled() -> Callable[[int, int, int, int], int]:
    """`gather` for Python: Python's lock is free while it works."""
    return native_library(gather)
