"""Every mistake of a mechanism, found together and reported by name and place."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp

from zwang.mistakes import Mistake, PartName
from zwang.multibody.body import AnyBody, Ground, Moving
from zwang.multibody.described import DescribedMechanism
from zwang.multibody.element import ForceElement
from zwang.multibody.inertia import is_slender
from zwang.multibody.joint import Constrainer
from zwang.multibody.planar_body import PlanarBody

PART_TYPES = {"bodies": (AnyBody, "body"), "joints": (Constrainer, "joint"), "forces": (ForceElement, "force element")}
CALLED = {"bodies": "bodies", "joints": "joints and conditions", "forces": "force elements"}


def find_mistakes(mechanism: DescribedMechanism) -> list[Mistake]:
    """What does not fit together in a mechanism.

    Where a mistake is made is told by an argument of `Mechanism` and the name of a part: ("joints", "pin").
    """
    mistakes = list(wrong_parts(mechanism))
    if mistakes:
        return mistakes  # what is not a part has no name, no bodies and no conditions to look at
    return [
        *loose_turns(mechanism),
        *wrong_dimensions(mechanism),
        *wrong_names(mechanism),
        *strangers(mechanism),
    ]


def wrong_parts(mechanism: DescribedMechanism) -> Iterator[Mistake]:
    """What is not a body, a joint or a force element where one is meant."""
    for argument, (kind, what) in PART_TYPES.items():
        for i, part in enumerate(getattr(mechanism, argument)):
            if not isinstance(part, kind):
                article = "an" if what[0] in "aeiou" else "a"
                yield Mistake(f"{argument}: {part!r} is not {article} {what}", where=(argument, i))


def loose_turns(mechanism: DescribedMechanism) -> Iterator[Mistake]:
    """Bodies in the plane without inertia whose angle nothing determines."""
    for b in mechanism.movable:
        if isinstance(b, PlanarBody) and is_slender(b) and not is_held(mechanism, b.coordinates[2]):
            words = f"{b.who} has no inertia, and nothing holds its angle: give it an inertia, hold it with a joint "
            yield Mistake(words, "away from its centre, or make it a ", PartName("Particle"), where=("bodies", b.name))


def is_held(mechanism: DescribedMechanism, q: sp.Expr) -> bool:
    """Whether a condition asks something of a coordinate."""
    conditions = [*(e for j in mechanism.joints for e in j.asked.values()), *mechanism.constraints.values()]
    return any(isinstance(e, sp.Basic) and e.has(q) for e in conditions)


def wrong_dimensions(mechanism: DescribedMechanism) -> Iterator[Mistake]:
    """Nothing that can move, or bodies in the plane beside bodies in space."""
    bodies = mechanism.movable
    if not bodies:
        yield Mistake("bodies: none of them can move; give at least one with mass", where=("bodies",))
    if len({b.dimension for b in bodies}) > 1:
        flat = next(b.name for b in bodies if b.dimension == 2)
        remedy = "describe all of them in one of the two"
        yield Mistake(f"body {flat!r} lives in the plane, others in space", where=("bodies", flat), remedy=remedy)
    elif bodies and bodies[0].dimension == 2:
        words = "solids stand in space, but the bodies live in the plane"
        for b in mechanism.bodies:
            if getattr(b, "solids", ()):
                where, remedy = ("bodies", b.name, "solids"), "give it an outline instead"
                yield Mistake(f"body {b.name!r}: {words}", where=where, remedy=remedy)
        if mechanism.scenery:
            yield Mistake(f"scenery: {words}", where=("scenery",))


def wrong_names(mechanism: DescribedMechanism) -> Iterator[Mistake]:
    """Names that two parts have, and constraints with the name of a condition of a part."""
    remedy = "names must differ"
    for argument, what in CALLED.items():
        for name, k in Counter(part.name for part in getattr(mechanism, argument)).items():
            if k > 1:
                yield Mistake(f"{k} {what} are called {name!r}", where=(argument, name), remedy=remedy)
    for name in sorted({b.name for b in mechanism.movable} & {j.name for j in mechanism.joints}):
        yield Mistake(f"a body and a joint are both called {name!r}", where=("joints", name), remedy=remedy)
    rows = {f"{b.name}.{suffix}" for b in mechanism.movable for suffix in b.suffixes}
    rows |= {name for j in mechanism.joints for name in j.row_names}
    for name in mechanism.constraints:
        if name in rows:
            words = f"constraint {name!r} has the name of a condition of the mechanism"
            yield Mistake(words, where=("constraints", name), remedy="choose another")


def strangers(mechanism: DescribedMechanism) -> Iterator[Mistake]:
    """Joints and force elements that name bodies or joints which are not in the mechanism."""
    bodies, joints = set(mechanism.bodies), set(mechanism.joints)

    def missing(named: Sequence[Any]) -> list[Any]:
        return [b for b in named if b not in bodies and not isinstance(b, Ground | Moving)]

    for j in mechanism.joints:
        for b in missing(j.bodies):
            words = f"joint {j.name!r} holds body {b.name!r}, which is not in the mechanism"
            yield Mistake(words, where=("joints", j.name), remedy="add it to bodies")
    for f in mechanism.forces:
        for b in missing(f.bodies):
            words = f"{f.who} acts on body {b.name!r}, which is not in the mechanism"
            yield Mistake(words, where=("forces", f.name), remedy="add it to bodies")
        for j in f.joints:
            if j not in joints:
                words = f"{f.who} acts along joint {j.name!r}, which is not in the mechanism"
                yield Mistake(words, where=("forces", f.name), remedy="add it to joints")
