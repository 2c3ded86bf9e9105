"""Robots described in URDF, read into a mechanism.

URDF says: a link's inertia is given in a frame of its own; a joint's origin is the child's frame in the parent's where
the joint reads zero; the joint's axis is in the child's frame. See the format's description by Open Robotics.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree.ElementTree import Element

from zwang.multibody.forces.gravity import Gravity
from zwang.multibody.joint import Constrainer
from zwang.multibody.joints.selection import Selected
from zwang.multibody.joints.transmission.coupling import Coupling
from zwang.multibody.mechanism import Mechanism
from zwang.multibody.readers.frame import WORLD
from zwang.multibody.readers.imported import Imported
from zwang.multibody.readers.limits import Limit, limit_lines, switched_on
from zwang.multibody.readers.looks import look_lines
from zwang.multibody.readers.mending import mend
from zwang.multibody.readers.own_files import own_folders
from zwang.multibody.readers.skeleton import (
    Held,
    Skeleton,
    friction_lines,
    refused,
    skeleton_of,
    slot_elements,
    unused,
)
from zwang.multibody.readers.tree import Link, Slot, slots_of
from zwang.multibody.readers.urdf_elements import (
    Jointed,
    Mimic,
    add_missing,
    joint_of,
    limit_of,
    link_of,
    mimic_of,
    root_of,
    unused_lines,
)
from zwang.multibody.readers.urdf_looks import looks_of
from zwang.multibody.readers.xml_text import Xml, parse_xml


def read_urdf(
    source: str | Path,
    *,
    floating_base: bool = False,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    strict: bool = False,
    limits: bool = False,
    restitution: float = 0.0,
    friction: float | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
) -> Imported:
    """Read a URDF file, or its text. URDF knows no gravity: it is given here.

    The root link is the ground, or, with `floating_base`, a body that is free to move. Links without inertia that are
    fixed to others are parts of those. A damping becomes a linear damper, a mimic tag a coupling. `planar` leaves two
    travels and a turn free, called joint.travel1, joint.travel2 and joint.angle.

    `limits=True` makes the ranges of joints stops, one-sided constraints at which `restitution` of the speed is given
    back. Dry friction f is left out, or f tanh(rate/`friction`): it creeps a little below this speed, and 0 makes it
    dry: joints stick.

    Meshes are read from the folder of the file and those below it, and nowhere else but in `packages`, the folders that
    `package://` names and `..` may lead to: `packages={"my_arm": "ros/src/my_arm"}`.

    Files of real robots are not always possible: what can be mended without another motion is, and `warnings` say
    what was done. With `strict`, such files are refused.

    >>> pendulum = read_urdf('''<robot name="pendulum">
    ...   <link name="base"/>
    ...   <link name="rod"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
    ...     <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    ...   <joint name="pin" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
    ... </robot>''')
    >>> print(pendulum)
    read:
      - link 'base': the ground
      - link 'rod': a body of mass 1
      - joint 'pin': continuous, from 'base' to 'rod'
    ignored:
      - nothing
    """
    xml, root = parse_xml(source, "robot", "URDF", strict)
    robot = robot_of(xml, root, floating_base)
    tree, mimics, ranges = robot.tree, robot.mimics, robot.ranges
    is_text = isinstance(source, str) and "<" in source
    looks = looks_of(xml, root, None if is_text else own_folders(Path(source), packages))
    skeleton = skeleton_of(tree, {link.joint for link in tree} | slots_of(tree).keys(), looks)
    counted = {name for m in mimics for name in (m.follower, m.leader)} | {r.name for r in ranges if limits}
    held = skeleton.joints(counted)
    conditions: list[Constrainer] = [*(h.joint for h in held), *couplings(held, mimics)]
    forces = [*([Gravity(gravity)] if any(gravity) else []), *slot_elements(held, friction)]
    ends = {s.name: [(1, h.joint.freedoms[h.freedom(s)])] for h in held for s in h.slots if s.name in counted}
    mechanism = Mechanism(
        list(skeleton.bodies.values()),
        conditions,
        forces,
        name=root.get("name") or "",
        constraints=switched_on(ranges, ends, limits, restitution),
        scenery=skeleton.solids(0),
    )
    rough, missing = friction_lines(held, friction)
    read = (*robot.lines(skeleton), *rough, *limit_lines(ranges, limits), *look_lines(looks))
    return Imported(
        mechanism, read, tuple(xml.ignored), skeleton, tuple(held), (*xml.warnings, *missing), tuple(ranges)
    )


@dataclass(frozen=True, eq=False)
class Robot:
    """What a file describes: the tree of links as bodies can be made of it, joints, mimic tags and ranges."""

    tree: tuple[Link, ...]
    joints: tuple[Jointed, ...]
    mimics: list[Mimic]
    ranges: list[Limit]

    def lines(self, skeleton: Skeleton) -> list[str]:
        """What was read."""
        read = [link_line(skeleton.names[i], i, skeleton) for i in range(1, len(self.tree))]
        read += [f"joint {j.name!r}: {j.kind}, from {j.parent!r} to {j.child!r}" for j in self.joints]
        damped = [s for s in slots_of(self.tree).values() if s.damping]
        read += [f"joint {s.name!r}: damping {s.damping:g}" for s in damped]
        return read + [
            f"joint {m.follower!r}: follows {m.leader!r}, × {m.factor:g} + {m.offset:g}" for m in self.mimics
        ]


def robot_of(xml: Xml, root: Element, floating_base: bool) -> Robot:
    """What the elements of a file describe; what has no meaning is refused."""
    links = {name: link_of(xml, e, name) for name, e in xml.named(root, "link").items()}
    elements = xml.named(root, "joint")
    found = {name: j for name, e in elements.items() if (j := joint_of(xml, e, name)) is not None}
    mimics = [] if xml.mistakes else [m for e in elements.values() if (m := mimic_of(xml, e, found)) is not None]
    ranges = [r for e in elements.values() if (r := limit_of(xml, e)) is not None]
    joints = tuple(found.values())
    xml.ignored += unused_lines(root)
    add_missing(xml, links, joints)
    base = root_of(xml, links, joints)
    if xml.mistakes:
        raise refused(xml.mistakes)
    tree, mimics = mended(xml, grown(links, joints, base, floating_base), mimics)
    moving = slots_of(tree)
    if not moving:
        raise refused(["nothing in it can move: floating_base=True frees its root"])
    return Robot(tree, joints, mimics, [r for r in ranges if r.name in moving])


def mended(xml: Xml, tree: tuple[Link, ...], mimics: list[Mimic]) -> tuple[tuple[Link, ...], list[Mimic]]:
    """The tree as bodies can be made of it, and the mimic tags of joints that still move."""
    if xml.strict:
        return tree, mimics
    now = mend(tree, coupled_sets(mimics))
    xml.warnings += now.warnings
    if now.mistakes:
        raise refused(now.mistakes)
    moving = {s.name for link in now.links for s in link.slots}
    return tuple(now.links), [m for m in mimics if m.follower in moving and (m.leader in moving or not m.factor)]


def coupled_sets(mimics: Sequence[Mimic]) -> list[set[str]]:
    """Joints that determine each other by mimic tags."""
    found: list[set[str]] = []
    for m in mimics:
        mine = {m.follower, m.leader} if m.factor else {m.follower}
        apart = [names for names in found if not names & mine]
        found = [*apart, mine.union(*(names for names in found if names & mine))]
    return found


def couplings(held: Sequence[Held], mimics: Sequence[Mimic]) -> list[Coupling]:
    """The mimic tags as couplings of joint coordinates."""
    by_slot = {s.name: (h.joint, h.freedom(s)) for h in held for s in h.slots if s.kind != "ball"}
    found = []
    for m in mimics:
        factors: dict[Selected, float] = {by_slot[m.follower]: 1.0}
        if m.factor:
            factors[by_slot[m.leader]] = -m.factor
        found.append(Coupling(f"{m.follower}_mimic", factors, m.offset))
    return found


def link_line(called: str, i: int, skeleton: Skeleton) -> str:
    """What became of a link."""
    link, by = skeleton.links[i], skeleton.carried[i].link
    other = "" if called == link.name else f", called {called!r} here"
    if by == 0:
        return f"link {link.name!r}: the ground"
    if by == i:
        called_body = f"a body of mass {link.mass:g}" if link.mass else "a body without mass"
        return f"link {link.name!r}: {called_body}{other}"
    return f"link {link.name!r}: without mass, a part of {skeleton.names[by]!r}"


def grown(links: dict[str, Link], joints: Sequence[Jointed], base: str, floating_base: bool) -> tuple[Link, ...]:
    """The tree, parents before children; number 0 is the world."""
    used = {j.name for j in joints}
    slots = (Slot(unused("base", used, "free"), "free"),) if floating_base else ()
    tree = [Link("world", -1, WORLD), replace(links[base], slots=slots)]
    number = {base: 1}
    while len(number) < len(links):
        for j in joints:
            if j.parent in number and j.child not in number:
                number[j.child] = len(tree)
                tree.append(
                    replace(links[j.child], parent=number[j.parent], offset=j.offset, slots=j.slots, joint=j.name)
                )
    return tuple(tree)
