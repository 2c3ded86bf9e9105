"""An overhead crane driven by the inputs that its load's path asks for, after Blajer and Kołodziejczyk.

The path determines everything (flatness): rope, trolley, tension and inputs follow from it by differentiation. Inputs
so found, simulated forward, must return the path.
"""

import json
from pathlib import Path

import pytest
import sympy as sp

import zwang as zw
from zwang import dot, t

REFERENCE = json.loads((Path(__file__).parents[1] / "references" / "analysis.json").read_text(encoding="utf-8"))[
    "C1 crane"
]
G = sp.Rational(981, 100)
TROLLEY, LOAD, WINCH, DRUM = 10, 100, sp.Rational(1, 10), sp.Rational(1, 10)

u = t / 3
share = 126 * u**5 - 420 * u**6 + 540 * u**7 - 315 * u**8 + 70 * u**9
ACROSS, DEPTH = 5 * share, 5 - 3 * share
PLACE = ACROSS + DEPTH * ACROSS.diff(t, 2) / (G - DEPTH.diff(t, 2))  # the trolley, where the rope points
ROPE = sp.sqrt((ACROSS - PLACE) ** 2 + DEPTH**2)
TENSION = LOAD * (G - DEPTH.diff(t, 2)) * ROPE / DEPTH
FORCE = TROLLEY * PLACE.diff(t, 2) - TENSION * (ACROSS - PLACE) / ROPE
TORQUE = WINCH * ROPE.diff(t, 2) / DRUM - TENSION * DRUM


@pytest.mark.parametrize("when", ["0.3", "0.75", "1.5"])
def test_flatness_gives_the_numbers_of_the_file(when):
    names = {"trolley s": PLACE, "rope l": ROPE, "tension": TENSION, "F": FORCE, "winch torque": TORQUE}
    for name, expression in names.items():
        expected = sp.Float(REFERENCE[f"t={when}"][name], 17)
        assert abs(expression.subs(t, sp.Rational(when)).evalf(30) - expected) < 1e-14 * abs(expected), name


def test_the_inputs_simulated_forward_return_the_path_of_the_load():
    s, l, x, z, F, M = zw.coordinates("s l x z F M")
    crane = zw.System(
        (s, l, x, z),
        kinetic=TROLLEY * dot(s) ** 2 / 2 + WINCH / DRUM**2 * dot(l) ** 2 / 2 + LOAD * (dot(x) ** 2 + dot(z) ** 2) / 2,
        potential=-LOAD * G * z,
        forces={s: F, l: M / DRUM},
        constraints={"rope": (x - s) ** 2 + z**2 - l**2},
        parameters={F: FORCE, M: TORQUE},
    )
    start = {s: 0, l: 5, x: 0, z: 5} | {dot(q): 0 for q in (s, l, x, z)}
    motion = zw.simulate(crane, start, until=3, samples=31)
    for name, path in (("x", ACROSS), ("z", DEPTH), ("s", PLACE), ("l", ROPE)):
        read = sp.lambdify(t, path)
        expected = [float(read(when)) for when in motion.time.values]
        assert motion.q.sel(coordinate=name).values == pytest.approx(expected, abs=1e-9)
