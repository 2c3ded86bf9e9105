"""Lack of memory is told as such, whoever noticed it, and nothing else is blamed for it."""

import os
import subprocess
import sys
from itertools import pairwise

import pytest

from zwang.errors import lacks_memory
from zwang.files.read import read_model

MODEL = '[coordinates]\nx = 1\n[energy]\nkinetic = "x\'^2/2"'
LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20,) * 2)
from zwang.cli import main
sys.argv = ["zwang", *sys.argv[2:]]
main()
"""


def covered(*errors):
    """The last of some errors, each raised while the one before was dealt with."""
    for before, error in pairwise(errors):
        error.__context__ = before
    return errors[-1]


SHORT = [
    MemoryError(),
    OSError(12, "Cannot allocate memory"),
    covered(OSError("libx.so: failed to map segment from shared object"), OSError("Could not find libx.so")),
    covered(MemoryError(), ValueError("odd"), TypeError("odder")),
    RuntimeError("can't start new thread"),
    RuntimeError("std::bad_alloc"),
]


@pytest.mark.parametrize("error", SHORT, ids=repr)
def test_a_model_is_not_blamed_for_a_lack_of_memory(error, monkeypatch):
    def refuse(*_, **__):
        raise error

    monkeypatch.setattr("zwang.files.reader.System", refuse)
    with pytest.raises(MemoryError):
        read_model(MODEL)


@pytest.mark.parametrize("error", [OSError(2, "No such file"), ImportError("No module named x"), ValueError("memory")])
def test_other_errors_are_not_taken_for_it(error):
    assert not lacks_memory(error)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of address space")
@pytest.mark.parametrize("words", [("run", "pendulum"), ("run", "arm_with_limits", "--out", "a.nc")])
@pytest.mark.parametrize("megabytes", [60, 250, 350, 450])
def test_a_command_with_too_little_memory_says_so(words, megabytes, tmp_path):
    script = [sys.executable, "-c", LIMITED, str(megabytes), *words]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    if done.returncode or megabytes < 100:  # what suffices depends on versions of libraries
        assert (done.returncode, "memory" in done.stderr.lower(), os.listdir(tmp_path)) == (1, True, [])
