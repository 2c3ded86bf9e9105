"""Contacts together with forces that depend on multipliers, and with dry friction written as a sign."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import zwang as zw
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InputError, SimulationError

G, t = 9.81, zw.t
x, y, u, w, angle = zw.coordinates("x y u w theta")
METHODS = ["native", "taylor", "radau", "lsoda"]
TILT, MU = 0.7, 0.3
COS, SIN = np.cos(TILT), np.sin(TILT)


def limit(gap, name, restitution=0.0, **law):
    return zw.Constraint(gap, name, one_sided=True, restitution=restitution, **law)


def impacts(motion):
    return motion.transition_time.values[motion.transition_kind.values == "impact"]


def close(motion, size=1e-9):
    """The account of energy closes, nothing pulls, and nothing is passed through."""
    assert motion.attrs["status"] == "finished"
    assert motion.attrs["doubts"] == ""
    assert float(abs(motion.energy_balance).max()) < size
    assert float(motion.gap.min()) > -1e-9
    assert float(abs(motion.gap * motion.normal_force).max()) < 1e-9


def bead(mu=MU, restitution=0.6):
    """A bead on a slanted wire that rubs by the force of the wire, above a floor."""
    v = COS * dot(x) + SIN * dot(y)
    rub = -mu * sp.Abs(zw.multiplier("wire")) * sp.sign(v)
    return zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=G * y,
        constraints=[zw.Constraint(COS * y - SIN * x, "wire"), limit(y, "floor", restitution)],
        nonideal={x: rub * COS, y: rub * SIN},
    )  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_a_bead_that_rubs_on_its_wire_bounces_on_a_floor(method):
    # down by g (sin a − μ cos a), up by g (sin a + μ cos a): flights in closed form
    motion = zw.simulate(bead(), {x: 2 * COS, y: 2 * SIN, dot(x): 0, dot(y): 0}, 3.0, method=method)
    down, up = G * (SIN - MU * COS), G * (SIN + MU * COS)
    met, v, flights = np.sqrt(4 / down), np.sqrt(4 * down), []
    for _ in range(8):
        flights.append(met)
        v *= 0.6
        met += v / up + v / np.sqrt(up * down)
        v *= np.sqrt(down / up)
    assert impacts(motion)[:8] == pytest.approx(flights, abs=1e-9)
    close(motion)


def wheel(mu=0.4):
    """A wheel and a brake: the shoe is pressed by 10 and has been ½ away; its torque is −μ R N."""
    torque = -mu * 0.3 * zw.multiplier("shoe") * sp.sign(dot(angle))
    return zw.System((y, angle), kinetic=dot(y) ** 2 / 2 + 0.25 * dot(angle) ** 2, forces={y: -10},
                     constraints=[limit(y, "shoe")], nonideal={angle: torque})  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_a_brake_has_the_force_of_its_contact_in_the_impact_and_after_it(method):
    # the shoe arrives with √10 at √0.1: ω falls by μ R √10/J at once, then at the rate μ R 10/J until it is zero
    motion = zw.simulate(wheel(), {y: 0.5, angle: 0, dot(y): 0, dot(angle): 20}, 12.0, method=method)
    first, after = np.sqrt(0.1), 20 - 0.12 * np.sqrt(10) / 0.5
    assert impacts(motion) == pytest.approx([first], abs=1e-11)
    assert motion.velocity_after.values[0] == pytest.approx([0, after], abs=1e-11)
    assert motion.rest_begin.values == pytest.approx([first + after / 2.4], abs=1e-9)
    assert motion.normal_force.values[-1] == pytest.approx([10], abs=1e-12)
    close(motion)


def test_a_rod_in_a_journal_meets_a_stop():
    # one equation for the angle's acceleration, with the force in the pin from it: by SciPy and brentq
    m, l, inertia, rub, e = 2.0, 0.5, 0.1, 0.03, 0.5
    force = sp.sqrt(zw.multiplier("px") ** 2 + zw.multiplier("py") ** 2)
    rod = zw.System(
        (x, y, angle), kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2 + inertia * dot(angle) ** 2 / 2, potential=m * G * y,
        constraints=[zw.Constraint(x - l * sp.sin(angle), "px"), zw.Constraint(y + l * sp.cos(angle), "py"),
                     limit(angle + 0.4, "stop", e)],
        nonideal={angle: -rub * force * sp.sign(dot(angle))},
    )  # fmt: skip

    def rate(_, z):
        a, v = z

        def missing(acc):
            ax, ay = l * (acc * np.cos(a) - v**2 * np.sin(a)), l * (acc * np.sin(a) + v**2 * np.cos(a))
            torque = m * G * l * np.sin(a) + rub * np.sign(v) * m * np.hypot(ax, ay + G)
            return (inertia + m * l**2) * acc + torque

        return [v, brentq(missing, -500, 500, xtol=1e-15, rtol=1e-15)]

    def meets(_, z):
        return z[0] + 0.4

    meets.terminal = True
    options = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14, "max_step": 0.01}
    first = solve_ivp(rate, (0, 1), [1.0, -0.01], events=[meets], **options)
    met, v = first.t[-1], first.y[1, -1]
    then = solve_ivp(rate, (met, met + 0.1), [-0.4, -e * v], **options).y[:, -1]
    start = {angle: 1, x: l * np.sin(1), y: -l * np.cos(1)}
    start |= {dot(angle): -0.01, dot(x): -0.01 * l * np.cos(1), dot(y): -0.01 * l * np.sin(1)}
    motion = zw.simulate(rod, start, met + 0.1)
    assert impacts(motion) == pytest.approx([met], abs=1e-10)
    assert [motion.q.values[-1, 2], motion.v.values[-1, 2]] == pytest.approx(then, abs=1e-9)
    close(motion)


def cart(guide, gap, e=0.5, mu=0.2):
    """A cart on a rail that rubs, with a bob on a rod that meets something: friction of the rail said in two ways."""
    X, Y = x + sp.sin(angle), y - sp.cos(angle)
    kinetic = dot(x) ** 2 + dot(y) ** 2 + (dot(X) ** 2 + dot(Y) ** 2) / 2
    law = {"friction": mu, "slip": dot(x)} if guide else {}
    rub = {} if guide else {x: -mu * sp.Abs(zw.multiplier("rail")) * sp.sign(dot(x))}
    return zw.System((x, y, angle), kinetic=kinetic, potential=G * (2 * y + Y), nonideal=rub,
                     constraints=[zw.Constraint(sp.Eq(y, 0), "rail", **law), limit(gap, "stop", e)])  # fmt: skip


def wire_and_floor(guide, mu=0.2):
    """A bead on a wire, a block on a rough floor below it, and a spring between them."""
    law = {"friction": mu, "slip": dot(u)} if guide else {}
    rub = {} if guide else {u: -mu * sp.Abs(zw.multiplier("wire")) * sp.sign(dot(u))}
    floor = limit(y + 1.6, "floor", 0.3, friction=0.4, slip=dot(x))
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(u) ** 2 + dot(w) ** 2) / 2
    return zw.System(
        (x, y, u, w), kinetic=kinetic, potential=G * (y + w) + 4 * ((x - u) ** 2 + (y - w + 1) ** 2),
        constraints=[zw.Constraint(sp.Eq(w, 0), "wire", **law), floor], nonideal=rub,
    )  # fmt: skip


def thrown(by_law):
    """A block that is thrown on a floor: with friction= it is the contact's, otherwise of the contact's multiplier."""
    law = {"friction": 0.3, "slip": dot(x)} if by_law else {}
    rub = {} if by_law else {x: -0.3 * zw.multiplier("floor") * sp.sign(dot(x))}
    return zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=G * y, nonideal=rub,
                     constraints=[limit(y, "floor", 0.4, **law)])  # fmt: skip


SWING = {x: 0, y: 0, angle: 1.2, dot(x): 0.5, dot(y): 0, dot(angle): 0}
SAME = {
    "a wall on the cart": (lambda g: cart(g, angle + 0.3), SWING, 2.0, {}),
    "a wall beside it": (lambda g: cart(g, x + sp.sin(angle) + 0.2, 0.8), SWING, 2.0, {}),
    "a floor, by Poisson's law": (lambda g: cart(g, 0.9 - sp.cos(angle), 0.5, 0.25), SWING, 1.0,
                                  {"impacts": "poisson"}),
    "a wire above a floor": (wire_and_floor, {x: 0.5, y: -0.9, u: 0, w: 0, dot(x): 1, dot(y): 0, dot(u): 0, dot(w): 0},
                             2.5, {}),
    "a block on a floor": (thrown, {x: 0, y: 0.3, dot(x): 3, dot(y): 0}, 3.0, {}),
}  # fmt: skip


@pytest.mark.parametrize("which", SAME)
def test_friction_is_the_same_whether_it_is_a_constraints_own_or_of_its_multiplier(which):
    make, start, until, options = SAME[which]
    own, by_multiplier = (zw.simulate(make(way), start, until, **options) for way in (True, False))
    assert len(impacts(own)) > 0
    assert by_multiplier.q.values == pytest.approx(own.q.values, abs=1e-9)
    assert by_multiplier.v.values == pytest.approx(own.v.values, abs=1e-9)
    count = min(len(impacts(own)), len(impacts(by_multiplier)), 8)
    assert impacts(by_multiplier)[:count] == pytest.approx(impacts(own)[:count], abs=1e-10)
    close(own)
    close(by_multiplier)


@pytest.mark.parametrize("make", ["cart", "bead", "brake"])
def test_sensitivities_go_through_impacts_with_the_impulses_of_friction(make):
    mu, e = zw.parameters("mu e")
    if make == "cart":
        rub = {x: -mu * sp.Abs(zw.multiplier("rail")) * sp.sign(dot(x))}
        base, start, until = cart(True, angle + 0.3), SWING | {dot(x): 0.9}, 0.7
        rows = [zw.Constraint(sp.Eq(y, 0), "rail"), limit(angle + 0.3, "stop", e)]
        system = zw.System(base.coordinates, kinetic=base.kinetic, potential=base.potential, constraints=rows,
                           nonideal=rub, parameters={mu: 0.2, e: 0.5})  # fmt: skip
    elif make == "bead":
        v = COS * dot(x) + SIN * dot(y)
        rub = -mu * sp.Abs(zw.multiplier("wire")) * sp.sign(v)
        rows = [zw.Constraint(COS * y - SIN * x, "wire"), limit(y, "floor", e)]
        system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=G * y, constraints=rows,
                           nonideal={x: rub * COS, y: rub * SIN}, parameters={mu: 0.3, e: 0.6})  # fmt: skip
        start, until = {x: 2 * COS, y: 2 * SIN, dot(x): -0.1 * COS, dot(y): -0.1 * SIN}, 1.2
    else:
        torque = -mu * 0.3 * zw.multiplier("shoe") * sp.sign(dot(angle))
        system = zw.System((y, angle), kinetic=dot(y) ** 2 / 2 + 0.25 * dot(angle) ** 2, forces={y: -10},
                           constraints=[limit(y, "shoe", e)], nonideal={angle: torque},
                           parameters={mu: 0.4, e: 0.3})  # fmt: skip
        start, until = {y: 0.5, angle: 0, dot(y): 0, dot(angle): 20}, 0.4
    found, h = zw.sensitivities(system, start, until, [mu, e]), 1e-5
    for k, p in enumerate((mu, e)):
        value = float(system.parameters[p])
        after, before = (zw.simulate(system, start, until, parameters={p: value + d}) for d in (h, -h))
        for name in ("q", "v"):
            slope = (after[name].values[-1] - before[name].values[-1]) / (2 * h)
            assert found[f"d{name}"].values[-1, :, k] == pytest.approx(slope, abs=1e-7)


def test_many_motions_are_those_one_by_one():
    mu = zw.parameters("mu")
    torque = -mu * 0.3 * zw.multiplier("shoe") * sp.sign(dot(angle))
    system = zw.System((y, angle), kinetic=dot(y) ** 2 / 2 + 0.25 * dot(angle) ** 2, forces={y: -10},
                       constraints=[limit(y, "shoe")], nonideal={angle: torque}, parameters={mu: 0.4})  # fmt: skip
    start, values = {y: 0.5, angle: 0, dot(y): 0, dot(angle): 20}, np.array([0.1, 0.4, 0.9])
    many = zw.simulate_many(system, start, 5.0, parameters={mu: values})
    for k, value in enumerate(values):
        one = zw.simulate(system, start, 5.0, parameters={mu: value})
        assert many.q.values[k, -1] == pytest.approx(one.q.values[-1], abs=1e-13)


def test_what_is_not_integrated_is_refused_by_name():
    start = {x: COS, y: SIN, dot(x): 0, dot(y): 0}
    with pytest.raises(InputError, match=r"multiplier\('wire'\): impacts='sequential'"):
        zw.simulate(bead(), start, 1.0, impacts="sequential")
    with pytest.raises(InputError, match=r"multiplier\('wire'\): that is not integrated with contacts='steps'"):
        zw.simulate(bead(), start, 1.0, contacts="steps", step=0.01)
    square = zw.System((y, angle), kinetic=dot(y) ** 2 / 2 + dot(angle) ** 2, forces={y: -10},
                       constraints=[limit(y, "shoe")], nonideal={angle: -zw.multiplier("shoe") ** 2})  # fmt: skip
    with pytest.raises(SimulationError, match="grow faster there than the multipliers"):
        zw.simulate(square, {y: 0.5, angle: 0, dot(y): 0, dot(angle): 1}, 1.0)


def collar(force, friction, gap=x):
    return zw.System((x,), kinetic=dot(x) ** 2 / 2, forces={x: force - friction * sp.sign(dot(x))},
                     constraints=[limit(gap, "floor")])  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_a_sign_holds_what_a_floor_lets_go_of_until_it_gives_way(method):
    # N vanishes where 30 sin t = g, and 5 of friction hold until 30 sin t = g + 5; at rest from the start on
    motion = zw.simulate(collar(30 * sp.sin(t) - G, 5), {x: 0, dot(x): 0}, 2.0, method=method)
    lifts, begins = np.arcsin(G / 30), np.arcsin((G + 5) / 30)
    rest = 2 - begins
    height = 30 * (np.cos(begins) * rest - np.sin(2) + np.sin(begins)) - (G + 5) * rest**2 / 2
    assert motion.transition_kind.values.tolist() == ["lift"]
    assert motion.transition_time.values == pytest.approx([lifts], abs=1e-10)
    assert (motion.rest_begin.item(), motion.rest_end.item()) == pytest.approx((0, begins), abs=1e-10)
    assert float(motion.q[-1, 0]) == pytest.approx(height, abs=1e-9)
    close(motion)


@pytest.mark.parametrize("off", [0, 1])
def test_what_a_sign_held_comes_back_to_its_floor_where_it_gives_way(off):
    # 12 sin t − g is at most 2.19 upwards, and 5 of friction hold; downwards until −5, from where on the floor does
    motion = zw.simulate(collar(12 * sp.sin(t) - G, 5, x - off), {x: off, dot(x): 0}, 7.0)
    first, again = np.arcsin(G / 12), np.pi - np.arcsin((G - 5) / 12)
    assert motion.transition_kind.values.tolist() == ["lift", "touch"]
    assert motion.transition_time.values == pytest.approx([first, again], abs=1e-10)
    assert abs(motion.q.values[:, 0] - off).max() < 1e-12
    close(motion)


@pytest.mark.parametrize("method", METHODS)
def test_a_collar_that_rubs_hops_on_its_floor(method):
    # 3 sin t − 1 with ½ of friction, plastic: from event to event by hand, with roots of closed forms (brentq)
    motion = zw.simulate(collar(3 * sp.sin(t) - 1, 0.5), {x: 1, dot(x): 0}, 20.0, method=method)
    lands = [5.570280029386883, 11.664495651223357, 17.94768095840294]
    lifts = [2 * np.pi * k + np.arcsin(1 / 3) for k in (1, 2, 3)]
    assert motion.transition_kind.values.tolist() == ["impact", "lift"] * 3
    assert motion.transition_time.values == pytest.approx(np.ravel([lands, lifts], "F"), abs=1e-9)
    leaves = 6 * np.pi + np.pi / 6
    tau = 20 - leaves
    height = 3 * (np.cos(np.pi / 6) * tau - np.sin(20) + 0.5) - 1.5 * tau**2 / 2
    assert float(motion.q[-1, 0]) == pytest.approx(height, abs=1e-9)
    close(motion)


def test_a_block_pushes_another_that_a_sign_holds():
    # 3t on a block of 1 against one of 2 that rubs by 4: they begin at t = 4/3 with (3t − 4)/3
    pair = zw.System((x, u), kinetic=dot(x) ** 2 / 2 + dot(u) ** 2, forces={x: 3 * t, u: -4 * sp.sign(dot(u))},
                     constraints=[limit(u - x, "pair")])  # fmt: skip
    motion = zw.simulate(pair, {x: 0, u: 0, dot(x): 0, dot(u): 0}, 3.0)
    assert motion.q.values[-1] == pytest.approx([(5 / 3) ** 3 / 6] * 2, abs=1e-11)
    close(motion)


@pytest.mark.parametrize("torque", [0.1, 1.0])
@pytest.mark.parametrize("restitution", [0, 0.3])
def test_what_lies_on_a_stop_is_carried_by_it_and_not_pushed_about_by_a_sign(torque, restitution):
    # a rod of 1 that rests at −1 rad: the stop's torque is ½ g cos 1, friction has nothing left to do
    rows = [zw.Constraint(x - sp.cos(angle) / 2, "px"), zw.Constraint(y - sp.sin(angle) / 2, "py")]
    arm = zw.System(
        (x, y, angle), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2 + dot(angle) ** 2 / 24, potential=G * y,
        forces={angle: -torque * sp.sign(dot(angle))}, constraints=[*rows, limit(angle + 1, "stop", restitution)],
    )  # fmt: skip
    start = dict(zip((x, y, angle, dot(x), dot(y), dot(angle)), (0.5, 0, 0, 0, 0, 0), strict=True))
    motion = zw.simulate(arm, start, 10.0)
    assert motion.normal_force.values[-1] == pytest.approx([G * np.cos(1) / 2], abs=1e-10)
    close(motion)


def test_a_joint_that_rubs_rests_on_its_stop():
    arm = mb.PlanarBody("arm", mass=1, inertia=1 / 12, position=(0.5, 0))
    elbow = mb.Revolute("elbow", mb.ground, arm, at=(0, 0))
    stop = mb.Stop("stop", elbow, lower=-1.0, upper=1.0, restitution=0.3)
    rub = mb.JointFriction("rub", elbow, mu=0.2, radius=0.05)
    motion = zw.simulate(mb.Mechanism([arm], [elbow, stop], [mb.Gravity((0, -G)), rub]), until=3.0)
    assert motion.normal_force.values[-1] == pytest.approx([G * np.cos(1) / 2, 0], abs=1e-9)
    assert motion.transition_kind.values[-1] == "accumulation"
    assert float(abs(motion.energy_balance).max()) < 1e-9
