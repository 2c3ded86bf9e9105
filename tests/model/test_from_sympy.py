"""Systems read off SymPy's own mechanics objects move as SymPy says they move."""

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Particle,
    PinJoint,
    Point,
    PrismaticJoint,
    ReferenceFrame,
    RigidBody,
    System,
    TorqueActuator,
    dynamicsymbols,
    inertia,
)

import zwang as zw
from zwang import dot
from zwang.errors import InputError
from zwang.evaluation import matrices
from zwang.linalg.newton import nearest_root

t = zw.t
m, g, r, k, c = sp.symbols("m g r k c", positive=True)
VALUES = {m: 1.3, g: 9.81, r: 0.7, k: 2.1, c: 0.4}
N = ReferenceFrame("N")
O = Point("O")
O.set_vel(N, 0)


def values(system):
    return {s: VALUES[s] for s in system.symbols}


def consistent_states(system, seed, count=3):
    """Random states that satisfy all constraints, as mappings."""
    draw = np.random.default_rng(seed)
    order = np.array([c.order for c in system.constraints], dtype=int)
    position, velocity = np.flatnonzero(order == 0), np.flatnonzero(order <= 1)
    keys = [*system.coordinates, *system.velocities]
    n = len(system.coordinates)

    def at(q, v):
        return matrices(system, dict(zip(keys, [*q, *v], strict=True)), 0.3, values(system))[0]

    states = []
    while len(states) < count:
        v = draw.uniform(-1, 1, n)
        q, found = nearest_root(
            lambda x, v=v: ((now := at(x, v)).residual[position], now.A[position]), draw.uniform(0.2, 1.2, n), 1e-14
        )
        if found:
            v, found = nearest_root(
                lambda x, q=q: ((now := at(q, x)).residual_rate[velocity], now.A[velocity]), v, 1e-14
            )
        if found:
            states.append(dict(zip(keys, map(float, [*q, *v]), strict=True)))
    return states


def lagranges_own(method, system, state):
    """q̈ from `rhs()` of a LagrangesMethod."""
    n = len(system.coordinates)
    rhs = method.rhs().subs(VALUES).subs({key: state[key] for key in system.velocities})
    rhs = rhs.subs({key: state[key] for key in system.coordinates}).subs(t, 0.3)
    return np.array(rhs.evalf().tolist(), dtype=float)[n : 2 * n, 0]


def kanes_own(method, system, state):
    """q̈ from `rhs()` of a KanesMethod: q̈ = d/dt of q̇(q, u), with u̇ from there."""
    qdots = method.kindiffdict()
    u, rates = list(method.u), [q.diff(t) for q in system.coordinates]
    numbers = VALUES | {t: 0.3}

    def put(expression, *maps):
        for mapping in (*maps, numbers):
            expression = expression.subs(mapping)
        return expression

    at_q = {q: state[q] for q in system.coordinates}
    right = sp.Matrix([qdots[rate] for rate in rates])
    slope, rest = (
        np.array(put(e, at_q).tolist(), dtype=float) for e in (right.jacobian(u), right.subs(dict.fromkeys(u, 0)))
    )
    speeds = np.linalg.solve(slope, np.array([state[rate] for rate in rates]) - rest[:, 0])
    at_u = dict(zip(u, speeds, strict=True))
    udot = put(method.rhs(), at_u, at_q).evalf()[len(method.q) :]
    at_udot = {ui.diff(t): value for ui, value in zip(u, udot, strict=True)}
    at_rates = {rate: state[rate] for rate in rates}
    accelerations = [put(qdots[rate].diff(t), at_udot, at_rates, at_u, at_q) for rate in rates]
    return np.array(accelerations, dtype=float)


def pendulum_on_a_cart():
    s, a = dynamicsymbols("s a")
    B = N.orientnew("B", "Axis", [a, N.z])
    P = O.locatenew("P", s * N.x)
    P.set_vel(N, s.diff(t) * N.x)
    R = P.locatenew("R", -r * B.y)
    R.v2pt_theory(P, N, B)
    L = (m * P.vel(N).dot(P.vel(N)) + m * R.vel(N).dot(R.vel(N))) / 2 + m * g * r * sp.cos(a) - k * s**2 / 2
    loads = [(R, -c * R.vel(N) + sp.cos(t) * N.x), (B, -k * a.diff(t) * N.z), (P, -c * P.vel(N))]
    return LagrangesMethod(L, [s, a], forcelist=loads, frame=N)


def particle_on_a_rod():
    x, y = dynamicsymbols("x y")
    L = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 - m * g * y
    return LagrangesMethod(L, [x, y], hol_coneqs=[x**2 + y**2 - r**2])


def sleigh():
    x, y, a = dynamicsymbols("x y a")
    L = m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2 + k * a.diff(t) ** 2 / 2
    return LagrangesMethod(L, [x, y, a], nonhol_coneqs=[x.diff(t) * sp.sin(a) - y.diff(t) * sp.cos(a)])


def both_kinds_in_a_moving_frame():
    x, y, z = dynamicsymbols("x y z")
    L = m * ((x.diff(t) - y) ** 2 + (y.diff(t) + x) ** 2 + z.diff(t) ** 2) / 2 - m * g * z
    return LagrangesMethod(L, [x, y, z], hol_coneqs=[z - x * y], nonhol_coneqs=[y.diff(t) - z * x.diff(t)])


LAGRANGE = (pendulum_on_a_cart, particle_on_a_rod, sleigh, both_kinds_in_a_moving_frame)


@pytest.mark.parametrize("formed", [False, True], ids=["fresh", "formed"])
@pytest.mark.parametrize("build", LAGRANGE)
def test_lagranges_method(build, formed):
    method = build()
    if formed:
        method.form_lagranges_equations()
    system = zw.System.from_sympy(method, name="from SymPy")
    assert system.name == "from SymPy"
    if not formed:
        method.form_lagranges_equations()
    for state in consistent_states(system, seed=1):
        ours = zw.evaluate(system, state, t=0.3, parameters=values(system)).acceleration
        np.testing.assert_allclose(ours, lagranges_own(method, system, state), rtol=1e-10, atol=1e-10)


def test_constraints_keep_their_level():
    system = zw.System.from_sympy(both_kinds_in_a_moving_frame())
    assert system.constraint_names == ("holonomic 1", "nonholonomic 1")
    assert [c.order for c in system.constraints] == [0, 1]


def test_energy_is_that_of_the_lagrangian():
    x, y = dynamicsymbols("x y")
    system = zw.System.from_sympy(particle_on_a_rod())
    assert sp.simplify(system.kinetic - m * (x.diff(t) ** 2 + y.diff(t) ** 2) / 2) == 0
    assert system.potential == m * g * y


def test_appells_redundant_particle_which_sympy_answers_with_nan():
    x, y, z = dynamicsymbols("x y z")
    cone = z.diff(t) ** 2 - x.diff(t) ** 2 - y.diff(t) ** 2
    L = m * (x.diff(t) ** 2 + y.diff(t) ** 2 + z.diff(t) ** 2) / 2 - m * g * z
    system = zw.System.from_sympy(LagrangesMethod(L, [x, y, z], nonhol_coneqs=[cone, 2 * cone]))
    state = {x: 0, y: 0, z: 0, dot(x): 3, dot(y): 4, dot(z): 5}
    acceleration = zw.evaluate(system, state, parameters=values(system)).acceleration
    np.testing.assert_allclose(acceleration[2], -VALUES[g] / 2, rtol=1e-14)


def double_pendulum_with_its_own_speeds():
    q1, q2, u1, u2 = dynamicsymbols("q1 q2 u1 u2")
    A, B = N.orientnew("A", "Axis", [q1, N.z]), N.orientnew("B", "Axis", [q2, N.z])
    A.set_ang_vel(N, u1 * N.z)
    B.set_ang_vel(N, (u1 + u2) * N.z)  # u2 is the relative speed, not q̇₂
    P = O.locatenew("P", r * A.x)
    P.v2pt_theory(O, N, A)
    R = P.locatenew("R", r * B.x)
    R.v2pt_theory(P, N, B)
    bodies = [Particle("p", P, m), Particle("r", R, 2 * m)]
    loads = [(P, m * g * N.x), (R, 2 * m * g * N.x - c * R.vel(N)), (A, -k * q1 * N.z)]
    method = KanesMethod(N, [q1, q2], [u1, u2], kd_eqs=[u1 - q1.diff(t), u1 + u2 - q2.diff(t)])
    method.kanes_equations(bodies, loads)
    return method


def pendulum_with_scaled_speed():
    q, u = dynamicsymbols("q u")
    A = N.orientnew("A", "Axis", [q, N.z])
    rate = u / (2 + sp.sin(q)) + sp.cos(t)  # q̇ = u/(2 + sin q) + cos t: Y and z depend on q and t
    A.set_ang_vel(N, rate * N.z)
    P = O.locatenew("P", r * A.x)
    P.v2pt_theory(O, N, A)
    method = KanesMethod(N, [q], [u], kd_eqs=[q.diff(t) - rate])
    method.kanes_equations([Particle("p", P, m)], [(P, m * g * N.x)])
    return method


def pendulum_in_cartesian_coordinates():
    """One configuration constraint with its velocity constraint: a dependent coordinate and a dependent speed."""
    x, y, u, v = dynamicsymbols("x y u v")
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    method = KanesMethod(
        N, q_ind=[x], u_ind=[u], q_dependent=[y], u_dependent=[v], kd_eqs=[x.diff(t) - u, y.diff(t) - v],
        configuration_constraints=[x**2 + y**2 - r**2], velocity_constraints=[2 * x * u + 2 * y * v],
    )  # fmt: skip
    method.kanes_equations([Particle("p", P, m)], [(P, -m * g * N.y)])
    return method


def rolling_disc():
    """The rolling disc of SymPy's documentation, with the contact point's velocity as constraints."""
    q1, q2, q3, q4, q5, u1, u2, u3, u4, u5 = dynamicsymbols("q1:6 u1:6")
    Y = N.orientnew("Y", "Axis", [q1, N.z])
    F = Y.orientnew("F", "Axis", [q2, Y.x])
    R = F.orientnew("R", "Axis", [q3, F.y])
    w = R.ang_vel_in(N)
    R.set_ang_vel(N, u1 * F.x + u2 * F.y + u3 * F.z)
    touch = O.locatenew("C", q4 * N.x + q5 * N.y)
    touch.set_vel(N, u4 * N.x + u5 * N.y)
    centre = touch.locatenew("Dmc", r * F.z)
    centre.set_vel(N, touch.vel(N) + (F.ang_vel_in(N) ^ (r * F.z)).subs(
        sp.solve([w.dot(F.x) - u1, w.dot(F.y) - u2, w.dot(F.z) - u3], [q1.diff(t), q2.diff(t), q3.diff(t)])
    ))  # fmt: skip
    kinematics = [w.dot(F.x) - u1, w.dot(F.y) - u2, w.dot(F.z) - u3, q4.diff(t) - u4, q5.diff(t) - u5]
    rim = centre.vel(N) + (R.ang_vel_in(N) ^ (-r * F.z))
    J = inertia(F, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
    body = RigidBody("disc", centre, R, m, (J, centre))
    method = KanesMethod(
        N, q_ind=[q1, q2, q3, q4, q5], u_ind=[u1, u2, u3], u_dependent=[u4, u5], kd_eqs=kinematics,
        velocity_constraints=[rim.dot(N.x), rim.dot(N.y)],
    )  # fmt: skip
    method.kanes_equations([body], [(centre, -m * g * N.z)])
    return method


KANE = (
    double_pendulum_with_its_own_speeds,
    pendulum_with_scaled_speed,
    pendulum_in_cartesian_coordinates,
    rolling_disc,
)


@pytest.mark.parametrize("build", KANE)
def test_kanes_method(build):
    method = build()
    system = zw.System.from_sympy(method)
    for state in consistent_states(system, seed=2, count=2):
        ours = zw.evaluate(system, state, t=0.3, parameters=values(system)).acceleration
        np.testing.assert_allclose(ours, kanes_own(method, system, state), rtol=1e-10, atol=1e-10)


def test_a_configuration_constraint_is_not_given_twice():
    system = zw.System.from_sympy(pendulum_in_cartesian_coordinates())
    assert system.constraint_names == ("holonomic 1",)


def test_speeds_of_a_rolling_disc_are_gone():
    system = zw.System.from_sympy(rolling_disc())
    assert len(system.coordinates) == 5
    assert [c.order for c in system.constraints] == [1, 1]
    assert set(system.symbols) == {m, g, r}


def test_what_is_no_method_is_refused():
    with pytest.raises(InputError, match="a LagrangesMethod or a KanesMethod, not a str"):
        zw.System.from_sympy("LagrangesMethod()")
    q, u = dynamicsymbols("q u")
    with pytest.raises(InputError, match="has no bodies yet"):
        zw.System.from_sympy(KanesMethod(N, [q], [u], kd_eqs=[q.diff(t) - u]))


def test_speeds_that_the_rates_do_not_fix_are_refused():
    q1, q2, u = dynamicsymbols("q1 q2 u")
    P = O.locatenew("P", q1 * N.x)
    P.set_vel(N, u * N.x)
    method = KanesMethod(N, [q1, q2], [u], kd_eqs=[q1.diff(t) - u, q2.diff(t) - 2 * u])
    method.kanes_equations([Particle("p", P, m)])
    with pytest.raises(InputError, match="2 coordinates but 1 speed"):
        zw.System.from_sympy(method)


# SymPy's System


def cart_and_pole():
    """Joints, gravity and an actuator: a cart on a rail, a pole on the cart, a brake in its hinge."""
    rail, cart = RigidBody("rail"), RigidBody("cart", mass=m)
    pole = RigidBody("pole", mass=2 * m)
    pole.inertia = (inertia(pole.frame, c, c, k), pole.masscenter)
    system = System.from_newtonian(rail)
    q1, q2, u1, u2 = dynamicsymbols("q1 q2 u1 u2")
    slide = PrismaticJoint("slide", rail, cart, q1, u1, joint_axis=rail.x)
    hinge = PinJoint("hinge", cart, pole, q2, u2, joint_axis=cart.z, child_point=r * pole.y)
    system.add_joints(slide, hinge)
    system.apply_uniform_gravity(-g * system.y)
    system.add_loads((cart.masscenter, (sp.cos(t) - k * q1) * system.x))
    system.add_actuators(TorqueActuator(-c * u2, cart.z, pole, cart))
    return system


def particle_on_a_ring():
    """Coordinates and speeds of one's own, a dependent one, and a holonomic constraint."""
    x, y, u, v = dynamicsymbols("x y u v")
    system = System(fixed_point=O, frame=N)
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    system.add_bodies(Particle("p", P, m))
    system.add_coordinates(x, y, independent=[True, False])
    system.add_speeds(u, v, independent=[True, False])
    system.add_kdes(x.diff(t) - u, y.diff(t) - v)
    system.add_holonomic_constraints(x**2 + y**2 - r**2)
    system.add_loads((P, -m * g * N.y - c * P.vel(N)))
    return system


def skate_on_ice():
    """A nonholonomic constraint in the speeds: the blade's point does not go sideways."""
    x, y, a, u, v, w = dynamicsymbols("x y a u v w")
    B = N.orientnew("B", "Axis", [a, N.z])
    B.set_ang_vel(N, w * N.z)
    P = O.locatenew("P", x * N.x + y * N.y)
    P.set_vel(N, u * N.x + v * N.y)
    blade = P.locatenew("blade", r * B.x)
    blade.v2pt_theory(P, N, B)
    system = System(fixed_point=O, frame=N)
    system.add_bodies(RigidBody("sleigh", P, B, m, (inertia(B, 0, 0, k), P)))
    system.add_coordinates(x, y, a)
    system.add_speeds(u, w, v, independent=[True, True, False])
    system.add_kdes(x.diff(t) - u, a.diff(t) - w, y.diff(t) - v)
    system.add_nonholonomic_constraints(blade.vel(N).dot(B.y))
    system.add_loads((blade, g * B.x))
    return system


def mass_on_a_spring():
    """Speeds that are rates, and a potential energy: Lagrange's method."""
    q = dynamicsymbols("q")
    wall, bob = RigidBody("wall"), Particle("bob", mass=m)
    bob.potential_energy = k * q**2 / 2
    system = System.from_newtonian(wall)
    system.add_joints(PrismaticJoint("slide", wall, bob, q, q.diff(t)))
    system.add_loads((bob.masscenter, -c * q.diff(t) * system.x))
    return system


@pytest.mark.parametrize("formed", [False, True], ids=["fresh", "formed"])
@pytest.mark.parametrize("build", [cart_and_pole, particle_on_a_ring, skate_on_ice])
def test_sympys_system_by_kanes_method(build, formed):
    theirs = build()
    if formed:
        theirs.form_eoms()
    system = zw.System.from_sympy(theirs)
    assert (theirs.eom_method is None) != formed  # it is left as it was
    if not formed:
        theirs.form_eoms()
    for state in consistent_states(system, seed=3, count=2):
        ours = zw.evaluate(system, state, t=0.3, parameters=values(system)).acceleration
        np.testing.assert_allclose(ours, kanes_own(theirs.eom_method, system, state), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("formed", [False, True], ids=["fresh", "formed"])
def test_sympys_system_by_lagranges_method(formed):
    theirs = mass_on_a_spring()
    if formed:
        theirs.form_eoms(LagrangesMethod)
    system = zw.System.from_sympy(theirs)
    if not formed:
        theirs.form_eoms(LagrangesMethod)
    for state in consistent_states(system, seed=4):
        ours = zw.evaluate(system, state, t=0.3, parameters=values(system)).acceleration
        np.testing.assert_allclose(ours, lagranges_own(theirs.eom_method, system, state), rtol=1e-12)


def test_constraints_of_sympys_system_keep_their_level():
    assert [c.order for c in zw.System.from_sympy(particle_on_a_ring()).constraints] == [0]
    assert [c.order for c in zw.System.from_sympy(skate_on_ice()).constraints] == [1]
    other = particle_on_a_ring()
    x, y, u, v = dynamicsymbols("x y u v")
    other.velocity_constraints = [2 * x * u + 2 * y * v]
    assert zw.System.from_sympy(other).constraint_names == ("holonomic 1",)


def test_sympys_systems_that_say_too_little_are_refused():
    with pytest.raises(InputError, match="has no bodies yet: add them with add_bodies"):
        zw.System.from_sympy(System(fixed_point=O, frame=N))
    q, u, e = dynamicsymbols("q u e")
    loose = System(fixed_point=O, frame=N)
    P = O.locatenew("P", q * N.x)
    P.set_vel(N, u * N.x)
    bob = Particle("bob", P, m)
    loose.add_bodies(bob)
    with pytest.raises(InputError, match="has no coordinates yet"):
        zw.System.from_sympy(loose)
    loose.add_coordinates(q)
    loose.add_speeds(u)
    with pytest.raises(InputError, match="1 coordinate but 0 kinematic differential equations: add one a coordinate"):
        zw.System.from_sympy(loose)
    loose.add_kdes(q.diff(t) - u)
    bob.potential_energy = m * g * q
    with pytest.raises(InputError, match="body 'bob' has a potential energy, which Kane's method leaves out"):
        zw.System.from_sympy(loose)
    loose.form_eoms()
    assert set(zw.System.from_sympy(loose).symbols) == {m}
    loose.add_auxiliary_speeds(e)
    with pytest.raises(InputError, match=r"has the auxiliary speeds e\(t\)"):
        zw.System.from_sympy(loose)
