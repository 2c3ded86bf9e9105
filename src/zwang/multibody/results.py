"""What a motion means for a mechanism: paths of points, reactions, joint coordinates, energies."""

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.core.function import AppliedUndef

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.linalg.masses import mass_units
from zwang.linalg.rank import row_rank
from zwang.lowering.lowered import Matrices
from zwang.lowering.matrices import matrix_kernel
from zwang.model.symbols import as_scalar, rates
from zwang.model.values import parameter_values, suggestion
from zwang.multibody.body import AnyBody, MassBody, Particle
from zwang.multibody.described import DescribedMechanism
from zwang.multibody.efforts import without_efforts
from zwang.multibody.joint import Constrainer, Joint
from zwang.multibody.spatial_body import Body
from zwang.multibody.turns import counted
from zwang.multibody.vectors import cross, subtract, vector, world_rates
from zwang.results.evaluate_along import along
from zwang.results.inputs import used_values

if TYPE_CHECKING:
    import xarray as xr


AXES = ("x", "y", "z")
LOOKS = 5  # states along a motion at which it is decided whether reactions are unique
CHUNK = 64  # states whose matrices are in memory at a time


def track(
    mechanism: DescribedMechanism, motion: "xr.Dataset", body: str | AnyBody, point: Sequence[Any] | None
) -> "xr.DataArray":
    """(time, axis) the world path of a point of a body."""
    import xarray as xr

    known = {b.name: b for b in mechanism.bodies}
    name = body if isinstance(body, str) else body.name
    if name not in known:
        raise InputError(f"track: there is no body {name!r}{suggestion(sp.Symbol(name), [*map(sp.Symbol, known)])}")
    size = mechanism.movable[0].dimension
    s = vector(f"track {name!r}", (0,) * size if point is None else point, (size,), ("point",))
    path = along(motion, mechanism.system, known[name].pose(size).point(s), used_values(mechanism.system, motion))
    coords = {"time": motion.time, "axis": list(AXES[:size])}
    return xr.DataArray(path, dims=("time", "axis"), coords=coords, name=name)


def joint_coordinates(mechanism: DescribedMechanism, motion: "xr.Dataset") -> "xr.Dataset":
    """Angles and travels of joints, and their rates."""
    import xarray as xr

    joints = [j for j in mechanism.joints if isinstance(j, Joint)]
    wanted = [(i, name, f) for i, j in enumerate(joints) for name, f in j.freedoms.items()]
    expressions = [e for _, _, f in wanted for e in (f.reading, f.rate)]
    parameters = used_values(mechanism.system, motion)
    values = along(motion, mechanism.system, expressions, parameters)
    turning = [k for k, (_, _, f) in enumerate(wanted) if f.value is None]  # others count their turns themselves
    angles = [(joints[wanted[k][0]].name, wanted[k][2]) for k in turning]
    values[:, [2 * k for k in turning]], doubt = counted(mechanism, motion, angles, parameters)
    shape = (len(motion.time), len(joints))
    variables: dict[str, Array] = {}
    for k, (i, name, _) in enumerate(wanted):
        for key, column in ((name, values[:, 2 * k]), (f"{name}_rate", values[:, 2 * k + 1])):
            variables.setdefault(key, np.full(shape, np.nan))[:, i] = column
    found = xr.Dataset(
        {key: (("time", "joint"), value) for key, value in variables.items()},
        coords={"time": motion.time, "joint": [j.name for j in joints]},
    )
    if doubt:
        warnings.warn(doubt, stacklevel=3)
        for name in {wanted[k][1] for k in turning}:
            found[name].attrs["turns"] = doubt
    return found


def readings(mechanism: DescribedMechanism) -> tuple[dict[str, sp.Expr], dict[str, sp.Expr]]:
    """What a mechanism's states read, by name: as seen from outside, and from the bodies.

    From outside: joint coordinates and their rates, `hinge.angle` and `hinge.angle'`; of a body in space where its axes
    point, `axis_1x`, how fast that changes, `axis_1x'`, and the angular velocity in world axes, `omega_x`. In a body's
    own axes: its place and velocity, `place_1` and `v_1`, and the angular velocity, `omega_1`.
    """
    outside: dict[str, Any] = {}
    inside: dict[str, Any] = {}
    for j in mechanism.joints:
        for name, f in j.freedoms.items() if isinstance(j, Joint) else ():
            outside |= {f"{j.name}.{name}": f.reading, f"{j.name}.{name}'": f.rate}
    for body in mechanism.movable:
        d, own = body.dimension, body.name
        pose, spins = body.pose(d), d == 3 and not isinstance(body, Particle)
        inside |= {f"{own}.place_{i + 1}": e for i, e in enumerate(pose.local_direction(pose.origin))}
        inside |= {f"{own}.v_{i + 1}": e for i, e in enumerate(body.point_velocity((0,) * d, frame="body"))}
        if spins:
            outside |= {f"{own}.omega_{x}": e for x, e in zip(AXES, pose.spin, strict=True)}
            inside |= {f"{own}.omega_{i + 1}": e for i, e in enumerate(body.angular_rate(frame="body"))}
            for i, axis in enumerate(zip(*pose.turn, strict=True), 1):
                moving = cross(pose.spin, axis)
                outside |= {f"{own}.axis_{i}{x}": e for x, e in zip(AXES, axis, strict=True)}
                outside |= {f"{own}.axis_{i}{x}'": e for x, e in zip(AXES, moving, strict=True)}
    known = [{name: as_scalar(e) for name, e in part.items()} for part in (outside, inside)]
    first, second = ({name: e for name, e in part.items() if e.atoms(AppliedUndef)} for part in known)
    return first, second


def reactions(mechanism: DescribedMechanism, motion: "xr.Dataset", frame: str) -> "xr.Dataset":
    """Force and moment of each joint on its second body, at the joint."""
    import xarray as xr

    if frame not in ("world", "joint"):
        raise InputError(f"frame={frame!r} is unknown: choose 'world' or 'joint'")
    joints = [j for j in mechanism.joints if isinstance(j, Joint)]
    parameters, bearers = used_values(mechanism.system, motion), [bearer(j) for j in joints]
    wanted = [geometry(j, body) for j, body in zip(joints, bearers, strict=True)]
    places = along(motion, mechanism.system, [e for part in wanted for e in part], parameters)
    parts = np.split(places, np.cumsum([len(part) for part in wanted], dtype=int)[:-1], axis=1)
    pulls = joint_forces(mechanism, motion, joints, bearers, parameters)
    force, moment = np.zeros((2, len(motion.time), len(joints), 3))
    for i, joint in enumerate(joints):
        force[:, i], moment[:, i] = reaction(joint, bearers[i], parts[i], pulls[i], frame)
    dims = ("time", "joint", "axis")
    return xr.Dataset(
        {
            "force": (dims, force, {"long_name": "force on the second body"}),
            "moment": (dims, moment, {"long_name": "moment on the second body, about the joint"}),
            "unique": ("joint", unique_reactions(mechanism, motion, joints)),
        },
        coords={"time": motion.time, "joint": [j.name for j in joints], "axis": list(AXES)},
        attrs={"frame": frame},
    )


def bearer(joint: Joint) -> MassBody:
    """The body on which a joint's reaction is read: the second or, where that has no coordinates, the first."""
    return next(b for b in reversed(joint.bodies) if isinstance(b, MassBody))


def geometry(joint: Joint, body: MassBody) -> list[Any]:
    """The arm from a body's centre to the joint, the joint's own axes, its free motions and the body's coordinates."""
    arm = subtract(joint.place, body.pose(joint.dimension).origin)
    motions = [x for motion in joint.free_motions for x in motion.entries]
    return [*arm, *(x for e in joint.own_axes for x in e), *motions, *body.coordinates]


def reaction(joint: Joint, body: MassBody, places: Array, pull: Array, frame: str) -> tuple[Array, Array]:
    """Force and moment (time, 3) of one joint, from its geometry and what its rows of Aᵀλ give.

    `pull` is that along the body's coordinates, then along the joint's own: the opposite of the efforts there.
    """
    size, own = joint.dimension, len(body.coordinates)
    arm, turn = places[:, :size], places[:, size : size + size**2].reshape(-1, size, size)
    motions = places[:, size + size**2 : -own].reshape(len(places), -1, 6)
    efforts = -pull[:, own:]
    generalized = pull[:, :own] if body is joint.second else -pull[:, :own]
    force, moment = np.zeros((2, len(generalized), 3))
    force[:, :size] = generalized[:, :size]
    if isinstance(body, Body):
        G: Array = np.array(world_rates(tuple(places[:, -4:].T)))  # (3, 4, time)
        moment = np.einsum("ijt,tj->ti", G, generalized[:, 3:]) / 2
    elif not isinstance(body, Particle):
        moment[:, 2] = generalized[:, 2]
    full = np.zeros((len(arm), 3))
    full[:, :size] = arm
    moment = moment - np.cross(full, force)  # from the centre of mass to the joint
    if efforts.shape[1]:
        force, moment = np.split(without_efforts(np.hstack([force, moment]), motions, efforts), 2, axis=1)
    if frame == "joint":
        force, moment = (in_joint_axes(x, turn) for x in (force, moment))
    return force, moment


def in_joint_axes(world: Array, axes: Array) -> Array:
    """World components in the joint's own axes; in the plane the third component stays."""
    size = axes.shape[-1]
    turned = world.copy()
    turned[:, :size] = np.einsum("tij,tj->ti", axes, world[:, :size])
    return turned


def joint_forces(
    mechanism: DescribedMechanism,
    motion: "xr.Dataset",
    joints: Sequence[Constrainer],
    bodies: Sequence[MassBody],
    parameters: dict[Any, Any],
) -> list[Array]:
    """(time, k) what the rows of each joint in Aᵀλ give along the coordinates of one of its bodies and its own."""
    system, lam = mechanism.system, motion.multiplier.values
    rows = [[system.constraint_names.index(name) for name in mechanism.rows[j.name]] for j in joints]
    columns = [
        [system.coordinates.index(q) for q in (*b.coordinates, *j.coordinates)]
        for b, j in zip(bodies, joints, strict=True)
    ]
    found = [np.empty((len(lam), len(k))) for k in columns]
    for part, now in matrices_along(mechanism, motion, parameters):
        for out, i, k in zip(found, rows, columns, strict=True):
            out[part] = np.einsum("ti,tij->tj", lam[part][:, i], now.A[:, i][:, :, k])
    return found


def matrices_along(
    mechanism: DescribedMechanism, motion: "xr.Dataset", parameters: dict[Any, Any]
) -> Iterator[tuple[slice, Matrices]]:
    """Slices of time, and the matrices there."""
    p, inputs = parameter_values(mechanism.system, parameters)
    kernel = matrix_kernel(mechanism.system, inputs)
    for begin in range(0, len(motion.time), CHUNK):
        part = slice(begin, begin + CHUNK)
        yield part, kernel(motion.time.values[part], motion.q.values[part], motion.v.values[part], p)


def unique_reactions(mechanism: DescribedMechanism, motion: "xr.Dataset", joints: Sequence[Joint]) -> NDArray[np.bool_]:
    """Whether each joint's force and moment are determined: rank A = rank A_J + rank of the others (Wojtyra)."""
    system, parameters = mechanism.system, used_values(mechanism.system, motion)
    looks = np.unique(np.linspace(0, len(motion.time) - 1, LOOKS).astype(int))
    unique = np.ones(len(joints), dtype=bool)
    names = list(system.constraint_names)
    for _, matrices in matrices_along(mechanism, motion.isel(time=looks), parameters):
        for now in matrices.A / mass_units(matrices.M, matrices.A)[:, None, :]:
            rank = int(row_rank(now[None])[0])
            if rank == len(now):
                continue
            for i, joint in enumerate(joints):
                mine = np.isin(np.arange(len(now)), [names.index(name) for name in mechanism.rows[joint.name]])
                parts = sum(int(row_rank(now[rows][None])[0]) for rows in (mine, ~mine))
                unique[i] &= parts == rank
    return unique


def energies(mechanism: DescribedMechanism, motion: "xr.Dataset") -> "xr.Dataset":
    """Kinetic energy of each body, potential energy and power of each force element; its kinetic energy, if any."""
    import xarray as xr

    bodies, elements = mechanism.movable, mechanism.forces
    kinetic = [b.kinetic for b in bodies]
    potential = [f.potential(bodies) for f in elements]
    powers = [power(bodies, f) for f in elements]
    moving = [f.kinetic(bodies) for f in elements]
    wanted = [*kinetic, *potential, *powers, *(moving if any(moving) else ())]
    values = along(motion, mechanism.system, wanted, used_values(mechanism.system, motion), potential)
    n, m = len(bodies), len(elements)
    power_of = values[:, n + m : n + 2 * m] + values[:, len(wanted) :]
    found = xr.Dataset(
        {
            "kinetic": (("time", "body"), values[:, :n], {"long_name": "kinetic energy"}),
            "potential": (("time", "element"), values[:, n : n + m], {"long_name": "potential energy"}),
            "power": (("time", "element"), power_of, {"long_name": "power of the element on the bodies"}),
        },
        coords={"time": motion.time, "body": [b.name for b in bodies], "element": [f.name for f in elements]},
    )
    if any(moving):
        words = {"long_name": "kinetic energy of the element"}
        found["element_kinetic"] = ("time", "element"), values[:, n + 2 * m : len(wanted)], words
    return found


def power(bodies: Sequence[MassBody], element: Any) -> sp.Expr:
    """The power of an element's forces that are in no potential: Q·q̇."""
    forces = [*element.forces(bodies).items(), *element.nonideal(bodies).items()]
    return sp.Add(*[f * rates(q)[0] for q, f in forces])
