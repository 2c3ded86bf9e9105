"""Sparse mass matrices are judged as dense ones are: definite or not, and in which units."""

import numpy as np
import pytest
import scipy.sparse as ss

from zwang.linalg.masses import masses
from zwang.linalg.sparse.masses import blocks, free_acceleration, inverse_by_blocks, sparse_masses


def blocky(seed, sizes, singular=(), scale=True):
    """A block-diagonal M, of which some blocks are singular, coordinates in any order and at any scale."""
    rng = np.random.default_rng(seed)
    parts = []
    for k, size in enumerate(sizes):
        X = rng.standard_normal((size, size + 2))
        M = X @ X.T
        if k in singular:
            w, V = np.linalg.eigh(M)
            M = (V[:, 1:] * w[1:]) @ V[:, 1:].T
        parts.append(M)
    M = ss.block_diag(parts).toarray()
    order = rng.permutation(len(M))
    D = 2.0 ** rng.integers(-40, 41, len(M)) if scale else np.ones(len(M))
    return (M * D * D[:, None])[np.ix_(order, order)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("singular", [(), (2,), (0, 3)])
def test_blocks_are_definite_where_the_whole_is(seed, singular):
    M, A = blocky(seed, (3, 1, 4, 4, 2), singular, scale=not singular), np.zeros((0, 14))
    found, whole = sparse_masses(ss.csr_array(M), ss.csr_array(A)), masses(M[None], A[None])
    assert found.definite == whole.definite[0] == (not singular)
    np.testing.assert_array_equal(found.D, whole.D[0])
    np.testing.assert_array_equal(found.units, whole.units[0])
    assert len(found.singular) == len(singular)


def test_a_large_block_is_definite_or_not():
    rng = np.random.default_rng(0)
    n = 400
    tie = ss.diags_array([np.full(n, 2.0), np.full(n - 1, -1.0), np.full(n - 1, -1.0)], offsets=[0, 1, -1]).tolil()
    scale = ss.diags_array(2.0 ** rng.integers(-40, 41, n))
    none = ss.csr_array((0, n))
    assert sparse_masses((scale @ tie @ scale).tocsr(), none).definite
    tie[0, 0] = tie[n - 1, n - 1] = 1.0  # free ends: moving all together costs nothing
    assert not sparse_masses((scale @ tie @ scale).tocsr(), none).definite
    tie[0, 0] = 0.5
    assert not sparse_masses((scale @ tie @ scale).tocsr(), none).definite


def test_coordinates_without_mass_have_units_from_the_rows_that_they_are_in():
    M, A = np.diag([4.0, 0.0, 0.0, 0.0]), np.array([[4.0, 0.25, 0.0, 0.0], [0.0, 1.0, 8.0, 0.0]])
    found, whole = sparse_masses(ss.csr_array(M), ss.csr_array(A)), masses(M[None], A[None])
    np.testing.assert_array_equal(found.units, whole.units[0])


def test_the_inverse_and_free_accelerations_by_blocks():
    M = blocky(7, (3, 1, 4, 2), scale=False)
    Q = np.arange(10.0)
    np.testing.assert_allclose(inverse_by_blocks(ss.csr_array(M)).toarray() @ M, np.eye(10), atol=1e-10)
    mass = sparse_masses(ss.csr_array(M), ss.csr_array((0, 10)))
    np.testing.assert_allclose(free_acceleration(ss.csr_array(M), mass, Q), np.linalg.solve(M, Q), rtol=1e-10)
    assert sorted(size for size, groups in blocks(ss.csr_array(M)) for _ in groups) == [1, 2, 3, 4]


@pytest.mark.parametrize("seed", range(6))
def test_units_are_those_of_dense_matrices_however_rows_tie_coordinates_together(seed):
    rng = np.random.default_rng(seed)
    A = ss.random_array((30, 40), density=0.03, rng=rng).tocsr()
    A.data = A.data * 2.0 ** rng.integers(-20, 20, len(A.data))
    M = np.diag(np.where(rng.random(40) < 0.3, 1.0, 0.0))  # some groups have mass somewhere, some have none
    found, whole = sparse_masses(ss.csr_array(M), A), masses(M[None], A.toarray()[None])
    np.testing.assert_array_equal(found.units, whole.units[0])


def test_units_along_a_long_chain_without_mass_take_time_in_proportion():
    n = 4_000  # looked at all over again link by link, this took a minute
    M = ss.csr_array(ss.diags_array(np.concatenate([[1.0], np.zeros(2 * n - 1)])))
    here, there = np.resize([2.0, 1.0], n - 1), np.resize([1.0, 2.0], n - 1)
    links = ss.diags_array([here, there], offsets=[0, 1], shape=(n - 1, n))
    alone = ss.diags_array(np.full(n, 4.0))
    found = sparse_masses(M, ss.csr_array(ss.block_diag([links, alone])))
    assert found.units[:4].tolist() == [1.0, 0.5, 1.0, 0.5]
    assert (found.units[n:] == 4.0).all()
