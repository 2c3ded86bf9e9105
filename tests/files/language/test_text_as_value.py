"""Text where a number is meant: refused by the name it was given for, never read as an expression, never executed."""

from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.errors import InputError, ModelError

x, y = zw.coordinates("x y")
m, g, L, d = zw.parameters("m g L d")
u = sp.Function("u")(zw.t)
VALUES = {m: 1.0, g: 10.0, L: 1.0, d: 0.1, u: 0}
REST = {x: 1, y: 0, dot(x): 0, dot(y): 0}
EXAMPLES = resources.files("zwang") / "examples"

# what would leave a file behind if anything ran it, and what looks like a number
CODE = "__import__('pathlib').Path('executed').touch()"
TEXTS = {
    "code": CODE,
    "a number": "2",
    "bytes": b"2",
    "NumPy's text": np.str_("2"),
    "text in a list": [CODE],
    "text in a tuple": (CODE,),
    "text in a dictionary": {"a": CODE},
    "text as a key": {CODE: 1},
    "text in a set": {CODE},
    "text deep inside": ((1, (CODE,)), 2),
    "an object": np.array(CODE, dtype=object),
    "text among objects": np.array([1.0, CODE], dtype=object),
}


def pendulum(values=None):
    """A pendulum that a force u pushes; the parameter d only appears in what a user asks about it."""
    kinetic, rod = m * (dot(x) ** 2 + dot(y) ** 2) / 2, {"rod": (x**2 + y**2 - L**2) / 2}
    values = VALUES | (values or {})
    return zw.System((x, y), kinetic=kinetic, potential=m * g * y, forces=[u, 0], constraints=rod, parameters=values)


def of_file():
    return zw.load_model(EXAMPLES / "pendulum.toml")


def of_bodies():
    return zw.load_model(EXAMPLES / "slider_crank_bodies.toml")


def blackbox(start):
    return zw.simulate(zw.BlackBox(("x",), M=[[1.0]], Q=[0.0]), start, 0.1)


# who is given the text -> (call with the text, the name that the refusal says)
CALLS = {
    "System": (lambda text: pendulum(values={m: text}), "m"),
    "System, a known function": (lambda text: pendulum(values={u: text}), r"u\(t\)"),
    "simulate": (lambda text: zw.simulate(pendulum(), REST, 0.1, parameters={m: text}), "m"),
    "simulate, by name": (lambda text: zw.simulate(pendulum(), REST, 0.1, parameters={"m": text}), "m"),
    "simulate, a parameter not in use": (lambda text: zw.simulate(pendulum(), REST, 0.1, parameters={d: text}), "d"),
    "simulate, a known function": (lambda text: zw.simulate(pendulum(), REST, 0.1, parameters={u: text}), r"u\(t\)"),
    "simulate, a start": (lambda text: zw.simulate(pendulum(), REST | {x: text}, 0.1), "x"),
    "simulate, a rate": (lambda text: zw.simulate(pendulum(), REST | {dot(x): text}, 0.1), r"dot\(x\)"),
    "simulate_many": (lambda text: zw.simulate_many(pendulum(), REST, 0.1, parameters={m: text}), "m"),
    "simulate_many, a start": (lambda text: zw.simulate_many(pendulum(), REST | {x: text}, 0.1), "x"),
    "sensitivities": (lambda text: zw.sensitivities(pendulum(), REST, 0.1, [m], parameters={m: text}), "m"),
    "sensitivities, a start": (lambda text: zw.sensitivities(pendulum(), REST | {x: text}, 0.1, [m]), "x"),
    "evaluate": (lambda text: zw.evaluate(pendulum(), REST | {x: text}), "x"),
    "assemble": (lambda text: zw.assemble(pendulum(), REST | {x: text}), "x"),
    "diagnose": (lambda text: zw.diagnose(pendulum(), REST, parameters={m: text}), "m"),
    "a black box": (lambda text: blackbox({"x": text, "x'": 0.0}), "x"),
    "a model's simulate": (lambda text: of_file().simulate(parameters={"L": text}), "L"),
    "a model's state": (lambda text: of_file().state({"L": text}), "L"),
    "a model's start": (lambda text: replace(of_file(), start=REST | {x: text}), "start of x"),
    "a mechanism's simulate": (lambda text: of_bodies().simulate(parameters={"L": text}), "L"),
    "a mechanism's state": (lambda text: of_bodies().state({"omega": text}), "omega"),
    "a mechanism's with_parameters": (lambda text: of_bodies().with_parameters({"L": text}), "L"),
}


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("who", CALLS)
def test_text_is_no_value(who, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, name = CALLS[who]
    with pytest.raises((InputError, ModelError), match=rf"(^|\W){name}(\W|$)"):
        call(TEXTS[text])
    assert list(tmp_path.iterdir()) == []


def test_text_as_a_name_is_only_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for call in (
        lambda: zw.simulate(pendulum(), REST | {CODE: 1}, 0.1),
        lambda: zw.simulate(pendulum(), REST, 0.1, parameters={CODE: 1}),
        lambda: of_file().simulate(parameters={CODE: 1}),
        lambda: of_bodies().simulate(parameters={CODE: 1}),
    ):
        with pytest.raises(InputError, match="sets __import__"):
            call()
    assert list(tmp_path.iterdir()) == []
