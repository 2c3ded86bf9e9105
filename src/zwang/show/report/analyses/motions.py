"""The report's parts on kinematics, periodic motions and Lyapunov exponents."""

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from zwang.files.analyses.analysis import Analysis
from zwang.files.analyses.kinematics import Positions
from zwang.show.player import player_html
from zwang.show.report.figures import MOST_CURVES, SHOWN_AT_FIRST, Figure, Plots, plot, rounded, time_axis
from zwang.show.report.html import badge, number, pairs, paragraph, table
from zwang.show.report.subject import Subject
from zwang.words import count

if TYPE_CHECKING:
    import xarray as xr

    from zwang.arrays import Array

MOST_ROWS = 40
VERDICTS = {"stable": "good", "unstable": "bad"}


def kinematics_part(subject: Subject, plots: Plots, asks: Analysis) -> list[str]:
    """How far the mechanism goes, between which values, and what its drivers carry."""
    assert isinstance(asks, Positions)
    motion = asks.answer(subject.model, subject.parameters, throw=False)
    times = motion.time.values
    rows = [
        [escape(str(name)), *(number(float(x)) for x in (q.min(), q.max(), np.abs(v).max(), np.abs(a).max()))]
        for name, q, v, a in zip(
            motion.coordinate.values, motion.q.values.T, motion.v.values.T, motion.a.values.T, strict=True
        )
    ]
    head = ("Coordinate", "Least", "Greatest", "Fastest", "Largest acceleration")
    body = [
        paragraph(f"At {count(len(times), 'time')} from {times[0]:g} to {times[-1]:g}, by geometry alone: nothing is "
                  f"integrated. {motion.attrs['message']}"),
        table("Coordinates", head, rows[:MOST_ROWS], "numbers"),
    ]  # fmt: skip
    if len(times) > 1:
        body.append(over_time(subject, plots, "kinematics-q", "Coordinates", times, motion.q.values, motion.coordinate))
        drivers = [c.name for c in subject.system.constraints if c.rheonomic]
        if drivers:
            force = motion.multiplier.sel(constraint=drivers)
            title = "Multipliers of the drivers"
            body.append(over_time(subject, plots, "kinematics-force", title, times, force.values, force.constraint))
    return body


def over_time(
    subject: Subject, plots: Plots, key: str, title: str, times: "Array", values: "Array", names: "xr.DataArray"
) -> str:
    """A plot of columns (time, name)."""
    axis = rounded(times, 9)
    curves = [
        {"name": str(name), "x": axis, "y": rounded(x, 6)} | ({"hidden": True} if i >= SHOWN_AT_FIRST else {})
        for i, (name, x) in enumerate(zip(names.values, values.T, strict=True))
    ]
    panel = {"label": title.lower(), "log": False, "curves": curves[:MOST_CURVES]}
    figure = Figure(key, title, "", (panel,), time_axis(subject))
    plots.figures.append(figure)
    return f"<h3>{escape(title)}</h3>{plot(figure)}"


def periodic_part(subject: Subject, plots: Plots, asks: Analysis) -> list[str]:
    """The period, the multipliers, the verdict, and the motion itself."""
    motion = asks.answer(subject.model, subject.parameters)
    verdict = str(motion.attrs["verdict"])
    kind = verdict.partition(":")[0]
    values = motion.floquet.values
    rows = [
        [str(i + 1), number(w.real) + (f" {'+' if w.imag > 0 else '−'} {number(abs(w.imag))}&nbsp;i" if w.imag else ""),
         number(abs(w)), escape(str(name))]
        for i, (w, name) in enumerate(zip(values[:MOST_ROWS], motion.floquet_name.values, strict=False))
    ]  # fmt: skip
    said = [
        ("Period", number(float(motion.attrs["period"]), subject.unit("time"), 12)),
        ("Misses its start by", f"{number(float(motion.attrs['residual']), digits=2)} in natural units"),
    ]
    both = zip(motion.coordinate.values.tolist(), motion["shift"].values.tolist(), strict=True)
    said += [(f"Shift of {escape(str(name))}", number(way, digits=9)) for name, way in both if way]
    told = badge(kind if kind in VERDICTS else "not told", VERDICTS.get(kind, "note"))
    body = [f"<p>{told} {escape(verdict)}</p>", pairs(said)]
    body.append(table("Floquet multipliers", ("No.", "Multiplier", "Size", "What it is"), rows, "numbers"))
    times = motion.time.values
    body.append(over_time(subject, plots, "periodic-q", "One period", times, motion.q.values, motion.coordinate))
    if "drawing" in motion and subject.model.drawing.shapes:
        body.append(player_html(motion, "periodic-player"))
    return body


def lyapunov_part(subject: Subject, plots: Plots, asks: Analysis) -> list[str]:
    """The exponents, and how they settle."""
    found = asks.answer(subject.model, subject.parameters)
    history = found.history.values
    last = np.ptp(history[len(history) // 2 :], axis=0)
    rows = [
        [str(i + 1), number(float(x)), number(float(last[i]), digits=2)]
        for i, x in enumerate(found.exponent.values[:MOST_ROWS])
    ]
    body = [table("Lyapunov exponents", ("No.", "Exponent", "Change in the last half"), rows, "numbers")]
    structural = int(found.attrs["structural"])
    if structural:
        body.append(paragraph(f"{count(structural, 'exponent')} vanish by structure in the limit of long times."))
    if len(history) > 1:
        title = "Exponents up to a time"
        body.append(over_time(subject, plots, "lyapunov", title, found.time.values, history, found.number))
    return body
