"""Plots of a motion: curves over time, and one quantity against another."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import InputError
from zwang.show.colors import CYCLE, PAIRS
from zwang.show.quantities import (
    Curve,
    Panel,
    curve_named,
    names_along,
    panels_of,
    require_drawable,
    require_entries,
    require_motion,
)
from zwang.show.text import plain

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

USUAL = ("q", "v", "constraint_force", "multiplier", "residual", "energy")
AS_GOOD_AS_ZERO = 1e-24  # on a logarithmic axis: far below all rounding
ONE_COLUMN = 3  # so many panels stand one above the other; more stand in two columns
LEGEND_ABOVE = 4  # so many names fit above a panel; more stand beside it
LEGEND_MOST = 24
EVENTS_NAMED = 12
WIDE, TALL = 7.2, 2.3  # inches of a panel


def plot(motion: "xr.Dataset", *what: str | tuple[str, str], only: Sequence[str] = ()) -> "Figure":
    """A matplotlib figure of a motion, one panel for each thing asked for; without any, the usual ones.

    A thing is
    the name of a variable: "q", "v", "a", "force", "constraint_force", "multiplier", "residual" (on a logarithmic
    axis), "energy" (kinetic, potential and total), "power", "gaussian" and whatever else the motion holds;
    a single quantity: a coordinate "x", its rate "x'", "x''", or an entry of a variable, "multiplier[rod]";
    or a pair of such, the second plotted against the first: ("x", "y"), ("x", "x'"), ("t", "multiplier[rod]").

    `only` keeps the curves of some coordinates and constraints. Multipliers that are not unique are dashed, events
    are marked, units stand where the model gives them, and coordinates of different units get panels of their own.
    A motion of many samples shows each as a thin line.

    The figure shows itself in a notebook; `savefig` writes it as png, svg or pdf, and its axes can be changed.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> pendulum = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=9.81*y,
    ...                      constraints={"rod": x**2 + y**2 - 1})
    >>> motion = zw.simulate(pendulum, {x: 1, y: 0, zw.dot(x): 0, zw.dot(y): 0}, until=2)
    >>> figure = plot(motion, "q", ("x", "x'"), "residual", only=["x", "rod"])
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['coordinates', "x'", '|residuals of constraints|']
    >>> figure.savefig("pendulum.pdf")                 # doctest: +SKIP
    """
    from zwang.show.figure import INK, Picture

    require_motion(motion, "plot")
    if isinstance(only, str):
        only = [only]
    require_entries(motion, only)
    panels = all_panels(motion, what or usual(motion), only)
    columns = 1 if len(panels) <= ONE_COLUMN else 2
    rows = -(-len(panels) // columns)
    tall = [4.4 if isinstance(p, tuple) else TALL for p in panels]
    heights = [max(tall[row * columns : (row + 1) * columns]) for row in range(rows)]
    figure = Picture(figsize=(WIDE * (1 if columns == 1 else 1.75), sum(heights) + 0.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.06)  # type: ignore[union-attr,call-arg]
    grid = figure.add_gridspec(rows, columns, height_ratios=heights)
    for i, panel in enumerate(panels):
        ax = figure.add_subplot(grid[i // columns, i % columns])
        if isinstance(panel, tuple):
            draw_pair(ax, *panel)
        else:
            draw_panel(ax, motion, panel)
            mark_events(ax, motion, named=panel is next(p for p in panels if isinstance(p, Panel)))
    if name := str(motion.attrs.get("system", "")):
        figure.suptitle(plain(name), x=0.01, ha="left", color=INK, fontweight="bold", fontsize=12)
    return figure


def usual(motion: "xr.Dataset") -> list[str]:
    """What people look at first, as far as the motion has it."""
    constrained = bool(names_along(motion, "constraint"))
    of_constraints = ("constraint_force", "multiplier", "residual")
    wanted = [name for name in USUAL if constrained or name not in of_constraints]
    readings = ("residual", "residual_rate")  # a rule about accelerations has neither
    missing = not any(np.isfinite(motion[name].values).any() for name in readings if name in motion)
    return [name for name in wanted if name in motion and not (name == "residual" and missing)]


def all_panels(
    motion: "xr.Dataset", what: Sequence[str | tuple[str, str]], only: Sequence[str]
) -> list[Panel | tuple[Curve, Curve]]:
    """A panel or a pair of curves for each thing asked for."""
    panels: list[Panel | tuple[Curve, Curve]] = []
    for item in what:
        if isinstance(item, str):
            panels += panels_of(motion, item, only)
        elif isinstance(item, Sequence) and len(item) == 2 and all(isinstance(name, str) for name in item):
            panels.append((curve_named(motion, item[0]), curve_named(motion, item[1])))
        else:
            raise InputError(f"{item!r} cannot be plotted: give a name, or a pair of names for one against the other")
    return panels


def draw_panel(ax: Any, motion: "xr.Dataset", panel: Panel) -> None:
    """The curves of a panel over time."""
    from zwang.show.figure import dress

    dress(ax)
    times, floor = motion.time.values, least_positive(panel)
    require_drawable(times, "the time")
    for curve in panel.curves:
        require_drawable(curve.values, curve.name)
    for curve, color in zip(panel.curves, colors(len(panel.curves)), strict=True):
        values = np.maximum(np.abs(curve.values), floor) if panel.logarithmic else curve.values
        many = len(values) > 1
        lines = ax.plot(
            times,
            values.T,
            color=color,
            linewidth=0.8 if many else 1.6,
            alpha=faintness(len(values)),
            linestyle="-" if curve.unique else (0, (4, 2)),
            marker="o" if len(times) == 1 else None,
        )
        lines[0].set_label(plain(curve.name if curve.unique else f"{curve.name} (not unique)"))
    if panel.logarithmic:
        ax.set_yscale("log")
        if not np.isfinite(floor):
            ax.set_ylim(1e-18, 1e-12)
            ax.text(0.5, 0.5, "exactly zero", transform=ax.transAxes, ha="center", va="center", color="#6b7482")
    if len(times) > 1 and times[0] != times[-1]:
        ax.set_xlim(times[0], times[-1])
    unit = motion.time.attrs.get("units", "")
    ax.set_xlabel(plain(f"time ({unit})" if unit else "time"))
    ax.set_ylabel(plain(panel.label))
    name_curves(ax, panel)


def least_positive(panel: Panel) -> float:
    """What stands for zero on a logarithmic axis: the least that is well above it; infinite if everything is zero."""
    sizes = np.abs(np.concatenate([curve.values.ravel() for curve in panel.curves]))
    sizes = sizes[np.isfinite(sizes) & (sizes > AS_GOOD_AS_ZERO)]
    return float(sizes.min()) if len(sizes) else np.inf


def draw_pair(ax: Any, across: Curve, up: Curve) -> None:
    """One quantity against another; places keep their proportions."""
    from zwang.show.figure import dress

    dress(ax)
    for curve in (across, up):
        require_drawable(curve.values, curve.name)
    samples = max(len(across.values), len(up.values))
    x, y = (np.broadcast_to(c.values, (samples, c.values.shape[1])) for c in (across, up))
    color = PAIRS[CYCLE[0]][0]
    ax.plot(x.T, y.T, color=color, linewidth=1.6 if samples == 1 else 0.8, alpha=faintness(samples))
    if samples == 1:
        ax.plot(x[0, :1], y[0, :1], "o", color=color, markerfacecolor="white", label="start")
        ax.plot(x[0, -1:], y[0, -1:], "o", color=color, label="end")
        ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0.1)
    ax.set_xlabel(plain(across.label))
    ax.set_ylabel(plain(up.label))
    widths = [np.nanmax(v) - np.nanmin(v) if np.isfinite(v).any() else 0 for v in (x, y)]
    places = across.unit == up.unit and across.name != "t" and not {"'", "["} & {*across.name, *up.name}
    if places and max(widths) < 4 * min(widths):
        ax.set_aspect("equal", adjustable="datalim")


def faintness(samples: int) -> float:
    """How opaque each of many lines is."""
    return max(0.12, min(1.0, 12 / samples))


def colors(count: int) -> list[Any]:
    """As many colours: our own, or along a colour map where these do not suffice."""
    if count <= len(CYCLE):
        return [PAIRS[name][0] for name in CYCLE[:count]]
    from matplotlib import colormaps

    return [colormaps["turbo"](x) for x in np.linspace(0.05, 0.95, count)]


def name_curves(ax: Any, panel: Panel) -> None:
    """The legend: above the panel for a few curves, beside it for more; none where the axis says it already."""
    lines, names = ax.get_legend_handles_labels()
    if len(names) == 1 and panel.curves[0].name.casefold() == panel.title.casefold():
        return
    style: dict[str, Any] = {"frameon": False, "fontsize": 9, "handlelength": 1.8}
    if len(names) <= LEGEND_ABOVE and sum(map(len, names)) < 60:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(names), borderaxespad=0.1, **style)
    else:
        more = len(names) - LEGEND_MOST
        legend = ax.legend(
            lines[:LEGEND_MOST], names[:LEGEND_MOST], loc="upper left", bbox_to_anchor=(1.0, 1.02),
            ncols=1 + min(len(names), LEGEND_MOST) // 9, labelspacing=0.3,
            title=f"and {more} more" if more > 0 else None, **style,
        )  # fmt: skip
        legend.get_title().set_fontsize(9)
    for line in ax.get_legend().get_lines():
        line.set_alpha(1.0)
        line.set_linewidth(2.0)


def mark_events(ax: Any, motion: "xr.Dataset", named: bool) -> None:
    """A dotted line at each event; where they are named, the first of each name is. Many samples have too many."""
    if "event_time" not in motion or motion.event_time.ndim > 1:
        return
    seen: set[str] = set()
    for time, name in zip(motion.event_time.values, map(str, motion.event_name.values), strict=True):
        ax.axvline(time, color="#8b94a2", linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
        if named and name not in seen and len(seen) < EVENTS_NAMED:
            ax.annotate(
                plain(name), (time, 0.98), xycoords=ax.get_xaxis_transform(), xytext=(3, 0), va="top",
                textcoords="offset points", rotation=90, fontsize=7, color="#6b7482", annotation_clip=True,
            )  # fmt: skip
        seen.add(name)
