"""An array of coordinates, or of their rates, is a key of every guess and of the starts of fits."""

import numpy as np
import pytest

import zwang as zw
from zwang import dot
from zwang.errors import InputError

b = zw.coordinates("b", shape=2)
SPRINGS = zw.System([*b], kinetic=sum(dot(z) ** 2 for z in b) / 2, potential=sum(z**2 for z in b) + b[0] ** 2 * b[1])
GUESS = {b: np.array([0.1, 0.0]), dot(b): np.zeros(2)}


@pytest.mark.parametrize(
    "find",
    [
        lambda guess: [*zw.equilibrium(SPRINGS, guess).state.values()],
        lambda guess: [*zw.steady(SPRINGS, guess, constant=[*b]).state.values()],
        lambda guess: zw.periodic(SPRINGS, guess, period=4.4429).q.values.ravel(),
    ],
    ids=["equilibrium", "steady", "periodic"],
)
def test_a_guess_takes_arrays_of_rates_and_of_coordinates(find):
    singles = {z: GUESS[b][i] for i, z in enumerate(b)} | {dot(z): 0.0 for z in b}
    np.testing.assert_array_equal(find(GUESS), find(singles))


def test_the_start_of_a_fit_takes_arrays_of_expressions():
    # x'' = -2 x from p: p cos(sqrt(2) t)
    p, times = zw.parameters("p"), np.linspace(0.5, 3, 9)
    free = zw.System([*b], kinetic=sum(dot(z) ** 2 for z in b) / 2, potential=sum(z**2 for z in b))
    data = {"t": times, "b[0]": 0.3 * np.cos(np.sqrt(2) * times)}
    found = zw.fit(free, data, {p: 0.1}, start={b: [p, 0], dot(b): 0})
    assert found.values[p] == pytest.approx(0.3, abs=1e-9)
    with pytest.raises(InputError, match=r"array of shape \(3,\), but it has the shape \(2,\)"):
        zw.fit(free, data, {p: 0.1}, start={b: [p, 0, 1]})
