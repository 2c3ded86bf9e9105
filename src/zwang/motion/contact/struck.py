"""How an impact changes with what it comes from: the derivative of v⁺ = V(t, q, v; p).

As long as the same contacts take part, and each sticks or slides as it does, an impact obeys equalities,

    M (v⁺ − v) = GᵀΛ,    H (v⁺ − v) = r,

which are differentiated as they stand. H has the rows of equalities, with r = 0, those n of contacts that push, with
r = −(1 + ε)γ, and those s of slips that end, with r = −ṡ. G has the same rows, but n − μ d·s for a contact that slides:
its friction is the share μ of its normal impulse against the direction d of its slip after the impact. In space d
turns with that slip, which adds μΛ sᵀ(1 − d dᵀ)s/|ṡ⁺| to M.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se
import sympy as sp

from zwang.arrays import Array
from zwang.compile import Program
from zwang.engines.native.engine import compiled
from zwang.lowering.cache import Kept
from zwang.lowering.contact import slip_program
from zwang.lowering.directional import directional
from zwang.motion.contact.acting import independent, striking
from zwang.motion.contact.course import Course
from zwang.motion.contact.problem import Problem
from zwang.motion.contact.record import Transition
from zwang.motion.contact.resolve import solved
from zwang.motion.contact.units import balanced, mass_units
from zwang.motion.setup import Setup
from zwang.motion.start import State

SLIP_ENDS = 1e-9  # of the speeds that make up a slip: it has ended in an impact if it is no larger

_PROGRAMS: Kept[Program] = Kept()


def struck_along(
    setup: Setup, course: Course, x: Transition, pushed: Sequence[int], state: State, direction: Array
) -> Array:
    """δv⁺ of an impact in which some contacts push, along a direction in t, q, v and p."""
    t, q, v = state
    n, equal, moved = len(q), course.equal, x.after - v
    given = {"t": np.array([t]), "q": q, "v": v, "p": setup.p, "direction": direction}
    out, dp = compiled(directional(dense_of(setup), "M", "A", "rate"))(**given), direction[1 + 2 * n :]
    M, dM = out["M"], out["d_M"][0]
    H, dH = ([*m[equal], *m[pushed]] for m in (out["A"], out["d_A"][0]))
    e, laws = course.restitution[pushed], [setup.system.constraints[i].restitution for i in pushed]
    de = np.array([change_of(setup, law, dp) for law in laws])
    dr = [*np.zeros(len(equal)), *(-(1 + e) * out["d_rate"][0][pushed] - de * out["rate"][pushed])]
    G, dG = list(H), list(dH)
    rough = [i for i in pushed if setup.system.constraints[i].friction]
    turning = np.zeros((n, n))
    if rough:
        slips = compiled(directional(slips_of(setup), "A", "slip"))(**given)
        normal = {i: float(x.impulse[k]) for k, i in enumerate(course.rows)}
        for i in rough:
            places = course.rubbing.places(i) if course.rubbing else []
            s, ds, speed, change = (
                slips["A"][places],
                slips["d_A"][0][places],
                slips["slip"][places],
                slips["d_slip"][0],
            )
            after, size = speed + s @ moved, np.abs(s) @ (np.abs(v) + np.abs(x.after))
            if np.linalg.norm(after) <= SLIP_ENDS * np.linalg.norm(size):
                for rows, new in ((H, s), (dH, ds), (G, s), (dG, ds)):
                    rows.extend(new)
                dr.extend(-change[places])
                continue
            # friction follows from the normal impulse, against the slip after it; that may turn in space
            at, law, length = (
                len(equal) + pushed.index(i),
                setup.system.constraints[i].friction[1],
                np.linalg.norm(after),
            )
            way, mu = after / length, float(course.rubbing.friction[i][1]) if course.rubbing else 0.0
            turn = (np.eye(len(way)) - np.outer(way, way)) / length
            turned = turn @ (change[places] + ds @ moved)
            G[at] = G[at] - mu * way @ s
            dG[at] = dG[at] - mu * (way @ ds + turned @ s) - change_of(setup, law, dp) * way @ s
            turning += mu * normal[i] * s.T @ turn @ s
    force = np.zeros(n)
    if setup.system.reactions:
        more = nonideal_along(setup, M, np.array(H), [*equal, *pushed], x, state, direction)
        G = [row + more.by_row.get(i, 0.0) for i, row in zip((*equal, *pushed), G, strict=True)]
        G, dG = [*G, *more.columns], [*dG, *(0 * more.columns)]
        H, dH, dr, force = [*H, *more.rows], [*dH, *more.d_rows], [*dr, *more.d_right], more.force
    columns, across, d_columns, d_across = (np.array(m).reshape(len(H), n) for m in (G, H, dG, dH))
    impulses = np.linalg.lstsq(columns.T, M @ moved, rcond=None)[0]
    if setup.system.reactions:
        impulses = np.concatenate([more.impulses, np.zeros(len(H) - len(more.impulses))])
    right = np.concatenate([d_columns.T @ impulses + force - dM @ moved, np.array(dr) - d_across @ moved])
    change = balanced(M + turning, across, right, mass_units(M, out["A"][equal]), columns)[:n]
    return np.asarray(direction[1 + n : 1 + 2 * n] + change)


@dataclass(frozen=True)
class Along:
    """What nonideal forces that depend on multipliers add to the equalities of an impact, along a direction.

    Columns ∂C/∂Λ beside rows, rows and columns of switches whose arguments vanish, with what these change by, and how
    C changes while all impulses (m,) are held.
    """

    by_row: Mapping[int, Array]
    rows: Array
    columns: Array
    d_rows: Array
    d_right: Array
    force: Array
    impulses: Array


def nonideal_along(
    setup: Setup, M: Array, H: Array, held: list[int], x: Transition, state: State, direction: Array
) -> Along:
    """The impulses of such forces in an impact that is known, and how they change along a direction."""
    law = striking(setup, state)
    assert law is not None
    units, after = mass_units(M, H), x.after
    found = solved(Problem(M, M @ state[2], H, H @ after, (), tuple(held), law), ())
    assert found is not None
    left, size = law.J @ after - law.right, np.abs(law.J) @ (np.abs(after) + np.abs(state[2])) + np.abs(law.right)
    still = [k for k in law.on if abs(left[k]) <= SLIP_ENDS * size[k]]
    rest = independent(law.J / units, H / units, still)
    multipliers = dict(zip(held, found.multipliers.tolist(), strict=True))
    push = law.push(multipliers, found.shares)
    lam = np.array([multipliers.get(i, 0.0) for i in setup.system.reactions])
    d_force, d_row, d_argument = law.along(lam, law.all_shares(found.shares), direction)
    by_share = push.by_share[[law.on.index(k) for k in rest]]
    return Along(push.by_row, law.J[rest], by_share, d_row.reshape(-1, len(after))[rest], -d_argument[rest], d_force,
                 found.multipliers)  # fmt: skip


def change_of(setup: Setup, coefficient: sp.Expr, change: Array) -> float:
    """How a coefficient changes with parameters."""
    values = dict(zip(setup.symbols, setup.p, strict=True))
    parts = [(s, d) for s, d in zip(setup.symbols, change.tolist(), strict=True) if d and coefficient.has(s)]
    return float(sum(float(coefficient.diff(s).xreplace(values)) * d for s, d in parts))


def dense_of(setup: Setup) -> Program:
    """M, A, gaps and their rates."""
    key = (setup.system.structure, tuple(setup.inputs.items()))
    return _PROGRAMS.get(key, lambda: dense_program(setup))


def slips_of(setup: Setup) -> Program:
    """Rows and speeds of slips."""
    key = (setup.system.structure, tuple(setup.inputs.items()), "slips")
    return _PROGRAMS.get(key, lambda: slip_program(setup.lowered))


def dense_program(setup: Setup) -> Program:
    """M, A, gaps and their rates."""
    lowered = setup.lowered
    derived, n, m = lowered.derived, len(lowered.derived.Q), len(lowered.description.constraints)
    zero = se.Integer(0)
    outputs = {
        "M": tuple(row.get(j, zero) for row in derived.M for j in range(n)),
        "A": tuple(row.get(j, zero) for row in derived.A[:m] for j in range(n)),
        "gap": tuple(zero if e is None else e for e in derived.residual[:m]),
        "rate": tuple(zero if e is None else e for e in derived.residual_rate[:m]),
    }
    return Program(lowered.inputs, outputs, {"M": (n, n), "A": (m, n)})
