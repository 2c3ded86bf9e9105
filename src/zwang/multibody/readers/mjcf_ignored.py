"""What of an MJCF model is not in the mechanism that is read from it: what would change the motion, and looks."""

import numpy as np

from zwang.multibody.readers.mjcf_reading import Reading
from zwang.words import count

LOOKS = ("site", "camera", "light", "sensor", "key", "skin", "exclude")  # neither of them moves anything
ACTING = {"pair": "its contact", "flex": "a deformable body"}


def left_out(reading: Reading) -> None:
    """Note what is not read: with a warning what would change the motion, the rest as ignored."""
    m = reading.model
    warn_of_joints(reading)
    warn_of_bodies(reading)
    touching = int(np.count_nonzero(m.geom_contype | m.geom_conaffinity))
    if touching and not reading.is_off("contact"):
        reading.warnings.append(f"contacts of {count(touching, 'geom')} are left out")
    for kind in (*LOOKS, *ACTING):
        names = [reading.name(kind, i) for i in range(len(reading.addresses(kind)))]
        if kind in ACTING:
            reading.warnings += [f"{kind} {name!r} is left out: {ACTING[kind]}" for name in names]
        else:
            reading.ignored += [f"{kind} {name!r}" for name in names]
    reading.warnings += [f"plugin {i} is left out" for i in range(int(m.nplugin))]


def warn_of_joints(reading: Reading) -> None:
    """What joints have beyond what is read."""
    m = reading.model
    for j in range(m.njnt):
        v, who = int(m.jnt_dofadr[j]), f"joint {reading.name('joint', j)!r}"
        for key, at, words in (("jnt_stiffnesspoly", j, "spring"), ("dof_dampingpoly", v, "damper")):
            if np.any(getattr(m, key, np.zeros((m.nv, 1)))[at]):
                reading.warnings.append(f"{who}: the nonlinear part of its {words} is left out")


def warn_of_bodies(reading: Reading) -> None:
    """What bodies have beyond what is read."""
    m = reading.model
    for i in range(1, m.nbody):
        if m.body_mocapid[i] >= 0:
            reading.warnings.append(f"body {reading.name('body', i)!r}: that motion capture moves it is left out")
