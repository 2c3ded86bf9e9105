"""From Andrews' mechanism to native code, beside SymPy's LagrangesMethod, which only forms its equations.

zwang derives M, Q, A and b, compiles them and computes first numbers; SymPy forms Lagrange's equations of the same
kinetic energy, potential, motor torque and constraints and stops there. Start-up times are measured in processes
of their own.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
from andrews import ACCELERATION, START, mechanism
from sympy.core.cache import clear_cache
from sympy.physics.mechanics import LagrangesMethod, ReferenceFrame

import zwang as zw
from zwang.lowering.lowered import build_kernel
from zwang.model.values import parameter_values

REPEATS = 7
RUNS = count()

FIRST_EVALUATION = """
import zwang as zw
x, y = zw.coordinates("x y")
m, g = zw.parameters("m g")
pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
                     constraints={"rod": x**2 + y**2 - 1}, parameters={m: 1, g: 9.81})
zw.evaluate(pendulum, {x: 1, y: 0, zw.dot(x): 0, zw.dot(y): 0})
"""
START_UP = {
    "python alone": "pass",
    "import zwang": "import zwang",
    "import zwang, first evaluate (a pendulum)": FIRST_EVALUATION,
    "for comparison: its libraries imported alone": "import sympy.physics.mechanics, symengine, llvmlite.binding",
}


def main() -> None:
    described, _ = best_of(REPEATS, mechanism, before=fresh_mark)
    ours, acceleration = best_of(REPEATS, derive_and_compute, before=fresh_mechanism)
    theirs, _ = best_of(REPEATS, form_sympy_equations, before=fresh_mechanism)
    error = np.abs(acceleration - ACCELERATION).max() / np.abs(ACCELERATION).max()

    print("Andrews' squeezing mechanism, 7 coordinates, 6 constraints")
    row("zwang: describe and check the system", f"{described * 1e3:,.1f} ms")
    row("zwang: derive, compile, first numbers", f"{ours * 1e3:,.1f} ms")
    row("SymPy LagrangesMethod: form equations only", f"{theirs * 1e3:,.1f} ms")
    row("ratio", f"{theirs / ours:,.0f}")
    row("relative error of the first accelerations", f"{error:.0e}")
    print("\nStart-up, each in a process of its own")
    for what, code in START_UP.items():
        row(what, f"{in_process(code) * 1e3:,.0f} ms")


def fresh_mark() -> str:
    """A mark for names never used before, and SymPy's memory emptied."""
    clear_cache()
    return f"_{next(RUNS)}"


def fresh_mechanism() -> zw.System:
    """The mechanism with new names: neither library has seen it."""
    return mechanism(fresh_mark())


def derive_and_compute(system: zw.System) -> np.ndarray:
    """Everything from the description to the accelerations at the start."""
    kernel = build_kernel(system, {})
    p, _ = parameter_values(system, None)
    now = kernel(0.0, np.array(START), np.zeros(7), p)
    return zw.solve(now.M, now.Q, now.A, now.b).acceleration


def form_sympy_equations(system: zw.System) -> Any:
    """Lagrange's equations of the same system with multipliers, as SymPy forms them."""
    frame = ReferenceFrame("N")
    turning = ReferenceFrame("B")
    turning.set_ang_vel(frame, system.velocities[0] * frame.z)
    method = LagrangesMethod(
        system.kinetic - system.potential,
        list(system.coordinates),
        hol_coneqs=[c.expression for c in system.constraints],
        forcelist=[(turning, system.forces[0] * frame.z)],
        frame=frame,
    )
    return method.form_lagranges_equations()


def best_of(repeats: int, work: Callable[[Any], Any], before: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest of several runs, and what the last one gave; `before`, untimed, provides what a run works on."""
    times = []
    for _ in range(repeats):
        given = before()
        start = time.perf_counter()
        result = work(given)
        times.append(time.perf_counter() - start)
    return min(times), result


def in_process(code: str) -> float:
    """The shortest time that a new interpreter takes to run some code."""
    return best_of(REPEATS, lambda command: subprocess.run(command, check=True), lambda: [sys.executable, "-c", code])[
        0
    ]


def row(what: str, figure: str) -> None:
    print(f"  {what:<46}{figure:>12}")


if __name__ == "__main__":
    main()
