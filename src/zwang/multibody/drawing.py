"""What a mechanism looks like, from its bodies, joints and force elements."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from typing import Any

from zwang.errors import InputError
from zwang.model.drawing import Drawing, Shape
from zwang.multibody.body import AnyBody, MassBody, Particle
from zwang.multibody.element import ForceElement
from zwang.multibody.joint import Constrainer, Joint
from zwang.multibody.vectors import vector

# A body's colour, in turn; a wheel that a joint draws has that of its body.
COLORS = ("blue", "orange", "teal", "purple", "red", "brown", "magenta", "cyan")


def draw(bodies: Sequence[AnyBody], joints: Sequence[Constrainer], forces: Sequence[ForceElement]) -> Drawing:
    """Outlines where they are given; otherwise lines from a body's centre to its joints. Joints are points."""
    size = next(b.dimension for b in bodies if isinstance(b, MassBody))
    placed = [j for j in joints if isinstance(j, Joint)]
    moving: list[AnyBody] = [b for b in bodies if isinstance(b, MassBody)]
    colors = dict(zip(moving, cycle(COLORS), strict=False))
    shapes: list[Shape] = []
    for b in bodies:
        with at_part("bodies", b):
            shapes += [replace(s, color=colors.get(b, "gray")) for s in body_shapes(b, placed, size)]
    for j in placed:
        with at_part("joints", j):
            shapes += [s if s.color else replace(s, color=colors.get(j.second, "gray")) for s in j.shapes()]
    for element in forces:
        with at_part("forces", element):
            shapes += element.shapes()
    return Drawing(tuple(shapes))


@contextmanager
def at_part(argument: str, part: Any) -> Iterator[None]:
    """While a part is drawn: what is refused is refused at the part."""
    try:
        yield
    except InputError as error:
        raise InputError(*error.mistakes, where=(argument, part.name)) from None


def body_shapes(body: AnyBody, joints: Sequence[Joint], size: int) -> list[Shape]:
    """A body's outline, or lines through its joints and its centre."""
    pose = body.pose(size)
    outline: Any = getattr(body, "outline", ())
    if len(outline):
        corners = tuple(pose.point(vector(f"body {body.name!r}", c, (size,), ("outline",))) for c in outline)
        return [Shape(body.name, "body", corners)]
    if isinstance(body, Particle):
        return [Shape(body.name, "point", (pose.origin,))]
    if not isinstance(body, MassBody):
        return []
    ends = [end for j in joints for b, end in zip(j.bodies, j.ends, strict=True) if b is body]
    lines = [Shape(f"{body.name} {i + 1}", "line", (pose.origin, pose.point(e))) for i, e in enumerate(ends) if any(e)]
    return lines or [Shape(body.name, "point", (pose.origin,))]
