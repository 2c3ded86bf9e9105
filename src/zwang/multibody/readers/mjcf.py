"""Models of MuJoCo (MJCF), read into a mechanism by MuJoCo's own compiler (the package `mujoco`).

The compiler resolves defaults, classes and included files and computes inertias from geometries. What it gives is read
here: MuJoCo's documentation of mjModel says what each array means.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zwang.multibody.body import ground
from zwang.multibody.element import ForceElement
from zwang.multibody.forces.force import Force
from zwang.multibody.forces.gravity import Gravity
from zwang.multibody.freedom import Freedom
from zwang.multibody.joint import Constrainer
from zwang.multibody.joints.condition import Condition
from zwang.multibody.joints.fixed import Fixed
from zwang.multibody.joints.selection import Selected
from zwang.multibody.joints.spherical import Spherical
from zwang.multibody.joints.transmission.coupling import Coupling
from zwang.multibody.mechanism import Mechanism
from zwang.multibody.readers import mjcf_actuators, mjcf_looks, mjcf_tendons
from zwang.multibody.readers.frame import WORLD, Frame
from zwang.multibody.readers.imported import Imported
from zwang.multibody.readers.joint_sum import JointSum
from zwang.multibody.readers.limits import Limit, limit_between, limit_lines, switched_on
from zwang.multibody.readers.looks import look_lines
from zwang.multibody.readers.mjcf_files import require_own_files
from zwang.multibody.readers.mjcf_fluid import BoxDrag
from zwang.multibody.readers.mjcf_ignored import left_out
from zwang.multibody.readers.mjcf_process import compiled_model
from zwang.multibody.readers.mjcf_reading import Reading, fixed_tendon, terms_along
from zwang.multibody.readers.sizes import LARGEST, numbers_beyond, vanishing
from zwang.multibody.readers.skeleton import (
    CREEP,
    Held,
    Skeleton,
    friction_lines,
    refused,
    skeleton_of,
    slot_elements,
    unused,
)
from zwang.multibody.readers.tree import Link, Slot
from zwang.multibody.readers.xml_text import xml_text

JOINTS = ("free", "ball", "slide", "hinge")  # in the order of mjtJoint


def read_mjcf(
    source: str | Path, *, limits: bool = False, restitution: float = 0.0, friction: float | None = CREEP
) -> Imported:
    """Read an MJCF file, or its text, through MuJoCo's compiler.

    Bodies, inertias, hinges, slides, balls and free joints; the equalities `connect`, `weld`, `joint` and, over joints,
    `tendon`; springs, dampers, armatures and dry friction of joints and springs of tendons over joints; motors and
    servos; drag; gravity. Several hinges and slides on a body become a `Series`. A joint reads what qpos reads in
    MuJoCo. Bodies fixed to the world are the ground. Equalities are exact here, where MuJoCo's are soft.

    Actuators are commanded by `inputs`, known functions of time that are 0 unless given; servos act where the parameter
    `servos` is 1. `limits=True` makes ranges stops, one-sided constraints at which `restitution` of the speed is given
    back. Dry friction f is f tanh(rate/`friction`): it creeps a little, 0 makes it dry, and None leaves it out.
    A model that names files outside its own folder is refused. Meshes, textures, height fields and skins whose files
    are missing are warnings, unless a body that moves has its inertia from them.
    """
    reading = compiled(source)
    links = tuple(links_of(reading))
    reading.mistakes += [words for link in links for words in vanishing(link)]
    if reading.mistakes:
        raise refused(reading.mistakes)
    if not any(link.slots for link in links):
        raise refused(["nothing in it can move: no body has a joint"])
    used = {link.joint for link in links} | {s.name for link in links for s in link.slots}
    looks = mjcf_looks.looks_of(reading)
    skeleton = skeleton_of(links, used, looks)
    equal = [i for i in range(reading.model.neq) if active(reading, i)]
    ranges = [*joint_limits(reading), *mjcf_tendons.tendon_limits(reading)]
    counted = coupled(reading, equal) | mjcf_tendons.counted_joints(reading) | mjcf_actuators.counted_joints(reading)
    held = skeleton.joints(counted | {r.name for r in ranges if limits})
    names = used | set(skeleton.names)
    conditions: list[Constrainer] = [h.joint for h in held]
    for i in equal:
        condition = equality(reading, i, skeleton, held, unused(reading.name("equality", i), names, "equality"))
        if condition is not None:
            conditions.append(condition)
            names.add(condition.name)
    if reading.mistakes:
        raise refused(reading.mistakes)
    body_lines = [body_line(skeleton, i) for i in range(1, len(links))]
    driven, inputs = mjcf_actuators.actuator_elements(reading, held)
    rough, missing = friction_lines(held, friction)
    forces: list[ForceElement] = [
        *gravity_of(reading, skeleton),
        *slot_elements(held, friction),
        *mjcf_tendons.tendon_elements(reading, held),
        *driven,
        *drag_of(reading, skeleton),
    ]
    mechanism = Mechanism(
        list(skeleton.bodies.values()),
        conditions,
        forces,
        inputs,
        name=model_name(reading),
        constraints=switched_on(ranges, limited_sums(reading, ranges, held) if limits else {}, limits, restitution),
        scenery=skeleton.solids(0),
    )
    reading.warnings += missing
    left_out(reading)
    return Imported(
        mechanism,
        (*body_lines, *reading.read, *rough, *limit_lines(ranges, limits), *look_lines(looks)),
        tuple(reading.ignored),
        skeleton,
        tuple(held),
        tuple(reading.warnings),
        tuple(ranges),
        tuple(str(f.func) for f in inputs if not f.is_Symbol),
    )


def joint_limits(reading: Reading) -> list[Limit]:
    """The ranges of hinges and slides; those of balls are left out."""
    m, found = reading.model, []
    for j in range(m.njnt):
        name = reading.name("joint", j)
        if m.jnt_limited[j] and JOINTS[int(m.jnt_type[j])] in ("hinge", "slide"):
            limit = limit_between(name, *map(float, m.jnt_range[j]))
            found += [] if limit is None else [limit]
        elif m.jnt_limited[j]:
            reading.warnings.append(
                f"joint {name!r}: its range up to {float(m.jnt_range[j][1]):g}, of a ball, left out"
            )
    return found


def limited_sums(reading: Reading, ranges: Sequence[Limit], held: list[Held]) -> dict[str, list[tuple[float, Freedom]]]:
    """The sums of joint coordinates that limits are on."""
    joints = {reading.name("joint", j): [(j, 1.0)] for j in range(reading.model.njnt)}
    tendons = {reading.name("tendon", i): fixed_tendon(reading, i) for i in range(reading.model.ntendon)}
    return {
        r.name: [
            (factor, joint.freedoms[name])
            for factor, joint, name in terms_along(reading, joints.get(r.name) or tendons[r.name], held)
        ]
        for r in ranges
    }


def compiled(source: str | Path) -> Reading:
    """The model that MuJoCo's compiler makes of the source."""
    text = xml_text(source, "MJCF")
    file = None if text is source else Path(source)
    missing, size = require_own_files(text, file)
    model, found = compiled_model(text, file, missing, size)
    if any("NaN" in words for words in found["warned"]):
        raise refused(["a number in it is NaN"])
    if beyond := numbers_beyond(model):
        raise refused([f"{name} of MuJoCo's model has numbers beyond {LARGEST:g}" for name in beyond])
    warnings = [*found["mended"], *(f"MuJoCo warns: {words}" for words in found["warned"])]
    return Reading(model, found["lists"], mistakes=found["mistakes"], warnings=warnings)


def links_of(reading: Reading) -> Iterator[Link]:
    """The bodies of a compiled model as links; MuJoCo's body 0 is the world, and parents come first."""
    m = reading.model
    yield Link("world", -1, WORLD)
    for i in range(1, m.nbody):
        name = reading.name("body", i)
        first, count = int(m.body_jntadr[i]), int(m.body_jntnum[i])
        slots = tuple(slot_of(reading, j) for j in range(first, first + count))
        kinds = [s.kind for s in slots]
        if count > 1 and not set(kinds) <= {"hinge", "slide"}:
            reading.mistakes.append(
                f"body {name!r}: its joints are {', '.join(kinds)}: a ball or a free joint with "
                f"others on one body is not read; put a body with a little mass between them"
            )
        axes = Frame.of((0, 0, 0), m.body_iquat[i]).turn
        J = axes @ np.diag(m.body_inertia[i]) @ axes.T
        J[np.abs(J) < 1e-15 * np.abs(J).max()] = 0.0
        joint = slots[0].name if count == 1 else f"{name}_joints" if count else f"{name}_fixed"
        offset = Frame.of(m.body_pos[i], m.body_quat[i])
        mass, centre = float(m.body_mass[i]), np.array(m.body_ipos[i])
        yield Link(name, int(m.body_parentid[i]), offset, slots, mass, centre, J, joint)
        reading.read += [f"joint {s.name!r}: {s.kind} of {name!r}{extras(s)}" for s in slots]


def slot_of(reading: Reading, j: int) -> Slot:
    """A joint of a compiled model."""
    m, name = reading.model, reading.name("joint", j)
    kind, q, v = JOINTS[int(m.jnt_type[j])], int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
    zero, rest, stiffness, damping = 0.0, 0.0, float(m.jnt_stiffness[j]), float(m.dof_damping[v])
    if kind in ("hinge", "slide"):
        zero, rest = float(m.qpos0[q]), float(m.qpos_spring[q])
    armature, friction = float(m.dof_armature[v]), float(m.dof_frictionloss[v])
    friction = 0.0 if reading.is_off("frictionloss") else friction
    unread = {} if kind in ("hinge", "slide") else {"stiffness": stiffness, "armature": armature, "friction": friction}
    if kind == "free":
        unread["damping"], damping = damping, 0.0
    for what, value in unread.items():
        if value:
            reading.warnings.append(f"joint {name!r}: its {what} {value:g}, of a {kind} joint, left out")
    if unread:
        stiffness = armature = friction = 0.0
    stiffness = 0.0 if reading.is_off("spring") else stiffness
    damping = 0.0 if reading.is_off("damper") else damping
    at = np.zeros(3) if kind in ("free", "slide") else np.array(m.jnt_pos[j])
    axis = np.array(m.jnt_axis[j])
    return Slot(name, kind, axis, at, zero, stiffness, rest, damping, armature, friction)


def extras(slot: Slot) -> str:
    """A slot's spring, damper and rotor in words."""
    spring = f", stiffness {slot.stiffness:g} about {slot.rest:g}" if slot.stiffness else ""
    damper = f", damping {slot.damping:g}" if slot.damping else ""
    return spring + damper + (f", armature {slot.armature:g}" if slot.armature else "")


def body_line(skeleton: Skeleton, i: int) -> str:
    """What became of a body."""
    link, by, name = skeleton.links[i], skeleton.carried[i].link, skeleton.names[i]
    other = "" if name == link.name else f", called {name!r} here"
    if by == 0:
        return f"body {link.name!r}: the ground"
    if by != i:
        return f"body {link.name!r}: without mass, a part of {skeleton.names[by]!r}"
    return f"body {link.name!r}: of mass {link.mass:g}{other}"


def active(reading: Reading, i: int) -> bool:
    """Whether an equality takes part; one that is switched off is ignored."""
    if reading.is_off("equality"):
        reading.ignored.append(f"equality {reading.name('equality', i)!r}: equalities are switched off")
        return False
    if reading.model.eq_active0[i]:
        return True
    reading.ignored.append(f"equality {reading.name('equality', i)!r}: it is not active")
    return False


def coupled(reading: Reading, equal: list[int]) -> set[str]:
    """Joints that an equality between joints names: they count their turns."""
    m, kind = reading.model, reading.number("mjtEq", "mjEQ_JOINT")
    ids = [int(j) for i in equal if m.eq_type[i] == kind for j in (m.eq_obj1id[i], m.eq_obj2id[i])]
    return {reading.name("joint", j) for j in ids if j >= 0}


def equality(reading: Reading, i: int, skeleton: Skeleton, held: list[Held], name: str) -> Constrainer | None:
    """An equality as a joint or coupling; None where there is nothing to hold."""
    word = reading.kind_of("mjtEq", reading.model.eq_type[i], "mjEQ_")
    if word in ("joint", "tendon"):
        return coupling(reading, i, held, name, word)
    if word not in ("connect", "weld"):
        reading.mistakes.append(f"equality {name!r}: its kind, {word}, is not read: take it out of the model")
        return None
    first, second, a, b = frames_held(reading, i)
    bodies = skeleton.body(first), skeleton.body(second)
    if bodies[0] is bodies[1]:
        reading.ignored.append(f"equality {name!r}: it holds {bodies[0].name!r} to itself")
        return None
    if bodies[1] is ground:
        first, second, a, b, bodies = second, first, b, a, bodies[::-1]
    at = (skeleton.point(first, a.origin), skeleton.point(second, b.origin))
    reading.read.append(f"equality {name!r}: {word}, {bodies[0].name!r} and {bodies[1].name!r}")
    if word == "connect":
        return Spherical(name, *bodies, at=at)
    one, two = skeleton.carried[first].frame @ a, skeleton.carried[second].frame @ b
    return Fixed(name, *bodies, at=at, orientation=Frame(one.turn @ two.turn.T, one.origin).quaternion.tolist())


def frames_held(reading: Reading, i: int) -> tuple[int, int, Frame, Frame]:
    """The two bodies of a connect or weld, and the frame on each that is to coincide."""
    m, data = reading.model, reading.model.eq_data[i]
    one, two = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
    if m.eq_objtype[i] == reading.number("mjtObj", "mjOBJ_SITE"):
        a, b = (Frame.of(m.site_pos[s], m.site_quat[s]) for s in (one, two))
        return int(m.site_bodyid[one]), int(m.site_bodyid[two]), a, b
    if m.eq_type[i] == reading.number("mjtEq", "mjEQ_CONNECT"):
        return one, two, Frame.of(data[:3]), Frame.of(data[3:6])
    return one, two, Frame.of(data[3:6], data[6:10]), Frame.of(data[:3])


def coupling(reading: Reading, i: int, held: list[Held], name: str, word: str) -> Constrainer | None:
    """first − its reference = c₀ + c₁ x + c₂ x² + …, x = second − its reference, of joints or tendons over joints."""
    m, data = reading.model, [float(c) for c in reading.model.eq_data[i][:5]]
    ids = [int(k) for k in (m.eq_obj1id[i], m.eq_obj2id[i]) if k >= 0]
    names = [reading.name(word, k) for k in ids]
    sums = [fixed_tendon(reading, k) for k in ids] if word == "tendon" else [[(k, 1.0)] for k in ids]
    if any(JOINTS[int(m.jnt_type[j])] not in ("hinge", "slide") for joints in sums for j, _ in joints):
        reading.mistakes.append(
            f"equality {name!r}: it couples {' and '.join(names)}, but only hinges and slides count"
        )
        return None
    if not all(sums):
        reading.mistakes.append(f"equality {name!r}: it holds a tendon through space, which is not read")
        return None
    zeros = [float((m.tendon_length0 if word == "tendon" else m.qpos0)[address(m, word, k)]) for k in ids]
    reading.read.append(f"equality {name!r}: {word}, {' and '.join(map(repr, names))}")
    terms = [terms_along(reading, joints, held) for joints in sums]
    if len(ids) == 2 and any(data[2:]):
        first, second = (JointSum(name, part).value - zero for part, zero in zip(terms, zeros, strict=True))
        return Condition(name, first - sum(c * second**k for k, c in enumerate(data)))
    factors: dict[Selected, float] = {}
    for part, slope in zip(terms, (1.0, -data[1]), strict=False):
        for factor, joint, freedom in part if slope else ():
            factors[joint, freedom] = factors.get((joint, freedom), 0.0) + slope * factor
    value = zeros[0] + data[0] - (data[1] * zeros[1] if len(ids) == 2 and data[1] else 0.0)
    return Coupling(name, factors, value)


def address(model: Any, word: str, k: int) -> int:
    """Where the reference of a joint or tendon stands."""
    return k if word == "tendon" else int(model.jnt_qposadr[k])


def gravity_of(reading: Reading, skeleton: Skeleton) -> list[ForceElement]:
    """Gravity, unless it is switched off or zero, and what compensates it."""
    m, g = reading.model, reading.model.gravity.tolist()
    if reading.is_off("gravity") or not any(g):
        return []
    reading.read.append(f"gravity {' '.join(f'{x:g}' for x in g)}")
    found: list[ForceElement] = [Gravity(g)]
    for i, body in skeleton.bodies.items():
        if share := float(m.body_gravcomp[i]):
            reading.read.append(f"body {skeleton.names[i]!r}: gravity compensation {share:g}")
            lift = [-share * float(m.body_mass[i]) * x for x in g]
            found.append(Force(f"{body.name}_gravcomp", body, lift))
    return found


def drag_of(reading: Reading, skeleton: Skeleton) -> list[BoxDrag]:
    """The drag of a medium with density or viscosity, by MuJoCo's model of boxes."""
    m, found = reading.model, []
    density, viscosity, wind = float(m.density), float(m.viscosity), np.array(m.wind)
    for i, body in skeleton.bodies.items() if density or viscosity else ():
        name = f"{body.name}_drag"
        geoms = [k for k in range(m.ngeom) if m.geom_bodyid[k] == i]
        if any(np.any(m.geom_fluid[k]) for k in geoms):
            reading.warnings.append(f"body {body.name!r}: its drag by ellipsoids is left out")
            continue
        axes = Frame.of((0, 0, 0), m.body_iquat[i]).turn
        found.append(BoxDrag(name, body, axes, np.array(m.body_inertia[i]), density, viscosity, wind))
    if found:
        reading.read.append(f"a medium of density {density:g} and viscosity {viscosity:g}: drag on every body")
    return found


def model_name(reading: Reading) -> str:
    """The name of the whole model; MuJoCo keeps it first among all names."""
    return reading.text_at(0)
