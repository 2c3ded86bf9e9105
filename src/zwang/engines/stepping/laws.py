"""The law of one contact in a step, solved exactly. Native functions.

With u the speeds that the contact would have without its own impulse x, and W what the impulse changes of them,

    0 ≤ x_N ⊥ u_N + (W x)_N ≥ 0,  |x_T| ≤ μ x_N,  and where u_T + (W x)_T = s d with s > 0, |d| = 1:  x_T = −μ x_N d.

A contact that would open is open. Otherwise it sticks, if that needs no more friction than there is, or it slides.

How far speeds and impulses are from the law is measured by the natural map of De Saxcé's form of it,
K* ∋ û = (u_N + μ|u_T|, u_T) ⊥ x ∈ K: with ρ a mobility and P the projection onto the cone, ρ|x − P(x − û/ρ)| is zero
exactly where the law holds. It is a speed.
"""

import math
from typing import Final

from zwang.arrays import EPS
from zwang.compile.restricted import native

MOST_GUESSES: Final = 60  # of the search for a direction of sliding
DEGENERATE: Final = 64 * EPS  # of the product of mobilities: rows whose determinant is smaller depend on each other


@native
def smooth(u: float, a: float) -> float:
    """The impulse of a contact without friction, whose mobility is a."""
    return -u / a if u < 0.0 and a > 0.0 else 0.0


@native
def slides(u: float, v: float, a: float, b: float, d: float, kappa: float) -> tuple[bool, float]:
    """Whether a contact in the plane slides with x_T = −κ x_N, |κ| = μ: its slip has the sign of κ; and x_N."""
    mobility = a - kappa * b
    if not mobility > 0.0:
        return False, 0.0
    x = -u / mobility
    slip = v + (b - kappa * d) * x
    return slip >= 0.0 if kappa > 0.0 else slip <= 0.0, x


@native
def rough(u: float, v: float, a: float, b: float, d: float, mu: float) -> tuple[float, float]:
    """Normal impulse and friction of a contact in the plane: speeds u and v, mobilities [[a, b], [b, d]]."""
    if not (u < 0.0 and a > 0.0):
        return 0.0, 0.0
    if not (d > 0.0 and mu > 0.0):
        return -u / a, 0.0
    determinant = a * d - b * b
    x, y = -u / a, 0.0
    if determinant > DEGENERATE * a * d:
        x, y = (v * b - u * d) / determinant, (u * b - v * a) / determinant
        if x >= 0.0 and abs(y) <= mu * x:
            return x, y
    kappa = mu if v * a - u * b >= 0.0 else -mu  # the sign that the slip has without friction
    found, x = slides(u, v, a, b, d, kappa)
    if found:
        return x, -kappa * x
    found, x = slides(u, v, a, b, d, -kappa)
    if found:
        return x, kappa * x
    # on the border between sticking and sliding, to rounding: on the side where the slip goes
    return (-u / (a - kappa * b), kappa * u / (a - kappa * b)) if a - kappa * b > 0.0 else (-u / a, 0.0)


@native
def stiffest(p: float, q: float, r: float) -> tuple[float, float, float, float]:
    """The eigenvalues of [[p, q], [q, r]], none negative, and the direction of the larger one."""
    half, mean = 0.5 * (p - r), 0.5 * (p + r)
    apart = math.sqrt(half * half + q * q)
    large = mean + apart
    small = (p * r - q * q) / large if large > 0.0 else 0.0
    e, f = (half + apart, q) if half >= 0.0 else (q, apart - half)
    length = math.sqrt(e * e + f * f)
    if length > 0.0:
        return large, small if small > DEGENERATE * large else 0.0, e / length, f / length
    return large, small if small > DEGENERATE * large else 0.0, 1.0, 0.0


@native
def rough_in_space(
    u: float, v: float, w: float, a: float, b: float, c: float, p: float, q: float, r: float, mu: float
) -> tuple[float, float, float]:
    """The same in space: speeds u and (v, w), mobilities [[a, b, c], [b, p, q], [c, q, r]].

    Sliding is sticking with a mobility that is α larger in both directions, α = s / (μ x_N): the α at which friction
    is μ x_N is between none, where it is too large, and infinity, where it vanishes.
    """
    if not (u < 0.0 and a > 0.0):
        return 0.0, 0.0, 0.0
    p, q, r = p - b * b / a, q - b * c / a, r - c * c / a
    v, w = v - b * u / a, w - c * u / a
    large, small, e, f = stiffest(p, q, r)
    if not (large > 0.0 and mu > 0.0):
        return -u / a, 0.0, 0.0
    # along both directions, with friction −along / (large + α) and −across / (small + α); b and c along them, too
    along, across = e * v + f * w, e * w - f * v
    b, c = e * b + f * c, e * c - f * b
    across = across if small > 0.0 else 0.0
    y, z = -along / large, -across / small if small > 0.0 else 0.0
    x = -(u + b * y + c * z) / a
    if not (x >= 0.0 and math.sqrt(y * y + z * z) <= mu * x):
        low, high = 0.0, 1.0  # α = large τ / (1 − τ)
        f_low, f_high = math.sqrt(y * y + z * z) - mu * x, mu * u / a
        side = 0
        for _ in range(MOST_GUESSES):
            tau = (low * f_high - high * f_low) / (f_high - f_low)
            if not (tau > low and tau < high):
                tau = 0.5 * (low + high)
            more = large * tau / (1.0 - tau)
            y, z = -along / (large + more), -across / (small + more) if across != 0.0 else 0.0
            x = -(u + b * y + c * z) / a
            friction = math.sqrt(y * y + z * z)
            excess = friction - mu * x
            if abs(excess) <= EPS * friction or not (high - low > EPS * high):
                break
            if excess > 0.0:
                low, f_low = tau, excess
                f_high = 0.5 * f_high if side == 1 else f_high
                side = 1
            else:
                high, f_high = tau, excess
                f_low = 0.5 * f_low if side == -1 else f_low
                side = -1
        x = x if x > 0.0 else 0.0
        friction = math.sqrt(y * y + z * z)
        if friction > mu * x:
            y, z = y * (mu * x / friction), z * (mu * x / friction)
    return x, e * y - f * z, f * y + e * z


@native
def missed(u: float, v: float, w: float, x: float, y: float, z: float, rho: float, mu: float) -> float:
    """How far speeds u, (v, w) and impulses x, (y, z) of a contact are from its law, as a speed."""
    if not rho > 0.0:
        return 0.0
    normal = rho * x - u - mu * math.sqrt(v * v + w * w)
    along, across = rho * y - v, rho * z - w
    length = math.sqrt(along * along + across * across)
    if mu * length <= -normal:
        normal = along = across = 0.0
    elif length > mu * normal:
        normal = (normal + mu * length) / (1.0 + mu * mu)
        along, across = along * (mu * normal / length), across * (mu * normal / length)
    d, e, f = rho * x - normal, rho * y - along, rho * z - across
    return math.sqrt(d * d + e * e + f * f)
