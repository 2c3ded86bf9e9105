"""Standard output of every kind: in other encodings, closed, full; and files that are there already."""

import codecs
import io
import json
import os
import stat
import subprocess
import sys

import pytest

from zwang.cli.exits import Exit
from zwang.cli.library import example
from zwang.cli.streams import PLAIN, plainer, prepare
from zwang.files.schema import json_schema
from zwang.files.store import load_motion

POSIX = pytest.mark.skipif(os.name != "posix", reason="descriptors and limits of Unix")
COMMANDS = [
    ["run", "--help"],
    ["equations", "pendulum.toml"],
    ["examples"],
    ["schema"],
    ["run", "pendulum.toml", "--json"],
    ["check", "pendulum.toml"],
]
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
# One process for several commands, for Python takes its time to begin.
ONE_AFTER_ANOTHER = """
import json, os, resource, sys
from pathlib import Path
commands, limit = json.loads(sys.argv[1])
codes = []
for words in commands:
    from zwang.cli import main
    sys.argv = ["zwang", *words]
    if limit:  # no file may be longer than this: as on a full disk, writing fails in the middle
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        main()
    except SystemExit as end:
        codes.append(end.code)
Path("codes").write_text(json.dumps(codes))
"""


def zwang(*commands, environment=None, limit=0, **options):
    """Standard output and error of some commands in one process, and their exit codes."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    script = [sys.executable, "-c", ONE_AFTER_ANOTHER, json.dumps([commands, limit])]
    done = subprocess.run(script, env=os.environ | (environment or {}), check=False, timeout=600, **options)
    with open("codes") as codes:
        return done.stdout, done.stderr, json.load(codes)


@POSIX
@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "cp1252"}, C_LOCALE], ids=["cp1252", "C"])
def test_output_works_in_every_encoding(here, environment):
    out, err, codes = zwang(*COMMANDS, environment=environment)
    assert (codes, err) == ([0] * len(COMMANDS), b"")
    assert out


@POSIX
def test_files_and_json_say_the_same_in_every_encoding(here):
    out, _, _ = zwang(["schema"], environment={"PYTHONIOENCODING": "cp1252"})
    assert json.loads(out.decode("cp1252")) == json_schema()
    out, _, _ = zwang(["examples", "show", "appell"], environment={"PYTHONIOENCODING": "cp1252"})
    assert out == example("appell").read_bytes()


@POSIX
def test_closed_output_is_nobodys_fault(here):
    _, err, codes = zwang(*COMMANDS, stdout=None, preexec_fn=lambda: os.close(1))
    assert (codes, err) == ([0] * len(COMMANDS), b"")


@POSIX
def test_what_is_written_while_output_is_closed_is_whole(here):
    """A file that is opened takes the first free descriptor: it must not be that of standard output."""
    words = ["run", "pendulum.toml", "--out", "m.nc", "--csv", "m.csv"]
    quiet = {"stdin": None, "stdout": None, "stderr": None, "preexec_fn": lambda: os.closerange(0, 3)}
    assert zwang(words, **quiet)[2] == [0]
    assert load_motion(here / "m.nc").attrs["status"] == "finished"
    assert "coordinates" not in (here / "m.csv").read_text()


@POSIX
def test_a_disk_that_fills_up_leaves_a_sentence_and_the_old_file(here):
    assert zwang(["run", "pendulum.toml", "-q", "--out", "motion.nc"])[2] == [0]
    commands = [
        ["run", "pendulum.toml", "--out", "old.nc"],
        ["run", "pendulum.toml", "--csv", "old.csv"],
        ["run", "pendulum.toml", "--report", "old.htm"],
        ["plot", "motion.nc", "-o", "old.svg"],
        ["animate", "motion.nc", "-o", "old.html"],
        ["animate", "motion.nc", "-o", "old.png"],
        ["equations", "pendulum.toml", "--html", "page.html"],
    ]
    old = [here / words[-1] for words in commands]
    for path in old:
        path.write_text("what was there before")
    before = sorted(os.listdir(here))
    _, err, codes = zwang(*commands, limit=3000)
    assert codes == [Exit.REFUSED] * len(commands)
    said = [line for line in err.decode().splitlines() if line.startswith("error")]
    assert said == [f"error: {path.name} cannot be written: File too large" for path in old]
    assert {path.read_text() for path in old} == {"what was there before"}
    assert sorted(os.listdir(here)) == before


@POSIX
def test_a_file_that_is_replaced_keeps_its_mode(zwang):
    for mode in (0o600, 0o664):
        (zwang.folder / "m.csv").touch()
        os.chmod(zwang.folder / "m.csv", mode)
        assert zwang("run", "pendulum.toml", "-q", "--csv", "m.csv").exit_code == 0
        assert stat.S_IMODE((zwang.folder / "m.csv").stat().st_mode) == mode


def test_a_name_that_is_no_text_is_no_mistake_of_ours():
    codecs.register_error(PLAIN, plainer)
    for encoding in ("utf-8", "ascii", "cp1252"):
        assert os.fsdecode(b"a\xff.toml").encode(encoding, PLAIN) == b"a\xff.toml"


def test_output_into_memory_is_left_alone(monkeypatch):
    """Streams that are no files, as tests and notebooks have them, need no preparation."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    prepare()
    print("λ")
    assert sys.stdout.getvalue() == "λ\n"
