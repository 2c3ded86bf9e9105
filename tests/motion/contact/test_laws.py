"""What the theory says of contact, equation by equation: complementarity, modes, sliding, impacts, accumulation."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import contact
from zwang import dot

G = 9.81


def chain(rng, count=3):
    """Points on a line above a floor, with random masses and restitutions, that fall on it and on each other."""
    q = zw.coordinates(" ".join(f"y{i}" for i in range(count)))
    masses = rng.uniform(0.5, 3, count)
    kinetic = sp.Add(*[sp.Rational(1, 2) * m * dot(y) ** 2 for m, y in zip(masses, q, strict=True)])
    potential = G * sp.Add(*[m * y for m, y in zip(masses, q, strict=True)])
    below = [sp.S.Zero, *q[:-1]]
    rules = [
        zw.Constraint(y - b >= 0, f"c{i}", restitution=float(rng.uniform()))
        for i, (y, b) in enumerate(zip(q, below, strict=True))
    ]
    places = np.cumsum(rng.uniform(0.2, 1, count))
    start = dict(zip(q, places, strict=True)) | {dot(y): 0 for y in q}
    return zw.System(q, kinetic=kinetic, potential=potential, constraints=rules), start, masses


@pytest.mark.parametrize("seed", range(4))
def test_K1_gaps_and_normal_forces_are_complementary_at_every_saved_state(seed):
    system, start, _ = chain(np.random.default_rng(seed))
    motion = zw.simulate(system, start, until=0.8, samples=201)
    gap, push = motion.gap.values, motion.normal_force.values
    assert gap.min() > -1e-12
    assert push.min() > -1e-12
    assert np.abs(gap * push).max() < 1e-11
    assert ((motion["mode"].values == "open") == (push == 0)).all()


@pytest.mark.parametrize("angle", [0.3, 1.0])
def test_K2_a_closed_contact_moves_as_the_equality_does(angle):
    x, y = zw.coordinates("x y")
    kinetic, potential = (dot(x) ** 2 + dot(y) ** 2) / 2, G * y
    gap = 1 - sp.sqrt(x**2 + y**2)
    start = {x: sp.sin(angle), y: -sp.cos(angle), dot(x): 0, dot(y): 0}
    inside = zw.System((x, y), kinetic=kinetic, potential=potential, constraints=[zw.Constraint(gap >= 0, "bowl")])
    wire = zw.System((x, y), kinetic=kinetic, potential=potential, constraints=[zw.Constraint(gap, "bowl")])
    free, held = (zw.simulate(system, start, until=2, tol=1e-13) for system in (inside, wire))
    assert np.abs(free.q.values - held.q.values).max() < 1e-12
    assert np.abs(free.normal_force.values - held.multiplier.values).max() < 1e-11


@pytest.mark.parametrize(("mu", "s"), [(0.3, -1), (0.3, 1), (1.1, -1)])
def test_K3_the_normal_force_of_sliding_has_its_margin(mu, s):
    """The rod on its tip, whose friction changes its own normal force; the saddle without symmetry is another way."""
    system, start = contact.painleve(mu, s, 0)
    motion = zw.simulate(system, start, until=1e-6, samples=2)
    a = np.arctan(2.0)
    n, t = np.array([0, 1, -np.cos(a)]), np.array([1, 0, np.sin(a)])
    W = np.diag([1, 1, 3.0])  # M⁻¹ of a rod of half length 1
    free = np.array([0, -G, 0])
    margin = n @ W @ (n - mu * s * t) / (n @ W @ n)
    expected = -(n @ free) / (n @ W @ n) / margin
    assert motion.normal_force.values[0, 0] == pytest.approx(expected, rel=1e-12)
    saddle = np.block([[np.diag([1, 1, 1 / 3.0]), -(n - mu * s * t)[:, None]], [n[None], np.zeros((1, 1))]])
    assert np.linalg.solve(saddle, [0, -G, 0, 0])[3] == pytest.approx(expected, rel=1e-12)


def meeting(rng):
    """Points that touch one another and a floor, and all approach: an impact of all contacts at the very start."""
    system, _, masses = chain(rng)
    q = system.coordinates
    speeds = -np.cumsum(rng.uniform(0.1, 1, len(q)))
    return system, dict.fromkeys(q, 0) | dict(zip(map(dot, q), speeds, strict=True)), masses, speeds


@pytest.mark.parametrize("seed", range(6))
def test_K4_moreaus_law_is_gausss_principle_for_velocities(seed):
    system, start, masses, before = meeting(np.random.default_rng(seed))
    motion = zw.simulate(system, start, until=1e-9, samples=2)
    rows = np.eye(3) - np.eye(3, k=-1)
    restitution = np.array([float(c.restitution) for c in system.constraints])
    M = np.diag(masses)
    known = zw.solve(M, M @ before, rows, -restitution * (rows @ before), one_sided=np.ones(3, bool))
    assert motion.velocity_after.values[0] == pytest.approx(known.acceleration, abs=1e-12)
    assert motion.impulse.values[0] == pytest.approx(known.multipliers, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_K5_an_impact_loses_what_its_restitutions_leave_and_never_gains(seed):
    system, start, masses, before = meeting(np.random.default_rng(seed))
    motion = zw.simulate(system, start, until=1e-9, samples=2)
    gamma = (np.eye(3) - np.eye(3, k=-1)) @ before
    restitution = np.array([float(c.restitution) for c in system.constraints])
    after, impulse = motion.velocity_after.values[0], motion.impulse.values[0]
    lost = 0.5 * (masses @ before**2 - masses @ after**2)
    assert motion.transition_kind.values[0] == "impact"
    assert motion.energy_loss.values[0] == pytest.approx(lost, abs=1e-13)
    assert lost == pytest.approx(0.5 * ((1 - restitution) * impulse) @ np.abs(gamma), abs=1e-12)
    assert lost >= 0


def test_K5_carnot_a_plastic_impact_loses_the_energy_of_the_lost_velocities():
    system, start = contact.tether()
    motion = zw.simulate(system, start, until=0.6)
    jump = motion.velocity_after.values[0] - motion.velocity_before.values[0]
    assert motion.energy_loss.values[0] == pytest.approx(0.5 * jump @ jump, rel=1e-12)


@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.9])
def test_K6_bounces_accumulate_after_the_sum_of_their_flights(restitution):
    system, start = contact.ball(restitution)
    motion = zw.simulate(system, start, until=20 if restitution > 0.8 else 5)
    first = np.sqrt(2 / G)
    end = first + 2 * restitution * first / (1 - restitution)
    assert motion.transition_kind.values[-1] == "accumulation"
    assert motion.transition_time.values[-1] == pytest.approx(end, rel=1e-11)


@pytest.mark.parametrize("tol", [1e-13, 1e-14])
def test_a_limit_cycle_of_three_rough_contacts_returns_to_twelve_digits(tol):
    """The woodpecker, turn after turn, where its sleeve breaks loose; the cycle was found with 30 digits."""
    truth, turns = contact.expected("m-woodpecker"), np.arange(1, 5)
    period, drop = float(truth["period"]), float(truth["drop"])
    motion = zw.simulate(*contact.woodpecker(), until=4.2 * period, times=[*(period * turns), 4.2 * period], tol=tol)
    breaks = motion.transition_kind.values == "slide"
    assert motion.transition_time.values[breaks] == pytest.approx(period * turns, rel=1e-12)
    assert motion.velocity_before.values[breaks, 2] == pytest.approx(float(truth["omega_S_break"]), rel=1e-12)
    assert motion.q.values[:4, 0] == pytest.approx(-drop * turns, rel=1e-12)
    assert motion.q.values[:4, 2] == pytest.approx(float(truth["phi_S_break"]), rel=1e-12)


def test_ten_thousand_elastic_impacts_of_four_contacts_keep_the_energy():
    """Two points on springs, each between two walls."""
    x, y = zw.coordinates("x y")
    limits = {"left": x >= 0, "right": x <= 1, "below": y >= -1, "above": y <= 2}
    walls = [zw.Constraint(rule, name, restitution=1) for name, rule in limits.items()]
    springs = 0.3 * (x - 0.4) ** 2 / 2 + (y - x) ** 2 / 4
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + 2 * dot(y) ** 2) / 2, potential=springs, constraints=walls)
    start = {x: 0.5, y: 0.3, dot(x): 6, dot(y): 5}
    motion = zw.simulate(system, start, until=1500, times=[0, 1500], progress=False, tol=1e-13)
    assert motion.sizes["transition"] > 10_000
    assert motion.energy.values[1] == pytest.approx(motion.energy.values[0], rel=1e-9)
    assert set(motion.transition_contact.values) == {*limits}
