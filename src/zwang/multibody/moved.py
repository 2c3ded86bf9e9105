"""How far the bodies of a mechanism are from where they are described."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from zwang.arrays import Array
from zwang.model.moved import ROUNDING, Moved
from zwang.model.values import state_arrays
from zwang.multibody.body import AnyBody, MassBody
from zwang.multibody.described import DescribedMechanism
from zwang.multibody.joint import Joint
from zwang.multibody.planar_body import PlanarBody
from zwang.multibody.valued import Values, in_numbers, values_of


def moved_bodies(
    mechanism: DescribedMechanism, state: Mapping[Any, float], parameters: Mapping[Any, Any] | None
) -> Moved:
    """The longest way and the largest turn of a body, from its description to a state."""
    ways, turns, followed = {}, {}, []
    positions, velocities = state_arrays(mechanism.system, state)
    described, rates = mechanism.guess.values_of_all, mechanism.guess.rates_at(positions)
    fastest = np.abs(velocities).max(initial=0.0)
    index = mechanism.system.coordinate_index
    for body in mechanism.movable:
        own = [index[name] for name in body.coordinate_names]
        before, after, d = described[own], positions[own], body.dimension
        if (np.abs(velocities[own] - rates[own]) > ROUNDING * fastest).any():
            followed.append(body.name)
        ways[body.who] = float(np.linalg.norm(after[:d] - before[:d]))
        turns[body.who] = turn_between(before[d:], after[d:], isinstance(body, PlanarBody))
    way, turn = max(ways, key=lambda who: ways[who]), max(turns, key=lambda who: turns[who])
    values = values_of({**mechanism.system.parameters, **(parameters or {})})
    return Moved(ways[way], way, turns[turn], turn, size_of(mechanism, values), followed=tuple(followed))


def turn_between(before: Array, after: Array, planar: bool) -> float:
    """The angle of the turn from one orientation to another; a particle has none."""
    if planar:
        return float(abs(after[0] - before[0]))
    if not len(before):
        return 0.0
    # q and −q are one orientation; the arc between unit quaternions is half the angle
    after = after if before @ after >= 0 else -after
    return 4 * math.atan2(float(np.linalg.norm(after - before)), float(np.linalg.norm(after + before)))


def size_of(mechanism: DescribedMechanism, values: Values) -> float:
    """How large a mechanism is as it is described: the diagonal of a box around its bodies and joints.

    One body held in its centre is as large as twice its radius of gyration.
    """
    places = np.array([place for place in places_of(mechanism, values) if place is not None])
    diagonal = float(np.linalg.norm(np.ptp(places, axis=0)))
    return diagonal or max(2 * gyration(body, values) for body in mechanism.movable)


def places_of(mechanism: DescribedMechanism, values: Values) -> Iterator[Array | None]:
    """Centres of mass, and where joints hold on each body; None where a parameter without a value decides."""
    yield from (np.array(body.position, dtype=float) for body in mechanism.movable)
    for joint in mechanism.joints:
        if isinstance(joint, Joint):
            for body, end in zip(joint.bodies, joint.ends, strict=True):
                yield place_of(body, joint.dimension, end, values)


def place_of(body: AnyBody, dimension: int, end: Any, values: Values) -> Array | None:
    """A point of a body in the world, as described."""
    return in_numbers(body.start_pose(dimension).point(end), values)


def gyration(body: MassBody, values: Values) -> float:
    """The largest radius of gyration of a body; zero for a particle, or where it is not known."""
    inertia = getattr(body, "inertia_matrix", getattr(body, "inertia", 0))
    entries = [row[i] for i, row in enumerate(inertia)] if isinstance(inertia, tuple) else [inertia]
    moments, mass = in_numbers(entries, values), in_numbers((body.mass,), values)
    return 0.0 if moments is None or mass is None or not mass[0] else math.sqrt(max(0.0, *moments) / mass[0])
