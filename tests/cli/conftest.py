from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.cli import models
from zwang.cli.app import app


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a pendulum in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("ZWANG_DEBUG", raising=False)
    (tmp_path / "pendulum.toml").write_text(models.PENDULUM, encoding="utf-8")
    return tmp_path


class Zwang:
    """The command, with models written to files first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *words: object, **models: str) -> Result:
        for name, text in models.items():
            (self.folder / f"{name}.toml").write_text(text, encoding="utf-8")
        return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def zwang(here: Path) -> Zwang:
    """Run the command in a folder of its own: zwang("run", "m.toml", m=TEXT)."""
    return Zwang(here)
