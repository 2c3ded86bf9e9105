"""Complementarity with friction: what is found obeys the laws, and is all there is where that is said."""

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.nonsmooth import oracle, scenes
from zwang.nonsmooth import (
    Law,
    Problem,
    box,
    combined,
    coulomb,
    equal,
    guide,
    not_unique,
    parts,
    push,
    range_of_forces,
    range_of_motion,
    solve,
)


def only(problem, **given):
    """The only solution of the only part."""
    (answer,) = solve(problem, **given)
    assert answer.complete
    (one,) = answer.solutions
    return one


def missed(problem, one):
    """By how much Coulomb's law and Signorini's are missed, from their definitions, relative to the largest speed."""
    row, worst = 0, 0.0
    for law in problem.laws:
        n, t = row, slice(row + (law.normal != "none"), row + law.rows)
        N = one.f[n] if law.normal != "none" else 0.0
        if law.normal == "bilateral":
            worst = max(worst, abs(one.u[n]))
        elif law.normal == "unilateral":
            worst = max(worst, law.low - N, -one.u[n], min(N - law.low, one.u[n]))
        slip, rub = one.u[t], one.f[t]
        speed = np.linalg.norm(slip) if len(slip) else 0.0
        if len(slip) and law.way:
            worst = max(worst, np.abs(rub + law.mu * abs(N) * np.array(law.way)).max())
        elif len(slip):
            worst = max(worst, np.linalg.norm(rub) - law.mu_static * abs(N) - law.bound)
            if speed > 1e-7 * np.abs(problem.c).max():
                worst = max(worst, np.abs(rub + (law.mu * abs(N) + law.bound) * slip / speed).max())
        row += law.rows
    return worst / np.abs(problem.c).max()


# Closed forms


@pytest.mark.parametrize(("pull", "friction"), [(2.0, -2.0), (-2.9, 2.9), (4.0, -3.0), (-5.0, 3.0)])
@pytest.mark.parametrize("tangents", [1, 2])
def test_a_block_on_a_floor_sticks_up_to_mu_n_and_slides_beyond(pull, friction, tangents):
    c = np.array([-10.0, pull, 0.0][: 1 + tangents])
    one = only(Problem(np.eye(1 + tangents), c, (coulomb(0.3, tangents),)))
    np.testing.assert_allclose(one.f, [10.0, friction, 0.0][: 1 + tangents], atol=1e-14)
    assert one.mode.stick[0] == (abs(pull) <= 3.0)


def test_what_is_pulled_up_lifts_off():
    one = only(Problem(np.eye(2), np.array([1.0, 5.0]), (coulomb(0.3),)))
    assert not one.mode.held[0]
    assert not one.f.any()


def test_static_friction_holds_more_than_sliding_friction_takes():
    block = [Problem(np.eye(2), np.array([-10.0, pull]), (coulomb(0.3, static=0.5),)) for pull in (4.9, 5.1)]
    assert only(block[0]).f.tolist() == [10.0, -4.9]
    np.testing.assert_allclose(only(block[1]).f, [10.0, -3.0], rtol=1e-15)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_guide_rubs_by_the_size_of_its_force_whichever_way_that_points(sign):
    one = only(Problem(np.eye(2), np.array([sign * 10.0, 4.0]), (guide(0.3),)))
    np.testing.assert_allclose(one.f, [-sign * 10.0, -3.0], rtol=1e-15)


def test_dry_friction_with_a_known_bound_stops_what_is_slow():
    assert only(Problem(np.eye(1), np.array([0.4]), (box(0.5),))).u[0] == 0
    assert only(Problem(np.eye(1), np.array([0.8]), (box(0.5),))).u[0] == pytest.approx(0.3, rel=1e-15)
    one = only(Problem(np.eye(2), np.array([3.0, 4.0]), (box(2.5, 2),)))
    np.testing.assert_allclose(one.f, [-1.5, -2.0], rtol=1e-14)


def test_a_ball_with_a_glancing_impact_by_poisson_slides_or_rolls():
    """A disc, J = ½: tangential mobility 3, so that it rolls if μ > |slip|/(3 Λ), Routh."""
    W = np.diag([1.0, 3.0])
    rolls = only(Problem(W, np.array([-1.0, 0.6]), (coulomb(0.25, low=0.0),)))
    slides = only(Problem(W, np.array([-1.0, 0.6]), (coulomb(0.1, low=0.0),)))
    np.testing.assert_allclose(rolls.u, [0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(slides.u, [0.0, 0.6 - 3 * 0.1], atol=1e-15)
    expands = only(Problem(W, np.array([0.0, 0.6]), (coulomb(0.1, low=0.5),)))
    np.testing.assert_allclose(expands.f, [0.5, -0.05], rtol=1e-15)


@pytest.mark.parametrize("spin", [0.0, 2.0, 5.0])
@pytest.mark.parametrize("mu", [0.5, 1.2, 1.4, 2.0])
def test_the_rod_of_painleve_has_no_acceleration_one_or_several(mu, spin):
    """1 + 3 cos θ (cos θ ∓ μ sin θ): a paradox from μ = 4/3 on at tan θ = 2; none or two by the free acceleration."""
    theta = np.arctan(2.0)
    problem = scenes.rod(mu, spin=spin, way=-1.0)
    margin = 1 + 3 * np.cos(theta) * (np.cos(theta) - mu * np.sin(theta))
    free = -9.81 + spin**2 * np.sin(theta)
    (answer,) = solve(problem)
    assert answer.complete
    assert len(answer.solutions) == (1 if margin > 0 else 2 if free > 0 else 0)
    assert answer.impossible == (margin < 0 and free < 0)


@pytest.mark.parametrize("mu", [0.4, 0.7, 0.9, 1.1])
@pytest.mark.parametrize("slope", [30, 45, 60, 70, 80, 85])
def test_a_disc_in_a_groove_rests_and_sticks_and_is_flagged_where_it_may_jam(slope, mu):
    """It can jam if the line between the contacts lies in both cones, μ > tan(90° − slope); then forces are free."""
    problem = scenes.groove(slope, mu)
    one = only(problem)
    np.testing.assert_allclose(one.u, 0.0, atol=1e-13)
    assert one.mode.stick.all()
    family = abs(np.tan(np.radians(90 - slope)))
    ranges = range_of_forces(problem, one)
    assert np.isinf(ranges[:, 1]).any() == (mu > family)
    assert not_unique(problem, one).all()
    np.testing.assert_allclose(range_of_motion(problem, one), np.stack([one.u, one.u], axis=1), atol=1e-12)


def test_a_ladder_stands_as_long_as_its_cones_allow():
    """A uniform ladder at 60°, of length 2, before a smooth wall: it stands for μ ≥ cot(60°)/2, statics."""

    def ladder(mu):
        s, c = np.sin(np.pi / 3), np.cos(np.pi / 3)
        rows = np.array([[0.0, 1.0, -c], [1.0, 0.0, s], [-1.0, 0.0, s]])  # foot: up and along; head: off the wall
        inverse = np.diag([1.0, 1.0, 3.0])
        free = rows @ np.array([0.0, -9.81, 0.0])
        return Problem(rows @ inverse @ rows.T, free, (coulomb(mu), push()))

    limit = 1 / np.tan(np.pi / 3) / 2
    assert np.abs(only(ladder(limit * 1.01)).u).max() < 1e-13
    assert np.abs(only(ladder(limit * 0.99)).u).max() > 1e-3


def test_a_table_that_slides_straight_has_one_motion_though_its_loads_are_free():
    problem = scenes.table((1.0, 0.0), 0.0)
    one = only(problem)
    assert np.ptp(range_of_motion(problem, one), axis=1).max() < 1e-12
    assert not_unique(problem, one).all()


def test_a_table_that_slides_and_turns_may_go_on_in_an_interval_of_ways():
    """How four feet share the load is free: its ends are those of two linear programs over all loads that carry it."""
    problem = scenes.table((1.0, 0.3), 1.0)
    one = solve(problem)[0].solutions[0]
    ranges = range_of_motion(problem, one)
    feet = np.array([(1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5)])
    slip = np.array([1.0, 0.3]) + np.stack([-feet[:, 1], feet[:, 0]], axis=1)
    d = slip / np.linalg.norm(slip, axis=1)[:, None]
    carries = {"A_eq": np.array([np.ones(4), *feet.T]), "b_eq": [9.81, 0, 0], "bounds": (0, None)}
    arms = feet[:, 0] * d[:, 1] - feet[:, 1] * d[:, 0]
    for i in range(4):  # each foot's acceleration along its slip: of all friction −μ N d, force and moment, M = J = 1
        along = -0.2 * (d @ d[i] + arms * arms[i])
        ends = [s * linprog(s * along, **carries).fun for s in (1, -1)]
        np.testing.assert_allclose(ranges[2 * i + 1], ends, rtol=1e-8)


def test_a_beam_on_three_feet_slows_by_anything_in_an_interval():
    """N = (w, m g − 2 w, w), so that ẍ = −0.5 g + 0.8 w/m, 0 ≤ w ≤ m g/2; the limit of equal springs is w = m g/3."""
    rows = np.array([row for u in (-1.0, 0.0, 1.0) for row in ([0.0, 1.0, u], [1.0, 0.0, 0.0])])
    W, free = (rows * [1.0, 1.0, 3.0]) @ rows.T, rows @ [0.0, -9.81, 0.0]
    problem = Problem(W, free, tuple(coulomb(mu, way=(1.0,)) for mu in (0.1, 0.5, 0.1)))
    one = solve(problem)[0].solutions[0]
    np.testing.assert_allclose(range_of_motion(problem, one)[1::2], [[-0.5 * 9.81, -0.1 * 9.81]] * 3, rtol=1e-12)
    np.testing.assert_allclose(one.f[::2], 9.81 / 3, rtol=1e-12)
    alike = Problem(W, free, tuple(coulomb(0.3, way=(1.0,)) for _ in range(3)))
    same = only(alike)
    assert np.ptp(range_of_motion(alike, same), axis=1).max() < 1e-12


# Random problems, against linear programs over all modes


@pytest.mark.parametrize("seed", range(60))
def test_random_problems_have_the_solutions_that_linear_programs_find(seed):
    rng = np.random.default_rng(seed)
    blocks = int(rng.integers(1, 4))
    coordinates = None if seed % 3 else int(rng.integers(2, 6))
    problem = scenes.bodies(rng, blocks, coordinates=coordinates)
    if coordinates is None:  # masses that are not diagonal make paradoxes, and several solutions
        problem = Problem(problem.W, problem.c * rng.choice([-1, 1], len(problem.c)), problem.laws)
    alone, ranges = oracle.motions(problem)
    answers = solve(problem, every=True)
    found = [one.u for answer in answers for one in answer.solutions] if len(answers) == 1 else []
    if len(answers) > 1:
        return
    size = np.abs(problem.c).max()
    for one in answers[0].solutions:
        assert missed(problem, one) < 1e-8
    for u in found:
        inside = any((u >= e[:, 0] - 1e-6 * size).all() and (u <= e[:, 1] + 1e-6 * size).all() for e in ranges)
        assert inside or any(np.abs(u - v).max() <= 1e-5 * size for v in alone)
    if answers[0].complete:
        for v in alone:
            inside = any((v >= e[:, 0] - 1e-6 * size).all() and (v <= e[:, 1] + 1e-6 * size).all() for e in ranges)
            assert inside or any(np.abs(u - v).max() <= 1e-5 * size for u in found)
        assert bool(found) == bool(alone or ranges)


@pytest.mark.parametrize("seed", range(40))
def test_random_problems_in_space_obey_the_laws(seed):
    rng = np.random.default_rng(seed)
    laws = tuple(coulomb(rng.uniform(0.1, 0.8), 2) for _ in range(int(rng.integers(1, 6))))
    problem = scenes.bodies(rng, len(laws), 2, laws=laws)
    one = combined(problem, solve(problem))
    assert one is not None
    assert missed(problem, one) < 1e-8


@pytest.mark.parametrize("seed", range(30))
def test_one_contact_in_space_has_all_the_directions_that_a_scan_finds(seed):
    """Slips begin where the cross product of slip and direction changes its sign: a scan of 4,000 directions."""
    rng = np.random.default_rng(seed)
    mu = rng.uniform(0.3, 2.5)
    B = rng.normal(size=(3, 4))
    problem = Problem(B @ B.T, rng.normal(size=3) - np.array([1.0, 0, 0]), (coulomb(mu, 2),))
    W, c = problem.W, problem.c
    angles = np.linspace(0, 2 * np.pi, 4001)
    d = np.stack([np.cos(angles), np.sin(angles)])
    mobility = W[0, 0] - mu * W[0, 1:] @ d
    N = -c[0] / mobility
    slip = c[1:, None] + N * (W[1:, :1] - mu * W[1:, 1:] @ d)
    cross, along = d[0] * slip[1] - d[1] * slip[0], (d * slip).sum(axis=0)
    change = (cross[:-1] * cross[1:] < 0) & (np.abs(np.diff(cross)) < 1) & (N[:-1] > 0) & (N[1:] > 0)
    expected = int((change & (along[:-1] > 0) & (along[1:] > 0)).sum())
    (answer,) = solve(problem)
    slides = [one for one in answer.solutions if one.mode.held[0] and not one.mode.stick[0]]
    assert len(slides) == expected
    assert all(missed(problem, one) < 1e-10 for one in answer.solutions)


# Invariance


def some_problem(seed, tangents=1):
    rng = np.random.default_rng(seed)
    laws = tuple(coulomb(rng.uniform(0.1, 0.6), tangents) for _ in range(4))
    return scenes.bodies(rng, 4, tangents, laws=laws)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("tangents", [1, 2])
def test_units_of_speed_and_of_mass_change_nothing(unit, tangents):
    problem = some_problem(1, tangents)
    one = combined(problem, solve(problem))
    faster = Problem(problem.W, unit * problem.c, problem.laws)
    heavier = Problem(problem.W / unit, problem.c, problem.laws)
    np.testing.assert_allclose(combined(faster, solve(faster)).u, unit * one.u, rtol=1e-9, atol=1e-12 * unit)
    np.testing.assert_allclose(combined(heavier, solve(heavier)).u, one.u, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("tangents", [1, 2])
def test_the_order_of_blocks_changes_nothing(tangents):
    problem = some_problem(2, tangents)
    one = combined(problem, solve(problem))
    order = [2, 0, 3, 1]
    rows = np.concatenate([np.arange(1 + tangents) + (1 + tangents) * i for i in order])
    other = Problem(problem.W[np.ix_(rows, rows)], problem.c[rows], tuple(problem.laws[i] for i in order))
    np.testing.assert_allclose(combined(other, solve(other)).u, one.u[rows], rtol=1e-9, atol=1e-11)


def test_turned_axes_of_slips_in_space_turn_the_answer():
    problem = some_problem(3, 2)
    one = combined(problem, solve(problem))
    turn = np.eye(12)
    for i in range(4):
        s, c = np.sin(i + 0.7), np.cos(i + 0.7)
        turn[3 * i + 1 : 3 * i + 3, 3 * i + 1 : 3 * i + 3] = [[c, -s], [s, c]]
    other = Problem(turn @ problem.W @ turn.T, turn @ problem.c, problem.laws)
    np.testing.assert_allclose(combined(other, solve(other)).u, turn @ one.u, rtol=1e-9, atol=1e-10)


# Parts


def side_by_side(problems):
    sizes = [len(p.c) for p in problems]
    W = np.zeros((sum(sizes), sum(sizes)))
    for p, end in zip(problems, np.cumsum(sizes), strict=True):
        W[end - len(p.c) : end, end - len(p.c) : end] = p.W
    return Problem(W, np.concatenate([p.c for p in problems]), tuple(law for p in problems for law in p.laws))


def test_what_does_not_touch_has_the_bits_that_it_has_alone():
    some = [some_problem(seed) for seed in range(5)]
    together = side_by_side(some)
    alone = np.concatenate([combined(p, solve(p)).f for p in some])
    assert combined(together, solve(together)).f.tolist() == alone.tolist()
    assert all(answer.complete for answer in solve(together))


def test_the_cost_is_linear_in_parts(monkeypatch):
    """Equations of modes that are solved: as many for each of forty parts as for one."""
    counted = []
    before = np.linalg.solve
    monkeypatch.setattr(np.linalg, "solve", lambda *a: (counted.append(a[0].size), before(*a))[1])
    problem = some_problem(4)
    solve(problem)
    once = sum(counted)
    counted.clear()
    solve(side_by_side([problem] * 40))
    assert sum(counted) == 40 * once


def test_parts_keep_the_order_of_their_first_blocks():
    problem = side_by_side([some_problem(0), scenes.rod(0.3)])
    assert [part.blocks.tolist() for part in parts(problem)] == [[0, 1, 2, 3], [4]]


def test_rounding_does_not_couple_parts():
    problem = side_by_side([some_problem(0), some_problem(1)])
    W = problem.W + 1e-17 * np.ones_like(problem.W)
    assert len(parts(Problem(W, problem.c, problem.laws))) == 2


# Ladders


@pytest.mark.parametrize("count", [10, 30])
@pytest.mark.parametrize("tangents", [1, 2])
def test_many_contacts_of_one_system_are_found_without_trying_all_modes(count, tangents):
    rng = np.random.default_rng(count)
    problem = scenes.bodies(rng, count, tangents, laws=tuple(coulomb(0.3, tangents) for _ in range(count)))
    (answer,) = solve(problem)
    assert missed(problem, answer.solutions[0]) < 1e-8
    assert not answer.complete
    again = solve(problem, begin=answer.solutions[0].mode)[0].solutions[0]
    assert again.steps <= answer.solutions[0].steps
    np.testing.assert_allclose(again.u, answer.solutions[0].u, atol=1e-9 * np.abs(problem.c).max())


@pytest.mark.parametrize("boxes", [2, 6, 10])
def test_a_stack_of_boxes_rests_though_its_loads_are_free(boxes):
    """Boxes of width 2 and height 1 on two corners each: every corner row depends on others from two on."""
    rows, n = [], 3 * boxes
    for i in range(boxes):
        for x in (-1.0, 1.0):
            for direction in ((0.0, 1.0), (1.0, 0.0)):
                row = np.zeros(n)
                for body, y, sign in ((i, -0.5, 1.0), (i - 1, 0.5, -1.0)):
                    if body >= 0:
                        row[3 * body : 3 * body + 3] += sign * np.array(
                            [*direction, x * direction[1] - y * direction[0]]
                        )
                rows.append(row)
    rows = np.array(rows)
    inverse = np.tile([1.0, 1.0, 12 / 5], boxes)
    free = rows @ np.tile([0.3, -9.81, 0.0], boxes)
    problem = Problem((rows * inverse) @ rows.T, free, tuple(coulomb(0.5) for _ in range(2 * boxes)))
    one = combined(problem, solve(problem))
    np.testing.assert_allclose(one.u, 0.0, atol=1e-8)


# Refusals


def test_what_is_no_law_is_refused():
    with pytest.raises(ValueError, match="mu = -1"):
        coulomb(-1.0)
    with pytest.raises(ValueError, match="must not be less"):
        coulomb(0.5, static=0.3)
    with pytest.raises(ValueError, match="0, 1 or 2 tangential rows, not 3"):
        coulomb(0.5, 3)
    with pytest.raises(ValueError, match="this one has none"):
        Law("none")
    with pytest.raises(ValueError, match="1 numbers for 2"):
        coulomb(0.5, 2, way=(1.0,))


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="3 rows, but W has the shape"):
        Problem(np.eye(2), np.zeros(2), (coulomb(0.5), equal()))
    with pytest.raises(ValueError, match="must be finite"):
        Problem(np.eye(1), np.array([np.nan]), (equal(),))


def test_boxes_from_the_mode_before_are_proved_to_have_one_solution():
    """Dry friction with known bounds is a least of a convex function: no other mode has to be tried."""
    rng = np.random.default_rng(0)
    root = rng.standard_normal((40, 40))
    problem = Problem(root @ root.T + np.eye(40), 20 * rng.standard_normal(40), (box(1.0),) * 40)
    [found] = solve(problem)
    [again] = solve(problem, found.solutions[0].mode)
    assert again.complete
    assert again.solutions[0].f == pytest.approx(found.solutions[0].f, abs=1e-12)
    assert again.solutions[0].steps <= 2
