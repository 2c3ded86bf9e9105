"""From steps to what the dataset says: forces are impulses over the length of their step."""

import time as clock
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.engines.task import Trajectory, altered
from zwang.lowering.matrices import SPARSE_FROM
from zwang.lowering.rows import RowBasis
from zwang.motion.contact.observe import beyond, gaps_of, observed
from zwang.motion.contact.steps.numbers import gaussian
from zwang.motion.contact.steps.walk import Saved, Walk, done_by, walk
from zwang.motion.observe import Segment, how_it_ended, report, values_of
from zwang.motion.options import RunOptions
from zwang.motion.setup import Setup
from zwang.motion.start import Start, basis_at
from zwang.results.dataset import balance

if TYPE_CHECKING:
    import xarray as xr

NOT_OBEYED = 1e-6  # of the largest speed: what is left of a law, above which a step is not vouched for
ENERGY_OFF = 0.05  # of the largest energy: above, steps are too long

EVALUATED = ("q", "v", "force", "residual", "residual_rate", "kinetic", "potential", "energy", "jacobi", "given_power")
NAME = "moreau-jean"


def in_steps(setup: Setup, start: Start, options: RunOptions, watch: Any, names: list[str]) -> tuple[
    "xr.Dataset", Trajectory, str
]:  # fmt: skip
    """The motion of a system with contacts by time stepping, its path and how it ended."""
    assert options.step is not None
    setting_up = clock.perf_counter() - options.began
    found, path = walk(setup, start, options.grid, options.step, watch)
    path = altered(path, compile_seconds=setting_up)
    grid = options.grid[: len(found.saved)]
    values = evaluated(setup, start, grid, found)
    contacts = at_contacts(setup, grid, found, values)
    path = altered(path, doubts=doubts(found, values), notes=(*path.notes, *notes(setup, found)))
    message = how_it_ended(setup.events, path)
    shown = replace(setup, method=NAME, drift="projection", max_step=options.step)
    motion = report(shown, grid, values, path, message, clock.perf_counter() - options.began, names)
    motion.attrs |= {
        "contacts": "steps",
        "step": options.step,
        "penetration": found.deepest[0],
        "contact_residual": found.worst[0],
    }
    return observed(setup, motion, contacts, found.transitions), path, message


def evaluated(setup: Setup, start: Start, grid: Array, found: Walk) -> dict[str, Any]:
    """The variables of the dataset at the saved states."""
    saved, plain = found.saved, replace(setup, contact=None)
    n, m = len(setup.system.coordinates), len(setup.system.constraints)
    q, v = (np.array([getattr(s, name) for s in saved]).reshape(-1, n) for name in ("q", "v"))
    assert setup.contact is not None
    sided = {*setup.contact.rows}
    equal = tuple(i for i in range(m) if i not in sided)
    basis = RowBasis(equal) if n + m >= SPARSE_FROM else replace(basis_at(setup, start.state), open=())
    values = values_of(plain, [Segment(basis, grid, q, v, setup.p)], EVALUATED)
    size = sizes(saved)
    values["a"] = gathered(saved, lambda s: s.step.v - s.step.begin[2], n) / size
    values["multiplier"] = gathered(saved, lambda s: s.step.multipliers[:m], m) / size
    ideal, rest, least = acted(found, values["multiplier"], size)
    force = ideal + rest
    values |= {"constraint_force": force, "ideal_force": ideal, "nonideal_force": rest, "gaussian": least}
    values |= {"constraint_power": np.vecdot(force, v), "nonideal_power": np.vecdot(rest, v)}
    values["rank"] = np.array([s.step.rank for s in saved], dtype=np.int64)
    values["unique"] = np.ones(m, dtype=bool)
    if not all(s.step.unique for s in saved):
        values["unique"][sorted(sided)] = False
    values["work"] = worked(found)
    return values


def acted(found: Walk, multipliers: Array, size: Array) -> tuple[Array, Array, Array]:
    """(T, n) forces of constraints and the others, friction first of all, and (T,) the Gaussian."""
    saved, numbers, m = found.saved, found.numbers, multipliers.shape[1]
    slips = gathered(saved, lambda s: s.step.multipliers[m:], numbers.count - m) / size
    ideal, rest = np.zeros((2, len(saved), len(numbers.setup.system.coordinates)))
    least = np.zeros(len(saved))
    for here, now in numbers.at_once([s.step.middle for s in saved]):
        if isinstance(here, slice):
            ideal[here] = np.einsum("tij,ti->tj", now.A[:, :m], multipliers[here])
            rest[here] = np.einsum("tij,ti->tj", now.A[:, m:], slips[here]) + now.C
        else:
            ideal[here], rest[here] = now.A[:m].T @ multipliers[here], now.A[m:].T @ slips[here] + now.C
        least[here] = gaussian(now.M, ideal[here] + rest[here])
    return ideal, rest, least


def sizes(saved: Sequence[Saved]) -> Array:
    """(T, 1) the lengths of the steps of saved states."""
    return np.array([s.step.end[0] - s.step.begin[0] for s in saved]).reshape(-1, 1)


def gathered(saved: Sequence[Saved], of: Any, n: int) -> Array:
    """(T, n) something of the steps of the saved states."""
    return np.array([of(s) for s in saved]).reshape(len(saved), n)


def worked(found: Walk) -> Array:
    """(T,) the work of all forces up to each saved state."""
    size = float(sizes(found.saved[:1]).sum())
    count = min(len(found.powers), len(found.works))
    given = np.array(found.powers[:count]) * size
    total = np.concatenate([[0.0], np.cumsum(given + np.array(found.works[:count]))])
    return np.array([total[s.number] + s.share * given[s.number] + done_by(s.step, s.share) for s in found.saved])


def at_contacts(setup: Setup, grid: Array, found: Walk, values: dict[str, Any]) -> dict[str, Array]:
    """Modes, gaps, normal forces, friction and slips (T, k); of friction in two directions, how large it is."""
    numbers, saved = found.numbers, found.saved
    rows, normal = numbers.rows, values["multiplier"][:, numbers.rows].copy()
    rough = np.array([bool(setup.system.constraints[i].friction) for i in rows])
    sticks = gathered(saved, lambda s: s.step.sticks, len(rows)).astype(bool)
    modes = np.where(normal > 0, np.where(rough, np.where(sticks, "sticking", "sliding"), "closed"), "open")
    gaps = gaps_of(values, rows)
    beyond(setup, values, modes)
    friction, slip = np.zeros((2, len(saved), len(rows)))
    if rough.any():
        rubbed, speeds = (
            gathered(saved, lambda s: s.step.multipliers, numbers.count),
            np.zeros((len(saved), numbers.count)),
        )
        for here, now in numbers.at_once([(float(t), s.q, s.v) for t, s in zip(grid, saved, strict=True)]):
            speeds[here] = now.residual_rate
        for i, along in numbers.slips.items():
            friction[:, numbers.place[i]] = one_number(rubbed[:, along])
            slip[:, numbers.place[i]] = one_number(speeds[:, along])
    forces = {"normal_force": normal, "friction_force": friction / sizes(saved), "slip": slip}
    return {"mode": modes.astype("<U8"), "gap": gaps} | forces


def one_number(parts: Array) -> Array:
    """(T,) something along one slip, or how large it is along two."""
    return parts[:, 0] if parts.shape[1] == 1 else np.sqrt(np.vecdot(parts, parts))


def notes(setup: Setup, found: Walk) -> list[str]:
    """What is said of any motion in steps: how deep contacts were penetrated, and how well they obeyed their laws."""
    depth, which, t = found.deepest
    words = f"{found.steps:,} steps"
    if which >= 0:
        words += f"; {setup.system.constraint_names[which]!r} was penetrated by {depth:.2g} at t = {t:.6g}"
    if found.dulled:
        words += f"; in {found.dulled:,} of them restitutions contradict each other and are left out"
    return [f"{words}; laws of contacts hold to {found.worst[0]:.1g} of the largest speed."]


def doubts(found: Walk, values: dict[str, Any]) -> tuple[str, ...]:
    """What cannot be vouched for."""
    said = []
    left, t = found.worst
    if not left <= NOT_OBEYED:
        said.append(
            f"Not vouched for: at t = {t:.9g} contacts obey their laws only to {left:.2g} of the largest speed; ask "
            f"for a shorter step."
        )
    if len(found.saved):
        off = np.abs(balance(values["jacobi"], values["work"]))
        largest = max(float(np.abs(values[name]).max()) for name in ("kinetic", "potential"))
        if off.max() > ENERGY_OFF * largest > 0:
            said.append(f"Not vouched for: the energy is off by {off.max():.2g}; ask for a shorter step.")
    return tuple(said)
