"""Newton's steps on sparse rows are the shortest ones."""

import numpy as np
import scipy.sparse as ss

from zwang.linalg.newton import nearby_root, nearest_root
from zwang.linalg.sparse.steps import shortest


def test_the_step_is_that_of_the_pseudoinverse_where_rows_are_redundant_too():
    J = np.random.default_rng(0).standard_normal((6, 20))
    J = np.vstack([J, J[0] + J[1], J[2]])
    J /= np.linalg.norm(J, axis=1)[:, None]
    f = J @ np.random.default_rng(1).standard_normal(20)
    np.testing.assert_allclose(shortest(ss.csr_array(J), f), np.linalg.pinv(J) @ f, atol=1e-12)


def test_roots_are_those_of_the_dense_steps():
    def circles(x):
        pairs = x.reshape(-1, 2)
        J = np.zeros((len(pairs), len(x)))
        for i, pair in enumerate(pairs):
            J[i, 2 * i : 2 * i + 2] = 2 * pair
        return (pairs**2).sum(axis=1) - 1, J

    def sparsely(x):
        f, J = circles(x)
        return f, ss.csr_array(J)

    begin = np.random.default_rng(2).uniform(0.5, 1.5, 40)
    for dense, sparse in (
        (nearest_root(circles, begin, 1e-14), nearest_root(sparsely, begin, 1e-14)),
        (nearby_root(circles, begin, 0.1, 1e-14), nearby_root(sparsely, begin, 0.1, 1e-14)),
    ):
        assert dense[1]
        assert sparse[1]
        np.testing.assert_allclose(sparse[0], dense[0], atol=1e-12)
