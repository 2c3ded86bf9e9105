"""A stranger's store: nothing that it says of itself is obeyed, what differs from zwang's own is refused by name."""

import json
import os
import pickle
import shutil

import numpy as np
import pytest

import zwang as zw
from tests.motion.ensemble.fuzz_stores import bits, drops, swings
from zwang.errors import InputError

pytest.importorskip("numcodecs")
pytest.importorskip("dask")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A store, what it holds, and that of balls on a floor."""
    made = {}
    for name, asked, chunk in (("swings", swings(), 3), ("drops", drops(), 2)):
        path = tmp_path_factory.mktemp("good") / "s.zarr"
        made[name] = (asked, path, bits(zw.simulate_many(*asked[0], **asked[1], store=path, chunk=chunk).load()))
    return made


@pytest.fixture
def copied(good, tmp_path):
    def of(name):
        asked, path, truth = good[name]
        shutil.copytree(path, tmp_path / "s.zarr")
        return tmp_path / "s.zarr", lambda: zw.simulate_many(*asked[0], **asked[1], store=tmp_path / "s.zarr"), truth

    return of


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


class Planted:
    """Runs when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("array", ["status", "account", "doubts", "q"])
def test_no_codec_of_a_strangers_choice_is_run(array, copied, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMCODECS_ALLOW_UNSAFE_PICKLE_DECODE", "1")
    store, again, _ = copied("swings")
    codecs = [{"id": "vlen-utf8"}, {"id": "pickle"}]
    edit(store / array / ".zarray", dtype="|O", filters=codecs, compressor=None, fill_value="")
    for file in (store / array).glob("[0-9]*"):
        file.write_bytes(pickle.dumps(Planted(tmp_path / "run")))
    with pytest.raises(InputError, match=f"s.zarr: the array {array} is missing or damaged"):
        again()
    assert not (tmp_path / "run").exists()


CHANGES = [
    {"dimension_separator": "/"}, {"order": "F"}, {"dtype": ">f8"}, {"dtype": "<i8"}, {"fill_value": 10**400},
    {"filters": [{"id": "delta", "dtype": "<f8"}]}, {"compressor": None}, {"compressor": {"id": "zlib", "level": 1}},
    {"shape": [8, 3, 2]}, {"shape": [7, 3]}, {"chunks": [7, 3, 2]}, {"shape": "x"}, {"zarr_format": 3}, {"more": 1},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_metadata_that_are_not_as_zwang_writes_them_are_refused(change, copied):
    store, again, _ = copied("swings")
    edit(store / "q" / ".zarray", **change)
    with pytest.raises(InputError, match=r"s.zarr: the array q is missing or damaged; remove the store"):
        again()


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 5000 + "1" + "}" * 5000, "", "1", "[]", '"' + "x" * 3_000_000]
)
@pytest.mark.parametrize("where", ["q/.zarray", ".zattrs", ".zgroup"])
def test_whatever_stands_in_place_of_metadata_is_refused_in_a_sentence(text, where, copied):
    store, again, _ = copied("swings")
    (store / where).write_text(text)
    with pytest.raises(InputError, match=r"s.zarr"):
        again()


@pytest.mark.parametrize(
    "mark",
    [{"chunk": 10**400}, {"chunk": True}, {"chunk": 0}, {"chunk": 2}, {"fingerprint": {"until": [[1]]}},
     {"fingerprint": {"until": {"a": 1}}}, {"fingerprint": []}, {"fingerprint": {"keep": [1, None]}}],
    ids=str,
)  # fmt: skip
def test_what_a_store_is_of_may_be_edited_too(mark, copied):
    store, again, _ = copied("swings")
    whole = json.loads((store / ".zattrs").read_text())
    whole["zwang_sweep"] |= mark
    (store / ".zattrs").write_text(json.dumps(whole))
    with pytest.raises(InputError, match=r"s.zarr"):
        again()


def test_attributes_that_are_edited_change_nothing(copied):
    store, again, truth = copied("swings")
    edit(store / ".zattrs", tol=1.0, method="magic", more="x" * 1000)
    edit(store / "q" / ".zattrs", long_name="lies")
    (store / ".zmetadata").write_text('{"metadata": {"q/.zarray": {}}, "zarr_consolidated_format": 1}')
    (store / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    assert bits(again().load()) == truth


@pytest.mark.parametrize("name", ["q", "done", "checksums", "tables"])
def test_a_folder_that_is_a_link_is_not_followed(name, copied, tmp_path):
    store, again, _ = copied("drops")
    (store / name).rename(tmp_path / "elsewhere")
    (store / name).symlink_to(tmp_path / "elsewhere")
    (store / "done" / "0").unlink(missing_ok=True)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "elsewhere").rglob("*")}
    with pytest.raises(InputError, match=f"{name} is missing or damaged"):
        again()
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "elsewhere").rglob("*")} == before


def test_a_group_in_place_of_an_array_is_refused(copied):
    store, again, _ = copied("swings")
    (store / "q" / ".zarray").unlink()
    (store / "q" / ".zgroup").write_text('{"zarr_format": 2}')
    with pytest.raises(InputError, match="the array q is missing or damaged"):
        again()


def pipe(file, _):
    file.unlink()
    os.mkfifo(file)  # whoever opens it waits for ever


def link(file, other):
    file.unlink()
    file.symlink_to(other)


def swap(file, other):
    shutil.copyfile(other, file)


def longer(file, _):
    file.write_bytes(file.read_bytes() + bytes(10**6))


def cut(file, _):
    file.write_bytes(file.read_bytes()[:-1])


def folder(file, _):
    file.unlink()
    file.mkdir()


@pytest.mark.parametrize("how", [pipe, link, swap, longer, cut, folder], ids=lambda how: how.__name__)
@pytest.mark.parametrize(
    ("which", "chunk", "other"),
    [("swings", "q/1.0.0", "q/0.0.0"), ("swings", "status/1", "status/0"), ("swings", "account/1.0", "account/0.0"),
     ("drops", "mode/1.0.0", "mode/0.0.0"), ("drops", "tables/1/0.0", "tables/0/0.0"),
     ("drops", "transitions/1", "transitions/0"), ("drops", "checksums/1.0", "checksums/0.0")],
)  # fmt: skip
def test_a_chunk_that_is_not_what_was_written_there_is_named_with_what_to_do(how, which, chunk, other, copied):
    if how is not folder and not hasattr(os, "mkfifo"):
        pytest.skip("pipes and links of Unix")
    store, again, truth = copied(which)
    how(store / chunk, store / other)
    with pytest.raises(InputError, match=r"s.zarr: \w+ of (samples|parts) \d+ to \d+ cannot be read .*done.1 and call"):
        again().load()
    if how is folder:  # nothing is written over it
        (store / chunk).rmdir()
    (store / "done" / "1").unlink()
    assert bits(again().load()) == truth


def test_words_that_no_number_stands_for_are_refused(copied, monkeypatch):
    """As one who computes the checksums, too, might write them."""
    from zwang.motion.ensemble import zarr_files

    store, again, _ = copied("swings")
    monkeypatch.setattr(zarr_files, "checksum", lambda *_: 0)
    for part in range(3):
        (store / "checksums" / f"{part}.0").write_bytes(bytes(len((store / "checksums" / "0.0").read_bytes())))
    codes = np.full(3, 99, dtype="|i1")
    (store / "status" / "1").write_bytes(zarr_files.packing().encode(codes))
    with pytest.raises(
        InputError, match=r"status of samples 3 to 5 cannot be read \(it holds numbers that mean nothing"
    ):
        again()


def test_a_frame_that_unpacks_to_more_than_it_should_is_not_unpacked(copied, monkeypatch):
    from zwang.motion.ensemble import zarr_files

    monkeypatch.setattr(zarr_files, "checksum", lambda *_: 0)
    store, again, _ = copied("swings")
    for part in range(3):
        (store / "checksums" / f"{part}.0").write_bytes(bytes(len((store / "checksums" / "0.0").read_bytes())))
    good, bomb = (store / "q" / "1.0.0").read_bytes(), zarr_files.packing().encode(bytes(10**8))
    for content in (bomb, good + zarr_files.packing().encode(bytes(10**6)), b"", b"\x28\xb5\x2f\xfd", bytes(50)):
        (store / "q" / "1.0.0").write_bytes(content)
        with pytest.raises(InputError, match="q of samples 3 to 5 cannot be read"):
            again().load()


def test_zarr_reads_what_is_written(good):
    """The format is Zarr's: its own library gives the same numbers."""
    zarr = pytest.importorskip("zarr")
    for name in good:
        _, path, (_, truth) = good[name]
        group = zarr.open_group(path, mode="r")
        for variable in ("q", "energy", "doubts"):
            whole = group[variable][:]
            assert whole.astype(truth[variable][0]).tobytes() == truth[variable][2]
    _, path, (_, truth) = good["drops"]
    group = zarr.open_group(path, mode="r")
    counts = np.frombuffer(truth["transitions"][2], truth["transitions"][0])
    assert group["tables/1"].shape[0] == counts[2:].sum()
    assert [str(name) for name in group["checksums"].attrs["files"]][-2:] == ["transitions", "tables"]
