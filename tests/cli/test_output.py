"""Standard output of every kind: in other encodings, closed, full; and files that are there already."""

import io
import json
import os
import stat
import subprocess
import sys

import pytest

from zwang.cli.exits import Exit
from zwang.cli.library import example
from zwang.files.read import load_model
from zwang.files.store import load_motion

ZWANG = [sys.executable, "-m", "zwang"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="descriptors and limits of Unix")
COMMANDS = [
    ["run", "--help"],
    ["equations", "pendulum.toml"],
    ["examples"],
    ["schema"],
    ["examples", "show", "appell"],
    ["run", "pendulum.toml", "--json"],
    ["check", "pendulum.toml"],
]
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def zwang(*words, environment=None, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 120} | options
    return subprocess.run([*ZWANG, *words], env=os.environ | (environment or {}), check=False, **options)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "cp1252"}, C_LOCALE], ids=["cp1252", "C"])
def test_output_works_in_every_encoding(here, words, environment):
    done = zwang(*words, environment=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


def test_json_says_the_same_in_every_encoding(here):
    def schema(encoding):
        return json.loads(zwang("schema", environment={"PYTHONIOENCODING": encoding}).stdout.decode(encoding))

    assert schema("cp1252") == schema("utf-8")


def test_a_model_that_is_shown_into_a_file_can_be_read(here):
    shown = zwang("examples", "show", "appell", environment={"PYTHONIOENCODING": "cp1252"}).stdout
    assert shown == example("appell").read_bytes()
    (here / "shown.toml").write_bytes(shown)
    assert load_model(here / "shown.toml")


@POSIX
def test_a_name_that_is_no_text_is_said_as_it_is(here):
    done = zwang("run", b"\xff.toml")
    assert done.returncode == Exit.MODEL
    assert b"there is no such file" in done.stderr


@POSIX
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_closed_output_is_nobodys_fault(here, words):
    done = zwang(*words, stdout=None, preexec_fn=lambda: os.close(1))
    assert (done.returncode, done.stderr) == (0, b"")
    everything = {"stdin": None, "stdout": None, "stderr": None, "preexec_fn": lambda: os.closerange(0, 3)}
    assert zwang(*words, **everything).returncode == 0


@POSIX
def test_what_is_written_while_output_is_closed_is_whole(here):
    """A file that is opened takes the first free descriptor: it must not be that of standard output."""
    quiet = {"stdin": None, "stdout": None, "stderr": None, "preexec_fn": lambda: os.closerange(0, 3)}
    assert zwang("run", "pendulum.toml", "--out", "m.nc", "--csv", "m.csv", **quiet).returncode == 0
    assert load_motion(here / "m.nc").attrs["status"] == "finished"
    assert "coordinates" not in (here / "m.csv").read_text()


def at_most(size):
    """Let the process write no file longer than this: as on a full disk, writing fails in the middle."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@POSIX
@pytest.mark.parametrize("words", [
    ["run", "pendulum.toml", "--out", "old.nc"],
    ["run", "pendulum.toml", "--csv", "old.csv"],
    ["run", "pendulum.toml", "--report", "old.html"],
    ["plot", "motion.nc", "-o", "old.png"],
    ["animate", "motion.nc", "-o", "old.html"],
    ["animate", "motion.nc", "-o", "old.png"],
    ["equations", "pendulum.toml", "--html", "old.html"],
], ids=" ".join)  # fmt: skip
def test_a_disk_that_fills_up_leaves_a_sentence_and_the_old_file(here, words):
    old = here / words[-1]
    old.write_text("what was there before")
    if "motion.nc" in words:
        assert zwang("run", "pendulum.toml", "--out", "motion.nc").returncode == 0
    before = sorted(os.listdir(here))
    done = zwang(*words, preexec_fn=lambda: at_most(3000))
    assert done.returncode == Exit.REFUSED
    assert done.stderr.decode().strip() == f"error: {old.name} cannot be written: File too large"
    assert old.read_text() == "what was there before"
    assert sorted(os.listdir(here)) == before


@POSIX
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is Linux's")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_full_disk_behind_standard_output_is_said_in_one_line(here, words):
    with open("/dev/full", "w") as full:
        done = zwang(*words, stdout=full)
    assert done.returncode == Exit.REFUSED
    assert done.stderr.decode().count("\n") <= 1


@POSIX
def test_a_file_that_is_replaced_keeps_its_mode(here):
    for mode in (0o600, 0o640, 0o664):
        (here / "m.nc").touch()
        os.chmod(here / "m.nc", mode)
        assert zwang("run", "pendulum.toml", "-q", "--out", "m.nc").returncode == 0
        assert stat.S_IMODE((here / "m.nc").stat().st_mode) == mode
    (here / "m.nc").unlink()
    assert zwang("run", "pendulum.toml", "-q", "--out", "m.nc", preexec_fn=lambda: os.umask(0o027)).returncode == 0
    assert stat.S_IMODE((here / "m.nc").stat().st_mode) == 0o640


def test_output_into_memory_is_left_alone(monkeypatch):
    """Streams that are no files, as tests and notebooks have them, need no preparation."""
    from zwang.cli.streams import prepare

    monkeypatch.setattr(sys, "stdout", io.StringIO())
    prepare()
    print("λ")
    assert sys.stdout.getvalue() == "λ\n"
