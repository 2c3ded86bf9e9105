"""Small tasks of one coordinate for the engines: an oscillator, events, pivots."""

import numpy as np
import symengine as se

from zwang.compile import Program
from zwang.engines.task import EventTask, Task

t, x, v, w = se.symbols("t x v w")
INPUTS = {"t": (t,), "q": (x,), "v": (v,), "p": (w,)}


def program(acceleration, pivots=()):
    return Program(INPUTS, {"acceleration": (se.sympify(acceleration),), "pivots": tuple(pivots)})


def task(acceleration, q, rate, times, tol=1e-16, p=1.0, **more):
    given = acceleration if isinstance(acceleration, Program) else program(acceleration)
    scale = np.ones(len(given.outputs["pivots"]))
    start = {"q": np.array([q]), "v": np.array([rate]), "p": np.array([p])}
    return Task(
        given, t=0.0, times=np.array(times), tol=tol, **({"pivot_scale": scale, "pivot_tol": 1e-6} | start | more)
    )


def watch(expressions, direction=0, stop=False):
    k = len(expressions)
    events = Program(INPUTS, {"event": tuple(map(se.sympify, expressions))})
    return EventTask(events, tuple(np.broadcast_to(direction, k).tolist()), tuple(np.broadcast_to(stop, k).tolist()))


OSCILLATOR = program(-(w**2) * x)
