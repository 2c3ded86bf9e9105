"""Two hundred ordinary scenes, drawn at random: `tests/scenes/ordinary.py`, and how the laws are held: `laws.py`.

`python -m tests.scenes.survey` prints what becomes of each of them.
"""

import os

import pytest

from tests.scenes.laws import broken_laws
from tests.scenes.ordinary import FIRST_OF, KIND_OF, KINDS, ordinary_scene
from tests.scenes.survey import line, survey, table

SAMPLE = [
    FIRST_OF["thrown boxes"] + 1,
    FIRST_OF["chains on a floor"],
    FIRST_OF["compass walkers"],
    FIRST_OF["two-legged trunks"],
    FIRST_OF["stacks of boxes"],
    FIRST_OF["arms with limits that rub"] + 1,
    FIRST_OF["carts on slopes"],
    FIRST_OF["blocks on a belt"],
    FIRST_OF["rods into a corner"],
    FIRST_OF["rods into a corner"] + 1,
    FIRST_OF["in a groove"],
    FIRST_OF["spheres in a corner"],
    FIRST_OF["coins"],
    FIRST_OF["ramp and wall"],
]
SECONDS = 3.0  # of processor time, when everything is compiled


def test_there_are_two_hundred_scenes_and_a_number_always_draws_the_same():
    assert len(KIND_OF) == sum(count for count, _ in KINDS.values()) == 200
    one, other = ordinary_scene(131), ordinary_scene(131)
    assert one.model.bodies[0].orientation == other.model.bodies[0].orientation
    assert ordinary_scene(132).model.bodies[0].orientation != one.model.bodies[0].orientation


@pytest.mark.parametrize("number", SAMPLE, ids=lambda number: f"{KIND_OF[number]} {number}")
def test_an_ordinary_scene_finishes_and_obeys_the_laws(number):
    scene = ordinary_scene(number)
    motion = scene.run()
    assert motion.attrs["status"] == "finished", motion.attrs["message"]
    assert broken_laws(scene.model, motion, scene.size) == []


@pytest.fixture(scope="module")
def outcomes():
    """What becomes of all of them, with a table in what pytest shows of a failure."""
    found = list(survey(range(len(KIND_OF)), jobs=max(1, (os.cpu_count() or 1) // 2)))
    print("\n".join(line(outcome) for outcome in found if not outcome.finished or outcome.broken))
    print(table(found, SECONDS))
    return found


@pytest.mark.slow
def test_no_ordinary_scene_breaks_a_law(outcomes):
    assert [(o.number, o.kind, o.broken) for o in outcomes if o.broken] == []


@pytest.mark.slow
def test_at_least_197_of_200_ordinary_scenes_finish(outcomes):
    assert sum(outcome.finished for outcome in outcomes) >= 197


@pytest.mark.slow
def test_every_ordinary_scene_takes_less_than_three_seconds_of_processor_time(outcomes):
    assert [(o.number, o.kind, o.seconds) for o in outcomes if o.seconds > SECONDS] == []
