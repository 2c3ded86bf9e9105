"""What is mended in the tree of a file that is not quite possible: masses and moments that no body has.

Nothing here changes the motion of what the file describes. Links that are fixed to each other are one body, whatever
their shares; massless links between two joints are joints in series; and across a hinge moments about the directions
perpendicular to its axis may be given from one body to the other, since both turn about these alike, and so may masses
on the axis.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.multibody.readers.frame import WORLD, Frame
from zwang.multibody.readers.skeleton import carriers, rigid_groups, unused
from zwang.multibody.readers.tree import Link, Slot
from zwang.multibody.spatial_body import TRIANGLE_TOL

ROUNDED_MOMENT = 1e-9  # a negative moment below this share of the largest is rounding
SMALLEST_RADIUS = 1e-6  # and so is one whose radius of gyration is below this length
MOST_GIVEN = 1e6  # how many times the largest moment may be given across a hinge
SHARES = 60  # of halving what is given across a hinge
SHARES_OF_MASS = (0.0, 0.125, 0.25, 0.5, 0.75)  # of a parent's mass that are tried on the axis of its child's hinge


@dataclass
class Mending:
    """A tree as it is mended; `warnings` say what was done, and `mistakes` what has no meaning."""

    links: list[Link]
    warnings: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)

    @property
    def groups(self) -> list[int]:
        """The first link of the rigid group of every link; 0 is the ground's."""
        return rigid_groups(self.links)

    def change(self, i: int, **new: object) -> None:
        """Give a link other properties."""
        self.links[i] = replace(self.links[i], **new)  # type: ignore[arg-type]


def mend(links: Sequence[Link], coupled: Sequence[Collection[str]]) -> Mending:
    """The tree as bodies can be made of it. `coupled` are sets of joints that determine each other."""
    now = Mending(list(links))
    for i, root in enumerate(now.groups):
        link = now.links[i]
        if link.mass < 0 and root:
            now.mistakes.append(f"link {link.name!r}: its mass is {link.mass:g}, but a mass is not negative")
    hold_what_has_no_mass(now, coupled)
    join_in_series(now)
    merge_what_is_fixed(now)
    take_what_has_no_mass(now)
    if not now.mistakes:
        give_across_hinges(now)
        take_as_they_are(now)
    return now


def moments_of(link: Link) -> Array:
    """The principal moments, in order."""
    return np.asarray(np.linalg.eigvalsh((link.inertia + link.inertia.T) / 2))


def listed_moments(link: Link) -> str:
    """The moments in words."""
    return f"moments {', '.join(f'{x:g}' for x in moments_of(link))}"


def is_possible(link: Link) -> bool:
    """Whether a body can have this mass and these moments."""
    a, b, c = moments_of(link)
    if link.mass <= 0:
        return link.mass == 0 and not np.any(link.inertia)
    return bool(a >= -TRIANGLE_TOL * abs(c) and c <= (a + b) * (1 + TRIANGLE_TOL))


def has_inertia(link: Link) -> bool:
    """Whether a link has mass or moments."""
    return link.mass != 0 or bool(np.any(link.inertia))


def subtree_inertia(links: Sequence[Link]) -> list[bool]:
    """Whether a link, or anything that hangs on it, has inertia."""
    found = [has_inertia(link) for link in links]
    for i in range(len(links) - 1, 0, -1):
        found[links[i].parent] |= found[i]
    return found


def hold_what_has_no_mass(now: Mending, coupled: Sequence[Collection[str]]) -> None:
    """Hold joints that carry nothing with mass: nothing determines how they move, and nobody feels it."""
    heavy = subtree_inertia(now.links)
    carrying = {s.name for link, h in zip(now.links, heavy, strict=True) for s in link.slots if h}
    following = {name for names in coupled if carrying & set(names) for name in names}
    for i, link in enumerate(now.links):
        if link.slots and not heavy[i] and not following & {s.name for s in link.slots}:
            names = ", ".join(repr(s.name) for s in link.slots)
            now.warnings.append(f"link {link.name!r} can move but has no mass, nor has what hangs on it: {names} held")
            now.change(i, slots=())


def join_in_series(now: Mending) -> None:
    """Links without mass between two joints go: their joints become a series."""
    i = 1
    while i < len(now.links):
        child = next_in_series(now, i)
        if child is None:
            i += 1
            continue
        link, last = now.links[i], now.links[child]
        group = [k for k, root in enumerate(now.groups) if root == i]
        frames = {i: WORLD}
        for k in group[1:]:
            frames[k] = frames[now.links[k].parent] @ now.links[k].offset
        offset = frames[last.parent] @ last.offset
        slots = tuple(carried_over(s, offset) for s in link.slots) + last.slots
        names = " and ".join(repr(s.name) for s in (*link.slots, *last.slots))
        now.warnings.append(f"link {link.name!r} can move but has no mass: {names} are joints in series")
        joint = unused(f"{last.name}_joints", {x.joint for x in now.links})
        now.change(child, parent=link.parent, offset=link.offset @ offset, slots=slots, joint=joint)
        drop(now, group)


def next_in_series(now: Mending, i: int) -> int | None:
    """The only link that hangs on a massless link by hinges and slides, where that hangs by these, too."""
    link, groups = now.links[i], now.groups
    if not link.slots or any(has_inertia(x) for x, root in zip(now.links, groups, strict=True) if root == i):
        return None
    hanging = [k for k, x in enumerate(now.links) if x.slots and groups[x.parent] == i and k != i]
    if len(hanging) != 1:
        return None
    kinds = {s.kind for s in (*link.slots, *now.links[hanging[0]].slots)}
    return hanging[0] if kinds <= {"hinge", "slide"} else None


def carried_over(slot: Slot, offset: Frame) -> Slot:
    """A slot of a link, in the axes of another one that stands at an offset from it."""
    back = offset.inverse
    return replace(slot, axis=back.turn @ slot.axis, at=back.point(slot.at))


def drop(now: Mending, gone: Collection[int]) -> None:
    """Take links out of the tree, and number the others anew; parents still come first."""
    order = parents_first(now.links, gone)
    number = {old: new for new, old in enumerate(order)}
    now.links[:] = [replace(now.links[k], parent=number.get(now.links[k].parent, -1)) for k in order]


def parents_first(links: Sequence[Link], gone: Collection[int]) -> list[int]:
    """The numbers of links that stay, parents before children, otherwise in their order."""
    order: list[int] = []
    waiting = [k for k in range(len(links)) if k not in gone]
    while waiting:
        ready = [k for k in waiting if k == 0 or links[k].parent in order]
        order.append(ready[0])
        waiting.remove(ready[0])
    return order


def merge_what_is_fixed(now: Mending) -> None:
    """Links that no body can be are parts of what they are fixed to; on the ground they do not matter."""
    groups = now.groups
    for root in dict.fromkeys(groups):
        members = [k for k, r in enumerate(groups) if r == root and has_inertia(now.links[k])]
        odd = [k for k in members if not is_possible(now.links[k])]
        if root == 0:
            for k in odd:
                link = now.links[k]
                now.warnings.append(
                    f"link {link.name!r}: mass {link.mass:g} and {listed_moments(link)} cannot belong to a body; "
                    f"it is fixed to the ground, where they do not matter"
                )
            continue
        first = next((k for k in members if now.links[k].mass > 0), None)
        if odd and first is not None:  # an odd first link needs the others, if it is to be a body
            merge(now, [k for k in (members if first in odd else odd) if k != first])


def merge(now: Mending, parts: Iterable[int]) -> None:
    """Make links parts of the bodies that carry them."""
    parts = list(parts)
    if not parts:
        return
    bare = [
        replace(x, mass=0.0, inertia=np.zeros((3, 3))) if k in parts else replace(x, taken=has_inertia(x))
        for k, x in enumerate(now.links)
    ]
    carried = carriers(bare)
    for k in parts:
        part, by = now.links[k], carried[k]
        before = now.links[by.link]
        now.change(by.link, **together(before, part, by.frame))
        now.change(k, mass=0.0, inertia=np.zeros((3, 3)))
        has = f"mass {now.links[by.link].mass:g} and {listed_moments(now.links[by.link])}"
        if is_possible(part):
            words = f"with {part.name!r}, which is fixed to it, it has {has}"
            now.warnings.append(f"link {before.name!r}: {listed_moments(before)} cannot belong to a body; {words}")
        else:
            what = "cannot belong to a body" if part.mass else "have no mass"
            words = f"it is fixed to {before.name!r}, and together they have {has}"
            now.warnings.append(f"link {part.name!r}: {listed_moments(part)} {what}; {words}")


def together(one: Link, other: Link, frame: Frame) -> dict[str, Any]:
    """Mass, centre and inertia of a link with another one fixed to it at a frame."""
    mass, there = one.mass + other.mass, frame.point(other.centre)
    centre = (one.mass * one.centre + other.mass * there) / mass if mass else one.centre
    inertia = one.inertia + frame.turn @ other.inertia @ frame.turn.T
    for m, c in ((one.mass, one.centre), (other.mass, there)):
        d = c - centre
        inertia = inertia + m * (d @ d * np.eye(3) - np.outer(d, d))
    return {"mass": mass, "centre": centre, "inertia": inertia}


def take_what_has_no_mass(now: Mending) -> None:
    """What still moves without mass is a body without mass; its moments, if any, stay as they are."""
    groups = now.groups
    for root in dict.fromkeys(groups):
        members = [k for k, r in enumerate(groups) if r == root]
        if root == 0 or any(now.links[k].mass > 0 for k in members):
            continue
        body = next((k for k in members if has_inertia(now.links[k])), root)
        link = now.links[body]
        moments = f", but {listed_moments(link)}; taken as they are" if has_inertia(link) else "; taken as it is"
        now.warnings.append(f"link {link.name!r} can move but has no mass{moments}")
        now.change(body, taken=True)


def give_across_hinges(now: Mending) -> None:
    """Mend negative moments: rounding is zero, and others are given from the parent across a hinge."""
    groups = now.groups
    for i in range(len(now.links) - 1, 0, -1):
        link = now.links[i]
        if groups[i] == 0 or not has_inertia(link):
            continue
        a, _, c = moments_of(link)
        if a >= -TRIANGLE_TOL * abs(c) and link.inertia.diagonal().min() >= 0:
            continue
        if -a <= max(ROUNDED_MOMENT * abs(c), SMALLEST_RADIUS**2 * link.mass):
            values, axes = np.linalg.eigh((link.inertia + link.inertia.T) / 2)
            now.warnings.append(f"link {link.name!r}: the negative moment {a:g} is rounding; taken as 0")
            now.change(i, inertia=axes @ np.diag(np.maximum(values, 0.0)) @ axes.T)
            continue
        give(now, i, groups)


def give(now: Mending, i: int, groups: Sequence[int]) -> None:
    """Give a link the moments that it lacks from its parent's body, across its hinge."""
    link, root = now.links[i], now.links[groups[i]]
    words = f"link {link.name!r}: {listed_moments(link)} cannot belong to a body"
    slot = root.slots[0] if len(root.slots) == 1 else None
    if slot is None or slot.kind not in ("hinge", "slide"):
        now.mistakes.append(f"{words}: a moment is not negative")
        return
    frame = WORLD
    for k in chain(now.links, i, groups[i]):
        frame = now.links[k].offset @ frame
    on_ground = groups[root.parent] == 0
    to = carriers([replace(x, taken=x.taken or has_inertia(x)) for x in now.links])[root.parent]
    parent, there = now.links[to.link], to.frame @ root.offset @ frame
    shares = SHARES_OF_MASS if slot.kind == "hinge" else SHARES_OF_MASS[:1]
    gifts = [g for share in shares if (g := gift(link, slot, frame, share * (link if on_ground else parent).mass))]
    if not gifts:
        now.mistakes.append(f"{words}: the moment about the axis of joint {slot.name!r} is negative")
        return
    if on_ground:
        now.change(i, **together(link, gifts[0], WORLD), taken=True)
        now.warnings.append(f"{words}; joint {slot.name!r} holds the rest, so that they do not matter")
        return
    left = [together(parent, replace(g, mass=-g.mass, inertia=-g.inertia), there) for g in gifts]
    best = next((k for k, rest in enumerate(left) if is_semidefinite(rest["inertia"])), 0)
    now.change(i, **together(link, gifts[best], WORLD), taken=True)
    now.change(to.link, **left[best], taken=True)
    mass, moment = gifts[best].mass, float(np.abs(np.linalg.eigvalsh(gifts[best].inertia)).max())
    given = [f"{moment:g}"] * (moment > 0 or not mass) + [f"a mass of {mass:g} on the axis"] * (mass > 0)
    now.warnings.append(
        f"{words}; {' and '.join(given)} was given to it from {parent.name!r} across joint {slot.name!r}, which leaves "
        f"the motion as it is"
    )


def gift(link: Link, slot: Slot, frame: Frame, mass: float) -> Link | None:
    """The moments that a link needs, given a mass on the axis of its hinge, to have none that is negative.

    Both bodies have the points of the axis in common, so that a mass there is as good on one as on the other. It helps
    a link whose own mass is beside the axis. The link's axes are in a frame of those in which the slot is.
    """
    axis, at = frame.turn.T @ slot.axis, frame.inverse.point(slot.at)
    across = np.eye(3) - (np.outer(axis, axis) if slot.kind == "hinge" else 0)
    nearest = at + axis * (axis @ (link.centre - at))
    weight = replace(link, mass=mass, centre=nearest, inertia=np.zeros((3, 3)))
    J = together(link, weight, WORLD)["inertia"]
    if is_semidefinite(J):
        return weight
    low, high = 0.0, MOST_GIVEN * float(np.abs(link.inertia).max())
    if not is_semidefinite(J + high * across):
        return None
    for _ in range(SHARES):
        middle = (low + high) / 2
        low, high = (low, middle) if is_semidefinite(J + middle * across) else (middle, high)
    return replace(weight, inertia=high * across)


def chain(links: Sequence[Link], i: int, root: int) -> list[int]:
    """The links from one up to the first of its rigid group, without that."""
    found = []
    while i != root:
        found.append(i)
        i = links[i].parent
    return found


def is_semidefinite(J: Array) -> bool:
    """Whether no moment is negative, with a margin for rounding."""
    moments = np.linalg.eigvalsh((J + J.T) / 2)
    return bool(moments[0] >= ROUNDED_MOMENT * abs(moments[-1]))


def take_as_they_are(now: Mending) -> None:
    """Moments that violate the triangle inequality stay as they are."""
    groups = now.groups
    for i, link in enumerate(now.links):
        if groups[i] and link.mass > 0 and not link.taken and not is_possible(link):
            now.warnings.append(
                f"link {link.name!r}: {listed_moments(link)} cannot belong to a body; taken as they are"
            )
            now.change(i, taken=True)
