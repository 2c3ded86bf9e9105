"""Andrews' squeezing mechanism: seven bodies, seven angles, six closure conditions (IVP test set)."""

import json
from pathlib import Path

import sympy as sp

import zwang as zw
from zwang import dot

DATA = json.loads((Path(__file__).parent / "andrews.json").read_text())
NAMES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")


def andrews():
    """The system, and its published start as a state."""
    values = {name: sp.Rational(text) for name, text in DATA["params"].items() if isinstance(text, str)}
    for letter in ("m", "I"):
        values |= {f"{letter}{i}": sp.Rational(text) for i, text in enumerate(DATA["params"][letter], 1)}
    symbols = {name: zw.parameters(name) for name in values}
    q = zw.coordinates(" ".join(NAMES))
    kinetic, potential, forces, constraints = describe(q, **symbols)
    system = zw.System(
        q,
        kinetic=kinetic,
        potential=potential,
        forces=forces,
        constraints=constraints,
        parameters={symbols[name]: float(value) for name, value in values.items()},
        name="Andrews' squeezing mechanism",
    )
    state = dict(zip(q, map(float, DATA["q0"]), strict=True))
    return system, state | dict(zip(map(dot, q), map(float, DATA["v0"]), strict=True))


def describe(q, *, m1, m2, m3, m4, m5, m6, m7, I1, I2, I3, I4, I5, I6, I7, xa, ya, xb, yb, xc, yc, c0, l0, d, da, e, ea,
             rr, ra, ss, sa, sb, sc, sd, ta, tb, u, ua, ub, zf, zt, fa, mom):  # fmt: skip
    """Energies, the motor's torque and the closure of the three loops."""
    beta, theta, gamma, phi, delta, omega, epsilon = q
    sin, cos = sp.sin, sp.cos
    E, F = e - ea, zf - fa
    M = sp.zeros(7, 7)
    M[0, 0] = m1 * ra**2 + m2 * (rr**2 - 2 * da * rr * cos(theta) + da**2) + I1 + I2
    M[0, 1] = M[1, 0] = m2 * (da**2 - da * rr * cos(theta)) + I2
    M[1, 1] = m2 * da**2 + I2
    M[2, 2] = m3 * (sa**2 + sb**2) + I3
    M[3, 3] = m4 * E**2 + I4
    M[3, 4] = M[4, 3] = m4 * (E**2 + zt * E * sin(phi)) + I4
    M[4, 4] = m4 * (zt**2 + 2 * zt * E * sin(phi) + E**2) + m5 * (ta**2 + tb**2) + I4 + I5
    M[5, 5] = m6 * F**2 + I6
    M[5, 6] = M[6, 5] = m6 * (F**2 - u * F * sin(omega)) + I6
    M[6, 6] = m6 * (F**2 - 2 * u * F * sin(omega) + u**2) + m7 * (ua**2 + ub**2) + I6 + I7
    v = sp.Matrix([dot(qi) for qi in q])
    spring = sp.sqrt(
        (sd * cos(gamma) + sc * sin(gamma) + xb - xc) ** 2 + (sd * sin(gamma) - sc * cos(gamma) + yb - yc) ** 2
    )
    X = rr * cos(beta) - d * cos(beta + theta)
    Y = rr * sin(beta) - d * sin(beta + theta)
    constraints = {
        "first x": X - ss * sin(gamma) - xb,
        "first y": Y + ss * cos(gamma) - yb,
        "second x": X - e * sin(phi + delta) - zt * cos(delta) - xa,
        "second y": Y + e * cos(phi + delta) - zt * sin(delta) - ya,
        "third x": X - zf * cos(omega + epsilon) - u * sin(epsilon) - xa,
        "third y": Y - zf * sin(omega + epsilon) + u * cos(epsilon) - ya,
    }
    return (v.T * M * v)[0] / 2, c0 * (spring - l0) ** 2 / 2, {beta: mom}, constraints
