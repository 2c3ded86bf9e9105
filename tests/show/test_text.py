"""Names and units of a model in pictures: shown as they are, whatever they look like to Matplotlib."""

import ast
from pathlib import Path

import pytest
import sympy as sp

import zwang as zw
from zwang import dot
from zwang.files.read import read_model
from zwang.show import plot_linear
from zwang.show.text import plain

SHOW = Path(plain.__code__.co_filename).parent
WRITES = {"set_xlabel": 0, "set_ylabel": 0, "set_zlabel": 0, "set_title": 0, "suptitle": 0, "text": 2, "set_text": 0,
          "set_label": 0, "annotate": 0}  # fmt: skip
BROKEN = ("$\\frac{$", "$x$", "a_$_{", "_hidden", "\\$\\frac", "a\x00b", "a\ud800", "$")

MODEL = """
name = '{0}'
[coordinates]
x = 0.6
y = -0.8{z}
[energy]
kinetic = "(x'^2 + y'^2{k})/2"
potential = "9.81*y"
[constraints]
"rod" = "x^2 + y^2 = 1"
[units]
time = '{0}'
energy = '{0}'
[run]
until = 0.2
samples = 5
"""


@pytest.mark.parametrize("name", [name for name in BROKEN if name.isprintable()])
@pytest.mark.parametrize("space", [False, True])
def test_no_name_or_unit_of_a_model_spoils_a_picture(name, space, tmp_path):
    more = {"z": "\nz = 0.0" if space else "", "k": " + z'^2" if space else ""}
    motion = read_model(filled(name, more)).simulate()
    assert zw.save_animation(motion, tmp_path / "still.png", size=(128, 128)).stat().st_size > 500
    assert zw.save_animation(motion, tmp_path / "film.gif", size=(64, 64), fps=2).stat().st_size > 500
    zw.plot(motion).savefig(tmp_path / "plot.svg")


def filled(name, more):
    """The model with a name, and what it has in space."""
    text = MODEL.replace("{0}", name)
    for key, value in more.items():
        text = text.replace(f"{{{key}}}", value)
    return text


@pytest.mark.parametrize("name", BROKEN)
def test_no_name_of_a_parameter_or_input_spoils_a_diagram(name, tmp_path):
    x, u = zw.coordinates("x u")
    k = sp.Symbol(name, positive=True)
    spring = zw.System(
        (x,), kinetic=dot(x) ** 2 / 2, potential=k * x**2 / 2, forces={x: u}, parameters={u: 0}, name=name
    )
    rest = {x: 0.0, dot(x): 0.0}
    modes = zw.modes(spring, rest, parameters={k: [1.0, 2.0, 3.0]})
    picture = tmp_path / "a.png"
    plot_linear.plot_modes(modes).savefig(picture)
    assert picture.stat().st_size > 500
    response = zw.linearize(spring, rest, inputs=[u], parameters={k: 1.0})
    plot_linear.plot_response(response).savefig(picture)
    assert picture.stat().st_size > 500


def test_text_reaches_matplotlib_through_one_function():
    """Whatever is not written out here in the source goes through `plain`."""
    found = []
    for path in SHOW.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            place = WRITES.get(getattr(call.func, "attr", ""))
            if place is None or len(call.args) <= place or "matplotlib" not in path.read_text(encoding="utf-8"):
                continue
            said = call.args[place]
            own = isinstance(said, ast.Constant)
            through = isinstance(said, ast.Call) and getattr(said.func, "id", "") == "plain"
            if not (own or through):
                found.append(f"{path.name}:{call.lineno}: {ast.unparse(said)}")
    assert not found
