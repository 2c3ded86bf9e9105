"""Multiple shooting: the estimates of one piece, however it is cut; chaotic motions that one piece does not find."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.analysis.fitting.test_fit import GUESS, MEASURED, PENDULUM, SPRING, START, a0, k, m, swing
from tests.analysis.systems import VARIANTS, doubled
from zwang import dot
from zwang.errors import InputError

x, y, u, w = zw.coordinates("x y u w")
G, l, a1, a2 = zw.parameters("G l a1 a2")
DOUBLE = zw.System(
    (x, y, u, w),
    kinetic=sum(dot(c) ** 2 for c in (x, y, u, w)) / 2,
    potential=G * (y + w),
    constraints={"upper": x**2 + y**2 - 1, "lower": (u - x) ** 2 + (w - y) ** 2 - l**2},
)
BEGIN = {
    x: sp.sin(a1),
    y: -sp.cos(a1),
    u: sp.sin(a1) + l * sp.sin(a2),
    w: -sp.cos(a1) - l * sp.cos(a2),
}
TRUTH = {G: 9.81, l: 1.0, a1: 2.0, a2: 2.5}
FAR = {G: 9.5, l: 1.05, a1: 1.95, a2: 2.55}


def filmed(system, until, count, noise, seed=0):
    """A double pendulum thrown high, as a camera sees it."""
    begin = {c: float(e.subs(TRUTH)) for c, e in BEGIN.items()} | {dot(c): 0 for c in (x, y, u, w)}
    times = np.linspace(0, until, count)
    motion = zw.simulate(system, begin, until, times=times, parameters={G: 9.81, l: 1.0})
    errors = noise * np.random.default_rng(seed).standard_normal((count, 4))
    return motion, {"t": times} | {str(c): motion.q.values[:, i] + errors[:, i] for i, c in enumerate("xyuw")}


@pytest.mark.parametrize("variant", [VARIANTS[0], VARIANTS[3]])
@pytest.mark.parametrize("pieces", [2, 5])
def test_L6_it_has_the_estimates_of_one_piece(variant, pieces):
    whole = zw.fit(variant(PENDULUM), MEASURED, GUESS, start=START)
    found = zw.fit(variant(PENDULUM), MEASURED, GUESS, start=START, pieces=pieces)
    for s in GUESS:
        assert found.values[s] == pytest.approx(whole.values[s], rel=1e-9)
        assert found.errors[s] == pytest.approx(whole.errors[s], rel=1e-8)
    assert found.rss == pytest.approx(whole.rss, rel=1e-10)
    assert found.covariance == pytest.approx(whole.covariance, rel=1e-6, abs=1e-13)
    assert found.motion.q.values == pytest.approx(whole.motion.q.values, abs=1e-9)
    assert found.motion.time.values == pytest.approx(whole.motion.time.values)


def test_a_chaotic_motion_is_found_in_pieces_and_not_in_one():
    """Neighbours part by a factor of 10⁴ within these eight seconds."""
    system = doubled(DOUBLE)
    motion, data = filmed(system, 8.0, 121, 0.01)
    one = zw.fit(system, data, FAR, start=BEGIN)
    assert np.sqrt(one.rss / one.numbers) > 0.1
    assert one.verdict.endswith("fit it in pieces, as in pieces=20.")
    found = zw.fit(system, data, FAR, start=BEGIN, pieces=12)
    assert np.sqrt(found.rss / found.numbers) == pytest.approx(0.01, rel=0.1)
    for s, value in TRUTH.items():
        assert abs(found.values[s] - value) < 4 * found.errors[s]
        assert found.errors[s] < 3e-3
    assert np.abs(found.motion.q.values - motion.q.values).max() < 0.02
    assert found.verdict == "Everything can be told from these data."


def test_what_cannot_be_told_is_named_in_pieces_too():
    times = np.linspace(0, 6, 40)
    found = zw.fit(SPRING, swing(0.3, times), {k: 3, m: 1.2, a0: 0.25}, start={SPRING.coordinates[0]: a0}, pieces=4)
    assert found.verdict == "Of k and m only k/m can be told from these data."
    assert found.identifiable == {k: False, m: False, a0: True}
    assert found.values[k] / found.values[m] == pytest.approx(4, rel=1e-8)


def test_bounds_hold_and_several_trials_are_cut_alike():
    times = np.linspace(0, 6, 30)
    place = SPRING.coordinates[0]
    b0 = zw.parameters("b0")
    found = zw.fit(
        SPRING, [swing(0.3, times), swing(-0.2, times[:20])], {k: 3.5, a0: 0.2, b0: -0.1},
        start=[{place: a0}, {place: b0}], pieces=3,
    )  # fmt: skip
    assert [*found.values.values()] == pytest.approx([4, 0.3, -0.2], rel=1e-8)
    assert len(found.motion) == 2
    low = zw.fit(SPRING, swing(0.3, times), {k: 3.5, a0: 0.2}, start={place: a0}, bounds={k: (3, 3.9)}, pieces=3)
    assert low.values[k] == pytest.approx(3.9, rel=1e-9)
    assert low.values[a0] == pytest.approx(zw.fit(
        SPRING, swing(0.3, times), {a0: 0.2}, start={place: a0}, parameters={k: 3.9}
    ).values[a0], rel=1e-6)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "pieces"),
    [("a whole number from 1 on", 0), ("a whole number from 1 on", 2.5), ("cannot be cut into so many", 100)],
)
def test_what_cannot_be_cut_is_refused(words, pieces):
    with pytest.raises(InputError, match=words):
        zw.fit(PENDULUM, MEASURED, GUESS, start=START, pieces=pieces)


def test_a_guess_too_far_away_says_how_far_pieces_miss_each_other():
    system = DOUBLE
    _, data = filmed(system, 6.0, 61, 0.01)
    data = {name: column[::-1] if name != "t" else column for name, column in data.items()}
    data["u"] = -3 * data["u"]  # no double pendulum moves like this
    with pytest.raises(InputError, match="two of them miss each other by"):
        zw.fit(system, data, FAR, start=BEGIN, pieces=3)


@pytest.mark.slow
def test_errors_of_pieces_cover_the_truth_as_often_as_they_say():
    """60 films of a chaotic double pendulum: two standard errors cover 95 %, up to chance (four sigma)."""
    inside = []
    for seed in range(60):
        _, data = filmed(DOUBLE, 6.0, 61, 0.01, seed)
        found = zw.fit(DOUBLE, data, FAR, start=BEGIN, pieces=8)
        inside.append([abs(found.values[s] - value) < 2 * found.errors[s] for s, value in TRUTH.items()])
    share = np.mean(inside, axis=0)
    assert np.abs(share - 0.954).max() < 4 * np.sqrt(0.954 * 0.046 / 60)
