"""Solids for pictures in space: boxes, balls, cylinders, capsules and meshes, in numbers, fixed to a carrier."""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Number
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.display import Displayed
from zwang.errors import InputError

COLORS = ("black", "blue", "brown", "cyan", "gray", "green", "magenta", "orange", "purple", "red", "teal", "yellow")
COLOR = re.compile(r"#[0-9a-fA-F]{6}")
MOST_FACES = 2_000_000  # of a mesh
SQUARE = 1e-6  # a matrix that is farther than this from a rotation is refused; numbers in files have few digits


@dataclass(frozen=True)
class Solid(Displayed):
    """What every solid has: a place and an orientation on its carrier, and a colour.

    `at` is its centre, in the axes of the body that carries it, from the centre of mass. `orientation` takes the
    solid's own axes to the body's: a quaternion, scalar first, or a 3×3 matrix. `color` is '#rrggbb' or a name; without
    one the solid has its body's.
    """

    at: Any = field(default=(0.0, 0.0, 0.0), kw_only=True)
    orientation: Any = field(default=(1.0, 0.0, 0.0, 0.0), kw_only=True)
    color: str = field(default="", kw_only=True)

    lengths: ClassVar[Mapping[str, tuple[int, ...]]] = {}
    """The arguments that are positive lengths, and how many each has."""

    def __post_init__(self) -> None:
        """Refuse what is not a place, a rotation, a colour or a length; keep numbers only."""
        object.__setattr__(self, "at", tuple(self.numbers("at", self.at, (3,)).tolist()))
        object.__setattr__(self, "orientation", self._oriented())
        require_color(self.color, self.who)
        for key, shape in self.lengths.items():
            object.__setattr__(self, key, self.sizes(key, getattr(self, key), shape))

    @property
    def kind(self) -> str:
        """What model files and messages call the solid: box, sphere, …."""
        return type(self).__name__.lower()

    @property
    def who(self) -> str:
        """What messages call the solid."""
        return f"a {self.kind}" if self.kind[0] not in "aeiou" else f"an {self.kind}"

    @cached_property
    def turn(self) -> Array:
        """(3, 3) what takes the solid's axes to those of its carrier."""
        given = np.array(self.orientation, dtype=float)
        if given.shape == (3, 3):
            return given
        a, b, c, d = given
        return np.array(
            [
                [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
                [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
                [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
            ]
        )

    def numbers(self, key: str, given: Any, shape: tuple[int, ...]) -> Array:
        """An argument as an array of finite numbers of a shape; −1 stands for any length but 0."""
        raw = np.array(None) if isinstance(given, Mapping | Set) else as_array(given)
        if raw.dtype.kind not in "iuf" and not all(map(is_real, raw.flat)):
            raise self.refused(key, f"{given!r} is not made of numbers")
        found = raw.astype(float)
        fits = found.ndim == len(shape) and all(n == m or (m < 0 < n) for n, m in zip(found.shape, shape, strict=True))
        if not fits:
            wanted = " by ".join(str(n) if n > 0 else "any number" for n in shape) or "one"
            raise self.refused(key, f"{given!r} does not fit: {wanted} numbers are meant")
        if not np.isfinite(found).all():
            raise self.refused(key, "not every number is finite")
        return found

    def sizes(self, key: str, given: Any, shape: tuple[int, ...] = ()) -> Any:
        """Lengths that are positive."""
        found = self.numbers(key, given, shape)
        if not (found > 0).all():
            raise self.refused(key, f"{given!r} is not positive")
        return tuple(found.tolist()) if shape else float(found)

    def refused(self, key: str, words: str) -> InputError:
        """What is said of an argument."""
        return InputError(f"{key}: {words}", who=self.who, where=(key,))

    def _oriented(self) -> Any:
        """A quaternion of length 1, or the rows of a rotation."""
        if isinstance(self.orientation, Sequence | np.ndarray) and len(self.orientation) == 3:
            rows = self.numbers("orientation", self.orientation, (3, 3))
            if np.abs(rows @ rows.T - np.eye(3)).max() > SQUARE or np.linalg.det(rows) < 0:
                raise self.refused("orientation", "the matrix is not a rotation: its rows are to be right-handed units")
            return tuple(map(tuple, rows.tolist()))
        u = self.numbers("orientation", self.orientation, (4,))
        size = np.linalg.norm(u)
        if not size > 0:
            raise self.refused("orientation", "the quaternion (0, 0, 0, 0) is not an orientation")
        return tuple((u / size).tolist())


@dataclass(frozen=True)
class Box(Solid):
    """A box with edges of lengths `size` along its axes, about its centre.

    >>> Box((2, 1, 0.5), at=(0, 0, 1), color="teal").size
    (2.0, 1.0, 0.5)
    """

    size: Any

    lengths: ClassVar = {"size": (3,)}


@dataclass(frozen=True)
class Sphere(Solid):
    """A ball.

    >>> Sphere(0.1).radius
    0.1
    """

    radius: Any

    lengths: ClassVar = {"radius": ()}


@dataclass(frozen=True)
class Ellipsoid(Solid):
    """An ellipsoid with half-axes `radii` along its axes.

    >>> Ellipsoid((3, 2, 1)).radii
    (3.0, 2.0, 1.0)
    """

    radii: Any

    lengths: ClassVar = {"radii": (3,)}


@dataclass(frozen=True)
class Cylinder(Solid):
    """A cylinder along its z axis, about its centre.

    >>> Cylinder(radius=0.1, length=2).length
    2.0
    """

    radius: Any
    length: Any

    lengths: ClassVar = {"radius": (), "length": ()}


@dataclass(frozen=True)
class Capsule(Solid):
    """A cylinder along its z axis with half a ball at each end; `length` is that of the cylinder, without the balls.

    >>> Capsule(radius=0.1, length=2).length
    2.0
    """

    radius: Any
    length: Any

    lengths: ClassVar = {"radius": (), "length": ()}


@dataclass(frozen=True, eq=False)
class Mesh(Solid):
    """Triangles: `vertices` (n, 3) in the solid's axes, and `faces` (k, 3), three vertices each, numbered from 0.

    Seen from outside the corners of a face run counter-clockwise.

    >>> Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]).faces.shape
    (4, 3)
    """

    vertices: Any
    faces: Any

    def __post_init__(self) -> None:
        """Refuse faces without vertices."""
        super().__post_init__()
        vertices = self.numbers("vertices", self.vertices, (-1, 3))
        found = self.numbers("faces", self.faces, (-1, 3))
        if len(found) > MOST_FACES:
            raise self.refused("faces", f"{len(found):,} faces are more than {MOST_FACES:,}")
        if (found != np.floor(found)).any() or found.min() < 0 or found.max() >= len(vertices):
            words = f"a face has three whole numbers from 0 to {len(vertices) - 1}, the numbers of its vertices"
            raise self.refused("faces", words)
        faces: NDArray[np.int32] = found.astype(np.int32)
        for array in (vertices, faces):
            array.setflags(write=False)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)

    @cached_property
    def _content(self) -> tuple[Any, ...]:
        return (self.at, self.orientation, self.color, self.vertices.tobytes(), self.faces.tobytes())

    def __eq__(self, other: object) -> bool:
        """Meshes are the same if all their numbers are."""
        return isinstance(other, Mesh) and self._content == other._content

    def __hash__(self) -> int:
        """By content."""
        return hash(self._content)

    def __repr__(self) -> str:
        """How large it is: its numbers would fill pages."""
        return f"Mesh({len(self.vertices)} vertices, {len(self.faces)} faces)"


def as_array(given: Any) -> NDArray[Any]:
    """Nested numbers as an array, of objects where they are not all of NumPy's own types."""
    try:
        found = np.asarray(given)
    except (TypeError, ValueError):  # rows of different lengths
        return np.array(None)
    return found if found.dtype.kind in "iuf" else np.asarray(given, dtype=object)


def is_real(x: Any) -> bool:
    """Whether this is a real number, truth values not counted; SymPy's numbers are."""
    if isinstance(x, bool | np.bool_ | complex | np.complexfloating):
        return False
    return isinstance(x, Number) or bool(getattr(x, "is_number", False) and x.is_real)


SOLIDS: dict[str, Callable[..., Solid]] = {
    "box": Box, "sphere": Sphere, "ellipsoid": Ellipsoid, "cylinder": Cylinder, "capsule": Capsule, "mesh": Mesh,
}  # fmt: skip
"""The solids by the names that model files have for them."""


def require_color(color: Any, who: str) -> None:
    """Refuse a colour that is neither empty, nor known, nor six digits."""
    if not isinstance(color, str) or (color and color not in COLORS and not COLOR.fullmatch(color)):
        words = f"color {color!r} is unknown: give '#rrggbb' or one of {', '.join(COLORS)}"
        raise InputError(words, who=who, where=("color",))


def require_solids(who: str, given: Any, where: str = "solids") -> tuple[Solid, ...]:
    """Solids in a row; what is not one is refused."""
    if isinstance(given, str | Mapping | Solid) or not hasattr(given, "__iter__"):
        raise InputError(f"{where}: {given!r} is not a list of solids", who=who, where=(where,))
    found = tuple(given)
    for i, solid in enumerate(found):
        if not isinstance(solid, Solid) or type(solid) is Solid:
            words = f"{where}: {solid!r} is not a solid: give a Box, Sphere, Cylinder, Capsule, Ellipsoid or Mesh"
            raise InputError(words, who=who, where=(where, i))
    return found
