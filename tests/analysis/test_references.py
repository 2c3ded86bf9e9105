"""The references of analysis in minimal coordinates, where other tests have Cartesian ones; and laws at large."""

import json

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import solve_continuous_are

import zwang as zw
from tests.analysis.fitting.test_fit import D1, MEASURED
from tests.analysis.systems import REFERENCES, VARIANTS, G, chain, governor, hanging
from zwang import dot

a, b, s = zw.coordinates("a b s")
F, g, L, c, a0, P, d = zw.parameters("F g L c a0 P d")


def angles(count):
    """The chain in absolute angles."""
    q = zw.coordinates(f"q:{count}")
    velocities = [
        (sum(sp.cos(t) * dot(t) for t in q[: i + 1]), sum(sp.sin(t) * dot(t) for t in q[: i + 1])) for i in range(count)
    ]
    kinetic = sum(u**2 + w**2 for u, w in velocities) / 2
    return zw.System(q, kinetic=kinetic, potential=-G * sum((count - i) * sp.cos(t) for i, t in enumerate(q)))


def test_a_chain_in_angles():
    system = angles(5)
    e = zw.equilibrium(system, dict.fromkeys(system.coordinates, 0.2))
    expected = [float(w) for w in REFERENCES["B1 N-pendulum"]["values"]]
    assert zw.modes(system, e).frequency.values[::2] == pytest.approx(expected, rel=1e-13)


def test_ziegler_s_column_in_angles():
    column = zw.System(
        (a, b),
        kinetic=3 * dot(a) ** 2 / 2 + dot(b) ** 2 / 2 + sp.cos(a - b) * dot(a) * dot(b),
        potential=a**2 / 2 + (b - a) ** 2 / 2,
        forces={a: P * sp.sin(a - b)},
    )
    critical = float(REFERENCES["A1 Ziegler"]["undamped"])
    verdicts = [zw.equilibrium(column, {a: 0, b: 0}, parameters={P: critical + x}).stable for x in (-1e-6, 1e-6)]
    assert verdicts == [None, False]


def test_a_governor_in_two_angles():
    """θ of the links and the turn ψ: balls at l sin θ, sleeve 2 l cos θ below."""
    kinetic = (
        sp.Rational(1, 4) * (dot(a) ** 2 + (sp.sin(a) * dot(b)) ** 2) + sp.Rational(3, 2) * (sp.sin(a) * dot(a)) ** 2
    )
    system = zw.System((a, b), kinetic=kinetic, potential=-G * (sp.cos(a) + 3 * sp.cos(a)))
    e = zw.steady(system, {a: 0.3, b: 0, dot(b): 9}, constant=[a, dot(a), dot(b)], hold={dot(b): 9})
    reference = REFERENCES["A3 governor"]
    assert np.cos(e.state[a]) == pytest.approx(float(reference["cos theta"]), rel=1e-14)
    assert np.abs(e.eigenvalues.imag).max() == pytest.approx(float(reference["frequency"]), rel=1e-13)


def test_a_cart_pole_in_an_angle():
    kinetic = dot(s) ** 2 / 2 + ((dot(s) + sp.cos(a) * dot(a) / 2) ** 2 + (sp.sin(a) * dot(a) / 2) ** 2) / 20
    system = zw.System((s, a), kinetic=kinetic, potential=G * sp.cos(a) / 20, forces={s: F}, parameters={F: 0})
    lin = zw.linearize(system, {s: 0, a: 0}, states=[s, a, dot(s), dot(a)], inputs=[F])
    reference = REFERENCES["B2 cart-pole LQR"]
    assert lin.A.values == pytest.approx(np.array(json.loads(reference["A"])), abs=1e-12)
    X = solve_continuous_are(lin.A.values, lin.B.values, np.eye(4), np.eye(1))
    assert (lin.B.values.T @ X)[0] == pytest.approx([float(k) for k in reference["K"]], rel=2e-12)


def test_kapitza_s_pendulum_in_an_angle():
    push = sp.Rational(1, 5) * 1600 * sp.cos(40 * zw.t)
    system = zw.System((a,), kinetic=dot(a) ** 2 / 2, forces={a: (G - push) * sp.sin(a)})
    motion = zw.periodic(system, {a: 0, dot(a): 0}, period=2 * np.pi / 40)
    assert motion.floquet.values.sum().real == pytest.approx(float(REFERENCES["I1 Kapitza"]["trace"]), rel=1e-12)


def test_the_brake_orbit_in_angles():
    system, reference = angles(2), REFERENCES["I3 brake orbit"]
    first, second = system.coordinates
    motion = zw.periodic(system, {first: 0.5, second: 0.66}, 2.67, hold={first: 0.5, dot(first): 0, dot(second): 0})
    assert motion.q.values[0, 1] == pytest.approx(float(reference["th2"]), rel=1e-11)
    assert motion.attrs["period"] == pytest.approx(float(reference["T"]), rel=1e-11)


def test_the_fit_in_an_angle():
    system = zw.System(
        (a,), kinetic=L**2 * dot(a) ** 2 / 2, potential=-g * L * sp.cos(a), forces={a: -c * L**2 * dot(a)}
    )
    seen = {"x": L * sp.sin(a), "y": -L * sp.cos(a)}
    guess = {g: 9.5, L: 1.2, c: 0.1, a0: 0.8}
    found = zw.fit(system, MEASURED, guess, start={a: a0}, observe=seen)
    assert list(found.values.values()) == pytest.approx([float(x) for x in D1["estimate g,L,c,a0"]], rel=2e-10)
    assert list(found.errors.values()) == pytest.approx([float(x) for x in D1["standard errors"]], rel=1e-5)


# Laws


@pytest.mark.parametrize("variant", [VARIANTS[0], VARIANTS[3]])
def test_at_rest_it_stays_for_a_hundred_seconds(variant):
    system = variant(chain(3))
    e = zw.equilibrium(system, {q: x + 0.1 for q, x in hanging(system).items()})
    motion = zw.simulate(system, e.state, until=100, samples=3)
    assert np.abs(motion.q.values - motion.q.values[0]).max() < 1e-12


def test_eigenvalues_do_not_depend_on_coordinates():
    """U9: the governor in Cartesian coordinates with redundant rows and in two angles, nothing common but physics."""
    kinetic = (
        sp.Rational(1, 4) * (dot(a) ** 2 + (sp.sin(a) * dot(b)) ** 2) + sp.Rational(3, 2) * (sp.sin(a) * dot(a)) ** 2
    )
    minimal = zw.System((a, b), kinetic=kinetic, potential=-4 * G * sp.cos(a), forces={a: -dot(a) / 10})
    this = zw.steady(minimal, {a: 0.3, b: 0, dot(b): 9}, constant=[a, dot(a), dot(b)], hold={dot(b): 9})
    full = governor()
    x, y, z, u, v, w, low = full.coordinates
    # the same damping: power −(θ̇)²/10 with low = −cos θ, so that dot(low) = sin θ θ̇
    sine = x**2 + y**2
    damped = zw.System(
        full.coordinates, kinetic=full.kinetic, potential=full.potential, forces={low: -dot(low) / (40 * sine)},
        constraints={row.name: row.expression for row in full.constraints},
    )  # fmt: skip
    spin = (x * dot(y) - y * dot(x)) / sine
    guess = {x: 0.15, y: 0, z: -0.48, u: -0.15, v: 0, w: -0.48, low: -0.95, dot(y): 1.4, dot(v): -1.4}
    that = zw.steady(damped, guess, constant={"s": low, "s'": dot(low), "spin": spin}, hold={spin: 9})
    assert np.sort_complex(that.eigenvalues) == pytest.approx(np.sort_complex(this.eigenvalues), abs=1e-10)


ARM = """
<mujoco><option gravity="0 0 -9.81"><flag contact="disable"/></option><compiler angle="radian"/><worldbody>
<body name="upper" pos="0 0 2"><joint name="a" type="hinge" axis="0 1 0" stiffness="3" damping="0.4" springref="0.2"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.6" size="0.04" density="900"/>
<body name="lower" pos="0 0 -0.6"><joint name="b" type="hinge" axis="0 1 0" damping="0.1"/>
<joint name="c" type="hinge" axis="1 0 0" damping="0.05" stiffness="1" armature="0.02"/>
<geom type="capsule" fromto="0 0 0 0.1 0 -0.5" size="0.03" density="700"/>
<body name="hand" pos="0.1 0 -0.5"><joint name="d" type="slide" axis="0 0 1" stiffness="200" damping="1"/>
<geom type="sphere" size="0.06" density="1000"/></body></body></body></worldbody></mujoco>
"""


def test_a_robot_arm_has_the_eigenvalues_of_mujoco(tmp_path):
    """Quaternions and 25 coordinates here; four joints there, found at rest and differentiated by differences."""
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "arm.xml").write_text(ARM)
    found = zw.modes(model := zw.load_model(tmp_path / "arm.xml"), zw.equilibrium(model))
    theirs = mujoco.MjModel.from_xml_string(ARM)
    data, n = mujoco.MjData(theirs), theirs.nv

    def acceleration(x):
        data.qpos[:], data.qvel[:] = x[:n], x[n:]
        mujoco.mj_forward(theirs, data)
        return data.qacc.copy()

    def slopes(x, step=1e-6):
        ways = step * np.eye(2 * n)
        return np.array([acceleration(x + w) - acceleration(x - w) for w in ways]).T / (2 * step)

    x = np.zeros(2 * n)
    for _ in range(10):
        x[:n] -= np.linalg.solve(slopes(x)[:, :n], acceleration(x))
    A = np.block([[np.zeros((n, n)), np.eye(n)], [slopes(x)]])
    expected = np.sort_complex(np.linalg.eigvals(A))
    assert np.sort_complex(found.eigenvalue.values) == pytest.approx(expected, abs=1e-7)
