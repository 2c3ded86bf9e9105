"""Large systems: nets of 10, 20, 30 and 50 masses a side and chains, beside forty lines of SciPy.

The rival writes down M, Q, A and b of point masses on links in NumPy and solves the saddle-point system by SciPy's
sparse LU. Both sides do the same: describe the system and compute the first acceleration (set-up), then accelerations
at other states. Times are processor times, so that a busy machine troubles both sides alike.
"""

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import bmat, csc_matrix, diags
from scipy.sparse.linalg import splu

import zwang as zw

G, ROUNDS, CALLS = 9.81, 5, 20
NETS, CHAINS = (10, 20, 30, 50), (100, 1000, 10000)


def main() -> None:
    print(f"{'':14}{'n + m':>8}{'set-up':>10}{'SciPy':>10}{'one q̈':>10}{'SciPy':>10}{'ratio':>8}{'differ by':>11}")
    sizes = [int(x) for x in sys.argv[1:]]
    of_zwang(*net(9))  # kinds are on disk from here on, and imported what will be
    for side in sizes or NETS:
        compare(f"net {side} × {side}", *net(side))
    for count in () if sizes else CHAINS:
        places = np.stack([np.arange(count), np.zeros(count), np.zeros(count)], axis=1)
        compare(f"chain {count:,}", places, np.stack([np.arange(1, count), np.arange(count - 1)], axis=1))
    print(f"largest memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:,.0f} MB")


def net(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Where masses are at first, and which are linked."""
    number = np.arange(side * side).reshape(side, side)
    links = np.stack([joined(number[1:], number[:, 1:]), joined(number[:-1], number[:, :-1])], axis=1)
    return np.stack([*np.divmod(number.ravel(), side), 0 * number.ravel()], axis=1).astype(float), links


def joined(*parts: np.ndarray) -> np.ndarray:
    return np.concatenate([part.ravel() for part in parts])


def compare(name: str, places: np.ndarray, links: np.ndarray) -> None:
    """One row of the table."""
    draw = np.random.default_rng(0)
    q = places + 0.01 * draw.standard_normal(places.shape)
    v = 0.1 * draw.standard_normal(places.shape)
    ours, set_up = timed(lambda: of_zwang(places, links))
    theirs, set_up_there = timed(lambda: of_scipy(places, links))
    here = there = np.inf
    for _ in range(ROUNDS):
        here = min(here, timed(lambda: [ours(q, v) for _ in range(CALLS)])[1] / CALLS)
        there = min(there, timed(lambda: [theirs(q, v) for _ in range(3)])[1] / 3)
    differ = np.abs(ours(q, v) - theirs(q, v)).max() / np.abs(theirs(q, v)).max()
    print(
        f"{name:14}{places.size + len(links):8,}{set_up:8.2f} s{set_up_there:8.2f} s{here * 1e6:7,.0f} µs"
        f"{there * 1e6:7,.0f} µs{there / here:8.1f}{differ:11.0e}"
    )


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return run(), time.process_time() - began


def of_zwang(places: np.ndarray, links: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The system described by families, as a function of its state, called once."""
    x = zw.coordinates("x", shape=places.shape)
    a, b = zw.coordinates("a b", shape=3)
    system = zw.System(
        x,
        kinetic=zw.family((zw.dot(a) ** 2).sum() / 2, {a: x}),
        potential=zw.family(G * a[2], {a[2]: x[:, 2]}),
        constraints={"link": zw.family(((a - b) ** 2).sum() - 1, {a: x[links[:, 0]], b: x[links[:, 1]]})},
    )
    function = zw.function(system)

    def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.asarray(function(0.0, q.ravel(), v.ravel()))

    acceleration(places, 0 * places)
    return acceleration


def of_scipy(places: np.ndarray, links: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The same in NumPy, with a sparse LU of the saddle-point matrix."""
    n, m = places.size, len(links)
    i, j = links.T
    row = np.repeat(np.arange(m), 3)
    columns = [(3 * k[:, None] + np.arange(3)).ravel() for k in (i, j)]
    M, Q = diags(np.ones(n)), np.tile([0.0, 0.0, -G], len(places))

    def acceleration(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        d, rate = q[i] - q[j], v[i] - v[j]
        entries = (2 * d).ravel()
        A = csc_matrix((np.concatenate([entries, -entries]), (np.tile(row, 2), np.concatenate(columns))), (m, n))
        K = bmat([[M, A.T], [A, None]], format="csc")
        return np.asarray(splu(K).solve(np.concatenate([Q, -2 * (rate**2).sum(axis=1)]))[:n])

    acceleration(places, 0 * places)
    return acceleration


if __name__ == "__main__":
    main()
