"""Steps of solvers in Python: what is read off their interpolants."""

import numpy as np

from zwang.engines.steps import slopes_of


def test_slopes_are_the_derivatives_of_the_interpolated_velocities():
    """Of polynomials up to the twelfth degree, also backwards; NumPy differentiates them by itself."""
    draw = np.random.default_rng(0)
    parts = [np.polynomial.Polynomial(draw.normal(size=13), domain=[1.0, 3.0]) for _ in range(4)]  # q, q, v, v

    def piece(t):
        return np.array([part(t) for part in parts])

    times = np.linspace(1.2, 2.9, 7)
    expected = np.array([part.deriv()(times) for part in parts[2:]]).T
    for start, end in ((1.0, 3.0), (3.0, 1.0)):
        found = slopes_of(piece, start, end, times)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
