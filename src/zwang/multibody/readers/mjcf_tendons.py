"""Tendons over joints of an MJCF model: springs and dampers along sums of joint coordinates."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from zwang.multibody.readers.joint_sum import JointSum
from zwang.multibody.readers.limits import Limit, limit_between
from zwang.multibody.readers.mjcf_reading import Reading, fixed_tendon, terms_along
from zwang.multibody.readers.skeleton import Held
from zwang.words import listed

ACTING = {
    "stiffness": "its stiffness",
    "damping": "its damping",
    "limited": "its limits",
    "frictionloss": "its dry friction",
    "armature": "its armature",
}


def value_of(model: Any, key: str, i: int) -> float:
    """What a tendon has of something; older versions of MuJoCo do not know all of it."""
    values = getattr(model, f"tendon_{key}", None)
    return 0.0 if values is None else float(np.max(np.abs(values[i])))


def counted_joints(reading: Reading) -> set[str]:
    """The joints under tendons, whose values are summed."""
    tendons = range(reading.model.ntendon)
    return {reading.name("joint", j) for i in tendons for j, _ in fixed_tendon(reading, i)}


def tendon_elements(reading: Reading, held: Sequence[Held]) -> list[JointSum]:
    """What tendons do by themselves; tendons through space are left out."""
    m, found = reading.model, []
    for i in range(m.ntendon):
        name, joints = reading.name("tendon", i), fixed_tendon(reading, i)
        acting = {key: value for key in ACTING if (value := value_of(m, key, i))}
        if not joints:
            if acting:
                words = listed(ACTING[key] for key in acting)
                reading.warnings.append(f"tendon {name!r} goes through space, which is not read: {words} left out")
            else:
                reading.ignored.append(f"tendon {name!r} through space: a line")
            continue
        reading.read.append(f"tendon {name!r}: over {', '.join(repr(reading.name('joint', j)) for j, _ in joints)}")
        for key, words in (("frictionloss", "its dry friction"), ("stiffnesspoly", "its nonlinear spring"),
                           ("dampingpoly", "its nonlinear damper")):  # fmt: skip
            if value_of(m, key, i):
                reading.warnings.append(f"tendon {name!r}: {words} is left out")
        stiffness = 0.0 if reading.is_off("spring") else acting.get("stiffness", 0.0)
        damping = 0.0 if reading.is_off("damper") else acting.get("damping", 0.0)
        inertia = acting.get("armature", 0.0)
        if stiffness or damping or inertia:
            low, high = map(float, m.tendon_lengthspring[i])
            terms = terms_along(reading, joints, held)
            found.append(JointSum(f"{name}_tendon", terms, stiffness, (low, high), damping, 0, inertia))
    return found


def tendon_limits(reading: Reading) -> list[Limit]:
    """The ranges of tendons over joints."""
    m = reading.model
    limited = [i for i in range(m.ntendon) if m.tendon_limited[i] and fixed_tendon(reading, i)]
    limits = [limit_between(reading.name("tendon", i), *map(float, m.tendon_range[i])) for i in limited]
    return [limit for limit in limits if limit is not None]
