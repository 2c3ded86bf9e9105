"""The table of engines: each holds what it promises there, and refusals are made from it."""

import re

import numpy as np
import pytest

import zwang as zw
from zwang import dot
from zwang.engines import registry
from zwang.engines.registry import AUTO, DEFAULT, ENGINES, FOR_BLACK_BOXES, chosen, methods, names
from zwang.engines.task import REMEDY
from zwang.errors import InputError

x = zw.coordinates("x")
OSCILLATOR = zw.System([x], kinetic=dot(x) ** 2 / 2, potential=x**2 / 2)
PULLED = {x: 1.0, dot(x): 0.0}  # x = cos t


@pytest.mark.parametrize("method", names())
def test_every_engine_is_right_at_the_tolerance_at_which_it_is_quick(method):
    if not ENGINES[method].installed:
        pytest.skip(ENGINES[method].missing)
    tol = max(1e-14, ENGINES[method].quick_from)
    motion = zw.simulate(OSCILLATOR, PULLED, 2.0, method=method, tol=tol, samples=9)
    assert motion.attrs["method"] == method
    np.testing.assert_allclose(motion.q.values[:, 0], np.cos(motion.time.values), atol=100 * tol)


@pytest.mark.parametrize("method", names(lambda engine: engine.run and engine.tightest > registry.TIGHTEST))
def test_a_tolerance_that_an_engine_cannot_hold_is_refused_before_anything_is_compiled(method, monkeypatch):
    monkeypatch.setattr("zwang.motion.prepare.lower", None)
    able = " or ".join(repr(name) for name in names() if ENGINES[name].tightest <= 1e-16)
    message = f"tol = 1e-16 is tighter than method='{method}' can hold: choose at least 2.3e-14, or method={able}"
    with pytest.raises(InputError, match=re.escape(message)):
        zw.simulate(OSCILLATOR, PULLED, 2.0, method=method, tol=1e-16)


@pytest.mark.parametrize("method", names(lambda engine: engine.solver))
def test_black_boxes_are_integrated_by_the_engines_that_say_so(method):
    box = zw.BlackBox(["x"], M=[[1.0]], Q=lambda q, v, t: [-q[0]])
    motion = zw.simulate(box, ([1.0], [0.0]), 2.0, method=method, tol=1e-9, samples=9)
    np.testing.assert_allclose(motion.q.values[:, 0], np.cos(motion.time.values), atol=1e-6)


def test_black_boxes_refuse_other_engines_by_name():
    box = zw.BlackBox(["x"], M=[[1.0]], Q=lambda q, v, t: [-q[0]])
    listed = ", ".join(map(repr, (AUTO, *names(lambda engine: engine.solver))))
    for method in set(names()) - set(names(lambda engine: engine.solver)):
        with pytest.raises(InputError, match=re.escape(f"does not serve black boxes: choose one of {listed}")):
            zw.simulate(box, ([1.0], [0.0]), 2.0, method=method)
    assert ENGINES[FOR_BLACK_BOXES].solver


def test_auto_takes_what_is_preferred_installed_and_able(monkeypatch):
    assert chosen(1e-12, signals=False, drifting=True) == DEFAULT
    assert chosen(1e-14, signals=True, drifting=True) == DEFAULT  # Taylor's method reads no tables
    assert chosen(1e-14, signals=False, drifting=False) == DEFAULT  # which is as near, and quicker
    monkeypatch.setattr(registry, "find_spec", lambda name: object())
    assert chosen(1e-14, signals=False, drifting=True) == "taylor"
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert chosen(1e-14, signals=False, drifting=True) == DEFAULT


def test_remedies_name_engines_that_help():
    named = {name for text in REMEDY.values() for name in re.findall(r"method='(\w+)'", text)}
    assert named
    assert all(ENGINES[name].stiff for name in named)
    assert methods() == (AUTO, *names())
