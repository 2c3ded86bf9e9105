"""The report's part on the motion beside a state: modes to look at, state space, responses, a root locus."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.errors import ZwangError
from zwang.files.analyses.analysis import Analysis
from zwang.files.analyses.linear import Linear, clear_values, damping_ratio, growth_changes
from zwang.show.player import player_html
from zwang.show.report.figures import Figure, Plots, plot, rounded
from zwang.show.report.html import NOTHING, details, number, paragraph, table
from zwang.show.report.subject import Subject
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

MOST_ROWS = 24  # modes in the table
MOST_WIDE = 12  # rows and columns of a matrix
MOST_PLAYED = 3  # modes that move on the page
MOST_CURVES = 12  # responses in one plot
PLACES = {"equilibrium": "the equilibrium", "steady": "the steady motion", "start": "the start"}
HEAD = ("Mode", "Eigenvalue", "Frequency", "Period", "Damping ratio", "Mostly in")


def linear_part(subject: Subject, plots: Plots, asks: Analysis) -> list[str]:
    """Modes, state space, frequency response, and eigenvalues along a parameter."""
    assert isinstance(asks, Linear)
    here = Linear(asks.at, asks.states, asks.inputs, asks.outputs)
    modes = here.modes(subject.model, subject.parameters)
    body = [paragraph(f"To first order, beside {PLACES[asks.place(subject.model)]}."), mode_table(subject, modes)]
    zeros = int(modes.zeros.values)
    if zeros:
        along = f", along {modes.attrs['families']}" if modes.attrs["families"] else ""
        one = "is" if zeros == 1 else "are"
        body.append(paragraph(f"{count(zeros, 'eigenvalue')} {one} zero because the state is one of a family{along}."))
    body += players(subject, modes)
    space = here.answer(subject.model, subject.parameters)
    body.append(details("State space", "".join(matrix(space, name) for name in "ABCD")))
    body += response(space, plots)
    if asks.against:
        body += locus(asks, asks.modes(subject.model, subject.parameters), plots)
    return body


def mode_table(subject: Subject, modes: "xr.Dataset") -> str:
    """One row for each mode, and one for each pair of conjugate ones."""
    rows = []
    unit = subject.unit("time") if "time" in subject.motion.coords else ""
    for i, value in enumerate(clear_values(modes)):
        if value.imag < 0:
            continue
        pair = f"{number(value.real + 0.0)} ± {number(value.imag)}&nbsp;i" if value.imag else number(value.real + 0.0)
        period = number(2 * np.pi / value.imag, unit) if value.imag else NOTHING
        shown = (number(float(modes.frequency[i])), period, number(damping_ratio(value)), mostly(modes, i))
        rows.append([str(i), pair, *shown])
    left = len(rows) - MOST_ROWS
    more = paragraph(f"{left} more are left out.", "note") if left > 0 else ""
    return table("Modes; frequencies in radians a unit of time", HEAD, rows[:MOST_ROWS], "numbers") + more


def mostly(modes: "xr.Dataset", mode: int) -> str:
    """The coordinates that a mode is seen in."""
    size = np.abs(modes["shape"].values[mode])
    names = [str(name) for name in modes.coordinate.values]
    most = [names[i] for i in np.argsort(-size)[:3] if size[i] > 0.3 * size.max(initial=0.0)]
    return escape(", ".join(most))


def players(subject: Subject, modes: "xr.Dataset") -> list[str]:
    """The first modes that oscillate, to be looked at; none where nothing is drawn, or where the state itself moves."""
    from zwang.analysis.mode_motion import mode_motion

    found = []
    if not subject.model.drawing.shapes or modes.v.values.any():
        return []
    for i in [i for i, value in enumerate(modes.eigenvalue.values) if value.imag > 0][:MOST_PLAYED]:
        try:
            motion = mode_motion(subject.model, modes, i, parameters=subject.parameters)
        except ZwangError:
            continue
        if "drawing" not in motion:
            continue
        title = f"Mode {i}, {float(modes.frequency[i]):.4g} rad a unit of time"
        found.append(details(title, player_html(motion, f"mode-{i}")))
    return [found[0].replace("<details>", "<details open>", 1), *found[1:]] if found else []


def matrix(space: "xr.Dataset", name: str) -> str:
    """A matrix under its names; nothing of an empty one."""
    one = space[name]
    down, across = (list(map(str, one[dim].values)) for dim in one.dims)
    if not down or not across:
        return ""
    if max(len(down), len(across)) > MOST_WIDE:
        return paragraph(f"{name} is {len(down)} × {len(across)}: too large to be shown.", "note")
    least = 1e-13 * float(np.abs(one.values).max(initial=0.0))
    rows = [
        [escape(row), *(number(float(x) if abs(x) > least else 0.0, digits=6) for x in values)]
        for row, values in zip(down, one.values, strict=True)
    ]
    return table(name, ("", *map(escape, across)), rows, "numbers")


def response(space: "xr.Dataset", plots: Plots) -> list[str]:
    """Gain and phase over frequency, if there are inputs."""
    from zwang.analysis.response import frequency_response

    if not space.sizes["input"]:
        return []
    found = frequency_response(space)
    axis = rounded(found.frequency.values, 6)
    gains: list[dict[str, Any]] = []
    phases: list[dict[str, Any]] = []
    for u in map(str, found.input.values):
        for y in map(str, found.output.values):
            one = found.sel(input=u, output=y)
            name = f"{y} by {u}"
            gains.append({"name": name, "x": axis, "y": rounded(one.gain.values, 5)})
            phases.append({"name": name, "x": axis, "y": rounded(np.degrees(one.phase.values), 5)})
    panels = (
        {"label": "gain", "log": True, "curves": gains[:MOST_CURVES]},
        {"label": "phase (degrees)", "log": False, "curves": phases[:MOST_CURVES]},
    )
    caption = "" if len(gains) <= MOST_CURVES else f"The first {MOST_CURVES} of {len(gains)}."
    figure = Figure("response", "Frequency response", caption, panels, "frequency (rad a unit of time)",
                    logarithmic_axis=True)  # fmt: skip
    plots.figures.append(figure)
    return ["<h3>Frequency response</h3>", plot(figure)]


def locus(asks: Linear, modes: "xr.Dataset", plots: Plots) -> list[str]:
    """Eigenvalues in the plane and against the parameter."""
    name, values = asks.varied
    found = clear_values(modes)
    curves = [
        {"name": f"mode {i}", "x": rounded(w.real, 5), "y": rounded(w.imag, 5), "dots": True}
        for i, w in enumerate(found.T)
    ]
    plane = Figure(
        "locus", "Root locus", f"Eigenvalues for {name} from {values[0]:g} to {values[-1]:g}.",
        ({"label": "Im λ", "log": False, "curves": curves},), "Re λ", ({"x": 0.0, "name": ""},), legend=False,
        plane=True,
    )  # fmt: skip
    along = rounded(values, 6)
    kept = [i for i, w in enumerate(found.T) if not (w.imag < 0).all()]
    panels = tuple(
        {
            "label": label,
            "log": False,
            "curves": [{"name": f"mode {i}", "x": along, "y": rounded(part(found[:, i]), 5)} for i in kept],
        }
        for label, part in (("Re λ", np.real), ("|Im λ|", lambda w: np.abs(w.imag)))
    )
    against = Figure("against", f"Eigenvalues against {name}", "", panels, name)
    plots.figures.extend([plane, against])
    return [f"<h3>Along {escape(name)}</h3>", crossings(name, values, found), plot(against), plot(plane)]


def crossings(name: str, values: Any, found: Any) -> str:
    """Between which values disturbances begin or cease to grow."""
    words = growth_changes(name, values, found)[:MOST_CURVES]
    if not words:
        words = [f"Disturbances {'grow' if (found.real > 0).any() else 'do not grow'} for every one of these values."]
    return paragraph(" ".join(words))
