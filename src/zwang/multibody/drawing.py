"""What a mechanism looks like, from its bodies, joints and force elements."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from typing import Any

from zwang.errors import InputError
from zwang.model.drawing import Drawing, Shape
from zwang.model.solids import Solid
from zwang.multibody.body import AnyBody, MassBody, Particle
from zwang.multibody.element import ForceElement
from zwang.multibody.joint import Constrainer, Joint, Pair
from zwang.multibody.looks import default_solids, is_shown
from zwang.multibody.pose import Pose, at_rest
from zwang.multibody.spatial_body import Body
from zwang.multibody.valued import Values
from zwang.multibody.vectors import vector

# A body's colour, in turn; a wheel that a joint draws has that of its body.
COLORS = ("blue", "orange", "teal", "purple", "red", "brown", "magenta", "cyan")


def draw(
    bodies: Sequence[AnyBody],
    joints: Sequence[Constrainer],
    forces: Sequence[ForceElement],
    scenery: Sequence[Solid] = (),
    values: Values | None = None,
) -> Drawing:
    """Solids and outlines where they are given. Otherwise, in the plane, lines from a body's centre to its joints, in
    space a box of the same inertia with rods to the joints. Joints are points. `values` are those of parameters.
    """
    size = next(b.dimension for b in bodies if isinstance(b, MassBody))
    placed = [j for j in joints if isinstance(j, Joint)]
    moving: list[AnyBody] = [b for b in bodies if isinstance(b, MassBody)]
    colors = dict(zip(moving, cycle(COLORS), strict=False))
    shapes = [solid_shape(("scenery", i), s, at_rest(3)) for i, s in enumerate(scenery)]
    own: dict[int, list[Joint]] = {}
    for j in placed:
        for number in dict.fromkeys(map(id, j.bodies)):
            own.setdefault(number, []).append(j)
    for b in bodies:
        with at_part("bodies", b):
            found = body_shapes(b, own.get(id(b), ()), size, values or {})
            shapes += [s if s.color else replace(s, color=colors.get(b, "gray")) for s in found]
    for pair in (j for j in joints if isinstance(j, Pair)):
        with at_part("joints", pair):
            shapes += [s if s.color else replace(s, color=colors.get(pair.second, "gray")) for s in pair.shapes()]
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


def solid_shape(called: tuple[str, int], solid: Solid, pose: Pose) -> Shape:
    """A solid where its body is; of several only the first has the body's name alone."""
    name, i = called
    color = solid.color or ("gray" if name == "scenery" else "")
    return Shape(
        f"{name} {i + 1}" if i else name,
        "solid",
        (pose.origin,),
        color=color,
        solid=solid,
        orientation=pose.turn,
    )


def body_shapes(body: AnyBody, joints: Sequence[Joint], size: int, values: Values) -> list[Shape]:
    """A body's solids or outline, or what it looks like by its inertia and by the joints that it has."""
    pose = body.pose(size)
    solids = tuple(getattr(body, "solids", ()))
    if isinstance(body, Body) and not is_shown(body):
        solids = default_solids(body, joints, values)
    if solids:
        return [solid_shape((body.name, i), s, pose) for i, s in enumerate(solids)]
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
