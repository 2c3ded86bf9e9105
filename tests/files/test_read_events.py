"""Resets in model files: read, written, run, and their mistakes at their places."""

import pytest

from zwang import dot
from zwang.errors import ModelFileError
from zwang.files.read import read_model
from zwang.files.write import model_text

BALL = """
[parameters]
r = 0.8

[coordinates]
y = {{ start = 1, rate = 0 }}

[inputs]
lift = "0*t"

[energy]
kinetic = "y'^2/2"
potential = "10*y"

[events]
floor = {{ when = "y = 0", direction = "down", reset = {} }}

[run]
until = 1
"""


def ball(reset):
    """A model with a reset."""
    return BALL.format(reset)


def test_a_reset_is_read_written_and_run():
    model = read_model(ball("""{ "y'" = "-r*y' + lift" }"""))
    (y,) = model.system.coordinates
    r = next(s for s in model.system.parameters if s.name == "r")
    assert model.events[0].reset == {dot(y): -r * dot(y)}
    assert read_model(model_text(model)).events == model.events
    motion = model.simulate()
    assert motion.event_v_after.values[0] == pytest.approx(-0.8 * motion.event_v.values[0])
    harder = model.simulate(parameters={"r": 0.75})
    assert harder.event_v_after.values[0] == pytest.approx(-0.75 * harder.event_v.values[0])


@pytest.mark.parametrize(
    ("reset", "words"),
    [
        ("""{ z = 1 }""", "'z' is not known|unknown name 'z'"),
        ("""{ "y + 1" = 1 }""", r"'y \+ 1' is not a coordinate or rate"),
        ("""{ r = 1 }""", "'r' is not a coordinate or rate"),
        ("""{ y = "y''" }""", "acceleration"),
        ("""{ y = "q" }""", "'q'"),
        ("""{ }""", "entries where a table"),
        ("""3""", "a table"),
        ("""{ y = "multiplier(rod)" }""", "multiplier"),
    ],
)
def test_a_mistake_is_told_at_its_place(reset, words):
    with pytest.raises(ModelFileError, match=words) as caught:
        read_model(ball(reset))
    assert ":16:" in str(caught.value)
