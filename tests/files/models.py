"""Good model files, which the tests of this room spoil in every way."""

SLIDER = '''name = "Slider-crank"
description = """
A crank turns, a slider slides."""

[parameters]
m = 1.0
g = 9.81
L = "1/3"
R = 0.5

[definitions]
r2 = "x^2 + y^2"
speed2 = "x'^2 + y'^2"

[coordinates]
x = { start = 0.3, rate = 0.0, unit = "m" }
y = { start = "-sqrt(R^2 - 0.3^2)", unit = "m" }
theta = 0.0

[energy]
kinetic = "m*speed2/2 + L*theta'^2"
potential = "m*g*y"

[forces]
x = "-0.1*x' + alpha"

[nonideal]
theta = "-0.2*theta'"

[inputs]
alpha = "sin(3*t)"
u = { times = [0, 1, 2], values = [0.0, 1.0, 0.0], kind = "linear", outside = "hold" }

[constraints]
rod = "r2 = R^2"
roll = "theta' = x' + u*0"
floor = "y >= -2"

[events]
top = { when = "y' = 0", direction = "down", stop = true }
tight = "multiplier(rod) = constraint_force(x)"

[units]
time = "s"
energy = "J"

[run]
until = 0.5
samples = 11
tol = 1e-10
drift = ["baumgarte", 10, 10]

[draw]
bob = { point = ["x", "y"], color = "blue", trail = true }
rod = { line = [[0, 0], ["x", "y"]] }
wheel = { circle = ["x", "y"], radius = "R/10" }
plate = { body = [["-R", -1], ["R", -1], [0, 1]], at = ["x", "y"], angle = "theta" }
'''

TOP = """name = 'A body in space'
[parameters]
m = 2
k = '?'
[coordinates]
x = 1
"q.z" = { start = "m/2" }
"θ" = { rate = -1.5e-3 }
[mass]
matrix = [
  ["m", 0, 0],
  [0, "m + x^2", "x"],   # rows
  [0, "x", "m"],
]
[forces]
"q.z" = "-k*q.z - if(x > 0, x, 0)"
[constraints]
steer = "x'' = θ'*q.z'"
"at most" = "x <= 3"
[draw]
disc = { circle = ["x", "q.z", 0], radius = 0.1, normal = [0, 0, 1], color = "#ff8800" }
box = { body = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], at = ["x", 0, 0], orientation = [1, 0, 0, 0] }
"""

MOVING = SLIDER.replace('floor = "y >= -2"\n', "")  # motions with contacts are not integrated

CRANK = """name = "Slider-crank"

[parameters]
r = 0.3
L = 0.9
m = 1.0
omega = 10

[definitions]
end = "r + L"
lift = "rod.y + axle.angle"

[bodies.crank]
mass = "m"
inertia = 0.01
position = ["r/2", 0]

[bodies.rod]
mass = 0.6
inertia = "0.6*L^2/12"
position = ["r + L/2", 0]

[bodies.piston]
kind = "particle"
mass = 0.8
position = ["end", 0]

[joints.axle]
kind = "revolute"
second = "crank"
at = [0, 0]

[joints.knee]
kind = "revolute"
first = "crank"
second = "rod"
at = ["r", 0]

[joints.wrist]
kind = "revolute"
first = "rod"
second = "piston"
at = ["end", 0]

[joints.motor]
kind = "driver"
joint = "axle"
motion = "omega*t"

[gravity]
acceleration = [0, -9.81]

[springs.coil]
second = "piston"
start = [0.5, 0]
end = ["end", 0]
stiffness = 40

[elements.air]
kind = "drag"
body = "piston"
linear = 0.1

[constraints]
guide = "piston.y = 0"

[events]
low = "lift = 1"
slack = { when = "multiplier(motor.motion) = 0", direction = "up" }

[units]
time = "s"
energy = "J"

[run]
until = 0.5
samples = 11

[draw]
piston = { point = ["piston.x", "piston.y"], color = "red", trail = true }
wall = { line = [["end", -1], ["end", 1]] }
"""

GOOD = {"slider": SLIDER, "top": TOP, "crank": CRANK}
