"""Coordinates without inertia: rows of A make up for it, wherever the motion goes."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot, t
from zwang import multibody as mb
from zwang.evaluation import matrices
from zwang.lowering.lifting import lifted
from zwang.lowering.lowered import lower
from zwang.lowering.rows import choose

x, y, s = zw.coordinates("x y s")
u = sp.Symbol("u")

PENDULUM = {x: sp.sin(s), y: -sp.cos(s)}
"""A bead on a ring by a massless angle s: its factors in the rows, −cos s and −sin s, vanish in turn."""


def ring(g=9.81):
    return zw.System(
        (x, y, s),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=g * y,
        constraints={f"on {q}": q - e for q, e in PENDULUM.items()},
    )


def on_ring(angle, rate):
    """The state of the bead."""
    state = {q: float(e.subs(s, angle)) for q, e in PENDULUM.items()} | {s: angle, dot(s): rate}
    return state | {dot(q): float(e.diff(s).subs(s, angle)) * rate for q, e in PENDULUM.items()}


def pendulum(times, angle, rate, g=9.81):
    """The angle of a pendulum, by SciPy from its own equation s̈ = −g sin s."""
    from scipy.integrate import solve_ivp

    def slope(_, w):
        return [w[1], -g * np.sin(w[0])]

    return solve_ivp(slope, (0, times[-1]), [angle, rate], "DOP853", times, rtol=1e-13, atol=1e-13).y[0]


WAYS = [
    {},
    {"method": "taylor"},
    {"method": "radau", "tol": 1e-9},
    {"drift": "projection"},
    {"drift": "baumgarte"},
    {"form": "lagrange"},
]


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_no_leap_is_reported_where_the_rank_is_constant(options):
    if options.get("method") == "taylor":
        pytest.importorskip("heyoka")
    motion = zw.simulate(ring(), on_ring(0.3, 7.0), 3.0, samples=7, **options)
    assert motion.attrs["message"] == "finished at t = 3."
    truth = pendulum(motion.time.values, 0.3, 7.0)
    assert truth[-1] > 10  # it goes round
    np.testing.assert_allclose(motion.q.sel(coordinate="s"), truth, atol=1e3 * options.get("tol", 1e-12))


def test_gibbs_and_appell_choose_other_coordinates_round_a_ring():
    motion = zw.simulate(ring(), on_ring(0.3, 7.0), 3.0, samples=7, form="gibbs-appell")
    np.testing.assert_allclose(motion.q.sel(coordinate="s"), pendulum(motion.time.values, 0.3, 7.0), atol=1e-9)


def test_beads_side_by_side_go_round():
    rates = np.array([1.0, 5.0, 7.0, 9.0])
    starts = [on_ring(0.3, rate) for rate in rates]
    motion = zw.simulate_many(ring(), {key: np.array([a[key] for a in starts]) for key in starts[0]}, 2.0, samples=5)
    assert set(motion.status.values) == {"finished"}
    for found, rate in zip(motion.q.sel(coordinate="s"), rates, strict=True):
        np.testing.assert_allclose(found, pendulum(motion.time.values, 0.3, rate), atol=1e-9)


def test_sensitivities_pass_where_a_share_vanishes():
    # along the motion itself, from (q̇, q̈) at the start, they are q̇
    system, start = ring(), on_ring(0.3, 7.0)
    now = zw.evaluate(system, start).acceleration
    ahead = {q: start[dot(q)] for q in (x, y, s)} | dict(zip(system.velocities, map(float, now), strict=True))
    found = zw.sensitivities(system, start, 2.0, {"ahead": ahead}, samples=5)
    assert found.attrs["message"] == "finished at t = 2."
    np.testing.assert_allclose(found.dq.sel(input="ahead"), found.v, atol=1e-9)


CURVES = {
    "ellipse": (2 * sp.cos(u), sp.sin(u)),
    "figure of eight": (sp.sin(u), sp.sin(2 * u)),
    "circle in space": (sp.cos(u), sp.sin(u) / 2, sp.sin(u)),
    "Viviani's curve": (sp.cos(u) ** 2, sp.cos(u) * sp.sin(u), sp.sin(u)),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("kind", ["particle", "body"])
def test_a_bead_on_a_smooth_curve_meets_no_singular_position(name, kind):
    curve = CURVES[name]
    if kind == "body" and len(curve) == 2:
        curve = (*curve, u * 0)
    place = [float(e.subs(u, 0.4)) for e in curve]
    velocity = [6 * float(e.diff(u).subs(u, 0.4)) for e in curve]
    if kind == "particle":
        bead = mb.Particle("bead", 1, position=place, velocity=velocity)
    else:
        bead = mb.Body("bead", 1, (0.1, 0.2, 0.25), position=place, velocity=velocity, angular_velocity=(1, 2, 3))
    wire = mb.PointOnCurve("wire", mb.ground, bead, curve=curve, parameter=u, start=0.4)
    mechanism = mb.Mechanism([bead], [wire])
    motion = zw.simulate(mechanism.system, mechanism.start, 3.0, samples=31, tol=1e-10)
    assert motion.attrs["message"] == "finished at t = 3."
    # without forces along the wire the speed stays, and the arc length of the curve grows evenly
    ends = motion.q.sel(coordinate="wire.s").values[[0, -1]]
    fine = np.linspace(*ends, 20001)
    slope = np.sqrt(sum(np.broadcast_to(sp.lambdify(u, e.diff(u))(fine), fine.shape) ** 2 for e in curve))
    length = float(np.trapezoid(slope, fine))
    assert length == pytest.approx(3 * np.linalg.norm(velocity), abs=1e-5)


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_a_massless_coordinate_whose_factor_passes_zero_is_held_by_another_row(options):
    if options.get("method") == "taylor":
        pytest.importorskip("heyoka")
    system = zw.System(
        (x, y, s),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=(x**2 + y**2) / 2,
        constraints={"first": x - s * sp.cos(t), "second": y - s * sp.sin(t)},
    )
    # a bead on a straight wire that turns at 1 rad/s, on a spring of stiffness 1: r̈ = r − r = 0
    motion = zw.simulate(system, {x: 1, y: 0, s: 1, dot(x): 0.5, dot(y): 1, dot(s): 0.5}, 8.0, samples=9, **options)
    assert motion.attrs["message"] == "finished at t = 8."
    np.testing.assert_allclose(motion.q.sel(coordinate="s"), 1 + motion.time / 2, atol=1e3 * options.get("tol", 1e-12))


@pytest.mark.parametrize("drift", ["none", "projection", "baumgarte"])
def test_a_row_in_velocities_holds_a_massless_coordinate(drift):
    # s counts the way of x by a wheel, nothing else holds it: ṡ = ẋ cos t; the mass falls freely
    system = zw.System(
        (x, y, s),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=-x,
        constraints={"count": dot(s) - dot(x) * sp.cos(t), "level": y - x},
    )
    motion = zw.simulate(system, {x: 0, y: 0, s: 0, dot(x): 0, dot(y): 0, dot(s): 0}, 6.0, samples=7, drift=drift)
    assert motion.attrs["message"] == "finished at t = 6."
    time = motion.time.values
    # ẍ = ½: s = ∫ ½ t cos t dt
    np.testing.assert_allclose(motion.q.sel(coordinate="s"), (time * np.sin(time) + np.cos(time) - 1) / 2, atol=1e-10)


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_redundant_rows_and_a_massless_coordinate(options):
    if options.get("method") == "taylor":
        pytest.importorskip("heyoka")
    system = ring()
    more = {"again": x**2 + y**2 - 1, "sum": x + y - sp.sin(s) + sp.cos(s)}
    system = zw.System(
        (x, y, s),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=9.81 * y,
        constraints={c.name: c for c in system.constraints} | more,
    )
    motion = zw.simulate(system, on_ring(0.3, 7.0), 2.0, samples=5, **options)
    assert motion.attrs["message"] == "finished at t = 2."
    np.testing.assert_allclose(motion.q.sel(coordinate="s"), pendulum(motion.time.values, 0.3, 7.0), atol=1e-6)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
def test_lifting_costs_no_digits_in_other_units(unit, mass):
    # the ring of radius 1/unit, a light bead or a heavy one: acceleration as of a pendulum, to the last digits
    R = 1 / unit
    system = zw.System(
        (x, y, s),
        kinetic=mass * (dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=mass * R * y,
        constraints={"on x": x - R * sp.sin(s), "on y": y + R * sp.cos(s)},
    )
    start = {key: value * (1 if key in (s, dot(s)) else R) for key, value in on_ring(0.3, 1.0).items()}
    motion = zw.simulate(system, start, 3.0, samples=4)
    np.testing.assert_allclose(motion.q.sel(coordinate="s"), pendulum(motion.time.values, 0.3, 1.0, 1.0), atol=1e-10)


def test_few_rows_lift_where_few_do_everywhere():
    # one with a constant factor; and what is lifted is well scaled
    wire = zw.System(
        (x, y, s), kinetic=dot(x) ** 2 + dot(y) ** 2, constraints={"on x": x - s, "on y": y - sp.sin(3 * s)}
    )
    for system, rows in ((wire, [0]), (ring(), [0, 1])):
        state = dict.fromkeys((*system.coordinates, *system.velocities), 0.0)
        now = matrices(system, state, 0.0, None)[0]
        basis = choose(now, system.coordinate_names, lowered=lower(system, {}))
        assert [i for i, _ in basis.lifted] == rows
        assert np.linalg.cond(lifted(now.M, now.A, basis.lifted)) < 1e3
