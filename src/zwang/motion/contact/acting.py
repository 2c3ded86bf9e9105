"""Forces that are not known before it is decided what contacts do: they depend on multipliers, or hold at switches.

Friction such as −μ|λ| sign(v) is C(λ), and a switch whose argument is zero holds by any share −1 ≤ σ ≤ 1 of its force
(`lowering.resting`): where it rests ṡ = 0, and where it leaves to a side σ = ±1 with ṡ to that side. Both are unknowns
beside the accelerations, with F(λ, σ) linear around where it is (`resolve`). In an impact multipliers are impulses, and
so is the part of C that grows as they do: its limit C(kΛ)/k for large k. Switches then go by their arguments after the
impact.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.compile import Program
from zwang.engines.native.engine import compiled
from zwang.linalg.rank import row_rank
from zwang.lowering.cache import Kept
from zwang.lowering.directional import directional
from zwang.lowering.forces import forces_program
from zwang.lowering.lowered import Lowered, Matrices
from zwang.motion.contact.units import mass_units
from zwang.motion.setup import Setup
from zwang.motion.start import State

AN_INSTANT = 1e-13  # of time and span: an argument that accelerations would bring to zero so soon is zero
LARGE = 2.0**60  # times multipliers: there forces are their impulses but for what does not grow
GROWS = 1e-6  # of an impulse: what it changes by between large multipliers and twice these, if it grows as they do

_PROGRAMS: Kept[Program] = Kept()


@dataclass(frozen=True)
class Push:
    """F beside multipliers λ' and shares: the force `rest` + Σ `by_row` λ + Σ `by_share` (r, n) σ of switches."""

    rest: Array
    by_row: Mapping[int, Array]
    by_share: Array


@dataclass(frozen=True)
class Acting:
    """The forces of a system at a state, of multipliers and of switches."""

    setup: Setup
    state: State
    on: tuple[int, ...]
    """The switches whose sides are not known, by their places among those that may rest."""
    J: Array
    """(r, n) rows of all switches, with J q̈ = `right` where they rest."""
    right: Array
    impulsive: bool = False

    def all_shares(self, shares: Mapping[int, float]) -> Array:
        """(r,) the shares of all switches; zero of those whose sides are known."""
        sigma = np.zeros(len(self.J))
        for k, share in shares.items():
            sigma[k] = share
        return sigma

    def force(self, multipliers: Array, shares: Array) -> tuple[Array, Array, Array]:
        """F (n,), or its impulse, ∂F/∂λ (n, k) and ∂F/∂σ (n, r)."""
        out = evaluated(self.setup, self.state, (LARGE if self.impulsive else 1.0) * multipliers, self.on, shares)
        if not self.impulsive:
            return out["force"], out["by_multiplier"], out["by_share"]
        still = evaluated(self.setup, self.state, 0 * multipliers, self.on, shares)
        change = (out["force"] - still["force"]) / LARGE
        return change, out["by_multiplier"], (out["by_share"] - still["by_share"]) / LARGE

    def push(self, multipliers: Mapping[int, float], shares: Mapping[int, float]) -> Push:
        """F beside multipliers by row and shares by switch."""
        rows, which = list(self.setup.system.reactions), list(self.on)
        lam, sigma = np.array([multipliers.get(i, 0.0) for i in rows]), self.all_shares(shares)
        F, by_multiplier, by_share = self.force(lam, sigma)
        rest = F - by_multiplier @ lam - by_share[:, which] @ sigma[which]
        return Push(rest, {i: by_multiplier[:, k] for k, i in enumerate(rows)}, by_share[:, which].T)

    def along(self, multipliers: Array, shares: Array, direction: Array) -> tuple[Array, Array, Array]:
        """How the impulse of F (n,), J (r, n) and s (r,) change along a direction in t, q, v and p, λ and σ held."""
        large, still = (
            evaluated(self.setup, self.state, s * multipliers, self.on, shares, direction) for s in (LARGE, 0.0)
        )
        return (large["d_force"][0] - still["d_force"][0]) / LARGE, large["d_row"][0], large["d_argument"][0]

    def grows(self, shares: Mapping[int, float]) -> bool:
        """Whether forces grow faster than their multipliers, so that they have no impulse."""
        one, sigma = np.ones(len(self.setup.system.reactions)), self.all_shares(shares)
        once, twice = (self.force(s * one, sigma) for s in (1.0, 2.0))
        terms = np.abs(twice[0]) + 2 * np.abs(twice[1]) @ one + np.abs(twice[2]).sum(axis=1)
        return bool((np.abs(twice[0] - 2 * once[0]) > GROWS * terms).any())


def acting(setup: Setup, state: State, now: Matrices, span: float, on: Sequence[int] | None = None) -> Acting | None:
    """What is not known of the forces at a state; None if all are. `on` are switches at zero, if they are known."""
    if not setup.system.reactions and resting_of(setup) is None:
        return None
    count = 0 if (model := resting_of(setup)) is None else len(model.rests)
    out = evaluated(setup, state, np.zeros(len(setup.system.reactions)), (), np.zeros(count))
    if on is None:
        soon = AN_INSTANT * (abs(state[0]) + span)
        near = np.abs(out["argument"]) <= soon * natural(out["row"], now.free, mass_units(now.M, now.A[:0]))
        on = np.flatnonzero(near).tolist()
    if not on and not setup.system.reactions:
        return None
    return Acting(setup, state, tuple(on), out["row"], out["right"])


def striking(setup: Setup, state: State) -> Acting | None:
    """The impulses of forces that depend on multipliers; None if there are none.

    Arguments of switches change by J (v⁺ − v).
    """
    if not setup.system.reactions:
        return None
    model = resting_of(setup)
    count = 0 if model is None else len(model.rests)
    out = evaluated(setup, state, np.zeros(len(setup.system.reactions)), (), np.zeros(count))
    return Acting(setup, state, tuple(range(count)), out["row"], out["row"] @ state[2] - out["argument"], True)


def resting_of(setup: Setup) -> Lowered | None:
    """The model with switches that may rest, if there are some."""
    return None if setup.locked is None else setup.locked.resting


def evaluated(
    setup: Setup, state: State, multipliers: Array, on: Sequence[int], shares: Array, direction: Array | None = None
) -> dict[str, Array]:
    """What the program of forces says at a state, with shares of the switches that are `on`.

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
        for k in on:
            i = model.rests[k][0]
            modes[i], modes[3 * count + i] = 1.0, 1.0
        given["modes"] = modes
    if direction is not None:
        given["direction"] = direction
    return compiled(program)(**{name: given[name] for name in program.inputs})


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
