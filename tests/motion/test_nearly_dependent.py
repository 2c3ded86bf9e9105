"""Constraints that are nearly dependent: what refinement gives back is right, and the rest is said."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang.errors import InputError
from zwang.lowering.matrices import SPARSE_FROM

FEW = zw.coordinates(" ".join(f"c{i}" for i in range(5)))
MANY = (*FEW, *zw.coordinates(" ".join(f"p{i}" for i in range(SPARSE_FROM))))


def nearly(apart, coordinates):
    """Unit masses under constant forces, on two rows r and r + apart s; and the acceleration, by r and s (NumPy)."""
    r, s, force = np.random.default_rng(3).standard_normal((3, len(FEW)))
    both = {"a": r, "b": r + apart * s}
    rows = {name: sum(sp.Float(a, 17) * x for a, x in zip(row, FEW, strict=True)) for name, row in both.items()}
    system = zw.System(
        coordinates,
        kinetic=sum(zw.dot(x) ** 2 for x in coordinates) / 2,
        forces={x: float(f) for x, f in zip(FEW, force, strict=True)},
        constraints=rows,
    )
    across, _ = np.linalg.qr(np.array([r, s]).T)
    start = dict.fromkeys(coordinates, 0) | {zw.dot(x): 0 for x in coordinates}
    return system, start, force - across @ (across.T @ force)


@pytest.mark.parametrize("coordinates", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize(("apart", "error"), [(1e-3, 1e-11), (1e-4, 1e-11), (1e-5, 1e-10), (1e-6, 3e-9)])
def test_rows_that_are_nearly_dependent_move_as_they_say(apart, error, coordinates):
    # What r and r + apart s can say of s is rounding over apart.
    system, start, acceleration = nearly(apart, coordinates)
    motion = zw.simulate(system, start, 1.0, samples=2, progress=False)
    assert motion.attrs["message"] == "finished at t = 1."
    np.testing.assert_allclose(2 * motion.q.values[-1, : len(FEW)], acceleration, rtol=0, atol=error)
    many = {x: np.zeros(9) for x in start}
    ends = zw.simulate_many(system, many, 1.0, samples=2, progress=False).q.values[:, -1, : len(FEW)]
    np.testing.assert_allclose(2 * ends, np.tile(acceleration, (9, 1)), rtol=0, atol=error)


@pytest.mark.parametrize("coordinates", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("apart", [1e-4, 1e-6, 1e-8])
def test_handles_and_evaluate_know_rows_that_are_nearly_dependent(apart, coordinates):
    system, start, acceleration = nearly(apart, coordinates)
    zero, error = np.zeros(len(coordinates)), 1e-16 / apart + 1e-11 / np.sqrt(apart)
    solution, f = zw.evaluate(system, start), zw.function(system)
    np.testing.assert_allclose(solution.acceleration[: len(FEW)], acceleration, rtol=0, atol=error)
    np.testing.assert_allclose(f(0.0, zero, zero)[: len(FEW)], acceleration, rtol=0, atol=error)
    np.testing.assert_allclose(f.multipliers(0.0, zero, zero), solution.multipliers, rtol=error)


@pytest.mark.parametrize("coordinates", [FEW, MANY], ids=["few", "many"])
def test_what_rounding_takes_is_not_vouched_for(coordinates):
    system, start, _ = nearly(1e-8, coordinates)
    motion = zw.simulate(system, start, 1.0, samples=2, progress=False, throw=False)
    assert motion.attrs["status"] != "finished" or "nearly dependent" in motion.attrs["message"]


@pytest.mark.parametrize("outputs", [None, ("q", "v")], ids=["all", "some"])
def test_what_is_not_asked_for_does_not_hide_that(outputs):
    system, start, acceleration = nearly(3e-11, FEW)
    motion = zw.simulate(system, start, 1.0, samples=2, tol=1e-3, progress=False, throw=False, outputs=outputs)
    off = motion.attrs["status"] != "finished" or abs(2 * motion.q.values[-1] - acceleration).max() > 1e-3
    assert off == (motion.attrs["status"] != "finished" or "nearly dependent" in motion.attrs["message"])


@pytest.mark.parametrize(("apart", "tol"), [(3e-8, 1e-12), (3e-11, 1e-3)])
def test_samples_say_so_too_and_a_stepper_refuses(apart, tol):
    system, start, _ = nearly(apart, FEW)
    many = {x: np.zeros(9) for x in start}
    told = zw.simulate_many(system, many, 1.0, samples=2, tol=tol, progress=False)
    assert all(
        ("nearly dependent" in words) == (how == "finished")
        for words, how in zip(told.doubts.values, told.status.values, strict=True)
    )
    with pytest.raises(InputError, match="so nearly dependent at the start"):
        zw.Stepper(system, start, tol=tol)


@pytest.mark.parametrize("lead", [1.0, 1e-8], ids=["apart", "close"])
def test_of_many_samples_each_is_told_that_is_not_vouched_for(lead):
    """Two rows r and r + ε s: where ε is 1e-8, rounding takes what they say of s, whatever the other samples do."""
    r, s, force = np.random.default_rng(3).standard_normal((3, len(FEW)))
    apart = zw.parameters("apart")
    system = zw.System(
        FEW,
        kinetic=sum(zw.dot(x) ** 2 for x in FEW) / 2,
        forces={x: float(f) for x, f in zip(FEW, force, strict=True)},
        constraints={
            "a": sum(float(a) * x for a, x in zip(r, FEW, strict=True)),
            "b": sum((float(a) + apart * float(b)) * x for a, b, x in zip(r, s, FEW, strict=True)),
        },
    )
    values = np.array([lead, 1.0, 1e-8, 0.5, 1e-5, 1e-8, 1.0, 0.3, 0.2, 1e-8])
    start = dict.fromkeys(FEW, 0) | {zw.dot(x): 0 for x in FEW}
    many = zw.simulate_many(system, start, 1.0, samples=2, parameters={apart: values})
    ends = zip(many.status.values, many.doubts.values, strict=True)
    told = np.array([status != "finished" or "nearly dependent" in words for status, words in ends])
    assert (told == (values < 1e-7)).all()
    across, _ = np.linalg.qr(np.array([r, s]).T)
    acceleration = force - across @ (across.T @ force)
    assert abs(2 * many.q.values[~told, -1] - acceleration).max() < 1e-10
