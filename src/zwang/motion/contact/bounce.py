"""Impacts that an engine makes by itself: those of one contact alone, without friction, while all others are open.

Whatever is unusual stops the engine as ever: several contacts at once, grazing, plastic impacts, flights that are about
to be too faint to be followed. So that it is known what counts as that, a contact has had an impact before, and the
motion a flight.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from zwang.arrays import Array
from zwang.compile import Program
from zwang.engines.registry import engine_of
from zwang.engines.task import KickTask, Task, Trajectory, altered
from zwang.equations.languages import translate
from zwang.lowering import acceleration as explicit
from zwang.lowering.cache import Kept
from zwang.lowering.contact_power import SURFACE
from zwang.lowering.impact import impact_program
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rows import RowBasis
from zwang.motion.contact.grazing import grazes, looked_at, slow
from zwang.motion.contact.machine import Machine
from zwang.motion.contact.record import Transition
from zwang.motion.contact.zeno import LAST_SPEED
from zwang.motion.drive import Alone
from zwang.motion.setup import Setup
from zwang.motion.start import State

MARGIN = 10.0  # times what is faint, or near: what is not clear of it by so much is looked at more closely
HEAD_ON = 1e-6  # of the terms of γ⁺: below, an impact is grazing, or plastic

_PROGRAMS: Kept[Program] = Kept()


@dataclass(frozen=True)
class Bouncing(Alone):
    """The motion alone, with impacts that its engine makes: `most` (k, 4) and `apart` (k,) are those of `KickTask`."""

    most: Array
    apart: Array

    def whole(self, setup: Setup, basis: RowBasis, task: Task, state: State) -> Task:
        """The task of the engine, with these impacts."""
        if task.events is None or not able(setup, basis):
            return task
        first, apart = len(setup.events), np.full(len(task.events.direction), -np.inf)
        apart[first : first + len(self.apart)] = self.apart
        return altered(task, kick=KickTask(program_of(setup, basis), first, self.most, apart))


def able(setup: Setup, basis: RowBasis) -> bool:
    """Whether the engine may make impacts at all, on these rows."""
    unusual = basis.masked or basis.damping or basis.lifted or setup.locked or setup.lowered.description.reactions
    return engine_of(setup.method).kicks and not unusual


def program_of(setup: Setup, basis: RowBasis) -> Program:
    """The impacts of all contacts as a program."""
    assert setup.contact is not None
    constraints, rows = setup.system.constraints, setup.contact.rows
    gains = explicit.GAINS if setup.drift == "baumgarte" else None

    def build() -> Program:
        known: dict[sp.Basic, Any] = dict(zip(setup.symbols, setup.lowered.parameters, strict=True))
        bounces = [i for i in rows if not (constraints[i].friction or constraints[i].restitution.is_zero)]
        restitution = {i: translate(constraints[i].restitution, known) for i in bounces}
        return impact_program(setup.running, basis, rows, restitution, gains)

    key = (setup.system.structure, tuple(setup.inputs.items()), basis, rows, setup.symbols, gains)
    return _PROGRAMS.get(key, build)


def bouncing(machine: Machine) -> Bouncing | None:
    """What the engine needs to make impacts from here on; None where it is not to make any."""
    if machine.rates:
        return None
    setup, rows, scales = machine.setup, machine.rows, machine.scales
    if not machine.bounces or machine.closed or machine.slack.any() or not machine.total.steps:
        return None
    met = [i for i in rows if machine.fastest.get(i, 0.0) > 0 and scales.flat(i) > 0]
    may = [i for i in met if not setup.system.constraints[i].friction]
    if not may:
        return None
    most = np.full((len(rows), 4), -np.inf)
    for k, i in enumerate(rows):
        if i in may:
            faint = np.array([scales.flat(i), setup.tol * machine.span])
            most[k] = [-MARGIN * LAST_SPEED * machine.fastest[i], *1 / (MARGIN * faint), -HEAD_ON]
    near, _ = machine.near(machine.now)
    return Bouncing(most, MARGIN * np.array([near[i] for i in rows]))


def kicked_works(machine: Machine, path: Trajectory) -> list[tuple[float, Array]]:
    """When moving surfaces have worked in impacts that the engine has made, and how much (2, k)."""
    found = []
    first, shown = len(machine.setup.events), sorted((*machine.rows, *machine.guides))
    for block in path.kicks:
        for t, which, gained, _, lost in block[:, :5].tolist():
            done = np.zeros_like(machine.works)
            done[SURFACE, shown.index(machine.rows[int(which) - first])] = gained + lost
            if done.any():
                found.append((t, done))
    return found


def bounced(machine: Machine, path: Trajectory) -> None:
    """Write down the impacts that the engine has made, and what they tell of how large things are."""
    kicks = [block for block in path.kicks if len(block)]
    if not kicks:
        return
    table, setup, n = np.concatenate(kicks), machine.setup, len(machine.state[1])
    t, places, impulse, lost = table[:, 0], table[:, 1].astype(int) - len(setup.events), table[:, 3], table[:, 4]
    q, before, after = table[:, 5 : 5 + n], table[:, 5 + n : 5 + 2 * n], table[:, 5 + 2 * n :]
    for k, place in enumerate(places.tolist()):
        impulses = np.zeros(len(machine.rows))
        impulses[place] = impulse[k]
        state = (float(t[k]), q[k], before[k])
        machine.transitions.append(Transition(state, "impact", machine.rows[place], after[k], impulses, float(lost[k])))
    now = matrix_kernel(setup.system, setup.inputs)(t, q, before, setup.p)
    for place in np.unique(places).tolist():
        row = machine.rows[place]
        fastest = -float(now.residual_rate[places == place, row].min())
        machine.fastest[row] = max(machine.fastest.get(row, 0.0), fastest)
    machine.scales.see(now, t, q, before)
    machine.scales.go(now, after, np.diff(np.append(t, path.end[0])))
    rows = np.array(machine.rows)[places]
    speeds = -np.take_along_axis(now.residual_rate, rows[:, None], axis=1)[:, 0]
    limits = np.array([slow(machine, i) for i in machine.rows])[places]
    for k in np.flatnonzero(speeds <= limits).tolist():
        i, state, speed = int(rows[k]), (float(t[k]), q[k], before[k]), float(speeds[k])
        if looked_at(machine, i, speed) and grazes(machine, i, state, setup.matrices(*state), []):
            machine.grazed.append((state[0], i, speed))
