"""Plots: which curves, under which names and units."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from tests.show.motions import double_pendulum, four_bar, pendulum, rolling_disc
from zwang import dot
from zwang.errors import InputError
from zwang.show.plot import plot


def curves(ax: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}


def labels(figure: Any) -> list[tuple[str, str]]:
    return [(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes]


def test_the_usual_panels_with_units() -> None:
    figure = plot(pendulum())
    assert [y for _, y in labels(figure)] == [
        "coordinates (m)",
        "rates (m/s)",
        "forces of constraint (N)",
        "multipliers λ",
        "|residuals of constraints|",
        "energy (J)",
    ]
    assert {x for x, _ in labels(figure)} == {"time (s)"}
    assert [list(curves(ax)) for ax in figure.axes] == [
        ["x", "y"], ["x", "y"], ["x", "y"], ["rod"], ["rod"], ["kinetic", "potential", "total"],
    ]  # fmt: skip
    assert figure.get_suptitle() == "Pendulum"


def test_the_curves_are_the_motion() -> None:
    motion = pendulum()
    ax = plot(motion, "q").axes[0]
    for i, name in enumerate(["x", "y"]):
        np.testing.assert_array_equal(curves(ax)[name].get_xdata(), motion.time)
        np.testing.assert_array_equal(curves(ax)[name].get_ydata(), motion.q[:, i])


def test_only_some_coordinates_and_constraints() -> None:
    figure = plot(double_pendulum(), "q", "multiplier", "residual", only=["x2", "lower"])
    assert [list(curves(ax)) for ax in figure.axes] == [["x2"], ["lower"], ["lower"]]
    figure = plot(double_pendulum(), "q", "multiplier", only=["x2"])
    assert [list(curves(ax)) for ax in figure.axes] == [["x2"], ["upper", "lower"]]
    assert list(curves(plot(double_pendulum(), "v", only="y1").axes[0])) == ["y1"]


def test_coordinates_of_different_units_get_panels_of_their_own() -> None:
    figure = plot(rolling_disc(), "q")
    assert [ax.get_ylabel() for ax in figure.axes] == ["coordinates (m)", "coordinates"]
    assert [list(curves(ax)) for ax in figure.axes] == [["x", "y", "z"], ["phi", "theta", "psi"]]


def test_residuals_are_logarithmic_and_of_rates_where_there_is_no_position() -> None:
    ax = plot(rolling_disc(), "residual").axes[0]
    assert ax.get_yscale() == "log"
    assert list(curves(ax)) == ["no slip x (rate)", "no slip y (rate)", "on the ground"]
    for line in curves(ax).values():  # exact zeros at the start stand at the least of the others
        assert np.isfinite(line.get_ydata()).all()
        assert (line.get_ydata() > 0).all()


def test_residuals_that_are_exactly_zero_do_not_break_the_axis() -> None:
    x, y = zw.coordinates("x y")
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints={"still": y})
    figure = plot(zw.simulate(system, {x: 0, y: 0, dot(x): 1, dot(y): 0}, until=1), "residual")
    assert "exactly zero" in [text.get_text() for text in figure.axes[0].texts]
    figure.savefig(BytesIO(), format="png")


def test_multipliers_that_are_not_unique_are_dashed_and_say_so() -> None:
    lines = curves(plot(four_bar(), "multiplier").axes[0])
    assert list(lines) == ["across", "up (not unique)", "up again (not unique)"]
    assert [line.is_dashed() for line in lines.values()] == [False, True, True]


def test_events_are_marked_and_named_once() -> None:
    motion = pendulum()
    figure = plot(motion, "q", "energy")
    for ax in figure.axes:
        marks = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2]
        np.testing.assert_array_equal(marks, motion.event_time)
    assert [t.get_text() for ax in figure.axes for t in ax.texts] == ["below the pivot"]


def test_one_quantity_against_another() -> None:
    motion = pendulum()
    figure = plot(motion, ("x", "y"), ("x", "x'"), ("t", "multiplier[rod]"), "y''", "gaussian")
    assert labels(figure) == [
        ("x (m)", "y (m)"),
        ("x (m)", "x' (m/s)"),
        ("t (s)", "multiplier[rod]"),
        ("time (s)", "y'' (m/s²)"),
        ("time (s)", "Gaussian"),
    ]
    path = figure.axes[0].lines[0]
    np.testing.assert_array_equal(np.array(path.get_data()).T, motion.q)
    assert figure.axes[0].get_aspect() == 1.0  # a path keeps its proportions
    assert figure.axes[1].get_aspect() == "auto"
    np.testing.assert_array_equal(figure.axes[2].lines[0].get_ydata(), motion.multiplier[:, 0])
    assert figure.axes[3].get_legend() is None  # the axis says it already


def test_many_samples_are_many_lines_under_one_name() -> None:
    x = zw.coordinates("x")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=x**2 / 2)
    many = zw.simulate_many(system, {x: np.linspace(0, 1, 7), dot(x): 0}, until=1)
    figure = plot(many, "q", "energy", ("x", "x'"))
    assert [len(ax.lines) for ax in figure.axes] == [7, 21, 7]
    assert list(curves(figure.axes[0])) == ["x"]


def test_without_constraints_there_are_fewer_panels() -> None:
    x = zw.coordinates("x")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2)
    figure = plot(zw.simulate(system, {x: 0, dot(x): 1}, until=1))
    assert [ax.get_ylabel() for ax in figure.axes] == ["coordinates", "rates", "energy"]


def test_rules_about_accelerations_have_no_residual_to_plot() -> None:
    x = zw.coordinates("x")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, constraints={"rule": dot(dot(x)) + x})
    motion = zw.simulate(system, {x: 1, dot(x): 0}, until=1)
    assert "|residuals of constraints|" not in [ax.get_ylabel() for ax in plot(motion).axes]
    with pytest.raises(InputError, match="'residual' has no values"):
        plot(motion, "residual")


def test_a_crowd_has_its_legend_beside() -> None:
    names = zw.coordinates(" ".join(f"x{i}" for i in range(40)))
    system = zw.System(names, kinetic=sum(dot(x) ** 2 for x in names) / 2)
    motion = zw.simulate(system, {x: i for i, x in enumerate(names)} | {dot(x): 0 for x in names}, until=1, samples=3)
    figure = plot(motion, "q")
    ax = figure.axes[0]
    assert len(ax.lines) == 40
    assert len({line.get_color() for line in ax.lines}) == 40
    assert len(ax.get_legend().get_texts()) == 24
    assert ax.get_legend().get_title().get_text() == "and 16 more"
    figure.savefig(BytesIO(), format="png")
    box = ax.get_legend().get_window_extent()
    assert box.x0 >= ax.bbox.x1 - 1
    assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize(
    ("what", "only", "words"),
    [
        (["multipliers"], [], "did you mean multiplier"),
        (["q"], ["rodd"], "did you mean rod"),
        ([("x", "z'")], [], 'nothing called "z\'"'),
        ([("x", "y", "x")], [], "pair of names"),
        (["multiplier[rodd]"], [], "nothing called 'multiplier"),
        (["drawing"], [], "nothing called 'drawing'"),
        ([3], [], "cannot be plotted"),
        (["unique"], [], "nothing called 'unique'"),
    ],
)
def test_wrong_names_are_refused(what: list[Any], only: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plot(pendulum(), *what, only=only)


def test_names_are_text_never_formulas() -> None:
    a, b = zw.coordinates("a b")
    free = zw.System((a, b), kinetic=(dot(a) ** 2 + dot(b) ** 2) / 2, constraints={r"$\frac$": a - b, "_hidden": b - a})
    motion = zw.simulate(free, {a: 0, b: 0, dot(a): 1, dot(b): 1}, until=1)
    figure = plot(motion.assign_attrs(system="$x^$"), "multiplier")
    figure.savefig(BytesIO(), format="png")
    assert len(figure.axes[0].get_legend().get_texts()) == 2


@pytest.mark.parametrize(("suffix", "head"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_figures_are_saved_and_shown_without_pyplot(suffix: str, head: bytes, tmp_path: Path) -> None:
    figure: Any = plot(pendulum(), "q")
    figure.savefig(tmp_path / f"a.{suffix}")
    assert (tmp_path / f"a.{suffix}").read_bytes().startswith(head)
    assert figure._repr_png_().startswith(b"\x89PNG")
