"""Equilibria and steady motions: where a system stays, the forces that hold it there, and whether it stays for long."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from zwang.analysis.contacts import closing, pressed, settled_on_contacts, steady_on_contacts
from zwang.analysis.dynamics import Dynamics, dynamics_of
from zwang.analysis.family import family_of
from zwang.analysis.large.modes import large_modes
from zwang.analysis.large.place import Place
from zwang.analysis.large.search import Ground, sought_near
from zwang.analysis.large.suits import on_springs as all_on_springs
from zwang.analysis.large.suits import suited
from zwang.analysis.large.verdict import verdict_on
from zwang.analysis.linear import TIMED, depends_on_time, linear_at, require_autonomous
from zwang.analysis.readings import Readings, readings_of
from zwang.analysis.settle import Search, Settled, require_rest
from zwang.analysis.spectrum import spectrum_of
from zwang.analysis.springs import undisturbed
from zwang.analysis.stability import Stability, on_contacts, on_springs, stability
from zwang.analysis.steady_states import Course, changing, states_at_rest
from zwang.arrays import Array
from zwang.display import Displayed, told
from zwang.errors import AssemblyError, EquilibriumError, InputError
from zwang.model import System
from zwang.model.has_system import HasSystem, begin_of, start_of_one, system_of
from zwang.model.state import state_of
from zwang.model.symbols import in_a_line
from zwang.model.values import one_number, state_arrays
from zwang.waiting import waiting
from zwang.words import listed

SHOWN = 1e-14  # what is smaller than this share of the largest number is printed as zero


@dataclass(frozen=True)
class Equilibrium(Displayed):
    """A state in which a system stays at rest, or in a steady motion. `print` says all of it in words."""

    name: str
    state: Mapping[sp.Expr, float]
    """Every coordinate and rate."""
    multipliers: Mapping[str, float]
    """The multipliers of the constraints, by name; those of least length where they are not unique."""
    unique: Mapping[str, bool]
    """Whether each multiplier is unique."""
    residual: float
    """What remains: the largest rate of what should stay constant; at rest the largest acceleration."""
    stable: bool | None
    """Whether small disturbances stay small; None where first order does not tell."""
    verdict: str
    """The same in words."""
    families: tuple[str, ...]
    """Directions in which there are further ones: at rest of coordinates, else of what stays constant."""
    constant: tuple[str, ...]
    """What stays constant; empty at rest, where everything does."""
    expressions: tuple[sp.Expr, ...] = field(repr=False)
    """The same as expressions."""
    spectrum: Any = field(repr=False)
    """The eigenvalues, or what finds them when they are asked for."""

    @cached_property
    def eigenvalues(self) -> Any:
        """(k,) of the motion beside it, zeros of families first; of a large system they are found when read."""
        return self.spectrum() if callable(self.spectrum) else self.spectrum

    def __repr__(self) -> str:
        """The equilibrium in a line."""
        return told(self, self.name, "steady" if self.constant else "at rest", self.verdict)

    def __str__(self) -> str:
        """The state, the forces and the verdict, line by line."""
        what = f"steady in {listed(self.constant)}" if self.constant else "at rest"
        names = {in_a_line(key): value for key, value in self.state.items()}
        shown = names if self.constant else {k: x for k, x in names.items() if not k.endswith("'")}
        width = max(map(len, [*shown, *self.multipliers]), default=0)
        lines = [f"{self.name or 'This system'}, {what}:"]
        least = SHOWN * max(map(abs, shown.values()), default=0.0)
        lines += [f"  {key:<{width}}  {value if abs(value) > least else 0:.9g}" for key, value in shown.items()]
        if self.multipliers:
            lines.append("multipliers:")
            for key, value in self.multipliers.items():
                lines.append(f"  {key:<{width}}  {value:.9g}{'' if self.unique[key] else '  (not unique)'}")
        return "\n".join([*lines, f"{self.verdict[:1].upper()}{self.verdict[1:]}."])


def equilibrium(
    system: System | HasSystem,
    guess: Mapping[Any, float] | None = None,
    hold: Any = (),
    parameters: Mapping[Any, Any] | None = None,
    t: float | None = None,
) -> Equilibrium:
    """The state of rest near a guess, with the forces of constraint there and a verdict on its stability.

    At rest φ(q) = 0 and Zᵀ(Q + C) = 0, Z = null A. Of the guess the coordinates count; a mechanism's is its own start,
    if none is given. `hold` lists coordinates or expressions that keep their value, or maps them to the value they
    should have. Redundant constraints and forces of any kind are fine. Nonholonomic systems rest in families: then the
    nearest member is found, and `families` says in which directions there are more.

    One-sided constraints are open there, or closed and pushing: which of them, Gauss's quadratic program tells. From
    above a floor the guess falls onto it. Friction takes no part: it can only hold a system elsewhere, too.

    Where Newton's method finds none, and there is one freedom, that is followed: where the force drives the guess, as
    it would come to rest with much friction, and then to the other side. An `EquilibriumError` says what remains where
    there is none. A saddle is an equilibrium, too: `stable` and `verdict` tell.

    >>> import zwang as zw
    >>> x, y = zw.coordinates("x y")
    >>> m, g = zw.parameters("m g")
    >>> pendulum = zw.System((x, y), kinetic=m*(zw.dot(x)**2 + zw.dot(y)**2)/2, potential=m*g*y,
    ...                      constraints={"rod": x**2 + y**2 - 1}, parameters={m: 2, g: 10}, name="Pendulum")
    >>> e = zw.equilibrium(pendulum, {x: 0.5, y: -1})
    >>> print(e)
    Pendulum, at rest:
      x    0
      y    -1
    multipliers:
      rod  -10
    Stable: the potential energy is smallest here.
    >>> zw.equilibrium(pendulum, {x: 0.1, y: 1}).stable
    False
    """
    given, t = system, one_number(begin_of(system, t), "t")
    system = system_of(given, "equilibrium", parameters)
    dynamics = dynamics_of(system, parameters, t)
    start = start_of_one(given, guess, parameters, t, "guess")
    q, v = guessed(system, start)
    v = np.zeros_like(v)
    held, targets = holds(dynamics, hold, q, v)
    constant = readings_of(dynamics, system.velocities, "constant")
    search = Search(dynamics, constant, held, targets, rest=True)
    with waiting("looking for an equilibrium"), finite_derivatives():
        if held is None and suited(dynamics) and (near := sought_near(dynamics, q)) is not None:
            if (large := told_of_large(*near)) is not None:
                return large
            q = near[0].q
        search, found = searched(settled_on_contacts, search, q, v)
        require_rest(found.point)
        return told_of(search, found, None)


def steady(
    system: System | HasSystem,
    guess: Mapping[Any, float] | None = None,
    constant: Any = (),
    hold: Any = (),
    parameters: Mapping[Any, Any] | None = None,
    t: float | None = None,
) -> Equilibrium:
    """A motion near a guess in which given expressions stay constant, as `equilibrium` finds rest.

    `constant` lists what stays constant: coordinates, rates, or expressions of these; what is not named may go on, as
    the place and the heading of a wheel that rolls in a circle. `hold` lists what keeps its value of the guess, or maps
    it to the value that it should have.

    >>> import zwang as zw
    >>> r, phi = zw.coordinates("r phi")
    >>> k = zw.parameters("k")
    >>> planet = zw.System((r, phi), kinetic=(zw.dot(r)**2 + (r*zw.dot(phi))**2)/2, potential=-k/r, parameters={k: 8})
    >>> e = zw.steady(planet, {r: 1.8, phi: 0, zw.dot(phi): 1.1}, constant=[r, zw.dot(r), zw.dot(phi)], hold={r: 2})
    >>> round(e.state[zw.dot(phi)], 12)
    1.0
    """
    given, t = system, one_number(begin_of(system, t), "t")
    system = system_of(given, "steady", parameters)
    dynamics = dynamics_of(system, parameters, t)
    start = start_of_one(given, guess, parameters, t, "guess")
    q, v = guessed(system, start)
    readings = readings_of(dynamics, constant, "constant")
    if not readings.names:
        raise InputError("constant is empty: list what stays constant in the motion, as in constant=[r, dot(phi)]")
    held, targets = holds(dynamics, hold, q, v)
    search = Search(dynamics, readings, held, targets, rest=False)
    with waiting("looking for a steady motion"), finite_derivatives():
        search, found = searched(steady_on_contacts, search, q, v)
        return told_of(search, found, readings)


def searched(way: Any, search: Search, q: Array, v: Array) -> tuple[Search, Settled]:
    """What a search finds; where time keeps it from finding anything, that is said."""
    try:
        found: tuple[Search, Settled] = way(search, q, v)
    except (EquilibriumError, AssemblyError):
        if depends_on_time(search.dynamics):
            raise InputError(TIMED) from None
        raise
    return found


@contextmanager
def finite_derivatives() -> Iterator[None]:
    """Within this, derivatives that are not finite are told: those of roots and of friction at rest, for example."""
    try:
        yield
    except np.linalg.LinAlgError:
        raise EquilibriumError(
            "nothing was found near the guess: derivatives are not finite on the way, as of a root or of friction "
            "where it vanishes; replace it by something smooth, or begin elsewhere"
        ) from None


def guessed(system: System, guess: Any) -> tuple[Array, Array]:
    """Positions and velocities of a guess; rates that it leaves out are zero."""
    if not isinstance(guess, Mapping):
        raise InputError(f"a guess maps coordinates and rates to numbers; got {type(guess).__name__}")
    q, v = state_arrays(system, guess, missing_rates=0.0)
    if q.ndim != 1:
        raise InputError("one guess is meant here: give numbers, not arrays")
    return q, v


def holds(dynamics: Dynamics, hold: Any, q: Array, v: Array) -> tuple[Readings | None, Array]:
    """What is held, and the values it keeps."""
    if isinstance(hold, Mapping):
        values = {key: one_number(value, f"hold: {in_a_line(key)}") for key, value in hold.items()}
        names: Sequence[Any] = list(values)
    else:
        values, names = {}, [hold] if isinstance(hold, sp.Basic | str) else list(hold)
    if not names:
        return None, np.zeros(0)
    readings = readings_of(dynamics, names, "hold")
    if values:
        return readings, np.array([values[key] for key in names])
    none = np.zeros((1, len(q)))
    p = dynamics.all_p
    state = {"t": np.array([dynamics.t]), "q": q, "v": v, "p": p, "a": none[0]}
    found = readings.kernel(**state, dq=none, dv=none, da=none, dp=np.zeros((1, len(p))))
    return readings, found["reading"][0]


def told_of(search: Search, found: Settled, constant: Readings | None) -> Equilibrium:
    """Everything that is said of a state that was found."""
    point, dynamics = found.point, search.dynamics
    require_autonomous(point)
    lam, unique = point.all_multipliers
    idle: tuple[int, ...] = ()
    if dynamics.one_sided.any():
        here = pressed(dynamics, point.q, point.v)
        lam, unique, idle = here.multipliers, here.unique, here.idle
    judged = judgement(search, found, idle)
    system = dynamics.system
    values = map(float, np.concatenate([point.q, point.v]) + 0.0)  # no zero has a sign
    return Equilibrium(
        name=system.name,
        state=dict(zip([*system.coordinates, *system.velocities], values, strict=True)),
        multipliers=dict(zip(system.constraint_names, map(float, lam), strict=True)),
        unique=dict(zip(system.constraint_names, map(bool, unique), strict=True)),
        residual=float(np.abs(search.rates(point)).max(initial=0.0)),
        stable=judged.stable,
        verdict=judged.words,
        families=judged.families,
        constant=constant.names if constant else (),
        expressions=constant.expressions if constant else (),
        spectrum=judged.spectrum.values,
    )


def told_of_large(place: Place, ground: Ground) -> Equilibrium | None:
    """The same of a large system of masses on springs; None if it is none, or if soft directions are too many."""
    dynamics, system = place.dynamics, place.dynamics.system
    if place.rates_matter or not all_on_springs(dynamics):
        return None
    try:
        place.require_regular()
    except InputError:
        return None
    if (judged := verdict_on(place, ground)) is None:
        return None
    lam, unique = place.all_multipliers
    return Equilibrium(
        name=system.name,
        state=state_of(system, np.concatenate([place.q, np.zeros(place.n)]) + 0.0),
        multipliers=dict(zip(system.constraint_names, map(float, lam), strict=True)),
        unique=dict(zip(system.constraint_names, map(bool, unique), strict=True)),
        residual=float(np.abs(place.a).max(initial=0.0)),
        stable=judged.stable,
        verdict=judged.words,
        families=judged.families,
        constant=(),
        expressions=(),
        spectrum=lambda: large_modes(place, None).values,
    )


def judgement(search: Search, found: Settled, idle: tuple[int, ...]) -> Stability:
    """The verdict on stability: disturbances do not keep what was held, and contacts that push stay closed."""
    closed = search.dynamics.closed
    if not closed:
        return plain_judgement(search, found)
    names = search.dynamics.system.constraint_names
    pushing = tuple(i for i in closed if i not in idle)
    # a contact that only touches may open: what is stable without it stays so with it, if energy is conserved
    free = closing(search, pushing)
    point = free.dynamics.at(found.point.q, found.point.v)
    judged = plain_judgement(free, replace(found, point=point))
    rough = [names[i] for i in closed if search.dynamics.system.constraints[i].friction]
    return on_contacts(judged, [names[i] for i in pushing], [names[i] for i in idle], rough)


def plain_judgement(search: Search, found: Settled) -> Stability:
    """The verdict where the rows that hold are held."""
    point = found.point
    try:
        point.require_smooth()
        point.require_regular()
    except InputError as error:
        words = f"not to be told: {str(error).partition(':')[0]}"
        return Stability(None, words, spectrum_of(np.zeros((0, 0))), ())
    if search.rest and not depends_on_time(search.dynamics):
        change = point.change(point.tangent.dq, point.tangent.dv)
        if undisturbed(point, change):
            return on_springs(point, change, family_of(search, found))
    if search.rest:
        return stability(linear_at(point, states_at_rest(search.dynamics, point)), family_of(search, found), True)
    judged = stability(linear_at(point, search.constant), family_of(search, found), False)
    if judged.stable is not None and (why := changing(Course(point), search.constant)) is not None:
        return replace(judged, stable=None, words=f"not to be told: {why}")
    return judged
