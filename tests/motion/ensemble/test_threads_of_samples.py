"""Samples that run each by itself, with contacts, switches or resets, take the threads they are given."""

import threading

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot

x, y = zw.coordinates("x y")
HEIGHTS = np.linspace(1, 2, 12)


def bouncing():
    """A ball on a floor."""
    floor = zw.Constraint(y >= 0, "floor", restitution=0.8)
    system = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=9.81 * y, constraints=[floor])
    return system, {y: HEIGHTS, dot(y): 0}, {}


def rubbing():
    """A block between springs, with dry friction as a sign."""
    rubs = -sp.Rational(1, 10) * sp.sign(dot(x))
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=5 * x**2, forces={x: rubs})
    return system, {x: HEIGHTS, dot(x): 0}, {}


def turned_back():
    """A point that is thrown back by a reset."""
    back = zw.Event(x, "back", reset={dot(x): -dot(x) / 2})
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x)
    return system, {x: HEIGHTS, dot(x): 0}, {"events": [back]}


def most_threads(run):
    """What a run gives, and how many threads there were at most beside those there are always."""
    found, done, before = [0], threading.Event(), threading.active_count()

    def watch():
        while not done.wait(1e-3):
            found[0] = max(found[0], threading.active_count() - before - 1)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        return run(), found[0]
    finally:
        done.set()
        watcher.join()


@pytest.mark.parametrize("scene", [bouncing, rubbing, turned_back])
def test_samples_take_the_threads_they_are_given_and_are_the_same_to_the_bit(scene):
    system, start, more = scene()

    def run(threads):
        return zw.simulate_many(system, start, until=1.9, samples=5, threads=threads, progress=False, **more)

    run(1)  # compiled
    alone, none = most_threads(lambda: run(1))
    together, some = most_threads(lambda: run(3))
    assert (none, some) == (0, 3)
    assert np.array_equal(alone.q.values, together.q.values)
    assert np.array_equal(alone.v.values, together.v.values)
    assert alone.status.values.tolist() == together.status.values.tolist() == ["finished"] * len(HEIGHTS)


def test_a_sample_that_cannot_begin_takes_none_of_the_others_with_it():
    system, start, _ = bouncing()
    start = start | {y: np.where(np.arange(len(HEIGHTS)) == 4, -1, HEIGHTS)}
    motions = zw.simulate_many(system, start, until=1.0, samples=3, threads=3, progress=False)
    assert [i for i, status in enumerate(motions.status.values) if status != "finished"] == [4]
    by_itself = zw.simulate(system, {y: HEIGHTS[7], dot(y): 0}, until=1.0, samples=3)
    assert np.array_equal(motions.q.values[7], by_itself.q.values)
