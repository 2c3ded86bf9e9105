"""Files of motions: what is read is what was written, and a file is complete or not there."""

import csv
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr

import zwang as zw
from tests.files.models import MOVING
from zwang.errors import InputError
from zwang.files.read import read_model
from zwang.files.store import csv_text, load_motion, save_csv, save_motion, write_atomically


@pytest.fixture(scope="module")
def motion():
    return read_model(MOVING).simulate()


def free_motion():
    x = zw.coordinates("x")
    return zw.simulate(zw.System((x,), kinetic=zw.dot(x) ** 2), {x: 0, zw.dot(x): 1}, until=1, samples=3)


def test_a_motion_is_read_back_identical(motion, tmp_path):
    for what in (motion, free_motion()):
        path = save_motion(what, tmp_path / "motion.nc")
        again = load_motion(path)
        xr.testing.assert_identical(again, what)
        assert {k: type(v) for k, v in again.attrs.items()} == {k: type(v) for k, v in what.attrs.items()}
        assert all(again[name].dtype == what[name].dtype for name in what.variables)
        path.unlink()  # nothing holds the file open
    assert os.listdir(tmp_path) == []


def test_a_table_has_every_digit(motion, tmp_path):
    path = save_csv(motion, tmp_path / "motion.csv")
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(motion.time)
    for name, values in {"t": motion.time, "x": motion.q[:, 0], "y'": motion.v[:, 1], "energy": motion.energy,
                         "multiplier[rod]": motion.multiplier[:, 0]}.items():  # fmt: skip
        np.testing.assert_array_equal([float(row[name]) for row in rows], values.values)


def test_what_is_no_motion_is_refused(motion, tmp_path):
    for wrong in (3, xr.Dataset(), xr.Dataset({"q": ("time", [1.0])})):
        with pytest.raises(InputError, match="motion"):
            save_motion(wrong, tmp_path / "a.nc")
    with pytest.raises(InputError, match="no such file"):
        load_motion(tmp_path / "a.nc")
    (tmp_path / "text.nc").write_text("no NetCDF")
    with pytest.raises(InputError, match="is not a NetCDF file"):
        load_motion(tmp_path / "text.nc")
    xr.Dataset({"q": ("time", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(InputError, match="this is not a motion, v, coordinate is missing"):
        load_motion(tmp_path / "other.nc")
    with pytest.raises(InputError, match="more than one motion"):
        csv_text(motion.expand_dims("run"))
    with pytest.raises(InputError, match="there is no folder"):
        write_atomically(tmp_path / "no" / "a.txt", b"")
    with pytest.raises(InputError, match="is a folder"):
        write_atomically(tmp_path, b"")


def test_a_failure_leaves_the_old_file_and_nothing_else(motion, tmp_path, monkeypatch):
    path = write_atomically(tmp_path / "motion.nc", "old")
    for error in (KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError):

        def fail(*args, error=error, **kwargs):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", fail)
            with pytest.raises((KeyboardInterrupt, InputError, MemoryError)):
                save_motion(motion, path)
        assert os.listdir(tmp_path) == ["motion.nc"]
        assert path.read_text() == "old"


SAVER = """
import resource, sys
from zwang.errors import InputError
from zwang.files.store import load_motion, save_motion
motion = load_motion(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
for _ in range(3):
    try:
        save_motion(motion, sys.argv[1])
    except InputError as error:
        print(error)
print(len(load_motion(sys.argv[1]).time), "times are still there")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of Unix")
def test_a_session_survives_a_disk_that_fills_up(motion, tmp_path):
    path = save_motion(motion, tmp_path / "motion.nc")
    done = subprocess.run([sys.executable, "-c", SAVER, path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    refused = f"{path} cannot be written: File too large"
    assert done.stdout.splitlines() == [refused] * 3 + [f"{len(motion.time)} times are still there"]
    assert os.listdir(tmp_path) == ["motion.nc"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of Unix")
def test_what_is_replaced_keeps_its_mode_and_its_links(tmp_path):
    (tmp_path / "folder").mkdir()
    path = write_atomically(tmp_path / "folder" / "a.txt", "old")
    (tmp_path / "link.txt").symlink_to(path)
    os.chmod(path, 0o604)
    write_atomically(tmp_path / "link.txt", "new")
    assert path.read_text() == "new"
    assert (tmp_path / "link.txt").is_symlink()
    assert path.stat().st_mode & 0o777 == 0o604
    assert sorted(os.listdir(tmp_path)) == ["folder", "link.txt"]


WRITER = """
import sys
from zwang.files.store import write_atomically
while True:
    write_atomically(sys.argv[1], b"x" * 3_000_000 + b"end")
    print("once", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise there")
def test_a_kill_leaves_a_complete_file(tmp_path):
    path = tmp_path / "out.bin"
    for pause in (0.0, 0.004, 0.011):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        process.stdout.readline()
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert path.read_bytes()[-3:] == b"end"
        assert path.stat().st_size == 3_000_003


def test_a_motion_with_more_variables_than_are_read_is_not_written(tmp_path):
    x = zw.coordinates("x")
    p = zw.parameters(" ".join(f"p{i}" for i in range(400)))
    system = zw.System((x,), kinetic=zw.dot(x) ** 2 / 2, forces={x: sum(p)})

    def swept(several):
        values = dict.fromkeys(p, 1.0) | dict.fromkeys(p[:several], np.ones(2))
        return zw.simulate_many(system, {x: 0, zw.dot(x): 0}, 1.0, samples=2, parameters=values)

    saved = save_motion(swept(200), tmp_path / "m.nc")
    assert load_motion(saved).sizes["sample"] == 2
    with pytest.raises(InputError, match="load_motion would not read this motion: it has more than 2,000 variables"):
        save_motion(swept(400), tmp_path / "more.nc")


def test_half_a_letter_is_refused_in_a_sentence_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match=r"m.html cannot be written: a name has half a letter in it"):
        write_atomically(tmp_path / "m.html", "a\ud800b")
    assert os.listdir(tmp_path) == []
