"""A model whose switches are held: which piece of an expression counts is an input, so that it is smooth in a step.

Each condition a < b, a ≤ b, a = b that depends on the state is decided by the sign of a − b, and each floor has a
value: these are *modes*, numbers beside the parameters. With its modes held, the equation of motion goes on smoothly
beyond the place where a switch would change; where that is, is watched as an event (`switching`). A mode that is
LITERAL is not held: the switch then reads the state, as in the plain model.

Every switch has three numbers: its mode, the level that is watched (the sign, or the floor's value), and a slack. Where
some may rest (`resting`), every switch has two more, 1 while the motion goes on along it, and 1 while it leads there;
behind them are ratios of those that may. In loops the second is the damping of its row, and there are no ratios.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np
import symengine as se
from numpy.typing import NDArray

from zwang.arrays import Array
from zwang.compile import AnyProgram, Program
from zwang.equations.derivation import Description
from zwang.functions import FLOORS
from zwang.lowering.equation import Equation, filled
from zwang.lowering.implicit import balanced, known_part
from zwang.lowering.lowered import Lowered
from zwang.lowering.power import energies
from zwang.lowering.resting import with_rests
from zwang.lowering.rows import RowBasis
from zwang.lowering.saddle import Steps
from zwang.lowering.switches import RELATIONS, argument_of, atoms_of, expressions_of, worded

MAKE = {
    "StrictLessThan": se.Lt, "LessThan": se.Le, "Equality": se.Eq, "Unequality": se.Ne,
    **{name: getattr(se, name) for name in FLOORS},
}  # fmt: skip
NOT_HELD = 1e300  # as a mode or a level: not held, not watched


@dataclass(frozen=True)
class Switch:
    """A switch: the sign of something, or a floor; and what tells in words where it changes."""

    kind: str
    tell: Callable[[], str]

    @property
    def words(self) -> str:
        """Where it changes, for a message."""
        return self.tell()

    def around(self, level: float, up: bool) -> tuple[float, float]:
        """The levels below and above the boundary that is met going up, or down, from a level."""
        if self.kind in RELATIONS:
            return -1.0, 1.0
        return (level, level + 1) if up else (level - 1, level)

    def level(self, value: float) -> float:
        """The level that a value of the argument belongs to."""
        if self.kind in RELATIONS:
            return float(np.sign(value))
        return float(np.floor(value) if self.kind == "floor" else np.ceil(value))

    def limits(self, level: float) -> tuple[float, float]:
        """The values of the argument between which a level holds."""
        if self.kind in RELATIONS:
            return (0.0, np.inf) if level > 0 else (-np.inf, 0.0) if level < 0 else (0.0, 0.0)
        return (level, level + 1) if self.kind == "floor" else (level - 1, level)


@dataclass(frozen=True)
class Holding:
    """What stands for some atoms while they are held, and what passes zero, or an integer, where each switch changes.

    Several atoms may be one switch; `atoms` are those by which it is known, `sizes` how large its terms are.
    """

    held: Mapping[Any, Any]
    atoms: tuple[Any, ...]
    arguments: tuple[Any, ...]
    sizes: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Locked:
    """A model with modes, its switches (inner ones first), and what is watched of them.

    `rows` are what falls through zero where a level ends: its switch, and 1 or −1 where the argument rises or falls
    there (0: that depends on the level). `readings` gives argument and size of each switch, `steady` what must not
    jump, with names.
    """

    lowered: Lowered
    switches: Sequence[Switch]
    rows: Sequence[tuple[int, int]]
    falling: tuple[Any, ...]
    """The expressions of the rows; a model in loops has a program for them instead."""
    readings: AnyProgram
    steady: AnyProgram
    steady_names: tuple[str, ...]
    timed: tuple[int, ...]
    """Those switches that depend on time and parameters alone."""
    energy: AnyProgram | None
    """Jacobi's energy, which jumps where a potential or a given mass does."""
    resting: Lowered | None = None
    """The model in which some switches may rest; none where none can."""
    families: Any = None
    """The model as families that are held, if it runs in loops."""
    families_at_rest: Any = None
    """The same, in which some switches may rest; none where none can."""

    @cached_property
    def signs(self) -> NDArray[np.bool_]:
        """(switches,) whether a switch is decided by a sign; otherwise it is a floor."""
        return np.array([switch.kind in RELATIONS for switch in self.switches], dtype=bool)

    @cached_property
    def floors(self) -> NDArray[np.bool_]:
        """(switches,) whether it is the next integer below; what is neither is the next one above."""
        return np.array([switch.kind == "floor" for switch in self.switches], dtype=bool)

    def levels(self, values: Array) -> Array:
        """(switches,) the levels that values of the arguments belong to."""
        return np.where(self.signs, np.sign(values), np.where(self.floors, np.floor(values), np.ceil(values)))

    def limits(self, levels: Array) -> tuple[Array, Array]:
        """(switches,) the values of the arguments between which levels hold."""
        low = np.where(self.signs, np.where(levels < 0, -np.inf, 0.0), np.where(self.floors, levels, levels - 1))
        return low, np.where(self.signs, np.where(levels > 0, np.inf, 0.0), low + 1)

    @property
    def literal(self) -> Array:
        """Modes of which none is held or watched."""
        held = 2 * len(self.switches)
        return np.concatenate([np.full(held, NOT_HELD), np.zeros(len(self.lowered.modes) - held)])


def lock(
    lowered: Lowered,
    coordinates: tuple[str, ...],
    symbols: tuple[str, ...],
    constraints: tuple[str, ...],
    varied: tuple[int, ...] = (),
) -> Locked | None:
    """A model with switches held: those that depend on its state; None without any.

    Of those that depend on time alone, the ones that varied parameters move, and those at which energy jumps.
    """
    found = atoms_to_hold(lowered, varied)
    if not found:
        return None
    axes = lowered.description.axes
    names = dict(zip(lowered.parameters, symbols, strict=True)) | dict(zip(axes.q, coordinates, strict=True))
    names |= {v: f"{name}'" for v, name in zip(axes.v, coordinates, strict=True)}
    names |= {s: f"multiplier({constraints[i]})" for i, s in lowered.description.reactions}
    holding = hold(found)
    count = len(holding.atoms)
    modes = mode_symbols(count)
    # Derived anew, not replaced in what was derived: A, b and Q contain derivatives, and those of a switch that is
    # held are those of its piece.
    smooth = replaced(lowered.description, holding.held)
    locked = Lowered(smooth, lowered.parameters, modes)
    signs = [i for i, atom in enumerate(holding.atoms) if type(atom).__name__ in RELATIONS]
    locked, resting = with_rests(locked, [(i, holding.arguments[i]) for i in signs], count)
    modes = locked.modes
    rows = [(row, i, rises) for i in range(count) for row, rises in watched(holding, i)]
    values, steady_names = must_not_jump(locked, coordinates, constraints)
    state = {*axes.q, *axes.v, *(s for _, s in lowered.description.reactions)}
    # Multipliers are put in where rows are chosen (`readings_program`); until then they are inputs of their own.
    multipliers = tuple(s for _, s in lowered.description.reactions)
    inputs = locked.inputs | ({"multipliers": multipliers} if multipliers else {})
    _, jacobi, _ = energies(locked)
    return Locked(
        lowered=locked,
        switches=[Switch(type(atom).__name__, partial(words_of, atom, names)) for atom in holding.atoms],
        rows=[(i, rises) for _, i, rises in rows],
        falling=tuple(row for row, *_ in rows),
        readings=Program(inputs, {"argument": holding.arguments, "size": holding.sizes}),
        steady=Program(locked.inputs, {"value": values}),
        steady_names=steady_names,
        resting=resting,
        timed=tuple(i for i, argument in enumerate(holding.arguments) if not argument.free_symbols & state),
        energy=Program(locked.inputs, {"energy": (jacobi,)}) if jacobi.free_symbols & set(modes) else None,
    )


def mode_symbols(count: int) -> tuple[Any, ...]:
    """The symbols that hold so many switches: modes, levels and slacks, which are called otherwise with contacts."""
    return tuple(se.Symbol(f"{kind}{i}") for kind in ("mode", "level", "ease") for i in range(count))


def readings_program(locked: Locked, lowered: Lowered, basis: RowBasis) -> Program:
    """The readings of switches whose arguments contain multipliers, with these as they are on some rows.

    `lowered` is the model, with or without switches that may rest.
    """
    steps = Steps(se.Symbol, se.Add)
    derived = lowered.derived
    equation = Equation.of(lowered, basis, steps, [derived.b[i] for i in basis.used])
    Q = [f + c for f, c in zip(derived.Q, known_part(lowered), strict=True)]
    lam = dict(zip(basis.used, filled(balanced(equation, Q, equation.b).multipliers), strict=True))
    put = {s: lam.get(i, se.Integer(0)) for i, s in lowered.description.reactions}
    outputs = {name: tuple(e.xreplace(put) for e in es) for name, es in locked.readings.outputs.items()}
    return Program(lowered.inputs, outputs, {}, tuple(steps.done))


def atoms_to_hold(lowered: Lowered, varied: tuple[int, ...]) -> list[Any]:
    """The conditions and floors whose changes must be met by a step of their own, inner ones first.

    An instant known beforehand is a break and needs nothing here, unless varied parameters move it, or a potential or
    mass jumps there and the energy with it. What depends on accelerations is not known before a step and cannot be
    held.
    """
    description = lowered.description
    axes = description.axes
    state, beyond = {*axes.q, *axes.v, *(s for _, s in description.reactions)}, set(axes.a)
    moving = {lowered.parameters[i] for i in varied}
    stored = {*atoms_of([description.potential, *(e for row in description.mass or () for e in row)])}
    found = []
    for atom in atoms_of(expressions_of(description)):
        inside = atom.free_symbols
        timed = axes.t in inside and (inside & moving or atom in stored)
        if not inside & beyond and (inside & state or timed):
            found.append(atom)
    return found


def hold(found: Sequence[Any], senses: Mapping[int, Any] = MappingProxyType({})) -> Holding:
    """What stands for atoms while they are held.

    Several atoms may be one switch: x < 0, x ≤ 0 and 0 < x all change where x does, and must change together. A switch
    may be known by the other sign of its argument, too: `senses` says for which, and what that sign is.
    """
    held: dict[Any, Any] = {}
    known: dict[Any, tuple[int, int]] = {}  # argument -> its switch, and the sign it has there
    switches: list[tuple[Any, Any, Any]] = []
    for atom in found:
        kind = type(atom).__name__
        argument = argument_of(atom).xreplace(held)  # inner switches come first, so they are held already
        family = "relation" if kind in RELATIONS else kind
        if (family, argument) not in known:
            sides = atom.args if kind in RELATIONS else (atom.args[0],)
            size = se.Add(*[se.Abs(e.xreplace(held)) for e in sides])
            known[family, argument] = len(switches), 1
            if kind in RELATIONS:
                known[family, -argument] = len(switches), -1
            switches.append((atom, argument, size))
        which, sign = known[family, argument]
        mode = se.Symbol(f"mode{which}")
        own = switches[which][1]
        reads = own if kind in RELATIONS else MAKE[kind](own)
        value = se.Piecewise((senses.get(which, 1) * mode, se.Lt(mode, NOT_HELD / 2)), (reads, True))
        held[atom] = MAKE[kind](sign * value, 0) if kind in RELATIONS else value
    return Holding(held, *(tuple(each) for each in zip(*switches, strict=True)))


def words_of(atom: Any, names: Mapping[Any, str | float]) -> str:
    """Where a switch changes, for a message: "x' = 0"."""
    if type(atom).__name__ in FLOORS:
        return f"a step of {worded(atom, names)}"
    a, b = atom.args
    return f"{worded(a - b if a != 0 else b, names)} = 0"


def watched(holding: Holding, i: int) -> list[tuple[Any, int]]:
    """Expressions of switch i that are positive at its level and fall through zero where that ends.

    A sign that is neither (level 0) ends where the argument has left zero by the slack.
    """
    kind, x = type(holding.atoms[i]).__name__, holding.arguments[i]
    level, slack = se.Symbol(f"level{i}"), se.Symbol(f"ease{i}")
    off = se.Gt(level, NOT_HELD / 2)
    if kind in RELATIONS:
        size = se.Piecewise((x, se.Ge(x, 0)), (-x, True))
        return [(se.Piecewise((-1, off), (slack - size, se.Eq(level, 0)), (level * x + slack, True)), 0)]
    low = level if kind == "floor" else level - 1
    return [(se.Piecewise((-1, off), (e + slack, True)), rises) for e, rises in ((x - low, -1), (low + 1 - x, 1))]


def replaced(description: Description, held: Mapping[Any, Any]) -> Description:
    """A description with other expressions for some of its parts."""

    def put(e: Any) -> Any:
        return e.xreplace(held)

    return replace(
        description,
        kinetic=None if description.kinetic is None else put(description.kinetic),
        potential=put(description.potential),
        forces=[put(e) for e in description.forces],
        mass=None if description.mass is None else [[put(e) for e in row] for row in description.mass],
        constraints=[(put(e), order) for e, order in description.constraints],
        nonideal=[put(e) for e in description.nonideal],
        slips=[(i, put(e)) for i, e in description.slips],
        repeats=None,
    )


def must_not_jump(
    lowered: Lowered, coordinates: tuple[str, ...], constraints: tuple[str, ...]
) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """What would need an infinite force to change at once, with names: potential, momenta, constraints and rates."""
    description, derived = lowered.description, lowered.derived
    found: list[tuple[Any, str]] = [(description.potential, "the potential")]
    if description.kinetic is not None:
        for v, name in zip(description.axes.v, coordinates, strict=True):
            found.append((description.kinetic.diff(v), f"the momentum of {name}"))
    for position, velocity, name in zip(derived.residual, derived.residual_rate, constraints, strict=True):
        found += [(position, f"the constraint {name!r}")] if position is not None else []
        found += [(velocity, f"the rate of the constraint {name!r}")] if velocity is not None else []
    modes = set(lowered.modes)
    some = [(e, name) for e, name in found if e.free_symbols & modes]
    return tuple(e for e, _ in some), tuple(name for _, name in some)
