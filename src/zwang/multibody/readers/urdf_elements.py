"""The elements of a URDF file: links, joints, mimic tags, and what has no say in the motion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from xml.etree.ElementTree import Element

import numpy as np

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.multibody.readers.frame import WORLD, Frame, rotations
from zwang.multibody.readers.limits import Limit, limit_between
from zwang.multibody.readers.sizes import vanishing
from zwang.multibody.readers.tree import Link, Slot
from zwang.multibody.readers.xml_text import Xml
from zwang.multibody.spatial_body import check_inertia
from zwang.multibody.vectors import perpendiculars

URDF_JOINTS = {
    "revolute": ("hinge",),
    "continuous": ("hinge",),
    "prismatic": ("slide",),
    "fixed": (),
    "floating": ("free",),
    "planar": ("slide", "slide", "hinge"),
}
UNUSED = {
    "collision": "its contact shape",
    "limit": "its largest effort and speed",
    "safety_controller": "its safety controller",
    "calibration": "its calibration",
}


@dataclass(frozen=True, eq=False)
class Mimic:
    """A joint follows another: follower = factor × leader + offset."""

    follower: str
    leader: str
    factor: float
    offset: float


@dataclass(frozen=True, eq=False)
class Jointed:
    """A joint element: which links it joins, and how."""

    name: str
    kind: str
    parent: str
    child: str
    offset: Frame
    slots: tuple[Slot, ...]


def link_of(xml: Xml, e: Element, name: str) -> Link:
    """A link with its inertia, in its own axes; its place in the tree is not yet known."""
    bare = Link(name, 0, WORLD)
    who = f"link {name!r}"
    inertial = e.find("inertial")
    if inertial is None:
        return bare
    element = inertial.find("mass")
    if not xml.strict and (element is None or element.get("value") is None):
        xml.warnings.append(f"{who}: its mass is missing; taken as 0")
    mass = xml.number(element, "value", f"{who}: mass", None if xml.strict else 0.0)
    if mass is None:
        return bare
    if mass < 0 and xml.strict:
        xml.mistakes.append(f"{who}: its mass is {mass:g}, but a mass is not negative")
    origin = origin_of(xml, inertial, f"{who}: inertial")
    moments = inertial.find("inertia")
    entries = [
        xml.number(moments, key, f"{who}: inertia", 0.0) or 0.0 for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    ]
    xx, yy, zz, xy, xz, yz = entries
    J = origin.turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ origin.turn.T
    J[np.abs(J) < 1e-15 * np.abs(J).max()] = 0.0
    if xml.strict:
        require_possible(xml, who, mass, J)
    link = replace(bare, mass=mass, centre=origin.origin, inertia=J)
    xml.mistakes += vanishing(link)
    return link


def require_possible(xml: Xml, who: str, mass: float, J: Array) -> None:
    """Note moments that no body has."""
    try:
        check_inertia(who, J.tolist())
    except InputError as error:
        xml.mistakes.append(str(error))
    if mass == 0 and np.any(J):
        xml.mistakes.append(f"{who}: it has moments of inertia but no mass")


def joint_of(xml: Xml, e: Element, name: str) -> Jointed | None:
    """A joint element."""
    who, kind = f"joint {name!r}", e.get("type", "")
    if kind not in URDF_JOINTS:
        xml.mistakes.append(f"{who}: type {kind!r} is unknown: it is one of {', '.join(URDF_JOINTS)}")
    ends = {}
    for key in ("parent", "child"):
        end = e.find(key)
        if end is None or not end.get("link"):
            xml.mistakes.append(f"{who}: it names no {key} link")
        else:
            ends[key] = end.get("link", "")
    axis = np.array(xml.numbers(e.find("axis"), "xyz", f"{who}: axis", (1.0, 0.0, 0.0), inf))
    axis /= np.abs(axis).max() or 1.0  # so that no square is lost below the smallest number, or beyond the largest
    if not axis.any():
        if xml.strict or kind not in ("fixed", "floating"):
            xml.mistakes.append(f"{who}: its axis is zero: give a direction")
        else:
            xml.ignored.append(f"{who}: its axis, which is zero: a {kind} joint needs none")
        axis = np.array([1.0, 0.0, 0.0])
    dynamics = e.find("dynamics")
    damping = xml.number(dynamics, "damping", f"{who}: dynamics", 0.0) or 0.0
    friction = xml.number(dynamics, "friction", f"{who}: dynamics", 0.0) or 0.0
    if damping < 0:
        xml.mistakes.append(f"{who}: its damping is {damping:g}, but damping is not negative")
    if friction < 0:
        xml.mistakes.append(f"{who}: its friction is {friction:g}, but friction is not negative")
    if kind not in URDF_JOINTS or len(ends) < 2:
        return None
    slots = slots_for(name, kind, axis / np.linalg.norm(axis), max(damping, 0.0), friction)
    if kind == "floating" and (damping or friction):
        xml.warnings.append(
            f"joint {name!r}: damping {damping:g} and friction {friction:g} of a floating joint left out"
        )
    return Jointed(name, kind, ends["parent"], ends["child"], origin_of(xml, e, who), slots)


def limit_of(xml: Xml, e: Element) -> Limit | None:
    """The range of a hinge or slide, if it has one."""
    tag = e.find("limit")
    if tag is None or e.get("type") not in ("revolute", "prismatic"):
        return None
    if tag.get("lower") is None and tag.get("upper") is None:
        return None
    name = e.get("name", "").strip()
    lower, upper = (xml.numbers(tag, key, f"joint {name!r}: limit", (0.0,), inf)[0] for key in ("lower", "upper"))
    if lower > upper:
        nothing = f"joint {name!r}: its limits, {lower:g} to {upper:g}, leave it nowhere to be"
        xml.mend(f"{nothing}: the lower one comes first", f"{nothing}; left out")
        return None
    return limit_between(name, lower, upper)


def slots_for(name: str, kind: str, axis: Array, damping: float, friction: float) -> tuple[Slot, ...]:
    """What a joint of a kind leaves free."""
    if kind != "planar":
        return tuple(Slot(name, what, axis, damping=damping, friction=friction) for what in URDF_JOINTS[kind])
    n, m = perpendiculars(tuple(axis))
    across = (np.array([float(x) for x in n]), np.array([float(x) for x in m]))
    suffixes = ("travel1", "travel2", "angle")
    return tuple(
        Slot(f"{name}.{suffix}", what, direction, damping=damping, friction=friction)
        for suffix, what, direction in zip(suffixes, URDF_JOINTS[kind], (*across, axis), strict=True)
    )


def mimic_of(xml: Xml, e: Element, joints: Mapping[str, Jointed]) -> Mimic | None:
    """A mimic tag, if the joint has one."""
    tag, name = e.find("mimic"), e.get("name", "")
    if tag is None:
        return None
    who, leader = f"joint {name!r}: mimic", tag.get("joint", "")
    factor, offset = (xml.number(tag, key, who, value) for key, value in (("multiplier", 1.0), ("offset", 0.0)))
    kinds = {other: joints[other].kind for other in (name, leader) if other in joints}
    if kinds.get(name) == "fixed" and not xml.strict:
        xml.warnings.append(f"{who}: it is fixed, so that it follows nothing")
        return None
    if leader not in kinds and not xml.strict:
        xml.warnings.append(f"{who}: there is no joint {leader!r}; it moves by itself")
        return None
    if kinds.get(leader) == "fixed" and not xml.strict:
        xml.warnings.append(f"{who}: joint {leader!r} is fixed; it is held at {offset:g}")
        return Mimic(name, leader, 0.0, offset or 0.0)
    for other in (name, leader):
        found = joints.get(other)
        if found is None:
            xml.mistakes.append(f"{who}: there is no joint {other!r}")
        elif found.kind not in ("revolute", "continuous", "prismatic"):
            xml.mistakes.append(f"{who}: joint {other!r} is {found.kind}, which has no single angle or travel")
    if leader == name:
        xml.mistakes.append(f"{who}: it follows itself")
    return Mimic(name, leader, factor or 0.0, offset or 0.0)


def origin_of(xml: Xml, e: Element, who: str) -> Frame:
    """An origin tag: xyz, and rpy about fixed axes."""
    tag = e.find("origin")
    xyz = xml.numbers(tag, "xyz", f"{who}: origin", (0.0, 0.0, 0.0))
    rpy = xml.numbers(tag, "rpy", f"{who}: origin", (0.0, 0.0, 0.0))
    turn = rotations().from_euler("xyz", rpy).as_matrix()
    turn[np.abs(turn) < 1e-15] = 0.0  # what a quarter turn written in decimals leaves
    return Frame(turn, np.array(xyz))


def add_missing(xml: Xml, links: dict[str, Link], joints: Sequence[Jointed]) -> None:
    """Links that joints name but the file does not have: without mass; and leave out those that no joint names."""
    named = {name for j in joints for name in (j.parent, j.child)}
    for j in joints:
        for key, name in (("parent", j.parent), ("child", j.child)):
            if name not in links:
                words = f"joint {j.name!r}: its {key} {name!r} is not a link of this robot"
                xml.mend(words, f"{words}; taken as a link without mass")
                if not xml.strict:
                    links[name] = Link(name, 0, WORLD)
    loose = [name for name in links if name not in named]
    if named and not xml.strict:
        for name in loose:
            xml.warnings.append(f"link {name!r}: no joint holds it; left out")
            del links[name]


def root_of(xml: Xml, links: Mapping[str, Link], joints: Sequence[Jointed]) -> str:
    """The one link that no joint has as its child."""
    above: dict[str, Jointed] = {}
    for j in joints:
        if j.child in above:
            xml.mistakes.append(f"link {j.child!r} is the child of both {above[j.child].name!r} and {j.name!r}")
        above[j.child] = j
    roots = [name for name in links if name not in above]
    if not links:
        xml.mistakes.append("it has no link")
    elif not xml.mistakes and len(roots) > 1:
        xml.mistakes.append(
            f"the links {', '.join(map(repr, roots))} have no parent: only one, the root, may have none"
        )
    for name in links:
        seen = [name]
        while not xml.mistakes and seen[-1] in above:
            seen.append(above[seen[-1]].parent)
            if seen[-1] == name:
                xml.mistakes.append(f"the joints make a cycle: {' → '.join(map(repr, reversed(seen)))}; URDF is a tree")
    return roots[0] if roots else ""


def unused_lines(root: Element) -> list[str]:
    """The parts of the file that do not affect the motion."""
    lines = []
    for e in root:
        name = e.get("name", "")
        if e.tag == "material":
            continue
        if e.tag not in ("link", "joint"):
            lines.append(f"{e.tag} {name!r}".replace(" ''", ""))
            continue
        counts: dict[str, int] = {}
        for part in e:
            counts[part.tag] = counts.get(part.tag, 0) + 1
        known = {"inertial", "origin", "axis", "parent", "child", "dynamics", "mimic", "visual"}
        lines += [
            f"{e.tag} {name!r}: {UNUSED.get(tag, tag)}{f' ({k} times)' if k > 1 else ''}"
            for tag, k in counts.items()
            if tag not in known
        ]
    return lines
