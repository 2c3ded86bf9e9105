"""Problems with known answers, from masses and contact points alone."""

import numpy as np

from zwang.nonsmooth import Problem, box, coulomb, equal, guide, push


def rod(mu, spin=0.0, way=1.0):
    """Painlevé's rod of mass 1 and length 2 on its tip at tan θ = 2, that slides: Génot and Brogliato (1999)."""
    s, c = 2 / np.sqrt(5), 1 / np.sqrt(5)
    J = 1 / 3
    n = np.array([0.0, 1.0, -c])  # rate of the tip's height with (x, y, θ) of the center: y − sin θ
    t = np.array([1.0, 0.0, s])
    inverse = np.diag([1.0, 1.0, 1 / J])
    rows = np.array([n, t])
    free = rows @ np.array([0.0, -9.81, 0.0]) + spin**2 * np.array([s, c])
    return Problem(rows @ inverse @ rows.T, free, (coulomb(mu, way=(way,)),))


def groove(slope, mu):
    """A disc of mass 1 and radius 0.1 that lies in a V-groove with walls of a slope, by its weight."""
    a, R = np.radians(slope), 0.1
    rows = []
    for side in (1.0, -1.0):
        normal, tangent = np.array([side * np.sin(a), np.cos(a)]), np.array([np.cos(a), -side * np.sin(a)])
        rows += [[*normal, 0.0], [*tangent, R * 1.0]]
    rows = np.array(rows)
    inverse = np.diag([1.0, 1.0, 2 / R**2])
    return Problem(rows @ inverse @ rows.T, rows @ np.array([0.0, -9.81, 0.0]), (coulomb(mu), coulomb(mu)))


def table(velocity, spin, mu=0.2):
    """A table of mass 1 on four feet at (±1, ±½), that slides and turns: each foot has its known direction of slip."""
    feet = [(1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5)]
    rows, laws = [], []
    for x, y in feet:
        slip = np.array([velocity[0] - spin * y, velocity[1] + spin * x])
        d = slip / np.hypot(*slip)
        rows += [[0, 0, 1, y, -x, 0], [d[0], d[1], 0, 0, 0, x * d[1] - y * d[0]]]
        laws.append(coulomb(mu, way=(1.0,)))
    rows = np.array(rows, dtype=float)
    free = rows @ np.array([0, 0, -9.81, 0, 0, 0.0])
    return Problem(rows @ rows.T, free, tuple(laws))


def some_law(rng, tangents):
    """A law of any kind."""
    kind, mu = rng.integers(6), rng.uniform(0.1, 1.2)
    if kind == 0:
        return equal()
    if kind == 1:
        return push(rng.choice([0.0, 0.5]))
    if kind == 2:
        return guide(0.3 * mu, tangents)
    if kind == 3:
        return box(mu, tangents)
    return coulomb(mu, tangents, low=rng.choice([0.0, 0.3]))


def bodies(rng, blocks, tangents=1, coordinates=None, laws=None):
    """Blocks at random rows of a system of some coordinates; fewer coordinates than rows make rows dependent."""
    laws = tuple(some_law(rng, tangents) for _ in range(blocks)) if laws is None else laws
    r = sum(law.rows for law in laws)
    B = rng.normal(size=(r, r + 2 if coordinates is None else coordinates))
    return Problem(B @ B.T, B @ rng.normal(size=B.shape[1]), laws)
