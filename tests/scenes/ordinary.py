"""Two hundred ordinary scenes, drawn at random, in kinds.

A scene has a number from 0 to 199, which decides its kind and seeds all that is drawn for it: one scene can be looked
at alone, and is the same on every machine.
"""

from collections.abc import Callable
from itertools import accumulate

import numpy as np

from tests.scenes import ordinary_in_space as space
from tests.scenes import ordinary_in_the_plane as plane
from tests.scenes.scene import Scene

SEED = 5000

KINDS: dict[str, tuple[int, Callable[[np.random.Generator], Scene]]] = {
    "thrown boxes": (20, plane.thrown_boxes),
    "discs in a trough": (10, plane.discs_in_a_trough),
    "chains on a floor": (10, plane.chain_on_a_floor),
    "compass walkers": (10, plane.compass_walker),
    "two-legged trunks": (10, plane.two_legged_trunk),
    "stacks of boxes": (10, plane.stack_of_boxes),
    "arms with limits that rub": (10, plane.arm_with_limits),
    "carts on slopes": (10, plane.cart_on_a_slope),
    "blocks on a belt": (10, plane.blocks_on_a_belt),
    "rods into a corner": (20, plane.rod_into_a_corner),
    "in a groove": (10, plane.in_a_groove),
    "dice": (20, space.die),
    "spheres in a corner": (10, space.spheres_in_a_corner),
    "chains in space": (10, space.chain_in_space),
    "coins": (10, space.coin),
    "ramp and wall": (10, space.ramp_and_wall),
    "tables and tripods": (10, space.thrown_table),
}
KIND_OF: tuple[str, ...] = tuple(kind for kind, (count, _) in KINDS.items() for _ in range(count))
FIRST_OF: dict[str, int] = dict(zip(KINDS, accumulate((count for count, _ in KINDS.values()), initial=0), strict=False))


def ordinary_scene(number: int) -> Scene:
    """The scene of a number."""
    return KINDS[KIND_OF[number]][1](np.random.default_rng(SEED + number))
