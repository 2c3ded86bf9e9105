"""Every example through the command with `--report`, through `compare`, and beside another derivation."""

import json

import pytest
from typer.testing import CliRunner

from tests.examples.models import NAMES, model, run
from zwang.cli.app import app
from zwang.motion.independent import compare_derivation


def is_rough(name):
    """Whether an example has friction at contacts."""
    return any(c.friction for c in model(name).system.constraints)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_has_the_accelerations_that_its_description_gives(name):
    row = compare_derivation(model(name).system, run(name))
    if is_rough(name):  # friction of contacts is not derived a second time, and that is said
        assert "friction" in row.note
        return
    assert row.error < 1e-10
    assert row.states == 9


@pytest.mark.parametrize("name", NAMES)
def test_every_example_can_be_compared_and_reported(name, tmp_path, monkeypatch):
    """The first fiftieth of it, and the larger ones without the engines that take long to compile."""
    monkeypatch.setattr("zwang.motion.compare.SMALL_SIZE", 6)
    span = model(name).run
    until = str(span.begin + (span.until - span.begin) / 50)
    done = CliRunner().invoke(app, ["compare", name, "--until", until, "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["agree"] is True
    assert found["derivation"]["states"] == (0 if is_rough(name) else 9)
    contacts = any(c.one_sided for c in model(name).system.constraints)  # known to one engine
    assert sum(row["error"] is not None for row in found["engines"]) > (0 if contacts else 1)
    page = tmp_path / "report.html"
    done = CliRunner().invoke(app, ["run", name, "--until", until, "--report", str(page)])
    assert done.exit_code == 0, done.output
    assert "Another derivation" in page.read_text(encoding="utf-8")
