"""`[lyapunov]`: how fast neighbours of a motion go away from it, in the mean."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zwang.files.analyses.analysis import Analysis, AskedModel, Parameters
from zwang.files.table_types import Key, Section

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Divergence(Analysis):
    """Lyapunov exponents of the motion from the model's start."""

    until: float | None = None
    count: int | None = None
    stretches: int = 100

    section = Section(
        "lyapunov",
        "Lyapunov exponents of the motion",
        keys=(
            Key("until", "number", "for how long the motion is followed; that of [run] without it"),
            Key("count", "positive", "how many exponents, the largest first; all without it"),
            Key("stretches", "positive", "into how many parts the time is divided", 100),
        ),
    )

    def answer(self, model: AskedModel, parameters: Parameters = None) -> "xr.Dataset":
        """The dataset of `zwang.lyapunov`."""
        from zwang.analysis.lyapunov import lyapunov

        return lyapunov(model, until=self.until, count=self.count, stretches=self.stretches, parameters=parameters)
