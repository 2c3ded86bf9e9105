"""Some samples of an ensemble, from their starts to what is said of them: block by block, so that memory stays small.

Samples run side by side, in lanes, on the rows that were chosen for the lead; where those would not do, a sample runs
by itself.
"""

import os
import time as clock
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zwang.arrays import Array, Indices
from zwang.compile.lanes import LANES
from zwang.engines.native import engine as native
from zwang.engines.native import runs as stepper
from zwang.engines.native.record import RUN
from zwang.engines.task import EventHit, Status
from zwang.errors import ZwangError
from zwang.lowering.matrices import matrix_kernel
from zwang.lowering.rows import RowBasis
from zwang.motion.certificate import doubts, solved, suspicious
from zwang.motion.drive import keeps_on
from zwang.motion.ensemble.contacts import compute_in_contact
from zwang.motion.ensemble.gather import gathered
from zwang.motion.ensemble.problem import Ensemble
from zwang.motion.ensemble.threads import each
from zwang.motion.ensemble.together import EVENT_ROWS, Lead, first_rows, fitting, run_together
from zwang.motion.ensemble.told import BAD_START, ERROR, Met, Told
from zwang.motion.observe import AT_ODDS, Segment, chunks, first_contradiction, share_multipliers, values_of
from zwang.motion.redundant import SUSPECT, integrate_watched, places_of, tells_by_projection, watched_times
from zwang.motion.resets.watched import Watched
from zwang.motion.setup import Setup
from zwang.results.dataset import VARIABLES, balance

BLOCK_BYTES = 24e6  # bytes that the runs of a block may take
RUNS_PER_LANE = 32  # runs for each lane, at least: lanes are empty at the end of a block
MAY_LACK_SOLUTION = [
    stepper.LoopStatus.EVENT, stepper.LoopStatus.STEP_TOO_SMALL, stepper.LoopStatus.NOT_FINITE,
]  # fmt: skip
"""How a run may end where nonideal forces that depend on multipliers lose their solution."""
BESIDE = ("jacobi", "work", "slope", "size")  # what is looked at and not kept


@dataclass(frozen=True)
class Sample:
    """One sample's states, in segments on the same rows, and how it ended; as an `Account` for its certificate."""

    segments: list[Segment]
    status: str
    steps: int = 0
    leapt: float = 0.0
    turned: float = 0.0
    words: str = ""
    hits: tuple[EventHit, ...] = ()


def shapes(setup: Setup) -> dict[str, tuple[int, ...]]:
    """What the results have at each state: variable → its shape there."""
    sizes = {"coordinate": len(setup.system.coordinate_names), "constraint": len(setup.system.constraint_names)}
    return {name: tuple(sizes[d] for d in dims) for name, (dims, _) in VARIABLES.items()}


def compute(
    ensemble: Ensemble, lead: Lead | None, into: Mapping[str, Array], threads: int | None, told: Any = None
) -> Told:
    """Run all samples, and put what is kept of them into arrays (S, T, …); `told` is called with how many are done."""
    m, count, saved = len(ensemble.setup.system.constraint_names), threads or os.cpu_count() or 1, ensemble.grid
    if ensemble.setup.contact is not None:
        found = compute_in_contact(ensemble, into, count, told)
        found.met += [Met.of(found.hits)] if found.hits else []
        return found
    if lead is not None and len(lead.basis.rows) < m and not tells_by_projection(ensemble.setup, lead.basis):
        # redundant rows are looked at between the saved times: more is computed, and what is wanted taken out of it
        times = watched_times(ensemble.setup, lead.basis, ensemble.t, saved)
        ensemble = replace(ensemble, options=replace(ensemble.options, times=times, samples=None))
    taken = places_of(saved, ensemble.grid)
    kept: Mapping[str, Array] = into if np.array_equal(ensemble.grid, saved) else {}
    size = block_size(ensemble, count)
    spare = scratch(ensemble, kept, min(size, len(ensemble)))
    all_told = Told([], unique=np.ones(m, dtype=bool))
    for block in chunks(len(ensemble), size):
        part = ensemble.part(block)
        values = {name: array[block] for name, array in kept.items()}
        values |= {name: array[: len(part)] for name, array in spare.items()}
        found = Block(part, lead, values, count).told()
        for name in into.keys() - kept.keys():
            into[name][block] = values[name][:, taken]
        all_told.statuses += found.statuses
        all_told.doubts |= {block.start + i: words for i, words in found.doubts.items()}
        if found.hits:
            all_told.met.append(Met.of(found.hits, block.start))
        all_told.unique &= found.unique
        all_told.projected |= found.projected
        all_told.seconds += found.seconds
        if told:
            told(block.stop)
    return all_told


def block_size(ensemble: Ensemble, threads: int) -> int:
    """How many samples are run at once: enough to fill all lanes, few enough to take little memory."""
    n, m = len(ensemble.setup.system.coordinate_names), len(ensemble.setup.system.constraint_names)
    bytes_of_one = 8 * (70 * n + 20 * m + len(ensemble.grid) * (10 * n + 3 * m + 12)) + RUN.itemsize
    if ensemble.setup.events:
        bytes_of_one += 8 * EVENT_ROWS * (2 + 2 * n)
    return max(int(BLOCK_BYTES / bytes_of_one), RUNS_PER_LANE * LANES * threads)


def scratch(ensemble: Ensemble, into: Mapping[str, Array], size: int) -> dict[str, Array]:
    """Room for what is computed of a block and not kept."""
    times, of_state = len(ensemble.grid), shapes(ensemble.setup)
    of_state |= dict.fromkeys(BESIDE, ()) | {"slope": of_state["a"]}
    return {name: np.empty((size, times, *shape)) for name, shape in of_state.items() if name not in into}


@dataclass(frozen=True, eq=False)
class Block:
    """Samples that are computed at once, and where their values go."""

    ensemble: Ensemble
    lead: Lead | None
    values: dict[str, Array]
    """(S, T, …) every variable of the results, and what is looked at beside"""
    threads: int

    def told(self) -> Told:
        """Run the samples, fill in their values, and say how they fared."""
        setup = self.ensemble.setup
        result = Told([BAD_START] * len(self.ensemble), unique=np.ones(len(setup.system.constraint_names), dtype=bool))
        for place, words in self.ensemble.refused.items():
            result.statuses[place], result.doubts[place] = ERROR, words
        which = np.flatnonzero(self.ensemble.consistent)
        self.leave_out(~self.ensemble.consistent)
        alone = [int(sample) for sample in which]
        if self.lead is not None and len(which) and not setup.locked:  # switches come at other times in each run
            alone = self.side_by_side(self.lead, which, result)
        began = clock.perf_counter()
        lone = list(each(self.by_itself, alone, self.threads))
        result.seconds += clock.perf_counter() - began
        for i, sample in zip(alone, lone, strict=True):
            self.one(i, sample, result)
        self.values["energy_balance"][:] = balance(self.values["jacobi"], self.values["work"])
        return result

    def side_by_side(self, lead: Lead, which: Indices, result: Told) -> list[int]:
        """Run samples on the rows of the lead; those for which these would not do, or that met a small pivot."""
        ensemble, basis = self.ensemble, lead.basis
        suits = fitting(ensemble, lead, which)
        places, others = which[suits], list(map(int, which[~suits]))
        self.leave_out(others)
        if not len(places):
            return others
        runs, hits, seconds = run_together(ensemble, lead, places, self.threads)
        result.seconds += seconds
        result.hits |= {int(places[i]): rows for i, rows in hits.items()}
        status, saved = runs.records["status"], runs.records["saved"]
        stuck = status == stepper.LoopStatus.SINGULAR
        if ensemble.setup.margins:  # it may be for want of a solution, which a run by itself says
            stuck |= np.isin(status, MAY_LACK_SOLUTION)
        if len(basis.rows) < len(ensemble.setup.system.constraint_names):  # they may be at odds between saved times
            stuck |= runs.records["left"] > SUSPECT
        # one that cannot even begin may be refused by name
        stuck |= (status == stepper.LoopStatus.NOT_FINITE) & (runs.records["accepted"] == 0)
        saved[stuck] = 0  # each has its own way past it, or its own words
        self.report(basis, runs, places)
        words = {
            code: str(native.STATUS.get(code, Status.INTERRUPTED)) for code in map(stepper.LoopStatus, set(status))
        }
        for place, code in zip(places.tolist(), status.tolist(), strict=True):
            result.statuses[place] = words[code]
        result.projected |= keeps_on(ensemble.setup, basis)
        if len(basis.rows) < len(ensemble.setup.system.constraint_names):
            result.unique &= self.share(basis, places, saved)
            for i, first in self.at_odds(basis, places, saved):
                result.statuses[places[i]], saved[i] = str(Status.INCONSISTENT), -1
                self.cut(int(places[i]), first)
        for i in np.flatnonzero((saved > 0) & self.suspicious(basis, runs, places)).tolist():
            place = int(places[i])
            record, until = runs.records[i], int(saved[i])
            segment = Segment(basis, ensemble.grid[:until], runs.q[i, :until], runs.v[i, :until], ensemble.p[place])
            account = Sample([segment], "", int(record["accepted"]), turned=float(record["turned"]))
            self.doubt(place, account, {name: value[place, :until] for name, value in self.values.items()}, result)
        return sorted(others + places[stuck].tolist())

    def report(self, basis: RowBasis, runs: stepper.Runs, places: Indices) -> None:
        """All that is said of the states of runs; what they did not reach is not a number."""
        ensemble, values, saved = self.ensemble, self.values, runs.records["saved"]
        kernel = native.compiled(ensemble.setup.program("report", basis))
        self.leave_out(places[saved < len(ensemble.grid)])
        whole = slice(None) if len(places) == len(ensemble) else places
        if len(basis.used) < len(ensemble.setup.system.constraint_names):
            values["multiplier"][whole] = 0.0
        values["rank"][whole] = len(basis.rows)
        for name, kept in (("work", runs.done), ("slope", runs.slope), ("size", runs.size)):
            values[name][whole] = kept
        gathered(kernel, runs, ensemble.p[places], basis.used, values, places, self.threads)
        for power, force in (("constraint_power", "constraint_force"), ("nonideal_power", "nonideal_force")):
            np.vecdot(values[force], values["v"], out=values[power])
        for i in np.flatnonzero(saved < len(ensemble.grid)):
            self.cut(int(places[i]), int(saved[i]))

    def share(self, basis: RowBasis, places: Indices, saved: Indices) -> Any:
        """Minimum-norm multipliers where rows are redundant; which are unique."""
        ensemble, values = self.ensemble, self.values
        states = np.zeros((len(ensemble), len(ensemble.grid)), dtype=bool)
        states[places] = np.arange(len(ensemble.grid)) < saved[:, None]
        sample, instant = np.nonzero(states)
        times, p, multiplier = ensemble.grid[instant], ensemble.p[sample], values["multiplier"][states]
        segment = Segment(basis, times, values["q"][states], values["v"][states], p)
        unique = share_multipliers(ensemble.setup, segment, multiplier)
        values["multiplier"][states] = multiplier
        return unique

    def at_odds(self, basis: RowBasis, places: Indices, saved: Indices) -> Iterator[tuple[int, int]]:
        """Runs, and the first state of each, at which a redundant constraint is not obeyed."""
        setup, values = self.ensemble.setup, self.values
        redundant = [i for i in range(len(setup.system.constraint_names)) if i not in basis.rows]
        middle = saved // 2
        q, v = (values[name][places, middle] for name in ("q", "v"))
        A = matrix_kernel(setup.system, setup.inputs)(self.ensemble.grid[middle], q, v, self.ensemble.p[places]).A
        size = np.linalg.norm(A, axis=2)[:, redundant]
        allowed = max(AT_ODDS, 1e3 * setup.tol) * np.where(size > 0, size, 1.0)
        for i, (place, until) in enumerate(zip(places.tolist(), saved.tolist(), strict=True)):
            levels = (np.abs(values[name][place, :until][:, redundant]) for name in ("residual", "residual_rate"))
            bad = np.argwhere(np.fmax(*levels) > allowed[i])
            if len(bad):
                yield i, int(bad[0, 0])

    def suspicious(self, basis: RowBasis, runs: stepper.Runs, places: Indices) -> Any:
        """Which runs need a closer look; all of them where rows are nearly dependent."""
        if basis.close:
            return np.ones(len(places), dtype=bool)
        setup, grid = self.ensemble.setup, self.ensemble.grid
        values = self.values if len(places) == len(self.ensemble) else {k: x[places] for k, x in self.values.items()}
        steps, turned = (runs.records[name].astype(float) for name in ("accepted", "turned"))
        found = suspicious(grid, values, setup.tol, steps, turned)
        if setup.lowered.description.reactions:
            given = {"t": grid[None, :, None], "q": runs.q, "v": runs.v, "p": self.ensemble.p[places][:, None]}
            reached = np.arange(len(grid)) < runs.records["saved"][:, None]
            found |= (reached & ~solved(setup, basis, given)).any(axis=1)
        return found

    def doubt(self, place: int, sample: Sample, values: dict[str, Any], result: Told) -> None:
        """What cannot be vouched for in one sample, by its values."""
        if words := " ".join(doubts(self.ensemble.of(place), sample.segments, values, sample)):
            result.doubts[place] = words

    def leave_out(self, which: Any) -> None:
        """Some samples have no values, or none yet."""
        for value in self.values.values():
            value[which] = np.nan

    def cut(self, place: int, until: int) -> None:
        """A sample has no values from some state on."""
        for value in self.values.values():
            value[place, until:] = np.nan

    def by_itself(self, sample: int) -> Sample:
        """One sample by itself, as `simulate` would run it."""
        try:
            setup, state = self.ensemble.of(sample), self.ensemble.state(sample)
            basis = first_rows(setup, state)
            zero = Watched(setup, basis, state).zeros()
            segments, path = integrate_watched(setup, state, self.ensemble.grid, None, basis, zero)
        except ZwangError as error:
            return Sample([], ERROR, words=str(error))
        return Sample(segments, str(path.status), path.steps, path.leapt, path.turned, hits=path.hits)

    def one(self, place: int, sample: Sample, result: Told) -> None:
        """Fill in the values of a sample that ran by itself."""
        setup = self.ensemble.setup
        result.statuses[place] = sample.status
        result.hits.pop(place, None)
        if sample.hits:
            result.hits[place] = np.array([row_of(h, setup.resets) for h in sample.hits])
        if sample.words:
            result.doubts[place] = sample.words
        self.leave_out(place)
        if not sample.segments:
            return
        found = values_of(setup, sample.segments)
        times, grid = np.concatenate([segment.times for segment in sample.segments]), self.ensemble.grid
        odds, until = first_contradiction(setup, sample.segments, found), len(times)
        if odds is not None:
            result.statuses[place], until = str(Status.INCONSISTENT), odds[0]
        else:
            self.doubt(place, sample, found, result)
        result.unique &= found.pop("unique")
        result.projected |= any(keeps_on(setup, segment.basis) for segment in sample.segments)
        wanted = places_of(grid, times[:until])
        for name, value in found.items():
            self.values[name][place, : len(wanted)] = value[wanted]


def row_of(hit: EventHit, resets: bool) -> list[float]:
    """An event in numbers: instant, which, q and v; where some reset the state, those after it and the energy lost."""
    row = [hit.t, hit.which, *hit.q, *hit.v]
    q, v = hit.after or (hit.q, hit.v)
    return [*row, *q, *v, hit.loss] if resets else row
