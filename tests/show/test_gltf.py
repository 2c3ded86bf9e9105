"""glTF files, read back by the words of its specification (Khronos, glTF 2.0), section numbers beside."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import zwang as zw
from tests.show.motions import double_pendulum, four_bar, gyroscope, pendulum, rolling_disc
from zwang import multibody as mb
from zwang.results.drawing import with_drawing
from zwang.show.animate import save_animation
from zwang.show.gltf import MOST_TIMES, gltf, steady
from zwang.show.scene import scene_of

SIZES = {5123: ("<u2", 2), 5125: ("<u4", 4), 5126: ("<f4", 4)}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


def chunks(content: bytes) -> tuple[dict[str, Any], bytes]:
    """4.4: header, JSON chunk, binary chunk."""
    magic, version, length = struct.unpack_from("<4sII", content)
    assert (magic, version, length) == (b"glTF", 2, len(content))
    found, at = [], 12
    while at < length:
        size, kind = struct.unpack_from("<I4s", content, at)
        assert size % 4 == 0
        found.append((kind, content[at + 8 : at + 8 + size]))
        at += 8 + size
    assert [kind for kind, _ in found] == [b"JSON", b"BIN\0"]
    return json.loads(found[0][1]), found[1][1]


def numbers(document: dict[str, Any], binary: bytes, index: int) -> Any:
    """3.6: the values of an accessor."""
    accessor = document["accessors"][index]
    view = document["bufferViews"][accessor["bufferView"]]
    kind, size = SIZES[accessor["componentType"]]
    width = WIDTHS[accessor["type"]]
    assert view["byteOffset"] % size == 0  # 3.6.2.4, alignment
    assert view["byteLength"] == accessor["count"] * width * size
    assert view["byteOffset"] + view["byteLength"] <= document["buffers"][0]["byteLength"] <= len(binary)
    values = np.frombuffer(binary, kind, accessor["count"] * width, view["byteOffset"]).reshape(-1, width)
    assert np.isfinite(values).all()
    if "min" in accessor:
        assert accessor["min"] == values.min(axis=0).tolist()
        assert accessor["max"] == values.max(axis=0).tolist()
    return values


def require_valid(content: bytes) -> tuple[dict[str, Any], bytes]:
    document, binary = chunks(content)
    assert document["asset"]["version"] == "2.0"
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            positions = numbers(document, binary, primitive["attributes"]["POSITION"])
            assert "min" in document["accessors"][primitive["attributes"]["POSITION"]]  # 3.7.2.1, required
            if "indices" in primitive:
                faces = numbers(document, binary, primitive["indices"])
                assert faces.max() < len(positions)
                assert len(faces) % 3 == 0
                normals = numbers(document, binary, primitive["attributes"]["NORMAL"])
                assert len(normals) == len(positions)
                np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-5)
    children = [child for node in document["nodes"] for child in node.get("children", ())]
    assert len(set(children)) == len(children)  # 3.5.2: every node has one parent
    assert sorted([*children, *document["scenes"][0]["nodes"]]) == list(range(len(document["nodes"])))
    for animation in document.get("animations", ()):
        targets = [(c["target"]["node"], c["target"]["path"]) for c in animation["channels"]]
        assert len(set(targets)) == len(targets)  # 3.11
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times = numbers(document, binary, sampler["input"])[:, 0]
            assert "min" in document["accessors"][sampler["input"]]
            assert times[0] >= 0
            assert (np.diff(times) > 0).all()
            values = numbers(document, binary, sampler["output"])
            assert len(values) == len(times)
            if channel["target"]["path"] == "rotation":
                np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1, atol=1e-6)
                assert (np.einsum("ij,ij->i", values[1:], values[:-1]) > 0).all()  # signs do not flip
    return document, binary


@pytest.mark.parametrize("make", [pendulum, double_pendulum, four_bar, rolling_disc, gyroscope])
def test_the_file_is_as_its_specification_asks(make: Any, tmp_path: Path) -> None:
    content = save_animation(make(), tmp_path / "motion.glb").read_bytes()
    document, _ = require_valid(content)
    assert document["animations"]
    trimesh = pytest.importorskip("trimesh")
    assert trimesh.load(tmp_path / "motion.glb").geometry


def test_nodes_move_as_the_bodies_do() -> None:
    motion = gyroscope()
    document, binary = require_valid(gltf(scene_of(motion), speed=2.0))
    node = next(i for i, n in enumerate(document["nodes"]) if n["name"] == "top" and "children" in n)
    animation = document["animations"][0]
    mine = [c for c in animation["channels"] if c["target"]["node"] == node]
    found = {c["target"]["path"]: animation["samplers"][c["sampler"]] for c in mine}
    times = numbers(document, binary, found["rotation"]["input"])[:, 0]
    np.testing.assert_allclose(times, motion.time.values / 2, atol=1e-6)
    quaternions = numbers(document, binary, found["rotation"]["output"])
    names = list(motion.coordinate.values)
    expected = motion.q.values[:, [names.index(f"top.q{i}") for i in (1, 2, 3, 0)]]  # scalar last there
    same = np.abs(np.einsum("ij,ij->i", quaternions, expected))
    assert same.min() > 1 - 1e-6
    assert document["nodes"][node]["translation"] == pytest.approx([0, 0, 1])  # it only turns
    root = document["nodes"][document["scenes"][0]["nodes"][0]]
    np.testing.assert_allclose(Rotation.from_quat(root["rotation"]).apply([0, 0, 1]), [0, 1, 0], atol=1e-12)  # y is up


def test_a_rod_reaches_from_one_end_to_the_other_at_all_times() -> None:
    motion = double_pendulum()
    document, binary = require_valid(gltf(scene_of(motion)))
    node = next(i for i, n in enumerate(document["nodes"]) if n["name"] == "rods 2")
    animation = document["animations"][0]
    given = {key: np.tile(document["nodes"][node][key], (751, 1)) for key in ("translation", "rotation", "scale")}
    for c in animation["channels"]:
        if c["target"]["node"] == node:
            given[c["target"]["path"]] = numbers(document, binary, animation["samplers"][c["sampler"]]["output"])
    ends = given["translation"] + Rotation.from_quat(given["rotation"]).apply(np.array([0, 0, 1]) * given["scale"])
    np.testing.assert_allclose(ends[:, :2], motion.q.values[:, 2:], atol=1e-5)


def test_quaternions_go_on_through_many_turns() -> None:
    turns = Rotation.from_euler("zx", np.column_stack([np.linspace(0, 40, 500), np.linspace(0, 7, 500)])).as_matrix()
    found = steady(turns)
    assert (np.einsum("ij,ij->i", found[1:], found[:-1]) > 0.9).all()
    np.testing.assert_allclose(Rotation.from_quat(found).as_matrix(), turns, atol=1e-12)


def test_places_without_numbers_and_times_too_near_are_left_out() -> None:
    motion = pendulum().copy(deep=True)
    motion.drawing.values[3:5] = np.nan
    motion = motion.assign_coords(time=np.append(0.0, 1e6 + 1e-3 * np.arange(250)))  # the same in single precision
    require_valid(gltf(scene_of(motion)))
    single = pendulum().isel(time=slice(1))
    assert "animations" not in require_valid(gltf(scene_of(single)))[0]


def test_long_motions_have_so_many_times() -> None:
    motion = pendulum()[["q", "drawing"]].interp(time=np.linspace(0, 5, 9001))
    document, _ = require_valid(gltf(scene_of(motion)))
    sampler = document["animations"][0]["samplers"][0]
    assert document["accessors"][sampler["input"]]["count"] == MOST_TIMES


def test_solids_of_many_vertices_have_wide_indices() -> None:
    rng = np.random.default_rng(0)
    places = rng.normal(size=(70_000, 3))
    faces = np.arange(69_999).reshape(-1, 3)
    made = mb.Mechanism([mb.Body("cloud", 1, (1, 1, 1), solids=[mb.Mesh(places, faces)])])
    motion = with_drawing(zw.simulate(made.system, made.start, until=1, samples=2), made.drawing, made.system)
    document, _ = require_valid(gltf(scene_of(motion)))
    assert document["accessors"][document["meshes"][0]["primitives"][0]["indices"]]["componentType"] == 5125
