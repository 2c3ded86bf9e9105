"""A Stepper moves bodies on several rough contacts as closed forms and `simulate` say, in pieces of any length."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.motion.contact import scenes
from zwang import dot

G = 9.81


def at_rest(q):
    """A start."""
    return dict.fromkeys((*q, *map(dot, q)), 0)


def stepped(system, start, until, pieces, **options):
    """Where a Stepper gets."""
    stepper = zw.Stepper(system, start, **options)
    for k in range(pieces):
        state = stepper.advance(until * (k + 1) / pieces - stepper.t)
    return state


def table(size, turned, push, lift=0):
    """A table on four rough feet in space, that a force pushes along a direction; its feet are so far apart."""
    q = X, Y, Z, a, b, c = zw.coordinates("X Y Z a b c")
    ex, ey = np.cos(turned), np.sin(turned)
    feet = []
    for k, (i, j) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        px, py = size * (ex * i - ey * j), size * (ey * i + ex * j)
        slip = dot(X) - py * dot(c), dot(Y) + px * dot(c)
        feet.append(zw.Constraint(Z + a * py - b * px >= 0, f"foot{k}", friction=0.3, slip=slip, restitution=0))
    kinetic = (dot(X) ** 2 + dot(Y) ** 2 + dot(Z) ** 2 + size**2 * (dot(a) ** 2 + dot(b) ** 2 + dot(c) ** 2)) / 2
    forces = {X: ex * push, Y: ey * push, Z: lift}
    return zw.System(q, kinetic=kinetic, potential=G * Z, forces=forces, constraints=feet), at_rest(q)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("turned", [0.0, 0.4])
def test_four_feet_slide_where_the_push_exceeds_their_friction(size, turned):
    system, start = table(size, turned, 0.6 * G * zw.t)
    for pieces in (1, 10):
        _, q, v = stepped(system, start, 1.0, pieces, tol=1e-12)
        speed = 0.6 * G * 0.5**2 / 2  # from t = 1/2 on
        assert v[:2] == pytest.approx([speed * np.cos(turned), speed * np.sin(turned)], rel=1e-7)
        assert np.abs(q[2:]).max() < 1e-12


def test_four_feet_that_are_lifted_from_balance_leave_the_floor():
    system, start = table(1.0, 0.0, 0, G + zw.t)
    for pieces in (1, 4, 25):
        _, q, _ = stepped(system, start, 1.0, pieces)
        assert q[2] == pytest.approx(1 / 6, rel=1e-9)


@pytest.mark.parametrize("turned", [0.0, 0.7])
def test_a_box_on_two_rough_corners_sticks_slides_and_is_lifted(turned):
    x, y, tilt = q = zw.coordinates("x y theta")
    c, s = float(np.cos(turned)), float(np.sin(turned))
    gap, along = -s * x + c * y, c * x + s * y
    corners = [
        zw.Constraint(gap + i * sp.sin(tilt) >= 0, f"corner{i}", friction=0.5, slip=dot(along), restitution=0)
        for i in (1, -1)
    ]
    push, lift = G * zw.t, G * zw.t**2  # loads in the plane of the floor: the box does not tip
    box = zw.System(
        q, kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(tilt) ** 2) / 2, potential=G * gap,
        forces={x: c * push - s * lift, y: s * push + c * lift}, constraints=corners,
    )  # fmt: skip
    # slides where t = (1 − t²)/2, t₁ = √2 − 1; ẍ = G(t − (1 − t²)/2) until it lifts at t = 1, ẍ = G t after
    first = np.sqrt(2) - 1
    speed = G * ((1 - first**2) / 2 - (1 - first) / 2 + (1 - first**3) / 6 + (1.2**2 - 1) / 2)
    height = G * ((1.2**4 - 1) / 12 - 0.2 / 3 - 0.2**2 / 2)
    for pieces in (1, 6, 40):
        _, at, v = stepped(box, at_rest(q), 1.2, pieces, tol=1e-12)
        assert c * v[0] + s * v[1] == pytest.approx(speed, rel=1e-9)
        assert -s * at[0] + c * at[1] == pytest.approx(height, rel=1e-7)


@pytest.mark.parametrize("kind", ["box", "points", "ladder", "funnel"])
@pytest.mark.parametrize("seed", [0, 3])
def test_a_stepper_and_simulate_agree_on_scenes_with_rough_contacts(kind, seed):
    scene = scenes.ALL[kind](seed)
    motion = scene.run(samples=2, throw=False)
    assert motion.attrs["status"] == "finished"
    for pieces in (1, 9):
        _, q, _ = stepped(scene.system(), scene.start, scene.until, pieces, tol=1e-12)
        assert q == pytest.approx(motion.q.values[-1], abs=1e-7)
