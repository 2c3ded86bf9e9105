"""Examples in docstrings, which begin with >>>, are shown as code."""

import re
from textwrap import dedent
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).+)*", re.MULTILINE)
OPTION = re.compile(r" *# doctest: .*")
DRAWING = re.compile(r"^::\n\n((?:    .*\n|\n)+)", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fence them, and the drawings of joints, before a docstring is read as Markdown."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """A docstring with its examples and drawings in fences."""
    text = DRAWING.sub(lambda m: f"```text\n{dedent(m[1]).rstrip()}\n```\n\n", text)
    return EXAMPLE.sub(lambda m: f"```pycon\n{OPTION.sub('', m[0])}\n```", text)
