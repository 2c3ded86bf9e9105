"""Rest on contacts: which limits are met and which push, by closed forms, by motions that stay, and in words."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import zwang as zw
from zwang import dot
from zwang import multibody as mb
from zwang.errors import EquilibriumError, InputError

x, y, z, a, b = zw.coordinates("x y z a b")
m, k = zw.parameters("m k")
G = 9.81
TWO = (dot(x) ** 2 + dot(y) ** 2) / 2
ONE = dot(x) ** 2 / 2


def point(**contacts):
    """A point of unit mass above something."""
    return zw.System((x, y), kinetic=TWO, potential=G * y, constraints=contacts)


def line(potential, **contacts):
    """A point on a line."""
    return zw.System((x,), kinetic=ONE, potential=potential, constraints=contacts)


def test_a_point_falls_into_a_bowl_and_swings_there():
    """y ≥ x²: ω² = 2g, by the curvature of the bowl."""
    bowl = point(bowl=y - x**2 >= 0)
    e = zw.equilibrium(bowl, {x: 1, y: 3})
    assert [e.state[x], e.state[y]] == pytest.approx([0, 0], abs=1e-14)
    assert e.multipliers["bowl"] == pytest.approx(G, rel=1e-14)
    assert e.stable
    assert e.verdict == "stable with 'bowl' closed: the potential energy is smallest here"
    assert zw.modes(bowl, e).frequency.values == pytest.approx(np.sqrt(2 * G), rel=1e-13)
    assert zw.linearize(bowl, e, states=[x, dot(x)]).A.values[1] == pytest.approx([-2 * G, 0], rel=1e-13)


def test_on_a_hill_it_stays_only_if_nothing_disturbs_it():
    e = zw.equilibrium(point(hill=y + x**2 >= 0), {x: 0.1, y: 1})
    assert e.stable is False
    assert e.verdict.startswith("unstable with 'hill' closed: a maximum of the potential energy")
    assert e.eigenvalues.real.max() == pytest.approx(np.sqrt(2 * G), rel=1e-13)
    rough = zw.Constraint(y + x**2 >= 0, "hill", friction=0.3, slip=dot(x))
    held = zw.equilibrium(zw.System((x, y), kinetic=TWO, potential=G * y, constraints=[rough]), {x: 0.1, y: 1})
    assert held.stable is None
    assert held.verdict.startswith("not to be told: friction at 'hill' may hold it; without it with 'hill' closed")


def test_between_two_planes_each_pushes_its_share():
    """y ≥ x and y ≥ −2x: forces (−1, 1)λ₁ and (2, 1)λ₂ hold the weight."""
    e = zw.equilibrium(point(left=y - x >= 0, right=y + 2 * x >= 0), {x: 1, y: 5})
    assert [*e.multipliers.values()] == pytest.approx([2 * G / 3, G / 3], rel=1e-14)
    assert e.verdict == "stable with 'left' and 'right' closed: nothing can move"


@settings(max_examples=15)
@given(st.floats(-0.99, 0.99), st.floats(-0.99, 0.99))
def test_a_table_stands_on_four_legs_wherever_its_load_is(p, q):
    """No leg pulls, and forces and moments balance; outside of its feet it would tip."""
    legs = {f"leg {i}": z + s * a + r * b >= 0 for i, (s, r) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)])}
    table = zw.System(
        (z, a, b),
        kinetic=(dot(z) ** 2 + dot(a) ** 2 + dot(b) ** 2) / 2,
        potential=G * (z + p * a + q * b),
        constraints=legs,
    )
    e = zw.equilibrium(table, {z: 1, a: 0.1, b: 0})
    lam = np.array([*e.multipliers.values()])
    assert (lam >= 0).all()
    assert [lam.sum(), lam @ [1, 1, -1, -1], lam @ [1, -1, 1, -1]] == pytest.approx([G, p * G, q * G], abs=1e-12)
    assert not any(e.unique.values())
    assert max(abs(value) for value in e.state.values()) < 1e-13


def test_a_rod_leans_against_a_wall_and_a_rope_is_taut():
    pendulum = point(rod=sp.Eq(x**2 + y**2, 1), wall=x >= sp.Rational(3, 5))
    e = zw.equilibrium(pendulum, {x: 0.8, y: -0.6})
    assert [e.state[x], e.state[y]] == pytest.approx([0.6, -0.8], abs=1e-14)
    assert e.multipliers["wall"] == pytest.approx(G * 0.6 / 0.8, rel=1e-13)  # of the rod's horizontal pull
    taut = zw.equilibrium(point(rope=1 - x**2 - y**2 >= 0), {x: 0.3, y: 0.2})
    assert [taut.state[x], taut.state[y]] == pytest.approx([0, -1], abs=1e-14)
    assert taut.multipliers["rope"] == pytest.approx(G / 2, rel=1e-13)


def test_it_leaves_a_contact_that_would_have_to_pull():
    """A double well with a wall on the slope: from beside the wall, Newton's method runs into it, again and again."""
    e = zw.equilibrium(line((x**2 - 1) ** 2, wall=x >= sp.Rational(3, 10)), {x: 0.35})
    assert e.state[x] == pytest.approx(1, abs=1e-13)
    assert e.multipliers["wall"] == 0
    assert e.verdict == "stable: the potential energy is smallest here"


def test_a_contact_that_touches_without_pushing_may_open():
    touching = line(x**2, wall=x >= 0)
    e = zw.equilibrium(touching, {x: 0.1})
    assert e.stable  # a minimum on both sides
    top = zw.equilibrium(line(-(x**2), wall=x >= 0), {x: 0.1})
    assert top.stable is None
    assert top.verdict.startswith("not to be told at first order: 'wall' touches without pushing; open, it is unstable")
    with pytest.raises(InputError, match="'wall' touches without pushing: what becomes of a disturbance depends on"):
        zw.modes(touching, e)


def test_where_nothing_holds_it_what_remains_is_said():
    with pytest.raises(EquilibriumError, match=r"no equilibrium was found near the guess: y'' = 9\.81 remains"):
        zw.equilibrium(zw.System((x, y), kinetic=TWO, potential=-G * y, constraints={"floor": y >= 0}), {x: 0, y: 1})
    with pytest.raises(InputError, match="beyond the limit of the one-sided constraint 'floor'"):
        zw.modes(point(floor=y >= 0), {x: 0, y: -1})
    with pytest.raises(InputError, match="neither an equilibrium nor steady"):
        zw.linearize(zw.System((x, y), kinetic=TWO, potential=-G * y, constraints={"floor": y >= 0}), {x: 0, y: 0})


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_a_motion_from_an_equilibrium_on_contacts_stays_there(seed):
    """Points on springs between walls and a curved floor, at random."""
    rng = np.random.default_rng(seed)
    u, w = zw.coordinates("u w")
    floor = y - rng.uniform(-0.5, 0.5) * sp.sin(x + rng.uniform(-1, 1))
    second = w - u**2 / 3 + rng.uniform(0, 0.4)
    system = zw.System(
        (x, y, u, w),
        kinetic=TWO + (dot(u) ** 2 + dot(w) ** 2),
        potential=rng.uniform(1, 5) * y + 3 * w + (x - rng.uniform(-1, 1)) ** 2 + ((x - u) ** 2 + (y - w) ** 2) / 2,
        constraints={"floor": floor >= 0, "second": second >= 0, "wall": u + rng.uniform(-0.5, 0.8) >= 0},
    )
    e = zw.equilibrium(system, {x: rng.uniform(-1, 1), y: 2, u: rng.uniform(0.5, 1), w: 2})
    assert min(e.multipliers.values()) >= 0
    motion = zw.simulate(system, e.state, until=2, samples=5)
    assert np.abs(motion.q.values - motion.q.values[0]).max() < 1e-9
    if e.stable:  # a minimum of energy among the states that contacts allow, also a little aside
        potential = sp.lambdify((x, y, u, w), system.potential)
        gaps = sp.lambdify((x, y, u, w), [c.expression for c in system.constraints])
        here = np.array([e.state[c] for c in (x, y, u, w)])
        for aside in 1e-3 * rng.standard_normal((50, 4)):
            if min(gaps(*(here + aside))) >= 0:
                assert potential(*(here + aside)) >= potential(*here)


def test_a_mechanism_rests_on_the_floor():
    ball = mb.PlanarBody("ball", 2, 0.1, position=(0, 3))
    falling = mb.Mechanism(
        [ball],
        forces=[mb.Gravity((0, -G))],
        constraints={"floor": ball.coordinates[1] >= sp.Rational(1, 2), "rail": ball.coordinates[0]},
    )
    e = zw.equilibrium(falling)
    assert e.multipliers["floor"] == pytest.approx(2 * G)
    assert e.families == ("ball.angle",)


def test_a_steady_motion_may_be_on_a_contact():
    """A point that slides round inside a cone, z ≥ r: r ω² = g, and the cone must push."""
    r, phi = zw.coordinates("r phi")
    kinetic = (dot(r) ** 2 + (r * dot(phi)) ** 2 + dot(z) ** 2) / 2
    cone = zw.System((r, phi, z), kinetic=kinetic, potential=G * z, constraints={"cone": z - r >= 0})
    guess = {r: 1, phi: 0, z: 1, dot(phi): 3}
    e = zw.steady(cone, guess, constant=[r, z, dot(r), dot(phi)], hold={r: 1})
    assert e.state[dot(phi)] == pytest.approx(np.sqrt(G), rel=1e-13)
    assert e.multipliers["cone"] == pytest.approx(G, rel=1e-13)
    outside = zw.System((r, phi, z), kinetic=kinetic, potential=-G * z, constraints={"cone": z - r >= 0})
    with pytest.raises(EquilibriumError):
        zw.steady(outside, guess, constant=[r, z, dot(r), dot(phi)], hold={r: 1})
