"""What is written in one step is complete or not there; what killed processes left is cleared by the next, no more."""

import os
import subprocess
import sys

import numpy as np
import pytest

import zwang as zw
from zwang.files.store import write_atomically
from zwang.one_step import beside, clear, new_file, new_folder

POSIX = pytest.mark.skipif(os.name != "posix", reason="locks that end with their process")
KILLED = """
import os, signal, sys
from pathlib import Path
from zwang.one_step import new_file, new_folder
place, kind, ends = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "ends"
with (new_file if kind == "file" else new_folder)(place) as new:
    new.write(b"half") if kind == "file" else (new / "q").write_text("half")
    if ends:
        os.kill(os.getpid(), signal.SIGKILL)
    print("writing", flush=True)
    sys.stdin.read()
"""


def started(place, kind, how):
    """A process that is killed while it writes, or waits meanwhile."""
    words = [sys.executable, "-c", KILLED, str(place), kind, how]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    if how == "ends":
        process.communicate()
    return process


@POSIX
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_process_left_is_cleared_by_the_next_that_writes_there(kind, tmp_path):
    started(tmp_path / "m[1].nc", kind, "ends")
    left = os.listdir(tmp_path)
    assert len(left) == 1
    write_atomically(tmp_path / "other.nc", "all of it")
    assert set(left) < set(os.listdir(tmp_path))
    write_atomically(tmp_path / "m[1].nc", "all of it")
    assert sorted(os.listdir(tmp_path)) == ["m[1].nc", "other.nc"]


@POSIX
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_living_process_writes_is_left_alone(kind, tmp_path):
    process = started(tmp_path / "m", kind, "waits")
    clear(tmp_path)
    clear(tmp_path, "m")
    assert len(os.listdir(tmp_path)) == 1
    process.communicate(b"")
    assert process.returncode == 0
    assert os.listdir(tmp_path) == ["m"]


@POSIX
def test_nothing_else_is_cleared(tmp_path):
    kept = [".m.nc.tmp", ".m.nc.12345678.tmp2", ".m.nc.1234567.tmp", ".m.nc.1234567x.tmp", "m.nc.12345678.tmp"]
    for name in kept:
        (tmp_path / name).write_text("mine")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "q").write_text("mine")
    (tmp_path / ".m.nc.0000000a.tmp").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".m.nc.0000000b.tmp").symlink_to(tmp_path / "elsewhere" / "q")
    os.mkfifo(tmp_path / ".m.nc.0000000c.tmp")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    write_atomically(tmp_path / "m.nc", "all of it")
    assert sorted(path.name for path in tmp_path.rglob("*")) == sorted([*before, "m.nc"])


def test_an_error_leaves_nothing(tmp_path):
    for new in (new_file, new_folder):
        with pytest.raises(ZeroDivisionError), new(tmp_path / "m"):
            1 / 0  # noqa: B018
    assert os.listdir(tmp_path) == []


def test_names_are_short_enough_for_any_disk(tmp_path):
    assert len(beside(tmp_path / ("a" * 250)).name) < 130


@POSIX
def test_what_killed_sweeps_left_in_their_store_is_cleared_when_it_is_gone_on_with(tmp_path):
    pytest.importorskip("numcodecs")
    pytest.importorskip("dask")
    x, y = zw.coordinates("x y")
    floor = zw.Constraint(y >= 0, "floor", restitution=0.5)
    ball = zw.System((x, y), kinetic=(zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2, potential=9.81 * y, constraints=[floor])
    start = {x: 0, y: np.array([1.0, 0.3]), zw.dot(x): 1, zw.dot(y): 0}
    store = tmp_path / "s.zarr"

    def sweep():
        return zw.simulate_many(ball, start, 0.3, samples=2, store=store, chunk=1).load()

    started(store, "folder", "ends")
    assert len(os.listdir(tmp_path)) == 1
    whole = sweep()
    assert os.listdir(tmp_path) == ["s.zarr"]
    good = {path.relative_to(store) for path in store.rglob("*")}
    for place in ("q/0.0.0", "done/1", "tables/0/.zarray"):
        started(store / place, "file", "ends")
    assert len({path.relative_to(store) for path in store.rglob("*")}) == len(good) + 3
    again = sweep()
    assert {path.relative_to(store) for path in store.rglob("*")} == good
    assert whole.q.identical(again.q)
