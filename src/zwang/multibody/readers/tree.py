"""The tree of a model that was read, in numbers: its links, what may move between them, and where that brings them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.model.values import numbers
from zwang.multibody.readers.frame import WORLD, Frame, rotations, turned

# kind → how many numbers say where it stands, and how many how it moves
SIZES = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free": (7, 6)}


@dataclass(frozen=True, eq=False)
class Slot:
    """One hinge, slide, ball or free motion between a link and its parent; axis and place in the link's axes.

    `zero` is what it reads where the link has its `offset` from the parent.
    """

    name: str
    kind: str
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    at: Array = field(default_factory=lambda: np.zeros(3))
    zero: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    armature: float = 0.0
    friction: float = 0.0


@dataclass(frozen=True, eq=False)
class Link:
    """A link: its parent's number, its frame in the parent's where every slot reads zero, and its inertia.

    `inertia` is about the centre of mass, in the link's axes. `joint` names what holds a link without slots. A link
    that is `taken` is a body with its mass and inertia as they are, even if no body can have these.
    """

    name: str
    parent: int
    offset: Frame
    slots: tuple[Slot, ...] = ()
    mass: float = 0.0
    centre: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    joint: str = ""
    taken: bool = False


@dataclass(frozen=True, eq=False)
class Placed:
    """Frames of all links in the world, and how their velocities follow from the rates of all slots.

    `linear` and `angular` (links, 3, rates) give the velocity of a link's origin and its angular velocity.
    """

    frames: tuple[Frame, ...]
    linear: Array
    angular: Array


Values = dict[str, Array]


def slots_of(links: Sequence[Link]) -> dict[str, Slot]:
    """Every slot by its name, in the order of the tree."""
    return {s.name: s for link in links for s in link.slots}


def rate_slices(links: Sequence[Link]) -> dict[str, slice]:
    """Where the rates of each slot stand among all rates."""
    found, begin = {}, 0
    for name, s in slots_of(links).items():
        found[name] = slice(begin, begin + SIZES[s.kind][1])
        begin += SIZES[s.kind][1]
    return found


def reference(links: Sequence[Link]) -> Values:
    """What every slot reads in the reference position."""
    values: Values = {}
    for link in links:
        for s in link.slots:
            if s.kind == "free":
                values[s.name] = np.concatenate([link.offset.origin, link.offset.quaternion])
            else:
                values[s.name] = np.array([1.0, 0, 0, 0] if s.kind == "ball" else [s.zero])
    return values


def read_values(links: Sequence[Link], given: Mapping[str, Any], what: str) -> Values:
    """Numbers for slots by name, each of the length that its kind needs."""
    known = slots_of(links)
    values: Values = {}
    for name, value in given.items():
        if name not in known:
            raise InputError(f"{what}: there is no joint {name!r}; there are {', '.join(map(repr, known))}")
        size = SIZES[known[name].kind][what == "rates"]
        array = numbers(value, f"{what}: joint {name!r}").reshape(-1)
        if len(array) != size:
            raise InputError(f"{what}: joint {name!r} ({known[name].kind}) takes {size} numbers, not {len(array)}")
        values[name] = array
    return values


def place(links: Sequence[Link], values: Values) -> Placed:
    """Where the slots' values bring the links, and the velocities that their rates give.

    A free slot reads the link's origin and quaternion in the parent's axes; its rates are those of the origin, in the
    parent's axes, and the angular velocity in the link's axes. The rates of a ball are its angular velocity in the
    link's axes.
    """
    slices = rate_slices(links)
    total = max((s.stop for s in slices.values()), default=0)
    linear, angular = np.zeros((2, len(links), 3, total))
    frames: list[Frame] = [WORLD]
    for i, link in enumerate(links[1:], start=1):
        parent, here = frames[link.parent], frames[link.parent] @ link.offset
        angular[i] = angular[link.parent]
        screws = []
        for s in link.slots:
            value = values[s.name]
            if s.kind == "free":
                here = parent @ Frame.of(value[:3], value[3:])
            elif s.kind == "slide":
                here = here @ Frame(np.eye(3), s.axis * (value[0] - s.zero))
            else:
                turn = Frame.of((0, 0, 0), value).turn if s.kind == "ball" else turned(s.axis * (value[0] - s.zero))
                here = here @ Frame(turn, s.at - turn @ s.at)
            screws.append((s, here.turn if s.kind in ("ball", "free") else here.turn @ s.axis, here.point(s.at)))
        linear[i] = linear[link.parent] + np.cross(angular[link.parent], here.origin - parent.origin, axisa=0, axisc=0)
        for s, axis, at in screws:
            columns = slices[s.name]
            if s.kind == "slide":
                linear[i][:, columns] += axis[:, None]
                continue
            if s.kind == "free":
                linear[i][:, columns.start : columns.start + 3] += parent.turn
                columns = slice(columns.start + 3, columns.stop)
            spin = axis if axis.ndim == 2 else axis[:, None]
            angular[i][:, columns] += spin
            if s.kind != "free":
                linear[i][:, columns] += np.cross(spin, here.origin - at, axisa=0, axisc=0)
        frames.append(here)
    return Placed(tuple(frames), linear, angular)


def advance(links: Sequence[Link], values: Values, change: Array) -> Values:
    """The slots' values after a change along their rates."""
    moved: Values = {}
    slices = rate_slices(links)
    for name, s in slots_of(links).items():
        by, value = change[slices[name]], values[name]
        if s.kind in ("hinge", "slide"):
            moved[name] = value + by
            continue
        head = value[:-4] + by[:-3]
        w, x, y, z = value[-4:]
        turn = rotations().from_quat([x, y, z, w]) * rotations().from_rotvec(by[-3:])
        moved[name] = np.concatenate([head, np.roll(turn.as_quat(), 1)])
    return moved
