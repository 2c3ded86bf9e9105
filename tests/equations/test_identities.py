"""What the papers claim of their equations, as exact identities (labels: numbers of the claims)."""

from itertools import combinations

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from tests.equations.algebra import agree, same
from zwang import dot
from zwang.errors import InconsistentError, InputError
from zwang.formulations import FORMS, gibbs_appell
from zwang.linalg import exact
from zwang.linalg.inverses import inverse_1, inverse_13, inverse_14

t = zw.t
q1, q2, q3, q4 = zw.coordinates("q1:5")
x, y, z = zw.coordinates("x y z")
m, g, k = zw.parameters("m g k")


def integers(rows, columns, seed):
    return sp.Matrix(np.random.default_rng(seed).integers(-3, 4, (rows, columns)).tolist())


def redundant(nonideal=None):
    """n = 4, m = 3, rank 2, a full mass matrix, everything rational: M = XᵀX, and X serves as the papers' M^{1/2}."""
    X = sp.Matrix([[2, 1, 0, 1], [0, 2, 1, 0], [0, 0, 3, 1], [0, 0, 0, 2]])
    G = sp.Matrix([[1, 0, 2, -1], [0, 1, 1, 1]])
    A = sp.Matrix([[1, 0], [2, -1], [0, 1]]) * G
    b = sp.Matrix([[1, 0], [2, -1], [0, 1]]) * sp.Matrix([3, -2])
    a = sp.Matrix([q1, q2, q3, q4]).diff(t, 2)
    rows = {f"row {i}": (A[i, :] * a)[0] - b[i] for i in range(3)}
    system = zw.System((q1, q2, q3, q4), mass=X.T * X, forces=(1, -2, 0, 5), constraints=rows, nonideal=nonideal)
    return zw.derive(system)


EQUATIONS = redundant()
X = exact.factor(EQUATIONS.M)
M, Q, A, b = EQUATIONS.M, EQUATIONS.Q, EQUATIONS.A, EQUATIONS.b
ACCELERATION = EQUATIONS.acceleration()


def test_C4_mixture_of_all_kinds_six_rows_four_coordinates_rank_two():
    """Holonomic, nonholonomic, nonlinear, rheonomic, acatastatic and given accelerations, through one path."""
    phi = q1 + q2 - sp.sin(t)
    constraints = {
        "position": phi,
        "velocity": 3 * dot(phi),
        "acceleration": phi.diff(t, 2),
        "rolling": dot(q3) - q1 * dot(q4),
        "squared": (dot(q3) - q1 * dot(q4) + 1) ** 2 - 1,
        "sum": dot(phi) + dot(q3) - q1 * dot(q4),
    }
    kinetic = (dot(q1) ** 2 + 2 * dot(q2) ** 2 + dot(q3) ** 2 + 3 * dot(q4) ** 2) / 2
    system = zw.System((q1, q2, q3, q4), kinetic=kinetic, potential=g * q1 * q4, constraints=constraints)
    equations = zw.derive(system)
    assert equations.A.shape == (6, 4)
    assert equations.rank == 2
    few = zw.derive(
        zw.System((q1, q2, q3, q4), kinetic=kinetic, potential=g * q1 * q4,
                  constraints={n: constraints[n] for n in ("position", "rolling")})
    )  # fmt: skip
    # 'squared' has the row of 'rolling' times 2(ψ + 1), and so does its right-hand side
    for form in ("fundamental", "gauss", "lagrange"):
        assert agree(equations.acceleration(form), few.acceleration())
    assert agree(equations.A * few.acceleration(), equations.b)
    assert agree(equations.constraint_force(), few.constraint_force())
    assert [c.order for c in system.constraints] == [0, 1, 2, 1, 1, 1]
    kinds = {word for c in system.constraints for word in c.kinds}
    assert {"holonomic", "nonholonomic", "rheonomic", "scleronomic", "catastatic", "acatastatic",
            "linear in velocity", "nonlinear in velocity", "given at acceleration level"} == kinds  # fmt: skip
    state = {q1: 0.3, q2: -0.3, q3: 1.0, q4: 0.5, dot(q1): 0.25, dot(q2): 0.75, dot(q3): 0.06, dot(q4): 0.2}
    verdict = zw.diagnose(system, state, parameters={g: 9.81})
    assert (verdict.rank, verdict.degrees_of_freedom, verdict.ok) == (2, 2, True)
    assert set(verdict.redundant) == {"velocity", "acceleration", "squared", "sum"}


def test_C6_rank_of_A_and_b_must_agree():
    system = zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2,
                       constraints={"slow": dot(x) - t, "side": dot(y), "fast": dot(x) - 2 * t})  # fmt: skip
    equations = zw.derive(system)
    assert sp.Matrix.hstack(equations.A, equations.b).rank() > equations.A.rank()
    for form in FORMS:
        with pytest.raises(InconsistentError, match=r"'fast' contradicts 'slow': .* differs by 1") as caught:
            equations.acceleration(form)
        assert caught.value.rows == (2, 0)
    with pytest.raises(InconsistentError):
        equations.multipliers()
    with pytest.raises(InconsistentError, match="constraint 'fast' contradicts constraint 'slow'"):
        zw.evaluate(system, {x: 0, y: 0, dot(x): 0, dot(y): 0})


def test_C6_a_contradiction_that_only_grows_with_time_is_one_too():
    system = zw.System((x,), kinetic=dot(x) ** 2, constraints={"a": dot(x) - t**2, "b": dot(x) - t**3})
    with pytest.raises(InconsistentError, match="'b' contradicts 'a'"):
        zw.derive(system).acceleration()


def test_C6_a_row_of_zeros_that_asks_for_something():
    # the accelerations cancel: 0 = 1
    never = (x.diff(t, 2) + 1) * (y + 1) - x.diff(t, 2) * y - x.diff(t, 2) - y
    equations = zw.derive(zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, constraints={"never": never}))
    assert equations.rank == 0
    with pytest.raises(InconsistentError, match="constraint 'never' cannot be obeyed"):
        equations.acceleration()


def test_C6_what_must_vanish_is_said():
    system = zw.System((x,), kinetic=dot(x) ** 2, constraints={"a": dot(x) - m * t, "b": dot(x) - k * t})
    equations = zw.derive(system)
    assert equations.assumption == (
        "rank 1 of 2 rows assumed; independent: 'a'; 'b' agrees with them only where k - m = 0"
    )
    assert same(equations.acceleration(), [m])


def particle():
    constraints = {"rolling": dot(y) - z * dot(x)}
    kinetic = m * (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2 + x * dot(x) * dot(y)
    return zw.System((x, y, z), kinetic=kinetic, potential=m * g * z, forces={x: -k * dot(x)}, constraints=constraints)


def lagranges_left_side(system):
    """d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q − F with SymPy's total derivatives."""
    T, V = system.kinetic, system.potential
    return sp.Matrix(
        [
            T.diff(dot(q)).diff(t) - T.diff(q) + V.diff(q) - F
            for q, F in zip(system.coordinates, system.forces, strict=True)
        ]
    )


def test_G1_virtual_work_of_the_equations_of_motion_vanishes():
    system = particle()
    equations = zw.derive(system)
    q = sp.Matrix(system.coordinates)
    motion = dict(zip(q.diff(t, 2), equations.acceleration(), strict=True))
    left = lagranges_left_side(system).subs(motion)
    virtual = exact.null_space(equations.A, equations.rows)  # all δq with D δq = 0
    assert virtual.shape == (3, 2)
    assert same(virtual.T * left, sp.zeros(2, 1))
    assert same(left, equations.A.T * equations.multipliers())  # the form with multipliers


def test_G1_lagranges_equations_are_M_and_Q():
    system = particle()
    equations = zw.derive(system)
    q = sp.Matrix(system.coordinates)
    assert same(equations.M * q.diff(t, 2) - equations.Q, lagranges_left_side(system))


def test_G2_G4_pythagoras():
    a = EQUATIONS.free_acceleration()
    h = sp.Matrix(sp.symbols("h1:5"))
    Z = exact.null_space(A, EQUATIONS.rows)
    other = ACCELERATION + Z * Z.T * h  # every acceleration that obeys the rows
    assert same(A * other, b)
    assert sp.expand((EQUATIONS.constraint_force().T * (other - ACCELERATION))[0]) == 0

    def gaussian(acceleration):
        return ((acceleration - a).T * M * (acceleration - a))[0] / 2

    step = other - ACCELERATION
    assert sp.expand(gaussian(other) - gaussian(ACCELERATION) - (step.T * M * step)[0] / 2) == 0
    assert gaussian(ACCELERATION) == EQUATIONS.gaussian()
    e = EQUATIONS.error()
    G = A * M.inv() * A.T
    assert EQUATIONS.gaussian() == (e.T * G.pinv() * e)[0] / 2


def test_G5_general_solution_of_the_rows():
    D = inverse_1(A, A.pinv(), integers(4, 3, 1))
    assert same(A * (D * b + (sp.eye(4) - D * A) * sp.Matrix(sp.symbols("h1:5"))), b)


@pytest.mark.parametrize("seed", range(3))
def test_G6_any_1_inverse_and_any_13_inverse(seed):
    D = inverse_1(A, A.pinv(), integers(4, 3, seed))
    H = X * (sp.eye(4) - D * A)
    H_inv = inverse_13(H, H.pinv(), integers(4, 4, seed + 10))
    for pair in ((D, H_inv), (D, None)):
        assert same(EQUATIONS.acceleration("generalized-inverse", equation="S0 29", inverse=pair), ACCELERATION)
    H0 = X * (sp.eye(4) - A.pinv() * A)
    assert same(EQUATIONS.acceleration("generalized-inverse", inverse=(None, H0.pinv())), ACCELERATION)


def test_G6_inadmissible_inverses_are_refused():
    H = X * (sp.eye(4) - A.pinv() * A)
    only_1 = inverse_1(H, H.pinv(), integers(4, 4, 3))
    with pytest.raises(InputError, match=r"H⁻ is not a \{1,3\}-inverse: Penrose condition \(3\) fails"):
        EQUATIONS.acceleration("generalized-inverse", inverse=(None, only_1))
    with pytest.raises(InputError, match=r"D⁻ is not a \{1\}-inverse: Penrose condition \(1\) fails"):
        EQUATIONS.acceleration("generalized-inverse", inverse=(A.T, None))
    with pytest.raises(InputError, match=r"D⁻ has shape \(3, 4\), but \(4, 3\) is needed"):
        EQUATIONS.acceleration("generalized-inverse", inverse=(A, None))
    # refused with reason: it would be wrong
    P = sp.eye(4) - A.pinv() * A
    free = A.pinv() * b
    assert not same(free + P * only_1 * (X.T.inv() * Q - X * free), ACCELERATION)


def test_G8_without_constraints():
    free = zw.derive(zw.System((x, y), mass=[[m, 1], [1, k]], forces=(g, 0)))
    for form in FORMS:
        assert same(free.acceleration(form), free.free_acceleration())
    assert free.constraint_force().is_zero_matrix
    assert free.multipliers().shape == (0, 1)
    assert free.rank == 0


@pytest.mark.parametrize("seed", range(3))
def test_U1_any_14_inverse(seed):
    C = A * X.inv()
    inverse = inverse_14(C, C.pinv(), integers(4, 3, seed))
    assert same(EQUATIONS.acceleration("generalized-inverse", equation="S3 24", inverse=inverse), ACCELERATION)
    assert same(EQUATIONS.acceleration("generalized-inverse", equation="S3 24"), ACCELERATION)


def test_U1_others_are_refused():
    C = A * X.inv()
    for wrong in (inverse_1(C, C.pinv(), integers(4, 3, 1)), inverse_13(C, C.pinv(), integers(4, 3, 1))):
        with pytest.raises(InputError, match=r"C\^\(1,4\) is not a \{1,4\}-inverse: Penrose condition \(4\) fails"):
            EQUATIONS.acceleration("generalized-inverse", equation="S3 24", inverse=wrong)


@pytest.mark.parametrize("seed", range(3))
def test_U2_any_1_inverse_of_the_delassus_matrix(seed):
    G = A * M.inv() * A.T
    inverse = inverse_1(G, G.pinv(), integers(3, 3, seed))
    assert same(EQUATIONS.acceleration("generalized-inverse", equation="S3 26", inverse=inverse), ACCELERATION)
    assert same(EQUATIONS.acceleration("generalized-inverse", equation="S3 26"), ACCELERATION)
    with pytest.raises(InputError, match="Penrose condition"):
        EQUATIONS.acceleration("generalized-inverse", equation="S3 26", inverse=G)


def test_U1_U2_symbolic_members():
    equations = zw.derive(particle())
    expected = equations.acceleration()
    for equation in ("S0 29", "S3 24", "S3 26"):
        assert same(equations.acceleration("generalized-inverse", equation=equation), expected)


def test_U3_full_mass_matrix():
    e, i = [0, 1], [2, 3]
    Ae, Ai = A[:, :2], A[:, 2:]
    R = Ae.pinv() * Ai
    matrix, right = EQUATIONS.gibbs_appell_system([q1, q2])
    Mee, Mie, Mii = M.extract(e, e), M.extract(i, e), M.extract(i, i)
    assert same(matrix, Mii + R.T * Mee * R - Mie * R - R.T * Mie.T)
    assert same(right, Q[2:, :] - R.T * Q[:2, :] + (R.T * Mee - Mie) * Ae.pinv() * b)
    assert same(matrix.LUsolve(right), ACCELERATION[2:, :])
    whole = sp.Matrix.vstack(A, sp.zeros(2, 2).row_join(matrix))
    assert same(whole * ACCELERATION, sp.Matrix.vstack(b, right))
    assert whole.rank() == 4


def test_U4_all_admissible_choices_agree_and_the_others_are_refused():
    agreed = 0
    for pair in combinations(range(4), 2):
        chosen = [EQUATIONS.coordinates[j] for j in pair]
        if A.extract([0, 1, 2], list(pair)).rank() == 2:
            assert same(EQUATIONS.acceleration("gibbs-appell", eliminate=chosen), ACCELERATION)
            agreed += 1
    assert agreed == 6
    rolling = zw.derive(particle())
    for q in (x, y):
        assert same(rolling.acceleration("gibbs-appell", eliminate=[q]), rolling.acceleration())
    with pytest.raises(InputError, match="eliminate"):
        rolling.acceleration("gibbs-appell", eliminate=[z])  # its column of A is zero
    slide = zw.derive(zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, constraints=[x]))
    for wrong in ([y], [], [x, y], [x, x]):
        with pytest.raises(InputError, match="eliminate"):
            slide.acceleration("gibbs-appell", eliminate=wrong)
    with pytest.raises(InputError, match=r"eliminate: q1.* is not a coordinate"):
        slide.acceleration("gibbs-appell", eliminate=[q1])


def test_U4_the_formula_for_diagonal_masses_is_guarded():
    R = A[:, :2].pinv() * A[:, 2:]
    with pytest.raises(InputError, match="diagonal mass matrix only"):
        gibbs_appell.diagonal_hessian(M, R, [0, 1])
    D = sp.diag(1, 2, 3, 4)
    rows = [(A[i, :] * sp.Matrix(EQUATIONS.coordinates).diff(t, 2))[0] - b[i] for i in range(3)]
    equations = zw.derive(zw.System(EQUATIONS.coordinates, mass=D, forces=list(Q), constraints=rows))
    assert same(gibbs_appell.diagonal_hessian(D, R, [0, 1]), equations.gibbs_appell_system([q1, q2])[0])


def test_U5_derivative_of_the_gibbs_function():
    free = sp.Matrix(sp.symbols("a3 a4"))
    Ae_plus = A[:, :2].pinv()
    R = Ae_plus * A[:, 2:]
    whole = sp.Matrix.vstack(Ae_plus * b - R * free, free)
    S = (whole.T * M * whole)[0] / 2
    matrix, right = EQUATIONS.gibbs_appell_system([q1, q2])
    P = Q[2:, :] - R.T * Q[:2, :]
    slope = sp.Matrix([S.diff(a) for a in free])
    assert same(slope - P, matrix * free - right)  # ∂S/∂q̈_I = P is the equation of motion
    assert same(sp.hessian(S, list(free)), matrix)
    assert matrix.is_positive_definite  # U6: one minimum
    v = sp.Matrix(sp.symbols("v3 v4"))
    assert same(sp.Matrix.vstack(-R * v, v).T * Q, v.T * P)  # virtual work


def test_U7_multipliers():
    lam, null = EQUATIONS.multipliers(), EQUATIONS.null_space()
    w = sp.Symbol("w")
    assert same(M * ACCELERATION, Q + A.T * (lam + null * w))
    assert same(null.T * lam, [0])  # of least length
    G = A * M.inv() * A.T
    assert same(lam, G.pinv() * EQUATIONS.error())
    for vector in G.nullspace():
        assert (A.T * vector).is_zero_matrix


NONIDEAL = (1, 0, -2, 1)


def test_N1_N3_N6_split_of_the_force():
    equations = redundant(NONIDEAL)
    c = sp.Matrix(NONIDEAL)
    B = A * X.inv()
    e = EQUATIONS.error()
    ideal, nonideal = equations.ideal_force(), equations.nonideal_force()
    assert same(ideal, X.T * B.pinv() * e)  # (7)
    assert same(nonideal, X.T * (sp.eye(4) - B.pinv() * B) * X.T.inv() * c)  # (8), z = M^{-1/2}C
    for form in FORMS:
        acceleration = equations.acceleration(form)
        assert same(M * acceleration, Q + ideal + nonideal)  # (6)
        assert same(A * acceleration, b)
    assert same(equations.constraint_force(), ideal + nonideal)


def test_N2_virtual_work_is_that_of_C():
    equations = redundant(NONIDEAL)
    Z = exact.null_space(A, equations.rows)
    assert same(Z.T * equations.constraint_force(), Z.T * sp.Matrix(NONIDEAL))
    assert same(Z.T * equations.ideal_force(), sp.zeros(2, 1))


def test_N4_gauge():
    w = sp.Matrix([1, -2, 5])
    equations = redundant(NONIDEAL)
    other = redundant(tuple(sp.Matrix(NONIDEAL) + A.T * w))
    assert same(other.acceleration(), equations.acceleration())
    assert same(other.constraint_force(), equations.constraint_force())
    assert same(other.nonideal_force(), equations.nonideal_force())


def test_N5_when_the_nonideal_force_is_C():
    equations = redundant(NONIDEAL)
    assert not same(equations.nonideal_force(), NONIDEAL)
    along = M * exact.null_space(A, (0, 1)) * sp.Matrix([2, -1])  # AM⁻¹C = 0
    assert same(redundant(tuple(along)).nonideal_force(), along)
    across = A.T * sp.Matrix([1, 2, 3])  # C in the range of Aᵀ: D'Alembert
    equations = redundant(tuple(across))
    assert equations.nonideal_force().is_zero_matrix
    assert same(equations.acceleration(), ACCELERATION)


def test_N7_multipliers_with_C():
    equations = redundant(NONIDEAL)
    c = sp.Matrix(NONIDEAL)
    lam = equations.multipliers()
    assert same(A.T * lam + c, equations.constraint_force())
    assert same(lam, (A * M.inv() * A.T).pinv() * (b - A * M.inv() * (Q + c)))
    assert (equations.ideal_force().T * M.inv() * equations.nonideal_force())[0] == 0


def test_N8_the_gaussian_about_the_free_acceleration_is_no_longer_least():
    equations = redundant(NONIDEAL)
    Z = exact.null_space(A, equations.rows)
    slope = Z.T * M * (equations.acceleration() - equations.free_acceleration())
    assert not slope.is_zero_matrix
    about_c = equations.free_acceleration() + M.inv() * sp.Matrix(NONIDEAL)
    assert same(Z.T * M * (equations.acceleration() - about_c), sp.zeros(2, 1))


def test_momentum_that_depends_on_time_is_a_force():
    """d/dt ∂T/∂ẋ = F by hand: M ẍ + ∂p/∂t = 0, for a mass that grows and for a place that is carried along."""
    grows = zw.derive(zw.System((x,), kinetic=(1 + t**2) * dot(x) ** 2 / 2))
    assert same(grows.Q, sp.Matrix([-2 * t * dot(x)]))
    carried = zw.derive(zw.System((x,), kinetic=(dot(x) + sp.sin(t)) ** 2 / 2))
    assert same(carried.Q, sp.Matrix([-sp.cos(t)]))
    numbers = zw.evaluate(zw.System((x,), kinetic=(1 + t**2) * dot(x) ** 2 / 2), {x: 0.3, dot(x): 2.0}, t=0.5)
    assert numbers.acceleration == pytest.approx([-2 * 0.5 * 2.0 / 1.25])


def test_unknown_forms_and_choices_are_refused():
    with pytest.raises(InputError, match="form='newton' is unknown"):
        EQUATIONS.acceleration("newton")
    with pytest.raises(InputError, match="form 'gauss' takes no 'inverse'"):
        EQUATIONS.acceleration("gauss", inverse=A)
    with pytest.raises(InputError, match="equation='S9 1' is unknown"):
        EQUATIONS.acceleration("generalized-inverse", equation="S9 1")
