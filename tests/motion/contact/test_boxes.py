"""Bodies with a different law at each of their corners, thrown on a rough floor: laws hold at every saved state."""

import numpy as np
import pytest
import sympy as sp
import xarray as xr

import zwang as zw
from zwang import dot

x, y, angle = Q = zw.coordinates("x y theta")
G = 9.81
CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def box(mu, restitution, half):
    """A box of unit mass with a rough corner for each coefficient."""
    (b, h), s, c = half, sp.sin(angle), sp.cos(angle)
    corners = [
        zw.Constraint(y + s * b * u + c * h * w, name, one_sided=True, friction=rough, restitution=bounces,
                      slip=dot(x + c * b * u - s * h * w))
        for name, (u, w), rough, bounces in zip("abcd", CORNERS, mu, restitution, strict=False)
    ]  # fmt: skip
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + sp.Rational(1, 3) * (b * b + h * h) * dot(angle) ** 2) / 2
    return zw.System(Q, kinetic=kinetic, potential=G * y, constraints=corners)


def require_laws(motion: xr.Dataset, mu: np.ndarray, tol: float) -> None:
    """Signorini's and Coulomb's laws, impacts that only lose, and an account of energy that closes."""
    gap, normal, friction = motion.gap.values, motion.normal_force.values, motion.friction_force.values
    off = max(10 * tol, 1e-10)
    assert motion.attrs["status"] == "finished"
    assert gap.min() > -off
    assert normal.min() >= -off * normal.max()
    assert np.abs(gap * normal).max() <= off * normal.max()
    assert (np.abs(friction) <= mu * normal + off * normal.max()).all()
    assert ((motion.slip.values * friction)[motion["mode"].values == "sliding"] <= off * normal.max()).all()
    assert motion.energy_loss.values.min() >= -1e-12
    assert float(abs(motion.energy_balance).max()) < 2 * off


@pytest.mark.parametrize("law", ["poisson", "moreau"])
@pytest.mark.parametrize(("method", "tol"), [("native", 1e-10), ("native", 1e-12), ("taylor", 1e-12), ("lsoda", 1e-12)])
def test_a_corner_bounces_while_another_slides_to_and_fro_until_both_rest(method, tol, law):
    mu, restitution = np.array([0.57368255, 0.1425619, 0.48891728, 0.29001612]), (0.3, 0.6, 0, 0)
    start = {x: 0, y: 0.8, angle: 0.358363, dot(x): 1.480354, dot(y): 0, dot(angle): -1.636089}
    motion = zw.simulate(box(mu, restitution, (0.5, 0.25)), start, 1.0, method=method, tol=tol, impacts=law)
    require_laws(motion, mu, tol)
    assert motion.transition_kind.values[-1] == "accumulation"
    assert motion["mode"].values[-1].tolist() == ["sticking", "sticking", "open", "open"]
    # flights of b shorten by the same ratio each time: those seen late, or from below, would not
    times = motion.transition_time.values[(motion.transition_kind == "impact") & (motion.transition_contact == "b")]
    flights = np.diff(times)[-8:-3]
    assert flights[1:] / flights[:-1] == pytest.approx(flights[-1] / flights[-2], abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tol", [1e-9, 1e-12])
def test_boxes_with_a_law_at_each_corner(seed, tol):
    rng = np.random.default_rng(seed)
    half, mu, restitution = (
        rng.uniform(0.2, 0.6, 2),
        rng.uniform(0, 0.8, 4),
        rng.choice([0, 0.2, 0.3, 0.5, 0.6, 0.8], 4),
    )
    start = {y: 0.8, angle: rng.uniform(-1, 1), dot(x): rng.uniform(-2, 2), dot(angle): rng.uniform(-3, 3)}
    motion = zw.simulate(box(mu, restitution, half), {x: 0, dot(y): 0} | start, 3.0, tol=tol)
    require_laws(motion, mu, tol)


@pytest.mark.parametrize("seed", [0, 27])
def test_rocking_frames_with_a_law_at_each_foot(seed):
    rng = np.random.default_rng(seed)
    b, h, mu = rng.uniform(0.1, 0.3), rng.uniform(0.4, 0.8), rng.uniform(0.1, 1.2, 2)
    restitution, tilt = rng.choice([0, 0, 0.1, 0.3], 2), rng.uniform(0.1, 0.6) * np.arctan2(b, h) * rng.choice([-1, 1])
    start = {x: 0, y: b * np.sin(abs(tilt)) + h * np.cos(tilt), angle: tilt} | {dot(z): 0 for z in Q}
    motion = zw.simulate(box(mu, restitution, (b, h)), start, 3.0)
    require_laws(motion, mu, 1e-12)


@pytest.mark.parametrize("seed", [0, 16])
def test_ladders_that_slide_down_a_wall_with_different_laws(seed):
    rng, s, c = np.random.default_rng(seed), sp.sin(angle), sp.cos(angle)
    mu, restitution = np.append(rng.uniform(0, 0.7, 2), 0.3), np.append(rng.choice([0, 0.2, 0.4, 0.6], 2), 0.2)
    ends = [("floor", y - s, x - c), ("wall", -(x + c), y + s), ("head", y + s, x + c)]
    rules = [
        zw.Constraint(gap, name, one_sided=True, friction=mu[k], restitution=restitution[k], slip=dot(along))
        for k, (name, gap, along) in enumerate(ends)
    ]
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(angle) ** 2 / 3) / 2
    lean, off = rng.uniform(0.3, 1.3), rng.choice([0, 0.05], 2)
    start = {x: -np.cos(lean) - off[0], y: np.sin(lean) + off[1], angle: lean} | {dot(z): 0 for z in Q}
    motion = zw.simulate(zw.System(Q, kinetic=kinetic, potential=G * y, constraints=rules), start, 3.0)
    require_laws(motion, mu, 1e-12)


@pytest.mark.parametrize("restitution", [0.5, 0.8])
def test_a_ball_that_bounces_out_while_it_slides_has_been_slowed_by_all_its_weight(restitution):
    # from rest to rest of the height the floor has borne m g t, however it was shared out among impacts: Δẋ = −μ g t
    floor = zw.Constraint(y >= 0, "floor", friction=0.3, restitution=restitution, slip=dot(x))
    ball = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=G * y, constraints=[floor])
    motion = zw.simulate(ball, {x: 0, y: 0.5, dot(x): 20, dot(y): 0}, 5)
    assert motion.transition_kind.values[-1] == "accumulation"
    assert motion.v.values[-1] == pytest.approx([20 - 0.3 * G * 5, 0], abs=1e-10)
    assert float(abs(motion.energy_balance).max()) < 1e-10
    impacts = motion.transition_kind.values == "impact"
    spent = float(motion.friction_work.values[-1, 0]) - motion.energy_loss.values.sum()
    assert impacts.sum() > 5
    assert spent == pytest.approx((20 - 0.3 * G * 5) ** 2 / 2 - 200 - 0.5 * G, abs=1e-9)


@pytest.mark.parametrize("law", ["poisson", "moreau"])
def test_an_engine_that_knows_positions_to_its_tolerance_brings_a_box_to_rest(law):
    friction = np.array([0.57368255, 0.1425619, 0.48891728, 0.29001612])
    start = {x: 0, y: 0.8, angle: 0.358363, dot(x): 1.480354, dot(y): 0, dot(angle): -1.636089}
    system = box(friction, (0.3, 0.6, 0, 0), (0.5, 0.25))
    motion = zw.simulate(system, start, 1.0, method="lsoda", tol=1e-9, impacts=law)
    assert motion.attrs["status"] == "finished"
    assert float(motion.gap.min()) > -1e-8
    assert float(abs(motion.energy_balance).max()) < 1e-6
