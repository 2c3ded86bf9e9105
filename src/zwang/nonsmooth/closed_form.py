"""All solutions of one block in closed form, in Python floats: most problems are one block.

With a normal row and one tangential row the modes are linear equations in two unknowns. In space a slip that is not
known has the direction d of its own cause (de Saxcé and Feng 1998): with the normal mobility a, the coupling b, the
tangential mobility D and free speeds c,

    N = −c_N/(a − κ μ b·d)   and   d⊥ · (g − H d) = 0,   g = a c_T − c_N b,   H = κ μ (c_T bᵀ − c_N D),

which is a polynomial of degree four in z = exp(iφ), where d = (cos φ, sin φ). Its roots on the circle are all
directions there are, so that the list is complete.
"""

from collections.abc import Iterator
from math import cos, hypot, sin

import numpy as np

from zwang.arrays import EPS, Array
from zwang.nonsmooth.laws import Law
from zwang.nonsmooth.layout import FAR_FROM_DEPENDENT, OBEYS, OFF
from zwang.nonsmooth.problem import Mode, Problem, Solution
from zwang.nonsmooth.selection import without_equals, without_yielding

ON_CIRCLE = 0.1  # by which |z| of a root may differ from 1 before it is polished: what is no root misses the law
POLISHED = 6  # Newton steps on the direction of a slip, each of which doubles its digits: from 0.1 to 1e-16
DISTINCT_WAYS = 1e-9  # directions that differ by less are one
RUNG = "one block"

Candidate = tuple[bool, bool, tuple[float, float], list[float]]
"""Whether a block is closed, whether it sticks, the direction of its friction, and impulses of its rows."""


def one_block(problem: Problem) -> list[Solution] | None:
    """All solutions of a problem with one block; None if its rows depend on each other, or W is not symmetric."""
    law, W, c = problem.laws[0], problem.W.tolist(), problem.c.tolist()
    if not independent(W, law.rows) or not (problem.W == problem.W.T).all():
        return None
    if law.rows == 1:
        return [one_row(problem, law, W[0][0], c[0])]
    turns = law.tangents == 2 and not law.way
    candidates = in_space(law, problem.W, problem.c) if turns else along_a_line(law, W, c)
    found = [
        solution(problem, candidate)
        for candidate in candidates
        if candidate is not None and obeys(law, problem, candidate)
    ]
    found.sort(key=lambda one: -int(one.mode.stick[0]))
    return without_yielding(problem, without_equals(problem, found))


def independent(W: list[list[float]], rows: int) -> bool:
    """Whether all pivots of the rows of a block are far from zero."""
    a = W[0][0]
    if not a > 0:
        return False
    if rows == 1:
        return True
    b, d = W[0][1], W[1][1]
    second = d - b * b / a
    if not second > FAR_FROM_DEPENDENT * d:
        return False
    if rows == 2:
        return True
    e = W[1][2] - b * W[0][2] / a
    return W[2][2] - W[0][2] ** 2 / a - e * e / second > FAR_FROM_DEPENDENT * W[2][2]


def one_row(problem: Problem, law: Law, a: float, c: float) -> Solution:
    """The solution of a block with one row."""
    f = -c / a
    if law.normal == "bilateral":
        return solution(problem, (True, False, (0.0, 0.0), [f]))
    if law.normal == "unilateral":
        return solution(problem, (f > law.low, False, (0.0, 0.0), [max(law.low, f)]))
    stick = abs(f) <= law.bound
    sign = 0.0 if stick else 1.0 if f > 0 else -1.0
    return solution(problem, (False, stick, (sign, 0.0), [f if stick else sign * law.bound]))


def solution(problem: Problem, candidate: Candidate) -> Solution:
    """A candidate as a solution."""
    held, stick, along, impulses = candidate
    f = np.array(impulses)
    mode = Mode(np.array([held]), np.array([stick]), np.array([along]))
    return Solution(f, problem.W @ f + problem.c, mode, np.zeros(1), RUNG, 1)


def kinks(law: Law) -> tuple[float, ...]:
    """The signs that a normal impulse may have where friction follows it."""
    return (1.0, -1.0) if law.normal == "bilateral" else (1.0,)


def along_a_line(law: Law, W: list[list[float]], c: list[float]) -> Iterator[Candidate | None]:
    """Candidates of a block with one tangential row, or with a known direction of slip."""
    a, u, v = W[0][0], c[0], c[1]
    rows = range(1, law.rows)
    if not law.way:
        b, d = W[0][1], W[1][1]
        det = a * d - b * b
        if law.normal == "unilateral" and law.low > 0:
            yield False, True, (0.0, 0.0), [law.low, -(v + b * law.low) / d]
        yield True, True, (0.0, 0.0), [(v * b - u * d) / det, (u * b - v * a) / det]
    ways = [tuple(-x for x in law.way)] if law.way else [(1.0,), (-1.0,)]
    if law.normal == "unilateral":
        for way in ways if law.low > 0 else [(0.0,) * law.tangents]:
            yield False, False, plane(way), [law.low, *(law.mu * law.low * x for x in way)]
    for way in ways:
        for kink in kinks(law):
            mobility = a + kink * law.mu * sum(W[0][i] * x for i, x in zip(rows, way, strict=True))
            if abs(mobility) > FAR_FROM_DEPENDENT * a:
                N = -u / mobility
                if kink * N >= 0:
                    yield True, False, plane(way), [N, *(kink * law.mu * N * x for x in way)]


def plane(way: tuple[float, ...]) -> tuple[float, float]:
    """A direction along one or two rows as one along two."""
    return (way[0], way[1] if len(way) > 1 else 0.0)


def in_space(law: Law, W: Array, c: Array) -> Iterator[Candidate | None]:
    """Candidates of a block with two tangential rows whose direction of slip is not known."""
    n = law.rows - 2
    D, cT = W[n:, n:], c[n:]
    if not n:
        yield False, True, (0.0, 0.0), (-np.linalg.solve(W, c)).tolist()
        for d in directions(cT, law.bound * D):
            yield False, False, (-d[0], -d[1]), [-law.bound * x for x in d]
        return
    a, cN, b = float(W[0, 0]), float(c[0]), W[0, 1:]
    yield True, True, (0.0, 0.0), (-np.linalg.solve(W, c)).tolist()
    if law.normal == "unilateral":
        if law.low > 0:
            speed = cT + b * law.low
            yield False, True, (0.0, 0.0), [law.low, *(-np.linalg.solve(D, speed)).tolist()]
            for d in directions(speed, law.mu * law.low * D):
                yield False, False, (-d[0], -d[1]), [law.low, *(-law.mu * law.low * x for x in d)]
        else:
            yield False, False, (0.0, 0.0), [0.0, 0.0, 0.0]
    for kink in kinks(law):
        for d in directions(a * cT - cN * b, kink * law.mu * (np.outer(cT, b) - cN * D)):
            mobility = a - kink * law.mu * float(b[0] * d[0] + b[1] * d[1])
            if abs(mobility) > FAR_FROM_DEPENDENT * a:
                N = -cN / mobility
                if kink * N >= 0:
                    yield True, False, (-d[0], -d[1]), [N, *(-kink * law.mu * N * x for x in d)]


def directions(g: Array, H: Array) -> Iterator[tuple[float, float]]:
    """All unit vectors d with d⊥ · (g − H d) = 0.

    >>> [(round(x, 6) + 0.0, round(y, 6) + 0.0) for x, y in directions(np.array([0.0, 2.0]), np.eye(2))]
    [(0.0, 1.0), (0.0, -1.0)]
    """
    (p, q), (s, t) = H.tolist()
    x, y = g.tolist()
    size = abs(x) + abs(y) + abs(p) + abs(q) + abs(s) + abs(t)
    if not size > 0:
        return
    # y cos φ − x sin φ − s cos² φ + q sin² φ + (p − t) cos φ sin φ, by z = exp(iφ)
    C, S, constant = (-(s + q) / 2, (p - t) / 2, (q - s) / 2)
    second, first = complex(C, -S) / 2, complex(y, x) / 2
    turns = [second, first, constant, first.conjugate(), second.conjugate()]
    if abs(second) <= EPS * size:
        turns = turns[1:-1]
    seen: list[tuple[float, float]] = []
    for root in np.roots(turns).tolist():
        length = abs(root)
        if not abs(length - 1) < ON_CIRCLE:
            continue
        z = root / length
        for _ in range(POLISHED):
            w = z * z
            value = 2 * (second * w + first * z).real + constant
            slope = 2 * (2j * second * w + 1j * first * z).real
            if not abs(value) < abs(slope):
                break
            z *= complex(cos(value / slope), -sin(value / slope))
        z /= abs(z)
        if not any(hypot(z.real - x, z.imag - y) < DISTINCT_WAYS for x, y in seen):
            seen.append((z.real, z.imag))
            yield z.real, z.imag


def obeys(law: Law, problem: Problem, candidate: Candidate) -> bool:
    """Whether a candidate obeys the conditions of its mode."""
    held, stick, along, impulses = candidate
    W, c, n = problem.W, problem.c, law.rows - law.tangents
    f = np.array(impulses)
    u = (W @ f + c).tolist()
    terms = (np.abs(W) @ np.abs(f) + np.abs(c)).tolist()
    N = impulses[0] if n else 0.0
    size = OFF * (sum(map(abs, impulses)) + law.low)
    if law.normal == "unilateral" and (law.low - size > N if held else u[0] < -OFF * terms[0]):
        return False
    if stick:
        return hypot(*impulses[n:]) <= law.mu_static * abs(N) + law.bound + size
    if not law.way and (held or not n or law.low > 0):
        slip, size = u[n:], hypot(*terms[n:])
        if law.tangents == 2 and abs(slip[0] * along[1] - slip[1] * along[0]) > OBEYS * size:
            return False
        return bool(sum(x * y for x, y in zip(slip, along, strict=False)) <= OFF * size)
    return True
