"""Laws that are linear in multipliers: one coordinate's force follows a path of another, whatever its sign.

`nonideal={b: -λ, a: ±λ}` takes the force of the path from b and gives it to a; what a has to do is ±λ either way.
"""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot, t
from zwang.errors import UndeterminedError

a, b, th = zw.coordinates("a b th")
FORCE = zw.multiplier("path")
BY_ENGINE = [("native", 1e-12, 1e-11), ("taylor", 1e-12, 1e-11), ("radau", 1e-9, 1e-7), ("lsoda", 1e-9, 1e-7)]


def coupled(sign):
    """M = [[2, 1], [1, 2]] and b = t²: with ä + 2 b̈ = 0 of b's row, ä = −4 and the force is 2 ä + b̈ = −6."""
    kinetic = dot(a) ** 2 + dot(a) * dot(b) + dot(b) ** 2
    return zw.System((a, b), kinetic=kinetic, constraints={"path": b - t**2}, nonideal={b: -FORCE, a: sign * FORCE})


REST = {a: 0, b: 0, dot(a): 0, dot(b): 0}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("method", "tol", "close"), BY_ENGINE)
def test_a_path_is_followed_by_another_force_of_either_sign(sign, method, tol, close):
    if method == "taylor":
        pytest.importorskip("heyoka")
    now = zw.evaluate(coupled(sign), REST)
    np.testing.assert_allclose([*now.acceleration, *now.multipliers], [-4, 2, -6 * sign], atol=1e-13)
    motion = zw.simulate(coupled(sign), REST, 1.0, samples=3, method=method, tol=tol)
    np.testing.assert_allclose(motion.q.values[-1], [-2, 1], rtol=0, atol=close)
    np.testing.assert_allclose(motion.multiplier.values, np.full((3, 1), -6 * sign), rtol=0, atol=close)
    assert motion.doubts == ""


@pytest.mark.parametrize("sign", [1, -1])
def test_steppers_samples_and_sensitivities_follow_it_too(sign):
    assert zw.Stepper(coupled(sign), REST).advance(1.0)[1] == pytest.approx([-2, 1], abs=1e-9)
    many = zw.simulate_many(coupled(sign), {a: [0.0, 1.0]} | {k: x for k, x in REST.items() if k != a}, 1.0, samples=2)
    np.testing.assert_allclose(many.q.values[:, -1], [[-2, 1], [-1, 1]], rtol=0, atol=1e-11)
    slopes = zw.sensitivities(coupled(sign), REST, 1.0, [dot(a)], samples=2)
    np.testing.assert_allclose(slopes.dq.values[-1], [[1], [0]], rtol=0, atol=1e-11)


def test_two_paths_may_be_followed_by_each_other_s_forces():
    """Unit masses: what holds x on sin t is the force on y's row, and the other way round."""
    along, up = zw.multiplier("along"), zw.multiplier("up")
    system = zw.System(
        (a, b), kinetic=(dot(a) ** 2 + dot(b) ** 2) / 2, constraints={"along": a - sp.sin(t), "up": b - t**2},
        nonideal={a: up - along, b: along - up},
    )  # fmt: skip
    motion = zw.simulate(system, REST | {dot(a): 1}, 2.0, samples=21)
    times = motion.time.values
    np.testing.assert_allclose(motion.q.values, np.stack([np.sin(times), times**2], axis=1), rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion.multiplier.values, np.stack([2 + 0 * times, -np.sin(times)], axis=1), atol=1e-11)


@pytest.mark.parametrize("sign", [1, -1])
def test_friction_beside_it_has_the_signs_that_it_has_without(sign):
    """The path of b is followed by a; a mass c slides on a wall with μ = 1/2, pressed by 2: c̈ = 3 − 1."""
    c, d = zw.coordinates("c d")
    wall = zw.multiplier("wall")
    system = zw.System(
        (a, b, c, d), kinetic=dot(a) ** 2 + dot(a) * dot(b) + dot(b) ** 2 + (dot(c) ** 2 + dot(d) ** 2) / 2,
        constraints={"path": b - t**2, "wall": d}, forces={c: 3, d: -2},
        nonideal={b: -FORCE, a: sign * FORCE, c: -sp.Abs(wall) / 2 * sp.sign(dot(c))},
    )  # fmt: skip
    motion = zw.simulate(system, REST | {c: 0, d: 0, dot(c): 1, dot(d): 0}, 1.0, samples=3)
    np.testing.assert_allclose(motion.q.values[-1], [-2, 1, 2, 0], rtol=0, atol=1e-11)


def test_where_the_other_force_cannot_follow_is_said():
    """Masses that share nothing: a cannot move b. With cos t of its force it can until t = π/2."""
    kinetic = (dot(a) ** 2 + dot(b) ** 2) / 2
    apart = zw.System((a, b), kinetic=kinetic, constraints={"path": b - t**2}, nonideal={b: -FORCE, a: FORCE})
    with pytest.raises(UndeterminedError, match="cannot bring about what the constraints ask for"):
        zw.evaluate(apart, REST)
    fading = zw.System(
        (a, b), kinetic=kinetic, constraints={"path": b - t**2}, nonideal={b: -FORCE + sp.cos(t) * FORCE}
    )
    motion = zw.simulate(fading, REST, 3.0, samples=31, throw=False)
    assert motion.status == "no solution"
    assert "cannot bring about" in motion.message
    assert "Painlevé" not in motion.message
    assert 1.5 <= motion.time.values[-1] < np.pi / 2
