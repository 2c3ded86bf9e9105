"""Frequency response of a linear system: what an input that oscillates makes of the outputs."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from zwang.arrays import TINIEST, Array
from zwang.errors import InputError
from zwang.words import listed

if TYPE_CHECKING:
    import xarray as xr

POINTS_A_DECADE = 100
DECADES_BESIDE = 1.0  # below the lowest frequency of a system and above its highest one
SLOWEST = 1e-9  # eigenvalues below this share of the largest set no scale


def frequency_response(lin: "xr.Dataset", frequencies: ArrayLike | None = None) -> "xr.Dataset":
    """The response G(iω) = C(iωI − A)⁻¹B + D of a linear system, by names, at frequencies in radians a unit of time.

    `lin` is what `linearize` gives, with inputs; without `frequencies`, they are taken from a decade below the lowest
    eigenvalue to one above the highest. `response` (frequency, output, input) is complex; `gain` is |G|, `phase` its
    angle in radians, without jumps along the frequencies. At a frequency that is an eigenvalue, the response is not
    finite.

    >>> import numpy as np, zwang as zw
    >>> x = zw.coordinates("x")
    >>> F = zw.parameters("F")
    >>> spring = zw.System((x,), kinetic=zw.dot(x)**2/2, potential=2*x**2, forces={x: F - zw.dot(x)/5},
    ...                    parameters={F: 0})
    >>> found = zw.frequency_response(zw.linearize(spring, {x: 0}, inputs=[F], outputs=[x]), [0, 2])
    >>> found.gain.values.ravel().round(9), found.phase.values.ravel().round(6)
    (array([0.25, 2.5 ]), array([ 0.      , -1.570796]))
    """
    require_linear(lin)
    grid = usual_frequencies(lin.A.values) if frequencies is None else frequencies_of(frequencies)
    A, B, C, D = (np.asarray(lin[name].values) for name in "ABCD")
    response = np.empty((len(grid), *D.shape), dtype=complex)
    for i, w in enumerate(grid):
        try:
            response[i] = C @ np.linalg.solve(1j * w * np.eye(len(A)) - A, B) + D
        except np.linalg.LinAlgError:
            response[i] = np.nan
    import xarray as xr

    over = ("frequency", "output", "input")
    return xr.Dataset(
        {
            "response": (over, response, {"long_name": "response G(iω)"}),
            "gain": (over, np.abs(response), {"long_name": "gain |G|"}),
            "phase": (over, unwrapped(np.angle(response)), {"long_name": "phase of G"}),
        },
        coords={
            "frequency": ("frequency", grid, {"long_name": "frequency ω"}),
            "output": lin.output.values,
            "input": lin.input.values,
        },
        attrs={"system": lin.attrs.get("system", "")},
    )


def unwrapped(phase: Array) -> Array:
    """Phases without jumps along the first axis; gaps stay gaps."""
    told = np.isfinite(phase)
    kept = np.where(told, phase, 0.0)
    return np.where(told, np.unwrap(kept, axis=0), np.nan)


def require_linear(lin: Any) -> None:
    """Refuse what is not one linear system with inputs."""
    missing = [name for name in "ABCD" if name not in getattr(lin, "variables", ())]
    if missing:
        raise InputError(f"this takes what zwang.linearize gives; here {listed(missing)} is missing")
    if stack := [str(name) for name in lin.A.dims if name not in ("state", "state_")]:
        raise InputError(f"this is a stack along {listed(stack)}: choose one, as in lin.isel({stack[0]}=0)")
    if not lin.sizes["input"]:
        raise InputError("this linear system has no inputs to respond to: name some, linearize(…, inputs=[F])")


def frequencies_of(given: ArrayLike) -> Array:
    """Frequencies as an array."""
    try:
        grid = np.array(given, dtype=float).ravel()
    except (TypeError, ValueError):
        raise InputError(f"frequencies = {given!r}: numbers are needed") from None
    if not len(grid) or not np.isfinite(grid).all() or (grid < 0).any():
        raise InputError("frequencies must be finite and not negative, at least one")
    return grid


def usual_frequencies(A: Array) -> Array:
    """Frequencies at which something happens, with some room on both sides; eigenvalues themselves are among them."""
    sizes = np.abs(np.linalg.eigvals(A)) if len(A) else np.zeros(0)
    sizes = sizes[sizes > SLOWEST * sizes.max(initial=TINIEST)]
    low, high = (sizes.min(), sizes.max()) if len(sizes) else (1.0, 1.0)
    begin, end = np.log10(low) - DECADES_BESIDE, np.log10(high) + DECADES_BESIDE
    grid = np.logspace(begin, end, int(np.ceil((end - begin) * POINTS_A_DECADE)) + 1)
    return np.unique(np.concatenate([grid, sizes * (1 - 1e-4), sizes * (1 + 1e-4)]))  # both sides of a resonance
