"""Forces of a family within cones, as friction in space asks for: second-order cone programs of a few unknowns.

Conditions are z = value + slope · w with z₀ ≥ |(z₁, z₂)|, c of them; where z₁ and z₂ are zero always, that is z₀ ≥ 0. A
linear or quadratic function is made smallest along the path of centres: with the barrier −Σ log(z₀² − z₁² − z₂²), which
keeps w inside, ever less weighed against it (Nesterov and Nemirovskii's method, Newton's steps of length 1/(1 + their
decrement)).
"""

from dataclasses import dataclass, replace

import numpy as np

from zwang.arrays import EPS, Array, Indices

HARDEST = 1e3  # of the largest force: contacts that press against each other do so with no more than this
GAP = 1e-11  # of the largest force: by what a linear function may miss its least
SHARPER = 32.0  # times less the barrier weighs from step to step
CENTRED = 1e-3  # the decrement of Newton's steps at which a centre is near enough
MOST_TO_CENTRE = 60  # of Newton's, for one centre
DECIDES = 1e-6  # the multiplier, all of which add up to 1, of a condition that decides
SPLIT_WITHIN = 1e-13  # of the largest force: what is left of a refined split
MOST_REFINEMENTS = 12
STEEPEST = 1e3  # shares that change by more with forces are kept as they are
SIGNS = np.array([1.0, -1.0, -1.0])


@dataclass(frozen=True)
class Cones:
    """Conditions: values (c, 3) and slopes (c, 3, d)."""

    value: Array
    slope: Array

    def at(self, w: Array) -> Array:
        """(c, 3) what is to be in the cones."""
        return np.asarray(self.value + self.slope @ w)

    def reserve(self, w: Array) -> Array:
        """(c,) what is left of each condition."""
        z = self.at(w)
        return np.asarray(z[:, 0] - np.hypot(z[:, 1], z[:, 2]))

    def less(self, w: Array) -> "Cones":
        """The same conditions from a member on."""
        return replace(self, value=self.at(w))

    @property
    def bounded(self) -> "Cones":
        """The same, with every unknown within bounds: what is wedged has none of its own."""
        d = self.slope.shape[2]
        value, slope = np.zeros((2 * d, 3)), np.zeros((2 * d, 3, d))
        value[:, 0] = HARDEST
        slope[:, 0] = np.vstack([np.eye(d), -np.eye(d)])
        return Cones(np.concatenate([self.value, value]), np.concatenate([self.slope, slope]))


def least(cones: Cones, H: Array, f: Array, begin: Array) -> Array:
    """The least of ½yᵀHy + fᵀy within cones, from a y inside them on; for a linear function, to `GAP`."""
    y, weight, count = begin, 1.0, 2 * len(cones.value)
    while True:
        y = centred(cones, weight * H, weight * f, y)
        if count / weight <= GAP:
            return y
        weight *= SHARPER


def centred(cones: Cones, H: Array, f: Array, y: Array) -> Array:
    """The least of ½yᵀHy + fᵀy − Σ log(z₀² − z₁² − z₂²)."""
    flat = cones.slope.reshape(-1, len(y))
    for _ in range(MOST_TO_CENTRE):
        z = cones.at(y)
        Jz = z * SIGNS
        inside = (z * Jz).sum(axis=1)
        if not (inside > 0).all():
            return y
        pulled = ((Jz / inside[:, None])[:, None] @ cones.slope)[:, 0]
        gradient = H @ y + f - 2 * pulled.sum(axis=0)
        weights = (SIGNS / inside[:, None]).ravel()
        hessian = H + 4 * pulled.T @ pulled - 2 * (flat.T * weights) @ flat
        try:
            step = np.linalg.solve(hessian, -gradient)
        except np.linalg.LinAlgError:
            return y
        decrement = float(np.sqrt(max(-gradient @ step, 0.0)))
        if not decrement > CENTRED:
            return np.asarray(y + step) if decrement > 0 and cones.reserve(y + step).min() > 0 else y
        length = 1.0 if decrement < 0.25 else 1 / (1 + decrement)
        while length > EPS and not (cones.reserve(y + length * step) > 0).all():
            length /= 2  # only where rounding says so
        if not length > EPS:
            return y
        y = y + length * step
    return y


@dataclass(frozen=True)
class Roomiest:
    """The member of a family whose least reserve is largest, at most 1, that reserve, and multipliers (c,)."""

    w: Array
    reserve: float
    multipliers: Array


def roomiest(cones: Cones) -> Roomiest:
    """The member with the most in reserve: it says whether there is any within the cones, and by how much."""
    d = cones.slope.shape[2]
    if not d:
        left = cones.reserve(np.zeros(0))
        return Roomiest(np.zeros(0), float(left.min(initial=1.0)), (left == left.min(initial=1.0)).astype(float))
    all_of = cones.bounded
    count = len(all_of.value)
    slope = np.concatenate([all_of.slope, np.zeros((count, 3, 1))], axis=2)
    slope[: len(cones.value), 0, -1] = -1.0
    cap = np.zeros((1, 3, d + 1))
    cap[0, 0, -1] = -1.0
    program = Cones(np.concatenate([all_of.value, [[1.0, 0.0, 0.0]]]), np.concatenate([slope, cap]))
    begin = np.zeros(d + 1)
    begin[-1] = min(float(cones.reserve(np.zeros(d)).min()), 0.0) - 1.0
    y = least(program, np.zeros((d + 1, d + 1)), np.append(np.zeros(d), -1.0), begin)
    weights = 1 / np.maximum(program.reserve(y), SPLIT_WITHIN)
    found = Roomiest(y[:d], float(y[-1]), (weights / weights.sum())[: len(cones.value)])
    return refined(cones, found) if found.multipliers.sum() > 0.5 else found  # otherwise the cap decides


def refined(cones: Cones, found: Roomiest) -> Roomiest:
    """The same to the last digits, by Newton's method on the conditions that decide."""
    w, s = found.w, found.reserve
    which = np.flatnonzero(found.multipliers > DECIDES)
    alpha = found.multipliers[which] / found.multipliers[which].sum()
    for _ in range(MOST_REFINEMENTS):
        matrix, off = conditions_of_best(cones, w, s, which, alpha)
        step = np.linalg.lstsq(matrix, -off, rcond=1e-12)[0]
        w, s, alpha = w + step[: len(w)], s + step[len(w)], alpha + step[len(w) + 1 :]
        if np.abs(step).max() <= SPLIT_WITHIN:
            break
    better = np.isfinite(w).all() and cones.reserve(w).min() >= max(s, found.reserve) - 10 * SPLIT_WITHIN
    if not better or (alpha < -DECIDES).any():
        return found
    multipliers = np.zeros(len(cones.value))
    multipliers[which] = alpha
    return Roomiest(w, float(cones.reserve(w).min()), multipliers)


def conditions_of_best(cones: Cones, w: Array, s: float, which: Indices, alpha: Array) -> tuple[Array, Array]:
    """What makes a member the best, and how it changes with (w, s, α): Σ α ∇h = 0, Σ α = 1 and h = s of some h."""
    slope, gradient, curve = reserves(cones, w, which)
    d, k = len(w), len(which)
    matrix = np.zeros((d + 1 + k, d + 1 + k))
    matrix[:d, :d] = np.einsum("c,cij,cid,cje->de", alpha, curve, slope, slope)
    along = np.einsum("ci,cid->cd", gradient, slope)
    matrix[:d, d + 1 :], matrix[d + 1 :, :d] = along.T, along
    matrix[d, d + 1 :], matrix[d + 1 :, d] = 1.0, -1.0
    left = cones.reserve(w)[which] - s
    return matrix, np.concatenate([along.T @ alpha, [alpha.sum() - 1.0], left])


def reserves(cones: Cones, w: Array, which: Indices) -> tuple[Array, Array, Array]:
    """Of some conditions: slopes, and first and second derivatives of h = z₀ − |(z₁, z₂)| with z."""
    z, slope = cones.at(w)[which], cones.slope[which]
    length = np.hypot(z[:, 1], z[:, 2])
    way = z[:, 1:] / np.where(length > EPS, length, 1.0)[:, None]
    gradient = np.concatenate([np.ones((len(z), 1)), -way], axis=1)
    curve = np.zeros((len(z), 3, 3))
    across = np.eye(2) - way[:, :, None] * way[:, None, :]
    curve[:, 1:, 1:] = np.where(length > EPS, -1 / np.where(length > EPS, length, 1.0), 0.0)[:, None, None] * across
    return slope, gradient, curve


def changes_with(cones: Cones, of: Array, found: Roomiest) -> Array:
    """(d, p) how the member with the most in reserve changes with forces λ, values being of · λ, of (c, 3, p).

    None of it where that is not known well: then the same is added to forces as before.
    """
    d, p = len(found.w), of.shape[2]
    which = np.flatnonzero(found.multipliers > DECIDES)
    if not d or not len(which):
        return np.zeros((d, p))
    alpha = found.multipliers[which]
    matrix, _ = conditions_of_best(cones, found.w, found.reserve, which, alpha)
    slope, gradient, curve = reserves(cones, found.w, which)
    changes = np.concatenate([
        np.einsum("c,cij,cid,cjp->dp", alpha, curve, slope, of[which]), np.zeros((1, p)),
        np.einsum("ci,cip->cp", gradient, of[which]),
    ])  # fmt: skip
    change = -np.linalg.lstsq(matrix, changes, rcond=1e-9)[0][:d]
    return change if np.abs(change).max(initial=0.0) <= STEEPEST else np.zeros((d, p))


def shortest_within(cones: Cones, size: Array) -> Array | None:
    """The w with the least |size · (1, w)|² within cones; None if nothing is inside. `size` is (p, 1 + d)."""
    given, along = size[:, 0], size[:, 1:]
    middle = np.asarray(-np.linalg.lstsq(along, given, rcond=None)[0])
    if cones.reserve(middle).min() >= -SPLIT_WITHIN:
        return middle
    inside = roomiest(cones)
    if not inside.reserve > 0:
        return inside.w if inside.reserve > -GAP else None
    return least(cones.bounded, along.T @ along, along.T @ given, inside.w)
