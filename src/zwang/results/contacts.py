"""What a dataset says of contacts: their modes over time, and a table of transitions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

MODES = ("open", "closed", "sticking", "sliding")

# variable: dimensions beside time, what it is
OVER_TIME: dict[str, tuple[tuple[str, ...], str]] = {
    "mode": (("contact",), "what each contact does: open, closed, sticking or sliding"),
    "gap": (("contact",), "what each contact reads, in position or, if that is limited, in velocity"),
    "normal_force": (("contact",), "normal force, the multiplier of each contact"),
    "friction_force": (("contact",), "force of friction along the slip"),
    "slip": (("contact",), "speed at which the surfaces of each contact rub"),
}
IN_SPACE = {
    "friction_vector": (("contact", "direction"), "force of friction along both slips of a contact in space"),
    "slip_vector": (("contact", "direction"), "both speeds at which the surfaces of a contact in space rub"),
}
WORKS = {
    "friction_work": (("contact",), "work of the friction of each contact since the first saved time, along its slip"),
    "surface_work": (("contact",), "work of the surface of each contact since the first saved time, where it moves"),
    "other_work": ((), "work of all else since the first saved time: of given and nonideal forces, and of equalities "
                       "that move"),
}  # fmt: skip
AT_CONTACTS: dict[str, tuple[tuple[str, ...], str]] = OVER_TIME | IN_SPACE | WORKS
TABLE: dict[str, tuple[tuple[str, ...], str]] = {
    "transition_time": (("transition",), "when something changed"),
    "transition_kind": (("transition",), "impact, touch, lift, stick, slide, reverse or accumulation"),
    "transition_contact": (("transition",), "the contact that caused it"),
    "energy_loss": (("transition",), "kinetic energy lost, beside the work of moving surfaces"),
    "velocity_before": (("transition", "coordinate"), "velocities before"),
    "velocity_after": (("transition", "coordinate"), "velocities after"),
    "impulse": (("transition", "contact"), "normal impulses of all contacts"),
}


def with_contacts(
    motion: "xr.Dataset", contacts: Sequence[str], over_time: Mapping[str, Any], table: Mapping[str, Any]
) -> "xr.Dataset":
    """The dataset with its contacts, and with the transitions between their modes."""
    given = dict(over_time)
    if "friction_work" in given and {"energy", "energy_balance"} <= {*motion.data_vars}:
        given["other_work"] = other_work(motion, over_time, table)
    variables: dict[str, Any] = {
        name: (("time", *dims), given[name], {"long_name": words})
        for name, (dims, words) in AT_CONTACTS.items()
        if name in given
    }
    variables |= {name: (dims, table[name], {"long_name": words}) for name, (dims, words) in TABLE.items()}
    return motion.assign(variables).assign_coords(contact=("contact", np.asarray(contacts, dtype=str)))


def other_work(motion: "xr.Dataset", over_time: Mapping[str, Any], table: Mapping[str, Any]) -> Any:
    """(T,) what is left of the energy gained, without contacts, impacts and what the integrator erred by."""
    gained = motion.energy.values - motion.energy.values[:1] - motion.energy_balance.values
    done = over_time["friction_work"].sum(axis=1) + over_time["surface_work"].sum(axis=1)
    times, when = motion.time.values, table["transition_time"]
    on_the_way = (times[:, None] >= when) & (when > times[:1, None])
    return gained - done + on_the_way @ table["energy_loss"]
