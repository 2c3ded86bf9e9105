"""One peer on one problem, in a process of its own: set-up, runs from coarse to fine, JSON on standard output.

python -m benchmarks.peers.worker PEER PROBLEM SECONDS
"""

import importlib
import json
import math
import os
import resource
import sys
import time
from typing import Any

from benchmarks.peers.problem import PROCESSOR, TARGET, CannotExpress, Outcome, Prepared, Problem, clock
from benchmarks.peers.problems import ALL

LEAST = 3  # runs of each setting, fewer where one takes long
LONG = 2.0
MOST = 50
ENOUGH = 0.2  # seconds of repeating one setting


def main(peer: str, name: str, seconds: float) -> dict[str, Any]:
    """The result of a peer on a problem, as a dictionary; what fails is a reason."""
    began = time.perf_counter()
    try:
        module = importlib.import_module(f"benchmarks.peers.peers.{peer}")
    except ImportError as error:
        return {"peer": peer, "problem": name, "reason": f"not installed: {error}"}
    imported = time.perf_counter() - began
    base = memory()
    began = clock()
    try:
        prepared = module.prepare(ALL[name])
    except CannotExpress as reason:
        return {"peer": peer, "problem": name, "reason": str(reason)}
    setup = clock() - began
    # a thousand trajectories take their time: a tool must not look unable where it is only slow
    runs = measure(prepared, ALL[name], seconds * (4 if ALL[name].starts > 1 else 1))
    return {
        "peer": peer,
        "problem": name,
        "how": prepared.how,
        "versions": dict(prepared.versions),
        "clock": "processor" if os.environ.get(PROCESSOR) else "wall",
        "import_seconds": imported,
        "setup_seconds": setup,
        "memory_mb": (memory() - base) / 1024,
        "runs": runs,
    }


def memory() -> int:
    """Peak memory of this process so far, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(prepared: Prepared, problem: Problem, seconds: float) -> list[dict[str, Any]]:
    """Every setting until the time is up, or until six finer ones in a row were no better than what is good enough.

    Coarse ones may be equal for another reason: where a longest step is all that holds them, a tolerance says nothing.
    What others do on the machine takes none of the time.
    """
    began, runs, best, worse = clock(), list[dict[str, Any]](), math.inf, 0
    for setting in prepared.settings:
        try:
            row = repeated(prepared, problem, setting, seconds - (clock() - began))
        except Exception as error:  # a setting that a tool refuses is a row that says so
            runs.append({"setting": setting, "failed": f"{type(error).__name__}: {error}"[:300]})
            continue
        runs.append(row)
        better = row["error"] < 0.7 * best
        best, worse = min(best, row["error"]), 0 if better else worse + 1
        if clock() - began > seconds or (worse >= 6 and best <= TARGET):
            break
    return runs


def repeated(prepared: Prepared, problem: Problem, setting: float, left: float) -> dict[str, Any]:
    """Several runs with one setting, and how long one takes."""
    began, times, calls, outcome = clock(), list[float](), list[float](), Outcome(())
    while len(times) < MOST:
        start = clock()
        outcome = prepared.run(setting)
        took = clock() - start
        times.append(took if outcome.seconds is None else outcome.seconds)
        calls.append(times[-1] if outcome.call_seconds is None else outcome.call_seconds)
        spent = clock() - began
        if (len(times) >= LEAST and spent > ENOUGH) or took > LONG or spent > max(left, 1.0):
            break
    return {
        "setting": setting,
        "error": problem.error(outcome.observed),
        "seconds": typical(times),
        "call_seconds": typical(calls),
        "drift": outcome.drift,
        "energy": outcome.energy,
        "repeats": len(times),
    }


def typical(times: list[float]) -> float:
    """The shortest time by the clock on the wall; by the processor's the mean of the later half.

    What other threads have used is booked to the processor's clock some milliseconds late, so that the shortest of many
    short runs would be too short.
    """
    later = times[len(times) // 2 :]
    return sum(later) / len(later) if os.environ.get(PROCESSOR) else min(times)


if __name__ == "__main__":
    peer, name, limit = sys.argv[1:4]
    print(json.dumps(main(peer, name, float(limit))))
