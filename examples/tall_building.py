"""A tall building in an earthquake, with and without a rule that protects its soft ground floor.

The ground's acceleration comes from a table; the rule is a constraint; the force of constraint is what actuators have
to supply. Ten coordinates are no more work in Python than one.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import sympy as sp

import zwang as zw
from zwang import dot

STOREYS = 10
TABLE = Path(zw.__file__).parent / "examples" / "tall_building.csv"

u = zw.coordinates(f"u1:{STOREYS + 1}")  # displacement of each floor relative to the ground, in m
ground = zw.coordinates("ground")  # a known function of time, no coordinate
m, k, soft, c = zw.parameters("m k soft c")  # floors in t, storeys in kN/m and kN s/m

lean = [u[0], *(above - below for below, above in pairwise(u))]
stiffness = [soft, *[k] * (STOREYS - 1)]
losses = sum(c * dot(x) ** 2 / 2 for x in lean)  # Rayleigh's function


def building(constraints: dict[str, sp.Expr]) -> zw.System:
    """The building, with the rules it must follow."""
    return zw.System(
        u,
        kinetic=sum(m * dot(x) ** 2 / 2 for x in u),
        potential=sum(s * x**2 / 2 for s, x in zip(stiffness, lean, strict=True)),
        forces=[-losses.diff(dot(x)) - m * ground for x in u],
        constraints=constraints,
        parameters={m: 300, k: 6e5, soft: 3e5, c: 3e3, ground: zw.Signal.from_csv(TABLE, value="a", kind="cubic")},
        name="Tall building",
    )


def main() -> None:
    """Shake both buildings and compare."""
    rest = dict.fromkeys((*u, *map(dot, u)), 0.0)
    free = building({})
    ruled = building({"soft floor": lean[0] - lean[1]})
    print("Largest lean of a storey, in mm:")
    print("   storey             " + " ".join(f"{i:5d}" for i in range(1, STOREYS + 1)))
    for words, system in (("left to itself", free), ("following its rule", ruled)):
        motion = zw.simulate(system, rest, until=30, samples=3001)
        leaning = np.diff(motion.q.values, axis=1, prepend=0)
        print(f"   {words:18} " + " ".join(f"{1000 * x:5.1f}" for x in abs(leaning).max(axis=0)))

    force = motion.constraint_force.sel(coordinate=["u1", "u2"])
    first, second = (float(abs(f).max()) for f in force.T)
    print(f"\nThe rule takes {first:.0f} kN at the first floor and {second:.0f} kN at the second, at most.")
    print(f"It is kept to {float(abs(motion.residual).max()):.0e} m.")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main()
