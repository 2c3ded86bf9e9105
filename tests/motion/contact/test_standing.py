"""How contacts stand at a state, in the verdict."""

import pytest

import zwang as zw
from tests.motion.contact.test_shares import AT_REST, CORNERS, box
from tests.references import contact
from zwang import dot

x, y = zw.coordinates("x y")


def block(mu, forces=None, restitution=0):
    """A block on a floor."""
    floor = zw.Constraint(y >= 0, "floor", friction=mu, slip=dot(x), restitution=restitution)
    wall = zw.Constraint(2 - x >= 0, "wall")
    kinetic = (dot(x) ** 2 + dot(y) ** 2) / 2
    return zw.System((x, y), kinetic=kinetic, potential=10 * y, forces=forces, constraints=[floor, wall])


def at(px=0, py=0, vx=0, vy=0):
    """A state."""
    return {x: px, y: py, dot(x): vx, dot(y): vy}


def test_a_block_that_rests_sticks_and_has_something_in_reserve():
    verdict = zw.diagnose(block(0.5, {x: 3}), at())
    floor, wall = verdict.contacts["floor"], verdict.contacts["wall"]
    assert (floor.state, floor.normal_force, floor.friction_force) == ("sticking", pytest.approx(10), pytest.approx(-3))
    assert floor.reserve == pytest.approx(2)
    assert floor.unique
    assert (wall.state, wall.gap) == ("open", 2)
    assert "sticking, normal force 10, friction -3, 2 in reserve" in str(verdict)
    assert "open, its gap is 2" in str(verdict)


def test_a_block_that_slides_has_a_margin():
    floor = zw.diagnose(block(0.5), at(vx=1)).contacts["floor"]
    assert (floor.state, floor.friction_force, floor.margin) == ("sliding", pytest.approx(-5), pytest.approx(1))
    assert floor.reserve is None


@pytest.mark.parametrize(
    ("state", "word"),
    [(at(py=0.5), "open"), (at(vy=-1), "closing"), (at(py=-0.1), "beyond"), (at(vy=1), "open")],
)
def test_where_a_contact_is(state, word):
    verdict = zw.diagnose(block(0.5), state)
    assert verdict.contacts["floor"].state == word
    assert verdict.ok == (word not in ("closing", "beyond"))


def test_contacts_without_friction_push_or_do_not():
    ball = contact.ball(0.5)[0]
    (height,) = ball.coordinates
    floor = zw.diagnose(ball, {height: 0, dot(height): 0}).contacts["floor"]
    assert (floor.state, floor.normal_force) == ("pushing", pytest.approx(9.81))


def test_shares_that_are_not_known_are_said_to_be_so():
    verdict = zw.diagnose(box(CORNERS, 0.5, {x: 1}), AT_REST)
    for standing in verdict.contacts.values():
        assert standing.state == "sticking"
        assert not standing.unique
    assert str(verdict).count("its force is not unique") == 2


def test_painleves_paradox_is_in_the_verdict():
    system, start = contact.painleve(2.0, -1, 0)
    tip = zw.diagnose(system, start).contacts["tip"]
    assert tip.note.startswith("no solution: No acceleration obeys the friction of 'tip' (μ = 2, margin -")


def test_limits_of_velocities_stand_too():
    clutch = zw.Constraint(dot(y) - dot(x) >= 0, "clutch")
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, forces={x: 2}, constraints=[clutch])
    states = [zw.diagnose(system, at(vx=v)).contacts["clutch"] for v in (0, -1, 1)]
    assert [s.state for s in states] == ["pushing", "open", "closing"]
    assert states[0].normal_force == pytest.approx(1)


def test_a_system_without_contacts_has_none():
    rod = zw.System((x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, constraints={"rod": x**2 + y**2 - 1})
    assert not zw.diagnose(rod, at(px=1)).contacts
