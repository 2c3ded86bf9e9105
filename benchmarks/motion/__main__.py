"""Time to accuracy, growth, start-up, ensembles, their events and memory: `python benchmarks/motion [part …]`."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import problems
import rivals

import zwang as zw
from zwang.engines.native import engine

TARGETS = (1e-3, 1e-6, 1e-9, 1e-12)
TOLERANCES = [10.0**-k for k in np.arange(3, 15.01, 0.5)]


def work_precision(run, reference, repeats):
    """Seconds to reach each target: the quickest run whose end error is no larger."""
    size = np.maximum(np.abs(reference), 1e-2 * np.abs(reference).max())
    best = dict.fromkeys(TARGETS, np.inf)
    for tol in TOLERANCES:
        end, seconds = run(tol)
        error = float(np.max(np.abs(end - reference) / size))
        reached = [t for t in TARGETS if error <= t]
        if reached and seconds < max(best[t] for t in reached) * 3:
            seconds = min([seconds, *(run(tol)[1] for _ in range(repeats - 1))])
            for target in reached:
                best[target] = min(best[target], seconds)
        if error <= TARGETS[-1]:
            break
    return best


def show(row, cells, width=12):
    print(f"  {row:<42}" + "".join(f"{c:>{width}}" for c in cells), flush=True)


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g} ms" if np.isfinite(seconds) else "–"


def accuracy():
    """Work–precision against the textbook way and against C."""
    for problem in problems.small():
        reference = problem.reference()
        print(f"\n{problem.name}: time to an end error of")
        show("", [f"{t:.0e}" for t in TARGETS])
        ours = work_precision(rivals.native(problem), reference, 20)
        show("zwang, native", [milliseconds(ours[t]) for t in TARGETS])
        code = rivals.hand_written(problem)
        if code is not None:
            limit = work_precision(code, reference, 20)
            show("hand-written C", [milliseconds(limit[t]) for t in TARGETS])
            show("zwang / C", [f"{ours[t] / limit[t]:.2f}" if np.isfinite(limit[t]) else "–" for t in TARGETS])
        if problem.textbook:
            book = work_precision(rivals.textbook(problem), reference, 1)
            show("textbook in Python", [milliseconds(book[t]) for t in TARGETS])
            show("textbook / zwang", [f"{book[t] / ours[t]:.0f}" if np.isfinite(book[t]) else "–" for t in TARGETS])


def growth():
    """Set-up and run against the number of bodies."""
    for name, build, counts in (
        ("masses on rods, 1 s", lambda k: problems.chain(k, 1.0), (1, 3, 10, 30, 100, 300, 1000)),
        ("spatial bodies, 1 s", lambda k: problems.spatial(k, 1.0), (1, 2, 5, 10, 20, 40)),
    ):
        print(f"\n{name}: seconds against their number")
        show("", ["describe", "set-up", "run", "evaluations", "µs each"])
        last = None
        for count in counts:
            began = time.perf_counter()
            problem = build(count)
            described = time.perf_counter() - began
            began = time.perf_counter()
            motion = zw.simulate(problem.system, problem.start, problem.until, times=[problem.until], tol=1e-9,
                                 method="native", progress=False)  # fmt: skip
            run, evaluations = motion.attrs["run_seconds"], motion.attrs["evaluations"]
            setup = time.perf_counter() - began - run
            cells = [f"{described:.3f}", f"{setup:.3f}", f"{run:.4f}", evaluations, f"{run / evaluations * 1e6:.2f}"]
            show(str(count), cells)
            if last is not None and count >= 10:
                ratio = np.log(count / last[0])
                orders = [
                    np.log(now / then) / ratio for now, then in zip((setup, run / evaluations), last[1:], strict=True)
                ]
                show("", ["", f"N^{orders[0]:.2f}", "", "", f"N^{orders[1]:.2f}"])
            last = (count, setup, run / evaluations)


def start_up():
    """From a cold `import zwang` to the first finished trajectory, and Andrews from System to running."""
    script = Path(__file__).with_name("first_trajectory.py")
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"ZWANG_CACHE_DIR": cache}
        seconds = []
        for _ in range(4):
            began = time.perf_counter()
            out = subprocess.run(
                [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
            )
            seconds.append(time.perf_counter() - began)
        inside = json.loads(out.stdout)
    print("\nfirst trajectory, a new process each time")
    show("never run before", [f"{seconds[0]:.2f} s"])
    show("afterwards", [f"{min(seconds[1:]):.2f} s"])
    show("Andrews, set-up when warm", [milliseconds(inside["andrews"])])


def ensemble():
    """1,000 triple pendulums on all cores against C with OpenMP."""
    problem = problems.chain(3, 10.0)
    count, tol = 1000, 1e-10
    keys = (*problem.system.coordinates, *problem.system.velocities)
    rng = np.random.default_rng(0)
    angles = rng.uniform(-0.5, 0.5, (count, 3)) - 0.5
    steps = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    starts = np.concatenate([np.cumsum(steps, axis=1).reshape(count, 6), np.zeros((count, 6))], axis=1)
    given = {key: starts[:, i] for i, key in enumerate(keys)}
    best = integration = np.inf
    for _ in range(5):
        began = time.perf_counter()
        motion = zw.simulate_many(problem.system, given, problem.until, times=[problem.until], tol=tol)
        best = min(best, time.perf_counter() - began)
        integration = min(integration, motion.attrs["run_seconds"])
    print(f"\n1,000 triple pendulums, 10 s, tol {tol:g}, {os.cpu_count()} cores ({motion.attrs['status']})")
    show("zwang, everything", [milliseconds(best)])
    show("zwang, integration", [milliseconds(integration)])
    code = rivals.compiled_c(problem)
    if code is not None:
        limit = np.inf
        for _ in range(5):
            y = starts.copy()
            began = time.perf_counter()
            code.ensemble(y.ctypes.data, count, 0.0, problem.until, tol)
            limit = min(limit, time.perf_counter() - began)
        show("C with OpenMP", [milliseconds(limit)])
        show("integration / C", [f"{integration / limit:.2f}"])


def events():
    """Ensembles with events, eight samples at a time and one by one: processor time of each sample."""
    x, y = zw.coordinates("x y")
    pendulum = zw.System(
        (x, y),
        kinetic=(zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2,
        potential=9.81 * y,
        constraints={"rod": (x**2 + y**2 - 1) / 2},
    )
    triple = problems.chain(3, 10.0)
    angles = np.random.default_rng(0).uniform(-1.2, 1.2, (1000, 3))
    places = np.cumsum(np.stack([np.sin(angles), -np.cos(angles)], axis=-1), axis=1).reshape(1000, 6)
    still = [dict.fromkeys(system.velocities, 0.0) for system in (pendulum, triple.system)]
    tip = triple.system.coordinates[4]
    print("\n1,000 samples, 10 s, tol 1e-9: µs each of the processor")
    show("", ["by eight", "one by one", "ratio"])
    for name, system, start, last in (
        ("pendulum", pendulum, {x: places[:, 0], y: places[:, 1]} | still[0], x),
        ("triple pendulum", triple.system, dict(zip(triple.system.coordinates, places.T, strict=True)) | still[1], tip),
    ):
        for what, asked in (
            ("no event", []),
            ("never met", [zw.Event(last - 9)]),
            ("through the middle", [zw.Event(last)]),
            ("the first of these stops", [zw.Event(last, stop=True)]),
        ):
            together, alone = (per_sample(system, start, asked, way) for way in (True, False))
            cells = [f"{together:.1f}", f"{alone:.1f}", f"{alone / together:.1f}"]
            show(f"{name}: {what}", cells)


def per_sample(system, start, asked, in_lanes):
    """Microseconds of the processor for each of 1,000 samples."""
    ready = engine.kernels_for
    if not in_lanes:
        engine.kernels_for = lambda task, _: engine.kernels_of(task, engine.optimised)
    try:
        best = np.inf
        for _ in range(4):
            began = time.process_time()
            zw.simulate_many(system, start, 10.0, samples=2, tol=1e-9, events=asked, keep=("q",), threads=1)
            best = min(best, time.process_time() - began)
    finally:
        engine.kernels_for = ready
    return best * 1e3


def memory():
    """Peak memory of a run with 1,000,000 saved samples of 20 coordinates, beside the size of its results."""
    script = Path(__file__).with_name("many_samples.py")
    out = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    result = json.loads(out.stdout)
    print("\n1,000,000 samples of 20 coordinates")
    show("results", [f"{result['results'] / 2**30:.2f} GiB"])
    show("peak beyond the start", [f"{result['peak'] / 2**30:.2f} GiB"])
    show("peak / results", [f"{result['peak'] / result['results']:.2f}"])


PARTS = {
    "accuracy": accuracy,
    "growth": growth,
    "start": start_up,
    "ensemble": ensemble,
    "events": events,
    "memory": memory,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
