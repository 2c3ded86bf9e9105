"""Equalities with friction: guides, wires and rails that press either way."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import InputError

dot = zw.dot
KINDS = {"stick", "slide", "reverse", "impact"}


def on_a_rail(sides, mu=(0.4, 0.3), push=None, **more):
    """A point on a horizontal rail, pushed along it and across; the rail as one equality, or as two limits."""
    x, y = zw.coordinates("x y")
    law = {"friction": mu, "slip": dot(x)}
    rules = [zw.Constraint(sp.Eq(y, 0), "rail", **law)]
    if sides == 2:
        rules = [zw.Constraint(y >= 0, "rail", **law), zw.Constraint(y <= 0, "lid", **law)]
    push = push or {x: 1 + sp.sin(zw.t), y: 15 * sp.sin(3 * zw.t)}
    return zw.System(
        (x, y), kinetic=(dot(x)**2 + dot(y)**2)/2, potential=9.81*y, forces=push, constraints=rules, **more
    )  # fmt: skip


def start(speed=1.0):
    x, y = zw.coordinates("x y")
    return {x: 0, y: 0, dot(x): speed, dot(y): 0}


def test_j1_a_bead_on_a_rough_turning_wire():
    # r'' + 2μωr' − ω²r = 0, numbers of 40 digits: the normal of the wire has unit length, so that λ is the force
    x, y = zw.coordinates("x y")
    c, s = sp.cos(2 * zw.t), sp.sin(2 * zw.t)
    wire = zw.Constraint(y * c - x * s, "wire", friction=0.3, slip=dot(x * c + y * s))
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=[wire])
    motion = zw.simulate(system, {x: 0.1, y: 0, dot(x): 0, dot(y): 0.2}, 2.0, times=[1.0])
    for i, (r, v) in enumerate(
        [(0.28747458117379401949, 0.41765909761057117456), (1.2625141527526744195, 1.8780101177298441979)]
    ):
        assert np.hypot(*motion.q.values[i]) == pytest.approx(r, rel=1e-11)
        assert motion.slip.values[i, 0] == pytest.approx(v, rel=1e-11)
    assert motion.normal_force.values[1, 0] == pytest.approx(4 * 1.8780101177298441979, rel=1e-10)
    assert motion.doubts == ""


def test_j2_a_bead_on_a_rough_hoop_never_stops():
    x, y = zw.coordinates("x y")
    hoop = zw.Constraint(x**2 + y**2 - 0.25, "hoop", friction=0.25, slip=2 * (x * dot(y) - y * dot(x)))
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=[hoop])
    motion = zw.simulate(system, {x: 0.5, y: 0, dot(x): 0, dot(y): 2}, 3.0)
    assert motion.slip.values[-1, 0] == pytest.approx(0.5, rel=1e-11)
    assert set(motion["mode"].values[:, 0]) == {"sliding"}
    assert motion.sizes["transition"] == 0


def test_a_guide_is_two_opposed_limits():
    one, two = (zw.simulate(on_a_rail(sides), start(), 6.0) for sides in (1, 2))
    assert one.q.values == pytest.approx(two.q.values, abs=1e-11)
    assert one.friction_force.values[:, 0] == pytest.approx(two.friction_force.values.sum(axis=1), abs=1e-9)
    assert one.normal_force.values[:, 0] == pytest.approx(
        two.normal_force.values[:, 0] - two.normal_force.values[:, 1], abs=1e-9
    )
    assert set(one.transition_kind.values) <= KINDS  # signs of multipliers change on the way, and are no transitions
    assert one.normal_force.values.max() > 0
    assert one.normal_force.values.min() < 0
    kept = np.isin(two.transition_kind.values, list(KINDS))
    assert one.transition_time.values == pytest.approx(two.transition_time.values[kept], rel=1e-10)


def test_a_guide_is_the_floor_while_it_pushes():
    x, y = zw.coordinates("x y")
    push = {x: 4 * sp.sin(2 * zw.t)}
    floor = zw.Constraint(y >= 0, "floor", friction=(0.4, 0.3), slip=dot(x))
    guide = zw.simulate(on_a_rail(1, push=push), start(), 6.0)
    plain = zw.System(
        (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y, forces=push, constraints=[floor]
    )
    other = zw.simulate(plain, start(), 6.0)
    assert np.array_equal(guide.q.values, other.q.values)
    assert guide.transition_kind.values.tolist() == other.transition_kind.values.tolist()
    assert guide.energy.values == pytest.approx(other.energy.values, rel=1e-13)


def test_sliding_is_that_of_a_nonideal_force():
    x, y = zw.coordinates("x y")
    along = x * dot(y) - y * dot(x)
    hoop = zw.Constraint((x**2 + y**2 - 1) / 2, "hoop", friction=0.1, slip=along)
    rub = 0.1 * sp.Abs(zw.multiplier("hoop")) * sp.sign(along)
    energies = {"kinetic": (dot(x) ** 2 + dot(y) ** 2) / 2, "potential": 9.81 * y}
    guide = zw.System((x, y), constraints=[hoop], **energies)
    force = zw.System((x, y), constraints={"hoop": hoop.expression}, nonideal={x: rub * y, y: -rub * x}, **energies)
    begin = {x: 0, y: -1, dot(x): 7, dot(y): 0}
    one, other = (zw.simulate(system, begin, 0.9) for system in (guide, force))
    assert one.q.values == pytest.approx(other.q.values, abs=1e-11)
    assert one.transition_kind.values.tolist() == ["reverse"]


def test_a_bead_on_a_hoop_comes_to_rest_where_friction_holds_it():
    x, y = zw.coordinates("x y")
    hoop = zw.Constraint((x**2 + y**2 - 1) / 2, "hoop", friction=0.3, slip=x * dot(y) - y * dot(x))
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y, constraints=[hoop])
    motion = zw.simulate(system, {x: 0, y: -1, dot(x): 3, dot(y): 0}, 10.0)
    assert motion["mode"].values[-1, 0] == "sticking"
    assert np.abs(motion.v.values[-1]).max() < 1e-14
    assert abs(motion.q.values[-1, 0]) / -motion.q.values[-1, 1] < 0.3
    assert motion.transition_kind.values[-1] == "stick"
    assert motion.friction_force.values[-1, 0] == pytest.approx(9.81 * motion.q.values[-1, 0], rel=1e-9)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_stop_on_a_rough_slope_pushes_the_guide_too(restitution):
    # v⁺ = ε u along the slope; across: Λ = P sin; along: (1 + ε) u = P (cos − μ sin) while it slides after
    x, y = zw.coordinates("x y")
    c, s, mu, u = 0.8, 0.6, 0.5, 2.0
    rail = zw.Constraint(c * y - s * x, "rail", friction=mu, slip=c * dot(x) + s * dot(y))
    wall = zw.Constraint(x >= 0, "wall", restitution=restitution)
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=[rail, wall])
    begin = {x: 0.4, y: 0.3, dot(x): -u * c, dot(y): -u * s}
    motion = zw.simulate(system, begin, 0.6)
    assert motion.transition_kind.values[0] == "impact"
    assert motion.contact.values.tolist() == ["rail", "wall"]
    after = motion.velocity_after.values[0]
    assert after == pytest.approx([restitution * u * c, restitution * u * s], abs=1e-12)
    rail_push, push = motion.impulse.values[0]
    assert rail_push == pytest.approx(s * push, rel=1e-12)
    if restitution:
        assert push == pytest.approx((1 + restitution) * u / (c - mu * s), rel=1e-12)
    assert motion.energy_loss.values[0] == pytest.approx((1 - restitution**2) * u**2 / 2, rel=1e-12)


def test_a_guide_may_be_given_on_velocities_and_beside_others():
    x, y, z = zw.coordinates("x y z")
    rules = [
        zw.Constraint(dot(y) - 0.5 * dot(x), "skate", friction=0.2, slip=dot(x) + 0.5 * dot(y)),
        zw.Constraint(z, "table", friction=0.1, slip=dot(x)),
    ]
    energies = {"kinetic": (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2, "potential": 9.81 * z}
    begin = {x: 0, y: 0, z: 0, dot(x): 2, dot(y): 1, dot(z): 0}
    forces = {y: -3 * sp.cos(zw.t)}
    one = zw.simulate(zw.System((x, y, z), constraints=rules, forces=forces, **energies), begin, 1.5)
    other = zw.simulate(zw.System((x, y, z), constraints=rules[::-1], forces=forces, **energies), begin, 1.5)
    assert one.q.values == pytest.approx(other.q.values, abs=1e-12)
    assert one.contact.values.tolist() == other.contact.values.tolist()[::-1]
    # ledger: what is lost is the work of friction
    assert one.doubts == ""
    assert one.status == "finished"


def test_redundant_rows_are_refused_by_name():
    x, y = zw.coordinates("x y")
    rules = [zw.Constraint(y, "rail", friction=0.2, slip=dot(x)), zw.Constraint(2 * y, "again")]
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=9.81 * y, constraints=rules)
    with pytest.raises(InputError, match=r"'rail'.*not unique"):
        zw.simulate(system, start(), 1.0)


def test_what_does_not_know_guides_says_so():
    x, y = zw.coordinates("x y")
    with pytest.raises(InputError, match="'rail' has friction"):
        zw.sensitivities(on_a_rail(1), start(), 1.0, [dot(x)])
    given = zw.Constraint(dot(dot(y)), "rail", friction=0.2, slip=dot(x))
    with pytest.raises(InputError, match="'rail' is an equality with friction: on accelerations"):
        zw.simulate(zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=[given]), start(), 1.0)


def test_many_motions_are_those_of_one():
    x, y = zw.coordinates("x y")
    speeds = [0.5, 1.0]
    many = zw.simulate_many(on_a_rail(1), {x: 0, y: 0, dot(x): np.array(speeds), dot(y): 0}, 3.0, samples=7)
    for i, speed in enumerate(speeds):
        one = zw.simulate(on_a_rail(1), start(speed), 3.0, samples=7)
        assert many.q.values[i] == pytest.approx(one.q.values, abs=1e-12)
        assert many.normal_force.values[i] == pytest.approx(one.normal_force.values, abs=1e-9)


def test_a_model_file_has_guides(tmp_path):
    text = """
[coordinates]
x = { start = 0.0, rate = 1.0 }
y = 0.0
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[forces]
x = "4*sin(2*t)"
[constraints]
rail = { rule = "y = 0", friction = [0.4, 0.3], slip = "x'" }
[run]
until = 6.0
"""
    path = tmp_path / "rail.toml"
    path.write_text(text)
    model = zw.load_model(path)
    motion = model.simulate()
    x, _y = zw.coordinates("x y")
    other = zw.simulate(on_a_rail(1, push={x: 4 * sp.sin(2 * zw.t)}), start(), 6.0)
    assert motion.q.values == pytest.approx(other.q.values, abs=1e-12)
    zw.save_model(model, tmp_path / "again.toml")
    assert zw.load_model(tmp_path / "again.toml").system == model.system


def test_guides_that_stick_share_what_holds_them():
    # a drawer between two rough rails, pushed: it holds up to μ(N₁ + N₂), whoever bears how much of it
    x, y, z = zw.coordinates("x y z")
    rules = [
        zw.Constraint(y, "floor", friction=0.2, slip=dot(x)),
        zw.Constraint(z, "side", friction=0.1, slip=dot(x)),
    ]
    drawer = zw.System(
        (x, y, z), kinetic=(dot(x)**2 + dot(y)**2 + dot(z)**2)/2, potential=9.81*y, forces={x: zw.t, z: -5},
        constraints=rules,
    )  # fmt: skip
    motion = zw.simulate(drawer, dict.fromkeys((x, y, z, dot(x), dot(y), dot(z)), 0.0), 4.0)
    holds = 0.2 * 9.81 + 0.1 * 5
    assert motion.transition_time.values == pytest.approx([holds], rel=1e-12)
    assert motion.q.values[-1, 0] == pytest.approx((4 - holds) ** 3 / 6, rel=1e-11)
    sticking = motion["mode"].values[:, 0] == "sticking"
    held = motion.friction_force.values[sticking]
    assert held.sum(axis=1) == pytest.approx(-motion.time.values[sticking], abs=1e-12)
    assert (np.abs(held) <= np.array([0.2 * 9.81, 0.5]) + 1e-9).all()
    assert motion.normal_force.values == pytest.approx(np.tile([9.81, 5.0], (motion.sizes["time"], 1)), rel=1e-12)
