"""The looks of an MJCF model: its geoms as solids."""

import numpy as np

from zwang.model.solids import Box, Capsule, Cylinder, Ellipsoid, Mesh, Solid, Sphere
from zwang.multibody.readers.frame import Frame
from zwang.multibody.readers.looks import Look, hex_color
from zwang.multibody.readers.mjcf_reading import Reading
from zwang.words import count

SHOWN_GROUPS = 3  # MuJoCo's viewers show geoms of groups 0 to 2; models put collision shapes into the others
DEFAULT = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's colour of geoms that are given none


def looks_of(reading: Reading) -> list[Look]:
    """The geoms that MuJoCo shows, on their bodies; planes, height fields and what is transparent are not drawn."""
    m, found, without = reading.model, [], 0
    shown = [i for i in range(m.ngeom) if m.geom_group[i] < SHOWN_GROUPS]
    for i in shown:
        body = int(m.geom_bodyid[i])
        shape = shape_of(reading, i)
        if shape is None:
            without += 1
            continue
        name = "world" if body == 0 else reading.name("body", body)
        found.append(Look(name, Frame.of(m.geom_pos[i], m.geom_quat[i]), shape))
    without += m.ngeom - len(shown)
    if without:
        reading.ignored.append(f"{count(without, 'geom')} that {'is' if without == 1 else 'are'} not drawn")
    return found


def shape_of(reading: Reading, i: int) -> Solid | None:
    """A geom as a solid; None if it is not drawn."""
    m = reading.model
    kind = reading.kind_of("mjtGeom", m.geom_type[i], "mjGEOM_")
    size = [float(x) for x in m.geom_size[i]]
    material = int(m.geom_matid[i])
    rgba = tuple(map(float, m.geom_rgba[i]))
    if material >= 0 and rgba == DEFAULT:
        rgba = tuple(map(float, m.mat_rgba[material]))
    if rgba[3] == 0:
        return None
    color = "" if rgba == DEFAULT else hex_color(rgba)
    if kind == "sphere":
        return Sphere(size[0], color=color)
    if kind in ("capsule", "cylinder"):
        return (Capsule if kind == "capsule" else Cylinder)(size[0], 2 * size[1], color=color)
    if kind == "box":
        return Box([2 * x for x in size], color=color)
    if kind == "ellipsoid":
        return Ellipsoid(size, color=color)
    return mesh_of(reading, int(m.geom_dataid[i]), color) if kind == "mesh" else None


def mesh_of(reading: Reading, k: int, color: str) -> Mesh:
    """A mesh of the compiled model, which has it in the axes of the geom."""
    m = reading.model
    vertices = m.mesh_vert[m.mesh_vertadr[k] : m.mesh_vertadr[k] + m.mesh_vertnum[k]]
    faces = m.mesh_face[m.mesh_faceadr[k] : m.mesh_faceadr[k] + m.mesh_facenum[k]]
    return Mesh(np.array(vertices, dtype=float), np.array(faces), color=color)
