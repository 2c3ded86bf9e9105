"""Modes of the motion beside an equilibrium or a steady motion: eigenvalues, frequencies, damping and shapes."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.linear import Linear
from zwang.analysis.linearize import spaces_of
from zwang.analysis.samples import samples_of
from zwang.analysis.spectrum import Complex, spectrum_of
from zwang.analysis.stability import FLAT, conservative, generalised, holonomic, simplest
from zwang.arrays import EPS, TINIEST, Array
from zwang.linalg.factors import direction
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, system_of
from zwang.model.values import one_number
from zwang.waiting import waiting

if TYPE_CHECKING:
    import xarray as xr

GYROSCOPIC = 1e-12  # accelerations that velocities change by less than this share are not changed by them
ASIDE_MODE = 1e-9  # a displacement this small beside the rates of its mode is none


def modes(
    system: System | HasSystem,
    state: Any = None,
    states: Any = None,
    t: float | None = None,
    parameters: Mapping[Any, Any] | None = None,
) -> "xr.Dataset":
    """Eigenvalues of the motion beside an equilibrium or a steady motion, with frequency, damping and shape of each.

    Arguments are those of `linearize`. `frequency` is |λ| in radians a unit of time, `damping` −Re λ/|λ|. `shape` is
    the mode in all coordinates, of unit mass (wᴴM w = 1), its largest part real. Eigenvalues that are zero because
    there are further equilibria beside this one come first; `zeros` counts them, and the attribute `families` names the
    directions. Along a stack of parameters each mode is followed from one value to the next. `plot_modes` draws them,
    and `mode_motion` makes a motion of one, to be animated.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> k = zw.parameters("k")
    >>> pair = zw.System((x, y), kinetic=(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=(x**2 + y**2 + k*(x - y)**2)/2,
    ...                  parameters={k: 4})
    >>> found = zw.modes(pair, {x: 0, y: 0})
    >>> found.frequency.values.round(12), found.shape.values.real.round(6)
    (array([1., 1., 3., 3.]), array([[ 0.707107,  0.707107],
           [ 0.707107,  0.707107],
           [ 0.707107, -0.707107],
           [ 0.707107, -0.707107]]))
    """
    given, t = system, one_number(begin_of(system, t), "t")
    system = system_of(given, "modes", parameters)
    with waiting("looking for modes"):
        samples = samples_of(given, system, state, parameters, t)
        spaces = spaces_of(samples, states, [], None, parameters)
        found = [modes_of(space.linear) for space in spaces]
        order = followed([m.values for m in found])
        found = [m.sorted(i) for m, i in zip(found, order, strict=True)]
    import xarray as xr

    over, stacked = samples.axis, samples.stacked
    values = stacked([m.values for m in found])
    size = np.abs(values)
    variables = {
        "eigenvalue": ((*over, "mode"), values, {"long_name": "eigenvalue λ"}),
        "frequency": ((*over, "mode"), size, {"long_name": "frequency |λ|"}),
        "damping": ((*over, "mode"), damping(values), {"long_name": "damping ratio −Re λ/|λ|"}),
        "shape": ((*over, "mode", "coordinate"), stacked([m.shapes for m in found]), {"long_name": "shape"}),
        "zeros": (over, stacked([m.zeros for m in found]), {"long_name": "eigenvalues that are zero by structure"}),
        "uncertain": ((*over, "mode"), stacked([m.uncertain for m in found]), {"long_name": "rounding of λ"}),
        "q": ((*over, "coordinate"), stacked([s.linear.point.q for s in spaces]), {"long_name": "coordinates"}),
        "v": ((*over, "coordinate"), stacked([s.linear.point.v for s in spaces]), {"long_name": "velocities"}),
    }
    first = spaces[0].linear
    coords = {
        "mode": ("mode", np.arange(len(first.states.names))),
        "coordinate": ("coordinate", np.asarray(system.coordinate_names, dtype=str)),
    }
    attributes = {
        "closure": max(s.linear.closure for s in spaces),
        "residual": max(s.linear.residual for s in spaces),
        "families": "; ".join(found[0].families),
        "system": system.name,
    }
    return xr.Dataset(variables, coords=coords | dict(samples.along), attrs=attributes)


@dataclass(frozen=True, eq=False)
class Modes:
    """Eigenvalues (k,), shapes (k, n), how many are zero by structure, and in which directions those go."""

    values: Complex
    shapes: Complex
    zeros: int
    uncertain: Array
    families: tuple[str, ...]

    def sorted(self, order: Any) -> "Modes":
        """In another order."""
        return Modes(self.values[order], self.shapes[order], self.zeros, self.uncertain[order], self.families)


def modes_of(linear: Linear) -> Modes:
    """The modes beside one state."""
    point, n = linear.point, len(linear.point.q)
    if undisturbed(linear):
        return by_symmetry(linear)
    spectrum = spectrum_of(linear.A)
    whole = (linear.tangent.rows.T @ (linear.lift @ spectrum.vectors)).T
    moving = np.abs(whole[:, :n]).max(axis=1, initial=0.0) > ASIDE_MODE * np.abs(whole[:, n:]).max(axis=1, initial=0.0)
    shapes = np.where(moving[:, None], whole[:, :n], whole[:, n:])
    null = whole[: spectrum.zeros][moving[: spectrum.zeros], :n].real
    names = tuple(direction(row, point.dynamics.system.coordinate_names) for row in simplest(null))
    return Modes(spectrum.values, of_unit_mass(shapes, point.now.M), spectrum.zeros, spectrum.uncertain, names)


def undisturbed(linear: Linear) -> bool:
    """Whether the motion is that of masses on springs: at rest, conservative, holonomic, not gyroscopic."""
    point, k = linear.point, linear.tangent.positions
    if point.v.any() or not conservative(point.dynamics.system) or not holonomic(point) or len(linear.A) != 2 * k:
        return False
    by_rates = np.abs(linear.change.a[k:]).max(initial=0.0)
    return bool(by_rates <= GYROSCOPIC * np.sqrt(max(np.abs(linear.change.a[:k]).max(initial=0.0), TINIEST)))


def by_symmetry(linear: Linear) -> Modes:
    """The modes of masses on springs: real and M-orthogonal, however many share a frequency."""
    point, k = linear.point, linear.tangent.positions
    dq = linear.tangent.dq[:k]
    stiffness = -dq @ point.now.M @ linear.change.a[:k].T
    squares, vectors = generalised((stiffness + stiffness.T) / 2, dq @ point.now.M @ dq.T)
    order = np.argsort(np.abs(squares))
    squares, shapes = squares[order], (vectors.T @ dq)[order]
    flat = np.abs(squares) <= FLAT * np.abs(squares).max(initial=0.0)
    squares = np.where(flat, 0.0, squares)
    sizes = np.sqrt(np.abs(squares))
    roots = np.where(squares >= 0, 1j * sizes, -sizes + 0j)  # what decays before what grows, as elsewhere
    pairs = np.stack([roots, -roots], axis=1)
    error = 64 * k * EPS * np.abs(squares).max(initial=0.0)
    uncertain = np.where(flat, 0.0, error / np.maximum(np.abs(roots), np.sqrt(max(error, TINIEST))))
    names = tuple(direction(row, point.dynamics.system.coordinate_names) for row in simplest(shapes[flat]))
    whole = of_unit_mass(np.repeat(shapes, 2, axis=0).astype(complex), point.now.M)
    return Modes(pairs.ravel(), whole, 2 * int(flat.sum()), np.repeat(uncertain, 2), names)


def of_unit_mass(shapes: Complex, M: Array) -> Complex:
    """Shapes (k, n) with wᴴM w = 1 and a largest part that is real and positive."""
    mass = np.einsum("ki,ij,kj->k", shapes.conj(), M, shapes).real
    length = np.sqrt(np.where(mass > 0, mass, 1.0))
    weight = np.abs(shapes) * np.sqrt(np.maximum(np.diagonal(M), 0.0))
    near = weight >= (1 - 1e-6) * weight.max(axis=1, initial=0.0, keepdims=True)
    largest = shapes[np.arange(len(shapes)), near.argmax(axis=1)] if shapes.size else np.ones(len(shapes))
    phase = np.where(largest == 0, 1.0, largest) / np.where(largest == 0, 1.0, np.abs(largest))
    return np.asarray(shapes / (length * phase)[:, None] + 0.0)  # no zero has a sign


def damping(values: Complex) -> Array:
    """−Re λ/|λ|; not a number where λ is zero."""
    size = np.abs(values)
    return np.asarray(np.where(size > 0, -values.real / np.where(size > 0, size, 1.0), np.nan))


def followed(values: list[Complex]) -> list[Any]:
    """Orders in which each eigenvalue is the one nearest to where it was at the sample before."""
    from scipy.optimize import linear_sum_assignment

    orders = [np.arange(len(values[0]))]
    for before, now in pairwise(values):
        last = before[orders[-1]]
        orders.append(linear_sum_assignment(np.abs(last[:, None] - now[None, :]))[1])
    return orders
