"""The setting of a motion: a system with numbers, and the programs that are made of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.compile import AnyProgram
from zwang.engines.native.engine import compiled
from zwang.engines.registry import engine_of
from zwang.engines.task import Pencil
from zwang.evaluation import require_finite_matrices
from zwang.formulations.forms import FORMS
from zwang.lowering import acceleration as explicit
from zwang.lowering.cache import Kept
from zwang.lowering.contact import Held, slip_program, with_contacts
from zwang.lowering.events import event_program
from zwang.lowering.locked import NOT_HELD, Locked, lock, readings_program
from zwang.lowering.lowered import Lowered, Matrices
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.projection import projection_program
from zwang.lowering.report import report_program
from zwang.lowering.resting import exits
from zwang.lowering.rolled import along as families_at_rest
from zwang.lowering.rolled import programs as in_families
from zwang.lowering.rolled.events import event_program as events_in_families
from zwang.lowering.rolled.families import Families, rolled, rolled_for_rests, rolled_to_run
from zwang.lowering.rolled.held import lock_families
from zwang.lowering.rolled.pencil import pencil_program
from zwang.lowering.rolled.resting import RestingFamilies
from zwang.lowering.rows import RowBasis
from zwang.lowering.shares import shares_program
from zwang.model import System
from zwang.model.event import Event
from zwang.model.signal import Signal

_PROGRAMS: Kept[AnyProgram] = Kept()
_EVENTS: Kept[AnyProgram] = Kept()
_WATCHED: Kept[Lowered] = Kept()
_PENCILS: Kept[Pencil] = Kept()
_LOCKED: Kept[tuple[Locked | None]] = Kept()


@dataclass(frozen=True)
class Setup:
    """A system with numbers: everything about a simulation that does not change while it runs."""

    system: System
    inputs: Mapping[sp.Expr, Any]
    lowered: Lowered
    p: Array
    form: str
    method: str
    tol: float
    drift: str
    gains: tuple[float, float]
    events: tuple[Event, ...]
    signals: Mapping[sp.Expr, Signal]
    """Kept alive: p holds the addresses of their tables."""
    symbols: tuple[sp.Symbol, ...]
    """The parameters in the order of p."""
    max_step: float = np.inf
    quiet_step: float = np.inf
    breaks: Array = field(default_factory=lambda: np.zeros(0))
    """Instants right after which a signal or a switch in time changes."""
    varied: tuple[int, ...] = ()
    """Parameters that change while the motion is integrated with its sensitivities."""
    contact: Held | None = None
    """The mode of the contacts, if there are any."""
    in_lanes: bool = False
    """Whether many runs are computed side by side."""

    def matrices(self, t: float | Array, q: Array, v: Array) -> Matrices:
        """The system's matrices at a state, or at a stack of states."""
        now = matrix_kernel(self.system, self.inputs)(t, q, v, self.p)
        require_finite_matrices(self.system, now)
        return now

    def program(self, kind: str, basis: RowBasis, only: tuple[str, ...] = (), rests: bool = False) -> AnyProgram:
        """A program of the explicit equation, made once for the same model and choice; of its outputs all, or some.

        With `rests`, switches may rest in it.
        """
        if only:
            whole = self.program(kind, basis, rests=rests)
            return _PROGRAMS.get((whole, only), lambda: whole.giving(*only))
        gains = explicit.GAINS if self.drift == "baumgarte" else None
        running, families = self.running, self.families if kind != "report" or self.contact else rolled(self.lowered)
        contacts = self.contact.rows if self.contact else ()
        key = (self.system.structure, tuple(self.inputs.items()), kind, self.form, basis, gains, self.varied, contacts)
        if rests:
            loops = self.families is not None
            return _PROGRAMS.get((*key, "rests", loops), partial(self.with_rests, kind, basis, gains))
        late = explicit.coordinates_first(self.form)
        plain = self.among_contacts(self.lowered) if basis.masked else self.lowered
        make: dict[str, Callable[[], AnyProgram]] = {
            "acceleration": lambda: explicit.acceleration_program(running, basis, self.form, gains),
            "projection": lambda: projection_program(running, basis, gains),
            "report": lambda: report_program(plain, basis),
        }
        if kind == "readings" and self.locked is not None:
            return _PROGRAMS.get(key, partial(readings_program, self.locked, running, basis))
        if families is not None:
            make = {
                "acceleration": lambda: in_families.acceleration_program(families, basis, late, gains),
                "projection": lambda: in_families.projection_program(families, basis, gains),
                "report": lambda: in_families.report_program(families, basis),
            }
        return _PROGRAMS.get((*key, families is not None), make[kind])

    def pencil(self, basis: RowBasis) -> Pencil | None:
        """How the acceleration of a large system changes, made once, if the engine is one that asks for it."""
        if self.families is None or not engine_of(self.method).solves_sparse or not basis.used:
            return None  # without constraints the Jacobian itself is sparse
        families, gains = self.families, explicit.GAINS if self.drift == "baumgarte" else None
        late = explicit.coordinates_first(self.form)

        def make() -> Pencil:
            program, where = pencil_program(families, basis, late, gains)
            return Pencil(program, where, families.n + len(basis.used))

        return _PENCILS.get((self.program("acceleration", basis), "pencil"), make)

    def with_rests(self, kind: str, basis: RowBasis, gains: Any) -> AnyProgram:
        """A program in which switches may rest."""
        locked, model, families = self.locked, self.resting, self.families_at_rest
        assert locked is not None
        late = explicit.coordinates_first(self.form)
        if families is not None:
            in_loops: dict[str, Callable[[], AnyProgram]] = {
                "acceleration": lambda: families_at_rest.acceleration_program(families, basis, late, gains),
                "report": lambda: families_at_rest.report_program(families, basis),
                "shares": lambda: families_at_rest.shares_program(families, basis),
                "response": lambda: families_at_rest.response_program(families, basis),
                "onto": lambda: families_at_rest.onto_program(families, basis),
            }
            return in_loops[kind]()
        assert model is not None
        make: dict[str, Callable[[], AnyProgram]] = {
            "acceleration": lambda: explicit.acceleration_program(model, basis, self.form, gains),
            "report": lambda: report_program(model, basis),
            "readings": lambda: readings_program(locked, model, basis),
            "shares": lambda: shares_program(model, basis),
        }
        return make[kind]()

    def slips(self, state: tuple[float, Array, Array]) -> dict[str, Array]:
        """Rows A, right-hand sides b and speeds of all slips at a state."""
        t, q, v = state
        if not self.lowered.description.slips:
            return {"A": np.zeros((0, len(q))), "b": np.zeros(0), "slip": np.zeros(0)}
        key = (self.system.structure, tuple(self.inputs.items()), "slips")
        program = _EVENTS.get(key, lambda: slip_program(self.lowered))
        return compiled(program)(t=np.array([t]), q=q, v=v, p=self.p)

    def watching(self, basis: RowBasis, rests: bool = False) -> AnyProgram:
        """The program of events, contacts and switches, made once for the same of them and the same rows."""
        gains = explicit.GAINS if self.drift == "baumgarte" else None
        contacts = self.contact.rows if self.contact else ()
        falling, families = self.locked.falling if self.locked else (), self.families

        model = self.resting if rests and families is None else self.running
        assert model is not None
        falling += exits(model)
        if rests and families is not None:
            families = self.families_at_rest

        def make() -> AnyProgram:
            if families is not None:
                return events_in_families(self.system, self.symbols, families, basis, self.events, gains)
            return event_program(self.system, self.symbols, model, basis, self.events, gains, falling, contacts)

        if families is not None and self.locked and not self.events:
            return _EVENTS.get((self.locked, gains, basis if rests else None), make)
        # by their own symbols: two systems of one structure may call different things by these
        words = (self.system.coordinates, self.system.constraint_names, self.symbols)
        watched = (*words, *(e.expression for e in self.events))
        key = (self.system.structure, tuple(self.inputs.items()), basis, gains, self.varied, contacts, watched, rests)
        return _EVENTS.get(key, make)

    @property
    def resets(self) -> bool:
        """Whether the state jumps at some events."""
        return any(event.reset for event in self.events)

    @property
    def margins(self) -> int:
        """How many margins of nonideal forces are watched: one, if these depend on multipliers."""
        return int(bool(self.lowered.description.reactions) and engine_of(self.method).finds_events)

    @property
    def families(self) -> Families | None:
        """The families by which a large system is integrated, if its engine takes programs with loops."""
        found: Families | None = self.locked.families if self.locked else self.plain_families
        return found

    @property
    def plain_families(self) -> Families | None:
        """The same with no switch held."""
        if not engine_of(self.method).runs_loops or FORMS[self.form].eliminates:
            return None
        if self.contact is not None:  # their rows are masked in straight-line programs only
            return None
        return rolled_to_run(self.lowered, self.in_lanes) or rolled_for_rests(self.lowered)

    @cached_property
    def locked(self) -> Locked | None:
        """The model with its switches held, if some depend on its state."""
        if not self.lowered.description.switching:
            return None
        families = self.plain_families
        names = self.system.coordinate_names, tuple(map(str, self.symbols)), self.system.constraint_names
        key = (self.system.structure, tuple(self.inputs.items()), *names, self.varied, families is not None)

        def make() -> tuple[Locked | None]:
            if families is not None:
                made = lock_families(families, *names, self.varied)
                if made is None or made.families_at_rest is None or self.rests_in_loops(made.families_at_rest):
                    return (made,)
            return (lock(self.lowered, *names, self.varied),)

        return _LOCKED.get(key, make)[0]

    def rests_in_loops(self, families: RestingFamilies) -> bool:
        """Whether what holds switches can do so in loops, or the system is too large for anything else.

        Asked at a state drawn by lot.
        """
        if rolled_to_run(self.lowered, self.in_lanes) is not None:
            return True
        t, q, v = np.split(np.random.default_rng(0).uniform(0.3, 1.7, 1 + 2 * families.n), [1, 1 + families.n])
        modes = np.full(len(families.lowered.modes), NOT_HELD)
        across = compiled(families_at_rest.oblique_program(families))(t=t, q=q, v=v, p=self.p, modes=modes)["oblique"]
        return bool((across <= families_at_rest.OBLIQUE).all())

    @property
    def running(self) -> Lowered:
        """The model that engines run."""
        return self.among_contacts(self.lowered if self.locked is None else self.locked.lowered)

    @property
    def resting(self) -> Lowered | None:
        """The model that engines run while switches rest; none if none may."""
        if self.locked is None or self.locked.resting is None or self.families is not None:
            return None
        return self.among_contacts(self.locked.resting)

    @property
    def families_at_rest(self) -> RestingFamilies | None:
        """The families by which a large system is integrated while switches rest; none if none may."""
        found: RestingFamilies | None = self.locked.families_at_rest if self.locked else None
        return found

    @property
    def may_rest(self) -> tuple[int, ...]:
        """The switches that may rest."""
        if self.families_at_rest is not None:
            return self.families_at_rest.which
        return tuple(i for i, _ in self.resting.rests) if self.resting else ()

    def among_contacts(self, lowered: Lowered) -> Lowered:
        """A model with the numbers of contacts among its inputs, if there are any."""
        if self.contact is None:
            return lowered
        rows = self.contact.rows
        return _WATCHED.get((lowered, rows), lambda: with_contacts(lowered, rows))

    def named(self, program: AnyProgram, state: tuple[float, Array, Array]) -> dict[str, Array]:
        """The inputs of a program at a state, with no switch held."""
        t, q, v = state
        values = {"t": np.array([t]), "q": q, "v": v, "p": self.p, "gains": np.array(self.gains)}
        values |= {"modes": self.locked.literal} if self.locked else {}
        values |= {"contact": self.contact.numbers} if self.contact else {}
        return {name: values[name] for name in program.inputs}

    def for_kernels(self, p: Array) -> Array:
        """Parameters, of one run or several, as kernels take them: then modes, the gains of Baumgarte's method last."""
        modes = () if self.locked is None else self.locked.literal
        contact = () if self.contact is None else self.contact.numbers
        behind = np.concatenate([modes, contact, self.gains if self.drift == "baumgarte" else ()])
        return np.concatenate([p, np.broadcast_to(behind, (*p.shape[:-1], len(behind)))], axis=-1)
