"""The report's part on a fit: values with errors, what data can tell, and data beside the motion."""

import math
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.fitting.table import TIMES
from zwang.errors import InputError
from zwang.files.analyses.analysis import Analysis, number_of, values_of
from zwang.files.analyses.data import measured
from zwang.files.analyses.fit import Measurement
from zwang.show.report.figures import Figure, Plots, plot, rounded
from zwang.show.report.html import badge, details, number, pairs, paragraph, table
from zwang.show.report.subject import Subject
from zwang.words import count

if TYPE_CHECKING:
    from zwang.analysis.fitting.found import Fit

MOST_COLUMNS = 6  # measured columns that are drawn
MOST_TRIALS = 4
HEAD = ("Unknown", "Value", "Standard error", "Share", "Data")


def fit_part(subject: Subject, plots: Plots, asks: Analysis) -> list[str]:
    """Values and errors, how good the fit is, and how data lie beside the motion."""
    assert isinstance(asks, Measurement)
    if not asks.data:
        raise InputError("the model names no data")
    found: Fit = asks.answer(subject.model, subject.parameters)
    flags = {True: badge("told", "good"), False: badge("open", "note")}
    rows = [
        [escape(str(s)), number(x, digits=9), number(found.errors[s], digits=3), share(x, found.errors[s]),
         flags[found.identifiable[s]]]
        for s, x in found.values.items()
    ]  # fmt: skip
    left = max(found.numbers - len(found.values), 1)
    said = [
        ("Data", f"{count(found.numbers, 'number')} for {count(len(found.values), 'unknown')}"),
        ("Residual", f"{number(math.sqrt(found.rss / left))} a number, weighted"),
    ]
    body = [paragraph(found.verdict), table("Values", HEAD, rows, "numbers"), pairs(said)]
    if len(rows) > 1:
        body.append(details("Correlations", correlations(found)))
    return [*body, *pictures(subject, plots, asks, found)]


def share(value: float, error: float) -> str:
    """An error as a share of the value."""
    return number(100 * error / abs(value), "%", 2) if value and math.isfinite(error) else ""


def correlations(found: "Fit") -> str:
    """How the values hang together."""
    names = [escape(str(s)) for s in found.values]
    with np.errstate(all="ignore"):
        values = np.asarray(found.correlation)
    rows = [[name, *(number(float(x), digits=3) for x in row)] for name, row in zip(names, values, strict=True)]
    return table("Correlations of the values", ("", *names), rows, "numbers")


def pictures(subject: Subject, plots: Plots, asks: Measurement, found: "Fit") -> list[str]:
    """Of each trial: what was measured and what the motion reads at these times, and what is left."""
    left, done = np.asarray(found.residuals, dtype=float), []
    weights = values_of(subject.model, subject.parameters)
    for i, columns in enumerate(asks.data):
        names = list(asks.observe) or measured(columns)
        times = np.array(next(columns[name] for name in TIMES if name in columns))
        data = np.array([columns[name] for name in names]).T
        told = np.isfinite(data)
        scale = [number_of(asks.weights[n], weights, n) if n in asks.weights else 1.0 for n in names]
        residual = np.full(data.shape, np.nan)
        residual[told], left = left[: told.sum()], left[told.sum() :]
        if i < MOST_TRIALS:
            title = "Data and motion" if len(asks.data) == 1 else f"Data and motion, trial {i + 1}"
            done += drawn(plots, f"fit-{i}", title, names[:MOST_COLUMNS], times, data, residual, np.array(scale))
    return done


def drawn(
    plots: Plots, key: str, title: str, names: list[str], times: Any, data: Any, residual: Any, scale: Any
) -> list[str]:
    """One trial: a panel for each column, and one for what is left."""
    axis = rounded(times, 9)
    motion = data + residual / np.where(scale > 0, scale, np.nan)
    panels = [
        {
            "label": name,
            "log": False,
            "curves": [
                {"name": f"{name}, motion", "x": axis, "y": rounded(motion[:, j], 6)},
                {"name": f"{name}, measured", "x": axis, "y": rounded(data[:, j], 6), "dots": True},
            ],
        }
        for j, name in enumerate(names)
    ]
    rest = [{"name": name, "x": axis, "y": rounded(residual[:, j], 6), "dots": True} for j, name in enumerate(names)]
    panels.append({"label": "residual, weighted", "log": False, "curves": rest})
    figure = Figure(key, title, "", tuple(panels), "t")
    plots.figures.append(figure)
    return [f"<h3>{escape(title)}</h3>", plot(figure)]
