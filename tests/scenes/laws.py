"""The laws of contact that every motion obeys at every saved state, whatever the scene is."""

import numpy as np
import xarray as xr

import zwang as zw
from zwang import multibody as mb

OFF = 1e-9  # of what is largest along the motion: the runs are made with tol = 1e-12
LEDGER = 1e-8  # of the energy that the motion turns over: balances add up over thousands of steps


def broken_laws(model: zw.System | mb.Mechanism, motion: xr.Dataset, size: float = 1.0) -> list[str]:
    """What of Signorini's law, Coulomb's law and the account of energy does not hold, with by how much.

    `size` is a typical length of the scene. One-sided constraints only: guides press either way.
    """
    if "gap" not in motion:
        return []
    gap, normal = motion.gap.values, motion.normal_force.values
    most = max(np.abs(normal).max(initial=0), np.abs(motion.force.values).max(initial=0))
    amounts = {
        "a gap is exceeded": -gap.min(initial=0) / size,
        "a contact pulls": -normal.min(initial=0) / most,
        "an open contact pushes": np.abs(gap * normal).max(initial=0) / (most * size),
        **friction_amounts(model, motion, most, size),
    }
    losses = motion.energy_loss.values
    turned_over = max(float(motion.kinetic.max()) + float(np.ptp(motion.potential.values)), losses.sum(), most * size)
    broken = [f"{words}: {amount:.1e}" for words, amount in amounts.items() if not amount <= OFF]
    if not losses.min(initial=0) >= -OFF * turned_over:
        broken.append(f"an impact gains energy: {-losses.min():.1e}")
    balance = float(abs(motion.energy_balance).max())
    if not balance <= LEDGER * turned_over:
        broken.append(f"the account of energy is off by {balance:.1e} of {turned_over:.1e}")
    return broken


def friction_amounts(model: zw.System | mb.Mechanism, motion: xr.Dataset, most: float, size: float) -> dict[str, float]:
    """How far friction is beyond its bound, drives, or is not all that sliding asks for; and slips of what sticks."""
    if "friction_force" not in motion:
        return {}
    resting, sliding = coefficients(model, motion)
    normal, mode, slip = motion.normal_force.values, motion["mode"].values, motion.slip.values
    slow = size / float(motion.time[-1] - motion.time[0])  # a scene may be at rest, and its speeds rounding
    fastest = max(np.abs(slip).max(initial=0), slow)
    if "friction_vector" in motion:
        force = np.linalg.norm(motion.friction_vector.values, axis=-1)
        power = (motion.friction_vector * motion.slip_vector).sum("direction").values
    else:
        force = np.abs(motion.friction_force.values)
        power = motion.friction_force.values * slip
    slides = mode == "sliding"
    return {
        "friction is beyond its bound": (force - resting * normal).max(initial=0) / most,
        "friction drives": power.max(initial=0) / (most * fastest),
        "what slides is not rubbed by all its friction": np.abs(power + sliding * normal * np.abs(slip))[slides].max(
            initial=0
        )
        / (most * fastest),
        "what sticks slips": np.abs(slip)[mode == "sticking"].max(initial=0) / fastest,
    }


def coefficients(model: zw.System | mb.Mechanism, motion: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Of sticking and of sliding, in the order of the contacts of a motion."""
    system = model.system if isinstance(model, mb.Mechanism) else model
    laws = {constraint.name: constraint.friction for constraint in system.constraints}
    pairs = [(laws[str(name)] or (0,)) for name in motion.contact.values]
    return np.array([float(pair[0]) for pair in pairs]), np.array([float(pair[-1]) for pair in pairs])
