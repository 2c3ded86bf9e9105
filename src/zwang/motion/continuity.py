"""What must not jump at a known instant: no finite force changes a velocity at once."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from zwang.compile import Program
from zwang.equations.languages import in_pieces, translate
from zwang.errors import InputError
from zwang.evaluation import Array, Kept, model_kernel
from zwang.motion.driven import derivatives_used, switches_in
from zwang.motion.native import compiled
from zwang.symbols import t as time

if TYPE_CHECKING:
    from zwang.motion.simulate import Setup

SMOOTH = 1e-9  # a change by less than this share of a value's terms, from one double of time to the next, is none

_PROGRAMS: Kept[Program] = Kept()


def require_continuous(setup: "Setup", q: Array, v: Array) -> None:
    """Refuse what switches in time and would need an impulse there.

    That is a holonomic constraint or its rate, a constraint on velocities, a momentum that jumps, or a known function
    of time that jumps where its derivative is used. They are read on both sides of each instant, at a state beside the
    start, where nothing vanishes by chance.
    """
    if not len(setup.breaks) or switches_in(setup) is None:
        return
    sides = setup.breaks, np.nextafter(setup.breaks, np.inf)
    for what, function in differentiated_inputs(setup):
        require_no_jump(setup, [function(side) for side in sides], 0.0, [what])
    place, rate = beside(q), beside(v)
    before, after = (model_kernel(setup.system, setup.inputs)(side, place, rate, setup.p) for side in sides)
    constraints = [f"constraint {c.name!r} asks the motion to follow" for c in setup.system.constraints]
    rates = [
        f"{c} {'' if k.order else 'a rate that '}" for c, k in zip(constraints, setup.system.constraints, strict=True)
    ]
    terms = np.abs(before.A) @ np.abs(place), np.abs(before.A) @ np.abs(rate)
    require_no_jump(setup, [before.position, after.position], terms[0], [f"{c} what" for c in constraints])
    require_no_jump(setup, [before.velocity, after.velocity], terms[1], [c.rstrip() for c in rates])
    if setup.system.kinetic is not None:
        momentum = momenta(setup)
        names = [f"kinetic: the momentum of {name}" for name in setup.system.coordinate_names]
        require_no_jump(setup, [momentum(side, place, rate) for side in sides], 0.0, names)


def beside(x: Array) -> Array:
    """Numbers near some others, and in no simple relation."""
    size = np.abs(x).max(initial=0.0) or 1.0
    return np.asarray(x + 0.1 * size * np.sqrt(2 + np.arange(len(x))))


def require_no_jump(setup: "Setup", values: list[Array], terms: Any, names: list[str]) -> None:
    """Refuse values (T, k) on both sides of the breaks that differ by more than rounding, by their names."""
    before, after = values
    size = np.maximum(np.maximum(np.abs(before), np.abs(after)).max(axis=0), terms)
    jumps = np.argwhere(np.abs(after - before) > SMOOTH * size)
    if len(jumps):
        at, which = jumps[0]
        raise InputError(
            f"{names[which]} jumps at t = {setup.breaks[at]:.9g}: no finite force can do that; smooth it, or end the "
            f"motion before"
        )


def momenta(setup: "Setup") -> Callable[[Array, Array, Array], Array]:
    """∂T/∂q̇ at times (T,)."""
    description = setup.model.description
    key = (setup.system.structure, tuple(setup.inputs.items()), "momenta")
    outputs = {"momentum": tuple(description.kinetic.diff(v) for v in description.axes.v)}  # type: ignore[union-attr]
    kernel = compiled(_PROGRAMS.get(key, lambda: Program(setup.model.inputs, outputs)))
    return lambda times, q, v: kernel(t=times[:, None], q=q, v=v, p=setup.p)["momentum"]


def read(setup: "Setup", program: Program) -> Callable[[Array], Array]:
    """A program of time and parameters as a function of times (T,)."""
    kernel = compiled(program)
    return lambda times: kernel(t=times[:, None], p=setup.p)["u"]


def differentiated_inputs(setup: "Setup") -> Iterator[tuple[str, Callable[[Array], Array]]]:
    """Known functions of time whose derivatives are used, and those of their derivatives that must not jump."""
    known = dict(zip(setup.symbols, setup.model.parameters, strict=True)) | {time: setup.model.description.axes.t}
    for f, highest in derivatives_used(setup).items():
        for order in range(highest):
            u = sp.diff(in_pieces(setup.inputs[f]), time, order) if order else in_pieces(setup.inputs[f])
            program = Program({"t": (known[time],), "p": setup.model.parameters}, {"u": (translate(u, dict(known)),)})
            lower = "a lower one of " if order else ""
            yield f"the derivative of {f} is used, but {lower}{f}", read(setup, program)
