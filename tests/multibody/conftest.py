"""What a mechanism in maximal coordinates looks like in the joint coordinates of the file that it was read from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import multibody as mb
from zwang.evaluation import matrices
from zwang.multibody.readers.tree import SIZES, advance, read_values, reference, slots_of


@dataclass(frozen=True)
class Minimal:
    """M θ̈ + bias = passive, in joint coordinates; and how well the rates obey the joints."""

    M: Any
    effort: Any  # passive − bias
    residual: float
    loops: Any  # the rows of the loops, along the joint rates


def joint_rates(imported: mb.Imported) -> list[sp.Expr]:
    """The rates of the file's joints as expressions in the mechanism's own coordinates and rates."""
    skeleton, held = imported.skeleton, {s.name: h for h in imported.held for s in h.slots}
    found: list[sp.Expr] = []
    for i, link in enumerate(skeleton.links):
        for s in link.slots:
            pose = skeleton.body(i).pose(3)
            if s.kind in ("hinge", "slide"):
                h = held[s.name]
                found.append(h.joint.freedoms[h.freedom(s)].rate)
                continue
            above = skeleton.body(link.parent).pose(3)
            if s.kind == "free":
                found += pose.point_velocity(tuple(map(sp.Float, skeleton.point(i, (0, 0, 0)))))
            found += pose.local_direction(tuple(b - a for a, b in zip(above.spin, pose.spin, strict=True)))
    return found


def to_minimal(imported: mb.Imported, loops: Sequence[str] = ()) -> Callable[[dict, dict], Minimal]:
    """A function of joint values and rates that projects M, Q, A, b onto the joint coordinates of the tree.

    `loops` name the conditions that close the tree to loops. With r = J(q) q̇ the joint rates:
    [A; J] S = [0; I], and the acceleration at θ̈ = 0 is [A; J] q̈ = [b; −J̇ q̇].
    """
    system = imported.mechanism.system
    q, v = system.coordinates, system.velocities
    plain = {x: sp.Symbol(f"s{i}") for i, x in enumerate([*v, *q])}
    r = [sp.sympify(e).xreplace(plain) for e in joint_rates(imported)]
    qs, vs = [plain[x] for x in q], [plain[x] for x in v]
    J = sp.lambdify([qs, vs], [[e.diff(w) for w in vs] for e in r])
    turning = sp.lambdify([qs, vs], [sum(e.diff(x) * w for x, w in zip(qs, vs, strict=True)) for e in r])

    def minimal(values: dict[str, Any], rates: dict[str, Any]) -> Minimal:
        state = imported.start(values, rates)
        now, *_ = matrices(system, state, 0.0, None)
        x = np.array([state[c] for c in (*q, *v)])
        x, speed = x[: len(q)], x[len(q) :]
        rows = np.vstack([now.A[~closing], np.array(J(x, speed), dtype=float)])
        m, k = len(rows) - len(r), len(r)
        S = np.linalg.lstsq(rows, np.vstack([np.zeros((m, k)), np.eye(k)]), rcond=1e-12)[0]
        theta = np.concatenate([np.atleast_1d(rates.get(n, np.zeros(SIZES[s.kind][1]))) for n, s in slots.items()])
        right = np.concatenate([now.b[~closing], -np.array(turning(x, speed), dtype=float)])
        a = np.linalg.lstsq(rows, right, rcond=1e-12)[0]
        residual = max(np.abs(rows @ S - np.eye(m + k)[:, m:]).max(), np.abs(S @ theta - speed).max())
        return Minimal(S.T @ now.M @ S, S.T @ (now.Q + now.C - now.M @ a), float(residual), now.A[closing] @ S)

    slots = slots_of(imported.skeleton.links)
    closing = np.array([name.rsplit(".", 1)[0] in loops for name in system.constraint_names])
    return minimal


@pytest.fixture
def minimal() -> Callable[[mb.Imported], Callable[[dict, dict], Minimal]]:
    """How to bring a mechanism to joint coordinates."""
    return to_minimal


def accelerations(imported: mb.Imported, values: dict[str, Any], rates: dict[str, Any]) -> dict[str, Any]:
    """The joints' accelerations where all of them have values and rates: q̈ = S θ̈ + Ṡ θ̇, S by `Imported.maximal`.

    Ṡ θ̇ is a difference of sixth order along the motion at constant rates, good to 1e-11.
    """
    links, system, step = imported.skeleton.links, imported.mechanism.system, 4e-3
    slots = slots_of(links)
    where = reference(links) | read_values(links, values, "values")
    speed = {name: np.zeros(SIZES[s.kind][1]) for name, s in slots.items()} | read_values(links, rates, "rates")
    theta = np.concatenate([speed[name] for name in slots])
    state = imported.start(values, rates)
    q = np.array([state[x] for x in system.coordinates])

    def motion(k: int) -> Any:
        found, S = imported.maximal(advance(links, where, k * step * theta))
        signs = np.ones(len(q))  # of quaternions, which have two
        for body in imported.skeleton.bodies.values():
            turn = [system.coordinates.index(x) for x in body.coordinates[3:]]
            signs[turn] = np.sign(q[turn] @ found[turn])
        return signs * (S @ theta), signs[:, None] * S

    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    drift = sum(w * (motion(k)[0] - motion(-k)[0]) for k, w in weights.items()) / step
    second = np.linalg.lstsq(motion(0)[1], zw.evaluate(system, state).acceleration - drift, rcond=None)[0]
    sizes = [SIZES[s.kind][1] for s in slots.values()]
    return dict(zip(slots, np.split(second, np.cumsum(sizes)[:-1]), strict=True))


@pytest.fixture
def joint_accelerations() -> Callable[[mb.Imported, dict, dict], dict[str, Any]]:
    """The accelerations of the joints of a file."""
    return accelerations
