"""Systems from SymPy's own mechanics objects: the description that `System` takes, read off a method."""

from typing import Any

import sympy as sp
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, Lagrangian, Point
from sympy.physics.mechanics import System as SympySystem

from zwang.errors import InputError
from zwang.model.symbols import t
from zwang.words import count


def describe(method: Any) -> dict[str, Any]:
    """The keyword arguments of `System` that say what a `LagrangesMethod`, a `KanesMethod` or SymPy's `System` says."""
    if isinstance(method, LagrangesMethod):
        return describe_lagrange(method)
    if isinstance(method, KanesMethod):
        return describe_kane(method)
    if isinstance(method, SympySystem):
        return describe_system(method)
    raise InputError(
        f"from_sympy takes a sympy.physics.mechanics.System, a LagrangesMethod or a KanesMethod, "
        f"not a {type(method).__name__}"
    )


def describe_system(system: SympySystem) -> dict[str, Any]:
    """Bodies, joints, loads, actuators and constraints, by the method that formed the equations.

    Before that by Kane's, as `form_eoms` would, or by Lagrange's where the speeds are the rates of the coordinates.
    """
    if not system.bodies or not system.q:
        what = "bodies" if not system.bodies else "coordinates"
        raise InputError(f"this SymPy System has no {what} yet: add them with add_{what}, or with add_joints")
    if system.u_aux:
        raise InputError(
            f"this SymPy System has the auxiliary speeds {', '.join(map(str, system.u_aux))}: zwang gives forces of "
            f"constraint without them, leave them out"
        )
    loads = [*system.loads, *(load for actuator in system.actuators for load in actuator.to_loads())]
    if isinstance(system.eom_method, LagrangesMethod):
        return describe_lagrange(system.eom_method)
    by_rates = all(u.is_Derivative for u in system.u)
    if system.eom_method is None and by_rates:
        lagrangian = Lagrangian(system.frame, *system.bodies)
        constraints = {
            "hol_coneqs": list(system.holonomic_constraints),
            "nonhol_coneqs": list(system.nonholonomic_constraints),
        }
        return describe_lagrange(
            LagrangesMethod(lagrangian, list(system.q), forcelist=loads or None, frame=system.frame, **constraints)
        )
    stored = [body.name for body in system.bodies if body.potential_energy != 0]
    if stored and system.eom_method is None:
        raise InputError(
            f"body {stored[0]!r} has a potential energy, which Kane's method leaves out: say which method is meant, "
            f"system.form_eoms(LagrangesMethod) or system.form_eoms(), before from_sympy"
        )
    if len(system.kdes) != len(system.q):
        raise InputError(
            f"this SymPy System has {count(len(system.q), 'coordinate')} but {len(system.kdes)} kinematic differential "
            f"equations: add one a coordinate with add_kdes, such as u - q.diff()"
        )
    free = KanesMethod(system.frame, list(system.q), list(system.u), list(system.kdes))
    free.kanes_equations(list(system.bodies), loads or None)
    found = describe_kane(free)
    speeds = solved_speeds(free)
    positions, velocities = list(system.holonomic_constraints), list(system.nonholonomic_constraints)
    implied = [p.diff(t) for p in positions]
    if list(system.velocity_constraints) != [*implied, *velocities]:  # they were given another way
        velocities = list(system.velocity_constraints)
    conditions = [c.subs(speeds).doit() for c in velocities]
    return found | {"constraints": named(positions, beyond(conditions, implied))}


def beyond(conditions: list[sp.Expr], implied: list[sp.Expr]) -> list[sp.Expr]:
    """The conditions on velocities that are not the derivatives of conditions on positions."""
    return [c for c in conditions if not any(sp.simplify(c - d) == 0 or sp.simplify(c + d) == 0 for d in implied)]


def solved_speeds(method: KanesMethod) -> dict[sp.Expr, sp.Expr]:
    """The speeds by the rates of the coordinates."""
    k_u, k_rates, f_k = method._k_ku_implicit, method._k_kqdot_implicit, method._f_k_implicit
    rates = method.q.diff(t)
    return dict(zip(method.u, -k_u.LUsolve(k_rates * rates + f_k), strict=True))


def describe_lagrange(method: LagrangesMethod) -> dict[str, Any]:
    """The Lagrangian split into kinetic energy and potential, with loads and constraint equations.

    SymPy keeps only L = T − V. The part of L free of velocities is taken for −V; Lagrange's equations do
    not change, and T + V is the energy whenever T is homogeneous in the velocities.
    """
    q = tuple(method.q)
    rates = [qi.diff(t) for qi in q]
    lagrangian = sp.expand(method._L[0] if isinstance(method._L, sp.MatrixBase) else method._L)
    at_rest = lagrangian.xreplace({}).subs(dict.fromkeys(rates, 0))
    forces = [sp.S.Zero] * len(q)
    for place, load in method.forcelist or ():
        velocity = place.vel(method.inertial) if isinstance(place, Point) else place.ang_vel_in(method.inertial)
        for i, rate in enumerate(rates):
            forces[i] += velocity.diff(rate, method.inertial, var_in_dcm=False).dot(load)
    positions = list(method._hol_coneqs)
    speeds = [c for c in method.coneqs if c not in {p.diff(t) for p in positions}]
    return {
        "coordinates": q,
        "kinetic": lagrangian - at_rest,
        "potential": -at_rest,
        "forces": forces,
        "constraints": named(positions, speeds),
    }


def describe_kane(method: KanesMethod) -> dict[str, Any]:
    """Kane's equations of the unconstrained system, pulled back to the coordinates, with the constraints.

    With u = Y q̇ + z, Kane's M_u u̇ = F_u becomes YᵀM_uY q̈ = Yᵀ(F_u − M_u(Ẏ q̇ + ż)). Dependent speeds are
    made independent first: zwang wants the unconstrained system and the constraints apart.
    """
    if not method.bodies:
        raise InputError("this KanesMethod has no bodies yet: call kanes_equations(bodies, loads) first")
    q, u = method.q, method.u
    rates = q.diff(t)
    if len(u) != len(q):
        raise InputError(
            f"this KanesMethod has {len(q)} coordinates but {len(u)} speed{'s' * (len(u) != 1)}: every speed must "
            f"follow from the rates of the coordinates, and every rate from the speeds"
        )
    k_u, k_rates, f_k = method._k_ku_implicit, method._k_kqdot_implicit, method._f_k_implicit
    kinematics = k_u * u + k_rates * rates + f_k
    free = KanesMethod(method._inertial, list(q), list(u), list(kinematics))
    free.kanes_equations(list(method.bodies), list(method.loads or []) or None)
    Y, z = sp.simplify(-k_u.LUsolve(k_rates)), sp.simplify(-k_u.LUsolve(f_k))
    speeds = dict(zip(u, Y * rates + z, strict=True))

    def without_speeds(expression: Any) -> Any:
        return expression.subs(speeds).doit()

    M_u, F_u = without_speeds(free.mass_matrix), without_speeds(free.forcing)
    drift = Y.diff(t) * rates + z.diff(t)
    positions = list(method._f_h)
    conditions = [without_speeds(c) for c in method._k_nh * u + method._f_nh] if method._k_nh else []
    new = beyond(conditions, [p.diff(t) for p in positions])
    return {
        "coordinates": tuple(q),
        "mass": sp.simplify(Y.T * M_u * Y),
        "forces": list(Y.T * (F_u - M_u * drift)),
        "constraints": named(positions, new),
    }


def named(positions: list[sp.Expr], velocities: list[sp.Expr]) -> dict[str, sp.Expr]:
    """Names for constraints that came without: holonomic 1, 2, …, nonholonomic 1, 2, …"""
    holonomic = {f"holonomic {i}": c for i, c in enumerate(positions, 1)}
    return holonomic | {f"nonholonomic {i}": c for i, c in enumerate(velocities, 1)}
