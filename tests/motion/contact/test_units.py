"""The same system in other units of length, mass and time: the same modes, transitions and numbers."""

import numpy as np
import pytest

import zwang as zw
from zwang import multibody as mb

UNITS = [(1e3, 1e-3, 1.0), (1.0, 1e14, 1.0), (1e9, 1.0, 1.0), (1e-9, 1e12, 1e-6), (1e12, 1e30, 1e6), (1e6, 1e-30, 1e9)]


def ship(L, M, T, **law):
    """A rod that drifts on a quay and hits it with one end and the other."""
    hull = mb.PlanarBody(
        "hull", mass=3 * M, inertia=M * L**2, position=(0, L), velocity=(0.3 * L / T, -L / T), spin=0.2 / T
    )
    quay = mb.Contact("quay", mb.ground, hull, normal=(0, 1), corners=[(-L, 0), (L, 0)], restitution=0.5, **law)
    return mb.Mechanism([hull], [quay])


def sliding_rod(L, M, T, mu, v):
    """A rod on its tip, on a rough floor."""
    at = (np.cos(1.0) * L, np.sin(1.0) * L)
    rod = mb.PlanarBody("rod", mass=M, inertia=M * L**2 / 3, position=at, angle=1.0, velocity=(v * L / T, 0))
    tip = mb.Contact("tip", mb.ground, rod, normal=(0, 1), corners=[(-L, 0)], friction=mu)
    return mb.Mechanism([rod], [tip], [mb.Gravity((0, -9.81 * L / T**2))])


def told(motion, L, M, T):
    """Transitions, velocities on both sides, the energy lost and the end, in units of one."""
    rates = np.array([T / L, T / L, T])
    table = [motion.velocity_before * rates, motion.velocity_after * rates, motion.v[-1:] * rates]
    numbers = [motion.transition_time / T, motion.energy_loss * T**2 / M / L**2, *table]
    return motion.attrs["status"], motion.transition_kind.values.tolist(), [np.asarray(x) for x in numbers]


def require_same(made, until, units, limit, **options):
    """Hold a motion in units against that in units of one."""
    motions = [zw.simulate(made(*u), until=until * u[2], throw=False, **options) for u in ((1.0, 1.0, 1.0), units)]
    one, other = told(motions[0], 1, 1, 1), told(motions[1], *units)
    assert one[:2] == other[:2]
    for a, b in zip(one[2], other[2], strict=True):
        assert np.allclose(a, b, rtol=0, atol=limit)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("impacts", ["moreau", "poisson", "sequential"])
def test_impacts_are_the_same_in_any_units(impacts, units):
    require_same(ship, 3.0, units, 1e-10, impacts=impacts)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("impacts", ["moreau", "poisson"])
def test_impacts_with_friction_are_the_same_in_any_units(impacts, units):
    require_same(lambda *u: ship(*u, friction=0.2), 3.0, units, 1e-10, impacts=impacts)


@pytest.mark.parametrize("units", [(1e3, 1e-6, 1.0), (1.0, 1e12, 1.0), (1e-4, 1e-12, 1e-2), (1e6, 1.0, 1.0)])
@pytest.mark.parametrize(("mu", "v"), [(0.3, 1.0), (1.2, 1.0), (1.2, -1.0)])
def test_friction_is_the_same_in_any_units(mu, v, units):
    require_same(lambda *u: sliding_rod(*u, mu, v), 0.9, units, 1e-7)


@pytest.mark.parametrize("units", [(1e3, 1e-6, 1.0), (1.0, 1e12, 1.0), (1e-6, 1e-12, 1e-3), (1e8, 1.0, 1.0)])
def test_a_margin_is_the_same_in_any_units(units):
    stops = [zw.simulate(sliding_rod(*u, 1.4, -1.0), until=u[2], throw=False) for u in ((1.0, 1.0, 1.0), units)]
    assert [stop.attrs["status"] for stop in stops] == ["no solution"] * 2
    assert "margin -0.018" in stops[0].attrs["message"]  # 1 + 3 cos θ (cos θ − μ sin θ), divided by 1 + 3 cos² θ
    assert stops[0].attrs["message"].split("margin")[1] == stops[1].attrs["message"].split("margin")[1]
