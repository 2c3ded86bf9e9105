"""Contacts with friction that share a load: the motion is known though their forces are not, or it is refused."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.references import contact
from zwang import dot
from zwang.errors import SimulationError

x, y, angle = Q = zw.coordinates("x y theta")
G = 9.81


def box(feet, mu, forces=None, extra=(), half=(0.5, 0.25), restitution=0):
    """A box of unit mass with feet on a floor, given as shares of its half width and half height."""
    (b, h), s, c = half, sp.sin(angle), sp.cos(angle)
    mus = [mu] * len(feet) if np.isscalar(mu) else mu
    rules = [
        zw.Constraint(y + s * b * u + c * h * w, f"foot {k}", one_sided=True, friction=mus[k], restitution=restitution,
                      slip=dot(x + c * b * u - s * h * w))
        for k, (u, w) in enumerate(feet)
    ]  # fmt: skip
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + sp.Rational(1, 3) * (b * b + h * h) * dot(angle) ** 2) / 2
    return zw.System(Q, kinetic=kinetic, potential=G * y, forces=forces, constraints=[*rules, *extra])


CORNERS = ((-1, -1), (1, -1))
AT_REST = {x: 0, y: 0.25, angle: 0} | {dot(z): 0 for z in Q}


def ladder(floor, wall, forces=None, lean=1.0):
    """A ladder of length 2 and unit mass between a rough floor and a rough wall."""
    s, c = sp.sin(angle), sp.cos(angle)
    foot, head = (x - c, y - s), (x + c, y + s)
    rules = [
        zw.Constraint(foot[1], "floor", one_sided=True, friction=floor, slip=dot(foot[0])),
        zw.Constraint(-head[0], "wall", one_sided=True, friction=wall, slip=dot(head[1])),
    ]
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(angle) ** 2 / 3) / 2
    system = zw.System(Q, kinetic=kinetic, potential=G * y, forces=forces, constraints=rules)
    return system, {x: -sp.cos(lean), y: sp.sin(lean), angle: lean} | {dot(z): 0 for z in Q}


def test_a_box_rests_on_two_rough_corners():
    motion = zw.simulate(box(CORNERS, 0.5), AT_REST, until=5)
    assert motion.attrs["status"] == "finished"
    assert (motion["mode"].values == "sticking").all()
    assert motion.normal_force.values == pytest.approx(G / 2, rel=1e-13)
    assert abs(motion.friction_force).max() < 1e-12
    assert np.abs(motion.v.values).max() < 1e-14
    assert not motion.unique.values.any()


@pytest.mark.parametrize("feet", [CORNERS, ((-1, -1), (0.2, -1), (1, -1)), ((-1, -1), (1, -1), (1, -1))])
@pytest.mark.parametrize("moment", [0, -0.1])
def test_a_box_that_is_pushed_slides_when_all_its_feet_together_cannot_hold_it(feet, moment):
    system = box(feet, 0.5, {x: zw.t, angle: moment * zw.t})
    motion = zw.simulate(system, AT_REST, until=6)
    assert motion.transition_kind.values.tolist() == ["slide"]
    assert motion.transition_time.values[0] == pytest.approx(0.5 * G, rel=1e-12)
    moved = (6 - 0.5 * G) ** 3 / 6  # m ẍ = t − μ m g
    assert motion.q.values[-1, 0] == pytest.approx(moved, rel=1e-11)


def test_a_box_that_is_pushed_high_up_tips_before_it_slides():
    # about the right corner: t (h + 1/4) = m g b
    motion = zw.simulate(box(CORNERS, 2, {x: zw.t, angle: -0.25 * zw.t}), AT_REST, until=9.9)
    assert motion.transition_kind.values.tolist() == ["lift"]
    assert motion.transition_contact.values[0] == "foot 0"
    assert motion.transition_time.values[0] == pytest.approx(G * 0.5 / 0.5, rel=1e-12)
    assert motion["mode"].values[-1].tolist() == ["open", "sticking"]


@pytest.mark.parametrize("tol", [1e-9, 1e-12])
@pytest.mark.parametrize("method", ["native", "radau", "lsoda"])
def test_a_ladder_slips_under_a_person_where_statics_says(method, tol):
    # Both ends at their bounds: N_floor + μ_w N_wall = W + m g, N_wall = μ_f N_floor, and moments about the foot
    W, mu_f, mu_w, lean = 20.0, 0.5, 0.3, 1.0
    system, start = ladder(mu_f, mu_w, {y: -W, angle: -W * (zw.t - 1) * sp.cos(angle)}, lean)
    wall = mu_f * (W + G) / (1 + mu_f * mu_w)
    known = (2 * wall * (np.sin(lean) + mu_w * np.cos(lean)) - G * np.cos(lean)) / (W * np.cos(lean))
    motion = zw.simulate(system, start, until=2, method=method, tol=tol)
    assert motion.transition_kind.values.tolist() == ["slide"]
    assert motion.transition_time.values[0] == pytest.approx(known, rel=1e-12)
    assert motion["mode"].values[-1].tolist() == ["sliding", "sliding"]


def test_a_ladder_at_rest_has_forces_that_may_be():
    motion = zw.simulate(*ladder(0.6, 0.4), until=1)
    normal, friction = motion.normal_force.values, motion.friction_force.values
    assert (np.abs(friction) <= np.array([0.6, 0.4]) * normal * (1 + 1e-9)).all()
    assert normal[:, 0] + friction[:, 1] == pytest.approx(G)
    assert friction[:, 0] == pytest.approx(normal[:, 1])


def test_a_rocking_block_comes_to_rest():
    motion = zw.simulate(*contact.rocking_block(), until=12)
    assert motion.transition_kind.values[-1] == "accumulation"
    assert (motion["mode"].values[-1] == "sticking").all()
    assert abs(motion.q.values[-1, 2]) < 1e-13
    assert float(abs(motion.energy_balance).max()) < 1e-10


def test_a_box_is_pushed_into_a_corner_and_stays():
    s, c = sp.sin(angle), sp.cos(angle)
    wall = [
        zw.Constraint(2 - (x + c / 2 - s * w / 4), f"wall {w}", one_sided=True, friction=0.3, restitution=0.2,
                      slip=dot(y + s / 2 + c * w / 4))
        for w in (-1, 1)
    ]  # fmt: skip
    motion = zw.simulate(box(CORNERS, 0.3, {x: 5}, wall), AT_REST | {dot(x): 3, y: 0.6, angle: 0.3}, until=3)
    assert (motion["mode"].values[-1] == "sticking").all()
    assert motion.q.values[-1] == pytest.approx([1.5, 0.25, 0], abs=1e-11)
    assert float(abs(motion.energy_balance).max()) < 1e-11
    assert motion.gap.values.min() > -1e-11


@pytest.mark.parametrize("start", [{dot(x): 1}, {y: 0.5, angle: 0.1, dot(x): 1}])
def test_a_rough_contact_said_twice_changes_nothing_but_how_forces_are_shared(start):
    one, two = (zw.simulate(box(feet, 0.4, restitution=0.3), AT_REST | start, until=2)
                for feet in (CORNERS, (*CORNERS, CORNERS[1])))  # fmt: skip
    assert np.abs(one.q.values - two.q.values).max() < 1e-11
    normal = two.normal_force.values
    assert np.abs(normal[:, 1] + normal[:, 2] - one.normal_force.values[:, 1]).max() < 1e-9
    assert one.transition_time.values[0] == pytest.approx(two.transition_time.values[0], abs=1e-12)


def feet(mus):
    """A beam on three feet, its centre at the height of the floor: x does not tilt it."""
    rules = [
        zw.Constraint(y + u * sp.sin(angle) >= 0, f"foot {u}", friction=mu, slip=dot(x))
        for u, mu in zip((-1, 0, 1), mus, strict=True)
    ]
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(angle) ** 2 / 3) / 2
    return zw.System(Q, kinetic=kinetic, potential=G * y, constraints=rules)


def test_a_motion_that_depends_on_how_a_load_is_shared_is_refused_with_its_interval():
    # N = (w, m g − 2w, w), so that ẍ = −0.5 g + 0.8 w/m with any w from 0 to m g / 2
    with pytest.raises(SimulationError, match=r"x may be anything from -4\.905 to -0\.981") as caught:
        zw.simulate(feet((0.1, 0.5, 0.1)), AT_REST | {y: 0, dot(x): 1}, until=1, split="refuse")
    assert caught.value.status == "several solutions"
    assert "'foot -1', 'foot 0' and 'foot 1' share their load" in str(caught.value)


def test_feet_that_give_way_alike_bear_the_same_and_the_message_says_that_it_matters():
    # springs of the same stiffness under three feet in a row: N = m g / 3 each, so that ẍ = −(0.1 + 0.5 + 0.1) g / 3
    motion = zw.simulate(feet((0.1, 0.5, 0.1)), AT_REST | {y: 0, dot(x): 1}, until=1)
    slows = 0.7 * G / 3
    assert motion.status == "finished"
    assert motion.transition_time.values == pytest.approx([1 / slows] * 3, rel=1e-11)
    assert motion.q.values[-1, 0] == pytest.approx(0.5 / slows, rel=1e-11)
    assert "the acceleration of x may be anything from -4.905 to -0.981" in motion.message


def test_a_motion_that_does_not_depend_on_it_goes_on():
    motion = zw.simulate(feet((0.3, 0.3, 0.3)), AT_REST | {y: 0, dot(x): 1}, until=1)
    assert motion.transition_time.values == pytest.approx([1 / (0.3 * G)] * 3, rel=1e-12)
    assert motion.q.values[-1, 0] == pytest.approx(0.5 / (0.3 * G), rel=1e-12)
    assert not motion.unique.values.any()


def test_different_feet_at_rest_stay_at_rest():
    motion = zw.simulate(feet((0.1, 0.5, 0.1)), AT_REST | {y: 0}, until=1)
    assert (motion["mode"].values == "sticking").all()
