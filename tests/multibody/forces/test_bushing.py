"""Bushings: their energy by SciPy's rotations, the same from every frame, and its balance in motion."""

import numpy as np
import pytest
import sympy as sp
from scipy.spatial.transform import Rotation

import zwang as zw
from zwang import multibody as mb
from zwang.errors import InputError

G = mb.ground
rng = np.random.default_rng(1826)


def body(name, turn=None):
    """A body in space anywhere, turned anyhow."""
    u = rng.normal(size=4) if turn is None else np.roll(turn.as_quat(), 1)
    return mb.Body(name, 1.5, (0.3, 0.4, 0.5), rng.normal(size=3), u, rng.normal(size=3), rng.normal(size=3))


def orthogonal(axis, across):
    """The bushing's axes as rows, by Gram and Schmidt."""
    a = np.array(axis) / np.linalg.norm(axis)
    b = across - a * (a @ across)
    b = b / np.linalg.norm(b)
    return np.array([a, b, np.cross(a, b)])


def state_of(bodies, places, turns):
    """A state of bodies at rest at places, turned."""
    state = {}
    for b, r, R in zip(bodies, places, turns, strict=True):
        state |= dict(zip(b.coordinates, (*r, *np.roll(R.as_quat(), 1)), strict=True))
    return state


def turn_of(b):
    """A body's orientation at the start."""
    return Rotation.from_quat(np.roll(np.array(b.orientation, dtype=float), -1))


def test_the_energy_is_that_of_shift_and_turn_in_the_axes_of_the_first_body():
    a, b = body("a"), body("b")
    at, axis, across = rng.normal(size=(3, 3))
    k, kappa = (3.0, 5.0, 7.0), (2.0, 4.0, 9.0)
    soft = mb.Bushing("s", a, b, at=at, stiffness=k, turn_stiffness=kappa, axis=axis, across=across)
    V = sp.lambdify([*a.coordinates, *b.coordinates], soft.potential([a, b]))
    E = orthogonal(axis, across)  # in the world, at the start
    for _ in range(5):
        places, turns = rng.normal(size=(2, 3)), Rotation.random(2, random_state=rng)
        state = state_of((a, b), places, turns)
        # how each body moved from its start, the bushing's axes with the first
        moved = [turn * turn_of(part).inv() for turn, part in zip(turns, (a, b), strict=True)]
        p, q = (r + m.apply(at - np.array(part.position)) for r, m, part in zip(places, moved, (a, b), strict=True))
        shift = E @ moved[0].inv().apply(q - p)
        phi = (moved[0].inv() * moved[1]).as_rotvec()  # the turn as the first body sees it
        angle = np.linalg.norm(phi)
        e = E @ phi / angle * np.sin(angle / 2)
        expected = (k @ shift**2 + kappa @ (2 * e) ** 2) / 2
        assert V(*state.values()) == pytest.approx(expected, rel=1e-12)


def test_the_energy_is_the_same_from_every_frame_and_from_either_body():
    a, b = body("a"), body("b")
    at = rng.normal(size=3)
    options = {"at": at, "turn_stiffness": (2.0, 4.0, 9.0), "axis": (1, 2, 3), "across": (0, 1, 0)}
    one, other = mb.Bushing("s", a, b, stiffness=3.0, **options), mb.Bushing("s", b, a, stiffness=3.0, **options)
    names = [*a.coordinates, *b.coordinates]
    V, W = (sp.lambdify(names, it.potential([a, b])) for it in (one, other))
    places, turns, Q, c = (
        rng.normal(size=(2, 3)),
        Rotation.random(2, random_state=rng),
        Rotation.random(),
        rng.normal(size=3),
    )
    here = V(*state_of((a, b), places, turns).values())
    there = V(*state_of((a, b), Q.apply(places) + c, Q * turns).values())
    assert there == pytest.approx(here, rel=1e-12)
    assert W(*state_of((a, b), places, turns).values()) == pytest.approx(here, rel=1e-12)


@pytest.mark.parametrize("space", [False, True])
def test_the_dampers_take_away_what_they_should(space):
    """Power = −Σ cᵢ δ̇ᵢ² − Σ dᵢ ωᵢ², with the rate of the shift in the first body's axes by differences."""
    c, d = (1.0, 2.0, 4.0), (0.5, 0.7, 0.9)
    if space:
        a, b = body("a"), body("b")
        soft = mb.Bushing("s", a, b, at=((0.1, 0.2, 0.3), (-0.3, 0.2, 0.5)), damping=c, turn_damping=d)
    else:
        a, b = (mb.PlanarBody(n, 1, 1, *rng.normal(size=(1, 2)), 0.3, rng.normal(size=2), 0.8) for n in "ab")
        a = mb.PlanarBody("a", 1, 1, (0.3, -1), 0.4, (1, 2), -0.7)
        soft = mb.Bushing("s", a, b, at=((0.1, 0.2), (-0.3, 0.2)), damping=c[:2], turn_damping=d[0])
    start = {key: value for part in (a, b) for key, value in part.start().items()}
    forces = soft.forces([a, b])
    power = sum(float(f.xreplace(start)) * start[zw.dot(q)] for q, f in forces.items())
    gap = sp.Matrix(soft.places[1]) - sp.Matrix(soft.places[0])
    rates = [sp.Matrix(e).dot(gap).diff(zw.t).xreplace(start) for e in soft.on_bodies[0]]
    spins = [part.pose(3 if space else 2).spin for part in (a, b)]
    if space:
        relative = (sp.Matrix(spins[1]) - sp.Matrix(spins[0])).xreplace(start)
        turning = [float(sp.Matrix(e).xreplace(start).dot(relative)) for e in soft.on_bodies[0]]
    else:
        turning = [float((spins[1] - spins[0]).xreplace(start))]
    expected = -sum(k * float(r) ** 2 for k, r in zip(c, rates, strict=False))
    expected -= sum(k * r**2 for k, r in zip(d, turning, strict=False))
    assert power == pytest.approx(expected, rel=1e-12)


def test_two_free_bodies_keep_momentum_and_account_for_their_energy():
    a, b = body("a"), body("b")
    at = (a.position + b.position) / 2
    soft = mb.Bushing("s", a, b, at=at, stiffness=(40.0, 60.0, 80.0), damping=(1.0, 0.5, 0.1),
                      turn_stiffness=(5.0, 6.0, 7.0), turn_damping=0.2, axis=(1, 1, 0))  # fmt: skip
    made = mb.Mechanism([a, b], forces=[soft])
    motion = zw.simulate(made, until=2.0, samples=21, tol=1e-12)
    assert motion.attrs["status"] == "finished"
    linear = sum(1.5 * motion.v.sel(coordinate=[f"{n}.{s}" for s in "xyz"]).values for n in "ab")
    assert np.abs(linear - linear[0]).max() < 1e-10
    total = 0.0
    for n, part in (("a", a), ("b", b)):
        r, v = (motion[w].sel(coordinate=[f"{n}.{s}" for s in "xyz"]).values for w in "qv")
        u, du = (motion[w].sel(coordinate=[f"{n}.q{i}" for i in range(4)]).values.T for w in "qv")
        spin = 2 * (u[0] * du[1:] - du[0] * u[1:] + np.cross(u[1:], du[1:], axis=0))  # ω = 2 vec(u̇ u*)
        R = Rotation.from_quat(np.roll(u, -1, axis=0).T)
        total = total + 1.5 * np.cross(r, v) + R.apply(np.array(part.inertia) * R.inv().apply(spin.T))
    assert np.abs(total - total[0]).max() < 1e-10
    assert np.abs(motion.energy_balance).max() < 1e-10 * float(motion.energy[0])
    assert (np.diff(motion.energy) < 0).all()


def test_a_small_swing_has_the_frequency_of_the_linear_law():
    """I φ̈ = −κ sin φ about one axis, a pendulum's equation: its period is 4 K(sin ½φ₀)/√(κ/I)."""
    from scipy.special import ellipk

    amplitude, kappa, inertia = 0.8, 6.0, 0.5
    half = (np.cos(amplitude / 2), 0, 0, np.sin(amplitude / 2))
    disc = mb.Body("disc", 1, (0.3, 0.3, inertia))
    soft = mb.Bushing("s", G, disc, at=(0, 0, 0), stiffness=100.0, turn_stiffness=kappa)
    made = mb.Mechanism([disc], forces=[soft])
    start = made.start | dict(zip(disc.coordinates[3:], half, strict=True))
    period = 4 * ellipk(np.sin(amplitude / 2) ** 2) / np.sqrt(kappa / inertia)
    motion = zw.simulate(made, start, until=period, samples=3)
    assert motion.q.values[-1] == pytest.approx(motion.q.values[0], abs=1e-10)
    assert motion.q.values[1, 6] == pytest.approx(-half[3], abs=1e-10)


def test_in_the_plane_the_law_is_linear_along_its_axes():
    arm = mb.PlanarBody("arm", 2.0, 0.5, position=(1, 0), angle=0.3)
    soft = mb.Bushing("s", G, arm, at=(1, 0), stiffness=(8.0, 18.0), turn_stiffness=2.0, axis=(1, 1))
    made = mb.Mechanism([arm], forces=[soft])
    x, y, angle = arm.coordinates
    shift = np.array([1, 1]) / np.sqrt(2) * 0.1  # along the first axis: √(8/2) = 2; the turn: √(2/0.5) = 2
    start = made.start | {x: 1 + shift[0], y: shift[1], angle: 0.3 + 0.7}
    motion = zw.simulate(made, start, until=np.pi, samples=3)
    assert motion.q.values[-1] == pytest.approx(motion.q.values[0], abs=1e-10)
    assert motion.q.values[1] == pytest.approx([1 - shift[0], -shift[1], 0.3 - 0.7], abs=1e-10)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "does nothing: give a stiffness or a damping"),
        ({"stiffness": -1}, "its stiffness is -1, but no stiffness is negative"),
        ({"stiffness": (1, 2)}, r"stiffness: \(1, 2\) does not fit: give one number, or 3"),
        ({"stiffness": 1, "across": (1, 0, 0)}, "across is given, but no axis"),
        ({"stiffness": 1, "axis": (1, 0, 0), "across": (2, 0, 0)}, "across is parallel to its axis"),
        ({"damping": "soft"}, "soft"),
    ],
)
def test_what_is_not_a_bushing_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        mb.Bushing("s", G, mb.Body("b", 1, (1, 1, 1)), at=(0, 0, 0), **options)


def test_a_particle_is_not_turned_back():
    bob = mb.Particle("bob", 1)
    mb.Bushing("s", G, bob, at=(0, 0, 0), stiffness=1)
    with pytest.raises(InputError, match="acts on the particle 'bob', which does not turn"):
        mb.Bushing("s", G, bob, at=(0, 0, 0), stiffness=1, turn_damping=1)
    with pytest.raises(InputError, match="in the plane the axis says what is across it"):
        mb.Bushing("s", G, mb.PlanarBody("p", 1, 1), at=(0, 0), stiffness=1, axis=(1, 0), across=(0, 1))
