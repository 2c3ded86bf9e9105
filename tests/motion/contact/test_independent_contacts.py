"""Contacts that are not coupled are decided apart: many bodies cost as much as each of them, and move as each alone."""

import time

import pytest

from tests.motion.contact.test_copies_side_by_side import require_alike, require_as_alone, require_bits
from tests.scenes.copies import COPIES, bouncing_points, boxes, points_that_hit_the_floor, resting_blocks


def seconds(scene):
    """The processor time of a motion, when everything is compiled; the shortest of three."""
    found = []
    for _ in range(4):
        began = time.process_time()
        motion = scene.run(samples=2)
        found.append(time.process_time() - began)
        assert motion.attrs["status"] == "finished", motion.attrs["message"]
    return min(found[1:])


@pytest.mark.parametrize("count", [2, 3, 7, 12])
def test_points_that_hit_a_floor_together_have_the_bits_of_impacts_alone(count):
    require_bits(points_that_hit_the_floor, range(count), ["velocity_before", "velocity_after", "impulse"])


@pytest.mark.parametrize("count", [7, 12])
def test_many_blocks_at_rest_together_have_the_bits_of_blocks_alone(count):
    require_bits(resting_blocks, range(count), ["a", "mode", "normal_force", "friction_force", "unique"])


@pytest.mark.parametrize("name", COPIES)
def test_five_bodies_side_by_side_move_as_each_of_them_alone(name):
    require_as_alone(COPIES[name], range(5))


@pytest.mark.parametrize("law", ["moreau", "poisson"])
def test_boxes_side_by_side_move_as_each_of_them_alone_by_either_law_of_impacts(law):
    require_as_alone(boxes, range(4), impacts=law)


@pytest.mark.parametrize("count", [2, 6])
def test_points_that_begin_alike_stay_alike_to_the_bit(count):
    require_alike(range(count))


@pytest.mark.parametrize("count", [4, 7, 8, 32])
def test_blocks_at_rest_side_by_side_take_no_more_time_than_one_after_the_other(count):
    assert seconds(resting_blocks(range(count))) < count * seconds(resting_blocks([1]))


@pytest.mark.parametrize("count", [4, 12])
def test_bouncing_points_side_by_side_take_no_more_time_than_one_after_the_other(count):
    alone = seconds(bouncing_points([0]))
    assert seconds(bouncing_points(range(count))) < 2 * count * alone  # beside: steps are shared, and there are more
