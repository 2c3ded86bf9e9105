"""What the table of sections is made of: keys, kinds of parts, sections."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Key:
    """A key: the type of its value (a name in `TYPES`), what it means, and what holds if it is not given.

    In the parts of a mechanism `of` says what its expressions may depend on (a name in `parts.OF`).
    """

    name: str
    type: str
    meaning: str
    default: Any = None
    choices: tuple[str, ...] = ()
    of: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of body, joint or force element: the class of `multibody` that it is, and the keys that it takes."""

    name: str
    part: str
    meaning: str
    needed: tuple[Key, ...] = ()
    further: tuple[Key, ...] = ()

    @property
    def keys(self) -> tuple[Key, ...]:
        """Every key, those that must be given first."""
        return self.needed + self.further

    @property
    def names(self) -> tuple[str, ...]:
        """What the kind may be called: as in the table, and as the class is called in Python."""
        return (self.name, self.part)


@dataclass(frozen=True)
class Section:
    """A section with keys of its own, or with one entry a name: of a `short` type, or a table of `keys`.

    The entries of a section with `kinds` are parts of a mechanism: each says its kind, which has the keys.
    """

    name: str
    meaning: str
    keys: tuple[Key, ...] = ()
    short: str = ""
    named: bool = False
    kinds: tuple[Kind, ...] = ()
