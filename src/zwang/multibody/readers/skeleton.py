"""From the tree of a model that was read to bodies and joints."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.errors import ModelFileError
from zwang.model.solids import Solid
from zwang.multibody.body import AnyBody, ground
from zwang.multibody.element import ForceElement
from zwang.multibody.forces.actuator import Actuator
from zwang.multibody.forces.armature import Armature
from zwang.multibody.forces.ball_damper import BallDamper
from zwang.multibody.forces.joint_spring import JointSpring
from zwang.multibody.joint import Joint
from zwang.multibody.joints.fixed import Fixed
from zwang.multibody.joints.prismatic import Prismatic
from zwang.multibody.joints.revolute import Revolute
from zwang.multibody.joints.series import Series, Step
from zwang.multibody.joints.spherical import Spherical
from zwang.multibody.readers.frame import WORLD, Frame
from zwang.multibody.readers.looks import Look
from zwang.multibody.readers.tree import Link, Placed, Slot, place, reference
from zwang.multibody.spatial_body import Body
from zwang.words import count

CREEP = 1e-3  # the speed, in units of length or angle, at which dry friction has most of its size
FREEDOM_KINDS = {"hinge": "angle", "slide": "travel"}


@dataclass(frozen=True, eq=False)
class TakenBody(Body):
    """A body whose mass may be zero and whose moments may violate the triangle inequality, as files have them.

    What it does in a mechanism is determined as long as joints and other bodies give all its motions inertia.

    >>> TakenBody("hub", mass=0, inertia=(0, 0, 0)).mass
    0
    """

    def __post_init__(self) -> None:
        """Nothing is refused: the reader has looked at it."""


@dataclass(frozen=True, eq=False)
class Carried:
    """Which link's body carries a link (number 0: the ground), and the link's frame in that link's."""

    link: int
    frame: Frame


@dataclass(frozen=True, eq=False)
class Held:
    """A joint of the mechanism that slots of one link became, and whether their values are coordinates of its own."""

    link: int
    slots: tuple[Slot, ...]
    joint: Joint

    @property
    def own(self) -> bool:
        """Whether the joint counts its slots by coordinates of its own."""
        return isinstance(self.joint, Series)

    def freedom(self, slot: Slot) -> str:
        """What the joint calls the coordinate of a slot."""
        return step_name(self.joint.name, slot) if self.own else FREEDOM_KINDS[slot.kind]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Links with the bodies that carry them.

    A body has its link's axes. Links without mass are parts of the body that they are fixed to, and what is fixed to
    the world is the ground.
    """

    links: tuple[Link, ...]
    carried: tuple[Carried, ...]
    names: tuple[str, ...]
    looks: tuple[Look, ...] = ()

    @cached_property
    def start(self) -> Placed:
        """The links in the reference position."""
        return place(self.links, reference(self.links))

    @cached_property
    def bodies(self) -> dict[int, Body]:
        """The bodies, by the number of their link."""
        found = {}
        for i, link in enumerate(self.links):
            if i and self.carried[i].link == i:
                here = self.start.frames[i]
                inertia = (link.inertia + link.inertia.T) / 2
                position, u = here.point(link.centre), here.quaternion
                kind = TakenBody if link.taken else Body
                about = inertia.tolist(), position.tolist(), u.tolist()
                found[i] = kind(self.names[i], link.mass, *about, solids=self.solids(i))
        return found

    def solids(self, i: int) -> tuple[Solid, ...]:
        """What the links that a body carries look like, in its axes from the centre of mass; 0 is the scenery."""
        number = {link.name: k for k, link in enumerate(self.links)}
        here = [(number[look.link], look) for look in self.looks if look.link in number]
        found = []
        for k, look in here:
            if self.carried[k].link == i:
                frame = self.carried[k].frame @ look.frame
                found.append(look.placed(Frame(frame.turn, frame.origin - self.links[i].centre)))
        return tuple(found)

    def body(self, link: int) -> AnyBody:
        """What carries a link."""
        return self.bodies.get(self.carried[link].link, ground)

    def point(self, link: int, x: Sequence[float] | Array) -> list[float]:
        """A point of a link, in the axes of its body from the centre of mass."""
        by = self.carried[link]
        found: list[float] = (by.frame.point(x) - self.links[by.link].centre).tolist()
        return found

    def direction(self, link: int, d: Sequence[float] | Array) -> list[float]:
        """A direction of a link, in the axes of its body."""
        found: list[float] = (self.carried[link].frame.turn @ np.asarray(d)).tolist()
        return found

    def joints(self, counted: Collection[str]) -> list[Held]:
        """The joints of the tree; slots in `counted`, sprung ones, rotors and several of a link count their turns."""
        found = []
        for i, link in enumerate(self.links):
            if i == 0 or (link.slots and link.slots[0].kind == "free"):
                continue
            if link.slots:
                found.append(Held(i, link.slots, self.joint(i, link, counted)))
            elif self.carried[i].link == i and self.carried[link.parent].link != i:  # fixed, but a body of its own
                name, at = link.joint, self.between(i, np.zeros(3))
                found.append(Held(i, (), Fixed(name, self.body(link.parent), self.body(i), at=at)))
        return found

    def between(self, i: int, x: Array) -> tuple[list[float], list[float]]:
        """A point of a link in the reference position, on its parent's body and on its own."""
        parent = self.links[i].parent
        world = self.start.frames[i].point(x)
        return self.point(parent, self.start.frames[parent].inverse.point(world)), self.point(i, x)

    def joint(self, i: int, link: Link, counted: Collection[str]) -> Joint:
        """The joint between a link and its parent."""
        first, second, slot = self.body(link.parent), self.body(i), link.slots[0]
        at = self.between(i, slot.at)
        own = slot.kind in FREEDOM_KINDS and (slot.stiffness or slot.armature)
        if len(link.slots) > 1 or slot.name in counted or own:
            return Series(link.joint, first, second, at, [self.step(i, s) for s in link.slots])
        if slot.kind == "ball":
            return Spherical(link.joint, first, second, at)
        parent_axis = self.start.frames[link.parent].turn.T @ self.start.frames[i].turn @ slot.axis
        axis = (self.direction(link.parent, parent_axis), self.direction(i, slot.axis))
        kind = Revolute if slot.kind == "hinge" else Prismatic
        return kind(link.joint, first, second, at, axis, slot.zero)

    def step(self, i: int, slot: Slot) -> Step:
        """A slot as a step of a series, in world axes."""
        here = self.start.frames[i]
        axis, at = here.turn @ slot.axis, here.point(slot.at)
        name = step_name(self.links[i].joint, slot)
        return Step(name, FREEDOM_KINDS[slot.kind], axis.tolist(), at.tolist(), slot.zero)


def step_name(joint: str, slot: Slot) -> str:
    """What a slot is called within its joint: angle or travel where it is the joint, else its own name.

    x, y and z are the joint's own conditions.
    """
    name = FREEDOM_KINDS[slot.kind] if slot.name == joint else slot.name.removeprefix(f"{joint}.")
    return f"{name}_{FREEDOM_KINDS[slot.kind]}" if name in ("x", "y", "z") else name


def slot_elements(held: Sequence[Held], friction: float | None) -> list[ForceElement]:
    """Springs, dampers, rotors and dry friction of the slots.

    Friction is f tanh(rate/`friction`): dry friction that creeps at this speed; 0 is dry, None leaves it out.
    """
    found: list[ForceElement] = []
    for h in held:
        for s in h.slots:
            if s.kind == "ball" and s.damping:
                found.append(BallDamper(f"{s.name}_damper", h.joint, s.damping))
            elif s.kind in FREEDOM_KINDS and (s.stiffness or s.damping):
                name = f"{s.name}_spring" if s.stiffness else f"{s.name}_damper"
                rest = s.rest if s.stiffness else None
                found.append(JointSpring(name, h.joint, s.stiffness, rest, s.damping, h.freedom(s)))
            if s.kind in FREEDOM_KINDS and s.armature:
                found.append(Armature(f"{s.name}_rotor", h.joint, s.armature, h.freedom(s)))
            if s.kind in FREEDOM_KINDS and s.friction and friction is not None:
                rate = h.joint.freedoms[h.freedom(s)].rate
                effort = -s.friction * (sp.tanh(rate / friction) if friction else sp.sign(rate))
                found.append(Actuator(f"{s.name}_friction", h.joint, effort, h.freedom(s)))
    return found


def friction_lines(held: Sequence[Held], friction: float | None) -> tuple[list[str], list[str]]:
    """What became of dry friction: lines on what was read, and warnings."""
    rough = [(s.name, s.friction) for h in held for s in h.slots if s.friction and s.kind in FREEDOM_KINDS]
    if friction is None:
        return [], [
            f"joint {name!r}: its dry friction {f:g} is left out; friction=1e-3 puts it in, and lets it creep"
            for name, f in rough
        ]
    return [f"joint {name!r}: dry friction {f:g}" for name, f in rough], []


def skeleton_of(links: Sequence[Link], taken: Collection[str] = (), looks: Sequence[Look] = ()) -> Skeleton:
    """Links with their bodies; refuse, by name, what moves without mass."""
    carried = carriers(links)
    used = {"ground", *taken}
    names = []
    for link in links:
        names.append(unused(link.name, used))
        used.add(names[-1])
    return Skeleton(tuple(links), carried, tuple(names), tuple(looks))


def carriers(links: Sequence[Link]) -> tuple[Carried, ...]:
    """The link whose body carries each link: the nearest one with mass up the chain of fixed joints, or else below."""
    root, frame = rigid_groups(links), [WORLD]  # the frames are in the group's first link
    for link in links[1:]:
        frame.append(WORLD if link.slots else frame[link.parent] @ link.offset)
    is_body = [link.mass > 0 or link.taken for link in links]
    holder = {0: 0}
    for i in range(len(links)):
        if is_body[i]:
            holder.setdefault(root[i], i)
    bad = [links[r].name for r in dict.fromkeys(root) if r not in holder]
    if bad:
        raise refused([f"link {n!r} can move but has no mass: give it an inertia, or fix it to another" for n in bad])
    found: list[Carried] = []
    for i, link in enumerate(links):
        by = 0 if root[i] == 0 else i
        if root[i] and not is_body[i]:
            above = found[link.parent].link if not link.slots else 0
            by = above or holder[root[i]]
        found.append(Carried(by, frame[by].inverse @ frame[i]))
    return tuple(found)


def rigid_groups(links: Sequence[Link]) -> list[int]:
    """The first link of the rigid group that each link belongs to; 0 is the ground's."""
    root = [0]
    for i, link in enumerate(links[1:], start=1):
        root.append(i if link.slots else root[link.parent])
    return root


def unused(name: str, used: Collection[str], suffix: str = "link") -> str:
    """The name, or one like it that is not yet used."""
    tried, k = name, 1
    while tried in used:
        tried, k = f"{name}_{suffix}{k if k > 1 else ''}", k + 1
    return tried


def refused(problems: Sequence[Any]) -> ModelFileError:
    """Every mistake of a model that cannot be read."""
    return ModelFileError(
        problems, "\n".join([f"this model has {count(len(problems), 'mistake')}:", *(f"  - {p}" for p in problems)])
    )
