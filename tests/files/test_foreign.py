"""A stranger's motion: a file that leads elsewhere, or that is larger than it looks, is refused in a sentence."""

import os
import subprocess
import sys
import time
import zlib

import h5py
import numpy as np
import pytest
import xarray as xr

import zwang as zw
from zwang.errors import InputError
from zwang.files.store import load_motion, save_motion

SECRET = b"a file of the reader's own, 40 bytes long"


@pytest.fixture(scope="module")
def motion():
    x, y = zw.coordinates("x y")
    T = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=T, constraints=[zw.Constraint(x - y, "same")])
    return zw.simulate(system, {x: 0, y: 0, zw.dot(x): 1, zw.dot(y): 1}, until=1, samples=5)


def external_storage(file, folder):
    again(file, "q", (5, 2), "f8", external=[(folder / "secret", 0, 80)])


def external_link(file, folder):
    h5py.File(folder / "other.nc", "w").create_dataset("q", data=np.ones((5, 2))).file.close()
    del file["q"]
    file["q"] = h5py.ExternalLink(folder / "other.nc", "/q")


def external_link_beside(file, folder):
    h5py.File(folder / "other.nc", "w").create_dataset("q", data=np.ones((5, 2))).file.close()
    file["more"] = h5py.ExternalLink(folder / "other.nc", "/q")


def soft_link(file, _):
    file["more"] = h5py.SoftLink("/q")


def dangling_link(file, _):
    file["more"] = h5py.SoftLink("/nowhere")


def virtual(file, folder):
    os.mkfifo(folder / "pipe")  # whoever opens it waits for ever
    layout = h5py.VirtualLayout((5, 2), "f8")
    layout[:] = h5py.VirtualSource(folder / "pipe", "q", (5, 2))
    del file["q"]
    file.create_virtual_dataset("q", layout)


def growing_virtual(file, folder):
    os.mkfifo(folder / "pipe")
    source = h5py.VirtualSource(folder / "pipe", "q", (5, 2), maxshape=(None, 2))
    layout = h5py.VirtualLayout((5, 2), "f8", maxshape=(None, 2))
    layout[: h5py.h5s.UNLIMITED] = source[: h5py.h5s.UNLIMITED]
    del file["q"]
    file.create_virtual_dataset("q", layout)


def cyclic_group(file, _):
    file.create_group("more")["again"] = file["/"]


def named_type(file, _):
    file["more"] = np.dtype("f8")


def compound(file, _):
    file["more"] = np.zeros(3, [("a", "f8"), ("b", "i4")])


def opaque(file, _):
    file["more"] = np.zeros(3, "V8")


def reference(file, _):
    file.create_dataset("more", (1,), h5py.ref_dtype)[0] = file["q"].ref


def region(file, _):
    file["q"].attrs["more"] = file["q"].regionref[1:3]


def region_as_dimension(file, _):
    del file["q"].attrs["DIMENSION_LIST"]
    file["q"].attrs.create(
        "DIMENSION_LIST", np.array([file["q"].regionref[:1]] * 2, object), dtype=h5py.regionref_dtype
    )


def numbers_of_any_length(file, _):
    file.create_dataset("more", (2,), h5py.vlen_dtype("f8"))


def other_filter(file, _):
    again(file, "q", (5, 2), "f8", compression="lzf")


def twice_compressed(file, _):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((5, 2))
    plist.set_deflate(4)
    plist.set_deflate(4)
    space = h5py.h5s.create_simple((5, 2))
    h5py.h5d.create(file.id, b"more", h5py.h5t.NATIVE_DOUBLE, space, plist)


def huge_shape(file, _):
    again(file, "q", (10**9, 2), "f8")


def huge_compressed(file, _):
    again(file, "more", (10**6, 500), "f8", compression="gzip", chunks=(1000, 500))


def huge_chunk(file, _):
    again(file, "q", (5, 2), "f8", chunks=(10**8, 2), maxshape=(None, 2), compression="gzip")


def many_chunks(file, _):
    again(file, "more", (10**6,), "f8", chunks=(1,))


def stream_that_inflates(file, _):
    packed = zlib.compressobj(9)
    stream = b"".join(packed.compress(bytes(1 << 20)) for _ in range(64)) + packed.flush()
    data = again(file, "q", (5, 2), "f8", chunks=(5, 2), compression="gzip")
    data.id.write_direct_chunk((0, 0), stream)


def stream_that_inflates_in_a_checksum(file, _):
    data = again(file, "q", (5, 2), "f8", chunks=(5, 2), compression="gzip", fletcher32=True)
    data.id.write_direct_chunk((0, 0), zlib.compress(bytes(1 << 20)))


def broken_stream(file, _):
    again(file, "q", (5, 2), "f8", chunks=(5, 2), compression="gzip").id.write_direct_chunk((0, 0), b"not deflated")


def labels_of_one_text(file, _):
    """Every label points to the same long text: 16 bytes each in the file, half a megabyte each in memory."""
    data = file.create_dataset("more", (4000,), h5py.string_dtype())
    data[0] = "a" * 500_000
    at = data.id.get_offset()
    repeat_pointer(file, at, 4000)


def attribute_list_of_one_text(file, _):
    file["q"].attrs["more"] = np.array(["a" * 1000] * 1000, object)


def many_labels(file, _):
    file.create_dataset("more", (10**6,), h5py.string_dtype())


def lists_that_are_too_long(file, _):
    """HDF5 copies them into room for one list an axis."""
    scale = file["time"].ref
    del file["q"].attrs["DIMENSION_LIST"]
    file["q"].attrs.create("DIMENSION_LIST", np.array([scale] * 50, object), dtype=h5py.ref_dtype)


def lists_of_another_kind(file, _):
    del file["q"].attrs["DIMENSION_LIST"]
    file["q"].attrs["DIMENSION_LIST"] = np.arange(2)


def lists_of_numbers(file, _):
    del file["q"].attrs["DIMENSION_LIST"]
    lists = np.empty(2, object)
    lists[:] = [np.arange(1, dtype="i4"), np.arange(2, dtype="i4")]
    file["q"].attrs.create("DIMENSION_LIST", lists, (2,), h5py.vlen_dtype("i4"))


def pairs_of_numbers(file, _):
    del file["time"].attrs["REFERENCE_LIST"]
    file["time"].attrs["REFERENCE_LIST"] = np.zeros(3, [("dataset", "i8"), ("dimension", "i4")])


def lists_of_the_file(file, _):
    file.attrs["DIMENSION_LIST"] = np.arange(2)


def text_for_numbers(file, _):
    again(file, "v", (5, 2), "S8")


def other_dimensions(file, _):
    scales = [file["coordinate"], file["time"]]
    del file["q"]
    data = file.create_dataset("q", data=np.zeros((2, 5)))
    for axis, scale in zip(data.dims, scales, strict=True):
        axis.attach_scale(scale)


def many_variables(file, _):
    for i in range(3000):
        file.create_dataset(f"more{i}", data=1.0)


def many_names_of_one(file, _):
    for i in range(1000):
        file[f"more{i}"] = file["q"]


def many_attributes(file, _):
    for i in range(3000):
        file.attrs[f"more{i}"] = i


def many_attributes_of_one(file, _):
    for i in range(3000):
        file["q"].attrs[f"more{i}"] = i


STRANGE = [
    many_variables, many_names_of_one, many_attributes, many_attributes_of_one,
    external_storage, external_link, external_link_beside, soft_link, dangling_link, virtual, growing_virtual,
    cyclic_group, named_type, compound, opaque, reference, region, region_as_dimension, numbers_of_any_length,
    other_filter, twice_compressed, huge_shape, huge_compressed, huge_chunk, many_chunks, stream_that_inflates,
    stream_that_inflates_in_a_checksum, broken_stream, labels_of_one_text, attribute_list_of_one_text, many_labels,
    lists_that_are_too_long, lists_of_another_kind, lists_of_numbers, pairs_of_numbers, lists_of_the_file,
    text_for_numbers, other_dimensions,
]  # fmt: skip
AFTERWARDS = {}


def again(file, name, *what, **options):
    """A dataset in place of the one of this name, with its dimensions."""
    scales = [list(axis.values()) for axis in file[name].dims] if name in file else []
    if name in file:
        del file[name]
    data = file.create_dataset(name, *what, **options)
    for axis, found in zip(data.dims, scales, strict=False):
        for scale in found:
            axis.attach_scale(scale)
    return data


def repeat_pointer(file, at, count):
    """Write the first element of a dataset of texts over all others, when the file is closed."""
    AFTERWARDS[file.filename] = (at, count)


@pytest.mark.parametrize("how", STRANGE, ids=lambda how: how.__name__)
def test_a_strange_file_is_refused_in_a_sentence(how, motion, tmp_path):
    (tmp_path / "secret").write_bytes(SECRET * 2)
    path = save_motion(motion, tmp_path / "motion.nc")
    with h5py.File(path, "r+") as file:
        how(file, tmp_path)
    if str(path) in AFTERWARDS:
        at, count = AFTERWARDS[str(path)]
        with open(path, "r+b") as raw:
            raw.seek(at)
            first = raw.read(16)
            raw.seek(at)
            raw.write(first * count)
    begin = time.process_time()
    with pytest.raises(InputError, match=r"save_motion$|from simulate$") as refused:
        load_motion(path)
    assert time.process_time() - begin < 1
    assert len(str(refused.value)) < 400
    assert "\n" not in str(refused.value)


def collections(content):
    """Where the heaps of texts begin in a file, and the place of the size of each of their objects."""
    begin = content.find(b"GCOL")
    while begin >= 0:
        end, at = begin + int.from_bytes(content[begin + 8 : begin + 16], "little"), begin + 16
        while at + 16 <= end:
            size = int.from_bytes(content[at + 8 : at + 16], "little")
            yield begin, at + 8
            at += (16 + -(-size // 8) * 8) if content[at : at + 2] != b"\0\0" else max(size, 16)
        begin = content.find(b"GCOL", end)


@pytest.mark.parametrize("size", [2**64 - 16, 2**64 - 8, 2**64 - 1, 2**63, 2**40])
def test_a_walk_through_a_heap_that_never_ends_is_not_begun(size, motion, tmp_path):
    """HDF5 adds 16 and the size in 64 bits; it is looked at in a process that is ended if it hangs."""
    path = save_motion(motion, tmp_path / "motion.nc")
    content = path.read_bytes()
    spoilt = [place for _, place in collections(content)]
    assert len(spoilt) > 3
    paths = []
    for i, place in enumerate([*spoilt[:3], spoilt[-1]]):
        paths.append(tmp_path / f"{i}.nc")
        paths[-1].write_bytes(content[:place] + size.to_bytes(8, "little") + content[place + 8 :])
    done = subprocess.run(
        [sys.executable, "-c", LOAD, *map(str, paths)], capture_output=True, text=True, timeout=100, check=False
    )
    lines = done.stdout.splitlines()
    assert (len(lines), done.returncode, done.stderr) == (4, 0, "")
    assert all("heaps of texts are not as HDF5 writes them" in line for line in lines)


LOAD = """import sys
from zwang.errors import InputError
from zwang.files.store import load_motion
for path in sys.argv[1:]:
    try:
        print(load_motion(path).q.shape)
    except InputError as error:
        print(error)
"""


def test_heaps_that_overlap_take_no_longer_than_the_file_is_long(motion, tmp_path):
    """Each object holds the beginning of another heap, which goes on through all objects behind it."""
    head = save_motion(motion, tmp_path / "motion.nc").read_bytes()
    count, each = 20_000, 48
    size = (16 + count * each).to_bytes(8, "little")
    objects = (b"\1\0" + bytes(6) + (32).to_bytes(8, "little") + b"GCOL\1\0\0\0" + size + bytes(16)) * count
    (tmp_path / "o.nc").write_bytes(head + b"GCOL\1\0\0\0" + size + objects)
    begin = time.process_time()
    with pytest.raises(InputError, match="heaps of texts"):
        load_motion(tmp_path / "o.nc")
    assert time.process_time() - begin < 1


def test_what_is_refused_was_not_read(motion, tmp_path):
    path = save_motion(motion, tmp_path / "motion.nc")
    (tmp_path / "secret").write_bytes(SECRET * 2)
    with h5py.File(path, "r+") as file:
        external_storage(file, tmp_path)
    with pytest.raises(InputError, match="'q' keeps its values in another file"):
        load_motion(path)


@pytest.mark.parametrize(
    "encoding", [{"zlib": True}, {"zlib": True, "shuffle": True, "fletcher32": True}, {"dtype": "f4"}], ids=str
)
def test_a_motion_that_others_packed_is_read(encoding, motion, tmp_path):
    motion.to_netcdf(tmp_path / "m.nc", engine="h5netcdf", encoding=dict.fromkeys(("q", "v", "energy"), encoding))
    assert np.array_equal(load_motion(tmp_path / "m.nc").q, motion.q.astype(encoding.get("dtype", "f8")))
    at_rest = motion.isel(time=np.zeros(100_000, int))  # 2 MB of each variable that compress to nothing
    at_rest.to_netcdf(tmp_path / "r.nc", engine="h5netcdf", encoding=dict.fromkeys(("q", "v", "a"), encoding))
    assert load_motion(tmp_path / "r.nc").sizes["time"] == 100_000


def test_coordinates_are_known_by_names(motion, tmp_path):
    motion.assign_coords(coordinate=[1.0, 2.0]).to_netcdf(tmp_path / "m.nc", engine="h5netcdf")
    with pytest.raises(InputError, match="coordinate is not a row of names"):
        load_motion(tmp_path / "m.nc")


def test_times_are_finite_numbers(motion, tmp_path):
    for wrong in (np.nan, np.inf):
        save_motion(motion.assign_coords(time=np.full(5, wrong)), tmp_path / "m.nc")
        with pytest.raises(InputError, match="time is not a row of finite numbers"):
            load_motion(tmp_path / "m.nc")


def test_units_are_labels_and_make_no_dates(motion, tmp_path):
    for unit in ("days", "seconds", "days since 2000-01-01", "$", ""):
        marked = motion.copy()
        marked.time.attrs["units"] = unit
        marked.q.attrs["units"] = unit
        xr.testing.assert_identical(load_motion(save_motion(marked, tmp_path / "m.nc")), marked)


def test_what_netcdf_cannot_hold_is_refused_in_a_sentence(motion, tmp_path):
    for value in ("\ud800", object(), {"a": 1}):
        with pytest.raises(InputError, match="NetCDF cannot hold this motion"):
            save_motion(motion.assign_attrs(more=value), tmp_path / "m.nc")
    assert not list(tmp_path.iterdir())
