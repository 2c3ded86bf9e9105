"""What others need to know of a mechanism; `Mechanism` itself imports them, so they cannot import it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from zwang.model import System
from zwang.model.solids import Solid
from zwang.model.state import Description
from zwang.multibody.body import AnyBody, MassBody
from zwang.multibody.element import ForceElement
from zwang.multibody.joint import Constrainer


class DescribedMechanism(Protocol):
    """Bodies, joints and force elements, and the system that they make."""

    @property
    def bodies(self) -> Sequence[AnyBody]:
        """All bodies that are listed."""

    @property
    def joints(self) -> Sequence[Constrainer]:
        """Joints, drivers, couplings and conditions."""

    @property
    def forces(self) -> Sequence[ForceElement]:
        """Force elements."""

    @property
    def constraints(self) -> Mapping[str, Any]:
        """Further constraints by name."""

    @property
    def scenery(self) -> Sequence[Solid]:
        """Solids of the ground, for pictures."""

    @property
    def movable(self) -> tuple[MassBody, ...]:
        """The bodies that have coordinates."""

    @property
    def system(self) -> System:
        """The mechanism as a `System`."""

    @property
    def rows(self) -> dict[str, tuple[str, ...]]:
        """The names of the constraints of each joint."""

    @property
    def guess(self) -> Description:
        """The start as described, and what of it is stated."""

    def assembled(self, parameters: Mapping[Any, Any] | None = None, t: float = 0.0) -> Mapping[Any, float]:
        """The start with other values of parameters, or at another time."""
