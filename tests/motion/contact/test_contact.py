"""Laws of motion with contacts: what holds for every system, not for one."""

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import contact
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InputError
from zwang.motion.compare import compare_forms
from zwang.motion.independent import compare_derivation

x, y = zw.coordinates("x y")


def particle(constraints, potential=9.81 * y, forces=None):
    """A particle of unit mass in the plane."""
    kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
    return zw.System((x, y), kinetic=kinetic, potential=potential, forces=forces, constraints=constraints)


def at(px, py, vx=0.0, vy=0.0):
    """A start."""
    return {x: px, y: py, dot(x): vx, dot(y): vy}


def random_box(seed):
    """A box with a few limits around a ball that has a spring, in a field: whatever happens in it."""
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.uniform(0.2, 1.0, 4)
    limits = {
        "floor": y - a * x / 4 + 1,
        "wall": 1 + x - b * y**2 / 4,
        "dome": 4 - x**2 - y**2 + c * x / 4,
        "ceiling": 1.5 - y,
    }
    rules = [zw.Constraint(gap, name, one_sided=True, restitution=float(rng.choice([0, 0.3, 0.7, 1])))
             for name, gap in limits.items()]  # fmt: skip
    potential = 5 * y + d * (x**2 + y**2) / 2
    return particle(rules, potential), at(*rng.uniform(-0.4, 0.4, 2), *rng.uniform(-3, 3, 2))


@pytest.mark.parametrize("seed", range(12))
def test_contacts_push_or_are_open_and_energy_is_accounted_for(seed):
    system, start = random_box(seed)
    motion = zw.simulate(system, start, until=4)
    gap, force, mode = motion.gap.values, motion.normal_force.values, motion["mode"].values
    assert gap.min() > -1e-11
    assert force.min() > -1e-9
    assert np.abs(gap * force).max() < 1e-9
    assert (force[mode == "open"] == 0).all()
    assert np.abs(gap[mode == "closed"]).max(initial=0) < 1e-11
    assert (motion.energy_loss.values > -1e-14).all()
    assert float(abs(motion.energy_balance).max()) < 1e-10
    lost = motion.energy.values[0] - motion.energy.values[-1]
    assert abs(lost - motion.energy_loss.values.sum()) < 1e-10
    assert motion.sizes["transition"] >= 2


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_the_order_of_constraints_does_not_matter(seed):
    system, start = random_box(seed)
    turned = zw.System(
        system.coordinates, kinetic=system.kinetic, potential=system.potential, constraints=system.constraints[::-1]
    )
    one, other = (zw.simulate(s, start, until=3) for s in (system, turned))
    assert one.transition_kind.values.tolist() == other.transition_kind.values.tolist()
    assert one.transition_contact.values.tolist() == other.transition_contact.values.tolist()
    assert np.abs(one.q.values - other.q.values).max() < 1e-9


def test_a_plastic_impact_loses_the_energy_of_the_velocities_lost():
    motion = zw.simulate(*contact.tether(), until=1)
    lost = motion.velocity_after.values[0] - motion.velocity_before.values[0]
    assert abs(motion.energy_loss.values[0] - lost @ lost / 2) < 1e-14  # Carnot, with unit mass


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.by_size(reason="contacts run on straight-line code, and bits are of one kind of code")
def test_limits_that_are_never_met_change_no_bit(first):
    rod, floor = zw.Constraint((x**2 + y**2 - 1) / 2, "rod"), zw.Constraint(y >= -2, "floor", restitution=0.5)
    plain = zw.simulate(particle([rod]), at(1, 0), until=5)
    rules = [floor, rod] if first else [rod, floor]
    watched = zw.simulate(particle(rules), at(1, 0), until=5)
    assert plain.attrs["steps"] == watched.attrs["steps"]
    assert watched.sizes["transition"] == 0
    for name in ("q", "v", "a", "constraint_force", "energy", "energy_balance"):
        assert np.array_equal(plain[name].values, watched[name].values)


def test_a_contact_said_twice_changes_nothing_but_how_forces_are_shared():
    height = zw.coordinates("y")
    once = contact.points("y", [zw.Constraint(height >= 0, "floor", restitution=0.8)], 9.81 * height)
    floors = [zw.Constraint(k * height >= 0, name, restitution=0.8) for k, name in ((1, "floor"), (2, "twin"))]
    twice = contact.points("y", floors, 9.81 * height)
    one, two = (zw.simulate(s, {height: 1, dot(height): 0}, until=5) for s in (once, twice))
    assert np.abs(one.q.values - two.q.values).max() < 1e-14
    assert two.normal_force.values[-1] == pytest.approx([9.81 / 5, 9.81 * 2 / 5], rel=1e-14)  # the shortest
    assert not two.unique.any()
    assert one.unique.all()


def test_three_supports_share_a_load_in_the_shortest_way():
    height, turn = zw.coordinates("y theta")
    legs = [zw.Constraint(height + s * sp.sin(turn) >= 0, f"leg {s}") for s in (-1, 0, 1)]
    kinetic = (dot(height) ** 2 + dot(turn) ** 2 / 3) / 2
    beam = zw.System((height, turn), kinetic=kinetic, potential=9.81 * height, constraints=legs)
    motion = zw.simulate(beam, {height: 1, turn: 0, dot(height): 0, dot(turn): 0}, until=1)
    assert (motion["mode"].values[-1] == "closed").all()
    assert motion.normal_force.values[-1] == pytest.approx([3.27] * 3)


def test_a_guide_is_two_opposed_limits():
    path, forces = y - x**2, {x: sp.sin(zw.t), y: sp.cos(3 * zw.t)}
    guide = zw.simulate(particle([zw.Constraint(path, "guide")], 0, forces), at(0, 0, 1, 0), until=5)
    limits = [zw.Constraint(path >= 0, "low"), zw.Constraint(path <= 0, "high")]
    limited = zw.simulate(particle(limits, 0, forces), at(0, 0, 1, 0), until=5)
    assert np.abs(guide.q.values - limited.q.values).max() < 1e-10
    force = limited.normal_force.values
    assert np.abs(force[:, 0] - force[:, 1] - guide.multiplier.values[:, 0]).max() < 1e-10


@pytest.mark.parametrize("method", ["native", "taylor", "radau", "lsoda"])
def test_every_engine_that_finds_events_finds_contacts(method):
    if method == "taylor":
        pytest.importorskip("heyoka")
    tol = 1e-12 if method in ("native", "taylor") else 1e-9
    motion = zw.simulate(*contact.tether(), until=3, method=method, tol=tol)
    assert motion.transition_kind.values.tolist() == ["impact", "lift", "impact"]
    truth = [float(entry["t"]) for entry in contact.expected("n1-tether")["log"]]
    assert np.abs(motion.transition_time.values - truth).max() < 1e4 * tol


@pytest.mark.parametrize("turn", [0, 0.1, 0.3, -0.7])
def test_a_box_that_is_dropped_comes_to_rest_on_its_corners(turn):
    px, py, angle = q = zw.coordinates("x y theta")
    corners = [py + s * sp.sin(angle) - sp.cos(angle) / 2 for s in (-1, 1)]
    rules = [zw.Constraint(c >= 0, n, restitution=0.3) for c, n in zip(corners, ("left", "right"), strict=True)]
    kinetic = (dot(px) ** 2 + dot(py) ** 2 + sp.Rational(5, 12) * dot(angle) ** 2) / 2
    box = zw.System(q, kinetic=kinetic, potential=9.81 * py, constraints=rules)
    start = {px: 0, py: 2, angle: turn, dot(px): 1, dot(py): 0, dot(angle): 0}
    motion = zw.simulate(box, start, until=4)
    assert motion.attrs["status"] == "finished"
    assert "accumulation" in motion.transition_kind.values
    assert motion.q.values[-1] == pytest.approx([4, 0.5, 0], abs=1e-11)
    assert motion.normal_force.values[-1] == pytest.approx([4.905, 4.905])
    assert motion.gap.values.min() > -1e-11


def test_grazing_is_a_touch_and_goes_on():
    # a throw whose highest point is the ceiling
    ceiling = zw.Constraint(y <= 1, "ceiling")
    motion = zw.simulate(particle([ceiling], 8 * y), at(0, 0, 1, 4), until=1)
    assert motion.transition_kind.values.tolist() == ["touch"]
    assert motion.transition_time.values[0] == pytest.approx(0.5, abs=1e-7)
    assert motion.q.values[-1] == pytest.approx([1, 0], abs=1e-12)


@pytest.mark.parametrize("above", [1e-4, 1e-7, 1e-10, 1e-12])
@pytest.mark.parametrize(("method", "tol"), [("native", 1e-6), ("native", 1e-12), ("taylor", 1e-9), ("radau", 1e-6)])
def test_a_dip_beyond_a_limit_is_met_however_short(above, method, tol):
    if method == "taylor":
        pytest.importorskip("heyoka")
    ceiling = zw.Constraint(y <= 1 - above, "ceiling", restitution=1)
    motion = zw.simulate(particle([ceiling], 8 * y), at(0, 0, 1, 4), until=1, method=method, tol=tol)
    assert motion.transition_kind.values.tolist() == ["impact"]
    assert motion.gap.values.min() > -1e-12


@pytest.mark.parametrize("above", [1e-4, 1e-8, 1e-11, 1e-12, -1e-12, -1e-9])
@pytest.mark.parametrize("tol", [1e-10, 1e-12, 1e-14])
def test_a_dip_of_an_oscillation_is_met_if_it_is_larger_than_errors(above, tol):
    ceiling = zw.Constraint(y <= 1 - above, "ceiling", restitution=1)
    motion = zw.simulate(particle([ceiling], (x**2 + y**2) / 2), at(1, 0, 0, 1), until=2, method="native", tol=tol)
    if abs(above) >= 10 * tol:
        assert motion.transition_kind.values.tolist() == (["impact"] if above > 0 else [])
    assert motion.gap.values.min() > -10 * tol - 1e-13


def test_events_of_the_user_are_found_between_impacts_and_may_stop():
    system, start = contact.ball(0.8)
    height = system.coordinates[0]
    events = [zw.Event(dot(height), "top", direction=-1), zw.Event(zw.multiplier("floor") - 1, "rests", stop=True)]
    motion = zw.simulate(system, start, until=5, events=events)
    tops = motion.event_name.values.tolist().count("top")
    assert tops == (motion.transition_kind.values == "impact").sum() - 1  # one between each two of them
    assert tops > 20
    half = zw.simulate(system, start, until=5, events=[zw.Event(height - start[height] / 2, "half", stop=True)])
    assert half.attrs["status"] == "event"
    assert half.event_time.values[-1] == pytest.approx(np.sqrt(start[height] / 9.81))  # h/2 = g t²/2


def test_a_start_beyond_a_limit_is_refused_with_its_depth():
    with pytest.raises(InputError, match=r"the start is beyond the limit 'floor' by 0.25: .* move the start back"):
        zw.simulate(particle([zw.Constraint(y >= 0, "floor")]), at(0, -0.25), until=1)


def test_a_start_at_a_limit_and_moving_into_it_is_an_impact():
    motion = zw.simulate(particle([zw.Constraint(y >= 0, "floor", restitution=0.5)]), at(0, 0, 1, -2), until=0.1)
    assert motion.transition_kind.values.tolist() == ["impact"]
    assert motion.transition_time.values[0] == 0
    assert motion.v.values[0].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("rule", "options", "words"),
    [
        (zw.Constraint(dot(dot(y)), "rail", friction=0.3, slip=dot(x)), {}, "'rail' is an equality with friction"),
        (
            zw.Constraint(y >= 0, "floor", friction=0.3, slip=dot(x)),
            {"impacts": "sequential"},
            "impacts='sequential' is not available with friction",
        ),
        (zw.Constraint(dot(dot(y)) >= 0, "drive"), {}, "'drive' is one-sided at acceleration level"),
        (zw.Constraint(y >= 0, "floor"), {"impacts": "newton"}, "impacts='newton' is unknown: choose one of 'moreau'"),
        (zw.Constraint(y >= 0, "floor"), {"contacts": "steps"}, "contacts='steps' needs the length of a step"),
        (zw.Constraint(y >= 0, "floor"), {"contacts": "soft"}, "contacts='soft' is unknown"),
        (
            zw.Constraint(y >= 0, "floor"),
            {"form": "gibbs-appell"},
            "form='gibbs-appell' is not integrated with contacts",
        ),
        (zw.Constraint(y >= 0, "floor"), {"precision": "quad"}, "in double precision"),
    ],
)
def test_what_is_not_integrated_is_refused_by_name(rule, options, words):
    with pytest.raises(InputError) as caught:
        zw.simulate(particle([rule]), at(0, 1), until=1, **options)
    assert words in str(caught.value)


def test_a_restitution_is_held_to_its_range_when_its_value_is_known():
    e = zw.parameters("e")
    system = particle([zw.Constraint(y >= 0, "floor", restitution=e)])
    with pytest.raises(InputError, match=r"constraint 'floor': restitution is 1\.5"):
        zw.simulate(system, at(0, 1), until=1, parameters={e: 1.5})


def rough_box(seed):
    """A particle between rough limits of all kinds, with a spring, in a field."""
    rng = np.random.default_rng(seed)
    a, b, c, d, mu = *rng.uniform(0.2, 1.0, 4), float(rng.uniform(0.05, 1.2))
    gaps = {
        "floor": y - a * x / 4 + 1,
        "wall": 1 + x - b * y / 4,
        "dome": 2 - sp.sqrt(x**2 + y**2) + c * x / 8,
        "ceiling": 1.5 - y,
    }
    rules = []
    for name, gap in gaps.items():
        slip = gap.diff(x) * dot(y) - gap.diff(y) * dot(x)  # along the surface, in the length of the gap's gradient
        rebound = float(rng.choice([0, 0.3, 0.7]))
        rules.append(zw.Constraint(gap, name, one_sided=True, restitution=rebound, friction=mu, slip=slip))
    return particle(rules, 5 * y + d * (x**2 + y**2) / 2), at(*rng.uniform(-0.3, 0.3, 2), *rng.uniform(-3, 3, 2)), mu


@pytest.mark.parametrize("seed", range(10))
def test_friction_stays_in_its_cone_opposes_slip_and_is_accounted_for(seed):
    system, start, mu = rough_box(seed)
    motion = zw.simulate(system, start, until=5)
    gap, normal, friction = motion.gap.values, motion.normal_force.values, motion.friction_force.values
    mode, slip = motion["mode"].values, motion.slip.values
    assert gap.min() > -1e-11
    assert normal.min() > -1e-9
    assert (np.abs(friction) - mu * normal).max() < 1e-9
    assert (friction * slip).max() < 1e-12
    slides = mode == "sliding"
    assert np.abs(np.abs(friction[slides]) - mu * normal[slides]).max(initial=0) < 1e-9
    assert np.abs(slip[mode == "sticking"]).max(initial=0) < 1e-11
    assert (friction[mode == "open"] == 0).all()
    assert (motion.energy_loss.values > -1e-13).all()
    assert float(abs(motion.energy_balance).max()) < 1e-10


def test_friction_of_nothing_is_no_friction():
    mu = zw.parameters("mu")
    rough = particle([zw.Constraint(y >= 0, "floor", restitution=0.5, friction=mu, slip=dot(x))])
    smooth = particle([zw.Constraint(y >= 0, "floor", restitution=0.5)])
    one = zw.simulate(rough, at(0, 1, 1, 0), until=2, parameters={mu: 0})
    other = zw.simulate(smooth, at(0, 1, 1, 0), until=2)
    assert np.abs(one.q.values - other.q.values).max() < 1e-13
    assert one.transition_kind.values.tolist() == other.transition_kind.values.tolist()


def test_a_ladder_leaves_a_rough_wall():
    px, py, turn = q = zw.coordinates("x y theta")
    s, c = sp.sin(turn), sp.cos(turn)
    foot, head = (px - c, py - s), (px + c, py + s)
    rules = [
        zw.Constraint(foot[1], "floor", one_sided=True, friction=0.2, slip=dot(foot[0])),
        zw.Constraint(-head[0], "wall", one_sided=True, friction=0.1, slip=dot(head[1])),
    ]
    kinetic = (dot(px) ** 2 + dot(py) ** 2 + dot(turn) ** 2 / 3) / 2
    ladder = zw.System(q, kinetic=kinetic, potential=9.81 * py, constraints=rules)
    start = {px: -sp.cos(1.0), py: sp.sin(1.0), turn: 1.0} | {dot(z): 0 for z in q}
    motion = zw.simulate(ladder, start, until=1)
    assert motion.transition_kind.values[0] == "lift"
    assert motion.transition_contact.values[0] == "wall"
    assert motion["mode"].values[0].tolist() == ["sliding", "sliding"]
    assert float(abs(motion.energy_balance).max()) < 1e-10


def test_another_derivation_agrees_with_motions_in_contact_and_leaves_out_friction():
    motion = zw.simulate(*contact.tether(), until=4)
    assert {*motion["mode"].values.ravel().tolist()} == {"open", "closed"}
    assert compare_derivation(contact.tether()[0], motion).error < 1e-9
    rough = zw.simulate(*contact.incline(0.7), until=1)
    assert "friction" in compare_derivation(contact.incline(0.7)[0], rough).note


def test_evaluate_refuses_friction_that_it_would_leave_out():
    system, start = contact.incline(0.7)
    with pytest.raises(InputError, match="'plane' has friction, whose force depends on what has happened before"):
        zw.evaluate(system, start)


def test_forms_are_compared_along_motions_in_contact():
    system, start = contact.tether()
    rows = {row.form: row for row in compare_forms(system, zw.simulate(system, start, until=4))}
    assert rows["lagrange"].error < 1e-9
    assert "one-sided" in rows["literal"].note


@pytest.mark.parametrize("power", [2, 4])
def test_a_normal_force_that_only_touches_zero_does_not_lift(power):
    pushed = particle([zw.Constraint(x >= 0, "wall")], 0, {x: -((zw.t - 1) ** power), y: 0})
    motion = zw.simulate(pushed, at(0, 0), until=3)
    assert (motion.gap.values == 0).all()
    assert motion.sizes["transition"] == 0


def test_impacts_accumulate_in_a_groove_one_side_after_the_other():
    sides = [zw.Constraint(y >= s * x, n, restitution=0.5) for s, n in ((1, "right"), (-1, "left"))]
    motion = zw.simulate(particle(sides), at(0.1, 1), until=5)
    assert motion.attrs["status"] == "finished"
    times = motion.transition_time.values[motion.transition_kind.values == "accumulation"]
    # each side is a ball that falls from (1 ± 0.1)/√2 with g/√2, and rests after three times its fall
    assert times == pytest.approx(3 * np.sqrt(2 * np.array([0.9, 1.1]) / 9.81), rel=1e-9)


def test_a_particle_that_a_rough_groove_holds_comes_to_rest_in_no_time():
    sides = [
        zw.Constraint(y >= s * x, n, friction=0.3, slip=dot(x) + s * dot(y)) for s, n in ((1, "right"), (-1, "left"))
    ]
    motion = zw.simulate(particle(sides), at(0.1, 1), until=5)
    assert np.abs([motion.q.values[-1], motion.v.values[-1]]).max() < 1e-12


def test_an_event_at_an_impact_is_met_once():
    height = zw.coordinates("y")
    ball = contact.points("y", [zw.Constraint(height >= 0, "floor", restitution=0.5)], 9.81 * height)
    motion = zw.simulate(ball, {height: 1, dot(height): 0}, until=1.3, events=[zw.Event(height, "low")])
    assert motion.event_time.values == pytest.approx(motion.transition_time.values, abs=1e-12)


@pytest.mark.parametrize("way", [1, -1])
def test_a_push_that_only_touches_the_bound_of_sticking_moves_nothing(way):
    floor = zw.Constraint(y >= 0, "floor", friction=0.3, slip=dot(x))
    block = particle([floor], forces={x: way * 0.3 * 9.81 * sp.sin(2 * zw.t)})
    motion = zw.simulate(block, at(0, 0), until=10, samples=101)
    assert motion.attrs["status"] == "finished"
    assert abs(motion.q).max() < 1e-12
    assert (motion.friction_force * motion.slip).max() < 1e-12  # friction acts against slips


def in_a_row(masses, speeds, restitution, places, law):
    """Balls in a row, without forces."""
    q = zw.coordinates(" ".join(f"x{i}" for i in range(len(masses))))
    rules = [zw.Constraint(b - a >= 0, f"c{i}", restitution=restitution) for i, (a, b) in enumerate(pairwise(q))]
    kinetic = sum(m * dot(x) ** 2 for m, x in zip(masses, q, strict=True)) / 2
    start = dict(zip(q, places, strict=True)) | dict(zip(map(dot, q), speeds, strict=True))
    return zw.simulate(zw.System(q, kinetic=kinetic, constraints=rules), start, until=1, samples=11, impacts=law)


@pytest.mark.parametrize("law", ["moreau", "poisson", "sequential"])
def test_a_contact_that_parts_and_is_struck_at_that_instant_has_an_impact_too(law):
    motion = in_a_row((1, 1, 1), (2, 0, 0.5), 1, (0, 0, 0), law)
    rows = ["c0"] if law == "sequential" else ["c0", "c1"]  # all impacts of a sequence are one
    assert [str(c) for c in motion.transition_contact.values] == rows
    assert motion.velocity_after.values[-1] == pytest.approx([0, 0.5, 2], abs=1e-14)  # equal balls swap
    assert motion.gap.values.min() > -1e-13


@pytest.mark.parametrize("seed", range(6))
def test_balls_in_a_row_that_touch_and_part_keep_what_impacts_keep(seed):
    rng = np.random.default_rng(seed)
    masses, speeds = rng.uniform(0.3, 3, 4), rng.uniform(-1, 1, 4)
    speeds[0] += 4  # behind, and faster: it strikes through all of them
    motion = in_a_row(masses, speeds, 1, (0, 0, 0, 0), ("moreau", "poisson", "sequential")[seed % 3])
    after = motion.v.values[-1]
    assert masses @ after == pytest.approx(masses @ speeds, rel=1e-13)
    assert masses @ after**2 == pytest.approx(masses @ speeds**2, rel=1e-13)
    assert motion.gap.values.min() > -1e-13
    assert motion.attrs["status"] == "finished"


def test_what_is_crushed_stops_there_and_is_told_until_then():
    walls = [zw.Constraint(x >= 0, "left"), zw.Constraint(x <= 2 - zw.t / 10, "right")]
    s = zw.System((x,), kinetic=dot(x) ** 2 / 2, constraints=walls)
    motion = zw.simulate(s, {x: 0.5, dot(x): 3}, 25.0, throw=False)
    assert motion.attrs["status"] == "inconsistent"
    assert "'left', constraint 'right'" in motion.attrs["message"]
    assert motion.time[-1] < 20
    assert np.isclose(motion.q[-1, 0], 2 - motion.time[-1] / 10)  # the right wall pushes it


def test_a_ball_leaves_a_ball_in_space_where_its_force_vanishes():
    """cos θ = ⅔ cos θ₀, for a ball that does not rub: its energy, and the force on its circle."""
    ball = mb.Body("ball", 1.0, [0.036] * 3, position=(1.3 * np.sin(0.2), 0, 1.3 * np.cos(0.2)))
    hill = mb.Contact("hill", mb.ground, ball, radii=(1, 0.3))
    motion = zw.simulate(mb.Mechanism([ball], [hill], [mb.Gravity((0, 0, -9.81))]), until=1.0)
    assert motion.transition_kind.values.tolist() == ["lift"]
    before = float(motion.transition_time[0])
    place = motion.q.sel(coordinate="ball.z").interp(time=before, method="cubic")
    assert np.isclose(float(place), 1.3 * 2 / 3 * np.cos(0.2), rtol=0, atol=1e-6)
    assert float(motion.gap[-1, 0]) > 0.01
