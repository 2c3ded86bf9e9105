"""What is written down of a motion with contacts: its transitions, one after the other."""

from dataclasses import dataclass

from zwang.arrays import Array
from zwang.motion.start import State

KINDS = ("impact", "touch", "lift", "stick", "slide", "reverse", "accumulation")


@dataclass(frozen=True)
class Transition:
    """Something that changed at an instant: what, which contact caused it, and what it did to velocities and energy.

    `impulse` (k,) are those of all contacts; `loss` is the kinetic energy that is gone, beside the work of moving
    surfaces.
    """

    state: State
    """Time, positions and velocities before."""
    kind: str
    contact: int
    """The number of the constraint."""
    after: Array
    impulse: Array
    loss: float = 0.0
