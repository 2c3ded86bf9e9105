"""Equilibria and steady motions: closed forms, whatever the rows; families; verdicts; what is refused."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import roots_laguerre

import zwang as zw
from tests.analysis.systems import (
    REFERENCES,
    VARIANTS,
    chain,
    disc,
    doubled,
    governor,
    hanging,
    ziegler,
)
from zwang import dot
from zwang import multibody as mb
from zwang.errors import AssemblyError, EquilibriumError, InputError

x, y, u = zw.coordinates("x y u")
k = zw.parameters("k")
ONE, TWO = dot(x) ** 2 / 2, (dot(x) ** 2 + dot(y) ** 2) / 2
PENDULUM = zw.System((x, y), kinetic=TWO, potential=9.81 * y, constraints={"rod": x**2 + y**2 - 1})


def well(potential, force=0):
    """A point on a line."""
    return zw.System((x,), kinetic=ONE, potential=potential, forces={x: force})


def frequencies(e):
    return np.sort(e.eigenvalues.imag[e.eigenvalues.imag > 0])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_chain_hangs_straight_and_swings_with_the_zeros_of_laguerre_s_polynomial(variant):
    system = variant(chain())
    rng = np.random.default_rng(1)
    straight = hanging(system)
    e = zw.equilibrium(system, {q: straight[q] + 0.3 * rng.standard_normal() for q in system.coordinates})
    assert max(abs(e.state[q] - straight[q]) for q in straight) < 1e-14
    assert e.stable
    assert e.verdict == "stable: the potential energy is smallest here"
    assert e.residual < 1e-12
    expected = [float(w) for w in REFERENCES["B1 N-pendulum"]["values"]]
    assert frequencies(e) == pytest.approx(expected, rel=3e-14)
    # the uppermost rod carries all five masses, M q̈ = Q + Aᵀλ with A = ∂(l² − 1)/∂q
    names = [name for name in system.constraint_names if name.startswith("rod 0")]
    rows = {c.name: c.expression for c in system.constraints}
    pull = sum(e.multipliers[n] * rows[n].diff(system.coordinates[5]).subs(e.state) for n in names)
    assert float(pull) == pytest.approx(5 * 9.81, rel=1e-12)
    assert all(e.unique[name] == (variant.__name__ in ("as_given", "scaled")) for name in system.constraint_names)


@pytest.mark.parametrize("variant", VARIANTS)
def test_ziegler_s_column_flutters_above_its_load(variant):
    system = variant(ziegler())
    critical = float(REFERENCES["A1 Ziegler"]["undamped"])
    guess = dict(zip(system.coordinates, (0.1, 1, 0.05, 2), strict=True))
    below, above = (zw.equilibrium(system, guess, parameters={"P": critical + d}) for d in (-1e-6, 1e-6))
    assert below.stable is None
    assert "undamped" in below.verdict
    assert above.stable is False
    assert "oscillating" in above.verdict
    assert max(abs(above.state[q] - w) for q, w in zip(system.coordinates, (0, 1, 0, 2), strict=True)) < 1e-14


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_disc_rolls_in_a_circle(variant):
    system = variant(disc())
    a, b, z, heading, lean, turn = system.coordinates
    reference = REFERENCES["A2 rolling disc"]
    guess = {a: 0, b: 0, z: 1, heading: 0, lean: 0.3, turn: 0, dot(heading): 1.2, dot(turn): -2.2}
    constant = [lean, dot(lean), dot(heading), dot(turn)]
    e = zw.steady(system, guess, constant=constant, hold=[lean, dot(heading)])
    assert e.state[lean] == pytest.approx(0.3, abs=1e-15)
    assert e.state[dot(turn)] == pytest.approx(float(reference["steady: lean 0.3, yaw rate 1.2 -> spin"]), rel=1e-14)
    assert frequencies(e) == pytest.approx([float(reference["its oscillation frequency"])], abs=6e-9)
    assert e.constant == ("lean", "lean'", "heading'", "turn'")
    assert np.count_nonzero(e.eigenvalues == 0) == 2 == len(e.families)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_governor_turns_at_its_angle(variant):
    system = variant(governor())
    a, b, c, d, e, f, s = system.coordinates
    reference = REFERENCES["A3 governor"]
    spin = (a * dot(b) - b * dot(a)) / (a**2 + b**2)
    guess = {a: 0.15, b: 0, c: -0.48, d: -0.15, e: 0, f: -0.48, s: -0.95, dot(b): 1.4, dot(e): -1.4}
    found = zw.steady(system, guess, constant={"s": s, "s'": dot(s), "spin": spin}, hold={spin: 9})
    assert -found.state[s] == pytest.approx(float(reference["cos theta"]), rel=1e-14)
    assert frequencies(found) == pytest.approx([float(reference["frequency"])], rel=1e-13)


def test_minimal_and_cartesian_coordinates_agree():
    angle = zw.coordinates("angle")
    minimal = zw.System((angle,), kinetic=dot(angle) ** 2 / 2, potential=-9.81 * sp.cos(angle))
    this, that = zw.equilibrium(minimal, {angle: 0.4}), zw.equilibrium(doubled(PENDULUM), {x: 0.4, y: -1})
    assert this.eigenvalues == pytest.approx(that.eigenvalues, rel=1e-14)
    assert this.verdict == that.verdict


# Laws


@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_L3_an_equilibrium_is_where_a_motion_stays(seed):
    """Points in a plane on springs, some of them on a common curve, twice."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 4))
    a, b = zw.coordinates(f"a:{count}"), zw.coordinates(f"b:{count}")
    anchors = rng.standard_normal((count, 2))
    springs = [(s - p) ** 2 + 2 * (r - w) ** 2 for s, r, (p, w) in zip(a, b, anchors, strict=True)]
    bonds = [sp.sqrt((a[i] - a[i + 1]) ** 2 + (b[i] - b[i + 1]) ** 2 + 1) for i in range(count - 1)]
    curve = b[0] - sp.sin(a[0]) + 0.1 * a[0] ** 2
    system = zw.System(
        (*a, *b),
        kinetic=sum(dot(q) ** 2 for q in (*a, *b)) / 2,
        potential=sum(springs) + sum(bonds) + 9.81 * sum(b),
        forces={q: -0.2 * dot(q) for q in (*a, *b)},
        constraints={"curve": curve, "again": 3 * curve},
    )
    e = zw.equilibrium(system, dict(zip((*a, *b), rng.standard_normal(2 * count), strict=True)))
    assert e.residual < 1e-9
    if e.stable:
        motion = zw.simulate(system, e.state, until=100.0, samples=3)
        assert np.abs(motion.q.values - motion.q.values[0]).max() < 1e-10


def test_the_guess_decides_which_one_is_found():
    assert zw.equilibrium(PENDULUM, {x: 0.2, y: 1}).state[y] == 1
    assert zw.equilibrium(PENDULUM, {x: 1, y: 0}).state[y] == -1  # no slope there: it falls first
    assert zw.equilibrium(well(-sp.cos(x)), {x: 6.0}).state[x] == pytest.approx(2 * np.pi, rel=1e-15)


def test_a_stiff_spring_does_not_hide_a_soft_direction():
    stiff = zw.System((x, y), kinetic=TWO, potential=10**8 * (sp.sqrt(x**2 + y**2) - 1) ** 2 / 2 + 9.81 * y)
    e = zw.equilibrium(stiff, {x: 0.1, y: -1})
    assert (e.stable, e.families) == (True, ())
    assert e.state[x] == pytest.approx(0, abs=1e-12)


def test_a_mechanism_stands_where_a_system_does_with_its_own_guess():
    rod = mb.PlanarBody("rod", 2, 0.1, position=(0.3, -0.4), angle=0.2)
    pendulum = mb.Mechanism(
        [rod], joints=[mb.Revolute("pin", mb.ground, rod, at=(0, 0))], forces=[mb.Gravity((0, -9.81))]
    )
    e = zw.equilibrium(pendulum)
    assert e.stable
    assert e.state[pendulum.system.coordinates[1]] == pytest.approx(-0.5, rel=1e-14)
    # a rod of mass m and inertia J at distance c from its pin: ω² = mgc/(J + mc²)
    assert frequencies(e) == pytest.approx([np.sqrt(2 * 9.81 * 0.5 / (0.1 + 2 * 0.25))], rel=1e-13)


def test_a_model_file_stands_where_a_system_does():
    e = zw.equilibrium(zw.load_model("pendulum"))
    assert e.stable


# Verdicts


@pytest.mark.parametrize(
    ("system", "guess", "stable", "words"),
    [
        (well(x**2), {x: 0.5}, True, "stable: the potential energy is smallest here"),
        (well(-(x**2)), {x: 0.5}, False, "unstable: a maximum of the potential energy, it leaves in 1 of 1 direction"),
        (well(-sp.cos(x), -0.1 * dot(x)), {x: 0.5}, True, "stable: disturbances die out, the slowest as exp(-0.05 t)"),
        (well(-sp.cos(x), -0.1 * dot(x)), {x: 3}, False, "unstable: a disturbance grows as exp(0.9512 t), without"),
        (well(x**4), {x: 0.5}, None, "not to be told at first order: along x forces vanish to first order, but not"),
        (well(x**3), {x: 0.5}, None, "not to be told at first order: along x forces vanish to first order, but not"),
        (well(x**2, -sp.sign(dot(x))), {x: 0.1}, None, "not to be told: the equations switch at this state"),
        (well(x**2, -1e-6 * sp.sign(dot(x))), {x: 0.1}, None, "not to be told: the equations switch at this state"),
        (well(x**2 / 2, -dot(x) * sp.Abs(dot(x))), {x: 0.1}, None, "not to be told at first order: it oscillates und"),
        (well(0, -2 * x + 1), {x: 0.1}, True, "stable: the potential energy is smallest here"),
        (
            zw.System((x, y), kinetic=TWO, potential=x**2 - y**2),
            {x: 1, y: 1},
            False,
            "unstable: a saddle, it leaves in",
        ),
        (zw.System((x, y), kinetic=TWO, potential=(x - y) ** 2), {x: 1, y: 0}, True, "stable: the potential energy is"),
        (zw.System((x, y), kinetic=TWO), {x: 1, y: 0}, None, "neutral: there is no force beside it either; it is one"),
    ],
)
def test_the_verdict_says_what_becomes_of_a_disturbance(system, guess, stable, words):
    e = zw.equilibrium(system, guess)
    assert e.stable is stable
    assert e.verdict.startswith(words)
    assert str(e).endswith(f"{e.verdict[:1].upper()}{e.verdict[1:]}.")
    assert repr(e) == f"<Equilibrium: at rest; {e.verdict}>"


def test_gyroscopic_forces_hold_what_the_potential_does_not():
    turning = TWO + 3 * (x * dot(y) - y * dot(x))
    e = zw.equilibrium(zw.System((x, y), kinetic=turning, potential=-(x**2 + y**2) / 2), {x: 0.1, y: 0.2})
    assert e.stable is None
    assert "gyroscopic" in e.verdict


def test_forces_with_a_potential_are_told_from_circulating_ones():
    """∂Fx/∂y = ∂Fy/∂x: −∂V/∂q given as forces is judged by V; a force that follows is not."""
    V = x**2 + y**2 - x * y
    pulled = zw.System((x, y), kinetic=TWO, forces={x: k - V.diff(x), y: -V.diff(y)}, parameters={k: 0.3})
    assert zw.equilibrium(pulled, {x: 0.1, y: 0.2}).verdict == "stable: the potential energy is smallest here"
    turned = zw.System((x, y), kinetic=TWO, potential=V, forces={x: 0.1 * y, y: -0.1 * x})
    assert "oscillates undamped" in zw.equilibrium(turned, {x: 0.1, y: 0.2}).verdict
    drawn = zw.System((x, y), kinetic=TWO, potential=V, forces={x: -0.1 * dot(x)})
    assert zw.equilibrium(drawn, {x: 0.1, y: 0.2}).verdict.startswith("stable: disturbances die out")


def test_what_does_not_change_at_first_order_tells_nothing_of_stability():
    """The height of a pendulum at rest."""
    e = zw.steady(PENDULUM, {x: 0, y: -1}, constant=[y, dot(y)])
    assert e.verdict == "not to be told: y and y' do not change at first order here; name something else that does"


def test_a_nonholonomic_system_rests_in_a_family_and_the_nearest_member_is_found():
    skate = zw.System(
        (x, y, u),
        kinetic=TWO + dot(u) ** 2 / 2,
        potential=x**2 + y**2,
        constraints={"edge": dot(x) * sp.sin(u) - dot(y) * sp.cos(u)},
    )
    e = zw.equilibrium(skate, {x: 1, y: 0.5, u: 0.3})
    assert len(e.families) == 2
    # at rest where the force has no part along the edge; the shortest way there is along it
    assert e.state[x] * np.cos(e.state[u]) + e.state[y] * np.sin(e.state[u]) == pytest.approx(0, abs=1e-14)
    assert np.count_nonzero(e.eigenvalues == 0) >= 2


def test_a_disc_at_rest_falls_and_may_stand_anywhere():
    a, b, z, heading, lean, turn = disc().coordinates
    e = zw.equilibrium(disc(), {a: 0, b: 0, z: 1, heading: 0.3, lean: 0.1, turn: 0})
    assert e.families == ("x", "y", "heading", "turn")
    assert e.stable is False
    # on an edge that cannot slip it falls about the contact: (I + mr²) θ̈ = mgr θ
    assert e.eigenvalues.real.max() == pytest.approx(np.sqrt(9.81 / 1.25), rel=1e-14)


def test_what_is_held_keeps_its_value():
    pair = zw.System((x, y), kinetic=TWO, potential=(x - y - 1) ** 2)
    e = zw.equilibrium(pair, {x: 0.5, y: 1}, hold=[x])
    assert (e.state[x], e.state[y]) == pytest.approx((0.5, -0.5), abs=1e-14)
    e = zw.equilibrium(pair, {x: 0.5, y: 1}, hold={x + y: 7})
    assert (e.state[x], e.state[y]) == pytest.approx((4, 3), abs=1e-13)
    assert e.families == ("x + y",)


# Refusals


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (EquilibriumError, "no equilibrium was found near the guess: x'' = -1 remains", lambda: (well(x), {x: 0})),
        (EquilibriumError, "no equilibrium was found near", lambda: (PENDULUM, {x: 0.5, y: -1}, [x])),
        (AssemblyError, "keeps what is held: 'rod' misses", lambda: (PENDULUM, {x: 0.5, y: -1}, {x: 3})),
        (InputError, "hold names 'z', which is not a coordinate or rate", lambda: (PENDULUM, {x: 0, y: -1}, ["z"])),
        (InputError, "does not say what y is", lambda: (PENDULUM, {x: 0})),
        (InputError, "a System has no start of its own: give guess", lambda: (PENDULUM,)),
        (InputError, "the equations depend on time itself", lambda: (well(x**2, sp.sin(zw.t)), {x: 0})),
        (InputError, "give numbers, not arrays", lambda: (PENDULUM, {x: [0, 1], y: [0, 1]})),
        (
            InputError,
            "constraint 'drive' does not allow rest: at rest it reads -1 in velocity",
            lambda: (zw.System((x, y), kinetic=TWO, constraints={"drive": x - zw.t}), {x: 0, y: 0}),
        ),
    ],
)
def test_what_is_no_equilibrium_is_refused_by_name(error, words, call):
    with pytest.raises(error, match=words):
        zw.equilibrium(*call())


def test_one_sided_constraints_away_from_their_limit_take_no_part():
    e = zw.equilibrium(zw.System((x,), kinetic=ONE, potential=x**2, constraints={"floor": x >= -1}), {x: 0.1})
    assert e.stable
    assert e.multipliers == {"floor": 0.0}


def test_a_steady_motion_needs_to_know_what_stays_constant():
    with pytest.raises(InputError, match="constant is empty"):
        zw.steady(PENDULUM, {x: 0, y: -1})
    planet = zw.System((x, u), kinetic=(dot(x) ** 2 + (x * dot(u)) ** 2) / 2, potential=-1 / x)
    with pytest.raises(EquilibriumError, match="no steady motion was found near the guess: the rate of u = 1 remains"):
        zw.steady(planet, {x: 1, u: 0, dot(u): 1}, constant=[x, u], hold={dot(u): 1})
    with pytest.raises(InputError, match="constant: t\\*x depends on time itself"):
        zw.steady(planet, {x: 1, u: 0}, constant=[zw.t * x])
    with pytest.raises(InputError, match="constant lists x twice"):
        zw.steady(planet, {x: 1, u: 0}, constant=[x, x])


def test_states_that_say_too_little_leave_stability_open():
    planet = zw.System((x, u), kinetic=(dot(x) ** 2 + (x * dot(u)) ** 2) / 2, potential=-1 / x)
    e = zw.steady(planet, {x: 1, u: 0, dot(u): 1}, constant=[x, dot(x)])
    assert e.stable is None
    assert "does not determine its own rates" in e.verdict


def test_a_chain_of_60_links_hangs_still_and_swings_with_laguerre_s_zeros():
    """Slow modes beside fast ones in 120 coordinates: soft is not degenerate, and the guess is far away in many."""
    system = chain(60)
    straight, rng = hanging(system), np.random.default_rng(0)
    e = zw.equilibrium(system, {q: straight[q] + 0.02 * rng.standard_normal() for q in system.coordinates})
    assert max(abs(e.state[q] - straight[q]) for q in straight) < 1e-11
    assert e.verdict == "stable: the potential energy is smallest here"
    zeros = np.sort(roots_laguerre(60)[0])
    assert frequencies(e) == pytest.approx(np.sqrt(9.81 * zeros), rel=1e-9)


def test_a_heavy_bob_finds_rest_below_a_cart_of_a_millionth_of_its_mass():
    cart_pole = zw.load_model("cart_pole")
    cart, a, b = cart_pole.system.coordinates
    e = zw.equilibrium(cart_pole, {cart: 0, a: 0.5, b: -0.8})
    assert [e.state[a] - e.state[cart], e.state[b]] == pytest.approx([0, -1], abs=1e-12)
    assert e.families == ("x + X",)


def test_a_sleigh_at_rest_is_neutral_and_a_blade_across_a_slope_is_not_told():
    """Pushed, the sleigh glides on; turned a little, the blade begins to slide: all eigenvalues are zero in both."""
    assert zw.equilibrium(zw.load_model("chaplygin_sleigh")).verdict.startswith("neutral: there is no force beside it")
    blade = zw.load_model("knife_edge")
    turned = dict(blade.start_with(None, 0.0)) | {blade.system.coordinates[2]: 0.3}
    assert zw.equilibrium(blade, turned).verdict.startswith("not to be told at first order: 1 eigenvalue zero without")


@pytest.mark.parametrize("name", ["robot_arm", "tall_building", "moving_hoop", "servo", "flyball_governor"])
def test_what_time_drives_has_no_equilibrium_and_says_so(name):
    with pytest.raises(InputError, match="the equations depend on time itself"):
        zw.equilibrium(zw.load_model(name))
