"""Programs over families of forces."""

import numpy as np
import pytest

from zwang.motion.contact.split import fairest


def test_the_fairest_split_of_friction_goes_by_bounds_and_stays_so():
    # two feet, N = (1, 3), friction 2 to share: forces are (N1, N2, F1, F2), conditions μN ± F with μ = 0.6
    family = np.array([[0.0], [0.0], [1.0], [-1.0]]) / np.sqrt(2)
    conditions = np.array([[0.6, 0, 1, 0], [0.6, 0, -1, 0], [0, 0.6, 0, 1], [0, 0.6, 0, -1]])
    given = np.array([1.0, 3.0, 2.0, 0.0])
    best = fairest(given, family, conditions, 3.0)
    split = best.shares @ given + best.beside
    assert split[2] + split[3] == pytest.approx(2.0)
    assert (conditions @ split).min() == pytest.approx(0.2)  # (0.6 · 4 − 2) / 2
    more = best.shares @ np.array([1.0, 3.0, 2.4, 0.0])
    assert (conditions @ more).min() == pytest.approx(0.0, abs=1e-12)  # all of it is used up at once
    assert len(best.decisive) == 2
