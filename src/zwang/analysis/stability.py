"""The verdict on an equilibrium or a steady motion: what becomes of a small disturbance."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from zwang.analysis.dynamics import Change, Dynamics, Point, unchanged
from zwang.analysis.family import Family
from zwang.analysis.linear import CLOSED, Linear, depends_on_time
from zwang.analysis.spectrum import Spectrum, spectrum_of
from zwang.analysis.springs import FLAT, by_symmetry, conservative, generalised, holonomic, simplest
from zwang.arrays import EPS, Array
from zwang.linalg.factors import direction
from zwang.words import count, listed

SMALLEST = "stable: the potential energy is smallest here"


@dataclass(frozen=True, eq=False)
class Stability:
    """Whether a small disturbance stays small (None: not to be told at first order), and why, in words."""

    stable: bool | None
    words: str
    spectrum: Spectrum
    families: tuple[str, ...]
    """Directions in which there are further ones, in words."""


def stability(linear: Linear, family: Family, rest: bool) -> Stability:
    """The verdict from the first-order motion and the directions in which first order says nothing."""
    system = linear.point.dynamics.system
    spectrum = spectrum_of(linear.A)
    seen = family_words(linear, family.along, rest)
    if not rest and (same := linear.unmoved):
        verb = "does" if len(same) == 1 else "do"
        words = f"not to be told: {listed(same)} {verb} not change at first order here; name something else that does"
        return Stability(None, words, spectrum, seen)
    if len(family.degenerate):
        return degenerate(listed(family_words(linear, family.degenerate, rest)), spectrum, seen)
    if linear.closure > CLOSED:
        return Stability(
            None, "not to be told: what stays constant does not determine its own rates; name more", spectrum, seen
        )
    beside = beside_words(seen)
    if rest and conservative(system) and not depends_on_time(linear.point.dynamics) and holonomic(linear.point):
        return by_potential(linear.point, linear.change, spectrum, seen, beside)
    growth = spectrum.growth
    if (growth > 0).any():
        worst = int(np.argmax(growth))
        words = f"unstable: {growing(linear, spectrum, worst)}{beside}"
        return Stability(False, words, spectrum, seen)
    of_families = 2 * len(seen) if rest else len(seen)  # at rest a speed along a family stays, too
    if spectrum.zeros > of_families:
        more = count(spectrum.zeros - of_families, "eigenvalue")
        words = f"not to be told at first order: {more} zero without a family of its own{beside}"
        return Stability(None, words, spectrum, seen)
    if (growth == 0).any():
        pairs = sorted({round(float(abs(w.imag)), 9) for w, r in zip(spectrum.others, growth, strict=True) if r == 0})
        words = f"not to be told at first order: it oscillates undamped, {frequencies(pairs)}{beside}"
        return Stability(None, words, spectrum, seen)
    if not len(growth):
        if not spectrum.zeros:
            return Stability(True, f"stable: nothing can move{beside}", spectrum, seen)
        return Stability(None, f"neutral: there is no force beside it either{beside}", spectrum, seen)
    words = f"stable: disturbances die out, the slowest as exp(-{-float(growth.max()):.4g} t){beside}"
    return Stability(True, words, spectrum, seen)


def on_contacts(judged: Stability, pushing: list[str], idle: list[str], rough: list[str]) -> Stability:
    """The verdict with contacts: those that push stay closed, those that only touch may open; friction may hold."""
    held = f" with {listed(map(repr, pushing), 4)} closed" if pushing else ""
    stable, words = judged.stable, judged.words
    if idle and not (stable and words.startswith(SMALLEST)):
        touching = f"{listed(map(repr, idle), 4)} {'touches' if len(idle) == 1 else 'touch'} without pushing"
        return replace(judged, stable=None, words=f"not to be told at first order: {touching}; open, it is {words}")
    if rough and stable is not True:
        without = f"friction at {listed(map(repr, rough), 4)} may hold it; without it{held}, {words}"
        return replace(judged, stable=None, words=f"not to be told: {without}")
    verdict, _, why = words.partition(":")
    return replace(judged, words=f"{verdict}{held}:{why}" if why else f"{words}{held}")


def on_springs(point: Point, change: Change, family: Family) -> Stability:
    """The verdict on rest where masses are on springs: their modes are the spectrum."""
    modes = by_symmetry(point, change)
    nothing = np.zeros((0, len(modes.values)), dtype=complex)
    spectrum = Spectrum(modes.values, nothing, int(modes.zeros), modes.uncertain)
    seen = rest_words(point.dynamics, family.along)
    if len(family.degenerate):
        return degenerate(listed(rest_words(point.dynamics, family.degenerate)), spectrum, seen)
    return by_potential(point, change, spectrum, seen, beside_words(seen))


def degenerate(along: str, spectrum: Spectrum, seen: tuple[str, ...]) -> Stability:
    """The verdict where first order says nothing."""
    return Stability(None, degenerate_words(along), spectrum, seen)


def degenerate_words(along: str) -> str:
    """The same in words."""
    return f"not to be told at first order: along {along} forces vanish to first order, but not beyond"


def beside_words(seen: tuple[str, ...]) -> str:
    """What is said of a family."""
    return f"; it is one of a family, along {listed(seen)}" if seen else ""


def by_potential(point: Point, change: Change, spectrum: Spectrum, seen: tuple[str, ...], beside: str) -> Stability:
    """The verdict where energy is conserved: a minimum of the potential is stable (Lagrange and Dirichlet)."""
    k, M = point.tangent.positions, point.now.M
    dq = point.tangent.dq[:k]
    K = -dq @ M @ change.a[:k].T
    curvature, shapes = generalised((K + K.T) / 2, dq @ M @ dq.T)
    size = float(np.abs(curvature).max(initial=0.0))
    down = int(np.count_nonzero(curvature < -FLAT * size))
    flat = int(np.count_nonzero(np.abs(curvature) <= FLAT * size))
    growth = spectrum.growth
    if down and not (growth > 0).any():  # gyroscopic forces hold it
        words = f"not to be told at first order: not a minimum of the potential, but gyroscopic forces hold it{beside}"
        return Stability(None, words, spectrum, seen)

    def fastest() -> tuple[str, float]:
        return direction(shapes[:, 0] @ dq, point.dynamics.system.coordinate_names), float(growth.max())

    return Stability(*potential_words(k, down, flat, fastest, beside), spectrum, seen)


def potential_words(
    directions: int, down: int, flat: int, fastest: Callable[[], tuple[str, float]], beside: str
) -> tuple[bool | None, str]:
    """Whether rest is stable, in words: of so many directions the potential falls along some, and is flat along some.

    `fastest` says along which direction it leaves fastest, and how fast.
    """
    if not directions:
        return True, "stable: nothing can move"
    if not down and flat == directions:
        return None, f"neutral: there is no force beside it either{beside}"
    if not down:
        return True, f"{SMALLEST}{beside}"
    along, growth = fastest()
    kind = "a saddle" if down + flat < directions else "a maximum of the potential energy"
    leaves = f"it leaves in {down} of {count(directions, 'direction')}"
    return False, f"unstable: {kind}, {leaves}, fastest along {along}, as exp({growth:.4g} t){beside}"


def growing(linear: Linear, spectrum: Spectrum, worst: int) -> str:
    """How a mode grows, and where it is seen."""
    value = spectrum.others[worst]
    shape = shape_in_coordinates(linear, spectrum.vectors[:, spectrum.zeros + worst])
    n = len(linear.point.q)
    part = np.abs(shape[:n]) if np.abs(shape[:n]).max(initial=0.0) > EPS else np.abs(shape[n:])
    weight = part * linear.point.units
    names = linear.point.dynamics.system.coordinate_names
    most = [names[i] for i in np.argsort(-weight)[:3] if weight[i] > 0.3 * weight.max()]
    kind = f"oscillating at {abs(value.imag):.4g} rad/s" if value.imag else "without oscillating"
    return f"a disturbance grows as exp({value.real:.4g} t), {kind}, mostly in {listed(most)}"


def shape_in_coordinates(linear: Linear, vector: np.ndarray) -> np.ndarray:
    """(2n,) a mode in all coordinates and rates."""
    return np.asarray(linear.tangent.rows.T @ (linear.lift @ vector))


def family_words(linear: Linear, family: Array, rest: bool) -> tuple[str, ...]:
    """Directions of a family in words: of coordinates at rest, else of states that change along it."""
    if not len(family):
        return ()
    if rest:
        return rest_words(linear.point.dynamics, family)
    n = len(linear.point.q)
    nothing = unchanged(linear.point, len(family))
    moved = linear.states.along(linear.point, family[:, :n], family[:, n:], nothing)["d_reading"]
    return tuple(direction(simple, linear.states.names) for simple in simplest(moved))


def rest_words(dynamics: Dynamics, family: Array) -> tuple[str, ...]:
    """The same at rest."""
    names = dynamics.system.coordinate_names
    return tuple(direction(simple, names) for simple in simplest(family[:, : len(names)]))


def frequencies(values: list[float]) -> str:
    """Frequencies in words."""
    return f"at {listed([f'{w:.6g}' for w in values], 4)} rad/s"
