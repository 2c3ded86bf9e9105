"""Modes of large systems: closed forms, none missed, so many as are asked for."""

import numpy as np
import pytest

import zwang as zw
from tests.analysis.large.systems import net_of_springs
from tests.analysis.systems import chain, hanging
from zwang import dot
from zwang.analysis.large import pencil
from zwang.errors import InputError

G = 9.81


@pytest.mark.parametrize("count", [7, 40, 399])
def test_masses_between_springs_have_the_frequencies_of_a_loaded_string(count, sparse):
    """ωₖ = 2 √(K/m) sin(kπ/(2(N + 1))): Lagrange's."""
    system, places = net_of_springs(count)
    expected = 4 * np.sin(np.arange(1, count + 1) * np.pi / (2 * (count + 1)))
    found = zw.modes(system, places, count=7)
    assert found.frequency.values == pytest.approx(np.repeat(expected, 2)[:7], rel=1e-11)
    assert found.sizes["mode"] == 7
    assert found.eigenvalue.values[:2] == pytest.approx(expected[0] * np.array([1j, -1j]), rel=1e-11)
    whole = zw.modes(system, places)
    assert whole.frequency.values[::2] == pytest.approx(expected, rel=1e-10)
    first = np.sin(np.arange(1, count + 1) * np.pi / (count + 1))
    assert found.shape.values[0].real == pytest.approx(first / np.linalg.norm(first), abs=1e-9)


def test_frequencies_that_coincide_are_all_found(sparse):
    """A chain in space swings in two planes alike; its frequencies are those of the chain in the plane, twice."""
    count = 60
    r = zw.coordinates("r", shape=(count, 3))
    a, b = zw.coordinates("a b", shape=3)
    rules = {"first": (r[0] ** 2).sum() - 1, "link": zw.family(((a - b) ** 2).sum() - 1, {a: r[1:], b: r[:-1]})}
    energy = zw.family((dot(a) ** 2).sum() / 2, {a: r}), zw.family(G * a[2], {a[2]: r[:, 2]})
    system = zw.System(r, kinetic=energy[0], potential=energy[1], constraints=rules)
    places = np.zeros((count, 3))
    places[:, 2] = -np.arange(1.0, count + 1)
    found = zw.modes(system, {r: places}, count=20)
    expected = np.sqrt(G * np.polynomial.laguerre.laggauss(count)[0][:5])
    assert found.frequency.values == pytest.approx(np.repeat(expected, 4), rel=1e-9)


def test_a_state_that_does_not_rest_has_no_modes(sparse):
    system, places = net_of_springs(30)
    with pytest.raises(InputError, match=r"this state is no equilibrium: x\[3\]' changes at 0.4"):
        zw.modes(system, places | {system.coordinates[3]: 3.95})


def test_a_state_beside_its_constraints_has_no_modes(sparse):
    system = chain(20)
    with pytest.raises(InputError, match="'rod 19' reads"):
        zw.modes(system, hanging(system) | {system.coordinates[39]: -19.0})


def test_so_many_modes_of_a_small_system_are_the_first_ones():
    system = chain(4)
    whole = zw.modes(system, hanging(system))
    assert zw.modes(system, hanging(system), count=3).identical(whole.isel(mode=slice(3)))
    for wrong in (0, -1, 2.5, True, "all"):
        with pytest.raises(InputError, match="how many eigenvalues are wanted is a whole number"):
            zw.modes(system, hanging(system), count=wrong)


def test_all_modes_of_too_many_coordinates_are_refused_by_name(sparse, monkeypatch):
    monkeypatch.setattr(pencil, "ALL_DIRECTIONS", 30)
    system, places = net_of_springs(40)
    with pytest.raises(InputError, match=r"all modes of 40 directions are too many .* count=20"):
        zw.modes(system, places)
    assert zw.modes(system, places, count=4).sizes["mode"] == 4
    with pytest.raises(InputError, match="too many"):
        _ = zw.equilibrium(system, places).eigenvalues
