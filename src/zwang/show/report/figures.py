"""The report's plots: what they show, as data; assets/report-plots.js draws them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.errors import InputError
from zwang.show.colors import CYCLE, PAIRS
from zwang.show.modes import has_modes
from zwang.show.plot import AS_GOOD_AS_ZERO
from zwang.show.quantities import Curve, panels_of
from zwang.show.report.html import PageSection, paragraph
from zwang.show.report.math import plain_name
from zwang.show.report.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Mapping


MOST_POINTS, FEWEST_POINTS = 2000, 300  # of a curve; beyond, the least and greatest value of each stretch are kept
MOST_NUMBERS = 200_000  # in all curves together: some megabytes
MOST_CURVES = 40  # of a plot
SHOWN_AT_FIRST = 12  # curves of a panel; the others can be switched on in its legend
MOST_MARKS = 100  # events and impacts that are marked


@dataclass(frozen=True)
class Figure:
    """One plot, as the script takes it: panels one above the other over one axis."""

    key: str
    title: str
    caption: str
    panels: "tuple[Mapping[str, Any], ...]"
    axis: str = ""
    marks: "tuple[Mapping[str, Any], ...]" = ()
    logarithmic_axis: bool = False
    legend: bool = True
    plane: bool = False
    """Whether both axes are numbers of one kind, and curves run anywhere: a root locus."""

    @property
    def data(self) -> dict[str, Any]:
        """What goes into the page's JSON."""
        return {
            "title": self.title,
            "panels": list(self.panels),
            "axis": self.axis,
            "marks": list(self.marks),
            "logAxis": self.logarithmic_axis,
            "legend": self.legend,
            "plane": self.plane,
        }


@dataclass(frozen=True)
class Plots:
    """All plots of a page: their common times and the colours of curves, on light paper and on dark."""

    times: Array
    most_points: int = MOST_POINTS
    figures: list[Figure] = field(default_factory=list)

    @classmethod
    def of(cls, subject: Subject) -> "Plots":
        """No plots yet; the more curves there are to come, the fewer points each may have."""
        n, m = (
            min(size, MOST_CURVES)
            for size in (len(subject.system.coordinate_names), len(subject.system.constraint_names))
        )
        share = MOST_NUMBERS // (5 * n + 3 * m + 6)
        return cls(subject.motion.time.values, int(np.clip(share, FEWEST_POINTS, MOST_POINTS)))

    @property
    def data(self) -> dict[str, Any]:
        """What the script reads."""
        return {
            "time": rounded(self.times, 9) if len(self.times) <= self.most_points else [],
            "colors": [PAIRS[name] for name in CYCLE],
            "figures": {figure.key: figure.data for figure in self.figures},
        }


# Groups of tabs: heading, sentence, and the plots in it: (variable, tab, caption)
GROUPS = (
    (
        "Motion",
        (
            ("q", "Coordinates", ""),
            ("v", "Rates", ""),
            ("a", "Accelerations", ""),
        ),
    ),
    (
        "Forces",
        (
            ("constraint_force", "Forces of constraint", "What the constraints add to the given force: M q̈ − Q."),
            ("nonideal_force", "Nonideal part", "The part of it that nonideal constraints bring."),
            ("multiplier", "Multipliers", "Dashed: not unique, the least of those that serve."),
            ("force", "Given forces", "Q, terms of inertia included."),
        ),
    ),
    (
        "Contacts",
        (
            ("normal_force", "Normal forces", "Of all contacts, as their gaps are written."),
            ("friction_force", "Friction", "Along the slips."),
            ("gap", "Gaps", ""),
            ("slip", "Slips", "Speeds at which surfaces rub."),
        ),
    ),
    (
        "Energy",
        (
            ("energy", "Energies", ""),
            ("power", "Powers", ""),
            ("energy_balance", "Balance", "Energy gained beyond the work of all forces."),
        ),
    ),
    (
        "Residuals",
        (
            ("residual", "Position", "What each constraint reads; exact zeros are left out of a logarithmic axis."),
            ("residual_rate", "Velocity", "What each constraint's rate reads; exact zeros are left out."),
        ),
    ),
)
PRIMES = {"q": "", "v": "′", "a": "″", "constraint_force": "", "nonideal_force": "", "force": ""}  # of coordinates


def figures_section(subject: Subject, plots: Plots) -> PageSection | None:
    """The section of plots over time, in groups; none where there are not two states to join."""
    if subject.motion.sizes["time"] < 2:
        return None
    body = []
    for heading, tabs in GROUPS:
        figures = [f for tab in tabs if (f := over_time(subject, plots, *tab)) is not None]
        if figures:
            plots.figures.extend(figures)
            body.append(f"<h3>{escape(heading)}</h3>\n{tabbed(heading, figures)}")
    return PageSection("plots", "Motion, forces and energy", "\n".join(body))


def over_time(subject: Subject, plots: Plots, variable: str, title: str, caption: str) -> Figure | None:
    """The plot of a variable over time; None where it has nothing to say."""
    motion = subject.motion
    ideal = not any(c != 0 for c in subject.system.nonideal)
    if variable == "nonideal_force" and ideal:
        return None
    if variable in ("constraint_force", "multiplier", "residual", "residual_rate") and not motion.sizes["constraint"]:
        return None
    if variable in ("friction_force", "slip") and not any(c.friction for c in subject.system.constraints):
        return None
    if variable == "residual" and not np.isfinite(motion.residual.values).any():
        return None  # the plot would fall back on rates, which have a tab of their own
    try:
        found = panels_of(motion.drop_vars("nonideal_power") if ideal else motion, variable, ())
    except InputError:
        return None
    panels, room = [], MOST_CURVES
    for panel in found:
        curves = [
            curve_data(c, name_in(variable, c.name), plots, panel.logarithmic, hidden=i >= SHOWN_AT_FIRST)
            for i, c in enumerate(panel.curves[:room])
        ]
        room -= len(curves)
        if curves:
            panels.append({"label": panel.label, "log": panel.logarithmic, "curves": curves})
    many = sum(len(panel.curves) for panel in found)
    if many > MOST_CURVES:
        caption = f"{caption} The first {MOST_CURVES} of {many} are here; the motion itself has them all.".strip()
    several = variable != "energy_balance"
    return Figure(variable, title, caption, tuple(panels), time_axis(subject), marks(subject), legend=several)


def time_axis(subject: Subject) -> str:
    """What stands at the axis of time."""
    unit = subject.unit("time")
    return f"t ({unit})" if unit else "t"


def name_in(variable: str, name: str) -> str:
    """What a curve is called in the plot of a variable."""
    return plain_name(name) + PRIMES[variable] if variable in PRIMES else name


def curve_data(curve: Curve, name: str, plots: Plots, logarithmic: bool, hidden: bool) -> dict[str, Any]:
    """A curve for the script; one of many points has times of its own."""
    values = curve.values[0]
    if logarithmic:
        values = np.where(np.abs(values) < AS_GOOD_AS_ZERO, np.nan, np.abs(values))
    data: dict[str, Any] = {"name": name}
    if len(values) > plots.most_points:
        kept = outline(values, plots.most_points)
        data["x"] = rounded(plots.times[kept], 6)
        values = values[kept]
    data["y"] = rounded(values, 6)
    if not curve.unique:
        data |= {"name": f"{name} (not unique)", "dash": True}
    return data | {"hidden": True} if hidden else data


def outline(values: Array, most: int) -> NDArray[np.intp]:
    """The places of the least and the greatest value in each of many equal stretches, and of both ends."""
    stretches = np.array_split(np.arange(len(values)), most // 2 - 1)
    low = np.where(np.isfinite(values), values, np.inf)
    high = np.where(np.isfinite(values), values, -np.inf)
    kept = [s[low[s].argmin()] for s in stretches] + [s[high[s].argmax()] for s in stretches]
    return np.unique(np.array([0, *kept, len(values) - 1], dtype=np.intp))


def rounded(values: Iterable[float], digits: int) -> list[float]:
    """Numbers with no more digits than a plot can show."""
    return [float(f"{value:.{digits}g}") for value in values]


def marks(subject: Subject) -> tuple[dict[str, Any], ...]:
    """Events, impacts and where rests begin, as marks on the time axis."""
    motion = subject.motion
    both: list[tuple[float, str]] = []
    if "event_time" in motion:
        both += zip(motion.event_time.values, map(str, motion.event_name.values), strict=True)
    if "rest_begin" in motion:
        both += zip(motion.rest_begin.values, (f"rest {name}" for name in motion.rest_switch.values), strict=True)
    if has_modes(motion):
        hit = motion.transition_kind.values == "impact"
        names = [f"impact {name}" for name in motion.transition_contact.values[hit]]
        both += zip(motion.transition_time.values[hit], names, strict=True)
    return tuple({"x": float(f"{time:.9g}"), "name": name} for time, name in spread_out(sorted(both)))


def spread_out(marked: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """No more of them than can be told apart: of those that have a name, some all along their way.

    >>> many = [(float(k), "impact") for k in range(1000)]
    >>> few = spread_out(sorted([*many, (500.5, "gate")]))
    >>> len(few) <= MOST_MARKS, few[0], few[-1][0] > 970, (500.5, "gate") in few
    (True, (0.0, 'impact'), True, True)
    """
    if len(marked) <= MOST_MARKS:
        return marked
    names = len({name for _, name in marked})
    apart = names * (marked[-1][0] - marked[0][0]) / MOST_MARKS
    kept, last = list[tuple[float, str]](), dict[str, float]()
    for time, name in marked:
        if time - last.get(name, -math.inf) >= apart:
            last[name] = time
            kept.append((time, name))
    return kept[:: len(kept) // MOST_MARKS + 1]


def tabbed(heading: str, figures: list[Figure]) -> str:
    """Several plots under tabs; on paper they follow one another."""
    tabs = "".join(
        f'<button type="button" role="tab" id="tab-{f.key}" aria-controls="panel-{f.key}" '
        f'aria-selected="{"false" if i else "true"}" tabindex="{-1 if i else 0}">{escape(f.title)}</button>'
        for i, f in enumerate(figures)
    )
    panels = "".join(
        f'<div role="tabpanel" id="panel-{f.key}" aria-labelledby="tab-{f.key}"{" hidden" if i else ""}>'
        f'<h4 class="paper">{escape(f.title)}</h4>{plot(f)}</div>'
        for i, f in enumerate(figures)
    )
    return f'<div class="tabs"><div role="tablist" aria-label="{escape(heading)}">{tabs}</div>{panels}</div>'


def plot(figure: Figure) -> str:
    """The place of a plot, as high as it will be, and its caption."""
    height = 60 + 280 * len(figure.panels)
    caption = paragraph(figure.caption, "caption") if figure.caption else ""
    return (
        f'<figure aria-label="{escape(figure.title)}"><div class="plot" data-figure="{figure.key}" '
        f'style="min-height: {height}px"></div>{caption}</figure>'
    )
