"""Who loses its rank at a singular position is named."""

import re

import pytest

import zwang as zw
from zwang import dot


@pytest.mark.parametrize("method", ["native", "radau"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1e6, 1e-4, 1)])
def test_the_row_that_vanishes_is_named_and_no_other(sizes, method):
    """Appell's particles on cones ż² = ẋ² + ẏ², thrown at speeds of their own: each turns at t = 2 ż₀/g."""
    speeds, coordinates, start, cones = (1.0, 0.3, 2.1), [], {}, {}
    for k, (speed, size) in enumerate(zip(speeds, sizes, strict=True)):
        a, b, c = zw.coordinates(f"a{k} b{k} c{k}")
        coordinates += [a, b, c]
        start |= {a: 0, b: 0, c: 0, dot(a): 0.6 * speed, dot(b): 0.8 * speed, dot(c): speed}
        cones[f"cone{k}"] = size * (dot(c) ** 2 - dot(a) ** 2 - dot(b) ** 2)
    masses = [1, 1, 1, 2, 2, 2, 3, 3, 3]
    system = zw.System(
        coordinates,
        kinetic=sum(m * dot(q) ** 2 / 2 for m, q in zip(masses, coordinates, strict=True)),
        potential=9.81 * sum(m * q for m, q in zip(masses[::3], coordinates[2::3], strict=True)),
        constraints=cones,
    )
    message = zw.simulate(system, start, 0.5, samples=3, method=method, tol=1e-9).message
    told = re.findall(r"at t = ([\d.]+) \(the row of (\w+) vanishes\)", message)
    assert [name for _, name in told] == ["cone1", "cone0", "cone2"]
    assert [float(instant) for instant, _ in told] == pytest.approx([2 * v / 9.81 for v in (0.3, 1.0, 2.1)], rel=1e-5)
