"""Contacts that are not coupled are decided apart: each body moves as it does alone."""

import pytest

from tests.motion.contact.test_copies_side_by_side import require_alike, require_as_alone, require_bits
from tests.scenes.copies import COPIES, boxes, points_that_hit_the_floor, resting_blocks


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
