"""A mode as a motion: first-order beside its equilibrium, on the constraints, ready for the player."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.analysis.systems import chain, disc, doubled, hanging
from zwang import dot
from zwang import multibody as mb
from zwang.errors import InputError

x, y = zw.coordinates("x y")
PAIR = zw.System(
    (x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=x**2 / 2 + 8 * y**2, forces={y: -dot(y) / 5}
)


def test_it_obeys_the_constraints_and_is_a_motion_to_first_order():
    """Against `simulate` from its own start: the difference falls with the square of the amplitude."""
    system = doubled(chain(3))
    found = zw.modes(system, hanging(system))
    gaps = []
    for amplitude in (0.02, 0.01):
        motion = zw.mode_motion(system, found, mode=2, amplitude=amplitude, periods=0.5)
        keys = [*system.coordinates, *system.velocities]
        start = dict(zip(keys, [*motion.q.values[0], *motion.v.values[0]], strict=True))
        true = zw.simulate(system, start, until=float(motion.time[-1]), times=motion.time.values)
        gaps.append(np.abs(motion.q.values - true.q.values).max())
        assert np.abs(true.residual.values).max() < 1e-13
    assert gaps[0] < 2e-3
    assert gaps[1] < 0.3 * gaps[0]


def test_it_decays_and_grows_as_its_eigenvalue_says():
    found = zw.modes(PAIR, {x: 0, y: 0})
    value = complex(found.eigenvalue.values[2])
    motion = zw.mode_motion(PAIR, found, mode=2, amplitude=1, periods=1)
    begin, end = motion.q.values[0, 1], motion.q.values[-1, 1]
    assert end / begin == pytest.approx(np.exp(value.real * 2 * np.pi / abs(value.imag)), rel=1e-9)
    hill = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=-2 * x**2)
    leaving = zw.mode_motion(hill, zw.modes(hill, {x: 0}), mode=1)
    assert leaving.q.values[-1, 0] / leaving.q.values[0, 0] == pytest.approx(np.exp(3), rel=1e-12)


def test_the_zero_of_a_family_goes_along_it():
    pair = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, potential=(x - y - 1) ** 2)
    motion = zw.mode_motion(pair, zw.modes(pair, {x: 1, y: 0}), mode=0)
    assert motion.q.values[:, 0] - motion.q.values[:, 1] == pytest.approx(np.ones(motion.sizes["time"]), abs=1e-12)
    assert motion.q.values[-1, 0] > 1


def test_a_mechanism_is_drawn_in_its_mode():
    rod = mb.PlanarBody("rod", 2, 0.1, position=(0, -0.5))
    pendulum = mb.Mechanism(
        [rod], joints=[mb.Revolute("pin", mb.ground, rod, at=(0, 0))], forces=[mb.Gravity((0, -9.81))]
    )
    motion = zw.mode_motion(pendulum, zw.modes(pendulum))
    assert "drawing" in motion
    assert "<iframe" in zw.animate(motion)._repr_html_()


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("mode = 9: a whole number from 0 to 3", lambda: (PAIR, zw.modes(PAIR, {x: 0, y: 0}), 9)),
        ("takes what zwang.modes gives", lambda: (PAIR, zw.linearize(PAIR, {x: 0, y: 0}))),
        ("takes what zwang.modes gives", lambda: (PAIR, {x: 0, y: 0})),
        ("a stack along sample", lambda: (PAIR, zw.modes(PAIR, {x: [0, 0], y: [0, 0]}))),
        ("modes are of another system", lambda: (chain(2), zw.modes(PAIR, {x: 0, y: 0}))),
        ("positive numbers are needed", lambda: (PAIR, zw.modes(PAIR, {x: 0, y: 0}), 0, -1)),
    ],
)
def test_what_is_no_mode_is_refused(words, call):
    with pytest.raises(InputError, match=words):
        zw.mode_motion(*call())


def test_a_mode_of_a_steady_motion_is_not_shown_without_it():
    system = disc()
    state = dict.fromkeys(system.coordinates, 0.0) | {system.coordinates[2]: 1.0}
    state |= {dot(system.coordinates[5]): 3.0, dot(system.coordinates[0]): 3.0}
    with pytest.raises(InputError, match="beside a steady motion, which goes on"):
        zw.mode_motion(system, zw.modes(system, state), mode=5)


def test_a_driven_coordinate_stands_where_it_is_held():
    pendulum = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2 + dot(x) * dot(y) * sp.cos(y) / 2,
        potential=-9.81 * sp.cos(y),
        constraints={"slide": x - 3},
    )
    motion = zw.mode_motion(pendulum, zw.modes(pendulum, {x: 3, y: 0}))
    assert np.abs(motion.q.values[:, 0] - 3).max() == 0
