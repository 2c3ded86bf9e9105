"""What a dataset says of contacts: their modes over time, and a table of transitions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

# variable: dimensions, what it is
OVER_TIME = {
    "mode": "what each contact does: open, closed, sticking or sliding",
    "gap": "what each contact reads, in position or, if that is limited, in velocity",
    "normal_force": "normal force, the multiplier of each contact",
    "friction_force": "force of friction along the slip",
    "slip": "speed at which the surfaces of each contact rub",
}
IN_SPACE = {
    "friction_vector": "force of friction along both slips of a contact in space",
    "slip_vector": "both speeds at which the surfaces of a contact in space rub",
}
WORKS = {
    "friction_work": "work of the friction of each contact since the first saved time, along its slip",
    "surface_work": "work of the surface of each contact since the first saved time, where it moves",
}
OTHER_WORK = "work of all else since the first saved time: of given and nonideal forces, and of equalities that move"
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
    variables: dict[str, Any] = {
        name: (("time", "contact"), over_time[name], {"long_name": words}) for name, words in OVER_TIME.items()
    }
    variables |= {
        name: (("time", "contact", "direction"), over_time[name], {"long_name": words})
        for name, words in IN_SPACE.items()
        if name in over_time
    }
    variables |= {
        name: (("time", "contact"), over_time[name], {"long_name": words})
        for name, words in WORKS.items()
        if name in over_time
    }
    variables |= {name: (dims, table[name], {"long_name": words}) for name, (dims, words) in TABLE.items()}
    if "friction_work" in over_time and {"energy", "energy_balance"} <= {*motion.data_vars}:
        variables["other_work"] = ("time", other_work(motion, over_time, table), {"long_name": OTHER_WORK})
    return motion.assign(variables).assign_coords(contact=("contact", np.asarray(contacts, dtype=str)))


def other_work(motion: "xr.Dataset", over_time: Mapping[str, Any], table: Mapping[str, Any]) -> Any:
    """(T,) what is left of the energy gained, without contacts, impacts and what the integrator erred by."""
    gained = motion.energy.values - motion.energy.values[:1] - motion.energy_balance.values
    done = over_time["friction_work"].sum(axis=1) + over_time["surface_work"].sum(axis=1)
    times, when = motion.time.values, table["transition_time"]
    on_the_way = (times[:, None] >= when) & (when > times[:1, None])
    return gained - done + on_the_way @ table["energy_loss"]
