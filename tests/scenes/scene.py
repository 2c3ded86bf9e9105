"""A scene: a system, its start, and how long it is followed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import xarray as xr

import zwang as zw
from zwang import multibody as mb

G = 9.81
DOWN = mb.Gravity((0, -G))
DOWN_IN_SPACE = mb.Gravity((0, 0, -G))


@dataclass(frozen=True)
class Scene:
    """A system or a mechanism with what is needed to run it, and a length that is typical of it."""

    model: zw.System | mb.Mechanism
    until: float
    size: float = 1.0
    start: Mapping[Any, float] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def system(self) -> zw.System:
        """The system, of a mechanism the one that it makes."""
        return self.model.system if isinstance(self.model, mb.Mechanism) else self.model

    def run(self, **options: Any) -> xr.Dataset:
        """Its motion, also where it stops early."""
        given = {"samples": 41, "throw": False, **self.options, **options}
        return zw.simulate(self.model, self.start, self.until, **given)
