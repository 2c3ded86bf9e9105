"""The rivals in the same run: the textbook way in Python, and hand-written C where gcc is there."""

import shutil
import time

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import zwang as zw
from benchmarks.peers.limit import compiled


def textbook(problem):
    """M, Q, A and b lambdified, the fundamental equation with numpy.linalg.pinv, SciPy's DOP853.

    Returns a function of the tolerance that gives (positions at the end, seconds).
    """
    equations = zw.derive(problem.system)
    q, v = problem.system.coordinates, problem.system.velocities
    plain = {c: sp.Symbol(f"q{i}") for i, c in enumerate(q)} | {r: sp.Symbol(f"v{i}") for i, r in enumerate(v)}
    symbols = [plain[c] for c in (*q, *v)]
    values = problem.system.parameters
    entries = [m.xreplace({r: plain[r] for r in v}).xreplace({c: plain[c] for c in q}).subs(values)
               for m in (equations.M, equations.Q, equations.A, equations.b)]  # fmt: skip
    matrices = sp.lambdify(symbols, entries, "numpy", cse=True)
    n = len(q)

    def slope(_, y):
        M, Q, A, b = matrices(*y)
        inverse = np.linalg.inv(M)
        a = inverse @ Q
        acceleration = a + inverse @ A.T @ np.linalg.pinv(A @ inverse @ A.T) @ (b - A @ a)
        return np.concatenate([y[n:], acceleration[:, 0]])

    start = np.array([problem.start[c] for c in (*q, *v)])

    def run(tol):
        began = time.perf_counter()
        end = solve_ivp(slope, (0, problem.until), start, method="DOP853", rtol=max(tol, 2.3e-14), atol=tol)
        return end.y[:n, -1], time.perf_counter() - began

    return run


def compiled_c(problem):
    """The shared library of the C limit for a problem, or None without gcc or without C for it."""
    if not problem.header or shutil.which("gcc") is None:
        return None
    return compiled(problem.header, *problem.defines)


def hand_written(problem):
    """As `textbook`, by hand-written C; None where there is none."""
    code = compiled_c(problem)
    if code is None:
        return None
    keys = (*problem.system.coordinates, *problem.system.velocities)
    start = np.array([problem.start[c] for c in keys])
    n = len(problem.system.coordinates)

    def run(tol):
        y = start.copy()
        began = time.perf_counter()
        code.integrate(y.ctypes.data, 0.0, problem.until, tol)
        return y[:n], time.perf_counter() - began

    return run


def native(problem):
    """As `textbook`, by zwang's native engine: the seconds are those of the integration."""

    def run(tol):
        motion = zw.simulate(problem.system, problem.start, problem.until, times=[problem.until], tol=tol,
                             method="native", progress=False)  # fmt: skip
        return motion.q.values[-1], motion.attrs["run_seconds"]

    return run
