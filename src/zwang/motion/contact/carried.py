"""Sensitivities through the last moment of slips in space, and onto contacts that stick.

The last moment of a slip is followed in steps of its own (`ending`), which are taken again with the derivative of the
acceleration. What ends is a slip along its direction d: along δ it ends later by δt = −(d·δs)/(d·ṡ). Across d there is
nothing left of it that could change, for friction has turned it to d; rounding of that is taken out, as is the slip of
a start on contacts that stick: it ends as fast as one likes the smaller it is, by impulses along the rows that hold it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from zwang.arrays import Array
from zwang.compile import straight
from zwang.engines.native.engine import compiled
from zwang.lowering.contact import Held, across_rows, slip_rows
from zwang.lowering.directional import directional
from zwang.lowering.rows import RowBasis
from zwang.motion.contact.course import Course
from zwang.motion.contact.ending import Slips
from zwang.motion.contact.rubbing import unit
from zwang.motion.contact.struck import dense_of, slips_of
from zwang.motion.contact.units import balanced, mass_units
from zwang.motion.setup import Setup
from zwang.motion.start import State

Along = Callable[[State, Array], tuple[Array, Array]]
"""q̈ at a state, and how it changes along a direction in q and v (2n,)."""


@dataclass(frozen=True)
class Hop:
    """A step of the last moment of slips: where it begins, how long it takes, q̈ meanwhile, and whether they end."""

    state: State
    tau: float
    a: Array
    ends: bool

    @property
    def end(self) -> State:
        """Where it ends."""
        (t, q, v), tau = self.state, self.tau
        return t + tau, q + tau * v + tau**2 / 2 * self.a, v + tau * self.a


def accelerating_along(setup: Setup, basis: RowBasis, beside: Array) -> Along:
    """The acceleration of a mode with its derivative; `beside` is how parameters and numbers of the mode change."""
    plain = straight(setup.program("acceleration", basis))
    program = directional(plain, "acceleration")
    kernel = compiled(program)

    def along(state: State, d: Array) -> tuple[Array, Array]:
        direction = np.concatenate([[0.0], d, beside])
        out = kernel(**setup.named(plain, state), direction=direction)
        return out["acceleration"], out["d_acceleration"][0]

    return along


def hopped(along: Along, hop: Hop, dq: Array, dv: Array) -> tuple[Array, Array]:
    """δq and δv after a step: that of Runge and Kutta, or where slips end one with constant accelerations."""
    (t, q, v), h = hop.state, hop.tau
    a1, d1 = along(hop.state, np.concatenate([dq, dv]))
    if hop.ends:
        return dq + h * dv + h * h / 2 * d1, dv + h * d1
    half = dq + h / 2 * dv
    a2, d2 = along((t + h / 2, q + h / 2 * v, v + h / 2 * a1), np.concatenate([half, dv + h / 2 * d1]))
    half = half + h * h / 4 * d1
    a3, d3 = along((t + h / 2, q + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2), np.concatenate([half, dv + h / 2 * d2]))
    whole = dq + h * dv + h * h / 2 * d2
    _, d4 = along((t + h, q + h * v + h * h / 2 * a2, v + h * a3), np.concatenate([whole, dv + h * d3]))
    return dq + h * dv + h * h / 6 * (d1 + d2 + d3), dv + h / 6 * (d1 + 2 * d2 + 2 * d3 + d4)


def slips_along(setup: Setup, state: State, dq: Array, dv: Array, change: Array) -> Array:
    """How all slips change along a direction."""
    t, q, v = state
    program = directional(slips_of(setup), "slip")
    direction = np.concatenate([[0.0], dq, dv, change])
    out = compiled(program)(t=np.array([t]), q=q, v=v, p=setup.p, direction=direction)
    return np.asarray(out["d_slip"][0])


def later(setup: Setup, course: Course, hop: Hop, which: Sequence[int], changed: Sequence[Array]) -> Array:
    """(which, k) by how much slips end later, along directions along which slips change."""
    rubbing = course.rubbing
    assert rubbing is not None
    now, found = setup.slips(hop.state), []
    for i in which:
        places = rubbing.places(i)
        d, rate = unit(now["slip"][places]), now["A"][places] @ hop.a - now["b"][places]
        found.append([-float(d @ change[places]) / float(d @ rate) for change in changed])
    return np.array(found)


def onto_sticking(setup: Setup, course: Course, held: Held, state: State, dq: Array, dv: Array, change: Array) -> Array:
    """δv without what would slip where contacts stick: impulses along their rows have taken it out."""
    rubbing = course.rubbing
    if rubbing is None or held.rough is None or not held.rough.sticks.any():
        return dv
    t, q, v = state
    out = compiled(dense_of(setup))(t=np.array([t]), q=q, v=v, p=setup.p)
    closed = [i for i, mask in zip(held.rows, held.masks, strict=True) if mask]
    sticks = [i for i, s in zip(held.rough.rows, held.rough.sticks, strict=True) if s]
    places = [place for i in sticks for place in rubbing.places(i)]
    rows = np.concatenate([out["A"][[*course.equal, *closed]], setup.slips(state)["A"][places]])
    off = np.zeros(len(rows))
    off[len(rows) - len(places) :] = -slips_along(setup, state, dq, dv, change)[places]
    load = np.concatenate([np.zeros(len(dv)), off])
    return np.asarray(dv + balanced(out["M"], rows, load, mass_units(out["M"], out["A"][course.equal]))[: len(dv)])


def turning(setup: Setup, basis: RowBasis, state: State, broken: Sequence[int], direction: Array) -> Slips:
    """How the directions in which slips of contacts that break loose begin change: d = −F/|F| by what held them."""
    plain = straight(setup.program("report", basis))
    out = compiled(directional(plain, "multiplier"))(**setup.named(plain, state), direction=direction)
    rows, found = (slip_rows(setup.lowered), across_rows(setup.lowered)), {}
    for i in broken:
        places = [basis.used.index(row[i]) for row in rows]
        force, change = out["multiplier"][places], out["d_multiplier"][0][places]
        d, size = unit(force), float(np.hypot(*force))
        found[i] = -(change - d * float(d @ change)) / size
    return found
