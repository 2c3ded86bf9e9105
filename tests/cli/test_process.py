"""The command as a process: start-up, pipes, signals, and death at any moment."""

import os
import random
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from tests.cli.models import CONTRADICTION, PENDULUM
from zwang.cli.exits import Exit
from zwang.files.store import load_motion

ZWANG = [sys.executable, "-m", "zwang"]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of Unix")
SAMPLES = 20001
FOREVER = PENDULUM.replace("until = 2.0", "until = 1e8")


def start(*words, **options):
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    if os.name == "posix":  # tests that run in the background of a shell ignore interrupts, and so would their children
        options["preexec_fn"] = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen([*ZWANG, *map(str, words)], text=True, **options)


def ended(process):
    """Standard output, standard error and exit code of a process that ends by itself."""
    out, err = process.communicate(timeout=600)
    return out, err, process.returncode


# Start-up


def test_help_takes_less_than_half_a_second():
    """Processor time, so that other work on the machine does not count; the best of a few."""
    resource = pytest.importorskip("resource")
    taken = []
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert ended(start("--help"))[2] == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(taken) < 0.5


def test_exit_codes_of_a_process(here):
    (here / "m.toml").write_text(CONTRADICTION)
    for words, code in (
        (["--version"], Exit.DONE),
        (["nonsense"], Exit.USAGE),
        (["run", "nothing.toml"], Exit.MODEL),
        (["check", "m.toml"], Exit.INCONSISTENT),
    ):
        assert ended(start(*words))[2] == code


# Pipes


@POSIX
@pytest.mark.parametrize("words", [["schema"], ["examples"], ["--help"], ["run", "pendulum.toml", "--json"]])
def test_nobody_reads_the_output(here, words):
    with start(*words) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode in (Exit.BROKEN_PIPE, 1)  # 1 is typer's own, for its help


@POSIX
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is Linux's")
def test_a_full_disk_is_said_in_one_line():
    with open("/dev/full", "w") as full:
        _, err, code = ended(start("schema", stdout=full))
    assert code == Exit.REFUSED
    assert err.strip() == "error: No space left on device"


def test_json_on_standard_output_and_nothing_else(here):
    import json

    out, err, code = ended(start("run", "pendulum.toml", "--json"))
    assert (code, err) == (0, "")
    assert json.loads(out)["status"] == "finished"


# Signals


@POSIX
@pytest.mark.parametrize("delay", [0.4, 4.0])
@pytest.mark.parametrize(("sent", "codes"), [(signal.SIGINT, (130, -2)), (signal.SIGTERM, (143, -15))])
def test_a_signal_leaves_nothing_behind(here, sent, codes, delay):
    """The second codes are those of a process whose Python had not begun yet."""
    (here / "m.toml").write_text(FOREVER)
    before = set(here.iterdir())
    process = start("run", "m.toml", "--out", "m.nc", "--csv", "m.csv")
    time.sleep(delay)
    process.send_signal(sent)
    out, err, code = ended(process)
    assert code in codes
    assert set(here.iterdir()) == before
    assert out == ""
    assert delay < 1 or sent == signal.SIGTERM or err == "error: interrupted; nothing was written\n"


def whole(path):
    """Whether a file that is there has all that belongs in it."""
    if path.suffix == ".nc":
        motion = load_motion(path)
        return motion.sizes["time"] == SAMPLES and motion.attrs["status"] == "finished" and "drawing" in motion
    text = path.read_text(encoding="utf-8")
    return text.count("\n") == SAMPLES + 1 if path.suffix == ".csv" else text.endswith("</html>\n")


@POSIX
@pytest.mark.parametrize("moment", range(12))
def test_death_at_any_moment_leaves_no_half_file(here, moment):
    """Killed outright: half of the times at some instant of the run, half of them as soon as it begins to write."""
    names = ["m.nc", "m.csv", *(["m.html"] if moment % 4 == 0 else [])]
    options = [
        word for name, option in zip(names, ("--out", "--csv", "--report"), strict=False) for word in (option, name)
    ]
    process = start("run", "pendulum.toml", "-q", "--samples", SAMPLES, *options)
    draw = random.Random(moment)
    if moment % 2:
        while len(list(here.iterdir())) < 2 and process.poll() is None:
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.6))
    else:
        time.sleep(draw.uniform(0.3, 3.0))
    process.kill()
    process.communicate()
    left = {path.name for path in here.iterdir()} - {"pendulum.toml"}
    assert {name for name in left if not name.startswith(".")} <= set(names)
    assert all(whole(here / name) for name in left if name in names)


@POSIX
def test_a_run_replaces_what_was_there_at_once_or_not_at_all(here):
    (here / "m.csv").write_text("old\n")
    process = start("run", "pendulum.toml", "-q", "--samples", SAMPLES, "--csv", "m.csv")
    while len(list(here.iterdir())) < 3 and process.poll() is None:
        time.sleep(0.001)
    process.kill()
    process.communicate()
    assert (here / "m.csv").read_text() == "old\n" or whole(here / "m.csv")


@POSIX
def test_a_bar_for_long_runs_on_a_terminal_only(here):
    """On a terminal, standard error shows how far a run is; standard output is left alone."""
    import pty

    (here / "m.toml").write_text(FOREVER)
    leader, follower = pty.openpty()
    with start("run", "m.toml", stderr=follower) as process:
        os.close(follower)
        seen, until = b"", time.monotonic() + 600
        while b"simulating" not in seen and time.monotonic() < until:
            seen += os.read(leader, 4096)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == ""
    os.close(leader)
    assert b"simulating" in seen
    assert process.returncode == Exit.INTERRUPTED
