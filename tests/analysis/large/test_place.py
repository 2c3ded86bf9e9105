"""A place of rest in sparse matrices reads what dense ones do."""

import numpy as np
import pytest

from tests.analysis.systems import VARIANTS, chain
from zwang.analysis.dynamics import dynamics_of
from zwang.analysis.large.place import Place
from zwang.lowering.rolled import families


@pytest.fixture(autouse=True)
def in_loops(monkeypatch):
    monkeypatch.setattr(families, "ROLLED_FROM", 0)


def hung_aslant(links: int) -> np.ndarray:
    """Positions of a chain whose links turn as they go down."""
    angle = np.linspace(0.1, 1.2, links)
    return np.concatenate([np.cumsum(np.sin(angle)), -np.cumsum(np.cos(angle))])


@pytest.mark.parametrize("variant", VARIANTS)
def test_accelerations_and_multipliers_are_those_of_dense_matrices(variant):
    dynamics = dynamics_of(variant(chain(7)), None, 0.0)
    q = hung_aslant(7)
    here, point = Place(dynamics, q), dynamics.at(q, np.zeros(14))
    assert here.a == pytest.approx(point.a, abs=1e-12)
    for ours, theirs in zip(here.all_multipliers, point.all_multipliers, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_slopes_say_how_accelerations_change(variant):
    """Along the constraints M δq̈ = −H δq + Aᵀδλ; differences say how they change."""
    dynamics = dynamics_of(variant(chain(7)), None, 0.0)
    q = hung_aslant(7)
    here = Place(dynamics, q)
    way = here.along(np.random.default_rng(1).standard_normal(14))
    step = 2e-6
    turned = [Place(dynamics, moved(q, way, s)).a for s in (step, -step)]
    expected = (turned[0] - turned[1]) / (2 * step)
    slope = (here.H @ (here.units * way)) * here.units
    found, _ = here.ranked.solve(-slope, here.slopes(here.a, 0 * here.now.b)["places"][14:] @ -way)
    assert found == pytest.approx(expected, abs=1e-7)


def moved(q: np.ndarray, way: np.ndarray, step: float) -> np.ndarray:
    """A chain a step along a direction, its links of unit length: each is turned."""
    count = len(q) // 2
    ends = (q + step * way).reshape(2, count)
    links = np.diff(np.concatenate([np.zeros((2, 1)), ends], axis=1), axis=1)
    return np.cumsum(links / np.linalg.norm(links, axis=0), axis=1).ravel()
