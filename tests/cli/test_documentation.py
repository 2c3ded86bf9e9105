"""docs/command.md names every command, every exit code and every field of JSON."""

import json
import re
from pathlib import Path

from zwang.cli.exits import MEANING

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")


def fields(command):
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{command}` | `name`"))
    return set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", row))) - {command}


def test_exit_codes():
    rows = dict(re.findall(r"^\| (\d+) \| (.*) \|$", PAGE, re.MULTILINE))
    assert {int(code): words.replace("\\|", "|") for code, words in rows.items()} == {
        int(c): w for c, w in MEANING.items()
    }


def test_fields_of_json(zwang, monkeypatch):
    monkeypatch.setattr("zwang.motion.compare.LONG", 0.0)
    for command in ("run", "check", "assemble", "compare"):
        assert set(json.loads(zwang(command, "pendulum.toml", "--json").stdout)) == fields(command)
