"""The impact of one contact as a program says what the quadratic program of Moreau's law says."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.compile import compile_program
from zwang.engines.native.record import READINGS as IN_ENGINE
from zwang.formulations.solve import Names
from zwang.lowering.contact import Held, with_contacts
from zwang.lowering.impact import READINGS, impact_program
from zwang.lowering.lowered import lower
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rows import RowBasis
from zwang.motion.contact.impact import Collision, impact

x, y, z = zw.coordinates("x y z")
LIMITS = {"wall": x + y**2 / 3 - sp.sin(zw.t), "floor": z + x / 2}
SYSTEM = zw.System(
    (x, y, z),
    kinetic=(2 * dot(x) ** 2 + 3 * dot(y) ** 2 + dot(z) ** 2 + dot(x) * dot(z)) / 2,
    potential=x**2 + 9 * z,
    constraints=[
        zw.Constraint(y - z**2, "guide"),
        *(zw.Constraint(gap, name, one_sided=True, restitution=0.6) for name, gap in LIMITS.items()),
    ],
)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_moreaus_law_for_one_contact(seed):
    rng = np.random.default_rng(seed)
    lowered = with_contacts(lower(SYSTEM, {}), (1, 2))
    program = impact_program(lowered, RowBasis((0,), open=(1, 2)), (1, 2), {1: 0.6, 2: 0.6})
    q, v, t = rng.normal(size=3), rng.normal(size=3), 0.3
    v[1] = 2 * q[2] * v[2]  # as the guide asks for
    now = matrix_kernel(SYSTEM, {})(t, q, v, np.zeros(0))
    numbers = Held.all_open((1, 2)).numbers
    out = compile_program(program)(t=np.array([t]), q=q, v=v, p=np.zeros(0), contact=numbers)["kick"]
    for k, i in enumerate((1, 2)):
        if now.residual_rate[i] > 0:
            continue
        moving = now.residual_rate[[i]] - now.A[[i]] @ v
        names = Names(("x", "y", "z"), ("guide", "contact"))
        found = impact(Collision(now.M, now.A[[0]], now.A[[i]], np.array([0.6]), v, moving, names), "moreau")
        after, gained, impulse, lost = out[k, :3], *out[k, 3:6]
        assert after == pytest.approx(found.v, abs=1e-13)
        assert impulse == pytest.approx(found.impulse[0], rel=1e-12)
        assert lost == pytest.approx(found.loss, rel=1e-12)
        assert gained == pytest.approx(found.work - found.loss, rel=1e-11)
        assert gained == pytest.approx((after - v) @ now.M @ (after + v) / 2, rel=1e-11)


def test_a_contact_without_restitution_is_left_out():
    lowered = with_contacts(lower(SYSTEM, {}), (1, 2))
    program = impact_program(lowered, RowBasis((0,), open=(1, 2)), (1, 2), {2: 0.6})
    v = np.array([-1.0, 0.0, -1.0])
    numbers = Held.all_open((1, 2)).numbers
    out = compile_program(program)(t=np.zeros(1), q=np.zeros(3), v=v, p=np.zeros(0), contact=numbers)["kick"]
    assert out[0].tolist() == [*v, *[0.0] * 7]
    assert out[1, -1] < -1e-6


def test_engines_expect_as_many_readings():
    assert READINGS == IN_ENGINE
