"""The state of a motion with contacts between two stretches: what its contacts do, and what is written down."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.engines.native.engine import compiled
from zwang.engines.projection import projected
from zwang.engines.task import GOES_ON, EventHit, Status, Trace, Trajectory
from zwang.lowering.contact import Held, across_rows, slip_rows
from zwang.lowering.contact_power import SURFACE, contact_parts
from zwang.lowering.large import in_full
from zwang.lowering.lowered import Matrices
from zwang.lowering.rows import RowBasis
from zwang.motion.contact.acting import acting, independent, resting_of
from zwang.motion.contact.coefficients import coefficients
from zwang.motion.contact.decide import Accelerations, moment_later, solution, unloaded
from zwang.motion.contact.impact import Impact, Stop
from zwang.motion.contact.record import Transition
from zwang.motion.contact.rubbing import Rubbing
from zwang.motion.contact.scales import Scales
from zwang.motion.contact.units import mass_units
from zwang.motion.observe import Segment
from zwang.motion.resets.jump import Resets
from zwang.motion.resets.watched import Watched
from zwang.motion.setup import Setup
from zwang.motion.start import Start, State, basis_at, require_satisfied, require_unique
from zwang.words import listed

OPEN, PUSHING, RESTING = "open", "pushing", "resting"
INSTANT = 1e-13  # of time and span: transitions so close happen at one instant
BEYOND = 10.0  # times what counts as zero: an open contact must not be exceeded by more
DRIFTED = 1e-8  # of the terms of a gap: a contact that rests on others, and is farther off, does not
UNMOVED = 1e-12  # of where forces could have taken a gap during a run: what is less is rounding
OFF_RATE = 10.0  # tolerances: a limit of a velocity is read with the errors of the motion until then
LEAVING = 1e4  # moments (`decide.SOON`) that are given to a gap to leave zero


class Machine:
    """What the contacts of one motion do, its state, and its account until now."""

    bounces = True  # whether its engine may make plain impacts

    def __init__(self, setup: Setup, start: Start, grid: Array, law: str, watch: Any, split: str) -> None:
        """At the start, with nothing decided."""
        assert setup.contact is not None
        require_satisfied(start)
        self.grid, self.law, self.watch = grid, law, watch
        self.rows, self.guides = setup.contact.rows, setup.contact.guides
        found = coefficients(setup, setup.contact.shown)
        self.restitution = found.restitution
        self.states: dict[int, str] = dict.fromkeys(self.rows, OPEN)
        self.state: State = start.state
        self.span = abs(float(grid[-1]) - start.state[0])
        rubs = bool(found.friction or setup.system.reactions)
        self.rubbing = Rubbing(setup, found.friction, self.span, split) if rubs else None
        rough = self.rubbing.held() if self.rubbing else None
        self.setup = setup = replace(setup, contact=replace(setup.contact, rough=rough))
        self.transitions: list[Transition] = []
        self.segments: list[Segment] = []
        self.total = Trajectory(GOES_ON, start.state[1][None][:0], start.state[2][None][:0], start.state)
        self.works = np.zeros((2, len(self.rows) + len(self.guides)))
        """What friction and moving surfaces have done, contact by contact."""
        self.bases: dict[bool, RowBasis] = {}
        self.fastest: dict[int, float] = {}
        self.rates = [i for i in self.rows if setup.system.constraints[i].order]
        """Limits of velocities: what they read is their gap, and what is to be kept in impacts, too."""
        self.scales = Scales(self.rows, len(setup.system.constraints), self.rates, self.span)
        self.shared: set[int] = set()
        self.notes: list[str] = []
        self.saved = 0
        self.slack = np.zeros(len(self.rows))
        self.opened: set[int] = set()
        """Contacts that were closed at this very instant: the gaps of those that are open now begin here"""
        self.patience = 1.0
        self.grazed: list[tuple[float, int, float]] = []
        """The first impact that grazes: when, of which contact, and how fast."""
        self.last_hits: dict[int, float] = {}
        self.fresh: tuple[EventHit, ...] = ()
        """The user's events of the last stretch"""
        self.resets = Resets(setup, self.span)
        self.met_at: list[float] = []
        self.now: Matrices = self.readings(in_full(start.matrices))
        """At the state where something has changed last."""
        self.known: tuple[State, Array, Matrices] | None = None
        self.equal = [i for i in range(len(setup.system.constraints)) if i not in self.rows]
        require_unique(setup, *start.polished)
        resets = setup.resets
        self.zeros = Watched(setup, basis_at(setup, start.state), start.state).zeros() if resets else ()
        """Events that are zero here, and count as met until they have left it"""

    def last(self, span: float) -> None:
        """The motion may last so long, of which all that is judged small or soon is a share."""
        self.span = self.scales.span = self.resets.span = span
        if self.rubbing is not None:
            self.rubbing.span = span

    def expect(self) -> bool:
        """See what will act from here on; whether nothing had until now, so that no scale was known."""
        (t, q, v), before = self.state, self.scales.drive
        self.scales.expect(lambda later: self.setup.matrices(later, q, v), t, v)
        return before == 0 < self.scales.drive

    def require_within(self) -> None:
        """Stop a motion that has passed through a limit without that being seen."""
        now = self.matrices()
        if through := self.through(now):
            raise Stop(
                Status.UNRESOLVED, f"The motion has passed through the limit of {self.named(through)} unnoticed."
            )
        off = max(DRIFTED, 1e3 * self.setup.tol)
        left = [i for i in self.rows if self.states[i] == RESTING and abs(now.residual[i]) > off * self.scales.reach[i]]
        if left:  # beside where forces could have taken it: nothing may have moved along it yet
            could = np.abs(now.A) @ np.abs(now.free) * self.span**2
            left = [i for i in left if abs(now.residual[i]) > UNMOVED * could[i]]
        if left:
            raise Stop(Status.UNRESOLVED, f"The motion has left the limit of {self.named(left)} unnoticed.")

    def through(self, now: Matrices) -> list[int]:
        """Open contacts beyond whose limits the state is."""
        near, _ = self.near(now)
        return [i for i in self.rows if self.states[i] == OPEN and now.residual[i] < -BEYOND * near[i]]

    def free(self, now: Matrices, closed: set[int]) -> Array:
        """q̈ if only some contacts may push; quickly if none."""
        if closed or False not in self.bases:
            return self.with_closed(now, sorted(closed)).q
        setup = replace(self.setup, contact=self.all_open)
        program = setup.program("acceleration", self.bases[False])
        return compiled(program)(**setup.named(program, self.state))["acceleration"]

    def with_closed(self, now: Matrices, closed: list[int]) -> Accelerations:
        """q̈ if only some contacts may push."""
        return solution(self.setup, self.state, now, closed, acting(self.setup, self.state, now, self.span))

    def acceleration(self) -> Array:
        """q̈ in the present mode."""
        return self.reading("acceleration")

    def reading(self, name: str, at: State | None = None) -> Array:
        """What the program of the present mode says: `acceleration`, or the `power` of forces; none if it has none."""
        held = self.held()
        setup = replace(self.setup, contact=held)
        program = setup.program("acceleration", self.basis(held))
        return compiled(program)(**setup.named(program, at or self.state)).get(name, np.zeros(1))

    def go_on(self, tau: float, a: Array, ends: bool = False) -> None:
        """The motion over a very short time, with constant accelerations; what forces do then is in the account.

        Not beyond the end. `ends` says that slips end with it.
        """
        t, q, v = self.state
        inside, until = self.grid[self.saved :][self.grid[self.saved :] < t + tau], t + tau
        if until > self.grid[-1]:
            until = float(self.grid[-1])
            tau = until - t
        held = self.held()
        since = (inside - t)[:, None]
        if len(inside):
            basis = self.basis(held)
            states = q + since * v + since**2 / 2 * a, v + since * a
            count = len(inside)
            works = np.full(count, self.total.worked), np.tile(self.works, (count, 1, 1))
            trace = Trace(works[0], 0 * states[1], np.zeros(count), works[1])
            self.segments.append(Segment(basis, inside, *states, self.setup.p, trace, held))
            self.saved += len(inside)
        middle = (t + tau / 2, q + tau / 2 * v + tau**2 / 8 * a, v + tau / 2 * a)  # what ends loses its power evenly
        power = tau * self.reading("power", middle)
        self.works = self.works + self.worked(self.basis(held), power[1:])
        self.total = replace(self.total, worked=self.total.worked + float(power[0]))
        self.state = (until, q + tau * v + tau**2 / 2 * a, v + tau * a)

    def pull_in(self) -> None:
        """Bring positions and velocities to the limits of contacts that push, which they may have drifted off."""
        if PUSHING not in self.states.values() and not self.guides:
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

    def loosen(self) -> None:
        """Slacks for what begins in the rounding of zero: the gap of what has lifted, the force of what is unloaded."""
        now = self.matrices()
        before, self.slack = self.slack, np.zeros(len(self.rows))
        forces = self.forces() if PUSHING in self.states.values() or self.guides else {}
        loaded = self.rubbing.shares.members if self.rubbing and self.rubbing.shares else ()
        for k, i in enumerate(self.rows):
            if self.states[i] == OPEN:
                self.slack[k] = self.slack_of_gap(now, i, float(before[k]))
            elif i in forces and (self.states[i] == PUSHING or i in loaded):
                least = unloaded(now, i, self.scales.still(now, i))
                if forces[i] <= least:
                    self.slack[k] = least + 2 * max(-forces[i], 0.0)
        if self.rubbing is not None:
            self.rubbing.loosen(self.state, forces, slip_rows(self.setup.lowered))
            self.rubbing.rest = np.zeros(len(self.guides))
            for k, i in enumerate(self.guides):
                least, push = unloaded(now, i, self.scales.still(now, i)), self.rubbing.sides[i] * forces[i]
                if push <= least:
                    self.rubbing.rest[k] = least + 2 * max(-push, 0.0)
        self.opened = set()

    def slack_of_gap(self, now: Matrices, i: int, before: float) -> float:
        """The slack of an open contact i that had such a one before.

        What another contact does while its gap is on its way makes no difference to it. A gap that flies from below
        zero has come back where it began, or an impact would be seen ever later, and in the end not at all.
        """
        gap, flat = float(now.residual[i]), self.scales.flat(i)
        if i not in self.opened and gap + before > 0:
            return before if gap <= flat else 0.0
        if self.scales.lingers(now, i) and not self.flies(now, i):
            return 2 * flat + 2 * max(-gap, 0.0)
        return -gap if gap < -self.scales.rounding(i) else 0.0

    def flies(self, now: Matrices, i: int) -> bool:
        """Whether the gap of contact i is thrown up and falls again, and that is seen beside its rounding."""
        speed = float(now.residual_rate[i])
        if not speed > 0:
            return False
        if i in self.rates:
            return speed > self.scales.flat(i)
        falls = float(now.b[i] - now.A[i] @ self.with_closed(now, self.closed).q)
        return falls > 0 and speed**2 / (2 * falls) > self.scales.flat(i)

    def until_left(self) -> float | None:
        """When gaps that have a slack will have left zero, if there are some; not later than the end.

        A gap leaves zero so slowly that it is rounding at first. It is watched with a slack until it is clear of it.
        """
        if not self.lingers:
            return None
        a = self.acceleration()
        later = self.state[0] + self.patience * LEAVING * (moment_later(self.state, a, self.span)[0] - self.state[0])
        return float(later) if later < self.grid[-1] else None

    @property
    def lingers(self) -> bool:
        """Whether a gap has a slack, or a slip has just begun."""
        gaps = any(self.states[i] == OPEN and self.slack[k] for k, i in enumerate(self.rows))
        return gaps or (self.rubbing is not None and self.rubbing.lingers)

    def until_slow(self) -> float | None:
        """When a slip in space that comes to its end is slow, by its rate here; none if none does before the end.

        A long step would try accelerations behind its end, where friction has turned about, and be bent by them.
        """
        if self.rubbing is None or not any(self.rubbing.signs.get(i) for i in self.rubbing.space):
            return None
        a = self.acceleration()
        slow = [tau for i in self.rubbing.space if (tau := self.rubbing.slow_in(self.state, i, a)) is not None]
        later = self.state[0] + min(slow, default=np.inf)
        return later if self.state[0] < later < self.grid[-1] else None

    def forces(self) -> dict[int, float]:
        """The normal forces of contacts that push, taken as equalities, and the friction of those that stick.

        Open contacts have none.
        """
        held = self.held()
        setup, basis = replace(self.setup, contact=held), self.basis(held)
        program = setup.program("report", basis)
        lam = compiled(program)(**setup.named(program, self.state))["multiplier"]
        found = dict.fromkeys(self.rows, 0.0) | {i: float(e) for i, e in zip(basis.used, lam, strict=True)}
        if self.rubbing is not None and self.rubbing.shares is not None:
            slips = slip_rows(self.setup.lowered), across_rows(self.setup.lowered)
            every = (*self.rows, *self.guides, *slips[0].values(), *slips[1].values())
            found |= dict(zip(every, self.rubbing.shares.of(np.array([found[i] for i in every])).tolist(), strict=True))
        return found

    def worked(self, basis: RowBasis, parts: Array) -> Array:
        """(…, 2, k) what friction and moving surfaces have done by the parts (…, p) of a stretch's work."""
        found = np.zeros((*parts.shape[:-1], *self.works.shape))
        if parts.shape[-1]:
            shown = sorted((*self.rows, *self.guides))
            for k, (kind, i) in enumerate(contact_parts(self.setup.running, basis)):
                found[..., kind, shown.index(i)] = parts[..., k]
        return found

    def basis(self, held: Held) -> RowBasis:
        """The rows that the equation of a mode is built on."""
        if held.closed not in self.bases:
            self.bases[held.closed] = basis_at(replace(self.setup, contact=held), self.state)
        shared = self.rubbing is not None and self.rubbing.shares is not None
        return replace(self.bases[held.closed], shared=True) if shared and held.closed else self.bases[held.closed]

    def held(self) -> Held:
        """The numbers that hold the present mode."""
        states = [self.states[i] for i in self.rows]
        is_open, pushing = (np.array([s == kind for s in states], dtype=float) for kind in (OPEN, PUSHING))
        rough = self.rubbing.held() if self.rubbing else None
        loaded = pushing
        if self.rubbing is not None and self.rubbing.shares is not None:
            loaded = np.array([float(i in self.rubbing.shares.members) for i in self.rows])
        return Held(self.rows, pushing, is_open, loaded, self.slack, rough, self.guides)

    def still_switches(self) -> tuple[int, ...]:
        """Switches at zero that contacts hold there, which push or stick: rounding must not push them to and fro."""
        model, pushing = resting_of(self.setup), [i for i in self.rows if self.states[i] == PUSHING]
        now = self.matrices()
        law = acting(self.setup, self.state, now, self.span) if model is not None and pushing else None
        if law is None or model is None:
            return ()
        slips, sticks = self.setup.slips(self.state)["A"], []
        if self.rubbing is not None:
            stuck = [i for i in self.rubbing.order if self.rubbing.signs.get(i) == 0]
            sticks = [at for i in stuck for at in self.rubbing.places(i)]
        units = mass_units(now.M, now.A[self.equal])
        held = np.concatenate([now.A[[*self.equal, *pushing]], slips[sticks]]) / units
        return tuple(model.rests[k][0] for k in law.on if not independent(law.J / units, held, [k]))

    @property
    def closed(self) -> list[int]:
        """The contacts that are closed."""
        return [i for i in self.rows if self.states[i] != OPEN]

    @property
    def all_open(self) -> Held:
        """The mode in which no contact is closed."""
        return Held.all_open(self.rows, self.setup.contact.rough if self.setup.contact else None, self.guides)

    def matrices(self) -> Matrices:
        """The system's matrices at the present state; they are asked for several times at one instant.

        Limits of velocities have these for gaps.
        """
        if self.known is None or self.known[0] is not self.state or self.known[1] is not self.setup.p:
            self.known = (self.state, self.setup.p, self.readings(self.setup.matrices(*self.state)))
        return self.known[2]

    def readings(self, now: Matrices) -> Matrices:
        """What limits of velocities read in the place of gaps."""
        if not self.rates:
            return now
        gaps = now.residual.copy()
        gaps[self.rates] = now.residual_rate[self.rates]
        return replace(now, residual=gaps)

    def near(self, now: Matrices) -> tuple[Array, Array]:
        """(m,) how small a gap and its rate are that count as zero."""
        near, slow = self.scales.near(now, *self.state)
        near[self.rates] = np.maximum(near[self.rates], OFF_RATE * self.setup.tol * self.scales.pace[self.rates])
        slow[self.rates] = near[self.rates]  # a limit of velocities that is reached has nothing to run into
        return near, slow

    def at_zero(self, now: Matrices, near: Array) -> set[int]:
        """The contacts whose gaps are zero as far as the motion is known: a start is given with fewer digits."""
        known = {i: max(self.scales.flat(i), self.setup.tol * float(self.scales.reach[i])) for i in self.rows}
        return {i for i in self.rows if now.residual[i] <= (near[i] if i in self.rates else min(near[i], known[i]))}

    def at_rest(self, now: Matrices, near: Array, slow: Array) -> set[int]:
        """The contacts whose gaps are zero and stay so: they are part of any impact."""
        return {i for i in self.at_zero(now, near) - {*self.rates} if abs(now.residual_rate[i]) <= slow[i]}

    def write(
        self, kind: str, contact: int, after: Array, which: Iterable[int] = (), found: Impact | None = None,
        at: float | None = None,
    ) -> None:  # fmt: skip
        """Write a transition down, and its energy into the account."""
        shown = sorted((*self.rows, *self.guides))
        impulse = np.zeros(len(shown))
        if found is not None:
            places = [shown.index(i) for i in which]
            impulse[places] = found.impulse
            self.works[SURFACE, places] += found.work
            self.total = replace(self.total, worked=self.total.worked + float(found.work.sum()) - found.loss)
        t, q, v = self.state
        state = (t if at is None else at, q, v)
        loss = found.loss if found is not None else 0.0
        self.transitions.append(Transition(state, kind, contact, after, impulse, loss))

    def require_progress(self) -> None:
        """Stop a motion that does not leave an instant, with the cycle of its transitions."""
        most = 3 * (len(self.rows) + len(self.guides)) + 3
        self.met_at = [*self.met_at, self.state[0]][-most - 1 :]
        if len(self.met_at) > most and self.at_once(self.met_at[0], self.state[0]):
            names, last = self.setup.system.constraint_names, self.transitions[-most:]
            cycle = listed([f"{x.kind} of {names[x.contact]!r}" for x in last[-2 * len(self.states) :]])
            raise Stop(Status.CHATTERING, f"The contacts change without end there: {cycle}.")

    def at_once(self, before: float, after: float) -> bool:
        """Whether two times are one instant."""
        return after - before <= INSTANT * (abs(after) + self.span)

    def named(self, rows: Iterable[int]) -> str:
        """Contacts by their names."""
        return listed([repr(self.setup.system.constraint_names[i]) for i in rows])
