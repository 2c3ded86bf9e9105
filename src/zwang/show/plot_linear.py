"""Plots of linear systems: eigenvalues in the plane and along a parameter, gain and phase over frequency."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.analysis.response import frequency_response
from zwang.errors import InputError
from zwang.show.colors import CYCLE, PAIRS
from zwang.show.plot import AS_GOOD_AS_ZERO, colors
from zwang.show.quantities import require_drawable
from zwang.show.text import plain
from zwang.words import listed

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

MOST_RESPONSES = 24  # curves in a panel


def plot_modes(found: "xr.Dataset") -> "Figure":
    """A matplotlib figure of what `modes` gives: eigenvalues in the complex plane.

    Of modes along a parameter it is their root locus, from light to dark as the parameter grows, and beside it real
    parts and imaginary parts against the parameter, as stability of vehicles is usually shown.

    >>> import numpy as np, zwang as zw
    >>> x = zw.coordinates("x")
    >>> c = zw.parameters("c")
    >>> damped = zw.System((x,), kinetic=zw.dot(x)**2/2, potential=x**2/2, forces={x: -c*zw.dot(x)})
    >>> figure = zw.plot_modes(zw.modes(damped, {x: 0}, parameters={c: np.linspace(0, 4, 81)}))
    >>> [ax.get_xlabel() for ax in figure.axes]
    ['Re λ', 'c', 'c']
    """
    from zwang.show.figure import Picture

    axis = axis_of(found)
    values = np.atleast_2d(np.asarray(found.eigenvalue.values, dtype=complex))
    for part, name in ((values.real, "Re λ"), (values.imag, "Im λ")):
        require_drawable(part, name)
    figure = Picture(figsize=(5.6, 5.0) if axis is None else (10.4, 5.0), layout="constrained")
    if axis is None:
        draw_plane(figure.add_subplot(), values, None)
    else:
        grid = figure.add_gridspec(2, 2)
        along = np.asarray(found[axis].values, dtype=float) if axis in found.coords else np.arange(len(values))
        draw_plane(figure.add_subplot(grid[:, 0]), values, along)
        draw_along(figure.add_subplot(grid[0, 1]), along, values.real, axis, "Re λ")
        draw_along(figure.add_subplot(grid[1, 1]), along, np.abs(values.imag), axis, "|Im λ|")
    entitle(figure, str(found.attrs.get("system", "")))
    return figure


def axis_of(found: Any) -> str | None:
    """The name of the axis along which modes are stacked; refused if these are not modes."""
    if "eigenvalue" not in getattr(found, "variables", ()) or "mode" not in found.eigenvalue.dims:
        raise InputError("plot_modes takes what zwang.modes gives")
    axes = [str(name) for name in found.eigenvalue.dims if name != "mode"]
    return axes[0] if axes else None


def draw_plane(ax: Any, values: Any, along: Any) -> None:
    """Eigenvalues (sample, mode) in the complex plane."""
    from zwang.show.figure import SOFT, dress

    dress(ax)
    ax.axvline(0.0, color=SOFT, linewidth=1.0, zorder=1)
    ax.axhline(0.0, color=SOFT, linewidth=0.8, zorder=1)
    if along is None:
        grows = values[0].real > 0
        for flags, color in ((~grows, PAIRS[CYCLE[0]][0]), (grows, PAIRS["red"][0])):
            ax.plot(values[0].real[flags], values[0].imag[flags], "x", color=color, markersize=8, markeredgewidth=1.8)
    else:
        shade = np.broadcast_to(along[:, None], values.shape)
        ax.scatter(values.real, values.imag, c=shade, cmap="viridis_r", s=9, linewidths=0, zorder=2)
        ax.plot(values[0].real, values[0].imag, "o", color=SOFT, markerfacecolor="white", markersize=6)
        ax.plot(values[-1].real, values[-1].imag, "x", color=SOFT, markersize=6)
    ax.margins(0.08)
    ax.set_xlabel("Re λ")
    ax.set_ylabel("Im λ")


def draw_along(ax: Any, along: Any, values: Any, across: str, up: str) -> None:
    """One part of all eigenvalues against a parameter."""
    from zwang.show.figure import SOFT, dress

    dress(ax)
    ax.axhline(0.0, color=SOFT, linewidth=1.0, zorder=1)
    for curve, color in zip(values.T, colors(values.shape[1]), strict=True):
        ax.plot(along, curve, color=color, linewidth=1.5)
    if len(along) > 1 and along[0] != along[-1]:
        ax.set_xlim(min(along), max(along))
    ax.set_xlabel(plain(across))
    ax.set_ylabel(plain(up))


def plot_response(lin: "xr.Dataset", frequencies: ArrayLike | None = None) -> "Figure":
    """A matplotlib figure of the frequency response of what `linearize` gives: gain and phase of every output.

    One column for each input; `frequencies` are those of `frequency_response`.

    >>> import zwang as zw
    >>> x = zw.coordinates("x")
    >>> F = zw.parameters("F")
    >>> spring = zw.System((x,), kinetic=zw.dot(x)**2/2, potential=2*x**2, forces={x: F - zw.dot(x)/5},
    ...                    parameters={F: 0})
    >>> figure = zw.plot_response(zw.linearize(spring, {x: 0}, inputs=[F]))
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['gain', 'phase (degrees)']
    """
    from zwang.show.figure import Picture

    found = frequency_response(lin, frequencies)
    inputs, outputs = [str(x) for x in found.input.values], [str(x) for x in found.output.values]
    if len(outputs) > MOST_RESPONSES:
        names = listed(map(repr, outputs), 4)
        raise InputError(f"{len(outputs)} outputs are too many for a panel: keep some, as lin.sel(output=[{names}])")
    wide = min(5.6 * len(inputs) + 0.6, 16.0)
    figure = Picture(figsize=(wide, 5.6), layout="constrained")
    grid = figure.add_gridspec(2, len(inputs), height_ratios=(3, 2))
    for column, name in enumerate(inputs):
        one = found.isel(input=column)
        upper, lower = (figure.add_subplot(grid[row, column]) for row in (0, 1))
        draw_response(upper, one.frequency.values, one.gain.values, outputs, logarithmic=True)
        draw_response(lower, one.frequency.values, np.degrees(one.phase.values), outputs, logarithmic=False)
        upper.set_ylabel("gain")
        lower.set_ylabel("phase (degrees)")
        lower.set_xlabel(plain(f"frequency ω, input {name}"))
        lower.sharex(upper)
        upper.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, borderaxespad=0.1)
    entitle(figure, str(found.attrs.get("system", "")))
    return figure


def draw_response(ax: Any, frequencies: Any, values: Any, names: list[str], logarithmic: bool) -> None:
    """Curves (frequency, output) over a logarithmic axis."""
    from zwang.show.figure import dress

    dress(ax)
    seen = values[np.isfinite(values) & (values > AS_GOOD_AS_ZERO)]
    for curve, name, color in zip(values.T, names, colors(len(names)), strict=True):
        shown = np.maximum(curve, AS_GOOD_AS_ZERO) if logarithmic and len(seen) else curve
        mark = "o" if len(curve) == 1 else None
        ax.plot(frequencies, shown, color=color, linewidth=1.5, label=plain(name), marker=mark)
    if (frequencies > 0).all():
        ax.set_xscale("log")
    if logarithmic and len(seen):
        ax.set_yscale("log")
        ax.set_ylim(seen.min() / 2, seen.max() * 2)


def entitle(figure: Any, name: str) -> None:
    """The name of the system above everything."""
    from zwang.show.figure import INK

    if name:
        figure.suptitle(plain(name), x=0.01, ha="left", color=INK, fontweight="bold", fontsize=12)
