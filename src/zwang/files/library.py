"""Which file a name stands for: a file of that name, or the example model that comes with zwang."""

import os
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from zwang.errors import ModelFileError
from zwang.files.toml.problems import Problem
from zwang.words import nearest


def folder() -> Traversable:
    """Where the examples are."""
    return files("zwang") / "examples"


def names() -> list[str]:
    """The examples, in alphabetical order."""
    here = folder()
    return (
        sorted(f.name.removesuffix(".toml") for f in here.iterdir() if f.name.endswith(".toml"))
        if here.is_dir()
        else []
    )


def meant(name: str, known: list[str]) -> str:
    """A hint at what may have been meant."""
    near = nearest(name, known)
    return f", did you mean {near}?" if near else ""


def find_model(given: str | os.PathLike[str]) -> tuple[Path, bool]:
    """The file that is meant, and whether it is an example's; a file takes precedence over an example of its name.

    >>> find_model("andrews")[1]
    True
    """
    name = os.fspath(given)
    if not name:
        raise missing("", "the name of the model is empty: give a file, or an example")
    if "\0" in name:
        raise missing(repr(name), "the file cannot be read: no name of a file has a zero byte")
    path = Path(name)
    try:
        if path.is_file() or path.is_symlink():  # a link that leads nowhere is refused where it is opened
            return path, False
        there = path.exists()
    except OSError as error:  # a name too long, or a folder that may not be looked into
        raise missing(name, error.strerror or str(error)) from None
    if there:
        what = "is a folder" if path.is_dir() else "is not an ordinary file"
        raise missing(name, f"this {what}, a model file is meant")
    if name in names():
        return Path(str(folder() / f"{name}.toml")), True
    raise missing(name, f"there is no such file{hint(path)}")


def missing(name: str, words: str) -> ModelFileError:
    """The refusal of a name that no model has; it has no line that could be shown."""
    return ModelFileError([Problem(name, 1, 1, words)], f"{name}: {words}" if name else words)


def hint(path: Path) -> str:
    """What may have been meant by a file that is not there."""
    beside = path.with_name(f"{path.name}.toml")
    if path.suffix != ".toml" and beside.is_file():
        return f", did you mean {beside}?"
    try:
        here = [str(entry) for entry in path.parent.glob("*.toml")]
    except OSError:
        here = []
    return meant(str(path), [*here, *names()]) or "; `zwang new NAME` writes one to start from"
