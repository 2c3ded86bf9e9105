"""The files that a stranger's model names: below its own folder, or below folders that whoever reads it names.

A name may lead elsewhere by `..`, as an absolute path, through a link. It is looked at as text first, so that nothing
outside is touched, and where links lead decides in the end.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zwang.errors import InputError

PACKAGE = "package://"


class Outside(Exception):
    """Raised where a name leads out of the folders that may be read."""


@dataclass(frozen=True)
class OwnFolders:
    """The folder of a model, and those of packages by name; all of them without links."""

    folder: Path
    packages: Mapping[str, Path] = field(default_factory=dict)

    @property
    def all(self) -> tuple[Path, ...]:
        """Every folder below which files may be read."""
        return (self.folder, *self.packages.values())

    def file(self, name: str) -> Path | None:
        """The file that a name means; None if it is missing, and `Outside` if it would be elsewhere.

        A package that nobody named is looked for beside the model.
        """
        if name.startswith(PACKAGE):
            package, _, rest = name.removeprefix(PACKAGE).lstrip("/").partition("/")
            places = (
                [self.packages[package] / rest]
                if package in self.packages
                else [self.folder / package / rest, self.folder / rest]
            )
        else:
            places = [self.folder / name.removeprefix("file://")]
        return next((found for place in places if (found := file_below(place, self.all)) is not None), None)


def file_below(place: Path, folders: Sequence[Path]) -> Path | None:
    """The file at a place, its links followed; None if there is none, and `Outside` if it is below none of the folders.

    Pipes and devices are outside, too.

    The folders are absolute and without links.
    """
    plain = Path(os.path.normpath(place))
    if not is_below(plain, folders):
        raise Outside
    try:
        end = plain.resolve()
        if not is_below(end, folders) or end.is_symlink():  # links in a circle end in one of them
            raise Outside
        if end.is_file():
            return end
        if end.exists() and not end.is_dir():  # a pipe, for instance, which whoever opens it waits for
            raise Outside
        return None
    except RuntimeError:  # or, before Python 3.13, in an error
        raise Outside from None
    except (OSError, ValueError):  # a name that no file can have
        return None


def is_below(path: Path, folders: Sequence[Path]) -> bool:
    """Whether a path is below one of the folders, by its letters."""
    return any(path.is_relative_to(folder) for folder in folders)


def own_folders(file: Path, packages: Mapping[str, str | os.PathLike[str]] | None) -> OwnFolders:
    """The folders that belong to a model's file; a package must have a name, and a folder that is there."""
    found = {}
    for name, place in (packages or {}).items():
        if not isinstance(name, str) or not name or "/" in name or not isinstance(place, str | os.PathLike):
            raise InputError(f"packages: {name!r}: {place!r}: give the folder of each by the package's name")
        folder = Path(place)
        if not folder.is_dir():
            raise InputError(f"packages: {name!r} is to be in {str(folder)!r}, but there is no such folder")
        found[name] = folder.resolve()
    return OwnFolders(file.parent.resolve(), found)
