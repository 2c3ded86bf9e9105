"""Laws that hold for every motion with rough contacts: scenes drawn at random, in the plane and in space."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.motion.contact.scenes import ALL, G, Limit, Scene, at, collision, doubled, shuffled, x, y, z
from zwang import dot

SEEDS = {"box": (0, 1, 2), "points": (0, 1, 2), "ladder": (0, 1), "funnel": (0, 1, 2), "ball": (0, 1)}
DRAWN = [(name, seed) for name, seeds in SEEDS.items() for seed in seeds]


def friction_of(scene: Scene) -> np.ndarray:
    """The coefficients of the contacts, in their order."""
    return np.array([limit.friction for limit in scene.limits.values()])


@pytest.mark.parametrize(("name", "seed"), DRAWN)
@pytest.mark.parametrize("law", ["moreau", "poisson"])
def test_signorini_coulomb_and_the_ledger_hold_at_every_saved_state(name, seed, law):
    require_laws(ALL[name](seed), law)


def require_laws(scene, law, **options):
    motion = scene.run(impacts=law, throw=False, **options)
    gap, normal, friction = motion.gap.values, motion.normal_force.values, motion.friction_force.values
    mode, most = motion["mode"].values, max(float(motion.normal_force.max()), G)
    assert motion.attrs["status"] == "finished", motion.attrs["message"]
    assert gap.min() > -1e-10
    assert normal.min() > -1e-9 * most
    assert np.abs(gap * normal).max() < 1e-9 * most
    assert (normal[mode == "open"] == 0).all()
    assert np.abs(gap[mode != "open"]).max(initial=0) < 1e-10
    assert (np.abs(friction) <= friction_of(scene) * normal + 1e-9 * most).all()
    slip = motion.slip.values
    assert np.abs(slip[mode == "sticking"]).max(initial=0) < 1e-9
    if "slip_vector" in motion:
        power = (motion.slip_vector * motion.friction_vector).sum("direction").values
    else:
        power = slip * friction
    against = -friction_of(scene) * normal * np.abs(slip)
    assert power[mode == "sliding"] == pytest.approx(against[mode == "sliding"], abs=1e-9 * most)
    assert motion.energy_loss.values.min(initial=0) > -1e-12
    assert float(abs(motion.energy_balance).max()) < 1e-9
    # the ledger: nothing moves the surfaces, friction only takes
    assert np.diff(motion.friction_work.values, axis=0).max(initial=0) < 1e-10
    assert float(abs(motion.surface_work).max()) < 1e-13  # γ − n v, in rounding


@pytest.mark.parametrize(("name", "seed"), DRAWN)
def test_names_and_order_of_contacts_make_no_difference(name, seed):
    require_same_in_any_order(ALL[name](seed), seed)


def require_same_in_any_order(scene, seed, off=1e-8):
    limits, old = shuffled(scene, seed + 1)
    one, other = scene.run(), scene.run(limits)
    assert one.attrs["status"] == other.attrs["status"] == "finished"
    assert other.q.values == pytest.approx(one.q.values, abs=off)
    assert other.v.values == pytest.approx(one.v.values, abs=1e3 * off)
    names = [list(scene.limits).index(old[str(n)]) for n in other.contact.values]
    apart = np.min(np.abs(one.time.values[:, None] - np.append(one.transition_time.values, -1.0)), axis=1) > 1e-6
    assert (other["mode"].values[apart] == one["mode"].values[apart][:, names]).all()
    assert other.transition_kind.values.tolist() == one.transition_kind.values.tolist()
    assert other.transition_time.values == pytest.approx(one.transition_time.values, abs=1e-7)
    assert other.energy_loss.values == pytest.approx(one.energy_loss.values, abs=1e-7)


@pytest.mark.parametrize(("name", "seed"), [case for case in DRAWN if case[0] != "ball"])
def test_contacts_said_twice_make_the_same_motion(name, seed):
    require_same_doubled(ALL[name](seed))


def require_same_doubled(scene, off=1e-8):
    one, other = scene.run(), scene.run(doubled(scene))
    k = len(scene.limits)
    assert other.attrs["status"] == "finished", other.attrs["message"]
    assert other.q.values == pytest.approx(one.q.values, abs=off)
    both = other.normal_force.values[:, :k] + other.normal_force.values[:, k:]
    assert both == pytest.approx(one.normal_force.values, abs=1e4 * off)
    if "friction_vector" in one:
        pair = other.friction_vector.values[:, :k] + other.friction_vector.values[:, k:]
        assert pair == pytest.approx(one.friction_vector.values, abs=1e4 * off)
    else:
        pair = other.friction_force.values[:, :k] + other.friction_force.values[:, k:]
        assert pair == pytest.approx(one.friction_force.values, abs=1e4 * off)
    assert other.energy.values == pytest.approx(one.energy.values, abs=1e2 * off)


def far_from(scene):
    """Limits that are never met."""
    q = scene.coordinates
    return {
        "far": Limit(q[0] + 300, 0.4, 0.3, dot(q[1])),
        "farther": Limit(400 - q[0] - q[1] / 2, 0.0, 1.0, None),
    }


@pytest.mark.parametrize(("name", "seed"), [case for case in DRAWN if case[0] in ("box", "points")])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.by_size(reason="contacts run on straight-line code, and bits are of one kind of code")
def test_limits_that_are_never_met_change_no_bit_of_a_motion_with_contacts(name, seed, first):
    require_same_bits(ALL[name](seed), first)


def require_same_bits(scene, first):
    far = far_from(scene)
    limits = far | dict(scene.limits) if first else dict(scene.limits) | far
    one, other = scene.run(), scene.run(limits)
    assert other.attrs["steps"] == one.attrs["steps"]
    assert other.transition_kind.values.tolist() == one.transition_kind.values.tolist()
    for name in ("q", "v", "a", "energy"):
        assert np.array_equal(one[name].values, other[name].values)


@pytest.mark.parametrize(("name", "seed"), DRAWN)
def test_limits_that_are_never_met_make_no_difference(name, seed):
    """Bits of small numbers may differ, for rows are eliminated in another order."""
    scene = ALL[name](seed)
    one, other = scene.run(), scene.run(far_from(scene) | dict(scene.limits))
    assert other.transition_kind.values.tolist() == one.transition_kind.values.tolist()
    assert other.q.values == pytest.approx(one.q.values, abs=1e-10)


def rail(seed, space=False):
    """A bead that is pushed about on a rough curve, or on a rough surface; as equality and as two limits."""
    rng, t = np.random.default_rng(seed), zw.t
    mu = float(rng.uniform(0.05, 0.5))
    e = rng.uniform(-0.4, 0.4, 5)
    q = (x, y, z) if space else (x, y)
    up = q[-1]
    bed = e[0] * x + e[1] * x**2 / 2 + (e[2] * y + e[3] * x * y if space else e[2] * x**3 / 6)
    slip: object = dot(x) + sp.diff(bed, x) * dot(up)
    if space:
        slip = (slip, dot(y) + sp.diff(bed, y) * dot(up))
    gap = up - bed
    law = {"friction": mu, "slip": slip}
    push = {c: rng.uniform(3, 15) * sp.sin(rng.uniform(1, 4) * t + rng.uniform(0, 6)) for c in q}
    both = {"one": Limit(gap, mu, 0.0, slip), "two": Limit(-gap, mu, 0.0, slip)}
    kinetic = sum(dot(c) ** 2 for c in q) / 2 * float(rng.uniform(0.5, 2))
    speeds = rng.uniform(-1, 1, len(q))
    speeds[-1] = e[0] * speeds[0] + (e[2] * speeds[1] if space else 0)
    scene = Scene(q, kinetic, 4 * sum(c**2 for c in q[:-1]) + up, at(q, np.zeros(len(q)), speeds), both, 2.0, push)
    guide = zw.System(
        q, kinetic=scene.kinetic, potential=scene.potential, forces=dict(push),
        constraints=[zw.Constraint(sp.Eq(gap, 0), "rail", **law)],
    )  # fmt: skip
    return scene, guide


@pytest.mark.parametrize("space", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_rough_guide_is_two_opposed_limits(seed, space):
    require_guide_is_two_limits(seed, space)


def require_guide_is_two_limits(seed, space, off=1e-9):
    scene, guide = rail(seed, space)
    one, two = zw.simulate(guide, dict(scene.start), scene.until), scene.run()
    assert one.attrs["status"] == two.attrs["status"] == "finished"
    assert two.q.values == pytest.approx(one.q.values, abs=off)
    pushed = two.normal_force.values[:, 0] - two.normal_force.values[:, 1]
    assert pushed == pytest.approx(one.normal_force.values[:, 0], abs=1e4 * off)
    key = "friction_vector" if space else "friction_force"
    assert two[key].values.sum(axis=1) == pytest.approx(one[key].values[:, 0], abs=1e4 * off)
    kinds = ("stick", "slide", "reverse")
    mine, theirs = (m.transition_time.values[np.isin(m.transition_kind.values, kinds)] for m in (one, two))
    assert theirs == pytest.approx(mine, abs=1e-8)


@pytest.mark.parametrize("rough", [False, True])
@pytest.mark.parametrize(("seed", "contacts", "space"), [(0, 2, False), (1, 3, False), (2, 4, False), (3, 2, True)])
def test_carnot_plastic_impacts_lose_the_energy_of_lost_velocities_and_what_is_rubbed_away(
    seed, contacts, space, rough
):
    require_carnot(seed, contacts, rough, space)


def require_carnot(seed, contacts, rough, space):
    """T⁻ − T⁺ = ½|v⁻ − v⁺|²_M + Σ μ Λ |γ_T⁺|, since Λγ⁺ = 0 and friction is opposed to the slip after."""
    system, start, (M, normals, mu, slips) = collision(seed, contacts, rough, space)
    for law in ("moreau", "poisson"):
        motion = zw.simulate(system, start, 1e-9, samples=2, impacts=law)
        before, after = motion.velocity_before.values[0], motion.velocity_after.values[0]
        assert motion.transition_kind.values[0] == "impact"
        lost, impulse = before - after, motion.impulse.values[0]
        rubbed = np.linalg.norm((slips @ after).reshape(contacts, -1), axis=1)
        carnot = lost @ M @ lost / 2
        assert motion.energy_loss.values[0] == pytest.approx(carnot + (mu * impulse) @ rubbed, rel=1e-11)
        assert motion.energy_loss.values[0] >= carnot * (1 - 1e-12)
        assert np.abs(impulse * (normals @ after)).max() < 1e-11
        assert (normals @ after).min() > -1e-11
        assert impulse.min() >= -1e-11
        if not rough:
            known = zw.solve(M, M @ before, normals, np.zeros(contacts), one_sided=np.ones(contacts, bool))
            assert after == pytest.approx(known.acceleration, abs=1e-11)
