"""Impacts one after the other at one instant, against sequences of thousands of them with fifty digits."""

from itertools import pairwise

import mpmath
import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot


def sequence(masses, v, restitution, count=3000):
    """Points in a row before a wall that all touch: the fastest approach collides first, again and again."""
    with mpmath.workdps(50):
        v, masses, e = [mpmath.mpf(x) for x in v], [mpmath.mpf(m) for m in masses], mpmath.mpf(restitution)
        for _ in range(count):
            speeds = [*(b - a for a, b in pairwise(v)), -v[-1]]
            least = min(speeds)
            if not least < 0:
                break
            k = next(i for i, speed in enumerate(speeds) if speed <= least * (1 - mpmath.mpf("1e-20")))
            if k == len(v) - 1:
                v[k] *= -e
            else:
                push = -(1 + e) * speeds[k] / (1 / masses[k] + 1 / masses[k + 1])
                v[k], v[k + 1] = v[k] - push / masses[k], v[k + 1] + push / masses[k + 1]
        return np.array([float(x) for x in v])


def row(masses, v, restitution, wall=True):
    """The same as a system."""
    q = zw.coordinates(" ".join(f"x{i}" for i in range(len(masses))))
    gaps = [b - a for a, b in pairwise(q)] + ([-q[-1]] if wall else [])
    rules = [zw.Constraint(gap, f"c{i}", one_sided=True, restitution=restitution) for i, gap in enumerate(gaps)]
    kinetic = sp.Add(*[m * dot(x) ** 2 / 2 for m, x in zip(masses, q, strict=True)])
    start = dict.fromkeys(q, 0) | dict(zip(map(dot, q), v, strict=True))
    return zw.System(q, kinetic=kinetic, constraints=rules), start


CASES = [
    ((1, 1, 1), (1, 0, 0), 0),
    ((1, 1, 1), (1, 0.5, 0.2), 0),
    ((3, 1, 1), (2, 0, 0.5), 0),
    ((1, 2, 0.5, 1.5), (1, 0.3, 0.2, -0.1), 0),
    ((1, 1, 1), (1, 0, 0), 0.05),  # below 7 − 4√3 such sequences do not end
    ((2, 1, 3), (1, 0, 0.1), 0.03),
]


@pytest.mark.parametrize(("masses", "v", "restitution"), CASES)
def test_infinitely_many_impacts_at_one_instant_have_their_limit(masses, v, restitution):
    motion = zw.simulate(*row(masses, v, restitution), until=1, impacts="sequential")
    known = sequence(masses, v, restitution)
    assert motion.attrs["status"] == "finished"
    assert motion.velocity_after.values[0] == pytest.approx(known, abs=1e-13)
    lost = 0.5 * np.asarray(masses) @ (np.asarray(v) ** 2 - known**2)
    assert motion.energy_loss.values[0] == pytest.approx(lost, rel=1e-12)
    assert float(abs(motion.energy_balance).max()) < 1e-13
    assert "accumulate at t = 0; their limit is taken" in motion.attrs["message"]


@pytest.mark.parametrize("seed", range(4))
def test_sequences_that_end_are_made_impact_by_impact(seed):
    rng = np.random.default_rng(seed)
    masses, v, e = rng.uniform(0.5, 3, 4), -np.sort(rng.uniform(-1, 1, 4)), rng.uniform(0.6, 1)
    motion = zw.simulate(*row(masses, v, e), until=1, samples=2, impacts="sequential")
    assert motion.velocity_after.values[0] == pytest.approx(sequence(masses, v, e), abs=1e-12)
    assert "limit" not in motion.attrs["message"]
