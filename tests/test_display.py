"""Nouns are one line of text everywhere, and HTML where somebody said who writes it."""

import subprocess
import sys

from zwang import display
from zwang.display import Displayed, named, told


class Noun(Displayed):
    pass


def test_without_a_writer_a_noun_is_text(monkeypatch):
    monkeypatch.setattr(display, "_writers", [])
    assert Noun()._repr_html_() is None


def test_the_last_writer_writes(monkeypatch):
    monkeypatch.setattr(display, "_writers", [])
    display.write_with(lambda noun: "first")
    display.write_with(lambda noun: f"<b>{type(noun).__name__}</b>")
    assert Noun()._repr_html_() == "<b>Noun</b>"


def test_a_line_is_short_whatever_the_names_are():
    text = told(Noun(), "n" * 1000, named("coordinates", ["x" * 1000] * 500))
    assert len(text) < 800
    assert text.endswith("and 495 more>")


def test_the_room_that_writes_is_imported_when_something_is_shown():
    code = "import sys, zwang; zwang.System; assert 'zwang.show.notebook.displays' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
