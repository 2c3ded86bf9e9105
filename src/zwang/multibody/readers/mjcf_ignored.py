"""What of an MJCF model has no say in the mechanism that is read from it."""

from collections.abc import Callable
from typing import Any

import numpy as np

LISTED = ("site", "camera", "light", "sensor", "actuator", "tendon", "key", "flex", "skin", "pair", "exclude")
COUNTS = {"camera": "ncam", "actuator": "nu"}  # where the number is not called n + kind


def ignored_lines(mj: Any, model: Any, name: Callable[[str, int], str]) -> list[str]:
    """One line a thing that is not read, with its name where it has one."""
    lines = joint_lines(model, name)
    lines += body_lines(model, name)
    if model.ngeom:
        lines.append(f"{model.ngeom} geoms: their shapes and contacts (their inertia is in the bodies)")
    for kind in LISTED:
        count = int(getattr(model, COUNTS.get(kind, f"n{kind}"), 0))
        lines += [f"{kind} {name(kind, i)!r}" for i in range(count)]
    option = model.opt
    lines += [f"option {key}: {getattr(option, key):g}" for key in ("density", "viscosity") if getattr(option, key)]
    if np.any(option.wind):
        lines.append("option wind")
    lines += [f"plugin {i}" for i in range(int(model.nplugin))]
    return lines


def joint_lines(model: Any, name: Callable[[str, int], str]) -> list[str]:
    """What joints have beyond what is read."""
    lines = []
    for j in range(model.njnt):
        v, who = int(model.jnt_dofadr[j]), f"joint {name('joint', j)!r}"
        if model.jnt_limited[j]:
            lines.append(f"{who}: its limits")
        for key, words in (("armature", "armature"), ("frictionloss", "dry friction")):
            value = float(getattr(model, f"dof_{key}")[v])
            if value:
                lines.append(f"{who}: its {words} {value:g}")
        for key, at, words in (("jnt_stiffnesspoly", j, "spring"), ("dof_dampingpoly", v, "damper")):
            if np.any(getattr(model, key, np.zeros((model.nv, 1)))[at]):
                lines.append(f"{who}: the nonlinear part of its {words}")
    return lines


def body_lines(model: Any, name: Callable[[str, int], str]) -> list[str]:
    """What bodies have beyond what is read."""
    lines = []
    for i in range(1, model.nbody):
        who = f"body {name('body', i)!r}"
        if model.body_gravcomp[i]:
            lines.append(f"{who}: its gravity compensation {float(model.body_gravcomp[i]):g}")
        if model.body_mocapid[i] >= 0:
            lines.append(f"{who}: that motion capture moves it")
    return lines
