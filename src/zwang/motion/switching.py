"""Motion from switch to switch: an engine runs with its modes held, and stops where one has to change.

At a switch the accelerations on both sides tell how the motion goes on: across, or back where it came from, or
neither, where both sides push back onto the switch (dry friction written as sign(v)). Then it would slide along the
switch, which the equations do not describe: the run stops and says so.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from zwang.arrays import EPS, TINIEST, Array
from zwang.compile import AnyProgram
from zwang.engines.native.engine import compiled
from zwang.engines.task import EventHit, Status, Task, Trace, Trajectory, appended
from zwang.lowering.locked import NOT_HELD, Locked
from zwang.motion.saltation import Beside, State
from zwang.motion.singular.leap import inputs

Engine = Callable[[Task], Trajectory]

SOON = 1e-6  # how far ahead to look from a switch, in terms of the time in which the motion changes
FURTHER = (1, 32, 1024)  # times as far, where nothing changes yet
SLOW = 1e-3  # of the span: a motion at rest does not change faster than in this
LOOK_BACK = 1e3  # the same for a look back
INSTANT = 1e-13  # of time and span: what happens so soon happens now
EITHER_SIDE = 1e-9  # of time and span: a saved time so near to a switch may be on either side of it
ARGUMENT_NOISE = 8 * EPS  # of the terms that make up an argument
LEAVES = 1e-13  # an argument that is zero and stays zero has left when it is larger
UNCHANGED = 1e-9  # of a value: a change by less is none
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


def switching(engine: Engine) -> Engine:
    """An engine that holds the modes of a task while it runs, and changes them in between."""

    def run(task: Task) -> Trajectory:
        return engine(task) if task.switches is None else Course(task, task.switches, engine).run()

    return run


class Course:
    """One run from switch to switch."""

    def __init__(self, task: Task, switches: Switches, engine: Engine) -> None:
        """Nothing decided yet."""
        self.task, self.switches, self.engine = task, switches, engine
        self.locked, self.count = switches.locked, len(switches.locked.switches)
        self.state: State = (task.t, task.q, task.v)
        self.span = abs(float(task.times[-1]) - task.t)
        self.modes = self.locked.literal
        self.total: Trajectory | None = None
        self.instants: list[float] = []
        self.given = inputs(task, *self.state)  # of programs; state and modes are put in as they are

    def run(self) -> Trajectory:
        """To the end, or to what stops the motion."""
        stuck = self.settle(self.modes, {})
        if stuck is not None:
            return self.stopped(Status.SLIDING, stuck)
        if self.switches.beside:
            self.switches.beside.begin(self)
        literal = False  # whether the modes are not held, since the equation has no value beyond a switch
        while True:
            modes = self.modes.copy()
            if literal:
                modes[: self.count] = NOT_HELD
            before = self.state[0]
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
            if path.end[0] != before or fired:
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
            self.meet_zeros()
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
        if self.so_far.pivot_scale is not None:
            task = replace(task, pivot_scale=self.so_far.pivot_scale, volume=self.so_far.volume)
        path = self.engine(task)
        if stop is not None and stop not in self.ahead and len(path.q) == len(times):
            path = replace(path, q=path.q[:-1], v=path.v[:-1], trace=path.trace and path.trace.first(len(path.q) - 1))
        path = replace(path, trace=path.trace and self.unheld(path.trace, times[: len(path.q)], (t, path.end[0])))
        self.total = appended(self.so_far, path, self.own(path))
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
                which, rises = self.locked.rows[h.which - self.switches.own]
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
        self.modes, locked = old.copy(), self.locked
        tau, before = self.soon(), old[self.count : 2 * self.count]
        now = INSTANT * (abs(self.state[0]) + self.span) / abs(tau)
        known = (before != NOT_HELD) & ((before != 0) | ~locked.signs)
        due = np.zeros(self.count, dtype=bool)
        due[list(fired)] = True
        done = 0
        while done < self.count:
            values, sizes = self.argument(self.modes, self.state)
            levels = np.where(known, before, locked.levels(values))
            low, high = locked.limits(levels)
            inside = np.minimum(values - low, high - values)
            noise = ARGUMENT_NOISE * sizes
            near = due | ~((inside > noise) & (inside > now * np.abs(self.changes(self.modes, tau))))
            i = done + int(np.argmax(near[done:])) if near[done:].any() else self.count
            self.keep(slice(done, i), levels)
            if i < self.count:
                up = fired[i] if i in fired else bool(high[i] - values[i] < values[i] - low[i])
                basis = self.decide(i, float(before[i]) if known[i] else None, up, tau)
                if basis is None:
                    return self.words(i, "along")
                self.put(i, basis, float(noise[i]))
            done = i + 1
        return None

    def keep(self, which: slice, levels: Array) -> None:
        """Hold switches that are well inside their levels."""
        for k, values in enumerate((levels, levels, np.zeros_like(levels))):
            self.modes[k * self.count : (k + 1) * self.count][which] = values[which]

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

    def soon(self) -> float:
        """A time in which the motion changes little."""
        _, _, v = self.state
        a, n = self.acceleration(self.modes, self.state), len(self.locked.readings.inputs["q"])
        speed, pace = float(np.abs(v[:n]).max()), float(np.abs(a[:n]).max())
        scale = max(speed / pace, SLOW * self.span) if pace > 0 else self.span
        sense = 1.0 if self.task.times[-1] >= self.task.t else -1.0
        return sense * SOON * min(self.span, scale)

    def change(self, modes: Array, i: int, tau: float) -> float:
        """By how much an argument changes within a short time, if modes are these; per unit of the run's sense."""
        return float(self.changes(modes, tau)[i])

    def changes(self, modes: Array, tau: float) -> Array:
        """The same of all arguments."""
        t, q, v = self.state
        a = self.acceleration(modes, self.state)
        later = (t + tau, q + tau * v + tau**2 / 2 * a, v + tau * a)
        return np.asarray(self.argument(modes, later)[0] - self.argument(modes, self.state)[0])

    def reading(self, modes: Array, i: int) -> tuple[float, float]:
        """An argument at the present state, and the size of its terms."""
        values, sizes = self.argument(modes, self.state)
        return float(values[i]), float(sizes[i])

    def argument(self, modes: Array, state: State) -> tuple[Array, Array]:
        """The arguments of all switches at a state, and the sizes of their terms."""
        out = self.evaluated(self.locked.readings, modes, state)
        return out["argument"], out["size"]

    def acceleration(self, modes: Array, state: State) -> Array:
        """The acceleration at a state; where a mode has no value there, as if none were held."""
        held = self.evaluated(self.task.acceleration, modes, state)["acceleration"]
        if np.isfinite(held).all():
            return held
        return self.evaluated(self.task.acceleration, self.locked.literal, state)["acceleration"]

    def evaluated(self, program: AnyProgram, modes: Array, state: State) -> dict[str, Array]:
        """What a program says at a state."""
        return compiled(program)(**self.inputs_of(program, modes, state))

    def inputs_of(self, program: AnyProgram, modes: Array, state: State) -> dict[str, Array]:
        """The inputs of a program at a state: as much as it takes of what is the motion's and what is beside it."""
        t, q, v = state
        now = self.given | {"t": np.array([t]), "q": q, "v": v, "modes": modes}
        return {name: now[name][: len(symbols)] for name, symbols in program.inputs.items()}

    def parameters(self, modes: Array) -> Array:
        """The task's parameters with given modes."""
        p = self.task.p.copy()
        p[self.switches.place] = modes
        return p

    def jump(self, old: Array) -> str:
        """What jumps between the old modes and the new ones though no finite force could make it, in words.

        What is continuous differs less and less between the modes on the way to the switch; a jump is as large here.
        """
        changed = np.flatnonzero(old[: self.count] != self.modes[: self.count])
        if not self.locked.steady_names or {*changed.tolist()} <= {*self.locked.timed}:
            return ""
        t, q, v = self.state
        a, back = self.acceleration(old, self.state), LOOK_BACK * self.soon()
        earlier = (t - back, q - back * v + back**2 / 2 * a, v - back * a)
        here, there = (
            np.subtract(*(self.evaluated(self.locked.steady, modes, state)["value"] for modes in (self.modes, old)))
            for state in (self.state, earlier)
        )
        size = np.abs(self.evaluated(self.locked.steady, old, self.state)["value"])
        jumps = (np.abs(here) > UNCHANGED * size) & (np.abs(here) > np.abs(there) / 2)
        if not jumps.any():
            return ""
        where = self.locked.switches[int(changed[0])].words if len(changed) else "a switch"
        return f"At {where}, {self.locked.steady_names[int(np.argmax(jumps))]} jumps: no finite force can do that."

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

    def meet_zeros(self) -> None:
        """Write down the user's events that are zero here exactly: an event that is zero at a start does not fire."""
        if not self.switches.own or self.task.events is None or self.total is None:
            return
        values = self.evaluated(self.task.events.program, self.modes, self.state)["event"][: self.switches.own]
        t, q, v = self.state
        soon = INSTANT * (abs(t) + self.span)
        for which in np.flatnonzero(values == 0):
            if any(h.which == which and abs(h.t - t) <= soon for h in self.total.hits):
                continue
            tau = self.soon()
            a = self.acceleration(self.modes, self.state)
            back = (t - tau, q - tau * v + tau**2 / 2 * a, v - tau * a)
            earlier = self.evaluated(self.task.events.program, self.modes, back)["event"][which]
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
        return (
            f"The motion would go on {how} the switch at {self.locked.switches[i].words}: both sides push back onto it."
        )
