"""Forces that are not known before it is decided what contacts do: they depend on multipliers, or hold at switches.

Friction such as −μ|λ| sign(v) is C(λ), and a switch whose argument is zero holds by any share −1 ≤ σ ≤ 1 of its force
(`lowering.resting`). In a mode of the contacts both are unknowns beside the accelerations: λ by Newton's method, with
F(λ, σ) linear around where it is, and of each switch whether it rests (ṡ = 0) or leaves to a side (σ = ±1, ṡ to that
side), by pivoting. In an impact multipliers are impulses, and so is the part of C that grows as they do: its limit
C(kΛ)/k for large k. Switches then go by their arguments after the impact.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from zwang.arrays import EPS, Array
from zwang.compile import Program
from zwang.engines.native.engine import compiled
from zwang.engines.task import Status
from zwang.linalg.rank import row_rank
from zwang.lowering.cache import Kept
from zwang.lowering.directional import directional
from zwang.lowering.forces import forces_program
from zwang.lowering.lowered import Lowered, Matrices
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.units import mass_units
from zwang.motion.setup import Setup
from zwang.motion.start import State

NEWTONS_MOST = 40  # of Newton's method
SOLVED = 64 * EPS  # of the multipliers: a step that changes them by less is the last one
AN_INSTANT = 1e-13  # of time and span: an argument that accelerations would bring to zero so soon is zero
HOLDS = 1e-11  # beyond 1, of a share: it holds
GOES = 1e-9  # of the terms of a rate: it goes to a side
ROUNDS = 8  # for each switch, in which what is wrong most changes; and as many, in which the first does
LARGE = 2.0**60  # times multipliers: there forces are their impulses but for what does not grow
GROWS = 1e-6  # of an impulse: what it changes by between large multipliers and twice these, if it grows as they do

_PROGRAMS: Kept[Program] = Kept()


@dataclass(frozen=True)
class Push:
    """F beside multipliers λ' and shares: the force `rest` + Σ `by_row` λ + columns of switches that rest times σ."""

    rest: Array
    by_row: Mapping[int, Array]
    rows: Array
    """(r, n) J of switches that rest, with J q̈ = `right`."""
    right: Array
    columns: Array


@dataclass(frozen=True)
class Solved:
    """What a mode of the contacts gives with a push: x, multipliers by row, and the shares of switches that rest."""

    x: Array
    multipliers: Mapping[int, float]
    shares: Array


@dataclass(frozen=True)
class Acting:
    """The forces of a system at a state, of multipliers and of switches."""

    setup: Setup
    state: State
    on: tuple[int, ...]
    """The switches whose sides are not known, by their places among those that may rest."""
    begin: Mapping[int, int]
    """The sides to try first."""
    J: Array
    right: Array
    impulsive: bool = False

    def force(self, multipliers: Array, sides: Mapping[int, int], shares: Array) -> tuple[Array, Array, Array]:
        """F (n,), or its impulse, ∂F/∂λ (n, k) and ∂F/∂σ (n, r)."""
        if not self.impulsive:
            out = evaluated(self.setup, self.state, multipliers, sides, shares)
            return out["force"], out["by_multiplier"], out["by_share"]
        out = evaluated(self.setup, self.state, LARGE * multipliers, sides, shares)
        still = evaluated(self.setup, self.state, 0 * multipliers, sides, shares)
        change = (out["force"] - still["force"]) / LARGE
        return change, out["by_multiplier"], (out["by_share"] - still["by_share"]) / LARGE

    def push(self, multipliers: Mapping[int, float], sides: Mapping[int, int], shares: Mapping[int, float]) -> Push:
        """F beside multipliers by row and shares by switch; those that have a share here rest and are solved for."""
        rows = list(self.setup.system.reactions)
        lam = np.array([multipliers.get(i, 0.0) for i in rows])
        sigma = np.zeros(len(self.J))
        for k, share in shares.items():
            sigma[k] = share
        F, by_multiplier, by_share = self.force(lam, sides, sigma)
        which = list(shares)
        rest = F - by_multiplier @ lam - by_share[:, which] @ sigma[which]
        by_row = {i: by_multiplier[:, k] for k, i in enumerate(rows)}
        return Push(rest, by_row, self.J[which], self.right[which], by_share[:, which].T)

    def along(
        self, multipliers: Array, sides: Mapping[int, int], shares: Array, direction: Array
    ) -> tuple[Array, Array, Array]:
        """How the impulse of F (n,), J (r, n) and s (r,) change along a direction in t, q, v and p, λ and σ held."""
        large, still = (
            evaluated(self.setup, self.state, s * multipliers, sides, shares, direction) for s in (LARGE, 0.0)
        )
        return (large["d_force"][0] - still["d_force"][0]) / LARGE, large["d_row"][0], large["d_argument"][0]

    def grows(self, sides: Mapping[int, int]) -> bool:
        """Whether forces grow faster than their multipliers, so that they have no impulse."""
        one = np.ones(len(self.setup.system.reactions))
        once, twice = (self.force(s * one, sides, np.zeros(len(self.J))) for s in (1.0, 2.0))
        terms = np.abs(twice[0]) + 2 * np.abs(twice[1]) @ one + np.abs(twice[2]).sum(axis=1)
        return bool((np.abs(twice[0] - 2 * once[0]) > GROWS * terms).any())


def acting(setup: Setup, state: State, now: Matrices, span: float, on: Sequence[int] | None = None) -> Acting | None:
    """What is not known of the forces at a state; None if all are. `on` are switches at zero, if they are known."""
    if not setup.system.reactions and resting_of(setup) is None:
        return None
    count = 0 if (model := resting_of(setup)) is None else len(model.rests)
    out = evaluated(setup, state, np.zeros(len(setup.system.reactions)), {}, np.zeros(count))
    if on is None:
        soon = AN_INSTANT * (abs(state[0]) + span)
        near = np.abs(out["argument"]) <= soon * natural(out["row"], now.free, mass_units(now.M, now.A[:0]))
        on = np.flatnonzero(near).tolist()
    if not on and not setup.system.reactions:
        return None
    return Acting(setup, state, tuple(on), dict.fromkeys(on, 0), out["row"], out["right"])


def striking(setup: Setup, state: State) -> Acting | None:
    """The impulses of forces that depend on multipliers; None if there are none.

    Arguments of switches change by J (v⁺ − v).
    """
    if not setup.system.reactions:
        return None
    model = resting_of(setup)
    count = 0 if model is None else len(model.rests)
    out = evaluated(setup, state, np.zeros(len(setup.system.reactions)), {}, np.zeros(count))
    begin = {k: int(np.sign(s)) for k, s in enumerate(out["argument"])}
    return Acting(setup, state, tuple(begin), begin, out["row"], out["row"] @ state[2] - out["argument"], True)


def resting_of(setup: Setup) -> Lowered | None:
    """The model with switches that may rest, if there are some."""
    return None if setup.locked is None else setup.locked.resting


def evaluated(
    setup: Setup, state: State, multipliers: Array, sides: Mapping[int, int], shares: Array,
    direction: Array | None = None,
) -> dict[str, Array]:  # fmt: skip
    """What the program of forces says at a state, with some switches on a side, or at rest (0).

    With derivatives along a direction, if one is given.
    """
    model = resting_of(setup) or (setup.lowered if setup.locked is None else setup.locked.lowered)
    program = _PROGRAMS.get((model, "forces"), lambda: forces_program(model))
    t, q, v = state
    if direction is not None:
        program = directional(program, "force", "row", "argument")
    given = {"t": np.array([t]), "q": q, "v": v, "p": setup.p, "l": multipliers, "s": shares}
    if setup.locked is not None:
        modes, count = setup.locked.literal.copy(), len(setup.locked.switches)
        for k, side in sides.items():
            i = model.rests[k][0]
            modes[i], modes[3 * count + i] = side or 1.0, float(side == 0)
        given["modes"] = modes
    if direction is not None:
        given["direction"] = direction
    return compiled(program)(**{name: given[name] for name in program.inputs})


def settled(
    law: Acting, held: Array, units: Array, load: Array, free: Array, solve: Callable[[Push], Solved | None]
) -> Solved | None:
    """A mode of the contacts solved with forces of which not all are known; None if there is no solution.

    `held` are the rows that the mode holds: a switch that they hold, too, has no share. `units` are those of mass;
    `load`, forces or momenta, and `free`, x without any row, are what rounding is judged by.
    """
    sides, lengths = dict(law.begin), np.linalg.norm(held, axis=1)
    rounding = SOLVED * float(np.abs(load).sum()) / float(lengths[lengths > 0].min(initial=np.inf))
    rounds, sizes = ROUNDS * len(sides), natural(law.J, free, units)
    for count in range(2 * rounds + 1):
        rest = independent(law.J / units, held / units, [k for k, side in sides.items() if side == 0])
        found = by_newton(law, sides, rest, rounding, solve)
        if law.impulsive and law.grows(sides):
            words = "Nonideal forces grow faster there than the multipliers they depend on: they have no impulse."
            raise Stop(Status.NO_SOLUTION, words)
        if found is None:
            return None
        wrong: dict[int, tuple[float, int]] = {}
        for k, side in sides.items():
            rate = float(law.J[k] @ found.x - law.right[k])
            size = float(np.abs(law.J[k]) @ np.abs(found.x) + abs(law.right[k]) + sizes[k]) or 1.0
            share = float(found.shares[rest.index(k)]) if k in rest else 0.0
            if side == 0 and abs(share) > 1 + HOLDS:
                wrong[k] = abs(share) - 1, int(np.sign(share))
            elif side == 0 and k not in rest and abs(rate) > GOES * size:
                wrong[k] = abs(rate) / size, int(np.sign(rate))
            elif side * rate < -GOES * size:
                wrong[k] = -side * rate / size, 0
        if not wrong:
            return found
        k = next(iter(wrong)) if count >= rounds else max(wrong, key=lambda k: wrong[k][0])
        sides[k] = wrong[k][1]
    return None


def natural(J: Array, x: Array, units: Array) -> Array:
    """(r,) how large J x could be with what x there is, in units of mass: rounding is beside that."""
    return np.asarray(np.linalg.norm(J / units, axis=1) * float(np.linalg.norm(units * x)))


def independent(J: Array, held: Array, rest: list[int]) -> list[int]:
    """Of switches that rest those whose rows do not depend on what holds already."""
    kept: list[int] = []
    rank = int(row_rank(held[None])[0]) if len(held) else 0
    for k in rest:
        stack = np.concatenate([held, J[[*kept, k]]])
        if int(row_rank(stack[None])[0]) > rank + len(kept):
            kept.append(k)
    return kept


def by_newton(
    law: Acting, sides: Mapping[int, int], rest: Sequence[int], rounding: float, solve: Callable[[Push], Solved | None]
) -> Solved | None:
    """The multipliers and shares with which forces and accelerations agree; None if they are not found.

    `rounding` is that of forces over the length of the shortest row: multipliers are not known better.
    """
    rows = list(law.setup.system.reactions)
    multipliers: Mapping[int, float] = {}
    shares = dict.fromkeys(rest, 0.0)
    if rest and rows:  # what holds may depend on multipliers: from nothing it would not be seen to hold
        begin = solve(law.push(multipliers, sides, {}))
        multipliers = {} if begin is None else begin.multipliers
    lam = np.array([multipliers.get(i, 0.0) for i in rows])
    for _ in range(NEWTONS_MOST):
        found = solve(law.push(multipliers, sides, shares))
        if found is None:
            return None
        after = np.array([found.multipliers.get(i, 0.0) for i in rows])
        still = SOLVED * (np.abs(after).sum() + np.abs(lam).sum()) + rounding
        moved = np.abs(after - lam).sum(), np.abs(found.shares - np.array([*shares.values()])).sum()
        multipliers, shares, lam = found.multipliers, dict(zip(rest, found.shares.tolist(), strict=True)), after
        if moved[0] <= still and moved[1] <= SOLVED * (len(rest) + np.abs(found.shares).sum()):
            return found
    return None
