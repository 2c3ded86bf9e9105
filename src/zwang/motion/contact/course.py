"""The course of a motion with contacts: from mode to mode.

A mode says which contacts are closed. While it lasts the system is one with equalities only, and the drive integrates
it as any other; it ends where a gap closes or a normal force vanishes. Then velocities may jump (`impact`), and
accelerations say which contacts push from there on (`decide`).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.engines.native.engine import compiled
from zwang.engines.projection import projected
from zwang.engines.task import GOES_ON, Status, Trajectory
from zwang.errors import InputError
from zwang.evaluation import names_of
from zwang.formulations.solve import Names
from zwang.lowering.contact import Held
from zwang.lowering.large import in_full
from zwang.lowering.lowered import Matrices
from zwang.lowering.rows import RowBasis
from zwang.motion.contact.coefficients import coefficients
from zwang.motion.contact.decide import decide, moment_later, solution, unloaded
from zwang.motion.contact.impact import Collision, Impact, NoEnd, held, impact
from zwang.motion.contact.observe import first
from zwang.motion.contact.record import Transition
from zwang.motion.contact.scales import Scales
from zwang.motion.contact.zeno import Flight, accumulation
from zwang.motion.drive import integrate, joined
from zwang.motion.observe import Segment
from zwang.motion.setup import Setup
from zwang.motion.start import Start, State, basis_at, require_satisfied
from zwang.words import listed

OPEN, PUSHING, RESTING = "open", "pushing", "resting"
INSTANT = 1e-13  # of time and span: transitions so close happen at one instant
BEYOND = 10.0  # times what counts as zero: an open contact must not be exceeded by more
LEAVING = 1e4  # moments (`decide.SOON`) that are given to a gap to leave zero


class Course:
    """One motion with contacts."""

    def __init__(self, setup: Setup, start: Start, grid: Array, law: str, watch: Any) -> None:
        """At the start, with nothing decided."""
        assert setup.contact is not None
        require_satisfied(start)
        self.setup, self.grid, self.law, self.watch = setup, grid, law, watch
        self.rows = setup.contact.rows
        self.restitution = coefficients(setup, self.rows)
        self.states: dict[int, str] = dict.fromkeys(self.rows, OPEN)
        self.state: State = start.state
        self.span = abs(float(grid[-1]) - start.state[0])
        self.transitions: list[Transition] = []
        self.segments: list[Segment] = []
        self.total = Trajectory(GOES_ON, start.state[1][None][:0], start.state[2][None][:0], start.state)
        self.bases: dict[bool, RowBasis] = {}
        self.fastest: dict[int, float] = {}
        self.scales = Scales(self.rows, len(setup.system.constraints))
        self.shared: set[int] = set()
        self.notes: list[str] = []
        self.saved = 0
        self.slack = np.zeros(len(self.rows))
        self.now: Matrices = in_full(start.matrices)
        """At the state where something has changed last."""
        self.equal = [i for i in range(len(setup.system.constraints)) if i not in self.rows]

    # The loop

    def run(self) -> Trajectory:
        """To the end, or to what stops the motion."""
        try:
            self.begin()
            while True:
                path = self.advance()
                met = self.met(path)
                if path.status is Status.FINISHED and self.saved < len(self.grid):
                    self.loosen()  # what has lifted has left its limit by now
                    continue
                if path.status is not Status.EVENT or not met or self.ended_by_user(path):
                    return self.account(path.status)
                self.cut()
                self.meet(met)
        except NoEnd as end:
            self.notes.append(str(end))
            return self.account(Status.CHATTERING)

    def begin(self) -> None:
        """Which contacts are closed at the start, and which meet at once; one that is exceeded is refused."""
        now = self.matrices()
        near, slow = self.near(now)
        for i in self.rows:
            if now.residual[i] < -near[i]:
                c = self.setup.system.constraints[i]
                raise InputError(
                    f"the start is beyond the limit {c.name!r} by {-now.residual[i]:.6g}: it asks for "
                    f"{c.expression} >= 0; move the start back to it"
                )
        self.now = now
        touching = {i for i in self.rows if now.residual[i] <= near[i] and now.residual_rate[i] <= slow[i]}
        closing = {i for i in touching if now.residual_rate[i] < -slow[i]}
        if closing:
            touching = self.collide(touching, closing)
        if touching:
            self.settle(touching, set())

    def advance(self) -> Trajectory:
        """The drive, in the present mode, to where it ends."""
        held = self.held()
        setup = replace(self.setup, contact=held)
        if held.closed not in self.bases:
            self.bases[held.closed] = basis_at(setup, self.state)
        basis, grid = self.bases[held.closed], self.grid[self.saved :]
        stop = self.until_left()
        if stop is not None:
            grid = np.append(grid[grid < stop], stop)
        segments, path = integrate(setup, self.state, grid, self.watch, basis)
        if stop is not None and path.status is Status.FINISHED:
            segments = first(segments, len(grid) - (stop not in self.grid))
        for segment in segments:
            trace = segment.trace and replace(segment.trace, work=segment.trace.work + self.total.worked)
            self.segments.append(replace(segment, trace=trace))
            self.saved += len(segment.times)
        own = len(self.setup.events)
        hits = tuple(h for h in path.hits if h.which < own)
        self.total = joined(self.total, replace(path, hits=hits))
        self.scales.go(self.now, self.state[2], path.end[0] - self.state[0])
        self.state = path.end
        self.require_within()
        return path

    def require_within(self) -> None:
        """Stop a motion that has passed through a limit without that being seen."""
        now = self.matrices()
        near, _ = self.near(now)
        through = [i for i in self.rows if self.states[i] == OPEN and now.residual[i] < -BEYOND * near[i]]
        if through:
            raise NoEnd(f"The motion has passed through the limit of {self.named(through)} unnoticed.")

    def met(self, path: Trajectory) -> set[int]:
        """The contacts whose watched functions have fallen through zero at the end of a stretch."""
        own = len(self.setup.events)
        return {self.rows[h.which - own] for h in path.hits if h.which >= own and h.t == path.end[0]}

    def ended_by_user(self, path: Trajectory) -> bool:
        """Whether an event of the user's own stops the motion here."""
        events = self.setup.events
        return any(h.which < len(events) and events[h.which].stop and h.t == path.end[0] for h in path.hits)

    def cut(self) -> None:
        """States saved at the very instant of a transition are those after it: they will be saved again."""
        self.saved = min(self.saved, int(np.searchsorted(self.grid, self.state[0])))
        self.segments = first(self.segments, self.saved)

    def account(self, status: Status) -> Trajectory:
        """How the motion fared."""
        return replace(self.total, status=status, notes=(*self.total.notes, *self.notes))

    # Transitions

    def meet(self, met: set[int]) -> None:
        """What happens where gaps have closed and normal forces have vanished."""
        self.require_progress()
        self.pull_in()
        now = self.now = self.matrices()
        near, slow = self.near(now)
        lifted = {i for i in met if self.states[i] == PUSHING}
        arrived = met - lifted
        if arrived:  # what closes within rounding of it closes at once
            arrived |= {
                i for i in self.rows
                if self.states[i] == OPEN and now.residual[i] <= near[i] and now.residual_rate[i] < -slow[i]
            }  # fmt: skip
        closed = {*self.closed} | arrived
        if any(now.residual_rate[i] < -slow[i] for i in arrived):
            closed = self.collide(closed, arrived)
        else:
            for kind, which in (("touch", arrived), ("lift", lifted)):
                if which:
                    self.write(kind, min(which), self.state[2])
        if closed or self.closed:
            self.settle(closed, lifted & closed)
        else:  # all are open, and none lingers at its limit
            self.slack = np.zeros(len(self.rows))

    def collide(self, closed: set[int], arrived: set[int]) -> set[int]:
        """An impact of closed contacts; those that are closed afterwards."""
        now, (t, q, v) = self.now, self.state
        which, equal = sorted(closed), self.equal
        names = names_of(self.setup.system)
        c = Collision(
            now.M, now.A[equal], now.A[which], self.restitution[which], v,
            now.residual_rate[which] - now.A[which] @ v,
            Names(names.coordinates, tuple(names.rows[i] for i in (*equal, *which))),
        )  # fmt: skip
        found = impact(c, self.law)
        cause = min(arrived, key=lambda i: (now.residual_rate[i], i))
        self.write("impact", cause, found.v, which, found)
        for i in which:
            self.fastest[i] = max(self.fastest.get(i, 0.0), -float(now.residual_rate[i]))
        self.state = (t, q, found.v)
        touching = {i for i, touches in zip(which, found.touching, strict=True) if touches}
        leaving = {i: float(speed) for i, speed in zip(which, c.speeds(found.v), strict=True) if i not in touching}
        return touching | self.faint(leaving, touching, cause)

    def faint(self, leaving: dict[int, float], touching: set[int], cause: int) -> set[int]:
        """Contacts that leave each other so slowly after an impact that they are closed from here on."""
        if not leaving:
            return set()
        now = self.matrices()
        a = self.free(now, touching)
        flights = [
            Flight(
                speed, float(now.b[i] - now.A[i] @ a), float(self.restitution[i]), self.fastest[i],
                self.scales.flat(i),
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
        change = held(now.M, now.A[rows], off, Names(names.coordinates, tuple(names.rows[i] for i in rows)))
        loss = -float((now.M @ change) @ (v + change / 2))
        self.write(
            "accumulation",
            cause,
            v + change,
            (),
            Impact(v, np.zeros(0), loss, 0.0, np.zeros(0, dtype=bool)),
            at=t + lasts,
        )
        self.state = (t, q, v + change)
        self.notes.append(
            f"Impacts of {self.setup.system.constraint_names[cause]!r} accumulate at t = {t + lasts:.12g}; flights "
            f"lower than {height:.1g} are left out."
        )
        return {*leaving}

    def free(self, now: Matrices, closed: set[int]) -> Array:
        """q̈ if only some contacts may push; quickly if none."""
        if closed or False not in self.bases:
            return solution(self.setup, now, sorted(closed)).q
        setup = replace(self.setup, contact=Held.all_open(self.rows))
        program = setup.program("acceleration", self.bases[False])
        return compiled(program)(**setup.named(program, self.state))["acceleration"]

    def settle(self, closed: Iterable[int], lifted: set[int]) -> None:
        """Who pushes from here on; new ones are brought to their limit exactly, positions and velocities."""
        closed = {*closed}
        before = dict(self.states)
        found = decide(self.setup, self.state, closed, lifted, self.span)
        self.shared |= {*found.shared}
        for i in self.rows:
            self.states[i] = PUSHING if i in found.pushing else RESTING if i in found.resting else OPEN
        for i in self.closed:
            self.fastest.pop(i, None)
        off = [i for i in sorted(lifted) if self.states[i] == PUSHING]
        if off:
            raise NoEnd(f"{self.named(off)} lifts and pushes at one instant.")
        left = [i for i in found.opening if before[i] != OPEN and i not in lifted]
        if left and not lifted:
            self.write("lift", left[0], self.state[2])
        if any(self.states[i] == PUSHING and before[i] != PUSHING for i in self.rows):
            self.pull_in()
        self.loosen()

    def pull_in(self) -> None:
        """Bring positions and velocities to the limits of contacts that push, which they may have drifted off."""
        if PUSHING not in self.states.values():
            return
        setup = replace(self.setup, contact=self.held())
        if True not in self.bases:
            self.bases[True] = basis_at(setup, self.state)
        program = setup.program("projection", self.bases[True])
        kernel, (t, q, v), n = compiled(program), self.state, len(self.state[1])

        def reading(y: Array) -> Array:
            out = kernel(**setup.named(program, (t, y[:n], y[n:])))
            return np.concatenate([out["dq"], out["dv"], out["residual"], out["residual_rate"]])

        y = projected(reading, np.concatenate([q, v]), n, 0.0)
        self.state = (t, y[:n], y[n:])

    # Bookkeeping

    def loosen(self) -> None:
        """Slacks for what begins in the rounding of zero: the gap of what has lifted, the force of what is unloaded."""
        now = self.matrices()
        self.slack = np.zeros(len(self.rows))
        forces = self.forces() if PUSHING in self.states.values() else {}
        for k, i in enumerate(self.rows):
            if self.states[i] == OPEN:
                if self.scales.lingers(now, i):
                    self.slack[k] = 2 * self.scales.flat(i) + 2 * max(-now.residual[i], 0.0)
            elif self.states[i] == PUSHING:
                least = unloaded(now, i)
                if forces[i] <= least:
                    self.slack[k] = least + 2 * max(-forces[i], 0.0)

    def until_left(self) -> float | None:
        """When gaps that have a slack will have left zero, if there are some; not later than the end.

        A gap leaves zero so slowly that it is rounding at first. It is watched with a slack until it is clear of it.
        """
        lingers = [i for k, i in enumerate(self.rows) if self.states[i] == OPEN and self.slack[k]]
        if not lingers:
            return None
        a = solution(self.setup, self.matrices(), self.closed).q
        later = self.state[0] + LEAVING * (moment_later(self.state, a, self.span)[0] - self.state[0])
        return float(later) if later < self.grid[-1] else None

    def forces(self) -> dict[int, float]:
        """The normal forces of contacts that push, taken as equalities."""
        setup = replace(self.setup, contact=self.held())
        basis = self.bases.get(True) or basis_at(setup, self.state)
        self.bases[True] = basis
        program = setup.program("report", basis)
        lam = compiled(program)(**setup.named(program, self.state))["multiplier"]
        return {i: float(e) for i, e in zip(basis.used, lam, strict=True)}

    def held(self) -> Held:
        """The numbers that hold the present mode."""
        states = [self.states[i] for i in self.rows]
        is_open, pushing = (np.array([s == kind for s in states], dtype=float) for kind in (OPEN, PUSHING))
        return Held(self.rows, pushing, is_open, pushing, self.slack)

    @property
    def closed(self) -> list[int]:
        """The contacts that are closed."""
        return [i for i in self.rows if self.states[i] != OPEN]

    def matrices(self) -> Matrices:
        """The system's matrices at the present state."""
        return self.setup.matrices(*self.state)

    def near(self, now: Matrices) -> tuple[Array, Array]:
        """(m,) how small a gap and its rate are that count as zero."""
        return self.scales.near(now, *self.state[1:])

    def write(
        self, kind: str, contact: int, after: Array, which: Iterable[int] = (), found: Impact | None = None,
        at: float | None = None,
    ) -> None:  # fmt: skip
        """Write a transition down, and its energy into the account."""
        impulse = np.zeros(len(self.rows))
        if found is not None:
            impulse[[self.rows.index(i) for i in which]] = found.impulse
            self.total = replace(self.total, worked=self.total.worked + found.work - found.loss)
        t, q, v = self.state
        state = (t if at is None else at, q, v)
        loss = found.loss if found is not None else 0.0
        self.transitions.append(Transition(state, kind, contact, after, impulse, loss))

    def require_progress(self) -> None:
        """Stop a motion that does not leave an instant, with the cycle of its transitions."""
        most = 3 * len(self.rows) + 3
        last = self.transitions[-most:]
        if len(last) == most and self.state[0] - last[0].state[0] <= INSTANT * (abs(self.state[0]) + self.span):
            names = self.setup.system.constraint_names
            cycle = listed([f"{x.kind} of {names[x.contact]!r}" for x in last[-2 * len(self.rows) :]])
            raise NoEnd(f"The contacts change without end there: {cycle}.")

    def named(self, rows: Iterable[int]) -> str:
        """Contacts by their names."""
        return listed([repr(self.setup.system.constraint_names[i]) for i in rows])
