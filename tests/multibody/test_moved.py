"""What putting a mechanism together moved: which body, how far, and when that is worth a warning."""

import numpy as np
import pytest

import zwang as zw
from tests.multibody.test_mechanism import slider_crank
from zwang import StartMovedWarning
from zwang import multibody as mb
from zwang.files.read import load_model, read_model

G = mb.ground


def hung(off, turn=0.0):
    """A rod of length 2 that hangs from its end, described away from there; all of it must move."""
    rod = mb.PlanarBody("rod", 1, 1e-9, position=(off, -1), angle=turn)
    held = mb.Condition("angle", rod.coordinates[2])
    return mb.Mechanism([rod], [mb.Revolute("pin", G, rod, at=((0, 0), (0, 1))), held])


def test_the_way_of_a_body_is_measured_beside_the_size_of_the_whole():
    # held without a turn, the centre of mass goes from (off, −1) to (0, −1): the whole is 1 high and `off` wide
    moved = hung(0.3).moved
    assert moved.translation == pytest.approx(0.3)
    assert moved.translated == "body 'rod'"
    assert moved.turn == 0.0
    assert moved.size == pytest.approx(np.hypot(1, 0.3))
    assert str(moved) == "to put the start together, body 'rod' was moved by 0.3, 29 % of the whole"


def test_turns_are_measured_in_radians():
    moved = hung(0.0, 0.25).moved
    assert moved.turn == pytest.approx(0.25)
    assert moved.remarkable
    assert "turned by 14.3°" in str(moved)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0.6, 0, 0.8)])
@pytest.mark.parametrize("angle", [0.05, 1.0, 3.0, 4.0])
def test_turns_in_space_are_those_of_quaternions(axis, angle):
    half = (np.cos(angle / 2), *np.sin(angle / 2) * np.array(axis))
    body = mb.Body("top", 1, (1, 1, 1), orientation=half)
    weld = mb.Condition("still", {f"q{i}": q for i, q in enumerate(body.coordinates[4:])})
    moved = mb.Mechanism([body], [weld]).moved
    assert moved.turn == pytest.approx(min(angle, 2 * np.pi - angle), abs=1e-12)
    assert moved.size == pytest.approx(2.0)  # twice the radius of gyration


def test_a_start_that_is_described_right_has_moved_nothing():
    for made in (slider_crank(), load_model("four_bar_in_space").mechanism):
        assert made.moved.stands
        assert str(made.moved).startswith("the start stands as it is described")
        zw.evaluate(made)  # without a warning, which would be an error here


def test_a_tenth_of_the_size_is_worth_a_warning_and_less_is_not():
    near, far = hung(0.08), hung(0.3)
    assert not near.moved.nothing
    assert not near.moved.remarkable
    zw.diagnose(near)
    for verb in (zw.diagnose, zw.evaluate, lambda it: zw.simulate(it, until=0.1, samples=2)):
        with pytest.warns(StartMovedWarning, match=r"body 'rod' was moved by 0.3, 29 % .*describe it nearer") as caught:
            verb(far)
        assert caught[0].filename == __file__  # it is told where it was asked for
    far.assembled()
    zw.assemble(far)  # who asks for that knows
    zw.evaluate(far.system, far.start)
    zw.simulate(far, far.start, until=0.1, samples=2)


def test_values_and_times_that_move_the_start_as_they_should_are_not_warned_of():
    length = zw.parameters("length")
    bob = mb.Particle("bob", 1, (0, -1))
    made = mb.Mechanism([bob], [mb.Rod("rod", G, bob, length=length, at=((0, 0), (0, 0)))], parameters={length: 1.0})
    assert zw.evaluate(made, parameters={length: 2.0}).acceleration.shape == (2,)
    assert made.moved_with({length: 2.0}, 0.0).translation == pytest.approx(1.0)
    arm = mb.PlanarBody("arm", 1, 1)
    pin = mb.Revolute("pin", G, arm, at=(0, 0))
    zw.simulate(mb.Mechanism([arm], [pin, mb.Driver("motor", pin, motion=zw.t)]), until=2.0, t=1.0, samples=2)


FILE = """
[bodies.rod]
kind = "planar"
mass = 1
inertia = 1
position = [0.3, -1]
[joints.pin]
kind = "revolute"
second = "rod"
at = [[0, 0], [0, 1]]
[joints.angle]
kind = "condition"
expressions = "rod.angle = 0"
[run]
until = 0.1
samples = 2
"""


def test_a_model_file_warns_as_its_mechanism_does_and_a_report_says_it():
    model = read_model(FILE)
    with pytest.warns(StartMovedWarning, match="body 'rod' was moved by 0.3"):
        motion = model.simulate()
    words = "To put the start together, body &#x27;rod&#x27; was moved by 0.3, 29 % of the whole."
    assert f"<strong>{words}</strong>" in zw.report(model, motion, checks=False)
    near = read_model(FILE.replace("0.3", "0.05"))
    page = zw.report(near, near.simulate(), checks=False)
    assert "was moved by 0.05, 5 % of the whole." in page
    assert "<strong>To put" not in page


def test_a_mechanism_that_is_shown_says_what_moved_once_its_start_is_known():
    far = hung(0.3)
    assert "moved" not in repr(far)  # to show it nothing is put together
    assert far.start
    assert repr(far).endswith("to put the start together, body 'rod' was moved by 0.3, 29 % of the whole>")
    assert "was moved by 0.3, 29 % of the whole" in far._repr_html_()
    right = hung(0.0)
    assert right.start
    assert "moved" not in repr(right)
