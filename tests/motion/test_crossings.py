"""Branch points of constraints: each passage is reported and the branch is right, or the run stops there.

Systems, starts and tolerances are drawn at random; the truth is the motion along one smooth branch (`branches`).
"""

import numpy as np
import pytest

import zwang as zw

from .branches import FAMILIES

METHODS = ("native", "taylor", "radau")
TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-12)
FINE = 2000  # samples of the true motion
KEPT = 10  # every so many of them are compared


def drawn(seed):
    """A branch, a start on it, beside a branch point in two of three cases, and its true motion."""
    draw = np.random.default_rng(seed)
    branch = FAMILIES[seed % len(FAMILIES)](draw)
    s, beside = draw.uniform(*branch.range), 0.0
    if draw.integers(3):
        beside = 10 ** draw.uniform(-6, -1)
        s = draw.choice(branch.nodes) + draw.choice([-1, 1]) * beside
    J = np.array(branch.mass) @ branch.at(s)[1] ** 2
    rate = draw.choice([-1, 1]) * draw.uniform(2.0, 8.0) / np.sqrt(J)
    times = np.linspace(0.0, draw.uniform(0.5, 2.5), FINE + 1)
    path, q, growth = branch.motion(s, rate, times)
    # the end is half way between two passages, so that it is clear how many there are
    marks = [0, *branch.passages(path), FINE]
    widest = int(np.argmax(np.diff(marks[-3:]))) + max(len(marks) - 3, 0)
    end = FINE if len(marks) == 2 else max((marks[widest] + marks[widest + 1]) // 2, KEPT)
    return branch, branch.start(s, rate), times[: end + 1], path[: end + 1], q[: end + 1], growth, beside


def outcome(seed, tol, method):
    """ "right", "stopped", or what is wrong."""
    branch, start, times, path, q, growth, beside = drawn(seed)
    motion = zw.simulate(
        branch.system,
        start,
        times[-1],
        times=np.append(times[:-1:KEPT], times[-1]),
        tol=tol,
        method=method,
        throw=False,
    )
    # Errors of a few steps' tolerances, grown by the motion; and rounding, which is divided by the way to a branch
    # point that the start is beside.
    allowed = 100 * tol * growth + 1e-14 * growth / max(beside, 1e-6) ** 1.5
    saved = np.searchsorted(times, motion.time.values)
    error = np.abs(motion.q.values - q[saved]).max(initial=0.0)
    passages, reported = len(branch.passages(path)), motion.message.count("Leapt the singular position")
    if motion.status not in ("finished", "singular"):
        return f"{branch.family}: {motion.status}"
    if error > allowed:
        return f"{branch.family}: {motion.status}, off by {error:.1e}, allowed {allowed:.1e}"
    if motion.status == "singular":
        return "stopped"
    return "right" if reported == passages else f"{branch.family}: {reported} of {passages} passages"


@pytest.mark.parametrize("tol", TOLERANCES)
@pytest.mark.parametrize(("method", "count"), [("native", 35), ("taylor", 14), ("radau", 7)])
def test_every_passage_is_reported_and_its_branch_right_or_the_run_stops(method, count, tol, capsys):
    found = {seed: outcome(seed, tol, method) for seed in range(count)}
    stopped = sum(each == "stopped" for each in found.values())
    with capsys.disabled():
        print(f" [{method}, tol {tol:g}: {stopped} of {count} stop]", end="")
    assert {seed: each for seed, each in found.items() if each not in ("right", "stopped")} == {}
    if (method, tol) == ("native", 1e-12):  # the default
        assert stopped <= 0.1 * count
