"""A matplotlib figure that shows itself in notebooks and depends on no global state (no pyplot)."""

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

INK, SOFT, LINE = "#1d2430", "#6b7482", "#e4e8ee"


class Picture(Figure):
    """A matplotlib `Figure`: change it and save it as such; `savefig` writes png, svg and pdf."""

    def _repr_png_(self) -> bytes:
        """The picture for a notebook, which asks for this where pyplot was never imported."""
        buffer = BytesIO()
        self.savefig(buffer, format="png", dpi=144)
        return buffer.getvalue()


def dress(ax: Any) -> None:
    """The look of all our axes: a light grid behind, no box, quiet numbers."""
    ax.set_axisbelow(True)
    ax.grid(color=LINE, linewidth=0.8)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#b4bdc9")
    ax.tick_params(colors=SOFT, labelcolor=SOFT, labelsize=9)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
