"""Systems whose state jumps at events, with what is known of them."""

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot

theta, phi = zw.coordinates("theta phi")
slope = zw.parameters("slope")

# 45-digit Taylor series in mpmath; heyoka with variational equations agrees to 1e-13: the stable gait just after strike
GAIT = (0.20031090054424709, -0.19983247300495235)
STEP_TIME = 3.8824637528513741
TURNING = -0.190099841065888146 + 0.557598776682068269j


def walker():
    """The simplest walker (Garcia, Chatterjee, Ruina and Coleman 1998), its strike, and its gait."""
    system = zw.System(
        (theta, phi),
        kinetic=(dot(theta) ** 2 + dot(phi) ** 2) / 2,
        potential=sp.cos(theta - slope),
        forces={phi: sp.sin(theta - slope) + (dot(theta) ** 2 - sp.cos(theta - slope)) * sp.sin(phi)},
        parameters={slope: 0.009},
    )
    c = sp.cos(2 * theta)
    after = {theta: -theta, phi: -2 * theta, dot(theta): c * dot(theta), dot(phi): c * (1 - c) * dot(theta)}
    strike = zw.Event(phi - 2 * theta, "strike", direction=1, reset=after)
    angle, rate = GAIT
    rates = {dot(theta): rate, dot(phi): (1 - np.cos(2 * angle)) * rate}
    return system, strike, {theta: angle, phi: 2 * angle} | rates


def ball(height=1.0, gravity=9.81):
    """A ball above nothing: the floor is an event."""
    y = zw.coordinates("y")
    return zw.System((y,), kinetic=dot(y) ** 2 / 2, potential=gravity * y), {y: height, dot(y): 0}


def floor(restitution):
    """The ball's floor, as a reset."""
    y = zw.coordinates("y")
    return zw.Event(y, "floor", direction=-1, reset={dot(y): -restitution * dot(y)})
