"""A wheel that rolls upright falls over when it is slow and keeps itself upright when it is fast.

The wheel is a body in space with its place, heading, lean and turn; rolling is three rows on velocities and one on
positions, of which one is redundant. The steady motion is found, and its modes tell from which speed on it is held:
for a uniform disc of radius r from v = sqrt(g r / 3) on.
"""

import sys
from pathlib import Path

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot

x, y, z, heading, lean, turn = zw.coordinates("x y z heading lean turn")
G = 9.81
AHEAD = sp.Matrix([sp.cos(heading), sp.sin(heading), 0])
ASIDE, UP = sp.Matrix([-sp.sin(heading), sp.cos(heading), 0]), sp.Matrix([0, 0, 1])
AXLE, SPOKE = sp.cos(lean) * ASIDE + sp.sin(lean) * UP, -sp.sin(lean) * ASIDE + sp.cos(lean) * UP
SLIP = sp.Matrix([dot(x), dot(y), dot(z)]) - (dot(heading) * UP + dot(lean) * AHEAD + dot(turn) * AXLE).cross(SPOKE)
WHEEL = zw.System(
    (x, y, z, heading, lean, turn),
    kinetic=(dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2
    + (dot(lean) ** 2 + (dot(heading) * sp.cos(lean)) ** 2) / 8
    + (dot(turn) + dot(heading) * sp.sin(lean)) ** 2 / 4,
    potential=G * z,
    constraints={"floor": z - sp.cos(lean), "rolls x": SLIP[0], "rolls y": SLIP[1], "rolls z": SLIP[2]},
    name="A rolling wheel",
)
STEADY = [lean, dot(lean), dot(heading), dot(turn)]


def upright(speed: float | np.ndarray) -> dict[sp.Expr, float | np.ndarray]:
    """Rolling straight ahead."""
    return dict.fromkeys(WHEEL.coordinates, 0.0) | {z: 1.0, dot(x): speed, dot(turn): speed}


def main(folder: Path | None = None) -> None:
    """Verdicts at two speeds, the critical one, a steady circle, and a root locus."""
    for speed in (1.0, 3.0):
        found = zw.steady(WHEEL, upright(speed), constant=STEADY, hold=[dot(turn)])
        print(f"v = {speed}: {found.verdict}")
    speeds = np.linspace(0, 4, 401)
    found = zw.modes(WHEEL, upright(speeds), states=STEADY)
    held = speeds[(found.eigenvalue.values.real < 1e-6).all(axis=1)]
    print(f"\nheld from v = {held[0]:.2f} on; sqrt(g r/3) = {np.sqrt(G / 3):.4f}")
    guess = upright(0.0) | {z: np.cos(0.3), lean: 0.3, dot(heading): 1.2, dot(turn): -2.2}
    circle = zw.steady(WHEEL, guess, constant=STEADY, hold=[lean, dot(heading)])
    print(f"leaning by 0.3 and turning at 1.2 rad/s it must spin at {circle.state[dot(turn)]:.9f} rad/s")
    if folder is not None:
        picture = folder / "wheel.png"
        zw.plot_modes(found).savefig(picture)
        print(f"root locus: {picture}")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
