"""Impacts of a motion with contacts: who takes part, what follows at once, and flights too faint to be followed."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from zwang.arrays import Array
from zwang.engines.registry import engine_of
from zwang.engines.task import Status
from zwang.evaluation import names_of
from zwang.formulations.solve import Names
from zwang.lowering.contact_power import FRICTION
from zwang.lowering.lowered import Matrices
from zwang.motion.contact.acting import striking
from zwang.motion.contact.decide import require_few
from zwang.motion.contact.grazing import grazes, looked_at
from zwang.motion.contact.impact import Collision, Impact, Stop, held, impact
from zwang.motion.contact.machine import Machine
from zwang.motion.contact.one_by_one import MOST_IN_A_ROW
from zwang.motion.contact.problem import FORTH, Problem, Surface
from zwang.motion.contact.resolve import solved
from zwang.motion.contact.rough_impact import rough_impact
from zwang.motion.contact.rubbing import Rubbing
from zwang.motion.contact.zeno import Flight, accumulation
from zwang.motion.setup import Setup
from zwang.motion.start import State
from zwang.nonsmooth import guide

NO_ROW = -1  # stands for the constraint of a row that has none


def sliding(rubbing: Rubbing, state: State, which: list[int]) -> dict[int, tuple[Array, float]]:
    """Of some contacts those that slide: the row −μ s t of the friction that a unit of load makes, and its power."""
    now, found = rubbing.setup.slips(state), {}
    for i in which:
        if i in rubbing.friction and i in rubbing.rows:
            mu, places = rubbing.friction[i][1], rubbing.places(i)
            slip, speed = now["slip"][places], float(np.linalg.norm(now["slip"][places]))
            found[i] = -mu * (slip / speed) @ now["A"][places], -mu * speed
    return found


def by_law(
    setup: Setup, state: State, now: Matrices, A: Array, off: Array, rows: list[int],
    slides: Mapping[int, tuple[Array, float]],
) -> tuple[Array, Array]:  # fmt: skip
    """The change of velocities that changes A v by `off`, with the impulses of forces that depend on multipliers.

    And the impulses of contacts that slide. `rows` are the constraints of the first rows of A; slips are behind them.
    """
    v, right = state[2], A @ state[2] + off
    plain = [k for k in range(len(A)) if k >= len(rows) or rows[k] not in slides]
    whose = tuple(rows[k] if k < len(rows) else NO_ROW for k in plain)
    surfaces = tuple(
        Surface(i, now.A[i], float(right[rows.index(i)]), -row[None], np.zeros(1), guide(1.0, way=(1.0,)))
        for i, (row, _) in slides.items()
    )
    problem = Problem(now.M, now.M @ v, A[plain], right[plain], surfaces, whose, striking(setup, state))
    found = solved(problem, tuple(FORTH for _ in surfaces))
    if found is None:
        raise Stop(Status.UNDECIDED, "No velocities obey the forces that depend on multipliers where impacts end.")
    return found.x - v, found.normal


class Colliding(Machine):
    """One motion with contacts, at instants where some of them meet."""

    def collide(self, closed: set[int], arrived: set[int]) -> set[int]:
        """An impact of closed contacts; those that are closed afterwards.

        A contact that parts is none of them; should the impact turn it round, there is another one at once.
        """
        for _ in range(MOST_IN_A_ROW):
            closed = self.strike(closed, arrived)
            now = self.now = self.matrices()
            near, slow = self.near(now)
            others = self.at_zero(now, near) - closed - {*self.rates}
            back = {i for i in others if now.residual_rate[i] < 0}
            arrived = {i for i in back if now.residual_rate[i] < -slow[i]}
            closed |= back
            if not arrived:
                return closed
        raise Stop(Status.CHATTERING, f"Impacts do not come to an end there: {MOST_IN_A_ROW:,} were made at once.")

    def strike(self, closed: set[int], arrived: set[int]) -> set[int]:
        """One impact of closed contacts; those that are closed afterwards."""
        now, v = self.now, self.state[2]
        require_few(self.setup, closed)
        for i in arrived:
            speed = -float(now.residual_rate[i])
            if looked_at(self, i, speed) and grazes(self, i, self.state, now, sorted({*self.closed} - arrived)):
                self.grazed.append((self.state[0], i, speed))
        if self.law == "sequential":  # what parts may be turned round in its course
            closed = closed | (self.at_zero(now, self.near(now)[0]) - {*self.rates})
        which, equal = sorted(closed | {*self.rates}), self.equal  # velocities are limited after any impact
        cause = min(arrived, key=lambda i: (now.residual_rate[i], i))
        rubs = self.guides or self.setup.system.reactions  # nonideal forces may have impulses, too
        if self.rubbing is not None and (rubs or any(i in self.rubbing.friction for i in which)):
            found, speeds = rough_impact(self.rubbing, self.state, now, which, self.restitution, self.law)
            return self.struck(which, found, speeds, cause)
        names = names_of(self.setup.system)
        c = Collision(
            now.M, now.A[equal], now.A[which], self.restitution[which], v,
            now.residual_rate[which] - now.A[which] @ v,
            Names(names.coordinates, tuple(names.rows[i] for i in (*equal, *which))),
        )  # fmt: skip
        found = impact(c, self.law)
        if found.off:
            self.notes.append(
                f"Impacts one after the other of {self.named(which)} accumulate at t = {self.state[0]:.9g}; their "
                f"limit is taken, to {found.off:.1g} of the impulses."
            )
        return self.struck(which, found, c.speeds(found.v), cause)

    def struck(self, which: list[int], found: Impact, speeds: Array, cause: int) -> set[int]:
        """After an impact: the contacts that are closed."""
        now, (t, q, _) = self.now, self.state
        every = which if len(found.impulse) == len(which) else [*which, *self.guides]
        self.write("impact", cause, found.v, every, found)
        self.opened |= {*which}
        for i in which:
            self.fastest[i] = max(self.fastest.get(i, 0.0), -float(now.residual_rate[i]))
        self.state = (t, q, found.v)
        if self.rubbing is not None:  # who stuck and who slid before says nothing any more
            self.rubbing.signs, self.rubbing.spent = {}, False
        touching = {i for i, touches in zip(which, found.touching, strict=True) if touches}
        apart = touching | {*self.rates}
        leaving = {i: float(speed) for i, speed in zip(which, speeds, strict=True) if i not in apart}
        return touching | self.faint(leaving, touching, cause)

    def falling(self, now: Matrices, touching: set[int], speed: float) -> Array:
        """q̈ after an impact; friction of contacts that slide on faster than this may be all that brings others back."""
        a = self.free(now, touching)
        if self.rubbing is None or not touching:
            return a
        loads = self.with_closed(now, sorted(touching)).multipliers
        slow = {i for i, _, _ in self.rubbing.slow(self.state, speed)}
        slides = sliding(self.rubbing, self.state, [i for i in sorted(touching) if loads[i] > 0 and i not in slow])
        if not slides:
            return a
        rows = [*self.equal, *(i for i in sorted(touching) if loads[i] > 0)]
        names = names_of(self.setup.system)
        labels = Names(names.coordinates, tuple(names.rows[i] for i in rows))
        rubs = {rows.index(i): row for i, (row, _) in slides.items()}
        return held(now.M, now.A[rows], 0 * a, now.b[rows], labels, rubs, now.Q + now.C)[0]

    def hidden(self, touching: set[int]) -> set[int]:
        """Contacts that leave each other at a start, and are back before that is told from rounding: they are closed.

        Such are contacts whose limits recede more slowly than what presses them together makes up for at once.
        """
        now = self.matrices()
        leaving = {
            i: float(now.residual_rate[i])
            for i in set(self.rows) - touching - {*self.rates}
            if now.residual[i] <= self.scales.flat(i) and now.residual_rate[i] > 0
        }
        if not leaving:
            return set()
        a = self.falling(now, touching, max(leaving.values()))
        falls = {i: float(now.b[i] - now.A[i] @ a) for i in leaving}
        back = {i: u for i, u in leaving.items() if u * u <= 2 * falls[i] * self.scales.flat(i)}
        self.fastest |= {i: max(self.fastest.get(i, 0.0), u) for i, u in back.items()}
        return self.faint(back, touching, min(back, key=lambda i: (-back[i], i))) if back else set()

    def faint(self, leaving: dict[int, float], touching: set[int], cause: int) -> set[int]:
        """Contacts that leave each other so slowly after an impact that they are closed from here on."""
        if not leaving:
            return set()
        now = self.matrices()
        a = self.falling(now, touching, max(leaving.values()))
        known = (
            self.setup.tol * self.scales.reach if engine_of(self.setup.method).known_to_tol else 0 * self.scales.reach
        )
        flights = [
            Flight(
                speed, float(now.b[i] - now.A[i] @ a), float(self.restitution[i]), self.fastest[i],
                max(self.scales.flat(i), float(known[i])),
            )
            for i, speed in leaving.items()
        ]  # fmt: skip
        end = accumulation(flights, self.setup.tol * self.span)
        if end is None or self.state[0] + end[0] > self.grid[-1]:
            return set()
        lasts, height = end
        rows = [*self.equal, *sorted(touching | leaving.keys())]
        names = names_of(self.setup.system)
        off = np.array([-leaving.get(i, 0.0) for i in rows])
        t, q, v = self.state
        labels = [names.rows[i] for i in rows]
        A, slow = now.A[rows], set()
        for i, row, slip in self.rubbing.slow(self.state, max(leaving.values())) if self.rubbing else ():
            if i in rows:  # as slow as that: it sticks
                A, off, labels = np.vstack([A, row]), np.append(off, -slip), [*labels, f"the slip of {names.rows[i]}"]
                slow.add(i)
        if self.rubbing is not None:
            self.rubbing.caught |= slow
        # impulses of what is left out have their friction: contacts that slide are not loaded meanwhile as if closed
        slides = sliding(self.rubbing, self.state, [i for i in rows if i not in slow]) if self.rubbing else {}
        rubs = {rows.index(i): row for i, (row, _) in slides.items()}
        if self.setup.system.reactions:
            change, impulses = by_law(self.setup, self.state, now, A, off, rows, slides)
        else:
            fast = np.maximum(np.abs(v), self.rubbing.fastest) if self.rubbing else v
            change, impulses = held(now.M, A, fast, off, Names(names.coordinates, tuple(labels)), rubs)
        loss = -float((now.M @ change) @ (v + change / 2))
        for impulse, (i, (row, power)) in zip(impulses.tolist(), slides.items(), strict=True):
            done = impulse * (power + float(row @ change) / 2)
            self.works[FRICTION, sorted((*self.rows, *self.guides)).index(i)] += done
            self.total = replace(self.total, worked=self.total.worked + done)
            loss += done
        self.write(
            "accumulation",
            cause,
            v + change,
            (),
            Impact(v, np.zeros(0), loss, np.zeros(0), np.zeros(0, dtype=bool)),
            at=t + lasts,
        )
        self.state = (t, q, v + change)
        self.notes.append(
            f"Impacts of {self.setup.system.constraint_names[cause]!r} accumulate at t = {t + lasts:.12g}; flights "
            f"lower than {height:.1g} are left out."
        )
        return {*leaving}
