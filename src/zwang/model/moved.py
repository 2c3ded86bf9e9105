"""What moved when a start was brought onto its constraints, and how far."""

import sys
import warnings
from dataclasses import dataclass

from zwang.words import listed

ROUNDING = 1e-9  # of the size of a mechanism, or radians: what moved by less stands as it was described
TENTH = 0.1  # of the size, or radians: what moved by more is worth a warning
MOST_NAMED = 6  # parts that follow


class StartMovedWarning(UserWarning):
    """A mechanism stands far from where it is described: more than a tenth of its size, or of a radian."""


@dataclass(frozen=True)
class Moved:
    """How far parts of a model were moved to meet its constraints; `print` says it in words.

    `translation` is the longest way of any part, `translated` that part, `turn` the largest turn in radians, `turned`
    the part that made it, and `size` how large the whole is. Rates that are stated are kept; `followed` are the parts
    with rates that nobody stated and that follow from the others. `asked` says that the model itself asks to be
    assembled: then it is told, but nobody is warned in Python.
    """

    translation: float = 0.0
    translated: str = ""
    turn: float = 0.0
    turned: str = ""
    size: float = 0.0
    asked: bool = False
    followed: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """How much that is: of the size, or in radians, whichever is more; zero where no size is known."""
        return max(self.translation / self.size if self.size else 0.0, self.turn)

    @property
    def stands(self) -> bool:
        """Whether every part is where it is described, but for rounding."""
        return self.turn <= ROUNDING and self.translation <= ROUNDING * (self.size or 1.0)

    @property
    def nothing(self) -> bool:
        """Whether the start is the one described: nothing was moved, and no velocity follows from others."""
        return self.stands and not self.followed

    @property
    def remarkable(self) -> bool:
        """Whether it is more than a tenth."""
        return self.share > TENTH

    def __str__(self) -> str:
        """What moved, in words.

        >>> print(Moved(0.5, "body 'rod'", 0.2, "body 'crank'", 2.0))
        to put the start together, body 'rod' was moved by 0.5, 25 % of the whole, and body 'crank' turned by 11.5°
        """
        names = listed(self.followed, MOST_NAMED)
        follow = f"; velocities that are not stated follow: {names}" if self.followed else ""
        if self.stands:
            return f"the start stands as it is described{follow}"
        said = []
        if self.translation > ROUNDING * (self.size or 1.0):
            share = f", {percent(self.translation / self.size)} of the whole," if self.size else ""
            said.append(f"{self.translated} was moved by {self.translation:.3g}{share}")
        if self.turn > ROUNDING:
            who = "" if said and self.turned == self.translated else f"{self.turned} "
            said.append(f"{who}{'' if said else 'was '}turned by {self.turn * 57.29577951308232:.3g}°")
        return f"to put the start together, {' and '.join(said)}".rstrip(",") + follow


def percent(share: float) -> str:
    """A share as people say it."""
    return f"{100 * share:.2g} %" if share < 1 else f"{100 * share:.0f} %"


def tell(moved: Moved | None) -> None:
    """Warn of a start that lies far from where it is described, at the line that asked for it."""
    if moved is None or moved.asked or not moved.remarkable:
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "zwang":
        frame, level = frame.f_back, level + 1
    words = f"{moved}: describe it nearer to where it is, or give the start"
    warnings.warn(words, StartMovedWarning, stacklevel=level)
