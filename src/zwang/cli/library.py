"""The example models that come with zwang."""

import difflib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from zwang.cli.exits import Exit, Failure


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


def example(name: str) -> Traversable:
    """The file of an example; a wrong name is refused with the nearest right one."""
    if name not in names():
        raise Failure(Exit.USAGE, f"there is no example {name!r}{nearest(name, names())}; `zwang examples` lists them")
    return folder() / f"{name}.toml"


def nearest(name: str, known: list[str]) -> str:
    """A hint at what may have been meant."""
    close = difflib.get_close_matches(name, known, n=1)
    return f", did you mean {close[0]}?" if close else ""


def contents(text: str) -> dict[str, Any]:
    """An example's text as plain TOML, for its title and its tables; empty if it is not TOML."""
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def tables_of(text: str) -> list[str]:
    """The names of the CSV files beside an example that its inputs are read from."""
    from zwang.files.tables import table_names

    return list(table_names(contents(text)))
