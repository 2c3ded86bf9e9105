"""What a system looks like: points, lines, circles and bodies whose places are expressions of the coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.display import Displayed, named, told
from zwang.errors import InputError
from zwang.mistakes import Where
from zwang.model.solids import require_color
from zwang.model.symbols import as_scalar
from zwang.words import count

Place = tuple[sp.Expr, ...]

SHAPES = ("point", "line", "circle", "body")
UNEVEN = "its points have different numbers of coordinates: give each two, or each three"


@dataclass(frozen=True)
class Shape(Displayed):
    """One thing to draw, in the plane or in space.

    `points` are the corners of a line or of a body's closed outline, the place of a point, or the centre of a
    circle; each is a tuple of two or three expressions in coordinates, rates, parameters and time. In space a circle
    has a `normal` too. `trail` draws the path of the first point.

    >>> from zwang import coordinates
    >>> x, y = coordinates("x y")
    >>> Shape("rod", "line", ((0, 0), (x, y))).dimension
    2
    """

    name: str
    kind: str
    points: tuple[Place, ...]
    radius: sp.Expr | None = None
    normal: Place | None = None
    color: str = ""
    trail: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn, by name; bring numbers to SymPy."""
        who = f"shape {self.name!r}"
        if self.kind not in SHAPES:
            choices = ", ".join(map(repr, SHAPES))
            raise InputError(f"kind {self.kind!r} is unknown: choose {choices}", who=who, where=("kind",))
        points = tuple(place(who, point, ("points", i)) for i, point in enumerate(self.points))
        least = {"point": 1, "circle": 1, "line": 2, "body": 3}[self.kind]
        if len(points) < least or (least == 1 and len(points) > 1):
            words = f"{len(points)} points do not make a {self.kind}: it takes {least}{' or more' * (least > 1)}"
            raise InputError(words, who=who, where=("points",))
        if len({len(point) for point in points}) > 1:
            raise InputError(UNEVEN, who=who, where=("points",))
        require_color(self.color, who)
        if (self.radius is not None) != (self.kind == "circle"):
            raise InputError("a circle has a radius, and nothing else has", who=who, where=("radius",))
        object.__setattr__(self, "points", points)
        if self.radius is not None:
            object.__setattr__(self, "radius", as_scalar(self.radius))
        if self.normal is not None:
            object.__setattr__(self, "normal", place(who, self.normal, ("normal",)))
        if (self.normal is not None) != (self.kind == "circle" and self.dimension == 3):
            raise InputError("a circle in space has a normal, and nothing else has", who=who, where=("normal",))

    def __repr__(self) -> str:
        """The shape in a line."""
        where = "in the plane" if self.dimension == 2 else "in space"
        return told(self, self.name, f"{self.kind} of {count(len(self.points), 'point')} {where}")

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""
        return len(self.points[0])


@dataclass(frozen=True)
class Drawing(Displayed):
    """The shapes of a system, all of them in the plane or all of them in space."""

    shapes: tuple[Shape, ...] = ()

    def __post_init__(self) -> None:
        """Refuse shapes that do not go together."""
        object.__setattr__(self, "shapes", tuple(self.shapes))
        if len({shape.dimension for shape in self.shapes}) > 1:
            flat = next(s.name for s in self.shapes if s.dimension == 2)
            raise InputError(f"shape {flat!r} lies in the plane, others in space: give it a third coordinate")

    def __repr__(self) -> str:
        """The drawing in a line."""
        return told(self, "", named("shapes", (shape.name for shape in self.shapes)) or "nothing to draw")

    @property
    def dimension(self) -> int:
        """2 in the plane, 3 in space; 0 for nothing."""
        return self.shapes[0].dimension if self.shapes else 0


def place(who: str, point: Sequence[Any], where: Where) -> Place:
    """A point as a tuple of two or three expressions."""
    if isinstance(point, str) or not isinstance(point, Sequence | sp.MatrixBase) or len(point) not in (2, 3):
        raise InputError(f"{point!r} is not a point: give two or three expressions", who=who, where=where)
    return tuple(as_scalar(value) for value in point)


def turned(at: Place, angle: sp.Expr, outline: Sequence[Sequence[Any]]) -> tuple[Place, ...]:
    """An outline given in body axes, in the plane, turned by an angle and moved to its place.

    >>> turned((1, 0), sp.pi/2, [(2, 0), (0, 3)])
    ((1, 2), (-2, 0))
    """
    c, s = sp.cos(angle), sp.sin(angle)
    return tuple((at[0] + c * x - s * y, at[1] + s * x + c * y) for x, y in outline)
