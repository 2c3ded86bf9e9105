"""Models of MuJoCo (MJCF), read into a mechanism by MuJoCo's own compiler (the package `mujoco`).

The compiler resolves defaults, classes and included files and computes inertias from geometries. What it gives is read
here: MuJoCo's documentation of mjModel says what each array means.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from zwang.errors import InputError
from zwang.multibody.body import ground
from zwang.multibody.element import ForceElement
from zwang.multibody.forces.gravity import Gravity
from zwang.multibody.joint import Constrainer
from zwang.multibody.joints.fixed import Fixed
from zwang.multibody.joints.selection import Selected
from zwang.multibody.joints.spherical import Spherical
from zwang.multibody.joints.transmission.coupling import Coupling
from zwang.multibody.mechanism import Mechanism
from zwang.multibody.readers.frame import Frame
from zwang.multibody.readers.imported import Imported
from zwang.multibody.readers.mjcf_files import require_own_files
from zwang.multibody.readers.mjcf_ignored import ignored_lines
from zwang.multibody.readers.skeleton import Held, Skeleton, dampers_and_springs, refused, skeleton_of, unused
from zwang.multibody.readers.tree import Link, Slot
from zwang.multibody.readers.xml_text import xml_text

JOINTS = ("free", "ball", "slide", "hinge")  # in the order of mjtJoint


@dataclass
class Reading:
    """A compiled model as it is read: names, and what was read, ignored or cannot be read."""

    mj: Any
    model: Any
    read: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)

    def name(self, kind: str, i: int) -> str:
        """The name of an element in the file, or its kind and number."""
        given = self.mj.mj_id2name(self.model, getattr(self.mj.mjtObj, f"mjOBJ_{kind.upper()}"), i)
        return given or f"{kind}{i}"


def read_mjcf(source: str | Path) -> Imported:
    """Read an MJCF file, or its text, through MuJoCo's compiler.

    Bodies, inertias, hinges, slides, balls and free joints; the equalities `connect`, `weld` and, if linear, `joint`;
    springs and dampers in joints; gravity. Several hinges and slides on a body become a `Series`. A joint reads what
    qpos reads in MuJoCo. Bodies fixed to the world are the ground. Equalities are exact here, where MuJoCo's are soft.
    A model that names files outside its own folder is refused.
    """
    reading = compiled(source)
    links = tuple(links_of(reading))
    if reading.mistakes:
        raise refused(reading.mistakes)
    used = {link.joint for link in links} | {s.name for link in links for s in link.slots}
    skeleton = skeleton_of(links, used)
    equal = [i for i in range(reading.model.neq) if active(reading, i)]
    held = skeleton.joints(coupled(reading, equal))
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
    forces: list[ForceElement] = [*gravity_of(reading), *dampers_and_springs(held)]
    mechanism = Mechanism(list(skeleton.bodies.values()), conditions, forces, name=model_name(reading))
    ignored = (*reading.ignored, *ignored_lines(reading.mj, reading.model, reading.name))
    return Imported(mechanism, (*body_lines, *reading.read), ignored, skeleton, tuple(held))


def compiled(source: str | Path) -> Reading:
    """The model that MuJoCo's compiler makes of the source."""
    try:
        import mujoco
    except ImportError:
        raise InputError("reading MJCF needs MuJoCo's own compiler: pip install 'zwang[mjcf]', or mujoco") from None
    text = xml_text(source, "MJCF")
    require_own_files(text, None if text is source else Path(source))
    warned: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda words: warned.append(" ".join(str(words).split())))  # not into a log file
    try:
        # a file is not read from its text: it may include files beside it
        read, what = (
            (mujoco.MjModel.from_xml_string, text) if text is source else (mujoco.MjModel.from_xml_path, source)
        )
        model = read(str(what))
    except (ValueError, mujoco.FatalError) as error:
        raise refused([f"MuJoCo's compiler refuses it: {' '.join(str(error).split())}"]) from None
    finally:
        mujoco.set_mju_user_warning(before)
    if any("NaN" in words for words in warned):
        raise refused(["a number in it is NaN"])
    return Reading(mujoco, model, ignored=[f"MuJoCo warns: {words}" for words in warned])


def links_of(reading: Reading) -> Iterator[Link]:
    """The bodies of a compiled model as links; MuJoCo's body 0 is the world, and parents come first."""
    m = reading.model
    yield Link("world", -1, Frame.of((0, 0, 0)))
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
    elif stiffness:
        reading.ignored.append(f"joint {name!r}: its stiffness {stiffness:g}, for a {kind} joint's spring is not read")
        stiffness = 0.0
    if kind == "free" and damping:
        reading.ignored.append(f"joint {name!r}: its damping {damping:g}, for a free joint's damper is not read")
        damping = 0.0
    at = np.zeros(3) if kind in ("free", "slide") else np.array(m.jnt_pos[j])
    return Slot(name, kind, np.array(m.jnt_axis[j]), at, zero, stiffness, rest, damping)


def extras(slot: Slot) -> str:
    """A slot's spring and damper in words."""
    spring = f", stiffness {slot.stiffness:g} about {slot.rest:g}" if slot.stiffness else ""
    return spring + (f", damping {slot.damping:g}" if slot.damping else "")


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
    if reading.model.eq_active0[i]:
        return True
    reading.ignored.append(f"equality {reading.name('equality', i)!r}: it is not active")
    return False


def coupled(reading: Reading, equal: list[int]) -> set[str]:
    """Joints that an equality between joints names: they count their turns."""
    m, kind = reading.model, int(reading.mj.mjtEq.mjEQ_JOINT)
    ids = [int(j) for i in equal if m.eq_type[i] == kind for j in (m.eq_obj1id[i], m.eq_obj2id[i])]
    return {reading.name("joint", j) for j in ids if j >= 0}


def equality(reading: Reading, i: int, skeleton: Skeleton, held: list[Held], name: str) -> Constrainer | None:
    """An equality as a joint or coupling; None where there is nothing to hold."""
    word = str(reading.mj.mjtEq(int(reading.model.eq_type[i])).name).removeprefix("mjEQ_").lower()
    if word == "joint":
        return coupling(reading, i, held, name)
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
    if m.eq_objtype[i] == int(reading.mj.mjtObj.mjOBJ_SITE):
        a, b = (Frame.of(m.site_pos[s], m.site_quat[s]) for s in (one, two))
        return int(m.site_bodyid[one]), int(m.site_bodyid[two]), a, b
    if m.eq_type[i] == int(reading.mj.mjtEq.mjEQ_CONNECT):
        return one, two, Frame.of(data[:3]), Frame.of(data[3:6])
    return one, two, Frame.of(data[3:6], data[6:10]), Frame.of(data[:3])


def coupling(reading: Reading, i: int, held: list[Held], name: str) -> Coupling | None:
    """first − its reference = c₀ + c₁ (second − its reference)."""
    m, data = reading.model, reading.model.eq_data[i]
    by_slot = {s.name: (h, s) for h in held for s in h.slots}
    ids = [int(j) for j in (m.eq_obj1id[i], m.eq_obj2id[i]) if j >= 0]
    names = [reading.name("joint", j) for j in ids]
    if any(JOINTS[int(m.jnt_type[j])] not in ("hinge", "slide") for j in ids):
        reading.mistakes.append(
            f"equality {name!r}: it couples {' and '.join(names)}, but only hinges and slides count"
        )
        return None
    if len(ids) == 2 and np.any(data[2:5]):
        reading.mistakes.append(
            f"equality {name!r}: it couples {names[0]!r} to {names[1]!r} by a polynomial with the coefficients "
            f"{data[:5].tolist()}: only linear couplings are read; set polycoef to two numbers"
        )
        return None
    own, slot = by_slot[names[0]]
    factors: dict[Selected, float] = {(own.joint, own.freedom(slot)): 1.0}
    value = slot.zero + float(data[0])
    if len(ids) == 2 and data[1]:
        other, leader = by_slot[names[1]]
        factors[(other.joint, other.freedom(leader))] = -float(data[1])
        value -= float(data[1]) * leader.zero
    reading.read.append(f"equality {name!r}: joint, {' and '.join(map(repr, names))}")
    return Coupling(name, factors, value)


def gravity_of(reading: Reading) -> list[Gravity]:
    """Gravity, unless it is switched off or zero."""
    off = reading.model.opt.disableflags & int(reading.mj.mjtDisableBit.mjDSBL_GRAVITY)
    g = reading.model.opt.gravity.tolist()
    if off or not any(g):
        return []
    reading.read.append(f"gravity {' '.join(f'{x:g}' for x in g)}")
    return [Gravity(g)]


def model_name(reading: Reading) -> str:
    """The name of the whole model; MuJoCo keeps it first among all names."""
    return bytes(reading.model.names).split(b"\0", 1)[0].decode()
