"""A jump of the state at events, in a motion with contacts."""

from dataclasses import replace

import numpy as np

from zwang.engines.task import Status
from zwang.motion.contact.impact import Stop
from zwang.motion.contact.machine import OPEN, Machine
from zwang.motion.observe import event_name
from zwang.motion.start import basis_at
from zwang.words import listed


def jumped(machine: Machine, fired: tuple[int, ...]) -> str:
    """Make the jump of some events, after which all contacts are open until it is found out; their names."""
    setup = replace(machine.setup, contact=machine.all_open)
    if False not in machine.bases:
        machine.bases[False] = basis_at(setup, machine.state)
    jump = replace(machine.resets, setup=setup).jump(machine.state, machine.bases[False], fired)
    machine.resets.made.append(machine.state[0])
    worked = machine.total.worked + jump.gain
    machine.total = replace(machine.total, worked=worked, hits=jump.hits(machine.total.hits))
    if jump.wrong:
        raise Stop(Status.BAD_RESET, jump.wrong)
    machine.state, machine.zeros = jump.after, jump.at_zero
    machine.states, machine.slack = dict.fromkeys(machine.rows, OPEN), np.zeros(len(machine.rows))
    if machine.rubbing is not None:
        machine.rubbing.signs, machine.rubbing.shares = {}, None
    return listed([repr(event_name(setup.events, i)) for i in fired])
