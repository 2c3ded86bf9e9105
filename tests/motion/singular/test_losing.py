"""Who loses its rank at a singular position is named."""

import re

import numpy as np
import pytest

import zwang as zw
from zwang import dot


def told_of_cones(speeds, sizes, masses, until, **options):
    """What is said of Appell's particles on cones ż² = ẋ² + ẏ², thrown at speeds of their own: instants and names."""
    coordinates, start, cones = [], {}, {}
    for k, (speed, size) in enumerate(zip(speeds, sizes, strict=True)):
        a, b, c = zw.coordinates(f"a{k} b{k} c{k}")
        coordinates += [a, b, c]
        start |= {a: 0, b: 0, c: 0, dot(a): 0.6 * speed, dot(b): 0.8 * speed, dot(c): speed}
        cones[f"cone{k}"] = size * (dot(c) ** 2 - dot(a) ** 2 - dot(b) ** 2)
    masses = np.repeat(masses, 3).tolist()
    system = zw.System(
        coordinates,
        kinetic=sum(m * dot(q) ** 2 / 2 for m, q in zip(masses, coordinates, strict=True)),
        potential=9.81 * sum(m * q for m, q in zip(masses[::3], coordinates[2::3], strict=True)),
        constraints=cones,
    )
    message = zw.simulate(system, start, until, samples=3, **options).message
    return re.findall(r"at t = ([\d.]+) \(the row of (\w+) vanishes\)", message)


@pytest.mark.parametrize("method", ["native", "radau"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1e6, 1e-4, 1)])
def test_the_row_that_vanishes_is_named_and_no_other(sizes, method):
    """Each turns at t = 2 ż₀/g."""
    told = told_of_cones((1.0, 0.3, 2.1), sizes, [1, 2, 3], 0.5, method=method, tol=1e-9)
    assert [name for _, name in told] == ["cone1", "cone0", "cone2"]
    assert [float(instant) for instant, _ in told] == pytest.approx([2 * v / 9.81 for v in (0.3, 1.0, 2.1)], rel=1e-5)


@pytest.mark.parametrize("stride", [1, 5, 7, 11])
def test_rows_that_vanish_soon_after_each_other_are_told_apart(stride):
    """A step across one may begin almost as near to where the last one vanished as to where this one does."""
    order = stride * np.arange(12) % 12
    told = told_of_cones((0.4 + 0.1 * order).tolist(), [1] * 12, [1] * 12, 0.35)
    assert [name for _, name in told] == [f"cone{k}" for k in np.argsort(order)]
