"""Plots of linear systems: the points and curves are those of `modes` and of the frequency response."""

from io import BytesIO

import numpy as np
import pytest

import zwang as zw
from zwang import dot
from zwang.errors import InputError

x, y = zw.coordinates("x y")
F, c = zw.parameters("F c")
DAMPED = zw.System(
    (x, y),
    kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
    potential=2 * x**2 + (x - y) ** 2,
    forces={x: F - c * dot(x)},
    parameters={F: 0, c: 0.2},
    name="Two masses $",
)
REST = {x: 0, y: 0}


def test_eigenvalues_are_crosses_in_the_plane():
    found = zw.modes(DAMPED, REST)
    figure = zw.plot_modes(found)
    (ax,) = figure.axes
    drawn = np.concatenate([line.get_xdata() + 1j * line.get_ydata() for line in ax.lines if line.get_marker() == "x"])
    assert np.sort_complex(drawn) == pytest.approx(np.sort_complex(found.eigenvalue.values))
    assert figure.get_suptitle() == r"Two masses \$"


def test_along_a_parameter_it_is_a_root_locus():
    found = zw.modes(DAMPED, REST, parameters={c: np.linspace(0, 3, 31)})
    plane, real, imaginary = zw.plot_modes(found).axes
    assert (plane.get_xlabel(), real.get_xlabel(), imaginary.get_ylabel()) == ("Re λ", "c", "|Im λ|")
    (points,) = plane.collections
    assert len(points.get_offsets()) == 31 * 4
    drawn = np.array([line.get_ydata() for line in real.lines[1:]]).T
    assert drawn == pytest.approx(found.eigenvalue.values.real)
    states = zw.modes(DAMPED, {x: [0, 0], y: [0, 0]})
    assert zw.plot_modes(states).axes[1].get_xlabel() == "sample"


def test_responses_are_gain_and_phase_of_every_output():
    lin = zw.linearize(DAMPED, REST, inputs=[F, c], outputs=[x, y])
    figure = zw.plot_response(lin, [0.5, 1, 2, 4])
    assert [ax.get_ylabel() for ax in figure.axes] == ["gain", "phase (degrees)"] * 2
    found = zw.frequency_response(lin, [0.5, 1, 2, 4])
    for line, name in zip(figure.axes[0].lines, ("x", "y"), strict=True):
        assert line.get_label() == name
        assert line.get_ydata() == pytest.approx(found.gain.sel(output=name, input="F").values)
    figure.savefig(BytesIO(), format="svg")
    assert zw.plot_response(lin).axes[0].get_xscale() == "log"


def test_what_is_no_linear_system_is_refused():
    with pytest.raises(InputError, match=r"plot_modes takes what zwang\.modes gives"):
        zw.plot_modes(zw.linearize(DAMPED, REST))
    with pytest.raises(InputError, match="has no inputs to respond to"):
        zw.plot_response(zw.linearize(DAMPED, REST))
