"""Sensitivities across a reset.

The state x = (q, q̇) jumps to x⁺ = R(t, x; p) where h(t, x; p) passes zero. Along a direction δ that comes later by

    δt = −(h_x δx + h_p δp) / ḣ,    ḣ = h_t + h_x ẋ₋,

and until then the motion goes on as before, instead of as after (the saltation matrix of a reset):

    δx⁺ = R_x (δx + ẋ₋ δt) + R_t δt + R_p δp − ẋ₊ δt.
"""

from collections.abc import Sequence

import numpy as np

from zwang.arrays import Array
from zwang.engines.native.engine import compiled
from zwang.errors import InputError
from zwang.lowering.directional import directional
from zwang.motion.resets.jump import Jump, name_of, program_of
from zwang.motion.resets.watched import Watched
from zwang.motion.setup import Setup
from zwang.motion.start import State

ERRORS = 100.0  # in tolerances, that an event may have: one that turns round within them is only touched


def across(setup: Setup, jump: Jump, state: State, changes: Sequence[Array]) -> State:
    """The state after a jump with its sensitivities, from those before, for changes of parameters along directions."""
    then, now = (Watched(setup, rows, at) for rows, at in zip(jump.rows, (jump.before, jump.after), strict=True))
    return jumped(then, now, require_one(setup, jump.fired, then, jump.span), state, changes)


def jumped(
    then: Watched, now: Watched, which: int, state: State, changes: Sequence[Array], held: Sequence[Array] = ()
) -> State:
    """The same for the event that makes the jump; `held` is how numbers of contacts change along each direction."""
    setup, (_, q0, v0), (t, q, v) = then.setup, then.state, now.state
    n, k = len(q), len(changes)
    dq, dv = (x[n:].reshape(k, n) for x in state[1:])
    program, found = directional(program_of(setup, which), "q", "v"), []
    for j, change in enumerate(changes):
        direction = np.concatenate([[0.0], dq[j], dv[j], change, *held[j : j + 1]])
        shift = -then.along(direction)[which] / then.rates[which]
        moved = np.concatenate([[shift], dq[j] + v0 * shift, dv[j] + then.acceleration * shift, change])
        out = compiled(program)(t=np.array([t]), q=q0, v=v0, p=setup.p, direction=moved)
        found.append((out["d_q"][0] - v * shift, out["d_v"][0] - now.acceleration * shift))
    return t, np.concatenate([q, *(a for a, _ in found)]), np.concatenate([v, *(b for _, b in found)])


def require_one(setup: Setup, fired: Sequence[int], then: Watched, span: float) -> int:
    """The event that makes a jump; several at once, or one that is only touched, are refused by name."""
    t, names = then.state[0], [name_of(setup, i) for i in fired]
    if len(names) > 1:
        listed = " and ".join(map(repr, names))
        raise InputError(
            f"the events {listed} reset the state at the same instant t = {t:.9g}, and beside it one or the other "
            f"comes first: sensitivities are not defined there; vary the start a little"
        )
    (which,) = fired
    rate, bend = float(then.rates[which]), abs(float(then.bends(span)[which]))
    if rate**2 <= 2 * bend * ERRORS * setup.tol * (1 + float(np.abs(then.values).max())):
        raise InputError(
            f"the motion only touches the event {names[0]!r} at t = {t:.9g}: sensitivities are not defined across its "
            f"reset; vary the start a little, or end before it"
        )
    return which
