"""What a system looks like: points, lines, circles, bodies and solids whose places are expressions of coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from zwang.display import Displayed, named, told
from zwang.errors import InputError
from zwang.mistakes import Where
from zwang.model.solids import Solid, require_color
from zwang.model.symbols import as_scalar
from zwang.words import count

Place = tuple[sp.Expr, ...]

SHAPES = ("point", "line", "circle", "body", "solid")
STANDING: tuple[Place, ...] = tuple(tuple(sp.S.One if i == j else sp.S.Zero for j in range(3)) for i in range(3))
UNEVEN = "its points have different numbers of coordinates: give each two, or each three"


@dataclass(frozen=True)
class Shape(Displayed):
    """One thing to draw, in the plane or in space.

    `points` are the corners of a line or of a body's closed outline, the place of a point, the centre of a circle, or
    the origin of a solid; each is a tuple of two or three expressions in coordinates, rates, parameters and time. In
    space a circle has a `normal` too. A solid, in space, is a `Box`, a `Cylinder`, … of `zwang.multibody`; its
    `orientation` is a unit quaternion, scalar first, or a 3×3 matrix, in expressions: it takes the axes in which the
    solid has its place to those of the world, and is kept as a matrix. `trail` draws the path of the first point.

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
    solid: Solid | None = None
    orientation: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn, by name; bring numbers to SymPy."""
        who = f"shape {self.name!r}"
        if self.kind not in SHAPES:
            choices = ", ".join(map(repr, SHAPES))
            raise InputError(f"kind {self.kind!r} is unknown: choose {choices}", who=who, where=("kind",))
        points = tuple(place(who, point, ("points", i)) for i, point in enumerate(self.points))
        least = {"point": 1, "circle": 1, "line": 2, "body": 3, "solid": 1}[self.kind]
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
        self._check_solid(who)

    def _check_solid(self, who: str) -> None:
        """Refuse a solid that is none or lies in the plane, and an orientation of something else."""
        if isinstance(self.solid, Solid) != (self.kind == "solid") or (self.solid is not None and self.kind != "solid"):
            words = "a shape of kind 'solid' has a solid, a Box for one, and no other shape has"
            raise InputError(words, who=who, where=("solid",))
        if self.orientation is not None and self.kind != "solid":
            raise InputError("a solid has an orientation, and nothing else has", who=who, where=("orientation",))
        if self.kind != "solid":
            return
        if self.dimension != 3:
            raise InputError("a solid stands in space: give its place three entries", who=who, where=("points",))
        object.__setattr__(self, "orientation", matrix_of(who, self.orientation))

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


def matrix_of(who: str, given: Sequence[Any] | None) -> tuple[Place, ...]:
    """The rows of an orientation that is given as a quaternion, scalar first, or as a matrix; none is the world's.

    >>> matrix_of("box", (1, 0, 0, 0)) == STANDING
    True
    """
    where = ("orientation",)
    if given is None:
        return STANDING
    if isinstance(given, sp.MatrixBase):
        given = given.tolist() if given.shape == (3, 3) else list(given)
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) not in (3, 4):
        raise InputError(f"{given!r} is not an orientation: give a quaternion or a 3×3 matrix", who=who, where=where)
    if len(given) == 3:
        return tuple(place(who, list(row) if hasattr(row, "__len__") else row, where) for row in given)
    return quaternion_matrix(tuple(map(as_scalar, given)))


def quaternion_matrix(q: Place) -> tuple[Place, ...]:
    """The rows of the matrix of a quaternion, scalar first; a rotation if its length is 1."""
    a, b, c, d = q
    return (
        (a**2 + b**2 - c**2 - d**2, 2 * (b * c - a * d), 2 * (b * d + a * c)),
        (2 * (b * c + a * d), a**2 - b**2 + c**2 - d**2, 2 * (c * d - a * b)),
        (2 * (b * d - a * c), 2 * (c * d + a * b), a**2 - b**2 - c**2 + d**2),
    )


def turned(at: Place, angle: sp.Expr, outline: Sequence[Sequence[Any]]) -> tuple[Place, ...]:
    """An outline given in body axes, in the plane, turned by an angle and moved to its place.

    >>> turned((1, 0), sp.pi/2, [(2, 0), (0, 3)])
    ((1, 2), (-2, 0))
    """
    c, s = sp.cos(angle), sp.sin(angle)
    return tuple((at[0] + c * x - s * y, at[1] + s * x + c * y) for x, y in outline)
