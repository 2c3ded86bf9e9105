"""The course of a motion with contacts: from mode to mode.

A mode says which contacts are closed. While it lasts the system is one with equalities only, and the drive integrates
it as any other; it ends where a gap closes or a normal force vanishes. Then velocities may jump (`impact`), and
accelerations say which contacts push from there on (`decide`).
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

import numpy as np

from zwang.engines.task import NO_PARTS, EventHit, Status, Trajectory
from zwang.errors import InfeasibleError, InputError, MassError, UndeterminedError
from zwang.lowering.contact import across_rows, slip_rows
from zwang.motion.contact.as_before import closes_again, look_at_motion, shared_now
from zwang.motion.contact.bounce import bounced, bouncing, kicked_works
from zwang.motion.contact.collide import Colliding
from zwang.motion.contact.decide import decide, pressed, require_few
from zwang.motion.contact.ending import vanish
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.machine import OPEN, PUSHING, RESTING
from zwang.motion.contact.reset import jumped
from zwang.motion.contact.rubbing import unit
from zwang.motion.drive import integrate, joined
from zwang.motion.observe import Segment, first
from zwang.motion.start import basis_at

EMPTY: Mapping[int, float] = {}
NONE: Set[int] = frozenset()
SPENT = 1e-11  # of the largest force: contacts that share a load have less than this in reserve when they give way


class Course(Colliding):
    """One motion with contacts."""

    def run(self, begin: bool = True, again: bool = False) -> Trajectory:
        """To the end, or to what stops the motion.

        From the start on, or from where it is; `again` has it decide anew what closed contacts do, for forces have
        changed.
        """
        try:
            if begin:
                self.begin()
            else:
                self.resume(again)
            while True:
                path = self.advance()
                met, rubbed = self.met(path)
                if path.status is Status.FINISHED and self.saved < len(self.grid):
                    self.patience *= 2 if self.lingers else 1  # what stays at zero is looked at ever more seldom
                    turned = self.rubbing.backwards(self.state) if self.rubbing else set()
                    if turned:
                        self.require_progress()
                        self.settle(self.closed, set(), EMPTY, turned)
                    else:
                        self.loosen()  # what has lifted has left its limit by now
                    continue
                fired = self.resets.fired(self.fresh, path.end[0])
                if fired and path.status is Status.EVENT:
                    self.reset(fired)
                if path.status is not Status.EVENT or self.ended_by_user(path):
                    return self.account(path.status)
                if fired:
                    continue
                self.cut()
                rubbed = vanish(self, rubbed) if rubbed else rubbed
                if self.saved == len(self.grid):  # it ends within the last moment of a slip
                    return self.account(Status.FINISHED)
                if met or rubbed:
                    self.meet(met, rubbed)
                else:
                    self.require_progress()
                    self.let_go()
        except Stop as end:
            self.notes.append(str(end))
            return self.account(end.status)
        except InfeasibleError as clash:
            if not self.total.steps:  # a start that cannot move is refused
                raise
            self.notes.append(f"There {clash}.")
            return self.account(Status.INCONSISTENT)
        except (UndeterminedError, MassError) as lost:
            if not self.total.steps:
                raise
            self.notes.append(f"There {lost}.")
            return self.account(Status.SINGULAR)

    def resume(self, again: bool) -> None:
        """Go on where the motion was left; `again` has it decide anew what closed contacts do."""
        began = self.expect()
        if again and self.closed:
            sticks = {i for i, sign in self.rubbing.signs.items() if not sign} if self.rubbing else NONE
            self.settle(self.closed, set(), EMPTY, sticks)
        elif began:
            self.loosen()

    def reset(self, fired: tuple[int, ...]) -> None:
        """The jump of the state at events; what contacts do after it is found out as at a start."""
        names = jumped(self, fired)
        self.cut()
        self.begin(f"The reset of {names} leads")

    def begin(self, leads: str = "") -> None:
        """Which contacts are closed at the start, and which meet at once; one that is exceeded is refused.

        After a reset, `leads` says what would be to blame.
        """
        self.expect()
        now = self.matrices()
        near, slow = self.near(now)
        for i in self.rows:
            if now.residual[i] < -near[i] and i not in self.rates:
                c = self.setup.system.constraints[i]
                if leads:
                    raise Stop(Status.BAD_RESET, f"{leads} beyond the limit {c.name!r} by {-now.residual[i]:.6g}.")
                raise InputError(
                    f"the start is beyond the limit {c.name!r} by {-now.residual[i]:.6g}: it asks for "
                    f"{c.expression} >= 0; move the start back to it"
                )
        self.now = now
        touching = {i for i in self.rows if now.residual[i] <= near[i] and now.residual_rate[i] <= slow[i]}
        closing = {i for i in touching if now.residual_rate[i] < -slow[i]}
        if closing:
            touching = self.collide(touching, closing)
        touching |= self.hidden(touching)
        if touching or self.guides:
            self.settle(touching, set())

    def advance(self) -> Trajectory:
        """The drive, in the present mode, to where it ends."""
        held = self.held()
        setup = replace(self.setup, contact=replace(held, still=self.still_switches()))
        basis, grid = self.basis(held), self.grid[self.saved :]
        stop = min((t for t in (self.until_left(), self.until_slow()) if t is not None), default=None)
        if stop is not None:
            grid = np.append(grid[grid < stop], stop)
        zero, self.zeros = self.zeros, ()
        segments, path = integrate(setup, self.state, grid, self.watch, basis, bouncing(self), zero)
        if stop is not None and path.status is Status.FINISHED:
            segments = first(segments, len(grid) - (stop not in self.grid))
        kicked = kicked_works(self, path)
        for segment in segments:
            trace = segment.trace
            if trace:
                parts = trace.parts if trace.parts.size else np.zeros((len(trace.work), 0))
                works = self.works + self.worked(segment.basis, parts)
                for t, done in kicked:
                    works[segment.times >= t] += done
                trace = replace(trace, work=trace.work + self.total.worked, parts=works)
            self.segments.append(replace(segment, trace=trace))
            self.saved += len(segment.times)
            self.scales.hurry(self.now, np.abs(segment.v).max(axis=0, initial=0.0))
        own = len(self.setup.events)
        hits = tuple(h for h in path.hits if h.which < own and not self.again(h))
        self.fresh, self.last_hits = hits, {h.which: h.t for h in path.hits}
        self.total = joined(self.total, replace(path, hits=hits, parts=NO_PARTS))
        self.works = self.works + self.worked(basis, path.parts) + sum((done for _, done in kicked), np.zeros(()))
        until = path.kicks[0][0, 0] if path.kicks and len(path.kicks[0]) else path.end[0]
        self.scales.go(self.now, self.state[2], until - self.state[0])
        bounced(self, path)
        self.state = path.end
        self.require_within()
        self.look_at_motion(segments)
        return path

    def look_at_motion(self, segments: list[Segment]) -> None:
        """Look where contacts that share a load slide, and how they share it has come to decide on the motion."""
        rubbing = self.rubbing
        if rubbing is None or rubbing.shares is None or rubbing.compliant or not any(rubbing.signs.values()):
            return
        states = [(float(t), q, v) for s in segments for t, q, v in zip(s.times, s.q, s.v, strict=True)]
        for state in (*states, self.state):
            try:
                look_at_motion(rubbing, state)
            except Stop:
                self.state, self.total = state, replace(self.total, end=state)
                self.cut()
                raise

    def met(self, path: Trajectory) -> tuple[set[int], set[int]]:
        """The contacts whose watched functions have fallen through zero at the end of a stretch.

        Those whose gaps or normal forces have, and those whose reserve or slip has.
        """
        own, k = len(self.setup.events), len(self.rows)
        fired = [h.which - own for h in path.hits if h.which >= own and h.t == path.end[0]]
        order = self.rubbing.order if self.rubbing else []
        turned = {self.guides[i - k - 2 * len(order)] for i in fired if i >= k + 2 * len(order)}
        for which in fired:
            if k + len(order) <= which < k + 2 * len(order):
                name = self.setup.system.constraint_names[order[which - k - len(order)]]
                words = f"The friction of {name!r} loses its meaning there, its margin is zero: Painlevé's paradox."
                raise Stop(Status.NO_SOLUTION, words)
        rubbed = {order[i - k] for i in fired if k <= i < k + len(order)}
        return {self.rows[i] for i in fired if i < k} | turned, rubbed

    def again(self, hit: EventHit) -> bool:
        """Whether an event that was met where a transition happened is met there once more, in what follows."""
        before = self.last_hits.get(hit.which)
        return before is not None and self.at_once(before, hit.t)

    def ended_by_user(self, path: Trajectory) -> bool:
        """Whether an event of the user's own stops the motion here."""
        events = self.setup.events
        return any(h.which < len(events) and events[h.which].stop and h.t == path.end[0] for h in path.hits)

    def cut(self) -> None:
        """States saved at the very instant of a transition are those after it: they will be saved again."""
        self.saved = min(self.saved, int(np.searchsorted(self.grid, self.state[0])))
        self.segments = first(self.segments, self.saved)

    def account(self, status: Status) -> Trajectory:
        """How the motion fared; a stop at the very start leaves its account without states."""
        if not self.segments:
            setup = replace(self.setup, contact=self.all_open)
            _, q, v = self.state
            basis, none = basis_at(setup, self.state), self.grid[:0]
            empty = Segment(basis, none, q[None][:0], v[None][:0], setup.p, contact=setup.contact)
            self.segments.append(empty)
        if self.rubbing is not None and self.rubbing.unproven:
            many = len(self.rubbing.unproven)
            self.notes.append(f"That {many} contacts with friction have no other motion was not shown.")
        if self.rubbing is not None and self.rubbing.compliant:
            self.notes.append(self.rubbing.compliant)
        return replace(self.total, status=status, notes=(*self.total.notes, *self.notes))

    def meet(self, met: set[int], rubbed: set[int]) -> None:
        """What happens where gaps have closed, normal forces or slips have vanished, or sticking has broken."""
        self.require_progress()
        self.patience = 1.0
        shared = self.rubbing is not None and self.rubbing.shares is not None
        broken = {} if shared else self.broken(rubbed)
        self.pull_in()
        now = self.now = self.matrices()
        near, slow = self.near(now)
        met = met - {*self.guides}  # whose multipliers change their signs: that is decided anew
        unloaded = {i for i in met if self.states[i] != OPEN}
        arrived = met - unloaded
        if shared:
            stopped = {i for i in rubbed if self.rubbing and self.rubbing.signs.get(i)}
            broken, lifted = ({}, set()) if stopped else self.given_way()  # slips that end have no direction to rub by
            lifted -= {*self.guides}
            spent = bool(self.rubbing and self.rubbing.spent)
            if not any((arrived, stopped, broken, lifted, spent)):
                self.loosen()  # there is another way to share the load
                return
            rubbed = stopped | broken.keys()
        else:
            lifted = unloaded - self.pressed(unloaded)
        if arrived:  # what closes within rounding of it closes at once
            arrived |= {
                i for i in self.at_zero(now, near) if self.states[i] == OPEN and now.residual_rate[i] < -slow[i]
            }
        closed = {*self.closed} | arrived
        if any(now.residual_rate[i] < -slow[i] for i in arrived):
            closed = self.collide(closed | self.at_rest(now, near, slow), arrived)
            broken = {}
        else:
            for kind, which in (("touch", arrived), ("lift", lifted), ("slide", broken.keys() - lifted)):
                if which:
                    self.write(kind, min(which), self.state[2])
        if closed or self.closed or self.guides:
            self.settle(closed, lifted & closed, broken, rubbed - broken.keys() - lifted)
        else:
            self.loosen()

    def pressed(self, unloaded: set[int]) -> set[int]:
        """Contacts whose forces have vanished, but whose gaps would close without them: they only touched zero."""
        if unloaded and self.rubbing is not None and self.rubbing.signs:
            return closes_again(self.rubbing, self.state, unloaded, [i for i in self.closed if i not in unloaded])
        return pressed(self.setup, self.state, {*self.closed} - unloaded, unloaded, self.span)

    def let_go(self) -> None:
        """Where a switch gives way that held what a contact had let go of: it is decided anew who pushes."""
        now = self.now = self.matrices()
        before = {*self.closed}
        closed = before | self.at_rest(now, *self.near(now))
        if closed == before:
            self.loosen()
            return
        self.settle(closed, set())
        touch = {*self.closed} - before
        if touch:
            self.write("touch", min(touch), self.state[2])

    def given_way(self) -> tuple[dict[int, float], set[int]]:
        """Contacts that share a load and cannot any more: those that break loose, with signs of slips, or lift.

        None of them if there is another way to share it; then that is the one from here on.
        """
        assert self.rubbing is not None
        now = shared_now(self.rubbing, self.state)
        if now is None:
            return {}, set()
        if now.reserve > SPENT:
            self.rubbing.shares = now
            for i in now.members - {*self.guides}:  # other rows may stand for them all
                self.states[i] = PUSHING if i in now.normals else RESTING
            return {}, set()
        self.rubbing.spent = now.in_space
        return dict(now.breaks), set(now.lifts)

    def broken(self, rubbed: set[int]) -> dict[int, float]:
        """Of contacts whose friction has changed, those that stuck, with the signs of the slips that begin."""
        if self.rubbing is None:
            return {}
        stuck = [i for i in rubbed if self.rubbing.signs.get(i) == 0]
        if not stuck:
            return {}
        lam, slips, across = self.forces(), slip_rows(self.setup.lowered), across_rows(self.setup.lowered)
        space = [i for i in stuck if i in across]
        self.rubbing.ways |= {i: -unit(np.array([lam[slips[i]], lam[across[i]]])) for i in space}
        return {i: 1.0 if i in space else -float(np.sign(lam[slips[i]])) for i in stuck}

    def settle(
        self, closed: Iterable[int], lifted: set[int], broken: Mapping[int, float] = EMPTY, stopped: Set[int] = NONE
    ) -> None:
        """Who pushes, sticks and slides from here on; new ones are brought to their limits exactly."""
        closed, before = {*closed}, dict(self.states)
        require_few(self.setup, closed)
        self.opened |= closed
        signs = dict(self.rubbing.signs) if self.rubbing else {}
        spent = bool(self.rubbing and self.rubbing.spent)
        pushing, resting, opening = self.decided(closed, lifted, broken, stopped)
        for i in self.rows:
            self.states[i] = PUSHING if i in pushing else RESTING if i in resting else OPEN
        for i in self.closed:
            self.fastest.pop(i, None)
        self.require_lifted(lifted)
        left = [i for i in opening if before[i] != OPEN and i not in lifted]
        if left and not lifted:
            self.write("lift", left[0], self.state[2])
        self.write_stops(stopped, signs)
        self.write_given_way(spent, signs)
        new = any(self.states[i] == PUSHING and before[i] != PUSHING for i in self.rows)
        rough = self.rubbing.order if self.rubbing else ()
        if new or (self.rubbing and any(self.rubbing.signs.get(i) == 0 and signs.get(i) != 0 for i in rough)):
            self.pull_in()
        self.loosen()

    def decided(
        self, closed: set[int], lifted: set[int], broken: Mapping[int, float], stopped: Set[int]
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Contacts that push, that rest on others, and that open; with friction it is decided who sticks, too."""
        if self.rubbing is not None and (self.guides or any(i in self.rubbing.friction for i in closed)):
            stuck = {i for i, sign in self.rubbing.signs.items() if sign == 0} | self.rubbing.caught
            self.rubbing.caught = set()
            way = self.rubbing.decide(self.state, closed, lifted, broken, stopped | stuck)
            self.rubbing.signs, self.rubbing.shares = way.signs, way.shares
            self.rubbing.sides, self.rubbing.ways = dict(way.sides), dict(way.ways)
            self.shared |= way.loose
            return way.pushing, way.resting, way.opening
        if self.rubbing is not None:
            self.rubbing.signs, self.rubbing.shares = {}, None
        still = {i: self.scales.still(self.matrices(), i) for i in closed}
        found = decide(self.setup, self.state, closed, lifted, self.span, still)
        self.shared |= {*found.shared}
        return found.pushing, found.resting, found.opening

    def require_lifted(self, lifted: set[int]) -> None:
        """Stop where what has lifted pushes."""
        off = [i for i in sorted(lifted) if self.states[i] == PUSHING]
        if off:
            raise Stop(Status.CHATTERING, f"{self.named(off)} lifts and pushes at one instant.")

    def write_given_way(self, spent: bool, before: Mapping[int, float]) -> None:
        """Write down that contacts slide which shared a load in space until it was too much: it is known now who."""
        if spent and self.rubbing is not None:
            began = [i for i in self.closed if before.get(i) == 0 and self.rubbing.signs.get(i)]
            if began:
                self.write("slide", began[0], self.state[2])

    def write_stops(self, stopped: Set[int], before: Mapping[int, float]) -> None:
        """Write down what became of contacts whose slip has vanished: they stick, or slide the other way."""
        if self.rubbing is None:
            return
        ended = {i for i, sign in before.items() if sign and self.rubbing.signs.get(i) == 0}  # some with others
        for i in sorted(stopped | ended):
            now = self.rubbing.signs.get(i)
            if now == 0:
                self.write("stick", i, self.state[2])
            elif now is not None and (now == -before.get(i, 0.0) or self.rubbing.turns(i)):
                self.write("reverse", i, self.state[2])
