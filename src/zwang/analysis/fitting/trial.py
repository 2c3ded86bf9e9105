"""One measured motion, and what a model with given values of the unknowns says of it, with exact derivatives."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.analysis.fitting.measured import Measured
from zwang.arrays import Array
from zwang.compile import Kernel, Program, compile_program
from zwang.compile.tangent import tangent
from zwang.equations.languages import translate
from zwang.errors import InputError
from zwang.lowering.cache import Kept
from zwang.lowering.perturbed import named
from zwang.model import System
from zwang.model.has_system import HasSystem
from zwang.model.state import Description
from zwang.model.symbols import as_scalar, in_a_line, rates
from zwang.model.symbols import t as time
from zwang.model.values import by_name, one_number, suggestion
from zwang.motion.assemble import assemble, described_by
from zwang.motion.direction import admissible_along
from zwang.motion.sensitivity import sensitivities

if TYPE_CHECKING:
    import xarray as xr

_KERNELS: Kept[Kernel] = Kept()


@dataclass(frozen=True, eq=False)
class Trial:
    """A measured motion: data, start as expressions in the unknowns, expressions that were measured, weights (N, k)."""

    given: Any
    system: System
    data: Measured
    start: Mapping[Any, Any] | None
    observe: tuple[sp.Expr, ...]
    weights: Array
    unknown: tuple[sp.Symbol, ...]
    parameters: Mapping[Any, Any]
    t: float
    tol: float

    @cached_property
    def fixed(self) -> dict[Any, Any]:
        """Values of what is known, for expressions."""
        known = {**self.system.parameters, **self.parameters}
        return {
            s: sp.Float(one_number(x, str(s)))
            for s, x in known.items()
            if isinstance(s, sp.Symbol) and s not in self.unknown and x is not None
        }

    @property
    def weighted_columns(self) -> list[Array]:
        """What was measured, times the weights, column by column without gaps."""
        both = zip((self.data.values * self.weights).T, np.isfinite(self.data.values).T, strict=True)
        return [column[told] for column, told in both]

    @property
    def weighted(self) -> Array:
        """The same in one row."""
        return np.concatenate([np.zeros(0), *self.weighted_columns])

    @property
    def own(self) -> tuple[sp.Symbol, ...]:
        """The unknowns that the system itself has."""
        return tuple(s for s in self.unknown if s in self.system.symbols)

    def values(self, theta: Array) -> dict[Any, Any]:
        """The parameters of the system with these values of the unknowns."""
        numbers = dict(zip(self.unknown, map(float, theta), strict=True))
        return {**self.parameters, **{s: numbers[s] for s in self.own}}

    @property
    def keys(self) -> list[Any]:
        """Coordinates, then rates."""
        return [*self.system.coordinates, *self.system.velocities]

    def state(self, x: Array) -> dict[Any, float]:
        """A state from its numbers."""
        return dict(zip(self.keys, map(float, x), strict=True))

    @cached_property
    def _start(self) -> tuple[list[Any], Kernel] | None:
        """The start's keys, and code for its values with their derivatives by the unknowns."""
        if self.start is None:
            return None
        keys = [by_name(self.system, key) for key in self.start]
        values = tuple(as_scalar(value) for value in self.start.values())
        key = (tuple(keys), values, self.unknown, tuple(self.fixed.items()))
        return keys, _KERNELS.get(key, lambda: self._start_kernel(keys, values))

    def _start_kernel(self, keys: list[Any], values: tuple[sp.Expr, ...]) -> Kernel:
        import symengine as se

        symbols = named("unknown", len(self.unknown))
        known: dict[sp.Basic, Any] = dict(zip(self.unknown, symbols, strict=True))
        plain = []
        for key, value in zip(keys, values, strict=True):
            e = value.xreplace(self.fixed)
            if strange := sorted(e.free_symbols - known.keys(), key=str):
                hint = suggestion(strange[0], [*self.unknown, *self.system.symbols])
                raise InputError(f"start: {in_a_line(key)} uses {strange[0]}, which has no value{hint}")
            plain.append(translate(e, dict(known)))
        ways = [{s: se.Integer(int(s == r)) for s in symbols} for r in symbols]
        return compile_program(tangent(Program({"u": symbols}, {"x": tuple(plain)}), ways), optimise=0)

    def begin(self, theta: Array) -> tuple[dict[Any, float], list[dict[Any, float]]]:
        """The start with these values, and how it changes with each unknown: on its constraints, both of them."""
        system, values = self.system, self.values(theta)
        changes: list[dict[Any, float]] = [{s: 1.0} if s in self.own else {} for s in self.unknown]
        if self._start is None:
            state = dict(self.given.start_with(values, self.t))
            described = self.given.guess_with(values)
        else:
            keys, kernel = self._start
            found = kernel(u=theta)
            guess = dict(zip(keys, map(float, found["x"]), strict=True))
            described = described_by(system, guess)
            state = dict(assemble(system, described, parameters=values, t=self.t))
            for change, row in zip(changes, found["d_x"], strict=True):
                change.update({key: float(d) for key, d in zip(keys, row, strict=True) if d != 0})
        moving = {str(i): change for i, change in enumerate(changes) if change}
        along: Mapping[str, Any] = moving
        if moving and any(constraint.order < 2 for constraint in system.constraints):
            stated = described if isinstance(described, Description) else None
            along = admissible_along(system, state, moving, values, self.t, stated)
        return state, [dict(along.get(str(i), {})) for i in range(len(changes))]

    @cached_property
    def _reading(self) -> Kernel:
        """Code for what was measured, with its change along (dq, dv, du)."""
        key = (self.system.coordinates, self.observe, self.unknown, tuple(self.fixed.items()))
        return _KERNELS.get(key, self._reading_kernel)

    def _reading_kernel(self) -> Kernel:
        n, k = len(self.system.coordinates), len(self.unknown)
        inputs = {"q": named("fit_q", n), "v": named("fit_v", n), "u": named("fit_u", k), "t": named("fit_t", 1)}
        known: dict[sp.Basic, Any] = dict(zip(self.unknown, inputs["u"], strict=True)) | {time: inputs["t"][0]}
        for c, q, v in zip(self.system.coordinates, inputs["q"], inputs["v"], strict=True):
            known |= {c: q, rates(c)[0]: v}
        plain = []
        for name, expression in zip(self.data.names, self.observe, strict=True):
            e = expression.xreplace(self.fixed)
            if strange := sorted((e.free_symbols | e.atoms(AppliedUndef)) - known.keys(), key=str):
                raise InputError(
                    f"observe: {name} uses {strange[0]}, which has no value{suggestion(strange[0], [*known])}"
                )
            plain.append(translate(e, dict(known)))
        changes = {"d" + name: named(f"fit_d{name}", len(inputs[name])) for name in "qvu"}
        along = {s: d for name in "qvu" for s, d in zip(inputs[name], changes["d" + name], strict=True)}
        program = tangent(Program(inputs, {"y": tuple(plain)}), [along], inputs={**inputs, **changes})
        return compile_program(program, optimise=0)

    def compare(self, theta: Array) -> tuple[Array, Array]:
        """Weighted residuals (N,) and their derivatives by the unknowns (N, k); gaps in the data left out."""
        state, directions = self.begin(theta)
        course = self.followed(state, directions, self.t, self.data.times, theta)
        return self.residuals(theta, np.arange(len(self.data.times)), course)

    def followed(
        self, state: Mapping[Any, float], directions: list[dict[Any, float]], begin: float, times: Array, theta: Array
    ) -> "Course":
        """The motion from a state on at some times, and how it changes along directions."""
        n, d = len(self.system.coordinates), len(directions)
        moving = [i for i, way in enumerate(directions) if way]
        q, v = np.zeros((2, len(times), n))
        dq, dv = np.zeros((2, len(times), n, d))
        inside = times[times > begin]
        first = len(times) - len(inside)
        q[:first], v[:first] = [state[c] for c in self.system.coordinates], [state[c] for c in self.system.velocities]
        for i in moving if first else ():
            dq[:first, :, i] = [directions[i].get(c, 0.0) for c in self.system.coordinates]
            dv[:first, :, i] = [directions[i].get(c, 0.0) for c in self.system.velocities]
        if len(inside):
            ways = {str(i): directions[i] for i in moving} or {"nothing": {self.system.coordinates[0]: 1.0}}
            motion = sensitivities(
                self.system, state, float(inside[-1]), ways, times=inside, parameters=self.values(theta), tol=self.tol,
                t=begin, progress=False,
            )  # fmt: skip
            q[first:], v[first:] = motion.q.values, motion.v.values
            if moving:
                dq[first:, :, moving], dv[first:, :, moving] = motion.dq.values, motion.dv.values
        return Course(q, v, dq, dv)

    def residuals(self, theta: Array, rows: Any, course: "Course") -> tuple[Array, Array]:
        """Weighted residuals (N,) at some times of the data, and their derivatives (N, d) along a course's directions.

        The first directions are those of the unknowns.
        """
        k, d = len(self.unknown), course.dq.shape[2]
        found = self._reading(
            q=course.q[:, None],
            v=course.v[:, None],
            u=theta,
            t=self.data.times[rows][:, None, None],
            dq=course.dq.swapaxes(1, 2),
            dv=course.dv.swapaxes(1, 2),
            du=np.eye(d, k)[None],
        )
        y, dy = found["y"][:, 0], found["d_y"][:, :, 0]  # (N, columns), (N, d, columns)
        data, weights = self.data.values[rows], self.weights[rows]
        told = np.isfinite(data)
        return ((y - data) * weights)[told], (dy * weights[:, None]).swapaxes(1, 2)[told]

    def motion(self, theta: Array, state: Mapping[Any, float] | None = None) -> "xr.Dataset":
        """The motion with these values of the unknowns, at the times of the data; from a state, if it is given."""
        from zwang.motion.simulate import simulate

        state = self.begin(theta)[0] if state is None else state
        times = self.data.times
        until = float(times[-1]) if times[-1] > self.t else self.t + 1.0
        values = self.values(theta)
        given = self.given if isinstance(self.given, HasSystem) else self.system
        return simulate(given, state, until, times=times, parameters=values, tol=self.tol, t=self.t, progress=False)


@dataclass(frozen=True, eq=False)
class Course:
    """A motion at N times, positions and velocities (N, n), and how they change along d directions (N, n, d)."""

    q: Array
    v: Array
    dq: Array
    dv: Array

    def first(self, count: int) -> "Course":
        """The same at the first times only."""
        return Course(self.q[:count], self.v[:count], self.dq[:count], self.dv[:count])
