"""Two bodies at random places with a joint between them, and where their points and directions go, by hand.

Nothing here uses the joints' expressions: places come from positions and quaternions of the motion alone.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy as sp

import zwang as zw
from zwang import multibody as mb

u, X, Y, Z = sp.symbols("u X Y Z")


def turn_of(quaternions):
    """Rotation matrices (…, 3, 3) of unit quaternions, scalar first."""
    w, x, y, z = np.moveaxis(np.asarray(quaternions, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def plane_turn(angle):
    """Rotation matrices (…, 2, 2)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.moveaxis(np.array([[c, -s], [s, c]]), (0, 1), (-2, -1))


@dataclass(frozen=True)
class Scene:
    """A joint between two bodies, the motion, and the numbers that the joint was made of."""

    mechanism: mb.Mechanism
    motion: object
    at: np.ndarray
    axis: np.ndarray
    extra: dict

    def column(self, variable, name):
        """A coordinate of the motion."""
        return self.motion[variable].values[:, self.mechanism.system.coordinate_names.index(name)]

    def where(self, body):
        """Origin (time, d) and turn (time, d, d) of a body."""
        name = body.name
        if body.dimension == 2:
            r = np.stack([self.column("q", f"{name}.{s}") for s in "xy"], -1)
            return r, plane_turn(self.column("q", f"{name}.angle"))
        r = np.stack([self.column("q", f"{name}.{s}") for s in "xyz"], -1)
        return r, turn_of(np.stack([self.column("q", f"{name}.q{i}") for i in range(4)], -1))

    @cached_property
    def poses(self):
        """Both bodies' poses, along the motion."""
        return [self.where(body) for body in self.mechanism.movable]

    def point(self, i, world):
        """(time, d) the path of the point of body i that is at a world place in the beginning."""
        r, R = self.poses[i]
        return r + np.einsum("tij,j->ti", R, R[0].T @ (np.asarray(world) - r[0]))

    def direction(self, i, world):
        """(time, d) a direction of body i, by where it points in the beginning."""
        _, R = self.poses[i]
        return np.einsum("tij,j->ti", R, R[0].T @ np.asarray(world))

    @property
    def relative_turn(self):
        """(time, d, d) the turn of the second body relative to the first, from the start."""
        (_, A), (_, B) = self.poses
        now = np.einsum("tji,tjk->tik", A, B)
        return np.einsum("tij,kj->tik", now, now[0])

    def velocity(self, i, place):
        """(time, d) the velocity of the material of body i at world places (time, d)."""
        body = self.mechanism.movable[i]
        (r, _), name = self.poses[i], body.name
        arm = place - r
        v = np.stack([self.column("v", f"{name}.{s}") for s in "xyz"[: body.dimension]], -1)
        if body.dimension == 2:
            return v + self.column("v", f"{name}.angle")[:, None] * np.stack([-arm[:, 1], arm[:, 0]], -1)
        u = np.stack([self.column("q", f"{name}.q{i}") for i in range(4)])
        du = np.stack([self.column("v", f"{name}.q{i}") for i in range(4)])
        # ω = 2 vec(u̇ u*)
        spin = 2 * (u[0] * du[1:] - du[0] * u[1:] + np.cross(u[1:], du[1:], axis=0))
        return v + np.cross(spin.T, arm)


def spatial(name, rng, stated=True):
    """A body in space with a random pose and inertia; and velocity, unless that is to follow from others."""
    J = rng.uniform(1, 1.5, 3)
    q = rng.normal(size=4)
    mass, place, *rates = rng.uniform(1, 2), rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
    return mb.Body(
        name,
        mass,
        J,
        position=place,
        orientation=q / np.linalg.norm(q),
        **(dict(zip(("velocity", "angular_velocity"), rates, strict=True)) if stated else {}),
    )


def planar(name, rng, stated=True):
    """A body in the plane with a random pose and inertia; and velocity, unless that is to follow from others."""
    mass, inertia, place = rng.uniform(1, 2), rng.uniform(1, 2), rng.normal(size=2)
    angle, *rates = rng.uniform(-3, 3), rng.normal(size=2), rng.normal()
    return mb.PlanarBody(
        name,
        mass,
        inertia,
        position=place,
        angle=angle,
        **(dict(zip(("velocity", "spin"), rates, strict=True)) if stated else {}),
    )


def unit(a):
    """A direction."""
    return np.asarray(a) / np.linalg.norm(a)


def in_axes(body, place):
    """A world place of the start, in body axes."""
    R = plane_turn(body.angle) if body.dimension == 2 else turn_of(body.orientation)
    return R.T @ (np.asarray(place) - body.position)


def build(case, rng):
    """The bodies and the joint of a case, with the place, axis and further numbers it was made of."""
    kind, dimension = case
    body = spatial if dimension == 3 else planar
    a, b = body("a", rng), body("b", rng, stated=False)
    at, axis = rng.normal(size=dimension), unit(rng.normal(size=dimension))
    extra = {}
    if kind in ("Spherical", "Fixed") or case == ("Revolute", 2):
        options = {"at": at}
    elif kind in ("Revolute", "Prismatic", "Cylindrical", "PointOnLine"):
        options = {"at": at, "axis": axis}
    elif kind in ("Planar", "PointOnPlane"):
        options = {"at": at, "normal": axis}
    elif kind == "Screw":
        options = {"at": at, "axis": axis, "pitch": 0.7}
    elif kind == "Universal":
        extra["second"] = unit(np.cross(axis, rng.normal(size=3)))
        options = {"at": at, "axes": (axis, extra["second"])}
    elif kind == "Rod":
        extra["end"] = at + rng.normal(size=dimension)
        options = {"start": at, "end": extra["end"]}
    elif kind == "PointOnCurve":
        x, y, *z = in_axes(a, at)
        extra["curve"] = (x + u, y + u**2 / 2, *(z[0] - u**3 / 3 for _ in z))
        options = {"curve": extra["curve"], "parameter": u, "at": at}
    elif kind == "PointOnSurface":
        s = in_axes(a, at)
        symbols = (X, Y, Z)[:dimension]
        f = sum(k * w**2 for k, w in zip((1, 2, 3), symbols, strict=False))
        extra["value"] = float(f.subs(dict(zip(symbols, s, strict=True))))
        options = {"surface": f - extra["value"], "symbols": symbols, "at": at}
    elif kind == "Skate":
        across = unit(np.cross(axis, rng.normal(size=3))) if dimension == 3 else None
        extra["normal"] = across
        options = {"at": at, "direction": axis} | ({} if across is None else {"normal": across})
    elif kind == "WheelOnWheel":
        distance = np.linalg.norm(np.subtract(b.position, a.position))
        extra["radii"] = (0.4 * distance, 0.6 * distance)
        options = {"radii": extra["radii"]}
        at = np.asarray(a.position) + 0.4 * np.subtract(b.position, a.position)
    else:  # rolling on a plane of the first body
        extra["radius"] = radius = 0.8
        options = {"radius": radius, "normal": axis}
        sine = 1.0
        if kind == "RollingDisc":
            extra["disc"] = lean = unit(rng.normal(size=3))
            options["axis"] = lean
            sine = np.sqrt(1 - (axis @ lean) ** 2)
        options["at"] = at = np.asarray(b.position) - radius * sine * axis
    joint = getattr(mb, kind)("j", a, b, **options)
    return [a, b], joint, at, axis, extra


def scene(case, seed=3, until=1.0):
    """A random case in motion, with gravity, projected onto its constraints after every step."""
    rng = np.random.default_rng(seed)
    bodies, joint, at, axis, extra = build(case, rng)
    gravity = mb.Gravity((0.5, -9.81) if case[1] == 2 else (0.5, 1, -9.81))
    mechanism = mb.Mechanism(bodies, joints=[joint], forces=[gravity])
    motion = zw.simulate(mechanism.system, mechanism.start, until=until, samples=81, drift="projection")
    return Scene(mechanism, motion, at, axis, extra)


FREEDOM_CASES = [
    *((kind, 3) for kind in ("Revolute", "Prismatic", "Cylindrical", "Universal", "Planar", "Screw")),
    *((kind, 3) for kind in ("PointOnLine", "PointOnPlane", "PointOnCurve")),
    *((kind, 2) for kind in ("Revolute", "Prismatic", "PointOnLine", "PointOnCurve", "RollingWheel")),
]
