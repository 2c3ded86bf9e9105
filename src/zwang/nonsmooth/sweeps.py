"""Impulses nearer to the laws, from which active sets go on: sweeps from block to block, and damped Newton steps."""

import numpy as np

from zwang.arrays import Array
from zwang.nonsmooth.equations import impulses, mode_of
from zwang.nonsmooth.layout import Layout

COMPLIANCE = 1e-9  # of the mobility: how far rows give way in damped steps, so that dependent ones have an answer
MOST_DAMPED = 15  # damped steps
SHORTEST_STEP = 1e-3  # of a Newton step: a shorter one does no good
ARMIJO = 0.01  # of the fall of the residual that its slope promises, which a step must keep
HARDLY = 0.9  # of the residual before: a full step that leaves more is the last one


def swept(p: Layout, f: Array, sweeps: int) -> Array:
    """(r,) impulses after so many sweeps there and back, in which each block's are projected onto its law."""
    f, u, W = f.copy(), p.W @ f + p.c, p.W
    blocks = []
    for i in range(p.k):
        t = p.t[i, : p.tangents[i]]
        a = float(W[p.n[i], p.n[i]]) if p.has[i] else 0.0
        e = float(np.linalg.eigvalsh(W[np.ix_(t, t)])[-1]) if len(t) else 0.0
        blocks.append((int(p.n[i]), t, a, e))
    order = [*range(p.k), *reversed(range(p.k))]
    for _ in range(sweeps):
        for i in order:
            n, t, a, e = blocks[i]
            if a > 0:
                new = f[n] - u[n] / a
                new = new if p.bilateral[i] else max(p.low[i], new)
                if new != f[n]:
                    u += W[:, n] * (new - f[n])
                    f[n] = new
            if e > 0:
                new_t = friction(p, i, abs(f[n]) if p.has[i] else 0.0, f[t] - u[t] / e)
                u += W[:, t] @ (new_t - f[t])
                f[t] = new_t
    return f


def friction(p: Layout, i: int, normal: float, w: Array) -> Array:
    """The friction of block i that its law makes of w, with a normal impulse."""
    if p.known[i]:
        return np.asarray(-(p.mu[i] * normal + p.bound[i]) * p.ways[i, : len(w)])
    size = float(np.sqrt(w @ w))
    if size <= p.static[i] * normal + p.bound[i]:
        return w
    return np.asarray(w * ((p.mu[i] * normal + p.bound[i]) / size))


def damped(p: Layout, f: Array) -> Array | None:
    """(r,) impulses after Newton steps on the natural map, no longer than they do good; None if a mode has none."""
    u = p.W @ f + p.c
    left = float(np.linalg.norm(p.left(f, u) * p.s))
    for _ in range(MOST_DAMPED):
        y = impulses(p, mode_of(p, f, u), f, u, COMPLIANCE)
        if y is None:
            return None
        length = 1.0
        while True:
            new = f + length * (y - f)
            speeds = p.W @ new + p.c
            after = float(np.linalg.norm(p.left(new, speeds) * p.s))
            if after <= (1 - ARMIJO * length) * left or length < SHORTEST_STEP:
                break
            length /= 2
        f, u, before, left = new, speeds, left, after
        if (length == 1.0 and after > HARDLY * before) or after <= COMPLIANCE * np.abs(p.c).max(initial=0.0):
            break
    return f
