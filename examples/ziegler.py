"""A column under a load that follows it: it does not buckle, it flutters; and a little damping makes that worse.

Ziegler's column (1952): two rods of unit length with springs at the joints, masses 2 and 1, and a load P along the
upper rod, however it turns. The load has no potential, so no energy tells: eigenvalues do. Closed forms:
P = 7/2 - sqrt(2) without damping, and P = 41/28 + c^2/2 with dampers c at both joints.
"""

import sys
from pathlib import Path

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot

a, b = zw.coordinates("a b")  # angles of the two rods from the vertical
P, c = zw.parameters("P c")
COLUMN = zw.System(
    (a, b),
    kinetic=3 * dot(a) ** 2 / 2 + dot(b) ** 2 / 2 + sp.cos(a - b) * dot(a) * dot(b),
    potential=a**2 / 2 + (b - a) ** 2 / 2,
    forces={a: P * sp.sin(a - b) - c * dot(a) + c * (dot(b) - dot(a)), b: -c * (dot(b) - dot(a))},
    parameters={P: 1, c: 0},
    name="Ziegler's column",
)
UPRIGHT = {a: 0, b: 0}


def flutter_load(damping: float) -> float:
    """The load above which the column is unstable, by halving."""
    low, high = 0.5, 3.0
    while high - low > 1e-12:
        load = (low + high) / 2
        values = zw.linearize(COLUMN, UPRIGHT, parameters={P: load, c: damping}).A.values
        grows = np.linalg.eigvals(values).real.max() > 1e-7
        low, high = (low, load) if grows else (load, high)
    return high


def main(folder: Path | None = None) -> None:
    """Verdicts below and above, the loads at which it begins, and a root locus."""
    for load in (1.9, 2.2):
        print(f"P = {load}: {zw.equilibrium(COLUMN, UPRIGHT, parameters={P: load}).verdict}")
    print(f"\nflutter without damping from P = {flutter_load(0.0):.6f} on; 7/2 - sqrt(2) = {3.5 - np.sqrt(2):.6f}")
    print(f"with dampers c = 0.1 from   P = {flutter_load(0.1):.5f} on; 41/28 + c^2/2 = {41 / 28 + 0.005:.5f}")
    if folder is not None:
        loads = np.linspace(0, 3, 301)
        picture = folder / "ziegler.png"
        zw.plot_modes(zw.modes(COLUMN, UPRIGHT, parameters={P: loads, c: 0.1})).savefig(picture)
        print(f"root locus: {picture}")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
