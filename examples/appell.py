"""Appell's particle with its constraint written twice: from the description to equations, verdict and forces.

A particle under gravity must keep its vertical speed equal to its horizontal speed, ż² = ẋ² + ẏ². The rule is
nonlinear in the velocities and stands here twice, as in Udwadia's "unified approach" (1996).
"""

import sys
import textwrap
import unicodedata
from typing import Any

import numpy as np
import sympy as sp
from sympy.physics.vector import vpprint

import zwang as zw
from zwang import dot

WIDTH = 92
FORMS = ("fundamental", "generalized-inverse", "gauss", "gibbs-appell", "lagrange")

# 1. What the system is, and what it must obey.
x, y, z = zw.coordinates("x y z")
m, g = zw.parameters("m g")
cone = dot(z) ** 2 - dot(x) ** 2 - dot(y) ** 2

particle = zw.System(
    coordinates=(x, y, z),
    kinetic=m * (dot(x) ** 2 + dot(y) ** 2 + dot(z) ** 2) / 2,
    potential=m * g * z,
    constraints={"cone": cone, "twice": 2 * cone},
    parameters={m: 1.0, g: 9.81},
    name="Appell's particle",
)


def state(east: Any, north: Any, up: Any) -> dict[sp.Expr, Any]:
    """The particle at the origin with the given ẋ, ẏ, ż: numbers, or arrays for many states at once."""
    return {x: 0, y: 0, z: 0, dot(x): east, dot(y): north, dot(z): up}


def main() -> None:
    """Print the equations of motion, the verdict, the forces, and what happens at rest."""
    show_equations()
    show_verdict_and_forces(state(3, 4, 5))
    show_rest()
    show_motion()
    show_agreement()


def show_equations() -> None:
    """The same motion in two forms, and all multipliers that go with it."""
    equations = zw.derive(particle)
    acceleration = sp.Matrix([dot(dot(q)) for q in particle.coordinates])
    heading("Appell's particle: ż² = ẋ² + ẏ², and 2ż² = 2ẋ² + 2ẏ²")
    show("A q̈ = b, found by differentiating once", equation(product(equations.A, acceleration), equations.b))
    print(f"\n   {equations.assumption}")

    heading("Explicit equations of motion")
    show("Fundamental equation (Udwadia and Kalaba 1992)", equation(acceleration, equations.acceleration()))
    matrix, right = equations.gibbs_appell_system(eliminate=[x])
    show("Gibbs–Appell, ẍ eliminated (Udwadia 1996)", equation(product(matrix, acceleration[1:, :]), right))
    family = sp.MatAdd(equations.multipliers(), product(sp.Symbol("w"), equations.null_space()), evaluate=False)
    multipliers = sp.Matrix(sp.symbols("lambda_1:3"))
    show("Multipliers: the shortest λ, and all others for any w", equation(multipliers, family))


def show_verdict_and_forces(here: dict[sp.Expr, Any]) -> None:
    """What is to be said about the constraints at a state, and the numbers there."""
    heading("The verdict at (ẋ, ẏ, ż) = (3, 4, 5)")
    print(verdict(here))

    heading("The forces there (m = 1, g = 9.81)")
    now = zw.evaluate(particle, here)
    line("acceleration", "q̈", now.acceleration)
    line("force of constraint", "Q_c", now.constraint_force)
    line("power of that force", "Q_c·q̇", now.constraint_power)
    line("shortest multipliers", "λ", now.multipliers)
    line("each λ unique?", "", ", ".join("yes" if unique else "no" for unique in now.unique))
    first, second = now.multipliers
    line("what is unique", "λ₁ + 2λ₂", first + 2 * second)


def show_rest() -> None:
    """At rest A is zero: the verdict warns, and the numbers show why."""
    heading("At rest")
    print(verdict(state(0, 0, 0)))
    print()
    for slow in (1.0, 1e-3, 1e-6, 1e-9, 0.0):
        falling = zw.evaluate(particle, state(3 * slow, 4 * slow, 5 * slow)).acceleration[2]
        line(f"ż = {5 * slow:g}", "z̈", falling)


def show_motion() -> None:
    """The particle rises, comes to rest for an instant, a singular position, and falls back."""
    heading("The motion, through rest")
    motion = zw.simulate(particle, state(3, 4, 5), until=1.5, samples=4)
    for time, z in zip(motion.time.values, motion.q.sel(coordinate="z").values, strict=True):
        line(f"t = {time:g}", "z", f"{z:.9f}   exact {5 * time - 9.81 * time**2 / 4:.9f}")
    print(indented(textwrap.fill(motion.attrs["message"], WIDTH)))


def show_agreement() -> None:
    """All five forms at a thousand states at once."""
    draw = np.random.default_rng(0)
    angle, speed = draw.uniform(0, 2 * np.pi, 1000), draw.uniform(0.1, 10, 1000)
    many = state(speed * np.cos(angle), speed * np.sin(angle), speed)
    results = [zw.evaluate(particle, many, form=form).acceleration for form in FORMS]
    difference = np.ptp(results, axis=0).max()
    heading("Agreement")
    print(f"   All five forms of the equations agree: largest difference {difference:.0e} over 1,000 states")


def heading(text: str) -> None:
    """A line that starts a section, bold in a terminal."""
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print(f"\n{bold}── {text} {'─' * (WIDTH - len(text))}{plain}")


def show(caption: str, what: sp.Basic) -> None:
    """A caption and an equation below it."""
    print(f"\n   {caption}\n")
    drawn = vpprint(what, use_unicode=True, wrap_line=False)
    print(indented(unicodedata.normalize("NFC", drawn), 6))


def line(caption: str, symbol: str, value: object) -> None:
    """One result, aligned with the others."""
    if isinstance(value, np.ndarray):
        value = "(" + ", ".join(f"{v:.6g}" for v in value) + ")"
    elif isinstance(value, float):
        value = f"{round(value, 12):.6g}"
    width = 9 + sum(unicodedata.combining(c) > 0 for c in symbol)  # dots above letters take no room
    print(f"   {caption:<22} {symbol:>{width}}{' = ' if symbol else '   '}{value}")


def verdict(here: dict[sp.Expr, Any]) -> str:
    """The verdict in words, long sentences broken."""
    rows = str(zw.diagnose(particle, here)).split("\n")
    return "\n".join(indented(textwrap.fill(row, WIDTH)) if row and row[0] != " " else indented(row) for row in rows)


def equation(left: sp.Basic, right: sp.Basic) -> sp.Basic:
    """left = right, as it stands."""
    return sp.Eq(left, right, evaluate=False)


def product(left: sp.Basic, right: sp.Basic) -> sp.Basic:
    """left · right, not multiplied out."""
    return sp.MatMul(left, right, evaluate=False)


def indented(text: str, width: int = 3) -> str:
    """Text moved to the right."""
    return "\n".join((" " * width + row).rstrip() for row in text.rstrip().split("\n"))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # for terminals that are not set to it
    main()
