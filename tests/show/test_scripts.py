"""The scripts of pages are JavaScript that a second parser accepts."""

import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

SCRIPTS = sorted(Path(str(files("zwang.show"))).rglob("*.js"))


def test_there_are_scripts():
    assert SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_node_parses_the_script(script):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    done = subprocess.run([node, "--check", script], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
