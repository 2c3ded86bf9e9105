"""Constraints: their order, their kind, and the rows they become."""

import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import zwang as zw
from zwang import dot
from zwang.errors import InputError
from zwang.model import Constraint

t = zw.t
x, y, z = zw.coordinates("x y z")
L, w = zw.parameters("L w")
alpha = sp.Function("alpha")(t)

POSITION = ("holonomic", "scleronomic", "catastatic", "linear in velocity")
RATE = ("nonholonomic", "scleronomic", "catastatic", "linear in velocity")

# constraint, order, kinds
TABLE = {
    "rod": (x**2 + y**2 - L**2, 0, POSITION),
    "rod as an equation": (sp.Eq(x**2 + y**2, L**2), 0, POSITION),
    "moving wall": (x - sp.sin(w * t), 0, ("holonomic", "rheonomic", "acatastatic", "linear in velocity")),
    "time in vain": (
        x + sp.cos(t) ** 2 + sp.sin(t) ** 2, 0, ("holonomic", "rheonomic", "catastatic", "linear in velocity")
    ),
    "skate": (dot(x) * sp.sin(y) - dot(z) * sp.cos(y), 1, RATE),
    "speed": (dot(x) - L, 1, ("nonholonomic", "scleronomic", "acatastatic", "linear in velocity")),
    "pursuit": (dot(x) - t * dot(y), 1, ("nonholonomic", "rheonomic", "catastatic", "linear in velocity")),
    "acatastatic": (dot(x) - t * dot(y) - t**2, 1, ("nonholonomic", "rheonomic", "acatastatic", "linear in velocity")),
    "cone": (
        dot(z) ** 2 - dot(x) ** 2 - dot(y) ** 2, 1,
        ("nonholonomic", "scleronomic", "catastatic", "nonlinear in velocity"),
    ),
    "disguised linear": (
        (dot(x) + 1) ** 2 - dot(x) ** 2 - dot(y), 1,
        ("nonholonomic", "scleronomic", "acatastatic", "linear in velocity"),
    ),
    "servo": (x.diff(t, 2) + dot(x) + x, 2, ("nonholonomic", "scleronomic", "given at acceleration level")),
    "driven servo": (x.diff(t, 2) - sp.sin(t), 2, ("nonholonomic", "rheonomic", "given at acceleration level")),
    "floor": (y >= 0, 0, (*POSITION, "one-sided")),
    "strict floor": (y > 0, 0, (*POSITION, "one-sided")),
    "ceiling": (y <= L, 0, (*POSITION, "one-sided")),
    "strict ceiling": (y < L, 0, (*POSITION, "one-sided")),
    "one-way": (dot(x) >= 0, 1, (*RATE, "one-sided")),
    "unfinished": (sp.Derivative(x**2 + y**2, t), 1, RATE),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_order_and_kinds_are_found(name):
    given, order, kinds = TABLE[name]
    for constraint in (
        Constraint(given, name),
        Constraint(Constraint(given).expression, name, Constraint(given).one_sided),
    ):
        assert constraint.order == order
        assert constraint.kinds == kinds
        assert constraint.level == ("position", "velocity", "acceleration")[order]
        assert constraint.holonomic == (order == 0)


@pytest.mark.parametrize(
    ("relation", "expression"),
    [
        (y >= L, y - L), (y > L, y - L), (y <= L, L - y), (y < L, L - y),
        (sp.Ge(L, y), L - y), (sp.Le(0, y - L), y - L),
    ],
)  # fmt: skip
def test_relations_become_expressions_that_are_not_negative(relation, expression):
    constraint = Constraint(relation)
    assert constraint.one_sided
    assert sp.simplify(constraint.expression - expression) == 0


def test_an_input_is_time_not_a_coordinate():
    driven = Constraint(dot(x) - t * dot(y) - alpha, "drive", given=frozenset([alpha]))
    assert driven.functions == (x, y)
    assert driven.kinds == ("nonholonomic", "rheonomic", "acatastatic", "linear in velocity")
    position = Constraint(x - alpha, given=frozenset([alpha]))
    assert position.kinds == ("holonomic", "rheonomic", "acatastatic", "linear in velocity")
    rated = Constraint(x - alpha.diff(t), given=frozenset([alpha]))
    assert rated.order == 0  # α̇ is not a rate of a coordinate
    system = zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, constraints=[x - alpha], parameters={alpha: None})
    assert system.constraints[0].given == {alpha}


def test_a_sympy_users_own_symbols_work_as_they_are():
    q1, q2 = dynamicsymbols("q1 q2")
    u1 = dynamicsymbols("q1", 1)
    own = sp.Function("s")(sp.Symbol("t"))  # SymPy's mechanics uses this very symbol for time
    rod = Constraint(u1 * q2 + own)
    assert rod.order == 1
    assert set(rod.functions) == {q1, q2, own}


@pytest.mark.parametrize("given", ["x - 1", ["x"], None, object()])
def test_what_is_no_expression_is_refused_by_name(given):
    with pytest.raises(InputError, match="constraint 'odd'"):
        Constraint(given, "odd")


def test_relations_that_constrain_nothing_are_refused():
    with pytest.raises(InputError, match=r"constraint 'ne': .* use Eq"):
        Constraint(sp.Ne(x, 0), "ne")
    with pytest.raises(InputError, match="always true"):
        Constraint(sp.Eq(x, x), "same")
    with pytest.raises(InputError, match="never true"):
        Constraint(sp.S(1) > 2, "never")
    with pytest.raises(InputError, match="not an expression"):
        Constraint((x > 0) & (y > 0), "both")


def test_C1_position_constraints_are_differentiated_twice():
    phi = x**2 * sp.cos(w * t) + y * z - sp.exp(t) * x
    A, b = Constraint(phi).row((x, y, z))
    assert sp.Matrix([[2 * x * sp.cos(w * t) - sp.exp(t), z, y]]) == A
    q = sp.Matrix([x, y, z])
    # the definition itself: φ̈ = A q̈ − b
    assert sp.simplify(phi.diff(t, 2) - (A * q.diff(t, 2))[0] + b) == 0
    # S1 (2)→(4) in partial derivatives
    X, Y, Z = sp.symbols("X Y Z")
    p = phi.subs({x: X, y: Y, z: Z})
    v, s = q.diff(t), sp.Matrix([X, Y, Z])
    partial = sp.hessian(p, s), sp.Matrix([p.diff(si, t) for si in s]), p.diff(t, 2)
    hessian, mixed, second = (e.subs({X: x, Y: y, Z: z}) for e in partial)
    assert sp.simplify(b + (v.T * hessian * v)[0] + 2 * (mixed.T * v)[0] + second) == 0


def test_C2_velocity_constraints_are_differentiated_once():
    psi = dot(x) ** 2 * y - sp.sin(t) * dot(z) ** 3 + x * t
    A, b = Constraint(psi).row((x, y, z))
    assert sp.Matrix([[2 * dot(x) * y, 0, -3 * sp.sin(t) * dot(z) ** 2]]) == A
    q = sp.Matrix([x, y, z])
    assert sp.simplify(psi.diff(t) - (A * q.diff(t, 2))[0] + b) == 0


def test_C3_pfaffian_form():
    D = sp.Matrix([[sp.cos(y), t * x, 1]])
    d = sp.sin(t) + z
    q = sp.Matrix([x, y, z])
    A, b = Constraint((D * q.diff(t))[0] - d).row((x, y, z))
    assert A == D
    assert sp.simplify(b - (d.diff(t) - (D.diff(t) * q.diff(t))[0])) == 0  # g = ḋ − Ḋq̇


def test_C3_rows_given_at_acceleration_level():
    chi = dot(x) * x.diff(t, 2) - t * y.diff(t, 2) + z**2 - dot(y)
    A, b = Constraint(chi).row((x, y, z))
    assert sp.Matrix([[dot(x), -t, 0]]) == A
    assert b == dot(y) - z**2


def test_C4_one_statement_gives_one_row_at_every_level():
    phi = x * y - sp.sin(t) * z
    rows = [Constraint(level).row((x, y, z)) for level in (phi, phi.diff(t), phi.diff(t, 2))]
    for A, b in rows[1:]:
        assert sp.simplify(A - rows[0][0]).is_zero_matrix
        assert sp.simplify(b - rows[0][1]) == 0
