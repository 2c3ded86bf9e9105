"""A compiled MJCF model as it is read: its names, what is switched off in it, and what becomes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zwang.multibody.readers.joint_sum import Terms
from zwang.multibody.readers.skeleton import Held

LONGEST_NAME = 1000  # characters
# What MuJoCo calls the kinds of which the names are addressed.
SHORT = {"joint": "jnt", "camera": "cam", "equality": "eq"}


@dataclass
class Reading:
    """A compiled model as it is read: names, and what was read, mended, ignored or cannot be read."""

    model: Any
    lists: dict[str, dict[str, int]]
    """MuJoCo's lists of kinds: the number of each name."""
    read: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def name(self, kind: str, i: int) -> str:
        """The name of an element in the file, or its kind and number."""
        return self.text_at(int(self.addresses(kind)[i])) or f"{kind}{i}"

    def addresses(self, kind: str) -> Any:
        """Where the names of all elements of a kind begin; older versions of MuJoCo lack some kinds."""
        return getattr(self.model, f"name_{SHORT.get(kind, kind)}adr", ())

    def text_at(self, at: int) -> str:
        """The text that begins at a place among all names; a zero ends it."""
        names = self.model.names
        end = at + int(np.argmax(names[at : at + LONGEST_NAME] == 0))
        return bytes(names[at:end]).decode("utf-8", "replace")

    def number(self, list_name: str, name: str) -> int:
        """The number of a kind."""
        return self.lists[list_name][name]

    def is_off(self, what: str) -> bool:
        """Whether a flag of the model's options switches something off, or all constraints with it."""
        names = ("constraint", what) if what in ("equality", "limit", "frictionloss", "contact") else (what,)
        flags = [self.lists["mjtDisableBit"].get(f"mjDSBL_{name.upper()}", 0) for name in names]
        return any(int(self.model.disableflags) & flag for flag in flags)

    def kind_of(self, enum: str, value: int, prefix: str) -> str:
        """The word for a value of one of MuJoCo's lists of kinds."""
        name = next(name for name, number in self.lists[enum].items() if number == int(value))
        return name.removeprefix(prefix).lower()


def fixed_tendon(reading: Reading, i: int) -> list[tuple[int, float]]:
    """The joints of a tendon over joints with their factors; none of one through space."""
    m, joint = reading.model, reading.number("mjtWrap", "mjWRAP_JOINT")
    wraps = range(int(m.tendon_adr[i]), int(m.tendon_adr[i]) + int(m.tendon_num[i]))
    if any(int(m.wrap_type[w]) != joint for w in wraps):
        return []
    return [(int(m.wrap_objid[w]), float(m.wrap_prm[w])) for w in wraps]


def terms_along(reading: Reading, joints: Sequence[tuple[int, float]], held: Sequence[Held]) -> Terms:
    """Joints with their factors, as coordinates of the mechanism."""
    by_slot = {s.name: (h.joint, h.freedom(s)) for h in held for s in h.slots if s.kind in ("hinge", "slide")}
    return [(factor, *by_slot[reading.name("joint", j)]) for j, factor in joints]
