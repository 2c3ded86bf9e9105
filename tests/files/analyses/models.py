"""Models that ask something."""

PENDULUM = """
name = "Pendulum"
[parameters]
m = 2.0
g = 9.81
L = 1.0
F = 0.0
c = 0.1
[definitions]
angle = "atan2(x, -y)"
[coordinates]
x = 0.5
y = -0.9
[energy]
kinetic = "m*(x'^2 + y'^2)/2"
potential = "m*g*y"
[forces]
x = "F - c*x'"
[constraints]
rod = "x^2 + y^2 = L^2"
again = "x^2 + y^2 = L^2"
[run]
until = 3.0
assemble = true
"""

ASKS = """
[equilibrium]
guess = { x = 0.1, "y'" = "g/10" }
[linear]
states = ["angle", "angle'"]
inputs = ["F"]
outputs = { pull = "multiplier(rod) + multiplier(again)", speed = "x'" }
[lyapunov]
until = 4.0
count = 1
stretches = 10
"""

CONICAL = """
name = "Conical pendulum"
[parameters]
g = 9.81
l = 1.0
turns = 5.0
[coordinates]
angle = 1.0
turn = { start = 0.0, rate = 5.0 }
[energy]
kinetic = "l^2*(angle'^2 + (sin(angle)*turn')^2)/2"
potential = "-g*l*cos(angle)"
[steady]
constant = ["angle", "angle'", "turn'"]
hold = { "turn'" = "turns" }
[linear]
against = { turns = "4:6:5" }
"""

VANDERPOL = """
[parameters]
mu = 0.5
[coordinates]
x = 2.0
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[forces]
x = "mu*(1 - x^2)*x'"
[periodic]
period = "2*pi"
hold = ["x'"]
"""

CRANK = """
[coordinates]
x = 2.0
y = 0.1
[energy]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
arm = "x^2 + y^2 = 4"
driver = "y = t"
[kinematics]
times = [0.0, 1.0, 1.5]
"""

SPRING = """
[parameters]
k = 3.0
m = 1.0
a = 0.2
offset = 0.0
[coordinates]
x = "a"
[energy]
kinetic = "m*x'^2/2"
potential = "k*x^2/2"
[fit]
data = "spring.csv"
unknown = { k = 3.0, m = 1, a = "1/5", offset = 0.0 }
observe = { seen = "x + offset" }
weights = { seen = 100 }
bounds = { m = [0.5, inf] }
"""

BODIES = """
name = "Two bars"
[parameters]
g = 9.81
stiff = 20.0
[bodies.upper]
mass = 1.0
inertia = 0.1
position = [0.311, -0.392]
angle = -0.9
[bodies.lower]
mass = 1.0
inertia = 0.1
position = [0.755, -1.265]
angle = -1.3
[joints.top]
kind = "revolute"
second = "upper"
at = [[0, 0], [-0.5, 0]]
[joints.knee]
kind = "revolute"
first = "upper"
second = "lower"
at = [[0.5, 0], [-0.5, 0]]
[gravity]
acceleration = [0, "-g"]
[run]
until = 1.0
[equilibrium]
[linear]
states = ["top.angle", "knee.angle", "top.angle'", "knee.angle'"]
against = { g = "5:20:4" }
"""
