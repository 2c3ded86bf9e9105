"""The papers' worked examples, equation by equation, as exact expressions and as numbers."""

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.equations.algebra import same
from zwang import dot
from zwang.formulations import FORMS
from zwang.linalg import exact

t = zw.t
x, y, z = zw.coordinates("x y z")
m, g, X, Y, Z = zw.parameters("m g X Y Z")
alpha = sp.Function("alpha")(t)
xd, yd, zd = dot(x), dot(y), dot(z)
v2 = xd**2 + yd**2 + zd**2
T = m * v2 / 2


def numbers(system, values, at=0.0, parameters=None):
    state = dict.fromkeys([*system.coordinates, *system.velocities], 0.0) | values
    return zw.evaluate(system, state, at, parameters)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


class TestRosenbergsParticle:
    """S0 example 1, equations (36)–(38)."""

    system = zw.System(
        (x, y, z),
        kinetic=T,
        forces=(X, Y, Z),
        constraints={"ẏ = z ẋ": yd - z * xd},
        parameters={m: 1, X: 0, Y: 0, Z: 0},
    )
    equations = zw.derive(system)
    row = sp.Matrix([[-z, 1, 0]])

    def test_36_row(self):
        assert same(self.equations.A, self.row)
        assert same(self.equations.b, [zd * xd])
        assert same(self.equations.M, m * sp.eye(3))
        assert same(exact.moore_penrose(self.equations.A, (0,)), self.row.T / (1 + z**2))

    def test_37_projector_is_its_own_inverse(self):
        D = self.equations.A
        P = sp.eye(3) - exact.moore_penrose(D, (0,)) * D
        expected = sp.Matrix([[1, z, 0], [z, z**2, 0], [0, 0, 1 + z**2]]) / (1 + z**2)
        assert same(P, expected)
        assert same(exact.moore_penrose(P, exact.independent_rows(P)), expected)

    @pytest.mark.parametrize("form", FORMS)
    def test_38_acceleration(self, form):
        free = zw.derive(zw.System((x, y, z), kinetic=T, constraints=[yd - z * xd]))
        expected = zd * xd / (1 + z**2) * self.row.T
        assert same(free.acceleration(form), expected)  # independent of the mass
        assert same(free.constraint_force(), m * expected)
        assert same(free.multipliers(), [m * zd * xd / (1 + z**2)])

    def test_given_force(self):
        lam = (m * zd * xd + z * X - Y) / (1 + z**2)
        assert same(self.equations.multipliers(), [lam])
        assert same(m * self.equations.acceleration(), sp.Matrix([X, Y, Z]) + lam * self.row.T)

    def test_numbers(self):
        now = numbers(self.system, {z: 2, xd: 3, zd: 5, yd: 6}, parameters={m: 2})
        close(now.acceleration, [-6, 3, 0])
        close(now.multipliers, [6])


class TestAcatastaticParticle:
    """S0 example 2, equations (39)–(42)."""

    system = zw.System(
        (x, y),
        kinetic=m * (xd**2 + yd**2) / 2,
        forces=(X, Y),
        constraints={"ẋ − tẏ = α": xd - t * yd - alpha},
        parameters={alpha: None},
    )
    equations = zw.derive(system)
    row = sp.Matrix([[1, -t]])
    rate = yd + alpha.diff(t)

    def test_39_row(self):
        assert same(self.equations.A, self.row)
        assert same(self.equations.b, [self.rate])
        assert same(exact.moore_penrose(self.equations.A, (0,)), self.row.T / (1 + t**2))

    def test_40_whitened_projector(self):
        D = self.equations.A
        H = sp.sqrt(m) * (sp.eye(2) - exact.moore_penrose(D, (0,)) * D)
        H_plus = exact.moore_penrose(H, exact.independent_rows(H))
        assert same(H_plus / sp.sqrt(m), sp.Matrix([[t**2, t], [t, 1]]) / (m * (1 + t**2)))

    @pytest.mark.parametrize("form", FORMS)
    def test_41_acceleration(self, form):
        right = sp.Matrix([[t**2, t], [t, 1]]) * sp.Matrix([X, Y]) + m * self.rate * self.row.T
        assert same((1 + t**2) * m * self.equations.acceleration(form), right)

    def test_42_force(self):
        given = sp.Matrix([[1, -t], [-t, t**2]]) * sp.Matrix([X, Y])
        assert same(self.equations.constraint_force(), (m * self.rate * self.row.T - given) / (1 + t**2))

    def test_35_multiplier_and_power_of_an_ideal_constraint(self):
        lam = (m * self.rate - X + t * Y) / (1 + t**2)
        assert same(self.equations.multipliers(), [lam])
        power = (self.equations.constraint_force().T * sp.Matrix([xd, yd]))[0]
        assert sp.simplify(power.subs(xd, t * yd + alpha) - lam * alpha) == 0  # not zero: ideal is not workless

    def test_numbers(self):
        drive = sp.sin(t)
        at = {m: 3, X: 1, Y: -1, alpha: drive}
        speed = 2 - float(sp.cos(2))
        values = {yd: speed, xd: 2 * speed + float(sp.sin(2))}
        now = numbers(self.system, values, at=2.0, parameters=at)
        close(now.acceleration, [8 / 15, -11 / 15])
        close(now.multipliers, [3 / 5])
        close(now.constraint_force, [3 / 5, -6 / 5])
        close(now.constraint_power, 3 / 5 * float(sp.sin(2)))


class TestAppellsRedundantParticle:
    """S2, equations (32)–(43)."""

    Fx, Fy, Fz = sp.symbols("F_x F_y F_z")
    F = sp.Matrix([Fx, Fy, Fz])
    cone = (xd**2 + yd**2 - zd**2) / 2
    system = zw.System(
        (x, y, z), kinetic=T, forces=[m * f for f in (Fx, Fy, Fz)], constraints={"cone": cone, "twice": 2 * cone}
    )
    equations = zw.derive(system)
    v = sp.Matrix([xd, yd, -zd])

    def test_34_35_matrix_and_inverse(self):
        assert same(self.equations.A, sp.Matrix([1, 2]) * self.v.T)
        assert same(self.equations.b, [0, 0])
        A_plus = exact.moore_penrose(self.equations.A, self.equations.rows)
        assert same(A_plus, self.v * sp.Matrix([[1, 2]]) / (5 * v2))
        assert self.equations.rank == 1
        assert self.equations.assumption == "rank 1 of 2 rows assumed; independent: 'cone'"

    @pytest.mark.parametrize("form", FORMS)
    def test_36_acceleration(self, form):
        expected = self.F - (xd * self.Fx + yd * self.Fy - zd * self.Fz) / v2 * self.v
        assert same(self.equations.acceleration(form), expected)

    def test_37_38_eliminated_columns(self):
        Ae = self.equations.A[:, 0]
        assert same(Ae, [xd, 2 * xd])
        Ae_plus = exact.moore_penrose(Ae, (0,))
        assert same(Ae_plus, sp.Matrix([[1, 2]]) / (5 * xd))
        assert same(Ae_plus * self.equations.A[:, 1:], sp.Matrix([[yd / xd, -zd / xd]]))

    def test_39_40_gibbs_appell(self):
        matrix, right = self.equations.gibbs_appell_system([x])
        expected = sp.Matrix([[1 + yd**2 / xd**2, -yd * zd / xd**2], [-yd * zd / xd**2, 1 + zd**2 / xd**2]])
        assert same(matrix / m, expected)
        assert same(right / m, [self.Fy - self.Fx * yd / xd, self.Fz + self.Fx * zd / xd])
        whole = sp.Matrix.vstack(self.v.T, sp.zeros(2, 1).row_join(matrix / m))  # (40)
        accelerations = whole.LUsolve(sp.Matrix.vstack(sp.zeros(1, 1), right / m))
        assert same(accelerations, self.equations.acceleration())

    def test_42_multipliers_and_their_family(self):
        share = -(self.Fx * xd + self.Fy * yd - self.Fz * zd) / (5 * v2)
        lam = self.equations.multipliers()
        assert same(lam / m, [share, 2 * share])
        null = self.equations.null_space()
        projector = sp.Matrix([[4, -2], [-2, 1]]) / 5
        assert same(null * (null.T * null).inv() * null.T, projector)
        w = sp.Matrix(sp.symbols("w1 w2"))
        assert same(self.equations.A.T * (lam + projector * w), self.equations.constraint_force())
        assert same((sp.Matrix([[1, 2]]) * projector * w), [0])  # λ₁ + 2λ₂ is unique

    def test_gravity_gives_half_of_g(self):
        system = zw.System((x, y, z), kinetic=T, potential=m * g * z, constraints=[self.cone, 2 * self.cone])
        a = zw.derive(system).acceleration()
        on_cone = {xd: sp.sqrt(zd**2 - yd**2)}
        assert sp.simplify(a[2].subs(on_cone)) == -g / 2
        assert sp.simplify(a[0] / xd - a[1] / yd) == 0

    def test_appell_hamel(self):
        a = sp.Symbol("a", positive=True)
        cone = zd**2 - a**2 * (xd**2 + yd**2)
        system = zw.System((x, y, z), kinetic=T, potential=m * g * z, constraints=[cone])
        rise = zw.derive(system).acceleration()[2]
        assert sp.simplify(rise.subs(xd, sp.sqrt(zd**2 / a**2 - yd**2)) + a**2 / (1 + a**2) * g) == 0

    def test_numbers(self):
        values = {m: 1, self.Fx: 1, self.Fy: 0, self.Fz: 0}
        now = numbers(self.system, {xd: 3, yd: 4, zd: 5}, parameters=values)
        close(now.acceleration, [0.82, -0.24, 0.30])
        close(now.multipliers @ [1, 2], -3 / 50)
        close(now.multipliers, [-3 / 250, -6 / 250])
        assert now.rank == 1
        assert not now.unique.any()


class TestAppellsVariant:
    """S3, equations (28)–(33), with h(x, y, z, t) left open."""

    a = sp.Symbol("a")
    h = sp.Function("h")(x, y, z, t)
    system = zw.System(
        (x, y, z), kinetic=v2 / 2, potential=g * z, constraints={"cone": (xd**2 + yd**2 - zd**2) / 2 - a * h}
    )
    equations = zw.derive(system)
    v = sp.Matrix([xd, yd, -zd])
    rate = h.diff(t)  # ḣ = h_x ẋ + h_y ẏ + h_z ż + h_t, SymPy's own total derivative

    def test_30_row(self):
        assert same(self.equations.A, self.v.T)
        assert same(self.equations.b, [self.a * self.rate])

    @pytest.mark.parametrize("form", FORMS)
    def test_32_acceleration(self, form):
        lam = (self.a * self.rate - g * zd) / v2
        assert same(self.equations.acceleration(form), sp.Matrix([0, 0, -g]) + lam * self.v)

    def test_33_gibbs_appell(self):
        matrix, right = self.equations.gibbs_appell_system([x])
        assert same(matrix, [[1 + yd**2 / xd**2, -yd * zd / xd**2], [-yd * zd / xd**2, 1 + zd**2 / xd**2]])
        ah = self.a * self.rate
        assert same(right, [ah * yd / xd**2, -g - ah * zd / xd**2])

    def test_power_of_the_ideal_constraint(self):
        lam = self.equations.multipliers()[0]
        assert sp.simplify(lam - (self.a * self.rate - g * zd) / v2) == 0
        power = (self.equations.constraint_force().T * sp.Matrix([xd, yd, zd]))[0]
        on_cone = {xd**2: 2 * self.a * self.h + zd**2 - yd**2}
        assert sp.simplify(sp.expand(sp.simplify(power / lam)).subs(on_cone) - 2 * self.a * self.h) == 0

    def test_a_driving_function_may_stay_open_too(self):
        system = zw.System(
            (x, y, z),
            kinetic=v2 / 2,
            potential=g * z,
            constraints=[(xd**2 + yd**2 - zd**2) / 2 - alpha * self.h],
            parameters={alpha: None},
        )
        lam = ((alpha * self.h).diff(t) - g * zd) / v2
        assert same(zw.derive(system).acceleration(), sp.Matrix([0, 0, -g]) + lam * self.v)

    def test_numbers(self):
        # h = ct with a c = 10: aḣ = 10, and at t = 0 the cone is exact
        cone = (xd**2 + yd**2 - zd**2) / 2 - 10 * t
        system = zw.System((x, y, z), kinetic=v2 / 2, potential=g * z, constraints=[cone], parameters={g: 10})
        now = numbers(system, {xd: 3, yd: 4, zd: 5})
        close(now.acceleration, [-2.4, -3.2, -6])
        close(now.multipliers, [-0.8])

    def test_32_needs_only_a_speed_and_33_a_speed_along_x(self):
        cone = (xd**2 + yd**2 - zd**2) / 2
        system = zw.System((x, y, z), kinetic=v2 / 2, potential=g * z, constraints=[cone], parameters={g: 10})
        now = numbers(system, {yd: 5, zd: 5})
        close(now.acceleration, [0, -5, -5])
        assert self.equations.gibbs_appell_system([x])[0].subs(xd, 0).has(sp.zoo)


class TestNonidealFixtures:
    """Example 5: S1 has none of its own."""

    def test_two_masses(self):
        system = zw.System((x, y), mass=sp.diag(1, 2), constraints=[xd + yd], nonideal=(1, 0))
        equations = zw.derive(system)
        third = sp.Rational(1, 3)
        assert same(equations.nonideal_force(), [third, -2 * third])
        assert (sp.Matrix([[1, -1]]) * equations.nonideal_force())[0] == 1  # vᵀQ_ni = vᵀC
        now = numbers(system, {})
        close(now.nonideal_force, [1 / 3, -2 / 3])

    def test_rosenbergs_particle_with_drag(self):
        c = sp.Symbol("c")
        drag = [-c * rate for rate in (xd, yd, zd)]
        system = zw.System((x, y, z), kinetic=v2 / 2, constraints=[yd - z * xd], nonideal=drag)
        a = zw.derive(system).acceleration()
        # ẋ√(1+z²) decays as exp(−ct), ż as well
        invariant = xd * sp.sqrt(1 + z**2)
        rate = invariant.diff(t).subs(dict(zip([q.diff(t, 2) for q in (x, y, z)], a, strict=True)))
        assert sp.simplify((rate + c * invariant).subs(yd, z * xd)) == 0
        assert sp.simplify(a[2] + c * zd) == 0

    def test_rosenbergs_particle_with_quadratic_drag(self):
        c = sp.Symbol("c")
        speed = sp.sqrt(v2)
        drag = [-c * speed * rate for rate in (xd, yd, zd)]
        system = zw.System((x, y, z), kinetic=v2 / 2, constraints=[yd - z * xd], nonideal=drag)
        a = zw.derive(system).acceleration()
        V = sp.sqrt((1 + z**2) * xd**2 + zd**2)  # the speed on the constraint
        rate = V.diff(t).subs(dict(zip([q.diff(t, 2) for q in (x, y, z)], a, strict=True))).subs(yd, z * xd)
        assert sp.simplify(rate + c * V**2) == 0


def test_example_6_golden_fixture():
    M = sp.Matrix([[5, 4, 1], [4, 6, 4], [1, 4, 5]])
    one, two = x.diff(t, 2) + y.diff(t, 2), 2 * x.diff(t, 2) + 2 * y.diff(t, 2)
    system = zw.System((x, y, z), mass=M, forces=(1, 0, 0), constraints=[sp.Eq(one, 1), sp.Eq(two, 2)])
    equations = zw.derive(system)
    half = sp.Rational(1, 2)
    assert same(equations.free_acceleration(), [sp.Rational(7, 8), -1, sp.Rational(5, 8)])
    assert same(equations.multipliers(), [sp.Rational(3, 5), sp.Rational(6, 5)])
    assert same(equations.constraint_force(), [3, 3, 0])
    assert same(equations.deviation(), equations.acceleration() - equations.free_acceleration())
    assert same(equations.error(), equations.b - equations.A * equations.free_acceleration())
    assert equations.gaussian() == sp.Rational(27, 16)  # ½ Q_cᵀM⁻¹Q_c
    for form in FORMS:
        assert same(equations.acceleration(form), [half, half, -half])
    now = numbers(system, {})
    close(now.acceleration, [0.5, 0.5, -0.5])
    close(now.multipliers, [0.6, 1.2])
    close(now.weighted_inverse, [[-1 / 15, -2 / 15], [4 / 15, 8 / 15], [-1 / 5, -2 / 5]])
    close(now.gaussian, 27 / 16)


def test_example_7_pendulum():
    L, phi = sp.Symbol("L", positive=True), zw.coordinates("phi")
    rod = (x**2 + y**2 - L**2) / 2
    system = zw.System((x, y), kinetic=m * (xd**2 + yd**2) / 2, potential=m * g * y, constraints={"rod": rod})
    equations = zw.derive(system)
    assert same(equations.A, [[x, y]])
    assert same(equations.b, [-(xd**2) - yd**2])
    factor = (g * y - xd**2 - yd**2) / (x**2 + y**2)
    assert same(equations.acceleration(), sp.Matrix([0, -g]) + factor * sp.Matrix([x, y]))
    turned = equations.transform((phi,), {x: L * sp.sin(phi), y: -L * sp.cos(phi)})
    assert turned.rank == 0  # the rod holds by itself
    assert same(turned.acceleration(), [-g / L * sp.sin(phi)])
    on_circle = {x: L * sp.sin(phi), y: -L * sp.cos(phi)}
    lam = equations.multipliers()[0].subs(on_circle).doit()
    assert sp.simplify(-lam * L - m * (L * dot(phi) ** 2 + g * sp.cos(phi))) == 0


def test_example_8_uniqueness():
    system = zw.System((x, y), kinetic=xd**2 + yd**2, constraints={"one": x, "two": y, "double": 2 * y})
    A = zw.derive(system).A
    spread = sp.eye(3) - A * exact.moore_penrose(A, (0, 1))
    assert spread.row(0).is_zero_matrix
    assert not spread.row(1).is_zero_matrix
    assert not spread.row(2).is_zero_matrix
    verdict = zw.diagnose(system, dict.fromkeys([x, y, xd, yd], 0))
    assert verdict.unique_multipliers == {"one": True, "two": False, "double": False}


def test_example_9_singular_mass():
    m1, m2, k1, k2, l1, l2 = sp.symbols("m1 m2 k1 k2 l1 l2")
    x1, q1, q2 = zw.coordinates("x1 q1 q2")
    M = [[m1, 0, 0], [0, m2, m2], [0, m2, m2]]
    X1, X2 = x1 - l1, q2 - l2
    system = zw.System((x1, q1, q2), mass=M, forces=(-k1 * X1, 0, -k2 * X2), constraints={"joined": q1 - x1})
    equations = zw.derive(system)
    first = (-k1 * X1 + k2 * X2) / m1
    for form in FORMS:
        assert same(equations.acceleration(form), [first, first, -first - k2 * X2 / m2])
    values = {m1: 2, m2: 3, k1: 5, k2: 7, l1: 1, l2: 1}
    now = numbers(system, {x1: 1.5, q1: 1.5, q2: 1.25}, parameters=values)
    close(now.acceleration, [-0.375, -0.375, 0.375 - 7 * 0.25 / 3])
