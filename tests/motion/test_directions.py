"""What forces at switches do to their rates: who of those that rest leads."""

import numpy as np
import pytest

from zwang.motion.directions import Directions


def test_of_dependent_switches_as_many_lead_as_are_independent():
    """Three frictions 1, 2, 3 on one freedom and one on another: shares are in the ratio c J, as of least length."""
    J = np.array([[1.0, 0], [-2.0, 0], [0.5, 0], [0, 1.0]])
    force = np.array([1.0, 2.0, 3.0, 5.0])
    found = Directions([4, 5, 6, 7], J, -force[:, None] * J, force, 1.0)
    lead, followers = found.followers([4, 5, 6, 7])
    assert len(lead) == 2
    assert 7 in lead
    shares = dict(zip([4, 5, 6], force[:3] * J[:3, 0], strict=True))
    [first] = [i for i in lead if i != 7]
    for i, ratios in followers.items():
        assert ratios[lead.index(first)] == pytest.approx(shares[i] / shares[first])
        assert ratios[lead.index(7)] == pytest.approx(0, abs=1e-15)
    assert found.followers([5, 7]) == ([5, 7], {})
