"""Along a switch that both sides push onto the motion goes on: dry friction written as a sign holds, and breaks loose.

The truth is a closed form, the friction of a guide (`Constraint(…, friction=…)`), or a law smoothed ever less.
"""

import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq, lsq_linear

import zwang as zw
from tests.references.contact import expected
from zwang import dot, t

x, y = zw.coordinates("x y")
v, w = dot(x), dot(y)
c, k, m = zw.parameters("c k m")
ENGINES = ("native", "taylor", "radau", "lsoda")
TOL = {"native": 1e-12, "taylor": 1e-14, "radau": 1e-8, "lsoda": 1e-8}
CLOSE = {"native": 1e-10, "taylor": 1e-12, "radau": 1e-5, "lsoda": 1e-4}


def body(force, **more):
    return zw.System((x,), kinetic=v**2 / 2, forces={x: force}, **more)


def run(system, start, until, method="native", **more):
    options = {"method": method, "tol": TOL[method], "samples": 41} | more
    names = (x, v, y, w)[: len(start)]
    motion = zw.simulate(system, dict(zip(names, start, strict=True)), until, throw=False, **options)
    assert motion.attrs["message"] == f"finished at t = {until:.12g}.", motion.attrs["message"]
    return motion


def rests(motion):
    return list(zip(motion.rest_switch.values.tolist(), motion.rest_begin.values, motion.rest_end.values, strict=True))


@pytest.mark.parametrize("method", ENGINES)
def test_a_block_comes_to_rest_and_stays(method):
    """v₀ = 6 against μg = 3: 2 s and 6 m; then nothing moves, and nothing acts."""
    motion = run(body(-3 * sp.sign(v)), (0, 6), 8.0, method)
    [(words, begin, end)] = rests(motion)
    assert (words, end) == ("x' = 0", 8)
    assert begin == pytest.approx(2, abs=CLOSE[method])
    still = motion.sel(time=slice(2.1, None))
    assert float(still.q[-1, 0]) == pytest.approx(6, abs=CLOSE[method])
    for name, value in (("v", 0), ("a", 0), ("force", 0), ("given_power", 0)):
        assert (still[name] == value).all(), name
    assert np.ptp(still.q.values) == 0
    assert float(abs(motion.energy_balance).max()) < 100 * TOL[method]


@pytest.mark.parametrize("method", ENGINES)
def test_a_spring_loses_two_dead_bands_each_half_swing(method):
    """x₀ = 1, F/k = 0.3: turned at −0.4, at rest in the dead band at −0.2 after 2π, held by −k x (Rayleigh)."""
    motion = run(body(-x - 0.3 * sp.sign(v)), (1, 0), 10.0, method)
    [(_, begin, _)] = rests(motion)
    assert begin == pytest.approx(2 * np.pi, abs=CLOSE[method])
    assert float(motion.q[-1, 0]) == pytest.approx(-0.2, abs=CLOSE[method])
    assert float(motion.force[-1, 0]) == pytest.approx(0, abs=1e-15)


def test_a_rest_is_as_long_as_it_likes():
    motion = run(body(-x - 0.3 * sp.sign(v)), (1, 0), 1e5)
    assert np.ptp(motion.q.values[1:]) == 0


@pytest.mark.parametrize("method", ENGINES)
def test_a_load_that_grows_breaks_loose(method):
    """t − 3 sign v holds until 3, then v = (t − 3)²/2: from rest on an incline likewise at tan α = μ."""
    motion = run(body(t - 3 * sp.sign(v)), (0, 0), 5.0, method)
    [(_, begin, end)] = rests(motion)
    assert (begin, end) == (0, pytest.approx(3, abs=1e-11))
    assert motion.v.values[-1, 0] == pytest.approx(2, abs=CLOSE[method])
    held = motion.sel(time=slice(0, 2.9))
    assert held.force.values[:, 0] == pytest.approx(0, abs=1e-15)
    incline = body(9.81 * (sp.sin(t / 10) - sp.cos(t / 10) / 2 * sp.sign(v)))
    [(_, _, end)] = rests(run(incline, (0, 0), 8.0, method))
    assert end == pytest.approx(10 * np.arctan(0.5), abs=1e-10)


@pytest.mark.parametrize("method", ENGINES)
def test_stick_and_slip_have_their_period(method):
    """F sin t − sign v: slips from F sin t₁ = 1 to t₂, where F(cos t₁ − cos t₂) = t₂ − t₁; then the other way."""
    F = 1.3
    t1 = np.arcsin(1 / F)
    t2 = brentq(lambda s: F * (np.cos(t1) - np.cos(s)) - (s - t1), t1 + 0.5, t1 + np.pi)
    way = F * ((t2 - t1) * np.cos(t1) - np.sin(t2) + np.sin(t1)) - (t2 - t1) ** 2 / 2
    motion = run(body(F * sp.sin(t) - sp.sign(v)), (0, 0), 20.0, method)
    begins = [0, *(t2 + np.pi * np.arange(6))]
    assert motion.rest_begin.values == pytest.approx(begins, abs=20 * CLOSE[method])
    assert motion.rest_end.values[:-1] == pytest.approx(t1 + np.pi * np.arange(6), abs=1e-10)
    assert motion.q.sel(time=6.5).item() == pytest.approx(0, abs=20 * CLOSE[method])
    assert motion.q.sel(time=3.0).item() == pytest.approx(way, abs=20 * CLOSE[method])


@pytest.mark.both_codes
def test_two_blocks_go_together_until_the_lower_one_is_torn_away():
    """Masses 1 on 2, friction 1 between them and ½ below, pulled by t: together from ½, apart from 3.5, where a = 1."""
    pull = {x: -sp.sign(v - w), y: t + sp.sign(v - w) - sp.sign(w) / 2}
    both = zw.System((x, y), kinetic=v**2 / 2 + w**2, forces=pull)
    motion = run(both, (0, 0, 0, 0), 10.0)
    assert {words: (begin, end) for words, begin, end in rests(motion)} == {
        "x' - y' = 0": (0, pytest.approx(3.5, abs=1e-11)),
        "y' = 0": (0, pytest.approx(0.5, abs=1e-11)),
    }
    assert motion.v.values[-1] == pytest.approx([1.5 + 6.5, 1.5 + ((100 - 3.5**2) / 2 - 1.5 * 6.5) / 2], rel=1e-11)
    on_top = motion.sel(time=2.0)
    assert on_top.force.values == pytest.approx([0.5, 1.0], abs=1e-14)  # a = ½ of both
    assert (motion.q[:14, 0] == motion.q[:14, 1]).all()
    assert float(abs(motion.energy_balance).max()) < 1e-12


@pytest.mark.parametrize("method", ENGINES)
def test_a_brake_is_the_friction_of_its_guide(method):
    """The same as `Constraint(…, friction=0.15)`, which sticks by a row of its own: motion and forces."""
    pushed = {"kinetic": (v**2 + w**2) / 2, "forces": {x: 2 * sp.sin(t), y: -10}}
    rub = {x: -0.15 * sp.Abs(zw.multiplier("rail")) * sp.sign(v)}
    brake = run(zw.System((x, y), constraints={"rail": y}, nonideal=rub, **pushed), (0, 0.5, 0, 0), 20.0, method)
    guide = zw.System((x, y), constraints=[zw.Constraint(y, "rail", friction=0.15, slip=v)], **pushed)
    other = run(guide, (0, 0.5, 0, 0), 20.0)
    assert brake.q.values == pytest.approx(other.q.values, abs=10 * CLOSE[method])
    assert brake.constraint_force.values == pytest.approx(other.constraint_force.values, abs=1e-12)
    met = sorted([*brake.rest_begin.values, *brake.rest_end.values])
    assert met == pytest.approx(other.transition_time.values, abs=10 * CLOSE[method])


def pendulum(law):
    """Two rods with point masses, angles of the joints, and a law of friction in each."""
    a, b = zw.coordinates("a b")
    da, db = dot(a), dot(b)
    ends = [sp.sin(a), -sp.cos(a), sp.sin(a) + sp.sin(a + b), -sp.cos(a) - sp.cos(a + b)]
    kinetic = sp.Add(*[(sp.diff(e, a) * da + sp.diff(e, b) * db) ** 2 / 2 for e in ends])
    given = {"kinetic": kinetic, "potential": 9.81 * (ends[1] + ends[3]), "forces": {a: -2 * law(da), b: -law(db)}}
    return zw.System((a, b), **given), {a: 2, b: 0.5, da: 0, db: 0}


def test_a_double_pendulum_with_dry_joints_is_the_limit_of_smooth_ones():
    """tanh(ω/ε) by another engine: the difference falls with ε."""
    dry = zw.simulate(*pendulum(sp.sign), 6.0, samples=7)
    assert dry.sizes["rest"] == 2
    smooth, start = pendulum(lambda rate: sp.tanh(rate / c))
    off = []
    for eps in (1e-3, 1e-4):
        other = zw.simulate(smooth, start, 6.0, samples=7, method="radau", tol=1e-9, parameters={c: eps})
        off.append(float(abs(other.q - dry.q).max()))
    assert off[0] < 2e-3
    assert off[1] == pytest.approx(off[0] / 10, rel=0.05)


@pytest.mark.parametrize(
    "options", [{"form": "gibbs-appell"}, {"form": "lagrange"}, {"drift": "projection"}, {"drift": "baumgarte"}]
)
def test_every_form_rests(options):
    """On a slope y = x/10 with −1.5 sign ẋ: held while |2 sin t − 1| < 1.5, that is from rest on until 3.394…"""
    slope = zw.System(
        (x, y),
        kinetic=(v**2 + w**2) / 2,
        forces={x: 2 * sp.sin(t) - 1.5 * sp.sign(v), y: -10},
        constraints={"rail": y - x / 10},
    )
    motion = run(slope, (0, 0.5, 0, 0.05), 8.0, **options)
    assert motion.rest_end.values[0] == pytest.approx(np.pi + np.arcsin(0.25), abs=1e-10)
    held = motion.sel(time=slice(1, 3))
    assert np.ptp(held.q.values[:, 0]) == 0
    assert (held.v[:, 0] == 0).all()
    assert held.residual.values == pytest.approx(0, abs=1e-10)


@pytest.mark.both_codes
def test_switches_that_depend_on_each_other_share_the_load():
    """y = 2x with friction 1 on x and ½ on y: together they hold 2 along x, by equal shares."""
    both = zw.System(
        (x, y),
        kinetic=(v**2 + w**2) / 2,
        forces={x: t - sp.sign(v), y: -sp.sign(w) / 2},
        constraints={"lever": y - 2 * x},
    )
    motion = run(both, (0, 0, 0, 0), 3.0)
    assert motion.rest_end.values == pytest.approx([2, 2], abs=1e-8)
    held = motion.sel(time=1.05, method="nearest")
    load = float(held.time)
    assert held.force.values == pytest.approx([load / 2, -load / 4], abs=1e-8)
    assert motion.v.values[-1, 0] == pytest.approx(0.5 / 5, abs=1e-8)  # M = 1 + 4, ∫(t − 2) = ½


def test_unequal_switches_hold_as_much_as_all_of_them():
    """The same with 10 and 0.001: the weak one does not give way before the strong one."""
    both = zw.System(
        (x, y),
        kinetic=(v**2 + w**2) / 2,
        forces={x: t - 10 * sp.sign(v), y: -sp.sign(w) / 1000},
        constraints={"lever": y - 2 * x},
    )
    motion = run(both, (0, 0, 0, 0), 11.0)
    assert motion.rest_end.values.max() == pytest.approx(10.002, abs=1e-8)


def test_a_brake_that_is_released_lets_go_of_a_load_only():
    brake = sp.Max(0, 1 - t / 5) * sp.sign(v)
    assert float(run(body(-brake), (0, 0.1), 10.0).v[-1, 0]) == 0
    motion = run(body(0.1 - brake), (0, 0.1), 10.0)
    assert motion.rest_end.values == pytest.approx([4.5], abs=1e-10)
    assert motion.v.values[-1, 0] == pytest.approx(0.1 * 5.5 - 0.2 * 0.25 / 2, abs=1e-11)  # the brake still rubs till 5


def test_a_law_of_one_side_only_holds_too():
    """1.3 − 2 H(v) pushes by 1.3 from below and by −0.7 from above; c = 0 holds nothing."""
    motion = run(body(1.3 - 2 * sp.Heaviside(v)), (0, 1), 5.0)
    assert motion.rest_begin.values == pytest.approx([1 / 0.7], abs=1e-11)
    nothing = run(body(-x - c * sp.sign(v), parameters={c: 0.0}), (0.5, 0), 5.0)
    assert "rest_begin" not in nothing
    assert float(nothing.q[-1, 0]) == pytest.approx(0.5 * np.cos(5), abs=1e-10)


def test_events_at_rest_are_met_where_they_arrive_and_not_where_they_leave():
    law = -sp.sign(v) + sp.Piecewise((0, t < 5), (2 * sp.sin(t), True))
    motion = run(body(law), (0, 1), 6.5, events=[zw.Event(v, "turn")])
    assert motion.event_time.values == pytest.approx([1, motion.rest_begin.values[1]], abs=1e-11)


def test_an_event_watches_the_force_that_holds():
    """The force of a wire that is pulled by t against a brake: it carries what the brake leaves."""
    pulled = zw.System(
        (x, y), kinetic=(v**2 + w**2) / 2, forces={x: -3 * sp.sign(v), y: t}, constraints={"wire": y - x}
    )
    motion = run(pulled, (0, 0, 0, 0), 2.0, events=[zw.Event(zw.multiplier("wire") + 1, "one")])
    assert motion.event_time.values == pytest.approx([1], abs=1e-11)
    assert motion.multiplier.values[-1, 0] == pytest.approx(-2, abs=1e-12)


@pytest.mark.both_codes
def test_derivatives_go_into_a_rest_and_out_of_it():
    """Of the spring's rest x = x₀ − 4F/k: 1 by x₀, 4F/k² by k, 0 by m; and by differences after it has broken loose."""
    force = -k * x - 0.3 * sp.sign(v) + sp.Piecewise((0, t < 10), ((t - 10) / 5, True))
    system = zw.System((x,), kinetic=m * v**2 / 2, forces={x: force}, parameters={k: 1, m: 1})
    beside = zw.sensitivities(system, {x: 1, v: 0}, 14.0, [x, k, m], samples=15)
    assert beside.dq.values[9, 0] == pytest.approx([1, 1.2, 0], abs=1e-10)
    assert beside.dv.values[9, 0] == pytest.approx(0, abs=1e-12)

    def end(dx=0.0, dk=0.0, dm=0.0):
        return run(system, (1 + dx, 0), 14.0, parameters={k: 1 + dk, m: 1 + dm}).q.values[-1, 0]

    h = 1e-5
    differences = [(end(**{name: h}) - end(**{name: -h})) / (2 * h) for name in ("dx", "dk", "dm")]
    assert beside.dq.values[-1, 0] == pytest.approx(differences, abs=1e-8)


def test_derivatives_of_a_start_at_rest_stay_there():
    system = body(c - sp.sign(v), parameters={c: 0.5})
    beside = zw.sensitivities(system, {x: 0, v: 0}, 3.0, [x, v, c], samples=4)
    assert (beside.dq.values[-1, 0] == [1, 0, 0]).all()


@pytest.mark.both_codes
def test_samples_and_steppers_rest():
    system = body(c - sp.sign(v), parameters={c: 0.5})
    many = zw.simulate_many(system, {x: 0, v: [1.0, 2.0, 0.0]}, 6.0, samples=2)
    assert (many.status == "finished").all()
    assert many.q.values[:, -1, 0] == pytest.approx([1, 4, 0], abs=1e-11)
    assert (many.a.values[:, -1] == 0).all()
    stepper = zw.Stepper(system, {x: 0, v: 1}, inputs=[c])
    for load, until, end in ((0.5, 3, (1, 0)), (2.0, 4, (1.5, 1)), (0.0, 6, (2, 0))):
        while stepper.t < until - 1e-9:
            stepper.advance(0.25, load)
        assert (*stepper.q, *stepper.v) == pytest.approx(end, abs=1e-12)


def test_what_is_held_among_contacts():
    """A load of 0.4 held by 0.5, and a neighbour pushed onto it with 0.05: both stay, and the contact carries."""
    system = zw.System(
        (x, y),
        kinetic=(v**2 + w**2) / 2,
        forces={x: 0.4 - 0.5 * sp.sign(v), y: 0.05},
        constraints=[zw.Constraint(x - y >= 0, "touch", restitution=0)],
    )
    motion = run(system, (0, 0, 0, 0), 20.0)
    assert rests(motion) == [("x' = 0", 0, 20)]
    assert motion.q.values == pytest.approx(0, abs=1e-15)
    assert motion.multiplier.values[-1] == pytest.approx([0.05], abs=1e-15)


def rubbing_at_random(seed, apart=0.0, friction=lambda c, lam: c):
    """Coordinates with masses M, loads Q and friction c σ along rows J, at rest; forces are off J by a share.

    The last coordinate is kept by a rail, on whose multiplier friction may depend.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    m = int(rng.integers(1, n + 1 if apart else 2 * n + 2))
    root = rng.standard_normal((n + 1, n + 1))
    M, Q = root @ root.T + 0.3 * np.eye(n + 1), 3 * rng.standard_normal(n + 1)
    J = np.unique(rng.integers(-2, 3, (m, n)), axis=0)
    J = J[(J != 0).any(axis=1)] if J.any() else np.eye(n)
    c = 10 ** rng.uniform(-2, 1, len(J))
    along = c[:, None] * (J + apart * rng.standard_normal(J.shape))
    q = zw.coordinates(" ".join(f"q{i}" for i in range(n + 1)))
    rate = sp.Matrix([dot(e) for e in q])
    signs = [sp.sign(e) for e in sp.Matrix(J) * rate[:n, :]]
    laws = [
        -sum(friction(row[i], zw.multiplier("rail")) * s for row, s in zip(along, signs, strict=True)) for i in range(n)
    ]
    kinetic = (rate.T * sp.Matrix(M) * rate)[0] / 2
    forces = dict(zip(q, Q, strict=True))
    given = {"forces": forces, "nonideal": dict(zip(q, laws, strict=False)), "constraints": {"rail": q[-1]}}
    system = zw.System(q, kinetic=kinetic, **given)
    h = 1e-3
    motion = zw.simulate(system, {**dict.fromkeys(q, 0), **dict.fromkeys(map(dot, q), 0)}, h, samples=2, tol=1e-11)
    return M[:n, :n], Q[:n], J, along, motion.v.values[-1, :n] / h, motion.multiplier.values[-1, 0]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.both_codes
def test_rest_is_shared_by_the_principle_of_least_constraint(seed):
    """Of all forces between both sides those act that move least: min |L⁻¹(Q − Gᵀσ)| with M = LLᵀ (Moreau 1965)."""
    M, Q, _, G, a, _ = rubbing_at_random(seed)
    L = np.linalg.cholesky(M)
    sigma = lsq_linear(np.linalg.solve(L, G.T), np.linalg.solve(L, Q), (-1, 1), "bvls", tol=1e-14).x
    assert a == pytest.approx(np.linalg.solve(M, Q - G.T @ sigma), abs=1e-9)


@pytest.mark.parametrize("seed", [*range(12), 7055])
@pytest.mark.parametrize("kind", ["across", "of multipliers"])
def test_what_rests_and_what_leaves_obey_their_laws(kind, seed):
    """Forces that are not along the rates that they depend on, or that grow with a multiplier: M a = Q − Gᵀσ."""
    given = {"apart": 0.3} if kind == "across" else {"apart": 1e-9, "friction": lambda c, lam: c * sp.Abs(lam) / 5}
    M, Q, J, G, a, lam = rubbing_at_random(seed, **given)
    G = G if kind == "across" else G * abs(lam) / 5
    size = np.abs(Q).max()
    side = np.where(np.abs(J @ a) > 1e-9 * size, np.sign(J @ a), 0)
    bounds = np.where(side == 0, -1, side - 1e-9), np.where(side == 0, 1, side + 1e-9)
    sigma = lsq_linear(G.T, Q - M @ a, bounds, "bvls", tol=1e-14).x
    assert M @ a + G.T @ sigma == pytest.approx(Q, abs=1e-8 * size)


@pytest.mark.both_codes
def test_forces_that_multiply_are_not_held_together():
    law = {x: -sp.sign(v) * (2 + sp.sign(w)), y: -sp.sign(w)}
    system = zw.System((x, y), kinetic=(v**2 + w**2) / 2, forces=law)
    motion = zw.simulate(system, {x: 0, v: 1, y: 0, w: 1}, 5.0, throw=False)
    assert motion.attrs["status"] == "sliding"
    assert "along the switches at x' = 0 and y' = 0, but their forces multiply" in motion.attrs["message"]
    assert float(motion.time[-1]) < 1


@pytest.mark.parametrize("method", ENGINES)
def test_a_slip_that_grazes_the_belt_does_not_stick(method):
    """A belt that holds by ½ what it slows by ½: breaks loose at 2.5, and then only touches its speed once a turn."""
    truth = expected("e2-stick-graze")
    motion = run(body(-x - 0.5 * sp.sign(v - sp.Rational(1, 5))), (0, 0.2), 20.0, method)
    assert motion.rest_end.values[0] == pytest.approx(float(truth["t_break"]), abs=1e-10)
    end = float(motion.q[-1, 0]), float(motion.v[-1, 0])
    assert end == pytest.approx((float(truth["x_at_20"]), float(truth["v_at_20"])), abs=10 * CLOSE[method])


def test_a_belt_moves_as_a_table_says():
    """Carried along a straight line of speeds: held while |x + u̇| < 0.3, here x = t²/20 and u̇ = 0.1 up to t = 2."""
    u = zw.coordinates("u")
    table = zw.Signal([0, 4, 5], [0, 0.4, 0.4])
    motion = run(body(-x - 0.3 * sp.sign(v - u), parameters={u: table}), (0, 0), 2.5)
    [(_, begin, end)] = rests(motion)
    assert (begin, end) == (0, pytest.approx(2, abs=1e-11))
    held = motion.sel(time=slice(0, 1.99))
    assert held.q.values[:, 0] == pytest.approx(held.time.values**2 / 20, abs=1e-13)


def test_frictions_on_one_speed_add_up():
    """1 on the ground and 2 on a belt of speed 1, pulled by ½t: with the belt from 2 (√1.5 − 1) on until 3 = ½t."""
    motion = run(body(t / 2 - sp.sign(v) - 2 * sp.sign(v - 1)), (0, 0.5), 10.0)
    [(_, begin, end)] = rests(motion)
    assert (begin, end) == (pytest.approx(2 * np.sqrt(1.5) - 2, abs=1e-11), pytest.approx(6, abs=1e-11))
    assert float(motion.v[-1, 0]) == pytest.approx(1 + 16 / 4, abs=1e-11)


def test_a_guide_that_rubs_ends_on_a_floor():
    """Falls by ½ and rises by 1.5: each bounce keeps ½ √(½/1.5) of its speed; first at t = 2 with speed 1."""
    floor = [zw.Constraint(x >= 0, "floor", restitution=0.5)]
    system = body(-1 - 0.5 * sp.sign(v), constraints=floor)
    motion = zw.simulate(system, {x: 1, v: 0}, 8.0, samples=9)
    kept = 0.5 / np.sqrt(3)
    flight = 0.5 / 1.5 + 0.5 / np.sqrt(0.75)
    *impacts, end = motion.transition_time.values
    assert impacts == pytest.approx(2 + flight * (1 - kept ** np.arange(len(impacts))) / (1 - kept), abs=1e-11)
    assert motion.transition_kind.values[-1] == "accumulation"
    assert end == pytest.approx(2 + flight / (1 - kept), abs=1e-6)  # flights lower than 1e-12 are left out
    assert motion.normal_force.values[-1] == pytest.approx([1], abs=1e-12)


def test_a_floor_does_not_pull_what_friction_holds():
    """3 sin t − 1 lifts off where it is 0, but ½ of friction holds: the motion goes on, and nothing pulls."""
    floor = [zw.Constraint(x >= 0, "floor", restitution=0)]
    system = body(3 * sp.sin(t) - 1 - 0.5 * sp.sign(v), constraints=floor)
    motion = zw.simulate(system, {x: 1, v: 0}, 20.0, samples=201)
    assert motion.attrs["status"] == "finished"
    assert (motion.normal_force >= -1e-9).all()
    assert float(motion.gap.min()) > -1e-12
