"""Andrews' squeezing mechanism as a `zwang.System`: seven planar bodies, 7 coordinates, 6 constraints, 3 loops.

Origin: problem "Andrews' squeezing mechanism" of the Test Set for Initial Value Problem Solvers (CWI Amsterdam,
later University of Bari), after G. C. Andrews and M. K. Ormrod (1986), W. Schiehlen (1990) and E. Hairer and
G. Wanner, Solving Ordinary Differential Equations II. Lengths in metres, masses in kilograms, SI units throughout.
"""

import sympy as sp

import zwang as zw
from zwang import dot

COORDINATES = "beta Theta gamma Phi delta Omega epsilon"

VALUES = {
    "m1": 0.04325, "m2": 0.00365, "m3": 0.02373, "m4": 0.00706, "m5": 0.07050, "m6": 0.00706, "m7": 0.05498,
    "I1": 2.194e-6, "I2": 4.410e-7, "I3": 5.255e-6, "I4": 5.667e-7, "I5": 1.169e-5, "I6": 5.667e-7, "I7": 1.912e-5,
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072,
    "c0": 4530.0, "l0": 0.07785, "mom": 0.033,
    "d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092,
    "ss": 0.035, "sa": 0.01874, "sb": 0.01043, "sc": 0.018, "sd": 0.02,
    "ta": 0.02308, "tb": 0.00916, "u": 0.04, "ua": 0.01228, "ub": 0.00449,
    "zf": 0.02, "zt": 0.04, "fa": 0.01421,
}  # fmt: skip

# Consistent positions at rest, and the accelerations there (the other five are zero).
START = (
    -0.0617138900142764496,
    0.0,
    0.455279819163070380,
    0.222668390165885885,
    0.487364979543842550,
    -0.222668390165885885,
    1.23054744454982119,
)
ACCELERATION = (14222.4439199541139, -10666.8329399655854, 0.0, 0.0, 0.0, 0.0, 0.0)


def mechanism(mark: str = "") -> zw.System:
    """The mechanism with its motor as a force, its spring as a potential and its three loops as constraints.

    `mark` is added to all names: a mechanism with new names is new to every memory of earlier results.
    """
    q = zw.coordinates(" ".join(name + mark for name in COORDINATES.split()))
    p = dict(zip(VALUES, zw.parameters(" ".join(name + mark for name in VALUES)), strict=True))
    return zw.System(
        q,
        kinetic=kinetic(q, p),
        potential=spring(q, p),
        forces={q[0]: p["mom"]},
        constraints=loops(q, p),
        parameters={p[name]: value for name, value in VALUES.items()},
        name="Andrews' squeezing mechanism",
    )


def kinetic(q: tuple, p: dict) -> sp.Expr:
    """½ vᵀMv, with M as the test set gives it."""
    _, theta, _, phi, _, omega, _ = q
    E, F = p["e"] - p["ea"], p["zf"] - p["fa"]
    m, I = ([None, *(p[f"{letter}{i}"] for i in range(1, 8))] for letter in "mI")
    rr, da, zt, u = p["rr"], p["da"], p["zt"], p["u"]
    v1, v2, v3, v4, v5, v6, v7 = map(dot, q)
    M11 = m[1] * p["ra"] ** 2 + m[2] * (rr**2 - 2 * da * rr * sp.cos(theta) + da**2) + I[1] + I[2]
    M12 = m[2] * (da**2 - da * rr * sp.cos(theta)) + I[2]
    M22 = m[2] * da**2 + I[2]
    M33 = m[3] * (p["sa"] ** 2 + p["sb"] ** 2) + I[3]
    M44 = m[4] * E**2 + I[4]
    M45 = m[4] * (E**2 + zt * E * sp.sin(phi)) + I[4]
    M55 = m[4] * (zt**2 + 2 * zt * E * sp.sin(phi) + E**2) + m[5] * (p["ta"] ** 2 + p["tb"] ** 2) + I[4] + I[5]
    M66 = m[6] * F**2 + I[6]
    M67 = m[6] * (F**2 - u * F * sp.sin(omega)) + I[6]
    M77 = m[6] * (F**2 - 2 * u * F * sp.sin(omega) + u**2) + m[7] * (p["ua"] ** 2 + p["ub"] ** 2) + I[6] + I[7]
    squares = M11 * v1**2 + M22 * v2**2 + M33 * v3**2 + M44 * v4**2 + M55 * v5**2 + M66 * v6**2 + M77 * v7**2
    return squares / 2 + M12 * v1 * v2 + M45 * v4 * v5 + M67 * v6 * v7


def spring(q: tuple, p: dict) -> sp.Expr:
    """Energy of the spring between the point (xc, yc) and the third body."""
    gamma = q[2]
    dx = p["sd"] * sp.cos(gamma) + p["sc"] * sp.sin(gamma) + p["xb"] - p["xc"]
    dy = p["sd"] * sp.sin(gamma) - p["sc"] * sp.cos(gamma) + p["yb"] - p["yc"]
    return p["c0"] * (sp.sqrt(dx**2 + dy**2) - p["l0"]) ** 2 / 2


def loops(q: tuple, p: dict) -> dict[str, sp.Expr]:
    """The three loops, closed in x and in y."""
    beta, theta, gamma, phi, delta, omega, epsilon = q
    X = p["rr"] * sp.cos(beta) - p["d"] * sp.cos(beta + theta)
    Y = p["rr"] * sp.sin(beta) - p["d"] * sp.sin(beta + theta)
    e, ss, u, zf, zt = (p[name] for name in ("e", "ss", "u", "zf", "zt"))
    return {
        "loop 1 x": X - ss * sp.sin(gamma) - p["xb"],
        "loop 1 y": Y + ss * sp.cos(gamma) - p["yb"],
        "loop 2 x": X - e * sp.sin(phi + delta) - zt * sp.cos(delta) - p["xa"],
        "loop 2 y": Y + e * sp.cos(phi + delta) - zt * sp.sin(delta) - p["ya"],
        "loop 3 x": X - zf * sp.cos(omega + epsilon) - u * sp.sin(epsilon) - p["xa"],
        "loop 3 y": Y - zf * sp.sin(omega + epsilon) + u * sp.cos(epsilon) - p["ya"],
    }
