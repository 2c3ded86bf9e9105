"""A compiled MJCF model as it is read: its names, what is switched off in it, and what becomes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from zwang.multibody.readers.joint_sum import Terms
from zwang.multibody.readers.skeleton import Held


@dataclass
class Reading:
    """A compiled model as it is read: names, and what was read, mended, ignored or cannot be read."""

    mj: Any
    model: Any
    read: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def name(self, kind: str, i: int) -> str:
        """The name of an element in the file, or its kind and number."""
        given = self.mj.mj_id2name(self.model, getattr(self.mj.mjtObj, f"mjOBJ_{kind.upper()}"), i)
        return given or f"{kind}{i}"

    def is_off(self, what: str) -> bool:
        """Whether a flag of the model's options switches something off, or all constraints with it."""
        bits = self.mj.mjtDisableBit
        names = ("constraint", what) if what in ("equality", "limit", "frictionloss", "contact") else (what,)
        flags = [getattr(bits, f"mjDSBL_{name.upper()}", None) for name in names]
        return any(flag is not None and self.model.opt.disableflags & int(flag) for flag in flags)

    def kind_of(self, enum: str, value: int, prefix: str) -> str:
        """The word for a value of one of MuJoCo's lists of kinds."""
        return str(getattr(self.mj, enum)(int(value)).name).removeprefix(prefix).lower()


def fixed_tendon(reading: Reading, i: int) -> list[tuple[int, float]]:
    """The joints of a tendon over joints with their factors; none of one through space."""
    m, joint = reading.model, int(reading.mj.mjtWrap.mjWRAP_JOINT)
    wraps = range(int(m.tendon_adr[i]), int(m.tendon_adr[i]) + int(m.tendon_num[i]))
    if any(int(m.wrap_type[w]) != joint for w in wraps):
        return []
    return [(int(m.wrap_objid[w]), float(m.wrap_prm[w])) for w in wraps]


def terms_along(reading: Reading, joints: Sequence[tuple[int, float]], held: Sequence[Held]) -> Terms:
    """Joints with their factors, as coordinates of the mechanism."""
    by_slot = {s.name: (h.joint, h.freedom(s)) for h in held for s in h.slots if s.kind in ("hinge", "slide")}
    return [(factor, *by_slot[reading.name("joint", j)]) for j, factor in joints]
