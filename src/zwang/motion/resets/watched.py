"""Events that reset the state, read in numbers at one state: values, rates along the motion, and their rounding."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from zwang.arrays import EPS, TINIEST, Array
from zwang.compile import Program
from zwang.engines.native.engine import compiled
from zwang.lowering.cache import Kept
from zwang.lowering.directional import directional
from zwang.lowering.events import event_program
from zwang.lowering.rows import RowBasis
from zwang.motion.setup import Setup
from zwang.motion.start import State

AT_ZERO_WITHIN = 64.0  # times its rounding within which an event counts as zero
LAST_DIGITS = 2 * EPS  # by which a state is changed to see the rounding of an event
LOOK_AHEAD = 1e-6  # how far ahead to look, in terms of the time in which the motion changes

_PROGRAMS: Kept[Program] = Kept()


@dataclass(frozen=True, eq=False)
class Watched:
    """The user's events at a state, on the rows of a stretch."""

    setup: Setup
    basis: RowBasis
    state: State

    @cached_property
    def program(self) -> Program:
        """The events alone."""
        setup = self.setup
        expressions = tuple(e.expression for e in setup.events)
        contacts = setup.contact.rows if setup.contact else ()
        named = (setup.system.coordinates, setup.system.constraint_names, setup.symbols)
        key = (
            setup.system.structure,
            tuple(setup.inputs.items()),
            self.basis,
            setup.varied,
            contacts,
            expressions,
            named,
        )
        return _PROGRAMS.get(
            key,
            lambda: event_program(setup.system, setup.symbols, setup.running, self.basis, setup.events, None),
        )

    def at(self, state: State) -> Array:
        """(events,) what they read at a state."""
        found = compiled(self.program)(**self.setup.named(self.program, state))["event"]
        return np.asarray(found[: len(self.setup.events)])

    @cached_property
    def values(self) -> Array:
        """(events,) what they read here."""
        return self.at(self.state)

    @cached_property
    def grain(self) -> Array:
        """(events,) by how much they change with the last digits of the state."""
        t, q, v = self.state
        found = []
        for alternate in (np.ones(2 * len(q)), (-1.0) ** np.arange(2 * len(q))):
            for way in (LAST_DIGITS, -LAST_DIGITS):
                by = 1 + way * alternate
                found.append(np.abs(self.at((t * (1 + way), q * by[: len(q)], v * by[len(q) :])) - self.values))
        return np.asarray(np.max(found, axis=0))

    def along(self, direction: Array) -> Array:
        """(events,) their derivatives along a direction in t, q, v and p; contacts are held."""
        program = directional(self.program, "event")
        rest = len(program.inputs["direction"]) - len(direction)
        given = self.setup.named(self.program, self.state) | {"direction": np.append(direction, np.zeros(rest))}
        return np.asarray(compiled(program)(**given)["d_event"][0][: len(self.setup.events)])

    @cached_property
    def acceleration(self) -> Array:
        """(n,) the acceleration here."""
        program = self.setup.program("acceleration", self.basis)
        return np.asarray(compiled(program)(**self.setup.named(program, self.state))["acceleration"])

    @cached_property
    def rates(self) -> Array:
        """(events,) ḣ = h_t + h_q q̇ + h_q̇ q̈."""
        return self.along(np.concatenate([[1.0], self.state[2], self.acceleration, np.zeros(len(self.setup.p))]))

    def bends(self, span: float) -> Array:
        """(events,) ḧ, as far as a look ahead tells."""
        t, q, v = self.state
        a = self.acceleration
        speed, pace = float(np.abs(v).max(initial=0.0)), float(np.abs(a).max(initial=0.0))
        tau = LOOK_AHEAD * max(min(span, speed / pace if pace and speed else span), TINIEST)
        later = Watched(self.setup, self.basis, (t + tau, q + tau * v + tau**2 / 2 * a, v + tau * a))
        return np.asarray((later.rates - self.rates) / tau)

    @cached_property
    def noise(self) -> Array:
        """(events,) what is zero to rounding: of the state, and of the instant."""
        return np.asarray(AT_ZERO_WITHIN * self.grain + AT_ZERO_WITHIN * EPS * abs(self.state[0]) * np.abs(self.rates))

    def zeros(self) -> tuple[int, ...]:
        """Those with a reset that are zero here, as far as rounding lets see."""
        some = [i for i, event in enumerate(self.setup.events) if event.reset]
        if not some:
            return ()
        return tuple(i for i in some if np.abs(self.values[i]) <= self.noise[i])


def energies(setup: Setup, basis: RowBasis, *states: State) -> Any:
    """(states, 2) the energy, kinetic and potential, and Jacobi's at some states."""
    program = setup.program("report", basis, ("jacobi", "kinetic", "potential"))
    found = [compiled(program)(**setup.named(program, state)) for state in states]
    return np.array([[float(e["kinetic"]) + float(e["potential"]), float(e["jacobi"])] for e in found])
