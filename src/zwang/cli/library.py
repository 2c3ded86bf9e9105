"""The example models that come with zwang."""

from importlib.resources.abc import Traversable
from typing import Any

from zwang.cli.exits import Exit, Failure
from zwang.files.library import folder, meant, names

__all__ = ["contents", "example", "folder", "names", "tables_of"]


def example(name: str) -> Traversable:
    """The file of an example; a wrong name is refused with the nearest right one."""
    if name not in names():
        raise Failure(Exit.USAGE, f"there is no example {name!r}{meant(name, names())}; `zwang examples` lists them")
    return folder() / f"{name}.toml"


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
