"""What bodies in space look like where nobody says: a box of the same inertia, rods to the joints, wheels and balls."""

from collections.abc import Sequence

import numpy as np

from zwang.arrays import Array
from zwang.model.solids import Box, Capsule, Cylinder, Solid, Sphere
from zwang.multibody.body import AnyBody
from zwang.multibody.joint import Joint
from zwang.multibody.joints.rolling.rolling_ball import RollingBall
from zwang.multibody.joints.rolling.rolling_disc import RollingDisc
from zwang.multibody.spatial_body import Body
from zwang.multibody.valued import Values, in_numbers

THINNEST = 0.06  # an edge of a box beside its longest: a rod without thickness would not be seen
ROD = 0.045  # radius of a rod beside its length
LEAST = 1e-150  # squares of what is shorter lose their digits, and with them its direction
SHORT = 1e-9  # a rod this short beside the largest is none
DISC = 0.08  # thickness of a disc beside its radius


def default_solids(body: Body, joints: Sequence[Joint], values: Values) -> tuple[Solid, ...]:
    """The solids of a body without solids of its own: none where numbers are missing."""
    wheels = [w for j in joints if j.second is body and (w := wheel(j, values)) is not None]
    ends = [e for j in joints for b, end in zip(j.bodies, j.ends, strict=True) if b is body
            and (e := in_numbers(end, values)) is not None]  # fmt: skip
    rolling = any(isinstance(j, RollingBall | RollingDisc) and j.second is body for j in joints)
    box = None if rolling else inertia_box(body, values)
    return (*([] if box is None else [box]), *rods([] if rolling else ends), *wheels)


def inertia_box(body: Body, values: Values) -> Box | None:
    """The box of the same mass and moments of inertia: what is long in it is long in the picture.

    A box of edges a, b, c has the moments m (b² + c²)/12, …, so a² = 6 (−J₁ + J₂ + J₃)/m.

    >>> inertia_box(Body("brick", 12, (13, 10, 5)), {}).size
    (1.0, 2.0, 3.0)
    """
    given = [in_numbers(row, values) for row in body.inertia_matrix]
    mass = in_numbers((body.mass,), values)
    if mass is None or not mass[0] > 0 or any(row is None for row in given):
        return None
    J = np.array(given)
    diagonal = not (J - np.diag(np.diag(J))).any()
    moments, axes = (np.diag(J), np.eye(3)) if diagonal else np.linalg.eigh(J)
    if np.linalg.det(axes) < 0:
        axes = -axes
    edges = np.sqrt(np.maximum(6 * (moments.sum() - 2 * moments) / mass[0], 0.0))
    if not (np.isfinite(edges).all() and edges.max() > 0):
        return None
    size = np.maximum(edges, THINNEST * edges.max()).tolist()
    return Box(size) if diagonal else Box(size, orientation=axes)


def rods(ends: Sequence[Array]) -> list[Solid]:
    """Rods from the centre of mass to where joints are; from one joint to the other, if these are the two ends."""
    far = max((float(np.linalg.norm(e)) for e in ends), default=0.0)
    apart = [e for e in ends if np.linalg.norm(e) > max(SHORT * far, LEAST)]
    if len(apart) == 2 and far > 0 and is_between(*apart):
        return [rod(*apart)]
    return [rod(np.zeros(3), e) for e in apart]


def is_between(a: Array, b: Array) -> bool:
    """Whether the centre of mass lies on the line from one end to the other."""
    across = np.linalg.norm(np.cross(a, b)) / (np.linalg.norm(b - a) or 1.0)
    return bool(across < ROD * np.linalg.norm(b - a) and a @ b < 0)


def rod(a: Array, b: Array) -> Capsule:
    """A rod from one point to another."""
    length = float(np.linalg.norm(b - a))
    return Capsule(ROD * length, length, at=(a + b) / 2, orientation=along((b - a) / length))


def wheel(joint: Joint, values: Values) -> Solid | None:
    """The wheel or ball of a rolling joint, on its second body."""
    if not isinstance(joint, RollingBall | RollingDisc):
        return None
    radius, at = in_numbers((joint.radius,), values), in_numbers(joint.ends[1], values)
    if radius is None or at is None or not radius[0] > 0:
        return None
    if isinstance(joint, RollingBall):
        return Sphere(radius[0], at=at)
    axis = in_numbers(joint.disc_axis, values)
    return None if axis is None else Cylinder(radius[0], DISC * radius[0], at=at, orientation=along(axis))


def along(axis: Array) -> Array:
    """A rotation that takes z to a unit vector."""
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    x = across / np.linalg.norm(across)
    return np.column_stack([x, np.cross(axis, x), axis])


def is_shown(body: AnyBody) -> bool:
    """Whether a body says what it looks like."""
    return bool(len(getattr(body, "outline", ())) or getattr(body, "solids", ()))
