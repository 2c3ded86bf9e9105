"""From a motion with contacts to what its dataset says of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from zwang.arrays import Array
from zwang.engines.native.engine import compiled
from zwang.engines.task import Status, Trajectory
from zwang.formulations.one_sided import family, nonnegative
from zwang.linalg.rank import row_rank
from zwang.lowering.contact import across_rows, slip_rows
from zwang.lowering.contact_power import FRICTION, SURFACE
from zwang.motion.contact.problem import BACK, CLOSED, FORTH, SIGN, STICK
from zwang.motion.contact.record import Transition
from zwang.motion.contact.rubbing import Rubbing, unit
from zwang.motion.contact.scales import Scales
from zwang.motion.contact.shares import least_forces
from zwang.motion.contact.units import mass_units
from zwang.motion.observe import Segment, reporting
from zwang.motion.setup import Setup
from zwang.motion.start import State
from zwang.results.contacts import with_contacts
from zwang.words import listed

if TYPE_CHECKING:
    import xarray as xr

DRIVES = 1e-6  # of the largest power of forces, or of friction: friction that does such work drives
EXCEEDED = 1e-8  # of gaps: an open contact that reads less than minus this was passed through


def modes_of(segments: Sequence[Segment]) -> Array:
    """(T, k) what each contact does at the saved times, in a word."""
    rows = []
    for segment in segments:
        assert segment.contact is not None
        shown = segment.contact.shown
        words = np.full(len(shown), "closed", dtype="<U8")
        words[[shown.index(i) for i, gap in zip(segment.contact.rows, segment.contact.open, strict=True) if gap]] = (
            "open"
        )
        rough = segment.contact.rough
        for i, sticks, sign in zip(rough.rows, rough.sticks, rough.signs, strict=True) if rough else ():
            if sticks or sign:
                words[shown.index(i)] = "sticking" if sticks else "sliding"
        rows.append(np.tile(words, (len(segment.times), 1)))
    return np.concatenate(rows)


def share(setup: Setup, segments: Sequence[Segment], values: dict[str, Any]) -> None:
    """Normal forces of contacts that depend on each other: the shortest of those that only push, at each saved state.

    The equation of motion has only as many of them as are independent.
    """
    sided = np.array([c.one_sided for c in setup.system.constraints], dtype=bool)
    begin = 0
    for segment in segments:
        here = range(begin, begin + len(segment.times))
        begin = here.stop
        assert segment.contact is not None
        closed = [i for i, is_open in zip(segment.contact.rows, segment.contact.open, strict=True) if not is_open]
        if len(closed) == int(segment.contact.masks.sum()) or rubbed(segment):
            continue
        rows = np.array(sorted({*np.flatnonzero(~sided), *closed}))
        for k in here:
            now = setup.matrices(segment.times[k - here.start], values["q"][k], values["v"][k])
            scaled = now.A[rows] / mass_units(now.M, now.A[~sided])
            together = family(scaled, int(row_rank(scaled[None])[0]))
            values["multiplier"][k, rows] = nonnegative(values["multiplier"][k, rows], together, sided[rows])


def rubbed(segment: Segment) -> bool:
    """Whether a contact with friction is closed."""
    rough = segment.contact.rough if segment.contact else None
    return rough is not None and bool(rough.sticks.any() or rough.signs.any())


def share_rough(
    rubbing: Rubbing | None, segments: Sequence[Segment], values: dict[str, Any], rubs: dict[str, Array],
    path: Trajectory,
) -> Trajectory:  # fmt: skip
    """Forces of contacts with friction that depend on each other: the shortest that may be, at each saved state.

    A motion is not said to be finished if there are none.
    """
    begin = 0
    for segment in segments:
        here = range(begin, min(begin + len(segment.times), len(values["q"])))
        begin = here.stop
        if rubbing is None or not rubbed(segment) or not (which := dependent(segment)):
            continue
        shown = segment.contact.shown if segment.contact else ()
        places, space = [shown.index(i) for i in which], [i in rubbing.space for i in which]
        for k in here:
            state = (float(segment.times[k - here.start]), values["q"][k], values["v"][k])
            rubbing.ways = headings(rubbing, segment, state)
            signs = {i: SIGN[mode] for i, mode in which.items() if mode in SIGN}
            split = least_forces(rubbing.problem(state, [*which], signs), tuple(which.values()))
            if split is None and path.status is Status.FINISHED:
                names = listed([repr(rubbing.setup.system.constraint_names[i]) for i in which])
                words = f"{names} cannot share their load at t = {state[0]:.9g}, which went unnoticed."
                path = replace(path, status=Status.UNRESOLVED, notes=(*path.notes, words))
            if split is not None:
                sharing = sorted({j for family in split.families for j in family.surfaces})
                values["multiplier"][k, np.array([*which])[sharing]] = split.normal[sharing]
                tell(rubs, k, ((places[j], space[j], split.friction[j]) for j in sharing))
    return path


def tell(rubs: dict[str, Array], k: int, contacts: Iterable[tuple[int, bool, Array]]) -> None:
    """Write the friction of some contacts at saved state k down; in space how large it is, and along both slips.

    Of each contact: its place, whether it has two slips, and its friction (2,).
    """
    for at, in_space, both in contacts:
        rubs["friction_force"][k, at] = np.hypot(*both) if in_space else both[0]
        if "friction_vector" in rubs:
            rubs["friction_vector"][k, at] = both


def headings(rubbing: Rubbing, segment: Segment, state: State) -> dict[int, Array]:
    """Directions of slips in space that slide, as the equation of a segment has them."""
    rough, slips = segment.contact.rough if segment.contact else None, rubbing.setup.slips(state)["slip"]
    assert rough is not None
    sliding = [i for i in rough.space if rough.signs[rough.rows.index(i)]]
    return {i: unit(slips[rubbing.places(i)] + rough.veer[rough.space.index(i)]) for i in sliding}


def dependent(segment: Segment) -> dict[int, str]:
    """What closed contacts do in a segment, if their rows depend on each other; nothing if they do not."""
    held = segment.contact
    assert held is not None
    assert held.rough is not None
    across = held.rough.sticks[[held.rough.rows.index(i) for i in held.rough.space]]
    same = (held.pushing, held.masks), (held.rough.sticks, held.rough.masks), (across, held.rough.across)
    if all(np.array_equal(a, b) for a, b in same):
        return {}
    loaded = [*(i for i, pushes in zip(held.rows, held.pushing, strict=True) if pushes), *held.guides]
    signs = dict(zip(held.rough.rows, held.rough.signs, strict=True))
    sticks = dict(zip(held.rough.rows, held.rough.sticks, strict=True))
    return {i: STICK if sticks.get(i) else {1: FORTH, -1: BACK}.get(int(signs.get(i, 0)), CLOSED) for i in loaded}


def friction(setup: Setup, segments: Sequence[Segment]) -> dict[str, Array]:
    """Forces of friction and slips (T, k) of all contacts at the saved states; zero without friction.

    In space these are sizes, and there are vectors (T, k, 2) along both slips.
    """
    assert setup.contact is not None
    rows, count = setup.contact.shown, sum(len(s.times) for s in segments)
    forces, slips = np.zeros((2, count, len(rows), 2))
    order, space = list(slip_rows(setup.lowered)), list(across_rows(setup.lowered))
    places, second, begin = [rows.index(i) for i in order], [rows.index(i) for i in space], 0
    for segment in segments if order else ():
        here = slice(begin, begin + len(segment.times))
        begin = here.stop
        for k in range(len(segment.times)):
            now = setup.slips((segment.times[k], segment.q[k], segment.v[k]))["slip"]
            slips[here.start + k, places, 0], slips[here.start + k, second, 1] = now[: len(order)], now[len(order) :]
        if segment.basis.masked and len(segment.times):
            found = compiled(reporting(setup, segment))(**segment.named(slice(None)))
            forces[here, places, 0] = found["friction"]
            if space:
                forces[here, second, 1] = found["friction_across"]
    force, speed = forces[..., 0].copy(), slips[..., 0].copy()
    force[:, second], speed[:, second] = (np.linalg.norm(x[:, second], axis=-1) for x in (forces, slips))
    vectors = {"friction_vector": forces, "slip_vector": slips} if space else {}
    return {"friction_force": force, "slip": speed} | vectors


def within(setup: Setup, gaps: Array, modes: Array, times: Array, path: Trajectory) -> Trajectory:
    """The account of a motion, which is not said to be finished if an open contact was exceeded on the way."""
    assert setup.contact is not None
    size = 1.0 if not gaps.size else max(float(np.abs(gaps).max()), 1.0)
    bad = np.argwhere((modes == "open") & (gaps < -max(EXCEEDED, 1e3 * setup.tol) * size))
    if not len(bad) or path.status is not Status.FINISHED:
        return path
    at, which = bad[0]
    name = setup.system.constraint_names[setup.contact.shown[which]]
    words = f"The limit of {name!r} is exceeded by {-gaps[at, which]:.3g} at t = {times[at]:.9g}, unnoticed."
    return replace(path, status=Status.UNRESOLVED, notes=(*path.notes, words))


def dissipated(
    setup: Setup, rubbing: dict[str, Array], modes: Array, times: Array, path: Trajectory, scales: Scales
) -> Trajectory:
    """The account of a motion, which is not said to be finished if friction drove a slip on the way.

    Its power is judged beside that of all forces on the way: what rubs without a load has that of rounding.
    """
    assert setup.contact is not None
    force, slip = rubbing["friction_force"], rubbing["slip"]  # in any mode: slips that begin are rounding beside these
    power = np.where(modes == "sliding", force * slip, 0.0)
    if "slip_vector" in rubbing:  # in the plane the second parts are zero
        power = np.where(modes == "sliding", (rubbing["friction_vector"] * rubbing["slip_vector"]).sum(axis=-1), 0.0)
    usual = max(scales.drive * scales.speed, float(np.abs(force).max(initial=0.0) * np.abs(slip).max(initial=0.0)))
    bad = np.argwhere(power > DRIVES * usual)
    if not len(bad) or path.status is not Status.FINISHED:
        return path
    at, which = bad[0]
    name = setup.system.constraint_names[setup.contact.shown[which]]
    words = f"The friction of {name!r} acts along its slip at t = {times[at]:.9g}, not against it."
    return replace(path, status=Status.UNRESOLVED, notes=(*path.notes, words))


def gaps_of(values: dict[str, Any], rows: Sequence[int]) -> Array:
    """(T, k) gaps at the saved states: what contacts read in position, and limits of velocities in velocity."""
    position, velocity = values["residual"][:, rows], values["residual_rate"][:, rows]
    return np.asarray(np.where(np.isnan(position), velocity, position))


def beyond(setup: Setup, values: dict[str, Any], modes: Array) -> None:
    """Residuals of open contacts: zero where they keep their limits, which is all that is asked of them."""
    assert setup.contact is not None
    rows = list(setup.contact.shown)
    is_open = modes == "open"
    position, velocity = values["residual"][:, rows], values["residual_rate"][:, rows]
    values["residual"][:, rows] = np.where(is_open, np.minimum(position, 0.0), position)
    kept = np.where(np.isnan(position), np.minimum(velocity, 0.0), 0.0)
    values["residual_rate"][:, rows] = np.where(is_open, kept, velocity)


def works_of(segments: Sequence[Segment], shown: Sequence[int], count: int) -> dict[str, Array]:
    """What friction and moving surfaces have done since the first of the saved states (T, k), contact by contact."""
    kept = [s.trace.parts for s in segments if s.trace]  # those without have no states
    both = np.concatenate(kept)[:count] if kept else np.zeros((0, 2, len(shown)))
    both = both - both[:1]
    return {"friction_work": both[:, FRICTION], "surface_work": both[:, SURFACE]}


def observed(
    setup: Setup, motion: "xr.Dataset", over_time: dict[str, Array], transitions: Sequence[Transition]
) -> "xr.Dataset":
    """The dataset with its contacts: modes, gaps and normal forces (T, k) over time, and the table of transitions."""
    assert setup.contact is not None
    rows, names, n = list(setup.contact.shown), setup.system.constraint_names, len(setup.system.coordinates)
    count = len(transitions)
    table = {
        "transition_time": np.array([x.state[0] for x in transitions], dtype=float),
        "transition_kind": np.array([x.kind for x in transitions], dtype=str),
        "transition_contact": np.array([names[x.contact] for x in transitions], dtype=str),
        "energy_loss": np.array([x.loss for x in transitions], dtype=float),
        "velocity_before": np.array([x.state[2] for x in transitions], dtype=float).reshape(count, n),
        "velocity_after": np.array([x.after for x in transitions], dtype=float).reshape(count, n),
        "impulse": np.array([x.impulse for x in transitions], dtype=float).reshape(count, len(rows)),
    }
    return with_contacts(motion, [names[i] for i in rows], over_time, table)
