"""A motion taken on step by step, as a loop of control, a game or a lesson wants it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from zwang.arrays import Array
from zwang.display import Displayed, named, told
from zwang.engines.native import held, loop
from zwang.engines.native.engine import compiled, kernels_of, prepared, renew
from zwang.engines.native.runs import LoopStatus, restart
from zwang.engines.task import GOES_ON, Status, Task, Trajectory
from zwang.errors import InputError, SimulationError
from zwang.model import System
from zwang.model.event import Event
from zwang.model.has_system import HasSystem, begin_of, resets_of, start_of_one, system_of
from zwang.model.values import GivenValues, one_number, state_arrays
from zwang.motion.breaks import breaks_in, require_fit, switches_in
from zwang.motion.certificate import NEARLY_DEPENDENT, costs_tolerance
from zwang.motion.contact.onward import Onward
from zwang.motion.drive import Alone, Drive, Reached, integrate
from zwang.motion.handles.inputs import Inputs, follows, inputs_of
from zwang.motion.observe import how_it_ended
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.redundant import SUSPECT, require_agreement
from zwang.motion.resets.jump import Resets
from zwang.motion.resets.watched import Watched
from zwang.motion.setup import Setup
from zwang.motion.simulate import motion_from
from zwang.motion.start import Start, State, basis_at, first_basis, require_satisfied

if TYPE_CHECKING:
    import xarray as xr

DOUBLE = np.dtype(np.float64)
AT_ONCE = 20_000  # attempted steps before a look at what else there is to do
SAME_SLOPE = 1e-9  # slopes that differ by less go on without a kink
NEARLY_SINGULAR = 1e-6  # of the size of a pivot where rows were chosen: below it no motion is begun
LINE = 1e-9  # seconds that a line of a program takes, before it is optimised
FINISHED, RUNNING = int(LoopStatus.FINISHED), int(LoopStatus.RUNNING)


class Stepper(Displayed):
    """A motion that is taken on by `advance(dt, u)`, with inputs u that change from step to step.

    `inputs` are parameters and known functions of time, by symbol or by name; `u` are their values in this order. All
    others have the values that they are given in `parameters` or in the system. A mechanism begins at its own start,
    other systems where `start` says, at time `t`. Within dt the motion makes as many steps as `tol` asks for, each kept
    on the constraints; their size is remembered, so that a loop with short dt pays for one or two.

    It is `simulate` without what surrounds it: nothing is kept of the way, and of `events` only those are looked for
    that reset the state, in the time that `simulate` takes. No step is
    longer than dt; a force that acts more briefly needs a shorter one. Singular positions, switches and tables that
    bend within dt are met as `simulate` meets them, in its time. So are contacts, by the law `impacts`. `t`, `q` and
    `v` say where the motion is.

    >>> import zwang as zw
    >>> x, F = zw.coordinates("x F")
    >>> cart = zw.System((x,), kinetic=zw.dot(x)**2/2, forces={x: F}, parameters={F: None})
    >>> stepper = zw.Stepper(cart, {x: 0, zw.dot(x): 0}, inputs=[F])
    >>> for _ in range(10):
    ...     t, q, v = stepper.advance(0.1, 2.0)
    >>> print(f"{t:.3f} {q[0]:.6f} {v[0]:.6f}")
    1.000 1.000000 2.000000
    >>> t, q, v = stepper.advance(1.0, 0.0, interpolate=True)
    >>> print(f"{t:.3f} {q[0]:.6f} {v[0]:.6f}")
    2.000 3.666667 3.000000
    """

    _begun: Array  # where this step begins, …
    _earlier: Array  # … where the last one began, …
    _held: bool  # … and whether inputs were held over that

    def __init__(
        self,
        system: System | HasSystem,
        start: Mapping[Any, float] | None = None,
        inputs: Sequence[Any] = (),
        parameters: Mapping[Any, Any] | None = None,
        tol: float = 1e-9,
        *,
        t: float | None = None,
        impacts: str = "moreau",
        split: str = "compliant",
        events: Sequence[Event] = (),
    ) -> None:
        """Read what is given; if all inputs have values already, everything is compiled here."""
        self._given, self._start, self._parameters, self._tol = system, start, parameters, tol
        self._system = system_of(system, "Stepper", parameters)
        self._impacts, self._split, self._resets = impacts, split, resets_of(system, events)
        self._inputs: Inputs = inputs_of(self._system, parameters, inputs, sloping=True)
        if self._inputs.values.p.ndim != 1:
            raise InputError("parameters are arrays: a Stepper takes one value each")
        self.inputs = self._inputs.names
        self._count = (len(self.inputs),)
        self._follows = [(j, *found) for j, found in self._followed() if found[0] >= 0]
        self._lock = Lock()
        self.reset(start, t=t)

    def reset(
        self, start: Mapping[Any, float] | None = None, *, t: float | None = None, u: ArrayLike | None = None
    ) -> None:
        """Begin anew: at another start, or at the first one; with inputs u, or those of the system."""
        begin = one_number(begin_of(self._given, t), "t")
        start = self._start if start is None else start
        q, v = state_arrays(self._system, start_of_one(self._given, start, self._parameters, begin))
        if q.ndim != 1:
            raise InputError("a Stepper takes one start: give numbers, not arrays")
        setup = prepare(self._system, self._inputs.values, self._options(begin, begin + 1.0), contacts=True)
        first = self._inputs.first if u is None else self._inputs.read(u)
        with self._lock:
            self._setup, self._state, self._slope = setup, np.concatenate([[begin], q, v]), np.zeros(len(self.inputs))
            self._run: held.HeldRun | None = None
            self._onward: Onward | None = None
            self._sloped = False
            self._built = False
            if first is not None:
                self._build(first)
            else:
                self._require_start(begin, q, v)

    def _require_start(self, t: float, q: Array, v: Array) -> None:
        """Refuse a start that breaks its constraints whatever the inputs are, which have no values yet."""
        some, others = (
            Start(self._system, (t, q, v), replace(self._inputs.values, p=self._with(u, 0 * u, t).p))
            for u in (np.full(len(self.inputs), 1.0), np.full(len(self.inputs), 2.0))
        )
        rows = list(some.violated)
        one, other = ((now.residual[rows], now.residual_rate[rows]) for now in (some.matrices, others.matrices))
        if some.violated == others.violated and np.array_equal(one, other, equal_nan=True):
            require_satisfied(some)

    def __reduce__(self) -> Any:
        """Refuse to be copied or sent elsewhere: two would move one state."""
        raise InputError(
            "a Stepper is a motion on its way, in machine code, and cannot be copied or pickled: make another one, "
            "Stepper(system, start, …), that begins at its q and v"
        )

    def __repr__(self) -> str:
        """Where the motion is, in a line."""
        return told(self, self._system.name, f"t = {self.t:g}", named("coordinates", self.coordinates))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the coordinates, in the order of `q` and `v`."""
        return self._system.coordinate_names

    @property
    def t(self) -> float:
        """The time that is reached."""
        return float(self._state[0])

    @property
    def q(self) -> Array:
        """(n,) the positions there."""
        return np.array(self._state[1 : 1 + len(self._state) // 2])

    @property
    def v(self) -> Array:
        """(n,) the velocities there."""
        return np.array(self._state[1 + len(self._state) // 2 :])

    def advance(
        self, dt: float, u: ArrayLike | None = None, *, interpolate: bool = False
    ) -> tuple[float, Array, Array]:
        """The motion from t to t + dt: time, positions and velocities there.

        The inputs are u all the way, as a digital controller holds them; with `interpolate` they go from the last u to
        this one in a straight line. Without u they stay as they are. What cannot go on raises what `simulate` raises,
        and the stepper stays where it was; so it does where it is interrupted.
        """
        with self._lock:
            if type(dt) is not float:
                dt = one_number(dt, "dt")
            until = self._state[0] + dt
            if not self._state[0] < until < np.inf:
                raise InputError(f"dt = {dt!r} at t = {self._state[0]:.9g}: a positive number is needed that changes t")
            if not (type(u) is ndarray and u.dtype is DOUBLE and u.shape == self._count):
                u = self._read(u)
            if not self._built:
                self._build(u)
            if self._follows:
                self._require(u, dt, interpolate)
            over = dt if interpolate else 0.0
            run = self._run
            self._begun[...] = self._state
            if run is None or self._watched:
                self._slowly(until, u, over)
            else:
                run.given[...] = u
                try:
                    status = self._advance(self._held_at, self._runs_at, until, over, AT_ONCE)
                    if status != FINISHED or self._left[0] > self._allowed:
                        self._go_on(run, status, until, u, over)
                except KeyboardInterrupt:
                    run.restore()
                    raise
                self._advances += 1
                if self._advances == self._look:
                    self._improve(run)
            self._earlier, self._begun = self._begun, self._earlier
            self._held = not over
            return float(self._state[0]), self._q.copy(), self._v.copy()

    def _options(self, t: float, until: float) -> RunOptions:
        """What a motion is asked for: as exact as this one, and on its constraints."""
        drift = "projection" if any(c.order < 2 for c in self._system.constraints) else "none"
        return RunOptions(
            until, t, times=[until], method="native", tol=self._tol, drift=drift, progress=False, impacts=self._impacts,
            split=self._split, events=self._resets,
        )  # fmt: skip

    def _read(self, u: ArrayLike | None) -> Array:
        """The inputs that are meant: those given, or the last."""
        return self._inputs.read(u) if u is not None or not self._built else self._last.copy()

    def _build(self, u: Array) -> None:
        """The start is checked, kernels are compiled, and memory is laid out."""
        self._require_finite(u)
        setup = self._with(u, np.zeros(len(u)), 0.0)
        t, (q, v) = self.t, np.split(self._state[1:], 2)
        state: State = (t, q.copy(), v.copy())
        start = Start(self._system, state, replace(self._inputs.values, p=setup.p))
        self._last = np.array(u, dtype=float)
        self._watched = bool(setup.signals) or switches_in(setup) is not None
        if setup.contact is not None:
            require_satisfied(start)
        else:
            basis = first_basis(setup, start)
            if costs_tolerance(setup, basis, state):
                raise InputError(NEARLY_DEPENDENT)
        self._zeros = Watched(setup, basis, state).zeros() if setup.resets and setup.contact is None else ()
        if setup.locked is None and setup.contact is None and not setup.resets:
            nothing = Trajectory(GOES_ON, q[None][:0], v[None][:0], state)
            drive, at = (
                Drive(setup, Alone(), None, state, Resets(setup, 1.0)),
                Reached(state, np.array([t + 1.0]), t, nothing, basis),
            )
            self._task: Task = replace(
                drive.task(at, basis)[0], times=np.zeros(0), max_step=np.inf, quiet_step=np.inf, progress=None
            )
            runs = prepared(self._task, kernels_of(self._task))
            n, inputs = len(q), self._inputs
            at_values, at_slopes = ([1 + 2 * n + i for i in places] for places in (inputs.places, inputs.slopes))
            self._run = held.HeldRun.of(runs, at_values, at_slopes, 1 + 2 * n + inputs.since, self._last)
            self._state, self._last = runs.state[0], self._run.last
            self._advance, self._held_at = held.compiled(), self._run.record.ctypes.data
            self._runs_at, self._left = runs.records.ctypes.data, runs.records["left"]
            redundant = len(basis.rows) < len(self._system.constraints)
            self._allowed = SUSPECT if redundant else np.inf  # beyond it redundant constraints may be at odds
        self._q, self._v = np.split(self._state[1:], 2)
        self._begun, self._earlier, self._held = self._state.copy(), np.full_like(self._state, np.nan), False
        self._advances, self._look, self._built = 0, 64, True

    def _with(self, value: Array, slope: Array, since: float) -> Setup:
        """The setup with inputs that change from an instant on."""
        p, inputs = self._setup.p.copy(), self._inputs
        if len(value):
            p[list(inputs.places)], p[list(inputs.slopes)], p[inputs.since] = value, slope, since
        return replace(self._setup, p=p)

    def _go_on(self, run: held.HeldRun, status: int, until: float, u: Array, over: float) -> None:
        """What is left to do where the first call did not do all."""
        if status == held.NOT_A_NUMBER:
            self._require_finite(u)
        while status == RUNNING:
            status = loop.compiled()(self._runs_at, 0, until, AT_ONCE)
        if status == FINISHED and not self._left[0] > self._allowed:
            self._last[...] = u
            return
        run.restore()
        self._slowly(until, u, over)

    def _slowly(self, until: float, u: Array, over: float) -> None:
        """The same by `simulate`, which knows ways past singular positions, switches and what else stops a run.

        Where nothing of that is ahead, switches in time say so, and the quick way is taken.
        """
        self._require_finite(u)
        slope = (u - self._last) / over if over else np.zeros(len(u))
        t, setup = self.t, self._with(self._last if over else u, slope, self.t)
        run = self._run
        if run is not None and self._watched:
            require_fit(self._system, setup.signals, setup.method, t, until)
            if not len(breaks_in(setup, setup.p[None], t, until)[0]):
                run.given[...] = u
                status = RUNNING
                try:
                    status = self._advance(self._held_at, self._runs_at, until, over, AT_ONCE)
                finally:
                    if not (done := status == FINISHED and not self._left[0] > self._allowed):
                        run.restore()
                if done:
                    return
        if setup.contact is not None:
            values = replace(self._inputs.values, p=setup.p)
            self._in_contact(Start(self._system, (t, self.q, self.v), values), setup, until, u, over)
            return
        if setup.resets:
            self._jumping(setup, until, u)
            return
        motion = self._simulated(setup, until, over == 0.0 and bool((u == self._last).all()))
        if motion.attrs["status"] == Status.INTERRUPTED:
            raise KeyboardInterrupt
        q, v = motion.q.values[-1], motion.v.values[-1]
        if run is None:
            self._state[...] = np.concatenate([[until], q, v])
        else:
            restart(run.runs, q, v, t=until)
            self._left[0] = 0.0
        self._last[...] = u

    def _in_contact(self, start: Start, setup: Setup, until: float, u: Array, over: float) -> None:
        """The same with contacts, which remember what they do."""
        t, changed = self.t, bool(over or self._sloped or (u != self._last).any())
        self._sloped = bool(over)
        require_fit(self._system, setup.signals, setup.method, t, until)
        breaks = breaks_in(setup, setup.p[None], t, until)[0]
        setup = replace(setup, breaks=breaks, max_step=until - t, quiet_step=until - t)
        onward, self._onward = self._onward or Onward(setup, start, self._impacts, self._split), None
        _, q, v = onward.advance(setup, until, changed)
        self._onward = onward  # what has failed begins anew, where it was
        self._state[...] = np.concatenate([[until], q, v])
        self._last[...] = u

    def _jumping(self, setup: Setup, until: float, u: Array) -> None:
        """The same where events reset the state: those met at the very end count as zero from there on."""
        state: State = (self.t, self.q, self.v)
        require_fit(self._system, setup.signals, setup.method, state[0], until)
        longest = until - state[0]
        breaks = breaks_in(setup, setup.p[None], state[0], until)[0]
        setup = replace(setup, breaks=breaks, max_step=longest, quiet_step=longest)
        segments, path = integrate(setup, state, np.array([until]), None, basis_at(setup, state), None, self._zeros)
        if path.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if path.status is not GOES_ON:
            raise SimulationError(how_it_ended(setup.events, path), str(path.status), None)
        require_agreement(path, until)
        _, q, v = path.end
        last = {h.which for h in path.hits if h.t == until}
        self._zeros = tuple(i for i in Watched(setup, segments[-1].basis, path.end).zeros() if i in last)
        self._state[...] = np.concatenate([[until], q, v])
        self._last[...] = u

    def _simulated(self, setup: Setup, until: float, steady: bool) -> "xr.Dataset":
        """The motion from here; from where the last step began, if that has ended at a singular position."""
        values, t = replace(self._inputs.values, p=setup.p), self.t
        try:
            return motion_from(Start(self._system, (t, self.q, self.v), values), self._options(t, until))
        except (InputError, SimulationError) as error:
            if not self._singular(setup):
                raise
            past = self._past(until, values, steady)
            if past is None:
                raise SimulationError(
                    f"the last step ended at t = {t:.12g}, at a singular position or just beside one, where the rank "
                    f"of the constraints changes: how the motion goes on from there is not determined by where it is; "
                    f"begin anew (reset) before it, and let no step end there",
                    str(Status.SINGULAR),
                    getattr(error, "motion", None),
                ) from None
            return past

    def _singular(self, setup: Setup) -> bool:
        """Whether the last step has ended at a singular position, or so near that nothing can begin there."""
        if self._run is None or not np.isfinite(self._earlier[0]):
            return False
        task = self._task
        pivots = compiled(task.acceleration)(**setup.named(task.acceleration, (self.t, self.q, self.v)))["pivots"]
        return not (np.abs(pivots) > NEARLY_SINGULAR * np.abs(task.pivot_scale)).all()

    def _past(self, until: float, values: GivenValues, steady: bool) -> "xr.Dataset | None":
        """The motion from where the last step began, across the singular position at which it has ended.

        How it goes on is determined by what was before. None where there is no way, or where other inputs than over
        the last step are asked for: these cannot be taken back there.
        """
        if not (steady and self._held):
            return None
        t, (q, v) = float(self._earlier[0]), np.split(self._earlier[1:].copy(), 2)
        try:
            return motion_from(Start(self._system, (t, q, v), values), self._options(t, until))
        except (InputError, SimulationError):
            return None

    def _improve(self, run: held.HeldRun) -> None:
        """Go on with optimised code if so much was computed that it pays."""
        self._look *= 2
        spent = int(run.runs.records["evaluations"][0]) * LINE * kernels_of(self._task).work
        renew(self._task, run.runs, spent)

    def _followed(self) -> list[tuple[int, tuple[int, Any]]]:
        """Which derivative of each input the motion has to follow."""
        return [(j, follows(self._system, s)) for j, s in enumerate(self._inputs.symbols)]

    def _require_finite(self, u: Array) -> None:
        """Refuse inputs that are not finite numbers, by name."""
        for name, value in zip(self.inputs, u.tolist(), strict=True):
            if not np.isfinite(value):
                raise InputError(f"{name} = {value} is not finite")

    def _require(self, u: Array, dt: float, interpolate: bool) -> None:
        """Refuse inputs that jump where the motion has to follow them."""
        slope = (u - self._last) / dt if interpolate else np.zeros(len(u))
        for j, order, where in self._follows:
            jumps = "jumps" if not interpolate and u[j] != self._last[j] else ""
            change, size = abs(slope[j] - self._slope[j]), abs(slope[j]) + abs(self._slope[j])
            if order > 0 and change > SAME_SLOPE * size:
                jumps = jumps or "changes its rate at once"
            if jumps:
                remedy = "use interpolate=True, or begin anew with reset" if order == 0 else "begin anew with reset"
                raise InputError(
                    f"{where} asks the motion to follow {self.inputs[j]}, which {jumps} at t = {self.t:.9g}, from "
                    f"{self._last[j]:.9g} to {u[j]:.9g}: no finite force can do that; {remedy}"
                )
        self._slope = slope
