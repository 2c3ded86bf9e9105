"""Switches: where the pieces of an expression change, and at which instants those do that depend on time alone.

Every function that switches (Piecewise, Heaviside, sign, Abs, Min, Max, Mod …) is, for machines, made of conditions
a < b, a ≤ b, a = b and of floors: these are the switches of a model. The instants are found from the expressions,
all of them: stretches of time are halved until bounds (`intervals`) show that nothing switches on them or that the
argument only rises or only falls; what remains is bisected on the conditions as machine code computes them, down to
two neighbouring doubles. An instant too many does no harm, for steps end there and nothing else happens.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import symengine as se
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.compile import Kernel, Program, compile_program
from zwang.equations.derivation import Description
from zwang.errors import InputError
from zwang.functions import FLOORS
from zwang.lowering.intervals import bounds
from zwang.lowering.lowered import Lowered
from zwang.model.signal import Signal
from zwang.words import shortened

RELATIONS = ("StrictLessThan", "LessThan", "Equality", "Unequality")
MOST_INSTANTS = 1_000_000
MOST_STRETCHES = 4_000_000  # that may be undecided at a time
NARROW = 8  # doubles on a stretch that is not halved again
NEAR_ZERO = 0.01  # of the span: doubles nearer to zero are no closer to each other than these


@dataclass(frozen=True)
class TimeSwitches:
    """The switches of a model that depend on time and parameters alone, inner ones first, and code that reads them.

    `kernel` gives for each the sign of a − b, or the value of the floor.
    """

    atoms: tuple[Any, ...]
    time: Any
    parameters: tuple[Any, ...]
    names: Mapping[Any, str | float]
    kernel: Kernel

    def read(self, times: Array, p: Array) -> Array:
        """(N, atoms) readings at times (N,) with parameters (N, k)."""
        return self.kernel(t=times[:, None], p=p)["reading"]

    def instants(self, p: Array, t: float, until: float, signals: Iterable[Signal] = ()) -> list[Array]:
        """For each row of parameters (S, k), the instants in [t, until) right after which a switch reads otherwise."""
        found = [np.zeros(0) for _ in p]
        tables = {signal.address: signal for signal in signals}
        for place, atom in enumerate(self.atoms):
            search = InstantSearch(self, place, p, tables)
            knots = [s.breaks(3) for s in tables.values()] if "signal" in str(atom) else []
            cuts = [np.concatenate([own, *knots]) for own in found]
            new = search.all(cuts, t, until)
            found = [np.union1d(own, more) for own, more in zip(found, new, strict=True)]
            if max(map(len, found)) > MOST_INSTANTS:
                raise InputError(search.too_many(t, until))
        return found


@dataclass(frozen=True)
class InstantSearch:
    """The search for the instants of one switch, for all samples together."""

    switches: TimeSwitches
    place: int
    p: Array
    signals: Mapping[float, Signal]

    @property
    def atom(self) -> Any:
        """The switch."""
        return self.switches.atoms[self.place]

    def too_many(self, t: float, until: float) -> str:
        """The refusal of a search that finds too many changes."""
        return (
            f"{worded(self.atom, self.switches.names)} switches more than {MOST_INSTANTS:,} times between t = {t:g} "
            f"and {until:g}, or cannot be resolved: shorten the motion, or replace what switches by something smooth"
        )

    def all(self, cuts: Sequence[Array], t: float, until: float) -> list[Array]:
        """The instants of each sample, between cuts at which inner switches change."""
        edges = [np.unique(np.concatenate([[t], own[(own >= t) & (own < until)], [until]])) for own in cuts]
        begins = [np.append(e[:1], np.nextafter(e[1:-1], np.inf)) for e in edges]
        sample = np.repeat(np.arange(len(edges)), [len(b) for b in begins])
        low, high = np.concatenate(begins), np.concatenate([e[1:] for e in edges])
        inside = low < high
        monotone, narrow = self.isolated(low[inside], high[inside], sample[inside], (t, until))
        both = [np.concatenate(pair) for pair in zip(monotone, narrow, strict=True)]
        times, owner = self.located(both, (t, until))
        every = np.linspace(narrow[0], narrow[1], NARROW + 1).T  # all doubles of a narrow stretch
        times = np.concatenate([times, every.ravel()])
        owner = np.concatenate([owner, np.repeat(narrow[2], NARROW + 1)])
        return [np.unique(times[(owner == i) & (times < until)]) for i in range(len(edges))]

    def isolated(
        self, low: Array, high: Array, sample: NDArray[np.intp], span: tuple[float, float]
    ) -> tuple[tuple[Array, Array, NDArray[np.intp]], tuple[Array, Array, NDArray[np.intp]]]:
        """Stretches on which the argument only rises or falls, and narrow ones on which that is not known."""
        kept: list[tuple[Array, Array, NDArray[np.intp]]] = []
        narrow: list[tuple[Array, Array, NDArray[np.intp]]] = []
        argument = argument_of(self.atom)
        slope = argument.diff(self.switches.time)
        while len(low):
            if len(low) > MOST_STRETCHES:
                raise InputError(self.too_many(*span))
            known = self.known(low, high, sample)
            a, b = (np.broadcast_to(x, low.shape) for x in bounds(argument, known, self.signals))
            whole = type(self.atom).__name__ in FLOORS
            possible = np.floor(b) >= np.ceil(a) if whole else (a <= 0) & (b >= 0)
            down, up = (np.broadcast_to(x, low.shape) for x in bounds(slope, known, self.signals))
            possible &= ~((down == 0) & (up == 0))  # constant there
            steady = ((down >= 0) | (up <= 0)) & np.isfinite(a) & np.isfinite(b)  # and no pole there
            thin = high - low <= NARROW * np.spacing(np.maximum(np.abs(low), NEAR_ZERO * (span[1] - span[0])))
            done, small = possible & steady, possible & ~steady & thin
            kept.append((low[done], high[done], sample[done]))
            narrow.append((low[small], high[small], sample[small]))
            split = possible & ~steady & ~thin
            low, high, sample = low[split], high[split], sample[split]
            middle = low + (high - low) / 2
            low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
            sample = np.concatenate([sample, sample])
        return tuple(tuple(map(np.concatenate, zip(*some, strict=True))) for some in (kept, narrow))  # type: ignore[return-value]

    def known(self, low: Array, high: Array, sample: NDArray[np.intp]) -> dict[Any, Any]:
        """Bounds of time and parameters on stretches, and what inner switches read there."""
        p = self.p[sample]
        known: dict[Any, Any] = {self.switches.time: (low, high)}
        known |= {s: (p[:, i], p[:, i]) for i, s in enumerate(self.switches.parameters)}
        readings = self.switches.read(low + (high - low) / 2, p)
        for atom, reading in zip(self.switches.atoms[: self.place], readings.T, strict=False):
            known[atom] = truth(atom, reading)
        return known

    def located(self, stretches: Sequence[Any], span: tuple[float, float]) -> tuple[Array, NDArray[np.intp]]:
        """The last instants before each change of the reading, and their samples; it only rises or only falls."""
        low, high, sample = stretches

        def read(times: Array, owner: NDArray[np.intp]) -> Array:
            return np.asarray(self.switches.read(times, self.p[owner])[:, self.place])

        first, last = read(low, sample), read(high, sample)
        counts = np.where(np.isfinite(first - last), np.abs(last - first), 0)
        if counts.sum() > MOST_INSTANTS * max(len(self.p), 1):
            raise InputError(self.too_many(*span))
        which = np.repeat(np.arange(len(low)), counts.astype(np.intp))
        place = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts.astype(np.intp))
        sense = np.sign(last - first)[which]
        level = sense * first[which] + place + 0.5
        a, b, owner = low[which], high[which], sample[which]
        while True:
            middle = a + (b - a) / 2
            between = (middle > a) & (middle < b)
            if not between.any():
                return a, owner
            before = sense * read(middle, owner) < level
            a, b = np.where(between & before, middle, a), np.where(between & ~before, middle, b)


def time_switches(lowered: Lowered, names: Mapping[Any, str | float], more: Iterable[Any] = ()) -> TimeSwitches | None:
    """The switches of a model, and of more expressions, that depend on time alone; None if there are none."""
    return switches_among([*expressions_of(lowered.description), *more], lowered, names)


def switches_among(
    expressions: Iterable[Any], lowered: Lowered, names: Mapping[Any, str | float]
) -> TimeSwitches | None:
    """Those of some expressions in the symbols of a model."""
    axes = lowered.description.axes
    state = {*axes.q, *axes.v, *axes.a, *(s for _, s in lowered.description.reactions)}
    found = atoms_of(expressions)
    atoms = tuple(a for a in found if axes.t in a.free_symbols and not a.free_symbols & state)
    if not atoms:
        return None
    program = Program({"t": (axes.t,), "p": lowered.parameters}, {"reading": tuple(map(reading_of, atoms))})
    return TimeSwitches(atoms, axes.t, lowered.parameters, names, compile_program(program, optimise=0))


def expressions_of(description: Description) -> list[Any]:
    """Every expression of a description."""
    mass = [e for row in description.mass or () for e in row]
    kinetic = [] if description.kinetic is None else [description.kinetic]
    constraints = [*(f for f, _ in description.constraints), *(slip for _, slip in description.slips)]
    return [*kinetic, description.potential, *description.forces, *mass, *description.nonideal, *constraints]


def atoms_of(expressions: Iterable[Any]) -> list[Any]:
    """All conditions and floors of some expressions, those that others contain first."""
    stack = list(expressions)
    seen: set[Any] = set()
    atoms: list[Any] = []
    while stack:
        node = stack[-1]
        missing = [a for a in node.args if a not in seen] if node not in seen else []
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if node not in seen:
            seen.add(node)
            if type(node).__name__ in (*RELATIONS, *FLOORS):
                atoms.append(node)
    return atoms


def argument_of(atom: Any) -> Any:
    """What passes zero, or an integer, where an atom switches."""
    return atom.args[0] if type(atom).__name__ in FLOORS else atom.args[0] - atom.args[1]


def reading_of(atom: Any) -> Any:
    """What an atom reads: a floor's value; −1, 0 or 1 for a < b, a = b and a > b, as the condition itself compares."""
    if type(atom).__name__ in FLOORS:
        return atom
    a, b = atom.args
    return se.Piecewise((-1, se.Lt(a, b)), (1, se.Lt(b, a)), (0, True))


def truth(atom: Any, reading: Array) -> Any:
    """Whether a condition holds, from its reading; a floor's value as bounds."""
    kind = type(atom).__name__
    if kind in FLOORS:
        return reading, reading
    return {
        "StrictLessThan": reading < 0, "LessThan": reading <= 0, "Equality": reading == 0, "Unequality": reading != 0,
    }[kind]  # fmt: skip


def worded(atom: Any, names: Mapping[Any, str | float]) -> str:
    """A switch as messages show it: with the user's names and numbers, cut if it is long."""
    said = {s: se.Symbol(it) if isinstance(it, str) else se.RealDouble(it) for s, it in names.items()}
    return shortened(atom.xreplace(said))
