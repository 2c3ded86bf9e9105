"""Solids as triangles with normals, for every canvas: in the axes of the frame that carries the solid."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from zwang.arrays import Array
from zwang.model.solids import Box, Capsule, Cylinder, Ellipsoid, Mesh, Solid, Sphere

AROUND = 32  # corners of a round thing
QUARTER = 8  # steps from the pole of a ball to its equator
CREASE = 0.8  # cosine of the angle between faces up to which an edge is rounded in the light
WELDED = 1e-6  # vertices this near, beside the size of the mesh, are one
SLIVER = 1e-12  # twice the area of a face, beside the size of the mesh squared, below which it is left out

Faces = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles: vertices (n, 3), their normals (n, 3) out of the solid, and faces (k, 3), counter-clockwise."""

    vertices: Array
    normals: Array
    faces: Faces


@lru_cache(maxsize=512)
def surface_of(solid: Solid) -> Surface:
    """The triangles of a solid, where it stands in its frame.

    >>> surface_of(Box((1, 1, 1))).faces.shape
    (12, 3)
    """
    raw = surface_about_origin(solid)
    turn = solid.turn
    return Surface(raw.vertices @ turn.T + np.array(solid.at), raw.normals @ turn.T, raw.faces)


def surface_about_origin(solid: Solid) -> Surface:
    """The triangles of a solid in its own axes."""
    profile = profile_of(solid)
    if profile is not None:
        return scaled(revolved(profile), solid)
    if isinstance(solid, Box):
        return box(np.array(solid.size) / 2)
    assert isinstance(solid, Mesh)
    return shaded(solid.vertices, solid.faces)


def profile_of(solid: Solid) -> Array | None:
    """(k, 4) radius and height of what turned about z gives the solid, from below, with normals; None for others."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 2 * QUARTER + 1)
    ball = np.column_stack([np.cos(angle), np.sin(angle), np.cos(angle), np.sin(angle)])
    ball[[0, -1], 0] = 0.0
    if isinstance(solid, Ellipsoid):
        return ball
    if isinstance(solid, Sphere):
        return np.asarray(ball * (solid.radius, solid.radius, 1, 1))
    if isinstance(solid, Capsule):
        r, h = solid.radius, solid.length / 2
        ends = ball[: QUARTER + 1], ball[QUARTER:]
        return np.concatenate([e * (r, r, 1, 1) + (0, z, 0, 0) for e, z in zip(ends, (-h, h), strict=True)])
    if isinstance(solid, Cylinder):
        r, h = solid.radius, solid.length / 2
        low, side, high = (0, -1), (1, 0), (0, 1)
        corners = [(0, -h, low), (r, -h, low), (r, -h, side), (r, h, side), (r, h, high), (0, h, high)]
        return np.array([(a, z, *n) for a, z, n in corners])
    return None


def revolved(profile: Array) -> Surface:
    """What a profile gives that is turned about z."""
    angle = 2 * np.pi * np.arange(AROUND) / AROUND
    c, s = np.cos(angle), np.sin(angle)
    r, z, nr, nz = (column[:, None] * np.ones(AROUND) for column in profile.T)
    vertices, normals = (np.stack([a * c, a * s, b], axis=-1).reshape(-1, 3) for a, b in ((r, z), (nr, nz)))
    ring, corner = np.meshgrid(np.arange(len(profile) - 1), np.arange(AROUND), indexing="ij")
    a, b = ring * AROUND + corner, ring * AROUND + (corner + 1) % AROUND
    lower = np.stack([a, b, a + AROUND], axis=-1)[profile[:-1, 0] > 0].reshape(-1, 3)
    upper = np.stack([b, b + AROUND, a + AROUND], axis=-1)[profile[1:, 0] > 0].reshape(-1, 3)
    faces = np.concatenate([lower, upper]).astype(np.int32)
    return Surface(vertices, normals, faces[~same_place(vertices, faces)])


def same_place(vertices: Array, faces: Faces) -> NDArray[np.bool_]:
    """Which faces have two corners in one place."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return np.asarray((a == b).all(axis=1) | (b == c).all(axis=1) | (a == c).all(axis=1))


def scaled(unit: Surface, solid: Solid) -> Surface:
    """A ball stretched to an ellipsoid; other solids as they are."""
    if not isinstance(solid, Ellipsoid):
        return unit
    radii = np.array(solid.radii)
    return Surface(unit.vertices * radii, unit_rows(unit.normals / radii), unit.faces)


def box(half: Array) -> Surface:
    """A box, each face with vertices of its own, so that its edges are sharp."""
    vertices: list[Array] = []
    normals, faces = [], []
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    for axis in range(3):
        for side in (-1.0, 1.0):
            first = len(vertices)
            for u, v in square if side > 0 else square[::-1]:
                corner = np.zeros(3)
                corner[[axis, (axis + 1) % 3, (axis + 2) % 3]] = side, u, v
                vertices.append(corner * half)
                normals.append(side * np.eye(3)[axis])
            faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return Surface(np.array(vertices), np.array(normals), np.array(faces, dtype=np.int32))


def shaded(vertices: Array, faces: Faces) -> Surface:
    """A mesh with normals: rounded where faces meet at a flat angle, sharp elsewhere."""
    size = float(np.ptp(vertices, axis=0).max()) or 1.0
    places, of = np.unique(np.round(vertices / (WELDED * size)), axis=0, return_inverse=True)
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    across = np.cross(b - a, c - a)
    kept = np.linalg.norm(across, axis=1) > SLIVER * size**2
    faces, across = faces[kept], across[kept]
    if not len(faces):
        return Surface(vertices, np.tile([0.0, 0.0, 1.0], (len(vertices), 1)), faces)
    corners = of.reshape(-1)[faces].reshape(-1)
    owner = np.repeat(np.arange(len(faces)), 3)
    at = csr_array((np.ones(len(corners)), (np.arange(len(corners)), corners)), shape=(len(corners), len(places)))
    pairs = (at @ at.T).tocoo()
    units = unit_rows(across)
    near = np.einsum("ij,ij->i", units[owner[pairs.row]], units[owner[pairs.col]]) > CREASE
    row, col = pairs.row[near], pairs.col[near]
    sums = [np.bincount(row, across[owner[col], i], len(corners)) for i in range(3)]
    return joined(vertices[faces].reshape(-1, 3), unit_rows(np.column_stack(sums).astype(float)))


def joined(vertices: Array, normals: Array) -> Surface:
    """Corners of triangles as a surface in which those that are alike are one vertex."""
    size = float(np.ptp(vertices, axis=0).max()) or 1.0
    alike = np.round(np.column_stack([vertices / (WELDED * size), normals * 1e3]))
    _, first, of = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    return Surface(vertices[first], normals[first], of.reshape(-1, 3).astype(np.int32))


def simplified(surface: Surface, most: int) -> Surface:
    """A surface of no more faces than `most`, about: vertices that fall into one cell of a grid become one."""
    cells = 256.0
    low, size = surface.vertices.min(axis=0), float(np.ptp(surface.vertices, axis=0).max()) or 1.0
    while len(surface.faces) > most and cells > 4:
        cell = np.floor((surface.vertices - low) / size * cells)
        _, of = np.unique(cell, axis=0, return_inverse=True)
        of = of.reshape(-1)
        count = np.bincount(of)
        middle = np.column_stack([np.bincount(of, surface.vertices[:, i]) / count for i in range(3)])
        faces = of[surface.faces]
        whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 0] != faces[:, 2])
        fewer = np.unique(faces[whole], axis=0).astype(np.int32)
        if len(fewer) <= most:
            return shaded(middle, fewer)
        cells /= 1.5
    return surface


def unit_rows(rows: Array) -> Array:
    """Rows of length 1."""
    sizes = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(sizes > 0, sizes, 1.0))
