"""What closed contacts do next, where accelerations hardly tell."""

import mpmath
import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot

OMEGA, GRAVITY = 20.0, 9.81


def on_a_table(above, restitution):
    """A block on a table that shakes, (1 + above) times as hard as it takes to lose it; it begins with the table."""
    y = zw.coordinates("y")
    size = GRAVITY / OMEGA**2 * (1 + above)
    table = zw.Constraint(y - size * sp.sin(OMEGA * zw.t) >= 0, "table", restitution=restitution)
    block = zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=GRAVITY * y, constraints=[table])
    return block, {y: 0, dot(y): size * OMEGA}, size


def hop(above):
    """When the block lifts and lands, by the table's motion and a parabola, with forty digits."""
    with mpmath.workdps(40):
        omega, gravity = mpmath.mpf(OMEGA), mpmath.mpf(GRAVITY)
        size = gravity / omega**2 * (1 + mpmath.mpf(above))
        up = mpmath.asin(gravity / size / omega**2) / omega

        def gap(since):
            rise = size * mpmath.sin(omega * up) + size * omega * mpmath.cos(omega * up) * since
            return (rise - gravity * since**2 / 2 - size * mpmath.sin(omega * (up + since))) / since**3

        about = 4 * mpmath.sqrt(2 * mpmath.mpf(above)) / omega
        return float(up), float(up + mpmath.findroot(gap, about))


@pytest.mark.parametrize("above", [1e-5, 1e-4, 1e-3])
def test_a_block_hops_however_little_the_table_is_too_fast_for_it(above):
    block, start, size = on_a_table(above, 0.0)
    motion = zw.simulate(block, start, 1.0)
    assert motion.attrs["status"] == "finished"
    assert motion.transition_kind.values.tolist() == ["lift", "impact"] * 3
    assert np.allclose(motion.transition_time.values[:2], hop(above), rtol=0, atol=1e-6)
    assert float(motion.gap.min()) > -1e-11 * size / 0.02


@pytest.mark.parametrize("above", [-1e-9, 0.0, 1e-9])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_block_stays_on_a_table_that_all_but_loses_it(above, restitution):
    block, start, size = on_a_table(above, restitution)
    motion = zw.simulate(block, start, 1.0)
    assert motion.attrs["status"] == "finished"
    assert np.allclose(motion.q.values[:, 0], size * np.sin(OMEGA * motion.time.values), rtol=0, atol=1e-11)
