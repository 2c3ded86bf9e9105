"""A stack of 10,000 constrained systems: `zwang.solve` beside the textbook formula in a Python loop.

The loop computes q̈ = a + M^{-1/2}(AM^{-1/2})⁺(b − Aa) with scipy.linalg.sqrtm and scipy.linalg.pinv, system by
system, and nothing else. zwang computes q̈ and also forces, multipliers with their null space, the Gaussian, ranks
and residuals. A third way, the same formula on the whole stack with NumPy's batched eigh and pinv, is shown for
comparison. Then the accuracy of all three on badly conditioned systems with redundant rows, against 60 digits.
"""

import time
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
from scipy.linalg import inv, pinv, sqrtm

import zwang as zw

SYSTEMS, N, ROWS = 10_000, 7, 6
ROUNDS = 4
DIGITS = 60
CONDITION, HARD_SYSTEMS = 1e8, 20


def main() -> None:
    stack = random_stack(np.random.default_rng(0))
    solution, accelerations = zw.solve(*stack), textbook_loop(*stack)
    ours = theirs = batched = np.inf
    for _ in range(ROUNDS):  # in turn, so that a busy machine troubles all of them alike
        ours = min(ours, shortest(5, lambda: zw.solve(*stack)))
        theirs = min(theirs, shortest(1, lambda: textbook_loop(*stack)))
        batched = min(batched, shortest(5, lambda: textbook_batched(*stack)))
    scale = np.abs(accelerations).max(axis=1)
    difference = (np.abs(solution.acceleration - accelerations).max(axis=1) / scale).max()

    print(f"{SYSTEMS:,} systems, n = {N}, m = {ROWS}")
    row("zwang.solve: everything", f"{ours * 1e3:,.0f} ms")
    row("loop over sqrtm and pinv: accelerations only", f"{theirs * 1e3:,.0f} ms")
    row("NumPy's batched eigh and pinv: the same", f"{batched * 1e3:,.0f} ms")
    row("ratio of the loop to zwang", f"{theirs / ours:,.1f}")
    row("largest relative difference", f"{difference:.0e}")

    draw = np.random.default_rng(1)
    systems = [redundant_system(draw) for _ in range(HARD_SYSTEMS)]
    exact = [reference(*system) for system in systems]

    def worst(method: Callable[..., np.ndarray]) -> str:
        found = [method(*system) for system in systems]
        error = max(np.abs(x - y).max() / np.abs(y).max() for x, y in zip(found, exact, strict=True))
        return f"{error:.0e}" if error else "0"

    print(f"\n{HARD_SYSTEMS} systems with κ(M) = {CONDITION:.0e}, every row twice: largest relative error")
    row("zwang.solve", worst(lambda *system: zw.solve(*system).acceleration))
    row("sqrtm and pinv", worst(textbook))
    row("eigh and pinv", worst(textbook_batched))


def random_stack(draw: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Well-conditioned systems with independent rows: the case that favours the plain formula."""
    X = draw.standard_normal((SYSTEMS, N, N))
    M = X @ X.swapaxes(1, 2) + N * np.eye(N)
    A = draw.standard_normal((SYSTEMS, ROWS, N))
    return M, draw.standard_normal((SYSTEMS, N)), A, draw.standard_normal((SYSTEMS, ROWS))


def textbook(M: np.ndarray, Q: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The fundamental equation as it is printed (Udwadia and Kalaba 1992)."""
    minus_half = inv(sqrtm(M))
    a = np.linalg.solve(M, Q)
    return a + minus_half @ (pinv(A @ minus_half) @ (b - A @ a))


def textbook_loop(*stack: np.ndarray) -> np.ndarray:
    return np.array([textbook(*system) for system in zip(*stack, strict=True)])


def textbook_batched(M: np.ndarray, Q: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same for a whole stack at once."""
    w, V = np.linalg.eigh(M)
    minus_half = (V / np.sqrt(w)[..., None, :]) @ V.swapaxes(-1, -2)
    a = np.linalg.solve(M, Q[..., None])
    inverse = np.linalg.pinv(A @ minus_half)
    return (a + minus_half @ (inverse @ (b[..., None] - A @ a)))[..., 0]


def redundant_system(draw: np.random.Generator) -> tuple[np.ndarray, ...]:
    """A system whose rows come twice, the second time doubled: redundant to the last bit, and consistent."""
    V = np.linalg.qr(draw.standard_normal((N, N)))[0]
    M = (V * np.geomspace(1, 1 / CONDITION, N)) @ V.T
    M = (M + M.T) / 2
    G, h = draw.standard_normal((ROWS // 2, N)), draw.standard_normal(ROWS // 2)
    return M, draw.standard_normal(N), np.concatenate([G, 2 * G]), np.concatenate([h, 2 * h])


def reference(M: np.ndarray, Q: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Lagrange's equations with the independent rows, solved with 60 digits and rounded once."""
    G, h = A[: len(A) // 2], b[: len(b) // 2]
    n, r = len(M), len(G)
    with mp.workdps(DIGITS):
        matrix = mp.zeros(n + r)
        matrix[:n, :n] = mp.matrix(M.tolist())
        matrix[:n, n:] = -mp.matrix(G.T.tolist())
        matrix[n:, :n] = mp.matrix(G.tolist())
        solved = mp.lu_solve(matrix, mp.matrix([*Q.tolist(), *h.tolist()]))
        return np.array([float(solved[i]) for i in range(n)])


def shortest(repeats: int, work: Callable[[], Any]) -> float:
    """The time of the shortest of several runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def row(what: str, figure: str) -> None:
    print(f"  {what:<46}{figure:>12}")


if __name__ == "__main__":
    main()
