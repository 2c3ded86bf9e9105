"""Repeated constraints of model files that are not families."""

from zwang.files.read import read_model


def test_repeated_contacts_have_their_law():
    model = read_model("""
[coordinates]
y = { for = "i = 1:3", start = "i" }
[energy]
kinetic = { sum = "y[i]'^2/2", for = "i = 1:3" }
potential = { sum = "9.81*y[i]", for = "i = 1:3" }
[constraints]
floor = { rule = "y[i] >= 0", restitution = "i/4", for = "i = 1:3" }
ceiling = { rule = "y[i] <= 9", for = "i = 1:3" }
""")
    floors, ceilings = model.system.constraints[:3], model.system.constraints[3:]
    assert [float(c.restitution) for c in floors] == [0.25, 0.5, 0.75]
    assert all(c.one_sided for c in (*floors, *ceilings))
    assert [c.name for c in ceilings] == ["ceiling[1]", "ceiling[2]", "ceiling[3]"]


def test_constraints_are_repeated_beside_bodies():
    model = read_model("""
[bodies.a]
kind = "particle"
mass = 1
position = [0, 0]
[constraints]
c = { rule = "a.x >= -i", for = "i = 1:2" }
""")
    assert model.system.constraint_names == ("c[1]", "c[2]")
