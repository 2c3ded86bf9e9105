"""What the links of a model that was read look like: solids on their bodies, and scenery."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from zwang.model.solids import Solid
from zwang.multibody.readers.frame import Frame
from zwang.words import count

PLURALS = {"box": "boxes", "mesh": "meshes"}


@dataclass(frozen=True, eq=False)
class Look:
    """A solid of a link, by the link's name, with its frame in the link's."""

    link: str
    frame: Frame
    shape: Solid

    def placed(self, frame: Frame) -> Solid:
        """The solid where a frame puts it."""
        return replace(self.shape, at=frame.origin.tolist(), orientation=frame.turn.tolist())


def look_lines(looks: Sequence[Look]) -> list[str]:
    """How much was read, by kind."""
    kinds = Counter(look.shape.kind for look in looks)
    return [f"looks: {', '.join(count(n, kind, PLURALS.get(kind, '')) for kind, n in kinds.items())}"] if kinds else []


def hex_color(rgba: Sequence[float]) -> str:
    """A colour of shares between 0 and 1 as '#rrggbb'.

    >>> hex_color((1, 0.5, 0, 1))
    '#ff8000'
    """
    return "#" + "".join(f"{round(255 * min(max(float(x), 0.0), 1.0)):02x}" for x in rgba[:3])
