"""Bodies that never meet move as each of them does alone: `tests/scenes/copies.py`, two or three of them.

An instant is decided from the state alone, so that decisions and impacts of one body have the same bits whatever else
there is. Steps of the integrator are chosen for all bodies together: along a motion places agree to its tolerance.
"""

import numpy as np
import pytest

from tests.scenes.copies import COPIES, bouncing_points, resting_blocks


def kept(motion, name, k):
    """The part of a variable that is one body's: coordinates and contacts have its number in their names."""
    values = motion[name]
    for over in {"coordinate", "contact"} & set(values.dims):
        mine = [label.split(".")[0].lstrip("abcdefghijklmnopqrstuvwxyz") == str(k) for label in values[over].values]
        values = values.isel({over: mine})
    return values.values


def transitions_of(motion, k):
    """Instants and kinds of what happens to a body."""
    mine = [c.split(".")[0].lstrip("abcdefghijklmnopqrstuvwxyz") == str(k) for c in motion.transition_contact.values]
    return motion.transition_time.values[mine], motion.transition_kind.values[mine].tolist()


def require_as_alone(build, members, **options):
    """Hold each body's motion among the others against its motion alone."""
    together = build(members).run(**options)
    assert together.attrs["status"] == "finished", together.attrs["message"]
    for k in members:
        alone = build([k]).run(**options)
        assert alone.attrs["status"] == "finished"
        assert kept(together, "q", k) == pytest.approx(kept(alone, "q", k), abs=1e-9)
        (times, kinds), (own_times, own_kinds) = transitions_of(together, k), transitions_of(alone, k)
        last = min(len(kinds), len(own_kinds)) - 3  # where impacts accumulate, rounding decides which is the last
        assert kinds[:last] == own_kinds[:last]
        assert times[:last] == pytest.approx(own_times[:last], abs=1e-9)
        assert set(kinds[last:]) == set(own_kinds[last:])


def require_bits(build, members, names):
    """Hold what is decided at the first instant to the bits of each body alone."""
    together = build(members).run(samples=2)
    for k in members:
        alone = build([k]).run(samples=2)
        for name in names:
            assert np.array_equal(kept(together, name, k)[0], kept(alone, name, k)[0]), (name, k)


def require_alike(members):
    """Hold copies with the same start to the same bits, and to the motion of one alone."""
    together, alone = bouncing_points(members, apart=0).run(), bouncing_points([0], apart=0).run()
    assert together.attrs["status"] == "finished", together.attrs["message"]
    for name in ("q", "v", "normal_force", "friction_force"):
        for k in members:
            assert np.array_equal(kept(together, name, k), kept(together, name, 0)), (name, k)
    assert kept(together, "q", 0) == pytest.approx(kept(alone, "q", 0), abs=1e-12)


@pytest.mark.parametrize("count", [2, 4])
def test_blocks_at_rest_together_have_the_bits_of_blocks_alone(count):
    require_bits(resting_blocks, range(count), ["a", "mode", "normal_force", "friction_force"])


@pytest.mark.parametrize("name", COPIES)
def test_two_bodies_side_by_side_move_as_each_of_them_alone(name):
    require_as_alone(COPIES[name], [0, 1])
