"""Small Floquet multipliers and large negative Lyapunov exponents: known to their own digits, lost only at jumps."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from tests.references import contact
from zwang import dot

x, y = zw.coordinates("x y")
v = dot(x)


def driven_by_a_cosine(forces, potential, coordinates=(x,)):
    kinetic = sum(dot(q) ** 2 for q in coordinates) / 2
    return zw.System(coordinates, kinetic=kinetic, potential=potential, forces=forces)


def test_a_hamiltonian_orbit_keeps_the_partner_of_its_large_multiplier():
    """a″ = 16 sin a + cos(2t)/2: a pair λ, 1/λ near e^{±4π}; SciPy integrates Hill's equation of the orbit found."""
    upright = driven_by_a_cosine({x: sp.cos(2 * zw.t) / 2}, 16 * sp.cos(x))
    motion = zw.periodic(upright, {x: -0.025, v: 0}, period=np.pi)
    large, small = motion.floquet.values.real
    assert large * small == pytest.approx(1, abs=1e-8)
    assert motion.floquet_name.values.tolist() == ["", ""]

    def rates(t, s):
        return [
            s[1],
            16 * np.sin(s[0]) + np.cos(2 * t) / 2,
            s[3],
            16 * np.cos(s[0]) * s[2],
            s[5],
            16 * np.cos(s[0]) * s[4],
        ]

    begin = [motion.q.values[0, 0], motion.v.values[0, 0], 1, 0, 0, 1]
    end = solve_ivp(rates, (0, np.pi), begin, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    assert large == pytest.approx(end[2] + end[5], rel=1e-6)  # the trace is λ + 1/λ, and the orbit unstable


def test_stiff_multipliers_have_digits_of_their_own():
    """x″ = −21x′ − 20x + cos t: exp(−2π) and exp(−40π) = 2.7e-55; two such lines, coupled: by NumPy's eigenvalues."""
    stiff = driven_by_a_cosine({x: -21 * v + sp.cos(zw.t)}, 10 * x**2)
    motion = zw.periodic(stiff, {x: 0.05, v: 0}, period=2 * np.pi)
    np.testing.assert_allclose(motion.floquet.values, np.exp([-2 * np.pi, -40 * np.pi]), rtol=1e-7)
    assert motion.floquet_name.values.tolist() == ["", ""]
    forces = {x: -21 * v + sp.cos(zw.t), y: -31 * dot(y)}
    two = driven_by_a_cosine(forces, 10 * x**2 + 15 * y**2 + x * y / 7, (x, y))
    K, D = np.array([[20, 1 / 7], [1 / 7, 30]]), np.diag([21.0, 31.0])
    rates = np.sort(np.linalg.eigvals(np.block([[np.zeros((2, 2)), np.eye(2)], [-K, -D]])).real)[::-1]
    motion = zw.periodic(two, {x: 0.05, y: 0, v: 0, dot(y): 0}, period=2 * np.pi)
    np.testing.assert_allclose(motion.floquet.values, np.exp(2 * np.pi * rates), rtol=1e-6)  # down to 1.4e-82


def test_a_stiff_limit_cycle_by_liouville():
    """Van der Pol at μ = 5: the second multiplier is exp ∮ 5 (1 − x²) dt, some 8e-38, of the motion found."""
    cycle = zw.System((x,), kinetic=v**2 / 2, potential=x**2 / 2, forces={x: 5 * (1 - x**2) * v})
    motion = zw.periodic(cycle, {x: 2, v: 0}, period=11.6, hold=[v])

    def rates(t, s):
        return [s[1], 5 * (1 - s[0] ** 2) * s[1] - s[0], 5 * (1 - s[0] ** 2)]

    begin = [motion.q.values[0, 0], 0.0, 0.0]
    exponent = solve_ivp(rates, (0, motion.attrs["period"]), begin, method="LSODA", rtol=1e-12, atol=1e-13).y[2, -1]
    assert motion.floquet.values[1].real == pytest.approx(np.exp(exponent), rel=1e-6)
    assert motion.floquet_name.values.tolist() == ["along the motion", ""]


@pytest.mark.parametrize("restitution", [0.5, 1e-3, 1e-5])
def test_an_impact_that_loses_nearly_all_forgets_nothing(restitution):
    """A ball on a vibrating table: the product of its two multipliers is ε² (Holmes 1982), 1e-10 included."""
    height, period, size, g = zw.coordinates("height"), 0.1, 0.01, 9.81
    frequency = 2 * np.pi / period
    speed = g * period / 2 * (1 - restitution) / (1 + restitution)  # of the table at the impact
    phase = np.arccos(speed / (size * frequency))
    wave = size * sp.sin(frequency * zw.t)
    table = zw.Constraint(height - wave >= 0, "table", restitution=restitution)
    ball = zw.System((height,), kinetic=dot(height) ** 2 / 2, potential=g * height, constraints=[table])
    top = {height: size * np.sin(phase) + g * (period / 2) ** 2 / 2, dot(height): 0}
    motion = zw.periodic(ball, top, period=period, t=float(phase / frequency + period / 2))
    assert np.prod(motion.floquet.values).real == pytest.approx(restitution**2, rel=1e-6)
    assert motion.floquet_name.values.tolist() == ["", ""]


def test_a_motion_that_sticks_forgets_one_direction():
    """Dry friction holds a driven mass twice a period: its speed is forgotten there, exactly."""
    rubbing = driven_by_a_cosine({x: -sp.Rational(3, 5) * sp.sign(v) + sp.cos(zw.t / 2)}, x**2 / 2)
    late = zw.simulate(rubbing, {x: 0, v: 1}, until=40 * np.pi, samples=2)
    begin = dict(zip((x, v), (late.q.values[-1, 0], late.v.values[-1, 0]), strict=True))
    motion = zw.periodic(rubbing, begin, period=4 * np.pi)
    assert motion.floquet.values[1] == 0
    assert motion.floquet_name.values.tolist() == ["", "forgotten"]


def test_exponents_of_stiff_systems_are_finite_with_the_default_stretches():
    """x″ + 21x′ + 20x = 0: −1 and −20; Lorenz's equations as constraints: −14.57, and the sum −41/3 exactly."""
    line = driven_by_a_cosine({x: -21 * v}, 10 * x**2)
    found = zw.lyapunov(line, {x: 1, v: 0.5}, until=60.0, stretches=20)
    assert found.exponent.values == pytest.approx([-1, -20], abs=0.02)
    assert found.exponent.values.sum() == pytest.approx(-21, rel=1e-7)
    z = zw.coordinates("z")
    speeds = {"a": v - 10 * (y - x), "b": dot(y) - x * (28 - z) + y, "c": dot(z) - x * y + sp.Rational(8, 3) * z}
    lorenz = zw.System((x, y, z), kinetic=(v**2 + dot(y) ** 2 + dot(z) ** 2) / 2, constraints=speeds)
    begin = {x: 1, y: 2, z: 20, v: 10, dot(y): 6, dot(z): 2 - 160 / 3}
    found = zw.lyapunov(lorenz, begin, until=60.0, tol=1e-8, stretches=20)
    assert found.exponent.values == pytest.approx([0.9057, 0, -14.5723], abs=0.15)  # in the mean of a short time
    assert found.exponent.values.sum() == pytest.approx(-41 / 3, abs=0.05)  # lengths are those of q and q̇ together


def test_a_stretch_may_end_where_a_motion_jumps():
    """Kicks at whole times, where stretches end, too: exponents of the standard map, near ln(K/2) for large K."""
    free = zw.System((x,), kinetic=v**2 / 2)
    kick = zw.Event(sp.sin(sp.pi * zw.t), "kick", reset={v: v + 40 * sp.sin(x)})
    found = zw.lyapunov(free, {x: 1, v: 0.3}, until=60.0, stretches=60, events=[kick])
    assert found.exponent.values == pytest.approx([np.log(20), -np.log(20)], abs=0.5)
    assert found.exponent.values.sum() == pytest.approx(0, abs=1e-6)  # the map keeps areas


def test_an_impact_without_restitution_has_the_exponent_minus_infinity():
    system, start, t = contact.vibrating_table()
    height = system.coordinates[0]
    gone = zw.System((height,), kinetic=dot(height) ** 2 / 2, potential=9.81 * height,
                     constraints=[zw.Constraint(system.constraints[0].expression >= 0, "table")])  # fmt: skip
    found = zw.lyapunov(gone, start | {height: start[height] + 0.01}, t + 0.3, t=t, stretches=3)
    assert found.exponent.values[-1] == -np.inf
