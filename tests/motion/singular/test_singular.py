"""Branch points of constraints: each passage is reported and the branch is right, or the run stops there.

Systems, starts and tolerances are drawn at random; the truth is the motion along one smooth branch (`branches`).
"""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.motion.singular.branches import FAMILIES, beside_turning_rows

METHODS = ("native", "taylor", "radau")
TOLERANCES = (1e-3, 1e-6, 1e-9, 1e-12)
SHARE = {"native": 0.1, "taylor": 0.25, "radau": 0.5}  # of runs that may stop; native is the default
FINE = 2000  # samples of the true motion
KEPT = 10  # every so many of them are compared


def drawn(seed, turning=False):
    """A branch, a start on it, beside a branch point in two of three cases, and its true motion."""
    draw = np.random.default_rng(seed)
    branch = FAMILIES[seed % len(FAMILIES)](draw)
    if turning:
        branch = beside_turning_rows(branch, draw)
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


def outcome(seed, tol, method, turning=False):
    """ "right", "stopped", or what is wrong."""
    branch, start, times, path, q, growth, beside = drawn(seed, turning)
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
    assert stopped <= SHARE[method] * count


@pytest.mark.parametrize(("method", "count"), [("native", 14), ("radau", 2)])
@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_the_same_beside_rows_whose_pivots_are_small_for_their_masses(method, count, tol):
    found = {seed: outcome(seed, tol, method, turning=True) for seed in range(100, 100 + count)}
    assert {seed: each for seed, each in found.items() if each not in ("right", "stopped")} == {}
    assert sum(each == "stopped" for each in found.values()) <= 0.15 * count


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("many", [False, True])
def test_pivots_that_vary_with_masses_only_cost_no_step(tol, many):
    # Two masses, held at rest by rows that turn beside a pendulum: whether they differ makes no difference.
    x, y, u, w = q = zw.coordinates("x y u w")
    m, turn = zw.parameters("m"), sp.Rational(3, 10) * zw.t
    system = zw.System(
        q,
        kinetic=(zw.dot(x) ** 2 + zw.dot(y) ** 2 + m * zw.dot(u) ** 2 + zw.dot(w) ** 2) / 2,
        potential=9.81 * y,
        constraints={
            "rod": x**2 + y**2 - 1,
            "turning": u * sp.cos(turn) + w * sp.sin(turn),
            "turning, too": w * sp.cos(turn) - u * sp.sin(turn),
        },
    )
    start = {x: 1, y: 0, u: 0, w: 0} | {zw.dot(c): 0 for c in q}
    options = {"until": 10.0, "samples": 2, "tol": tol}
    if many:
        motion = zw.simulate_many(system, start, parameters={m: [1.0] * 9 + [0.003] * 9}, **options)
        assert np.array_equal(motion.q.values[0], motion.q.values[-1])
    else:
        runs = [zw.simulate(system, start, parameters={m: each}, **options).attrs for each in (1, 0.003)]
        assert [run["steps"] for run in runs] == [runs[0]["steps"]] * 2
        assert [run["evaluations"] for run in runs] == [runs[0]["evaluations"]] * 2
