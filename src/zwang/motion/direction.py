"""Directions in which a motion is varied: changes of start values and parameters, alone or together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from zwang.arrays import TINIEST, Array
from zwang.compile import Kernel, Program, compile_program
from zwang.compile.tangent import tangent
from zwang.engines.registry import DEFAULT
from zwang.errors import InputError
from zwang.evaluation import limits, names_of
from zwang.formulations.solve import Names, solve_named
from zwang.linalg.rank import row_norms
from zwang.lowering.cache import Kept
from zwang.lowering.lowered import Lowered
from zwang.model import System
from zwang.model.fixed import FrozenValue
from zwang.model.has_system import HasSystem, begin_of, start_of_one, system_of
from zwang.model.signal import Handle
from zwang.model.state import Description
from zwang.model.values import numbers, suggestion
from zwang.motion.assemble import STAND_IN_MASS
from zwang.motion.options import RunOptions
from zwang.motion.prepare import prepare
from zwang.motion.setup import Setup
from zwang.motion.start import require_satisfied, require_solvable, start_of

ROUNDED_TURN = 1e-12  # of how fast rows turn: redundant ones may differ by it

AGREES = 1e-9  # of the terms: what is stated and differs by more has not been kept, or cannot be

_KERNELS: Kept[Kernel] = Kept()

OPEN = 9  # stands for the order of a one-sided constraint that is not at its limit: it asks for nothing


@dataclass(frozen=True)
class Direction:
    """A direction under its name: how start positions, start velocities (n,) and parameters (k,) change along it."""

    name: str
    dq: Array
    dv: Array
    dp: Array
    elsewhere: Mapping[sp.Expr, float]
    """Changes of declared parameters on which the motion does not depend."""

    def scale(self, p: Array) -> float:
        """The factor that makes the largest change one of start values by 1, or of a parameter by its own size."""
        size = np.where(p == 0, 1.0, np.abs(p))
        changes = np.concatenate([self.dq, self.dv, self.dp / size])
        return float(1 / (np.abs(changes).max() or 1.0))


def directions_of(setup: Setup, inputs: Any) -> list[Direction]:
    """Directions from what people give: coordinates, rates, parameters, or mappings from these to their changes."""
    if isinstance(inputs, sp.Basic | str):
        inputs = (inputs,)
    if not isinstance(inputs, Iterable):
        raise InputError(f"inputs = {inputs!r}: list what to differentiate by, as in inputs=[x, dot(x), m]")
    named = inputs.items() if isinstance(inputs, Mapping) else [(None, item) for item in inputs]
    places = places_of(setup.system, setup.symbols)
    n, found = len(setup.system.coordinate_names), []
    for given, item in named:
        changes = item if isinstance(item, Mapping) else {item: 1.0}
        d, words = np.zeros(2 * n + len(setup.p)), []
        elsewhere: dict[sp.Expr, float] = {}
        for key, change in changes.items():
            label = located(setup.system, places, key)
            thing, place = places[label]
            value = float(numbers(change, f"the change of {label}"))
            words.append(f"{'-' if value < 0 else '+'} {'' if abs(value) == 1 else f'{abs(value):g} '}{label}")
            if place is not None:
                d[place] += value
            elif value:
                require_free(setup.system, thing)
                elsewhere[thing] = elsewhere.get(thing, 0.0) + value
        name = " ".join(words).removeprefix("+ ") if given is None else str(given)
        if isinstance(item, Mapping) and not d.any() and not elsewhere:
            raise InputError(f"inputs: the direction {name or item!r} changes nothing: give at least one change")
        found.append(Direction(name, d[:n], d[n : 2 * n], d[2 * n :], elsewhere))
    if not found:
        raise InputError("inputs is empty: list what to differentiate by, as in inputs=[x, dot(x), m]")
    names = [d.name for d in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"inputs: {twice} is listed twice: list it once")
    return found


def places_of(system: System, symbols: Sequence[sp.Symbol]) -> dict[str, tuple[sp.Expr, int | None]]:
    """What can be varied, by name: the object, and its place among q, v and p (None: the motion does not use it)."""
    names = system.coordinate_names
    varied: list[tuple[str, sp.Expr]] = list(zip(names, system.coordinates, strict=True))
    varied += [(f"dot({name})", rate) for name, rate in zip(names, system.velocities, strict=True)]
    varied += [(s.name, s) for s in symbols]
    places: dict[str, tuple[sp.Expr, int | None]] = {}
    for place, (name, thing) in enumerate(varied):
        if not isinstance(thing, Handle):
            places.setdefault(name, (thing, place))
    for s in system.parameters:
        if isinstance(s, sp.Symbol):
            places.setdefault(s.name, (s, None))
    return places


def require_free(system: System, parameter: sp.Expr) -> None:
    """Refuse a parameter from which numbers in the system were computed: these would not follow."""
    if isinstance(system.parameters.get(parameter), FrozenValue):
        raise InputError(
            f"inputs names {parameter}, from which the places of this mechanism were computed: they are numbers, and "
            f"there is no derivative by it; simulate with two values near each other"
        )


def located(system: System, places: Mapping[str, tuple[sp.Expr, int | None]], key: Any) -> str:
    """The name of something to be varied, given itself or its name."""
    for name, (thing, _) in places.items():
        if key in (thing, name):
            return name
    if key in system.inputs:
        raise InputError(f"inputs names {key}, a known function of time: name the parameters in it instead")
    wrong = key
    if isinstance(key, AppliedUndef):
        wrong = key.func.__name__
    elif isinstance(key, sp.Derivative) and isinstance(key.expr, AppliedUndef):
        wrong = f"dot({key.expr.func.__name__})"
    raise InputError(
        f"inputs names {wrong}, which is not a coordinate, rate or parameter of this system"
        f"{suggestion(wrong, list(places))}"
    )


def admissible(
    system: System | HasSystem,
    start: Mapping[Any, float] | None = None,
    inputs: Any = (),
    *,
    parameters: Mapping[Any, Any] | None = None,
    t: float | None = None,
) -> dict[str, dict[sp.Expr, float]]:
    """The directions nearest to the given ones along which a start keeps satisfying its constraints.

    With φ(q, p) = 0 and ψ(q, q̇, p) = 0 the constraints at position and velocity level, δq is made to satisfy
    φ_q δq + φ_p δp = 0, then δq̇ to satisfy ψ_q̇ δq̇ + ψ_q δq + ψ_p δp = 0, with the least change in the
    kinetic-energy metric; parameters change as given. So the start changes as `assemble` would change it: without
    `start`, what a mechanism or model states of its own start changes as given, or not at all, and the rest follows.

    One-sided constraints count where they are at their limits: a contact that is closed stays so.

    `inputs` are those of `sensitivities`, and the result may stand in their place: a name for each direction, and
    what changes along it.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, L = zw.parameters("m L")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2,
    ...                      constraints={"rod": x**2 + y**2 - L**2}, parameters={m: 1, L: 5})
    >>> longer = zw.admissible(pendulum, {x: 3, y: -4, zw.dot(x): 0, zw.dot(y): 0}, [L])["L"]
    >>> {str(key): round(change, 12) for key, change in longer.items()}
    {'x(t)': 0.6, 'y(t)': -0.8, 'L': 1.0}
    """
    given, t = system, begin_of(system, t)
    system = system_of(given, "admissible", parameters)
    own = given.guess_with(parameters) if start is None and isinstance(given, HasSystem) else None
    start = start_of_one(given, start, parameters, t)
    return admissible_along(system, start, inputs, parameters, t, own if isinstance(own, Description) else None)


def admissible_along(
    system: System,
    start: Mapping[Any, float],
    inputs: Any,
    parameters: Mapping[Any, Any] | None,
    t: float,
    described: Description | None,
) -> dict[str, dict[sp.Expr, float]]:
    """The same from a start that was put together as described: what is stated there changes as given."""
    begin = start_of(system, start, t, parameters)
    setup = prepare(system, begin.values, RunOptions(until=np.inf, method=DEFAULT), contacts=True)
    (_, q, v), now = begin.state, begin.matrices
    require_satisfied(begin)
    if setup.contact is None:  # what is open asks for nothing, and may ask for what it likes
        require_solvable(begin)
    kernel = _KERNELS.get((system.structure, tuple(setup.inputs.items())), lambda: levels_kernel(setup.lowered))
    order = np.array([c.order for c in system.constraints], dtype=int)
    order[np.array([c.one_sided for c in system.constraints], dtype=bool) & ~limits(system, now, q, v)[0]] = OPEN
    state: dict[str, Any] = {"t": [t], "q": q, "v": v, "p": setup.p}
    M = now.M + STAND_IN_MASS * max(float(np.trace(now.M)) / len(q), TINIEST) * np.eye(len(q))
    names, n = names_of(system), len(q)
    kept = np.zeros(2 * n, dtype=bool) if described is None else kept_of(described, q, v)

    def nearest(d: Array, level: str, rows: Any, dq: Array, dp: Array, kept: Any) -> Array:
        """Least ½(x − d)ᵀM(x − d) with A x = −(reading's own change): Gauss's principle once more.

        What is kept changes as given, if the others can follow.
        """
        change = kernel(**state, dq=dq, dp=dp)[f"d_{level}"][0]
        used = Names(names.coordinates, tuple(np.array(names.rows)[rows]))
        # what rounding makes of changes that cancel each other: by it redundant rows may differ
        turned = np.abs(dq).max(initial=0.0) * np.abs(v).max(initial=0.0) / max(np.abs(q).max(initial=0.0), TINIEST)
        slack = ROUNDED_TURN * np.abs(now.A[rows]).sum(axis=1) * turned
        A, b = now.A[rows], -change[rows]
        if not can_follow(A, b, d, kept, slack):
            kept = np.zeros(n, dtype=bool)
        x, free = d.copy(), ~kept
        if not free.any():
            return x
        used = Names(tuple(np.array(used.coordinates)[free]), used.rows)
        x[free] = solve_named(
            M[np.ix_(free, free)], M[np.ix_(free, free)] @ d[free], A[:, free], b - A[:, kept] @ d[kept], C=None,
            form="fundamental", rank_tol=None, one_sided=None, v=None, names=used, slack=slack,
        ).acceleration  # fmt: skip
        return x

    things = [*system.coordinates, *system.velocities, *setup.symbols]
    result = {}
    for direction in directions_of(setup, inputs):
        dq = nearest(direction.dq, "position", order == 0, np.zeros_like(q), direction.dp, kept[:n])
        turned = 0.0 if described is None else (described.rates_at(q + dq) - described.rates_at(q)) * kept[n:]
        dv = nearest(direction.dv + turned, "velocity", order <= 1, dq, direction.dp, kept[n:])
        changes = zip(things, np.concatenate([dq, dv, direction.dp]), strict=True)
        result[direction.name] = {thing: float(change) for thing, change in changes if change != 0}
        result[direction.name] |= direction.elsewhere
    return result


def kept_of(described: Description, q: Array, v: Array) -> Any:
    """Which of the stated numbers a start has kept: rough places, for instance, were moved."""
    there = np.concatenate([q, v])
    wanted = np.concatenate([described.values_of_all[: len(q)], described.rates_at(q)])
    moved = np.abs(there - wanted) > AGREES * np.maximum(np.abs(wanted), np.abs(there).max(initial=0.0))
    flags = described.flags
    for level in (slice(0, len(q)), slice(len(q), None)):  # one level is kept as a whole, or not
        flags[level] &= not (flags & moved)[level].any()
    return flags


def can_follow(A: Array, b: Array, d: Array, kept: Any, slack: Array) -> bool:
    """Whether A x = b can be met where the entries of x that are kept are those of d."""
    if not kept.any() or not len(b):
        return True
    x = np.where(kept, d, 0.0)
    if not kept.all():
        x[~kept] = np.linalg.lstsq(A[:, ~kept], b - A @ x, rcond=None)[0]
    lengths = row_norms(A)
    terms = ((np.abs(b) + np.abs(A) @ np.abs(x)) / lengths).max()
    return bool((np.abs(b - A @ x) <= slack + AGREES * terms * lengths).all())


def levels_kernel(lowered: Lowered) -> Kernel:
    """How the constraints' readings change with positions dq and parameters dp, velocities held."""
    import symengine as se

    inputs, derived = lowered.inputs, lowered.derived
    changes = {"d" + name: tuple(se.Symbol(f"d{s}") for s in inputs[name]) for name in "qp"}
    readings = {"position": derived.residual, "velocity": derived.residual_rate}
    outputs = {name: tuple(se.Integer(0) if e is None else e for e in es) for name, es in readings.items()}
    along = {s: d for name in "qp" for s, d in zip(inputs[name], changes["d" + name], strict=True)}
    return compile_program(tangent(Program(inputs, outputs), [along], inputs={**inputs, **changes}))
