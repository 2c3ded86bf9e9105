"""Systems whose equilibria, steady motions and modes are known, in Cartesian coordinates with redundant rows."""

import json
from itertools import pairwise
from pathlib import Path

import sympy as sp

import zwang as zw
from zwang import dot

FILE = Path(__file__).parents[1] / "references" / "analysis.json"
REFERENCES = json.loads(FILE.read_text(encoding="utf-8"))
G = 9.81


def as_given(system: zw.System) -> zw.System:
    return system


def doubled(system: zw.System) -> zw.System:
    """The same with every constraint twice."""
    rows = {c.name: c.expression for c in system.constraints}
    return with_rows(system, rows | {f"{name} again": e for name, e in rows.items()})


def scaled(system: zw.System) -> zw.System:
    """The same with one row a million times as large."""
    rows = {c.name: c.expression for c in system.constraints}
    first = next(iter(rows))
    return with_rows(system, rows | {first: 1_000_000 * rows[first]})


def doubled_and_scaled(system: zw.System) -> zw.System:
    return scaled(doubled(system))


VARIANTS = (as_given, doubled, scaled, doubled_and_scaled)


def with_rows(system: zw.System, rows: dict) -> zw.System:
    """The same with other constraints."""
    return zw.System(
        system.coordinates,
        kinetic=system.kinetic,
        potential=system.potential,
        forces=system.forces,
        constraints=rows,
        nonideal=system.nonideal,
        parameters=system.parameters,
        name=system.name,
    )


def chain(count: int = 5) -> zw.System:
    """Equal masses on equal massless rods of 1 m, hanging."""
    x, y = zw.coordinates(f"x:{count}"), zw.coordinates(f"y:{count}")
    places = [(sp.S.Zero, sp.S.Zero), *zip(x, y, strict=True)]
    rods = {f"rod {i}": (b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 - 1 for i, (a, b) in enumerate(pairwise(places))}
    kinetic = sum(dot(c) ** 2 for c in (*x, *y)) / 2
    return zw.System((*x, *y), kinetic=kinetic, potential=G * sum(y), constraints=rods, name="Chain")


def hanging(system: zw.System) -> dict:
    """The state of a chain at rest."""
    count = len(system.coordinates) // 2
    state = dict.fromkeys([*system.coordinates, *system.velocities], 0.0)
    return state | {system.coordinates[count + i]: -(i + 1.0) for i in range(count)}


def ziegler() -> zw.System:
    """Ziegler's column: masses 2 and 1 on two rods, springs and dampers at the joints, a load that follows the tip."""
    a, b, c, d = zw.coordinates("a b c d")  # the inner mass at (a, b), the outer one at (c, d); upright along b
    P, k, damping = zw.parameters("P k damping")
    first, second = sp.atan2(a, b), sp.atan2(c - a, d - b)
    potential = k * first**2 / 2 + k * (second - first) ** 2 / 2
    rate_1 = (b * dot(a) - a * dot(b)) / (a**2 + b**2)
    u, w = c - a, d - b
    rate_2 = (w * dot(u) - u * dot(w)) / (u**2 + w**2)
    # generalized forces of torques -damping*rate at both joints, on the angles, and of the load at the tip
    torque_1, torque_2 = -damping * rate_1 + damping * (rate_2 - rate_1), -damping * (rate_2 - rate_1)
    length_1, length_2 = a**2 + b**2, u**2 + w**2
    forces = {
        a: torque_1 * b / length_1 - torque_2 * w / length_2,
        b: -torque_1 * a / length_1 + torque_2 * u / length_2,
        c: torque_2 * w / length_2 - P * u,
        d: -torque_2 * u / length_2 - P * w,
    }
    kinetic = dot(a) ** 2 + dot(b) ** 2 + (dot(c) ** 2 + dot(d) ** 2) / 2
    rods = {"inner": a**2 + b**2 - 1, "outer": u**2 + w**2 - 1}
    values = {P: 1, k: 1, damping: 0}
    return zw.System(
        (a, b, c, d), kinetic=kinetic, potential=potential, forces=forces, constraints=rods, parameters=values
    )


def disc() -> zw.System:
    """A uniform disc that rolls on a plane: place of its centre, heading, lean and turn; one row is redundant."""
    x, y, z, heading, lean, turn = zw.coordinates("x y z heading lean turn")
    ahead = sp.Matrix([sp.cos(heading), sp.sin(heading), 0])
    aside, up = sp.Matrix([-sp.sin(heading), sp.cos(heading), 0]), sp.Matrix([0, 0, 1])
    axle = sp.cos(lean) * aside + sp.sin(lean) * up
    spoke = -sp.sin(lean) * aside + sp.cos(lean) * up
    omega = dot(heading) * up + dot(lean) * ahead + dot(turn) * axle
    slip = sp.Matrix([dot(x), dot(y), dot(z)]) - omega.cross(spoke)
    kinetic = (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2
    kinetic += (dot(lean) ** 2 + (dot(heading) * sp.cos(lean)) ** 2) / 8
    kinetic += (dot(turn) + dot(heading) * sp.sin(lean)) ** 2 / 4
    rows = {"floor": z - sp.cos(lean), "rolls x": slip[0], "rolls y": slip[1], "rolls z": slip[2]}
    return zw.System((x, y, z, heading, lean, turn), kinetic=kinetic, potential=G * z, constraints=rows, name="Disc")


def governor() -> zw.System:
    """A flyball governor, free about its axis: balls of 1 kg, sleeve of 3 kg, four links of half a metre."""
    x, y, z, u, v, w, s = zw.coordinates("x y z u v w s")
    first, second, sleeve = sp.Matrix([x, y, z]), sp.Matrix([u, v, w]), sp.Matrix([0, 0, s])
    rows = {
        "upper 1": first.dot(first) - sp.Rational(1, 4),
        "upper 2": second.dot(second) - sp.Rational(1, 4),
        "lower 1": (first - sleeve).dot(first - sleeve) - sp.Rational(1, 4),
        "lower 2": (second - sleeve).dot(second - sleeve) - sp.Rational(1, 4),
        "opposite x": x + u,
        "opposite y": y + v,
    }
    kinetic = sum(dot(c) ** 2 for c in (x, y, z, u, v, w)) / 2 + 3 * dot(s) ** 2 / 2
    return zw.System((x, y, z, u, v, w, s), kinetic=kinetic, potential=G * (z + w + 3 * s), constraints=rows)


def cart_pole() -> zw.System:
    """A cart of 1 kg and a point of 0.1 kg on a massless pole of half a metre; the force F pushes the cart."""
    c, x, y = zw.coordinates("c x y")
    F = zw.parameters("F")
    kinetic = dot(c) ** 2 / 2 + sp.Rational(1, 20) * (dot(x) ** 2 + dot(y) ** 2)
    pole = (x - c) ** 2 + y**2 - sp.Rational(1, 4)
    return zw.System(
        (c, x, y),
        kinetic=kinetic,
        potential=sp.Rational(1, 10) * G * y,
        forces={c: F},
        constraints={"pole": pole},
        parameters={F: 0},
    )


def bicycle() -> zw.System:
    """Whipple's bicycle with the parameters of Meijaard, Papadopoulos, Ruina and Schwab (2007), z pointing down.

    Nine coordinates: the centre of the rear wheel, yaw, roll and pitch of the frame, steer, and the turns of both
    wheels. The row that rolls the rear wheel vertically is redundant.
    """
    x, y, z, yaw, roll, pitch, steer, rear, front = q = zw.coordinates("x y z yaw roll pitch steer rear front")
    wheelbase, trail, tilt = 1.02, 0.08, sp.pi / 10
    radius_r, radius_f = 0.3, 0.35

    def turn(axis: int, angle: sp.Expr) -> sp.Matrix:
        c, s = sp.cos(angle), sp.sin(angle)
        i, j = [k for k in range(3) if k != axis]
        R = sp.eye(3)
        R[i, i] = R[j, j] = c
        R[i, j], R[j, i] = (s, -s) if axis == 1 else (-s, s)
        return R

    frame = turn(2, yaw) * turn(0, roll) * turn(1, pitch)
    steering = turn(1, tilt)  # the steer axis is tilted back
    fork = frame * steering * turn(2, steer) * steering.T
    wheel_r, wheel_f = frame * turn(1, rear), fork * turn(1, front)
    centre_r = sp.Matrix([x, y, z])

    # places in the upright reference, from the rear contact: x ahead, z down
    hub_r, hub_f = sp.Matrix([0, 0, -radius_r]), sp.Matrix([wheelbase, 0, -radius_f])
    axis_point = sp.Matrix([wheelbase + trail, 0, 0])  # where the steer axis meets the ground

    def on_frame(place: sp.Matrix) -> sp.Matrix:
        return centre_r + frame * (place - hub_r)

    def on_fork(place: sp.Matrix) -> sp.Matrix:
        return on_frame(axis_point) + fork * (place - axis_point)

    def spin(R: sp.Matrix) -> sp.Matrix:
        W = R.T * R.diff(zw.t)  # in the body's own axes
        return sp.Matrix([W[2, 1], W[0, 2], W[1, 0]])

    def inertia(xx: float, yy: float, zz: float, xz: float = 0.0) -> sp.Matrix:
        return sp.Matrix([[xx, 0, xz], [0, yy, 0], [xz, 0, zz]])

    bodies = [
        (2, centre_r, wheel_r, inertia(0.0603, 0.12, 0.0603)),
        (85, on_frame(sp.Matrix([0.3, 0, -0.9])), frame, inertia(9.2, 11, 2.8, 2.4)),
        (4, on_fork(sp.Matrix([0.9, 0, -0.7])), fork, inertia(0.05892, 0.06, 0.00708, -0.00756)),
        (3, on_fork(hub_f), wheel_f, inertia(0.1405, 0.28, 0.1405)),
    ]
    kinetic = potential = sp.S.Zero
    for mass, centre, R, I in bodies:
        velocity, omega = centre.diff(zw.t), spin(R)
        kinetic += mass * velocity.dot(velocity) / 2 + (omega.T * I * omega)[0] / 2
        potential += -mass * G * centre[2]

    down = sp.Matrix([0, 0, 1])

    def lowest(centre: sp.Matrix, axle: sp.Matrix, radius: float) -> sp.Matrix:
        """The way from a wheel's centre to its lowest point."""
        way = down - down.dot(axle) * axle
        return radius * way / sp.sqrt(1 - down.dot(axle) ** 2)

    def world_spin(R: sp.Matrix) -> sp.Matrix:
        return R * spin(R)

    ways = [
        lowest(centre_r, frame[:, 1], radius_r),
        lowest(on_fork(hub_f), fork[:, 1], radius_f),
    ]
    slip_r = centre_r.diff(zw.t) + world_spin(wheel_r).cross(ways[0])
    slip_f = on_fork(hub_f).diff(zw.t) + world_spin(wheel_f).cross(ways[1])
    rows = {
        "rear on ground": z + ways[0][2],
        "front on ground": on_fork(hub_f)[2] + ways[1][2],
        "rear rolls x": slip_r[0],
        "rear rolls y": slip_r[1],
        "rear rolls z": slip_r[2],
        "front rolls x": slip_f[0],
        "front rolls y": slip_f[1],
    }
    return zw.System(q, kinetic=kinetic, potential=potential, constraints=rows, name="Bicycle")
