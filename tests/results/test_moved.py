"""Models that ask to be assembled say which of what they draw moved, and how far."""

import warnings
from dataclasses import replace

from zwang.files.read import load_model, read_model
from zwang.model.moved import tell


def test_a_model_that_asks_to_be_assembled_says_what_moved():
    model = load_model("robot_arm")
    moved = model.moved_with(None, 0.0)
    assert not moved.nothing
    assert moved.asked
    rough = replace(model, start={**model.start, model.system.coordinates[0]: -0.6})
    assert rough.moved_with(None, 0.0).remarkable
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tell(rough.moved_with(None, 0.0))
    bare = read_model("""
[coordinates]
x = { start = 2.0 }
y = {}
[energy]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
rod = "x^2 + y^2 = 1"
[run]
assemble = true
""").moved_with(None, 0.0)
    assert str(bare) == "to put the start together, coordinate 'x' was moved by 1"
