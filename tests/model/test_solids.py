"""Solids for pictures: numbers only, everything else refused by name."""

import numpy as np
import pytest
import sympy as sp

from zwang import multibody as mb
from zwang.errors import InputError, ModelError
from zwang.model.solids import SOLIDS, Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere

TETRAHEDRON = ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
RIGHT = {
    "box": {"size": (1, 2, sp.Rational(1, 2))},
    "sphere": {"radius": np.float64(2)},
    "ellipsoid": {"radii": np.array([1, 2, 3])},
    "cylinder": {"radius": 1, "length": sp.pi},
    "capsule": {"radius": 1, "length": 2.5},
    "mesh": {"vertices": TETRAHEDRON[0], "faces": np.array(TETRAHEDRON[1])},
}
ODD = ["abc", b"abc", {1: 1}, {1, 2, 3}, None, object(), 1j, (1, 2, 1j), ("1", "2", "3"), (1, 2, sp.Symbol("x")),
       (1, 2, float("nan")), (1, (2,), 3), (1, 2, 3, 4, 5), [[1, 2, 3]], -1, 0, (1, 2, -3)]  # fmt: skip


def test_a_quaternion_and_its_matrix_are_one_orientation():
    angle = 0.7  # about z
    quaternion = (np.cos(angle / 2), 0, 0, np.sin(angle / 2))
    matrix = [(np.cos(angle), -np.sin(angle), 0), (np.sin(angle), np.cos(angle), 0), (0, 0, 1)]
    given = [Box((1, 1, 1), orientation=o) for o in (quaternion, 4 * np.array(quaternion), matrix, np.array(matrix))]
    for solid in given:
        assert solid.turn == pytest.approx(np.array(matrix), abs=1e-15)
    assert given[2] == given[3]


@pytest.mark.parametrize("kind", SOLIDS)
def test_solids_are_numbers_and_are_compared_by_them(kind):
    solid, again = (SOLIDS[kind](**RIGHT[kind], at=np.array([1, 2, 3]), color="teal") for _ in range(2))
    assert solid == again
    assert hash(solid) == hash(again)
    assert solid.at == (1.0, 2.0, 3.0)
    assert solid != SOLIDS[kind](**RIGHT[kind])
    assert solid.kind == kind


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind in RIGHT for key in RIGHT[kind]])
def test_odd_sizes_are_refused_by_name(kind, key, odd):
    if kind == "mesh" and odd == [[1, 2, 3]]:
        odd = [[1, 2]]
    with pytest.raises(InputError, match=f"an? {kind}: {key}: ") as error:
        SOLIDS[kind](**(RIGHT[kind] | {key: odd}))
    assert error.value.mistakes[0].where == (key,)


@pytest.mark.parametrize(
    ("key", "odd"),
    [
        ("at", (1, 2)),
        ("at", "abc"),
        ("orientation", (0, 0, 0, 0)),
        ("orientation", (1, 0, 0)),
        ("orientation", np.diag([1, 1, -1])),
        ("orientation", 2 * np.eye(3)),
        ("orientation", None),
        ("color", "blurple"),
        ("color", "#12345"),
        ("color", 3),
    ],
)
def test_odd_places_turns_and_colours_are_refused_by_name(key, odd):
    with pytest.raises(InputError, match="a sphere: ") as error:
        Sphere(1, **{key: odd})
    assert error.value.mistakes[0].where == (key,)


def test_a_mesh_cannot_be_changed():
    mesh = Mesh(*TETRAHEDRON)
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 1
    assert mesh != Mesh(TETRAHEDRON[0], TETRAHEDRON[1][:3])


def test_faces_name_vertices_that_there_are():
    for wrong in ([(0, 1, 4)], [(0, 1, -1)], [(0, 1, 0.5)], []):
        with pytest.raises(InputError, match="a mesh: faces: "):
            Mesh(TETRAHEDRON[0], wrong)


def test_what_is_not_a_solid_is_refused_by_body():
    right = {"name": "b", "mass": 1, "inertia": (1, 1, 1)}
    assert mb.Body(**right, solids=[Cylinder(1, 2), Capsule(1, 2)]).solids == (Cylinder(1, 2), Capsule(1, 2))
    for odd in ("box", Box((1, 1, 1)), [Box], {"box": 1}, None, [None], 3):
        with pytest.raises(InputError, match="body 'b': solids: "):
            mb.Body(**right, solids=odd)
        with pytest.raises(InputError, match="body 'm': solids: "):
            mb.Moving("m", solids=odd)
        with pytest.raises(InputError, match="mechanism: scenery: "):
            mb.Mechanism([mb.Body(**right)], scenery=odd)


def test_solids_do_not_change_the_motion():
    bare = mb.Body("b", 1, (1, 2, 2.5), angular_velocity=(1, 2, 3))
    dressed = mb.Body("b", 1, (1, 2, 2.5), angular_velocity=(1, 2, 3), solids=[Ellipsoid((3, 2, 1))])
    assert mb.Mechanism([bare]).system == mb.Mechanism([dressed], scenery=[Sphere(1)]).system


def test_solids_do_not_stand_in_the_plane():
    wheel, stand = mb.PlanarBody("wheel", 1, 1), mb.Moving("stand", solids=[Sphere(1)])
    with pytest.raises(ModelError, match=r"body 'stand': solids stand in space(.|\n)*scenery: solids stand in space"):
        mb.Mechanism([wheel, stand], scenery=[Sphere(1)])
