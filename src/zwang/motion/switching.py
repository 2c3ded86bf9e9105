"""Motion from switch to switch: an engine runs with its modes held, and stops where one has to change.

At a switch the accelerations on both sides tell how the motion goes on: across, or back where it came from, or
neither, where both sides push back onto the switch (dry friction written as sign(v)). Then it goes on along the switch,
with forces between those of both sides (`resting`), until these no longer hold it. A switch of positions alone has no
such forces: there the run stops and says so.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import EPS, TINIEST, Array
from zwang.engines.task import EventHit, Status, Task, Trace, Trajectory, appended
from zwang.lowering.locked import NOT_HELD, Locked
from zwang.motion.at_switch import Along, AtSwitch, Standing
from zwang.motion.directions import directions_of, kept_still
from zwang.motion.resting import Log, decided
from zwang.motion.saltation import Beside
from zwang.words import listed

Engine = Callable[[Task], Trajectory]

FURTHER = (1, 32, 1024)  # times as far, where nothing changes yet
INSTANT = 1e-13  # of time and span: what happens so soon happens now
EITHER_SIDE = 1e-9  # of time and span: a saved time so near to a switch may be on either side of it
ARGUMENT_NOISE = 8 * EPS  # of the terms that make up an argument
LEAVES = 1e-13  # an argument that is zero and stays zero has left when it is larger
CHATTERS = 100  # switches in a row, whose time is compared with that of as many at half their number
FASTER = 0.7  # of that time: they come faster now
TOO_MANY = 20_000  # switches ahead at the present pace


@dataclass(frozen=True)
class Switches:
    """The switches of a task: where its modes are among its parameters, and how many events are the user's own."""

    locked: Locked
    place: slice
    own: int
    beside: Beside | None = None
    """Sensitivities, which jump where switches change."""
    along: Callable[[], Along] | None = None
    """Makes the programs of a motion along switches, when the first rests; none where none can."""
    may_rest: tuple[int, ...] = ()
    """The switches that can."""
    still: tuple[int, ...] = ()
    """Switches that stay at zero whatever their forces are: something else holds them there."""
    pauses: tuple[int, ...] = ()
    """Events that end the run where a switch that rests gives way towards their falling: something may hold there."""


def switching(engine: Engine) -> Engine:
    """An engine that holds the modes of a task while it runs, and changes them in between."""

    def run(task: Task) -> Trajectory:
        return engine(task) if task.switches is None else Course(task, task.switches, engine).run()

    return run


class Course(AtSwitch):
    """One run from switch to switch."""

    def __init__(self, task: Task, switches: Switches, engine: Engine) -> None:
        """Nothing decided yet."""
        super().__init__(task, switches.locked, switches.along)
        self.switches, self.engine = switches, engine
        self.total: Trajectory | None = None
        self.instants: list[float] = []
        self.log = Log(self)

    def run(self) -> Trajectory:
        """To the end, or to what stops the motion, with what rested on the way."""
        return self.log.whole(self.whole())

    def whole(self) -> Trajectory:
        """To the end, or to what stops the motion."""
        stuck = self.settle(self.modes, {})
        if stuck is not None:
            return self.stopped(Status.SLIDING, stuck)
        if self.switches.beside:
            self.state = self.switches.beside.begin(self)
        self.log.rested(self.modes)
        literal = False  # whether the modes are not held, since the equation has no value beyond a switch
        while True:
            modes = self.modes.copy()
            if literal:
                modes[: self.count][~self.rests(modes)] = NOT_HELD
            began = self.state[0]
            path = self.advance(modes)
            if path.status in (Status.NOT_FINITE, Status.STEP_TOO_SMALL) and not literal:
                literal = True
                continue
            fired = self.fired(path)
            waits = path.status is Status.FINISHED and len(self.ahead) > 0  # at an instant where switches may change
            if waits:
                fired = self.timed()
            elif path.status is not Status.EVENT or self.ended_by_user(path):
                return self.finished(path)
            if path.end[0] != began or fired:
                literal = False
            old = self.modes
            stuck = self.settle(old, fired)
            if stuck is not None:
                return self.stopped(Status.SLIDING, stuck)
            jump = self.jump(old)
            if jump:
                return self.stopped(Status.NOT_FINITE, jump)
            self.store(old)
            if self.switches.beside:
                self.state = self.switches.beside.across(self, old, list(fired))
            self.log.rested(self.modes)
            gave_way = bool((self.rests(old) & ~self.rests(self.modes)).any())
            if gave_way and self.switches.pauses and self.falls(self.switches.pauses):
                return replace(self.so_far, status=Status.EVENT)
            self.meet_zeros(old)
            if fired and self.chatters():
                return self.stopped(Status.SLIDING, self.words(next(iter(fired), 0), "ever faster, to and fro across"))
            if not len(self.ahead):
                return replace(self.so_far, status=Status.FINISHED)

    @property
    def so_far(self) -> Trajectory:
        """The account until now."""
        if self.total is None:
            nothing = np.zeros((0, len(self.task.q)))
            return Trajectory(Status.FINISHED, nothing, nothing, self.state)
        return self.total

    @property
    def ahead(self) -> Array:
        """The times yet to be saved."""
        return self.task.times[len(self.so_far.q) :]

    def advance(self, modes: Array) -> Trajectory:
        """The engine, from the present state on with the given modes; what it did is added to the account."""
        t, q, v = self.state
        times, stop = self.ahead, self.next_stop()
        if stop is not None:
            times = times[times <= stop]
            times = times if len(times) and times[-1] == stop else np.append(times, stop)
        task = replace(self.task, t=t, q=q, v=v, times=times, p=self.parameters(modes), switches=None)
        if self.rests(modes).any():
            task = replace(task, acceleration=self.along.acceleration, events=self.along.events, pencil=None)
        if self.total is not None:
            task = replace(task, at_zero=())
        if self.so_far.pivot_scale is not None:
            task = replace(task, pivot_scale=self.so_far.pivot_scale, volume=self.so_far.volume)
        path = self.engine(task)
        if stop is not None and stop not in self.ahead and len(path.q) == len(times):
            path = replace(path, q=path.q[:-1], v=path.v[:-1], trace=path.trace and path.trace.first(len(path.q) - 1))
        path = replace(path, trace=path.trace and self.unheld(path.trace, times[: len(path.q)], (t, path.end[0])))
        self.total = appended(self.so_far, path, self.own(path))
        self.log.saved(modes, len(path.q))
        self.state = path.end
        return path

    def unheld(self, trace: Trace, times: Array, ends: tuple[float, float]) -> Trace:
        """What is kept of saved times; at a switch an acceleration says nothing, for it is that of either side."""
        beside = max(EITHER_SIDE, 10 * self.task.tol) * (abs(ends[1]) + self.span)
        apart = np.min([np.abs(times - end) for end in ends], axis=0) > beside
        return replace(trace, size=np.where(apart, trace.size, 0.0))

    def next_stop(self) -> float | None:
        """The next instant at which a switch that is held may change with time alone; the engine ends there."""
        if not self.locked.timed:
            return None
        ahead = self.task.breaks[(self.task.breaks > self.state[0]) & (self.task.breaks < self.task.times[-1])]
        return float(ahead[0]) if len(ahead) else None

    def timed(self) -> dict[int, bool]:
        """Those of these switches that change at the present instant, and whether their arguments rise."""
        t, q, v = self.state
        values, _ = self.argument(self.modes, (float(np.nextafter(t, np.inf)), q, v))
        ended = {}
        for i in self.locked.timed:
            low, high = self.locked.switches[i].limits(self.modes[self.count + i])
            if not low <= values[i] <= high:
                ended[i] = bool(values[i] > high)
        return ended

    def own(self, path: Trajectory) -> tuple[EventHit, ...]:
        """The user's events of a stretch; not again what was met when it began."""
        soon = INSTANT * (abs(path.end[0]) + self.span)
        last = {h.which: h.t for h in self.so_far.hits}
        return tuple(
            h for h in path.hits if h.which < self.switches.own and not abs(h.t - last.get(h.which, np.inf)) <= soon
        )

    def fired(self, path: Trajectory) -> dict[int, bool]:
        """The switches whose levels end at the end of a stretch, and whether their arguments rise there."""
        ended = {}
        for h in path.hits:
            if h.which >= self.switches.own and h.t == path.end[0]:
                place = h.which - self.switches.own
                if place >= len(self.locked.rows):  # a switch that rests: its share is too large, or it does not follow
                    k = place - len(self.locked.rows)
                    if k < len(self.along.which):
                        share = self.evaluated(self.along.shares, self.modes, path.end)["share"][k]
                        ended[self.along.which[k]] = bool(share > 0)
                    continue
                which, rises = self.locked.rows[place]
                level = self.modes[self.count + which]
                if rises or level:  # a sign that was zero and is no longer is known by its value
                    ended[which] = (rises or -level) > 0
        return ended

    def is_sign(self, which: int) -> bool:
        """Whether a switch is decided by a sign; otherwise it is a floor."""
        return bool(self.locked.signs[which])

    def ended_by_user(self, path: Trajectory) -> bool:
        """Whether an event of the user's own stops the motion here."""
        stop = self.task.events.stop if self.task.events else ()
        return any(h.which < self.switches.own and stop[h.which] and h.t == path.end[0] for h in path.hits)

    def settle(self, old: Array, fired: dict[int, bool]) -> str | None:
        """The modes with which the motion goes on; or why it does not.

        Inner switches come first, so that each finds those that its argument contains decided. Those that are far from
        where they change keep their levels, all up to the next that has to be decided at once.
        """
        self.modes = kept_still(self, old, [i for i in self.switches.still if i not in fired])
        tau, rested = self.soon(), self.rests(old)
        on = {i: (1 if fired[i] else -1) if i in fired else 0 for i in np.flatnonzero(rested).tolist()}
        if self.switches.may_rest:
            near = self.standing(old, fired, tau).near
            on |= {i: 0 for i in self.switches.may_rest if near[i] and i not in on}
        several = len(on) > 1 or rested.any()
        on = {i: on[i] for i in directions_of(self, self.state).pushing(on)} if several else {}
        if words := self.rest(on):
            return words
        done = 0
        while done < self.count:
            at = self.standing(old, fired, tau)
            free = ~self.rests(self.modes)
            free[list(on)] = False
            ends = np.flatnonzero(at.near[done:] & free[done:])
            i = done + int(ends[0]) if len(ends) else self.count
            self.keep(free & (np.arange(self.count) >= done) & (np.arange(self.count) < i), at.levels)
            if i < self.count:
                up = fired[i] if i in fired else bool(at.high[i] - at.values[i] < at.values[i] - at.low[i])
                basis = self.decide(i, float(at.levels[i]) if at.known[i] else None, up, tau)
                if basis is not None:
                    self.put(i, basis, float(at.noise[i]))
                elif words := self.rest({i: 0}) if i in self.switches.may_rest else self.words(i, "along"):
                    return words
            done = i + 1
        return None

    def standing(self, old: Array, fired: dict[int, bool], tau: float) -> Standing:
        """Where all switches stand, that had old levels: those that are near change at once, or may."""
        before, locked = old[self.count : 2 * self.count], self.locked
        values, sizes = self.argument(self.modes, self.state)
        # a sign that was zero, or a switch that rested, may go either way
        known = (before != NOT_HELD) & ((before != 0) | ~locked.signs)
        levels = np.where(known, before, locked.levels(values))
        low, high = locked.limits(levels)
        inside, noise = np.minimum(values - low, high - values), ARGUMENT_NOISE * sizes
        now = INSTANT * (abs(self.state[0]) + self.span) / abs(tau)
        near = ~((inside > noise) & (inside > now * np.abs(self.changes(self.modes, tau))))
        near[list(fired)] = True
        return Standing(values, levels, known, low, high, noise, near)

    def keep(self, which: NDArray[np.bool_], levels: Array) -> None:
        """Hold switches that are well inside their levels."""
        for k, values in enumerate((levels, levels, np.zeros_like(levels))):
            self.modes[k * self.count : (k + 1) * self.count][which] = values[which]

    def rest(self, on: Mapping[int, int]) -> str:
        """Let those of some switches rest that can, and the others leave; or say why that is not known."""
        if not on:
            return ""
        instant = INSTANT * (abs(self.state[0]) + self.span)
        found = decided(self, on, instant)
        if isinstance(found, str):
            return f"The motion would go on along {self.places(on)}, but {found}."
        self.modes, self.state = found.modes, found.state
        for i, side in found.sides.items():
            if side:
                self.put(i, side, 0.0)
                self.modes[2 * self.count + i] += found.pull[i] * instant  # a speed that is none
        return ""

    def places(self, which: Iterable[int]) -> str:
        """Where some switches are, in words."""
        words = [self.locked.switches[i].words for i in which]
        return f"the {'switches' if len(words) > 1 else 'switch'} at {listed(words)}"

    def decide(self, i: int, level: float | None, up: bool, tau: float) -> float | None:
        """The level on which the motion leaves a boundary; None if it cannot.

        `level` is where it comes from, if that is known, and `up` whether the boundary is met from below.
        """
        switch = self.locked.switches[i]
        value, size = self.reading(self.modes, i)
        here = level if level is not None else switch.level(value)
        below, above = switch.around(here, up if self.is_sign(i) or level is not None else value < round(value))

        def change(side: float) -> float:
            modes = self.modes.copy()
            modes[i] = side
            looks = (self.change(modes, i, times * tau) for times in FURTHER)
            return next((by for by in looks if abs(by) > ARGUMENT_NOISE * size), 0.0)

        if level is not None:
            sense, near, far = (1.0, below, above) if up else (-1.0, above, below)
            if sense * change(far) >= 0:
                return far
            return near if sense * change(near) < 0 else None
        rises, falls, literal = change(above), change(below), change(NOT_HELD)
        if rises < 0 < falls and i in self.switches.may_rest:
            return None
        if (rises > 0) != (falls < 0):
            return above if rises > 0 else below
        if literal == 0 or (rises <= 0 and 0 in (rises, falls)):
            return 0.0 if self.is_sign(i) else here  # it stays, as far as can be seen
        return None if rises <= 0 else above if literal > 0 else below

    def put(self, i: int, level: float, noise: float) -> None:
        """Hold a switch at a level. A slack keeps a level from ending in the rounding of where it began."""
        switch, count = self.locked.switches[i], self.count
        self.modes[i], self.modes[count + i], self.modes[2 * count + i] = level, level, 0.0
        if level == 0 and self.is_sign(i):
            self.modes[i] = NOT_HELD  # neither side: read from the state, as it is
            self.modes[2 * count + i] = LEAVES + 8 * noise
            return
        value, _ = self.reading(self.modes, i)
        low, high = switch.limits(level)
        inside = min(value - low, high - value)
        if inside <= noise:
            self.modes[2 * count + i] = 2 * abs(min(inside, 0.0)) + noise + TINIEST

    def parameters(self, modes: Array) -> Array:
        """The task's parameters with given modes."""
        p = self.task.p.copy()
        p[self.switches.place] = modes
        return p

    def store(self, old: Array) -> None:
        """Energy that a switch brings in, where a potential jumps in time, or a given mass: it counts as work."""
        if self.locked.energy is None or self.total is None:
            return
        sides = (self.modes, old, self.locked.literal)
        after, before, read = (float(self.evaluated(self.locked.energy, m, self.state)["energy"][0]) for m in sides)
        trace, t = self.total.trace, self.state[0]
        if trace:  # times saved at the switch itself are reported as it reads there
            here = np.abs(self.task.times[: len(trace.work)] - t) <= EITHER_SIDE * (abs(t) + self.span)
            trace = replace(trace, work=trace.work + np.where(here, read - before, 0.0))
        self.total = replace(self.total, worked=self.total.worked + after - before, trace=trace)

    def meet_zeros(self, old: Array) -> None:
        """Write down the user's events that are zero here exactly: an event that is zero at a start does not fire.

        Unless they were zero before, in the old modes.
        """
        if not self.switches.own or self.task.events is None or self.total is None:
            return
        values = self.watched(self.modes, self.state)[: self.switches.own]
        t, q, v = self.state
        soon = INSTANT * (abs(t) + self.span)
        for which in np.flatnonzero(values == 0):
            if any(h.which == which and abs(h.t - t) <= soon for h in self.total.hits):
                continue
            tau = self.soon()
            a = self.acceleration(old, self.state)
            back = (t - tau, q - tau * v + tau**2 / 2 * a, v - tau * a)
            earlier = self.watched(old, back)[which]
            if earlier != 0 and self.task.events.direction[which] * -earlier >= 0:
                met = EventHit(t, int(which), q, v)
                self.total = replace(self.total, hits=(*self.total.hits, met))

    def chatters(self) -> bool:
        """Whether switches follow each other ever faster, and no end of them is in sight."""
        self.instants.append(self.state[0])
        met, half = self.instants, len(self.instants) // 2
        if half < CHATTERS:
            return False
        earlier, now = (abs(met[k - 1] - met[k - CHATTERS]) for k in (half, len(met)))
        ahead = abs(float(self.task.times[-1]) - self.state[0])
        return now <= FASTER * earlier and ahead * CHATTERS > TOO_MANY * now

    def finished(self, path: Trajectory) -> Trajectory:
        """The account, as the last stretch ended."""
        mine = list(self.so_far.hits)
        stop = self.task.events.stop if self.task.events else ()
        mine.sort(key=lambda h: h.t == path.end[0] and bool(stop[h.which]))  # what stopped the motion comes last
        return replace(self.so_far, status=path.status, hits=tuple(mine))

    def stopped(self, status: Status, words: str) -> Trajectory:
        """The account of a motion that ends at a switch."""
        t, q, v = self.state
        now = int(np.searchsorted(self.ahead, t, side="right")) if len(self.ahead) and self.ahead[0] == t else 0
        account = replace(
            self.so_far,
            q=np.concatenate([self.so_far.q, np.tile(q, (now, 1))]),
            v=np.concatenate([self.so_far.v, np.tile(v, (now, 1))]),
        )
        return replace(account, status=status, end=self.state, notes=(*account.notes, words))

    def words(self, i: int, how: str) -> str:
        """Why the motion does not go on."""
        return f"The motion would go on {how} {self.places([i])}: both sides push back onto it."
