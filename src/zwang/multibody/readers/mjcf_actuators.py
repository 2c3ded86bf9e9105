"""Actuators of an MJCF model: motors and servos, driven by known functions of time of the same names."""

from collections.abc import Sequence

import numpy as np
import sympy as sp

from zwang.model.symbols import t
from zwang.multibody.readers.joint_sum import JointSum
from zwang.multibody.readers.mjcf_reading import Reading, fixed_tendon, terms_along
from zwang.multibody.readers.skeleton import Held

SERVOS = sp.Symbol("servos")  # 1 switches on what servos do without a command
AT_ONCE = ("filter", "filterexact")  # dynamics that are left out: the actuator acts at once


def driven_joints(reading: Reading, i: int) -> list[tuple[int, float]]:
    """The joints that an actuator drives with their factors; none if it is of another kind."""
    m = reading.model
    kind = reading.kind_of("mjtTrn", m.actuator_trntype[i], "mjTRN_")
    target, gear = int(m.actuator_trnid[i][0]), float(m.actuator_gear[i][0])
    if kind == "tendon":
        return [(j, gear * factor) for j, factor in fixed_tendon(reading, target)]
    scalar = kind in ("joint", "jointinparent") and int(m.jnt_type[target]) >= 2
    return [(target, gear)] if scalar else []


def laws(reading: Reading, i: int) -> tuple[list[float], list[float]] | None:
    """Gain and bias as [constant, by length, by velocity]; None for laws that are not read."""
    m = reading.model
    gain, bias = (float_list(m.actuator_gainprm[i]), float_list(m.actuator_biasprm[i]))
    kinds = (
        reading.kind_of("mjtGain", m.actuator_gaintype[i], "mjGAIN_"),
        reading.kind_of("mjtBias", m.actuator_biastype[i], "mjBIAS_"),
    )
    if kinds[0] not in ("fixed", "affine") or kinds[1] not in ("none", "affine"):
        return None
    return (gain if kinds[0] == "affine" else [gain[0], 0.0, 0.0]), (bias if kinds[1] == "affine" else [0.0] * 3)


def float_list(values: Sequence[float]) -> list[float]:
    """The first three numbers of an array."""
    return [float(x) for x in values[:3]]


def why_not(reading: Reading, i: int) -> str:
    """Why an actuator is not read; empty if it is."""
    m = reading.model
    dynamics = reading.kind_of("mjtDyn", m.actuator_dyntype[i], "mjDYN_")
    if reading.is_off("actuation"):
        return "actuation is switched off"
    if dynamics not in ("none", *AT_ONCE):
        return f"dynamics {dynamics!r} are not read"
    if laws(reading, i) is None:
        return "its law is neither a motor's nor a servo's"
    if int(getattr(m, "actuator_ctrlnum", np.ones(m.nu))[i]) != 1:
        return "it takes several commands"
    if not driven_joints(reading, i):
        return f"what it acts on, {reading.kind_of('mjtTrn', m.actuator_trntype[i], 'mjTRN_')}, is not read"
    return ""


def counted_joints(reading: Reading) -> set[str]:
    """Joints whose values servos read."""
    m, found = reading.model, set[str]()
    for i in range(m.nu):
        law = laws(reading, i)
        if law is not None and (law[0][1] or law[1][1]) and not why_not(reading, i):
            found |= {reading.name("joint", j) for j, _ in driven_joints(reading, i)}
    return found


def actuator_elements(reading: Reading, held: Sequence[Held]) -> tuple[list[JointSum], dict[sp.Expr, float]]:
    """Actuators as elements, and the values of their inputs: commands are 0, and servos are off."""
    m, found, values = reading.model, [], dict[sp.Expr, float]()
    for i in range(m.nu):
        name, law = reading.name("actuator", i), laws(reading, i)
        if (why := why_not(reading, i)) or law is None:
            reading.warnings.append(f"actuator {name!r} is left out: {why}")
            continue
        terms = terms_along(reading, driven_joints(reading, i), held)
        along = JointSum(name, terms)
        u = sp.Function(name)(t)
        (g0, g1, g2), (b0, b1, b2) = law
        effort = (g0 + affine(along, g1, g2)) * u
        values[u] = 0.0
        servo = any(law[1])
        if servo:
            effort += SERVOS * (b0 + affine(along, b1, b2))
            values[SERVOS] = 0.0
        found.append(JointSum(f"{name}_actuator", terms, effort=effort))
        notes(reading, i, name, servo)
    return found, values


def affine(along: JointSum, by_length: float, by_velocity: float) -> sp.Expr:
    """What a law has of length and velocity; a length is asked for only where it counts."""
    return (by_length * along.value if by_length else 0) + (by_velocity * along.rate if by_velocity else 0)


def notes(reading: Reading, i: int, name: str, servo: bool) -> None:
    """What to know of an actuator that was read."""
    m = reading.model
    what = "a servo, off until the parameter 'servos' is 1" if servo else "a motor"
    limited = [
        f"{words} {float(low):g} to {float(high):g}"
        for words, flag, (low, high) in (
            ("commands", m.actuator_ctrllimited[i], m.actuator_ctrlrange[i]),
            ("forces", m.actuator_forcelimited[i], m.actuator_forcerange[i]),
        )
        if flag
    ]
    reading.read.append(f"actuator {name!r}: {what}, its command is the input {name!r}")
    if limited:
        reading.ignored.append(f"actuator {name!r}: that it is limited to {' and '.join(limited)}")
    dynamics = reading.kind_of("mjtDyn", m.actuator_dyntype[i], "mjDYN_")
    if dynamics in AT_ONCE:
        reading.warnings.append(
            f"actuator {name!r} acts at once: its filter of {float(m.actuator_dynprm[i][0]):g} s is left out"
        )
    for key, words in (("armature", "armature"), ("damping", "damping")):
        if np.any(getattr(m, f"actuator_{key}", np.zeros(m.nu))[i]):
            reading.warnings.append(f"actuator {name!r}: its {words} is left out")
