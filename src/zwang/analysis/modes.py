"""Modes of the motion beside an equilibrium or a steady motion: eigenvalues, frequencies, damping and shapes."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.analysis.large.modes import large_modes, require_rest, residual_of
from zwang.analysis.large.place import Place
from zwang.analysis.large.suits import on_springs, suited
from zwang.analysis.linear import Linear
from zwang.analysis.linearize import Asked, spaces_of
from zwang.analysis.on_constraints import require_satisfied
from zwang.analysis.samples import Samples, samples_of
from zwang.analysis.spectrum import Complex, spectrum_of
from zwang.analysis.springs import Modes, by_symmetry, largest, of_unit_mass, simplest, undisturbed
from zwang.arrays import Array
from zwang.errors import InputError
from zwang.linalg.factors import direction
from zwang.lowering.matrices import matrix_kernel
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, readings_beside, system_of
from zwang.model.values import one_number
from zwang.motion.start import to_the_last_digit
from zwang.waiting import waiting

if TYPE_CHECKING:
    import xarray as xr

ASIDE_MODE = 1e-9  # a displacement this small beside the rates of its mode is none


def modes(
    system: System | HasSystem,
    state: Any = None,
    states: Any = None,
    t: float | None = None,
    parameters: Mapping[Any, Any] | None = None,
    count: int | None = None,
) -> "xr.Dataset":
    """Eigenvalues of the motion beside an equilibrium or a steady motion, with frequency, damping and shape of each.

    Arguments are those of `linearize`. `frequency` is |λ| in radians a unit of time, `damping` −Re λ/|λ|. `shape` is
    the mode in all coordinates, of unit mass (wᴴM w = 1), its largest part real. Eigenvalues that are zero because
    there are further equilibria beside this one come first; `zeros` counts them, and the attribute `families` names the
    directions. Along a stack of parameters each mode is followed from one value to the next. `count` asks for so many
    eigenvalues only, those of least frequency, a pair counting as two: of a large system of masses on springs they are
    found by themselves, however many others there are. `plot_modes` draws them, and `mode_motion` makes a motion of
    one, to be animated.

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
    require_count(count)
    with waiting("looking for modes"):
        samples = samples_of(given, system, state, parameters, t)
        if (place := large_place(samples, states)) is not None:
            found = large_modes(place, count)
            return dataset(samples, found, place.q, 0 * place.q, {"closure": 0.0, "residual": residual_of(place)})
        spaces = spaces_of(samples, Asked(states, [], None), lambda: readings_beside(given, parameters))
        parts = [modes_of(space.linear) for space in spaces]
        stacks = [space.stacked for space in spaces]
        values, shapes, zeros, uncertain = (
            samples.joined([getattr(m, name) for m in parts], stacks)
            for name in ("values", "shapes", "zeros", "uncertain")
        )
        if samples.axis:
            order = np.array(followed(list(values)))
            values, uncertain = (np.take_along_axis(x, order, axis=1) for x in (values, uncertain))
            shapes = np.take_along_axis(shapes, order[..., None], axis=1)
    q, v = (samples.joined([getattr(s.linear.point, name) for s in spaces], stacks) for name in "qv")
    shares = {name: max(getattr(s.linear, name) for s in spaces) for name in ("closure", "residual")}
    whole = dataset(samples, Modes(values, shapes, zeros, uncertain, parts[0].families), q, v, shares)
    return whole if count is None else whole.isel(mode=slice(count))


def require_count(count: int | None) -> None:
    """Refuse a number of modes that is none."""
    if count is not None and (isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1):
        raise InputError(f"count = {count!r}: how many eigenvalues are wanted is a whole number, 1 or more")


def dataset(samples: Samples, found: Modes, q: Array, v: Array, shares: Mapping[str, float]) -> "xr.Dataset":
    """The modes over their names."""
    import xarray as xr

    over, system = samples.axis, samples.dynamics.system
    variables = {
        "eigenvalue": ((*over, "mode"), found.values, {"long_name": "eigenvalue λ"}),
        "frequency": ((*over, "mode"), np.abs(found.values), {"long_name": "frequency |λ|"}),
        "damping": ((*over, "mode"), damping(found.values), {"long_name": "damping ratio −Re λ/|λ|"}),
        "shape": ((*over, "mode", "coordinate"), found.shapes, {"long_name": "shape"}),
        "zeros": (over, found.zeros, {"long_name": "eigenvalues that are zero by structure"}),
        "uncertain": ((*over, "mode"), found.uncertain, {"long_name": "rounding of λ"}),
        "q": ((*over, "coordinate"), q, {"long_name": "coordinates"}),
        "v": ((*over, "coordinate"), v, {"long_name": "velocities"}),
    }
    coords = {
        "mode": ("mode", np.arange(found.values.shape[-1])),
        "coordinate": ("coordinate", np.asarray(system.coordinate_names, dtype=str)),
    }
    attributes = {**shares, "families": "; ".join(found.families), "system": system.name}
    return xr.Dataset(variables, coords=coords | dict(samples.along), attrs=attributes)


def large_place(samples: Samples, states: Any) -> Place | None:
    """Where a large system of masses on springs rests; None for others, which have a state space of their own.

    A state that does not obey its constraints is refused by name, and so is one that is not at rest.
    """
    dynamics, q, v = samples.one(0)
    if samples.axis or states is not None or v.any() or not suited(dynamics) or not on_springs(dynamics):
        return None
    kernel = matrix_kernel(dynamics.system, dynamics.values.inputs)
    now = kernel.sparse(dynamics.t, q, v, dynamics.values.p)
    require_satisfied(dynamics.system, now, q, v)
    q, v = to_the_last_digit(dynamics.system, kernel, dynamics.values.p, (dynamics.t, q, v), now)
    place = Place(dynamics, q)
    if place.rates_matter:
        return None
    place.require_regular()
    require_rest(place)
    return place


def modes_of(linear: Linear) -> Modes:
    """The modes beside one state, or a stack of them."""
    if undisturbed(linear.point, linear.change):
        return by_symmetry(linear.point, linear.change)
    point, n = linear.point, linear.point.q.shape[-1]
    stack, s = linear.A.shape[:-2], linear.A.shape[-1]
    spectra = [spectrum_of(A) for A in (linear.A if stack else linear.A[None])]

    def each(name: str) -> Any:
        found = np.array([getattr(one, name) for one in spectra])
        return found.reshape((*stack, *found.shape[1:]))

    values, zeros = each("values"), each("zeros")
    whole = (linear.tangent.rows.mT @ (linear.lift @ each("vectors"))).mT
    moving = largest(whole[..., :n]) > ASIDE_MODE * largest(whole[..., n:])
    shapes = np.where(moving[..., None], whole[..., :n], whole[..., n:])
    none = (np.arange(s) < zeros[..., None]) & moving
    first = (whole[0][none[0]] if stack else whole[none])[:, :n].real
    names = tuple(direction(row, point.dynamics.system.coordinate_names) for row in simplest(first))
    return Modes(values, of_unit_mass(shapes, point.now.M), zeros, each("uncertain"), names)


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
