"""Small models, one for each thing that may happen."""

from tests.show.models import SWING as PENDULUM

TWICE = PENDULUM.replace("[units]", 'again = "2*x^2 + 2*y^2 = 2*L^2"\n\n[units]')

CONTRADICTION = """
[coordinates]
x = 0.0
[energy]
kinetic = "x'^2/2"
[constraints]
one = "x'' = 1"
two = "x'' = 2"
[run]
until = 1.0
"""

OFF = PENDULUM.replace('start = "L"', "start = 0.9")

# Appell's particle at rest: the rule's row vanishes there and nowhere else.
AT_REST = """
[coordinates]
x = 0.0
y = 0.0
z = 0.0
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "9.81*z"
[constraints]
cone = "z'^2 = x'^2 + y'^2"
[run]
until = 1.0
"""

IMPOSSIBLE = PENDULUM.replace("= L^2", "= -1")

# ẍ = 6x² from x = 1, ẋ = 2 is x = 1/(1 − t)², which is infinite at t = 1.
BLOWS_UP = """
name = "To infinity"
[coordinates]
x = { start = 1.0, rate = 2.0 }
[mass]
matrix = [[1]]
[forces]
x = "6*x^2"
[run]
until = 2.0
samples = 21
"""

STOPS = PENDULUM + '\n[events]\nlowest = { when = "x = 0", stop = true }\nlow = "y = -0.5"\n'

DRIVEN = """
[coordinates]
x = 0.0
[energy]
kinetic = "x'^2/2"
[inputs]
push = "sin(t)"
[forces]
x = "push"
[run]
until = 1.0
"""

BROKEN = '[coordinates]\nx = 0.0\n[energy]\nkinetic = "x\'^2/2 + zz"\n'

ENDLESS = PENDULUM.replace("until = 2.0\n", "")

HOSTILE = PENDULUM.replace('name = "Pendulum"', 'name = "[red]Pendulum[/red] \\u001b[2J [link=x]"')
