"""Where output goes: refused before any work is done, if it cannot go there."""

import os
from pathlib import Path

from zwang.cli.exits import Exit, Failure

ENDINGS = {"--out": (".nc",), "--csv": (".csv", ".txt"), "--report": (".html", ".htm"), "a model": (".toml",)}


def require_targets(targets: dict[str, Path | None], sources: list[Path], overwrite: bool = True) -> None:
    """Refuse outputs that cannot be written, two outputs to one file, and outputs that would overwrite the model."""
    given = [(option, path) for option, path in targets.items() if path is not None]
    for option, path in given:
        require_place(option, path, overwrite)
        for source in sources:
            if same(path, source):
                raise Failure(Exit.USAGE, f"{option} {path}: this is where the model is read from; choose another name")
    for i, (option, path) in enumerate(given):
        for other, elsewhere in given[:i]:
            if same(path, elsewhere):
                raise Failure(Exit.USAGE, f"{other} and {option} both go to {path}: choose two names")


def require_place(option: str, path: Path, overwrite: bool) -> None:
    """Refuse a path at which no file can be written."""
    folder = path.parent
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise Failure(Exit.USAGE, f"{option} {path}: the folder {folder} {what}; make it first")
    if path.is_dir() or not path.name:
        raise Failure(Exit.USAGE, f"{option} {path}: this is a folder; give the name of a file in it")
    if path.exists() and not path.is_file():
        raise Failure(Exit.USAGE, f"{option} {path}: this is not an ordinary file; give the name of one")
    if path.exists() and not overwrite:
        raise Failure(Exit.USAGE, f"{option} {path}: this file is there already; --force overwrites it")
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise Failure(Exit.REFUSED, f"{option} {path}: no permission to write there")


def require_kinds(targets: dict[str, Path | None]) -> None:
    """Refuse a name whose ending belongs to another kind of file; endings that belong to none are accepted."""
    for option, path in targets.items():
        suffix = "" if path is None else path.suffix.lower()
        other = next((kind for kind, known in ENDINGS.items() if suffix in known), option)
        if other != option:
            names = " or ".join(ENDINGS[option])
            raise Failure(Exit.USAGE, f"{option} {path}: {suffix} is for {other}; give a name that ends in {names}")


def same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, by whatever names."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.normcase(one.resolve()) == os.path.normcase(other.resolve())
