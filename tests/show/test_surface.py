"""Solids as triangles: closed, out of the solid, and as large as it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from zwang.model.solids import Box, Capsule, Cylinder, Ellipsoid, Mesh, Solid, Sphere
from zwang.show.surface import Surface, simplified, surface_of

# volumes in closed form
VOLUMES = [
    (Box((1, 2, 3)), 6.0),
    (Sphere(1.5), 4 / 3 * np.pi * 1.5**3),
    (Ellipsoid((1, 2, 3)), 8 * np.pi),
    (Cylinder(1, 2), 2 * np.pi),
    (Capsule(1, 2), 2 * np.pi + 4 / 3 * np.pi),
    (Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]), 1 / 6),
]
KINDS = [solid.kind for solid, _ in VOLUMES]


def corners(surface: Surface) -> list[np.ndarray]:
    return [surface.vertices[surface.faces[:, i]] for i in range(3)]


def volume(surface: Surface) -> float:
    a, b, c = corners(surface)
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def edges(surface: Surface) -> list[tuple[int, int]]:
    _, of = np.unique(np.round(surface.vertices, 9), axis=0, return_inverse=True)
    faces = of.reshape(-1)[surface.faces]
    return [tuple(map(int, edge)) for i in range(3) for edge in faces[:, [i, (i + 1) % 3]]]


def ball(rings: int, around: int) -> tuple[np.ndarray, np.ndarray]:
    """A ball of many triangles, from its own formula: a torus of parameters, pinched at the poles."""
    v, u = np.meshgrid(np.linspace(-np.pi / 2, np.pi / 2, rings), 2 * np.pi * np.arange(around) / around, indexing="ij")
    places = np.stack([np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)], axis=-1).reshape(-1, 3)
    i, k = np.meshgrid(np.arange(rings - 1), np.arange(around), indexing="ij")
    a, b = i * around + k, i * around + (k + 1) % around
    faces = np.concatenate([np.stack([a, b, a + around], -1), np.stack([b, b + around, a + around], -1)])
    return places, faces.reshape(-1, 3)


@pytest.mark.parametrize(("solid", "size"), VOLUMES, ids=KINDS)
def test_every_surface_is_closed_and_holds_the_volume_of_its_solid(solid: Solid, size: float) -> None:
    surface = surface_of(solid)
    found = edges(surface)
    assert len(set(found)) == len(found)
    assert {(b, a) for a, b in found} == set(found)  # each edge once in both directions
    assert volume(surface) == pytest.approx(size, rel=0.02)


@pytest.mark.parametrize(("solid", "size"), VOLUMES, ids=KINDS)
def test_normals_are_units_and_point_out(solid: Solid, size: float) -> None:
    surface = surface_of(solid)
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1, atol=1e-12)
    a, b, c = corners(surface)
    across = np.cross(b - a, c - a)
    for i in range(3):
        assert (np.einsum("ij,ij->i", across, surface.normals[surface.faces[:, i]]) > 0).all()


@pytest.mark.parametrize("i", range(len(VOLUMES)), ids=KINDS)
def test_a_solid_stands_where_it_is_put(i: int) -> None:
    solid = VOLUMES[i][0]
    from dataclasses import replace

    quaternion = (0.5, 0.1, -0.7, 0.3)
    moved = surface_of(replace(solid, at=(1, 2, 3), orientation=quaternion))
    turn = Rotation.from_quat(np.roll(quaternion, -1)).as_matrix()  # SciPy has the scalar last
    plain = surface_of(solid)
    expected = plain.vertices @ turn.T + (1, 2, 3)
    order = [np.lexsort(np.round(v, 9).T) for v in (moved.vertices, expected)]
    np.testing.assert_allclose(moved.vertices[order[0]], expected[order[1]], atol=1e-12)


def test_a_mesh_is_round_where_faces_meet_flatly_and_sharp_elsewhere() -> None:
    places, faces = ball(40, 60)
    surface = surface_of(Mesh(places, faces))
    assert (np.einsum("ij,ij->i", surface.vertices, surface.normals) > 0.999).all()
    box = surface_of(Box((1, 1, 1)))
    again = surface_of(Mesh(box.vertices, box.faces))
    assert len(again.vertices) == 24  # three normals at each of eight corners


def test_a_mesh_of_many_faces_becomes_one_of_few() -> None:
    places, faces = ball(120, 200)
    surface = surface_of(Mesh(places, faces))
    fewer = simplified(surface, 5000)
    assert 1000 < len(fewer.faces) <= 5000
    assert volume(fewer) == pytest.approx(4 / 3 * np.pi, rel=0.02)
    assert simplified(surface, 10**6) is surface


def test_a_mesh_of_slivers_is_still_drawn() -> None:
    flat = surface_of(Mesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1, 2)]))
    assert np.isfinite(flat.normals).all()
