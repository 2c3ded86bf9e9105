"""Systems that several tests of this room share: a pendulum in Cartesian coordinates, an oscillator under a signal."""

import numpy as np

import zwang as zw
from zwang import dot

x, y, u = zw.coordinates("x y u")
m, g, L, k = zw.parameters("m g L k")
OMEGA = 6.0

PENDULUM = zw.System(
    (x, y),
    kinetic=m * (dot(x) ** 2 + dot(y) ** 2) / 2,
    potential=m * g * y,
    constraints={"rod": x**2 + y**2 - L**2},
    parameters={m: 1, g: 9.81, L: 1.3},
)
HANGING = {x: 0.5, y: -1.2, dot(x): 1.2, dot(y): 0.5}


def record(dt=0.1, end=4.0, kind="linear", **options):
    times = np.arange(0, end + dt / 2, dt)
    return zw.Signal(times, np.random.default_rng(11).normal(size=len(times)), kind, **options)


def oscillator(signal=None):
    return zw.System(
        (x,), kinetic=m * dot(x) ** 2 / 2, potential=m * k * x**2 / 2, forces={x: m * u},
        parameters={m: 2, k: OMEGA**2, u: signal},
    )  # fmt: skip


def closed_form(signal, at, position=0.5, velocity=0.0):
    """ẍ + ω²x = u, exactly: in each interval u is a cubic, and u/ω² − ü/ω⁴ solves the equation."""
    found = []
    for i, start in enumerate(signal.times[:-1]):
        piece = np.polynomial.Polynomial(signal.pieces[i + 1])
        special = piece / OMEGA**2 - piece.deriv(2) / OMEGA**4
        c, s = position - special(0), (velocity - special.deriv()(0)) / OMEGA

        def exact(t, special=special, c=c, s=s):
            return special(t) + c * np.cos(OMEGA * t) + s * np.sin(OMEGA * t)

        end = signal.times[i + 1]
        last = i == len(signal.times) - 2
        inside = at[(at >= start) & ((at <= end) if last else (at < end))]
        found.append(exact(inside - start))
        h = end - start
        position = exact(h)
        velocity = special.deriv()(h) + OMEGA * (s * np.cos(OMEGA * h) - c * np.sin(OMEGA * h))
    return np.concatenate(found)
