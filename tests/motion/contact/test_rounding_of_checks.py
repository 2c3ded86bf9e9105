"""What a motion with contacts is checked by at its end is judged beside what acts along it, not beside rounding."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb

G = 9.81


def thrown_sphere(seed, friction):
    """A sphere that is thrown into a corner of a floor and two walls."""
    draw = np.random.default_rng(seed)
    place, v, spin = draw.uniform(0.12, 0.4, 2), draw.uniform(-1, 1, 3), draw.uniform(-10, 10, 3)
    ball = mb.Body(
        "ball", 1, [0.004] * 3, position=(*place, 0.15), velocity=(-abs(v[0]), -abs(v[1]), v[2]),
        angular_velocity=tuple(spin),
    )  # fmt: skip
    normals = {"floor": (0, 0, 1), "x": (1, 0, 0), "y": (0, 1, 0)}
    contacts = [
        mb.Contact(name, mb.ground, ball, normal=n, radius=0.1, friction=friction) for name, n in normals.items()
    ]
    return mb.Mechanism([ball], contacts, [mb.Gravity((0, 0, -G))])


@pytest.mark.parametrize("seed", [3, 5, 8])
@pytest.mark.parametrize("samples", [3, 20])
def test_a_sphere_that_rolls_along_a_wall_finishes_however_many_states_are_saved(seed, samples):
    motion = zw.simulate(thrown_sphere(seed, 0.44), until=1.0, samples=samples, throw=False)
    assert motion.attrs["status"] == "finished"
    push, rub = motion.normal_force.values, motion.friction_force.values
    assert push.min() > -1e-12
    assert (rub <= 0.44 * push + 1e-9).all()
    power = (motion.friction_vector.values * motion.slip_vector.values).sum(axis=-1)
    assert power.max() < 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_a_box_that_lands_on_two_corners_of_different_laws_finishes_by_poisson(seed):
    draw = np.random.default_rng(seed)
    w, h = draw.uniform(0.3, 1, 2)
    box = mb.PlanarBody(
        "box", 1, (w * w + h * h) / 12, position=(0, h / 2), velocity=(draw.uniform(-2, 2), -draw.uniform(0.5, 2)),
        spin=draw.uniform(-1, 1),
    )  # fmt: skip
    corners = [
        mb.Contact(name, mb.ground, box, normal=(0, 1), corners=[(place, -h / 2)], restitution=draw.uniform(0, 0.6),
                   friction=draw.uniform(0.1, 0.9))
        for name, place in (("left", -w / 2), ("right", w / 2))
    ]  # fmt: skip
    mechanism = mb.Mechanism([box], corners, [mb.Gravity((0, -G))])
    motion = zw.simulate(mechanism, until=0.3, samples=4, impacts="poisson", throw=False)
    assert motion.attrs["status"] == "finished"
    assert (motion.energy_loss.values >= -1e-12).all()
    assert motion.gap.values.min() > -1e-9


def test_a_corner_whose_bounce_the_other_one_takes_up_stays_closed():
    # by Poisson's law, with all modes tried by hand, the left corner ends with γ⁺ = 0: the box turns about it
    w, h = 0.7884153515337496, 0.5196699905557021
    box = mb.PlanarBody(
        "box", 1, (w * w + h * h) / 12, position=(0, h / 2), velocity=(-1.9599235, -1.39786643), spin=-0.41377261
    )
    laws = (("left", -w / 2, 0.09695768, 0.65872712), ("right", w / 2, 0.25887322, 0.57380039))
    corners = [
        mb.Contact(name, mb.ground, box, normal=(0, 1), corners=[(x, -h / 2)], restitution=e, friction=mu)
        for name, x, e, mu in laws
    ]
    mechanism = mb.Mechanism([box], corners, [mb.Gravity((0, -G))])
    motion = zw.simulate(mechanism, until=0.05, samples=6, impacts="poisson")
    assert motion.transition_kind.values.tolist() == ["impact"]
    assert (motion["mode"].values[1:, 0] != "open").all()
    assert (motion["mode"].values[1:, 1] == "open").all()
    assert np.abs(motion.gap.values[:, 0]).max() < 1e-12


def test_the_time_of_a_run_is_that_of_its_decisions_too():
    mechanism = thrown_sphere(3, 0.44)
    zw.simulate(mechanism, until=1.0, samples=3)  # compiled
    motion = zw.simulate(mechanism, until=1.0, samples=3)
    spent = motion.attrs
    assert spent["run_seconds"] + spent["compile_seconds"] <= spent["total_seconds"]
    assert spent["run_seconds"] > 0.3 * spent["total_seconds"]  # half a dozen decisions beside 50 steps of machine code
