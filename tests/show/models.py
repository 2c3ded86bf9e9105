"""Models to report on: written as files are, and read as files are."""

from functools import cache

import sympy as sp

import zwang as zw
from zwang import dot
from zwang.files.model_file import ModelFile, Run
from zwang.files.read import read_model
from zwang.model.drawing import Drawing, Shape
from zwang.results.units import Units

SWING = """
name = "Pendulum"
description = "A point mass on a rod."

[parameters]
m = 1.0
g = 9.81
L = 1.0

[coordinates]
x = { start = "L", unit = "m" }
y = { start = 0.0, unit = "m" }

[energy]
kinetic = "m*(x'^2 + y'^2)/2"
potential = "m*g*y"

[constraints]
rod = "x^2 + y^2 = L^2"

[units]
time = "s"
energy = "J"

[run]
until = 2.0
samples = 101

[draw]
bob = { point = ["x", "y"], color = "blue", trail = true }
rod = { line = [[0, 0], ["x", "y"]] }
"""

PENDULUM = SWING + '[events]\nbottom = "x = 0"\n'

APPELL = """
name = "Appell's particle"
[parameters]
m = 1.0
g = 9.81
[coordinates]
x = { rate = 3.0 }
y = { rate = 4.0 }
z = { rate = 5.0 }
[energy]
kinetic = "m*(x'^2 + y'^2 + z'^2)/2"
potential = "m*g*z"
[constraints]
cone = "z'^2 = x'^2 + y'^2"
twice = "2*z'^2 = 2*x'^2 + 2*y'^2"
[run]
until = 0.5
samples = 51
"""

FREE = """
name = "Stone"
[coordinates]
x = { rate = 1.0 }
y = { rate = 2.0 }
[mass]
matrix = [[2, 0], [0, 2]]
[forces]
y = "-2*g"
[parameters]
g = 9.81
[run]
until = 1.0
samples = 21
"""

DRAGGED = """
name = "Bead with drag"
[parameters]
c = 0.3
[inputs]
push = "sin(3*t)"
[coordinates]
x = { rate = 1.0, unit = "m" }
phi = { rate = 1.0, unit = "rad" }
[energy]
kinetic = "(x'^2 + phi'^2)/2"
[forces]
x = "push"
[nonideal]
x = "-c*x'"
[constraints]
roll = "x' = phi'"
[units]
time = "s"
energy = "J"
[run]
until = 1.0
samples = 21
"""

# The rule says nothing where the particle rests, and the Gibbs–Appell form has no way past that.
STUCK = APPELL.replace("until = 0.5", 'until = 2.0\nform = "gibbs-appell"')


@cache
def model(text: str) -> ModelFile:
    return read_model(text)


@cache
def report_of(text: str, **options: object) -> str:
    """The report on a model's own run; comparisons only where they are asked for."""
    from zwang.show.report.page import report

    motion = model(text).simulate(throw=False)
    return report(model(text), motion, **({"checks": False} | options))


def chain(count: int) -> str:
    """Point masses on rods, hanging; three coordinates and a constraint each."""
    lines = ['name = "Chain"', "[coordinates]"]
    lines += [f"x{i} = {i}\ny{i} = 0\nz{i} = 0" for i in range(1, count + 1)]
    squares = " + ".join(f"x{i}'^2 + y{i}'^2 + z{i}'^2" for i in range(1, count + 1))
    heights = " + ".join(f"z{i}" for i in range(1, count + 1))
    lines += ["[energy]", f'kinetic = "({squares})/2"', f'potential = "9.81*({heights})"', "[constraints]"]
    lines.append('rod1 = "x1^2 + y1^2 + z1^2 = 1"')
    lines += [
        f'rod{i} = "(x{i} - x{i - 1})^2 + (y{i} - y{i - 1})^2 + (z{i} - z{i - 1})^2 = 1"' for i in range(2, count + 1)
    ]
    return "\n".join([*lines, "[run]", "until = 0.1", "samples = 3001", "tol = 1e-6"])


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def hostile_model():
    """Names that try to be markup wherever a name can stand."""
    x, y = sp.Function(f"x{HOSTILE}")(zw.t), sp.Function("y&<b>")(zw.t)
    k = sp.Symbol(f"k{HOSTILE}", positive=True)
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=k * y,
        constraints={f"c{HOSTILE}": x - y, "again": 2 * x - 2 * y},
        parameters={k: 1.0},
        name=f"n{HOSTILE}",
    )
    return ModelFile(
        system,
        dict.fromkeys((x, y, dot(x), dot(y)), sp.Integer(0)),
        Run(until=1.0, samples=11),
        events=(zw.Event(x + sp.Rational(1, 10), f"e{HOSTILE}"),),
        drawing=Drawing((Shape(f"s{HOSTILE}", "point", ((x, y),), trail=True),)),
        units=Units(f"s{HOSTILE}", "J", {system.coordinate_names[0]: f"m{HOSTILE}", "y&<b>": "m"}),
        description=f"d{HOSTILE}",
        text=f"t{HOSTILE}",
    )
