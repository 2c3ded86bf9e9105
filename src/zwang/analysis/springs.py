"""The motion of masses on springs beside rest: conservative and holonomic, it is real and M-orthogonal."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.analysis.dynamics import Change, Point
from zwang.analysis.spectrum import Complex
from zwang.arrays import EPS, TINIEST, Array, Indices
from zwang.linalg.factors import direction
from zwang.lowering.cache import Kept
from zwang.model import System
from zwang.model.symbols import t as time

GYROSCOPIC = 1e-12  # accelerations that velocities change by less than this share are not changed by them
FLAT = 1e-10  # curvatures of the potential below this share of the largest are zero
_CONSERVATIVE: Kept[bool] = Kept()


@dataclass(frozen=True, eq=False)
class Modes:
    """Eigenvalues (…, k), shapes (…, k, n), how many are zero by structure (…), how far they may be off for rounding.

    `families` are the directions of the zeros; of a stack those of the first.
    """

    values: Complex
    shapes: Complex
    zeros: Indices
    uncertain: Array
    families: tuple[str, ...]


def undisturbed(point: Point, change: Change) -> bool:
    """Whether the motion is that of masses on springs: at rest, conservative, holonomic, not gyroscopic."""
    k, system = point.tangent.positions, point.dynamics.system
    if point.v.any() or not conservative(system) or not holonomic(point) or change.a.shape[-2] != 2 * k:
        return False
    by_rates = largest(change.a[..., k:, :]).max(axis=-1, initial=0.0)
    by_places = largest(change.a[..., :k, :]).max(axis=-1, initial=0.0)
    return bool((by_rates <= GYROSCOPIC * np.sqrt(np.maximum(by_places, TINIEST))).all())


def by_symmetry(point: Point, change: Change) -> Modes:
    """The modes of masses on springs: real and M-orthogonal, however many share a frequency."""
    k = point.tangent.positions
    dq, M = point.tangent.dq[..., :k, :], point.now.M
    stiffness = -dq @ M @ change.a[..., :k, :].mT
    squares, vectors = generalised((stiffness + stiffness.mT) / 2, dq @ M @ dq.mT)
    order = np.argsort(np.abs(squares), axis=-1)
    squares = np.take_along_axis(squares, order, axis=-1)
    shapes = np.take_along_axis(vectors.mT @ dq, order[..., None], axis=-2)
    most = largest(squares)[..., None]
    flat = np.abs(squares) <= FLAT * most
    squares = np.where(flat, 0.0, squares)
    pairs, uncertain = pairs_of(squares, flat, 64 * k * EPS * most)
    first = shapes[0][flat[0]] if flat.ndim > 1 else shapes[flat]
    names = tuple(direction(row, point.dynamics.system.coordinate_names) for row in simplest(first))
    whole = of_unit_mass(np.repeat(shapes, 2, axis=-2).astype(complex), M)
    return Modes(pairs, whole, 2 * np.count_nonzero(flat, axis=-1), uncertain, names)


def pairs_of(squares: Array, flat: Any, error: Any) -> tuple[Complex, Array]:
    """Eigenvalues (…, 2k) from squares of frequencies (…, k) known to an error, and how far they may be off."""
    sizes = np.sqrt(np.abs(squares))
    roots = np.where(squares >= 0, 1j * sizes, -sizes + 0j)  # what decays before what grows, as elsewhere
    pairs = np.stack([roots, -roots], axis=-1).reshape(*roots.shape[:-1], 2 * squares.shape[-1])
    uncertain = np.where(flat, 0.0, error / np.maximum(np.abs(roots), np.sqrt(np.maximum(error, TINIEST))))
    return np.asarray(pairs + 0j), np.repeat(uncertain, 2, axis=-1)


def of_unit_mass(shapes: Complex, M: Array) -> Complex:
    """Shapes (…, k, n) with wᴴM w = 1 and a largest part that is real and positive."""
    mass = np.einsum("...ki,...ij,...kj->...k", shapes.conj(), M, shapes, optimize=True).real
    length = np.sqrt(np.where(mass > 0, mass, 1.0))
    phase = phase_of(shapes, np.einsum("...ii->...i", M))
    return np.asarray(shapes / (length * phase)[..., None] + 0.0)  # no zero has a sign


def phase_of(shapes: Any, masses: Array) -> Any:
    """(…, k) the phase of the part of shapes (…, k, n) that is largest by mass, the first one of equals."""
    weight = np.abs(shapes) * np.sqrt(np.maximum(masses, 0.0))[..., None, :]
    near = weight >= (1 - 1e-6) * weight.max(axis=-1, initial=0.0, keepdims=True)
    part = np.take_along_axis(shapes, near.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    return np.where(part == 0, 1.0, part) / np.where(part == 0, 1.0, np.abs(part))


def largest(x: Any) -> Array:
    """The largest size along the last axis."""
    return np.asarray(np.abs(x).max(axis=-1, initial=0.0))


def generalised(K: Array, mass: Array) -> tuple[Array, Array]:
    """Eigenvalues (…, k) of K x = ω² M x, ascending, with their vectors (…, k, k); M positive definite."""
    if not K.shape[-1]:
        return np.zeros(K.shape[:-1]), np.zeros(K.shape)
    L = np.linalg.cholesky(mass)
    half = np.linalg.solve(L, np.linalg.solve(L, K).mT)
    values, vectors = np.linalg.eigh((half + half.mT) / 2)
    return np.asarray(values), np.asarray(np.linalg.solve(L.mT, vectors))


def conservative(system: System) -> bool:
    """Whether all forces come from energies, or from a potential of their own: of positions only, ∂Fᵢ/∂qⱼ = ∂Fⱼ/∂qᵢ."""
    if system.kinetic is None or any(f != 0 for f in system.nonideal):
        return False
    return _CONSERVATIVE.get(system.structure, lambda: from_potential(system))


def from_potential(system: System) -> bool:
    """The same of its forces."""
    coordinates = {q: sp.Dummy() for q in system.coordinates}
    forces = {coordinates[q]: f.xreplace(coordinates) for q, f in zip(system.coordinates, system.forces, strict=True)}
    acting = {q: f for q, f in forces.items() if f != 0}
    if any(f.atoms(AppliedUndef, sp.Derivative) or time in f.free_symbols for f in acting.values()):
        return False
    pairs = [(q, r) for q, f in acting.items() for r in f.free_symbols & forces.keys() if r != q]
    return all(sp.expand(forces[q].diff(r) - forces[r].diff(q)) == 0 for q, r in pairs)


def holonomic(point: Point) -> bool:
    """Whether all constraints are on positions."""
    return bool((point.dynamics.order == 0).all())


def simplest(rows: Array) -> Array:
    """The same span in echelon form, so that each direction moves as few things as possible; zero ones left out."""
    rows, done = rows.copy(), 0
    size = np.abs(rows).max(initial=0.0)
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        pivot = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[pivot, column]) <= 1e-9 * size:
            continue
        rows[[done, pivot]] = rows[[pivot, done]]
        rows[done] /= rows[done, column]
        others = [i for i in range(len(rows)) if i != done]
        rows[others] -= np.outer(rows[others, column], rows[done])
        done += 1
    return np.asarray(rows[:done])
