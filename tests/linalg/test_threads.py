"""BLAS has one thread while small systems are computed, and what it had before afterwards."""

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  SciPy's own BLAS is held, too
from threadpoolctl import threadpool_info

import zwang as zw
from zwang.linalg import threads
from zwang.linalg.threads import FEWEST_SHARED, MOST_ALONE, one_thread


def counts():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture
def several():
    """As on a machine with several cores."""
    with threads.controller(True).limit(limits=2, user_api="blas"):
        if max(counts()) < 2:
            pytest.skip("BLAS has one thread here, whatever is asked for")
        yield


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize("size", [FEWEST_SHARED, MOST_ALONE])
def test_small_matrices_have_one_thread(size):
    with one_thread(size):
        assert set(counts()) == {1}
    assert max(counts()) == 2


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize("size", [FEWEST_SHARED - 1, MOST_ALONE + 1])
def test_tiny_and_large_ones_have_what_they_had(size):
    with one_thread(size):
        assert max(counts()) == 2


def fail():
    with one_thread(100), one_thread(200):
        assert set(counts()) == {1}
        raise ZeroDivisionError


@pytest.mark.usefixtures("several")
def test_what_was_there_before_is_given_back_after_an_error_too():
    with pytest.raises(ZeroDivisionError):
        fail()
    assert max(counts()) == 2


@pytest.mark.usefixtures("several")
def test_a_motion_is_computed_on_one_thread():
    x = zw.coordinates("x", shape=FEWEST_SHARED)
    u = zw.coordinates("u")
    system = zw.System(x, kinetic=zw.family(zw.dot(u) ** 2 / 2, {u: x}))
    seen = []
    zw.simulate(
        system, {x: np.zeros(len(x)), zw.dot(x): 1.0}, 1.0, samples=2, progress=lambda *_: seen.append(counts())
    )
    assert seen
    assert all(set(count) == {1} for count in seen)
    assert max(counts()) == 2
