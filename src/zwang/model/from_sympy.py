"""Systems from SymPy's own mechanics objects: the description that `System` takes, read off a method."""

from typing import Any

import sympy as sp
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, Point

from zwang.errors import InputError
from zwang.model.symbols import t


def describe(method: Any) -> dict[str, Any]:
    """The keyword arguments of `System` that say what a `LagrangesMethod` or `KanesMethod` says."""
    if isinstance(method, LagrangesMethod):
        return describe_lagrange(method)
    if isinstance(method, KanesMethod):
        return describe_kane(method)
    raise InputError(f"from_sympy takes a LagrangesMethod or a KanesMethod, not a {type(method).__name__}")


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
    derivatives = [p.diff(t) for p in positions]
    new = [c for c in conditions if not any(sp.simplify(c - d) == 0 or sp.simplify(c + d) == 0 for d in derivatives)]
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
