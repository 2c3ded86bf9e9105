"""Where output goes: refused before any work is done, if it cannot go there."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from zwang.cli.exits import Exit, Failure
from zwang.endings import MODELS, in_words, require_ending
from zwang.errors import InputError


def require_targets(
    targets: Mapping[str, Path | None],
    sources: Sequence[Path] = (),
    kinds: Mapping[str, tuple[str, ...]] | None = None,
    overwrite: bool = True,
) -> None:
    """Refuse outputs that cannot be written, two outputs to one file, and outputs that would overwrite the model.

    `kinds` are the endings of each output: a name that says another kind is refused.
    """
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
    for option, path in given:
        if kinds:
            require_kind(option, path, kinds)


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


def require_kind(option: str, path: Path, kinds: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse a name whose ending is not of an output's kind; where it is that of another output, say so."""
    suffix, known = path.suffix.lower(), kinds[option]
    if suffix in known:
        return
    others = {**kinds, "a model": MODELS}
    other = next((name for name, endings in others.items() if suffix and suffix in endings), None)
    if other is not None:
        raise Failure(
            Exit.USAGE, f"{option} {path}: {suffix} is for {other}; give a name that ends in {in_words(known)}"
        )
    try:
        require_ending(path, known)
    except InputError as error:
        raise Failure(Exit.USAGE, f"{option} {error}") from None


def same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, by whatever names."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.normcase(one.resolve()) == os.path.normcase(other.resolve())
