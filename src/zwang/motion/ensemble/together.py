"""Samples that run side by side in the native engine, on the rows that were chosen for one of them, the lead."""

import time as clock
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from zwang.arrays import Array, Indices
from zwang.engines.native import engine as native
from zwang.engines.native import runs as stepper
from zwang.engines.task import Task, named, packed
from zwang.linalg.masses import mass_units
from zwang.linalg.rank import row_rank
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rows import CLOSE, DAMPING, RowBasis, apart_enough, couplings, nearest_dependence
from zwang.motion.drive import task_of
from zwang.motion.ensemble.problem import Ensemble
from zwang.motion.setup import Setup
from zwang.motion.start import State, basis_at, polished, rank_of, refined

AS_FAR_APART = 4.0  # times that independent rows may be nearer to dependence than their damping is meant for
SAME_DAMPING = 16.0  # times that the damping of redundant rows may differ from what a sample would have alone
MANY_STEPS = 4_000_000  # of a run with one coordinate, before it is asked why it takes so many
NEARLY_CLOSE = 10 * CLOSE  # squares of distances by elimination may be larger than the least singular value
FEW_ROWS = 60  # constraints of systems whose samples are looked at in dense matrices
EVENT_ROWS = 8  # of the table of events of each run: what it fills is taken out


@dataclass(frozen=True, eq=False)
class Lead:
    """The first sample that can move: the rows chosen for it, and its task, from which those of all are made."""

    basis: RowBasis
    task: Task
    count: int
    """How many samples there are in all: whether they run in lanes must not depend on the part that is computed."""


def lead_by(ensemble: Ensemble, sample: int, count: int) -> Lead | None:
    """One of so many samples as their lead; None where each runs by itself, because something switches."""
    setup = ensemble.of(sample)
    if setup.locked or setup.contact is not None or setup.resets:
        return None
    state = ensemble.state(sample)
    basis = first_rows(setup, state)
    task = task_of(setup, basis, state, ensemble.grid, None, {})
    # crossings are for runs by themselves
    return Lead(basis, replace(task, could_bridge=task.growing > 0), count)


def first_rows(setup: Setup, state: State) -> RowBasis:
    """The rows that a sample begins on, refined if they are nearly dependent there."""
    found = rank_of(polished(setup, state), setup.system.coordinate_names)
    return refined(basis_at(setup, state), found)


def fitting(ensemble: Ensemble, lead: Lead, which: Indices) -> NDArray[np.bool_]:
    """Which of some samples have no more independent rows than were chosen, and would damp them about as much.

    (Fewer independent rows show in their pivots.)
    """
    setup, basis = ensemble.setup, lead.basis
    independent = len(basis.rows) == len(setup.system.constraint_names)
    if independent and (basis.close or len(basis.rows) < 2 or len(setup.system.constraint_names) > FEW_ROWS):
        return np.ones(len(which), dtype=bool)
    q, v, p = ensemble.q[which], ensemble.v[which], ensemble.p[which]
    now = matrix_kernel(setup.system, setup.inputs)(ensemble.t, q, v, p)
    rows = now.A / mass_units(now.M, now.A)[:, None, :]
    if independent:  # one whose rows are nearly dependent is refined, and looked at more closely, by itself
        return np.asarray(nearest_rows(rows) > NEARLY_CLOSE)
    fits = row_rank(rows) <= len(basis.rows)
    if basis.damping:
        fits &= damped_alike(basis, couplings(now.M, now.A, basis.lifted))
    return np.asarray(fits)


def damped_alike(basis: RowBasis, coupling: Array) -> NDArray[np.bool_]:
    """Whether samples with these AM⁻¹Aᵀ (S, m, m) would be damped about as a basis is, and not less."""
    rows, units, damping = list(basis.rows), np.array(basis.units), np.array(basis.damping)
    others = np.delete(np.arange(len(units)), rows)
    units[others] = damping[others] / DAMPING
    ratio = np.diagonal(coupling, axis1=1, axis2=2) / units
    alike = ((ratio > 1 / SAME_DAMPING) & (ratio < SAME_DAMPING)).all(axis=1)
    least = apart_enough((damping / units)[rows].max(initial=0.0)) / AS_FAR_APART
    alike[alike] = nearest_dependence(coupling[alike], rows) > least
    return np.asarray(alike)


Hits = dict[int, Array]
"""Sample → its events (k, 2 + 2n): instant, which, q and v."""


def nearest_rows(rows: Array) -> Array:
    """(S,) the least square of the distance of a row from those before it, rows (S, m, n) at unit length.

    >>> nearest_rows(np.array([[[1.0, 0.0], [3.0, 4.0]]])).round(12).tolist()
    [0.64]
    """
    length = np.linalg.norm(rows, axis=2, keepdims=True)
    unit = rows / np.where(length > 0, length, 1.0)
    across = np.linalg.qr(unit.swapaxes(1, 2), mode="r")
    found = np.abs(np.diagonal(across, axis1=1, axis2=2)).min(axis=1) ** 2
    return np.asarray(found if rows.shape[1] <= rows.shape[2] else np.ones(len(rows)))


def run_together(ensemble: Ensemble, lead: Lead, which: Indices, threads: int) -> tuple[stepper.Runs, Hits, float]:
    """Some samples on the rows of the lead, each to its end or to what stops it; events, and the seconds it took."""
    setup, task, t = ensemble.setup, lead.task, ensemble.t
    q, v, given = ensemble.q[which], ensemble.v[which], setup.for_kernels(ensemble.p[which])
    asked = stepper.Settings(
        times=ensemble.grid,
        rtol=setup.tol,
        atol=setup.tol,
        step_limit=max(MANY_STEPS // q.shape[1], 1),
        max_step=task.max_step,
        quiet_step=task.quiet_step,
        pivot_scale=task.pivot_scale if lead.basis.damping else pivots_at(task, t, q, v, given),
        pivot_tol=task.pivot_tol,
        growing=task.growing,
        zone=native.zone_of(task),
        position_tol=native.PROJECTED,
        velocity_tol=native.PROJECTED,
        breaks=[ensemble.breaks[i] for i in which] if ensemble.has_breaks else (),
        direction=task.events.direction if task.events else 0,
        terminal=task.events.stop if task.events else False,
        jumps=task.events.jumps if task.events else True,
        event_rows=EVENT_ROWS,
    )
    runs = stepper.prepare(native.kernels_for(task, lead.count), t, q, v, given, asked)
    began = clock.perf_counter()
    hits = to_the_end(task, runs, given, threads)
    return runs, hits, clock.perf_counter() - began


def to_the_end(task: Task, runs: stepper.Runs, p: Array, threads: int) -> Hits:
    """All runs to the end, or to what stops them; those that take very many steps are looked at now and then.

    One whose steps are as short as that only because of rounding is stopped, for it would creep for ever. What was met
    on the way is given, run by run.
    """
    hits: dict[int, list[Array]] = {}
    records, until = runs.records, float(task.times[-1])
    share = int(records["step_limit"].max(initial=1))
    together, apart = list(range(len(runs))), list[int]()
    while together or apart:
        before = runs.state[:, 0].copy()
        if together:
            stepper.advance_many(runs, until, threads=threads, which=together)
        if apart:
            stepper.advance_many(runs, until, threads=threads, which=apart, alone=True)
        many = records["status"] == stepper.LoopStatus.TOO_MANY_STEPS
        held = np.flatnonzero(many & (records["step_limit"] < Task.step_limit)).tolist()
        drowned = [i for i in held if native.creeps(replace(task, p=p[i]), runs.state[i], float(before[i]), share)]
        records["status"][drowned] = stepper.LoopStatus.STEP_TOO_SMALL
        records["step_limit"][held] = np.minimum(records["step_limit"][held] + share, Task.step_limit)
        for i in np.flatnonzero(records["found"]).tolist():
            hits.setdefault(i, []).append(native.events_made(runs, i))
            records["found"][i] = 0
        together = np.flatnonzero(records["status"] == stepper.LoopStatus.EVENTS_FULL).tolist()
        apart = [i for i in held if i not in drowned]
    return {i: np.concatenate(rows) for i, rows in hits.items()}


def pivots_at(task: Task, t: float, q: Array, v: Array, p: Array) -> Array:
    """(S, pivots) what the pivots of each sample are judged by: their sizes at its start, 1 where they are zero."""
    kernel = native.compiled(task.acceleration)
    rows = packed(t, np.concatenate([q, v], axis=1), p)
    sizes = np.abs(kernel(**named(task.acceleration, rows))["pivots"])
    return np.where(sizes > 0, sizes, 1.0)
