"""The public verdict: what it takes."""

import pytest

import zwang as zw
from zwang import dot
from zwang.errors import InputError

x, y = zw.coordinates("x y")
L = zw.parameters("L")
ROD = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"rod": x**2 + y**2 - L**2})


def test_one_state_is_taken_with_its_parameters():
    at = {x: 2, y: 0, dot(x): 0, dot(y): 1}
    assert zw.diagnose(ROD, at, parameters={L: 2}).ok
    assert zw.diagnose(ROD, at, parameters={L: 3}).violated == ("rod",)


def test_arrays_are_refused():
    with pytest.raises(InputError, match="diagnose takes one state"):
        zw.diagnose(ROD, {x: [1, 2], y: 0, dot(x): 0, dot(y): 0}, parameters={L: 1})
