"""What files of each kind are called: a name that says another kind is refused before anything is computed.

A spreadsheet opens what is called .xlsx and finds NetCDF in it: the name is a promise to whoever opens the file.
"""

import os
from pathlib import Path

from zwang.errors import InputError
from zwang.words import listed

MOTIONS = (".nc",)
TABLES = (".csv", ".txt")
PAGES = (".html", ".htm")
MODELS = (".toml",)
ANSWERS = (".nc", ".json")
RECORDS = (".json",)
PICTURES = (".png", ".svg", ".pdf")
FILMS = (".gif", ".mp4", ".html", ".png", ".glb")
TEXTS = (".txt", ".tex", ".md", "")
STORES = (".zarr", "")  # folders

HOLDS = {
    MOTIONS: "a motion is written as NetCDF",
    TABLES: "a table is written as comma-separated text",
    PAGES: "a page is written as HTML",
    MODELS: "a model is written as TOML",
    RECORDS: "an answer without arrays is written as JSON",
    ANSWERS: "an answer is written as NetCDF or JSON",
    PICTURES: "its suffix says which kind of picture is written",
    FILMS: "its suffix says which kind of animation is written",
    TEXTS: "equations are written as text",
    STORES: "a store is a folder in Zarr's format",
}


def require_ending(path: str | os.PathLike[str], known: tuple[str, ...]) -> None:
    """Refuse a name that does not end as files of its kind do.

    Args:
        path: where the file goes.
        known: the endings of its kind, one of the tuples of this module; "" stands for none.

    Raises:
        InputError: the name has another ending.

    >>> require_ending("swing.nc", MOTIONS)
    >>> require_ending("swing.xlsx", MOTIONS)
    Traceback (most recent call last):
    zwang.errors.InputError: 'swing.xlsx': the name must end in .nc; a motion is written as NetCDF
    """
    if Path(path).suffix.lower() not in known:
        raise InputError(f"{Path(path).name!r}: the name must end in {in_words(known)}; {HOLDS[known]}")


def in_words(known: tuple[str, ...]) -> str:
    """The endings that are possible.

    >>> in_words(TABLES), in_words(STORES)
    ('.csv or .txt', '.zarr or have no ending')
    """
    return listed([ending or "have no ending" for ending in known], last="or")
