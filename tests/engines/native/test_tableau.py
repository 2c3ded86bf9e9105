"""The coefficients of DOP853: SciPy's, and every order condition that they must obey."""

import math

import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as reference

from zwang.engines.native import tableau as dop853


def full(rows, length):
    result = np.zeros((len(rows), length))
    for i, row in enumerate(rows):
        for j, value in row.items():
            result[i, j] = value
    return result


A, C = full(dop853.A, 16), np.array(dop853.C)


def test_coefficients_are_those_of_scipy():
    assert np.array_equal(A, reference.A)
    assert np.array_equal(C, reference.C)
    assert np.array_equal(full([dop853.E5, dop853.E3], 13), [reference.E5, reference.E3])
    assert np.array_equal(full(dop853.D, 16), reference.D)


def trees(order):
    """Rooted trees with `order` nodes as sorted tuples of their subtrees."""
    if order == 1:
        return {()}
    return {tuple(sorted(forest)) for forest in forests(order - 1)}


def forests(nodes):
    if nodes == 0:
        return {()}
    return {
        tuple(sorted((tree, *rest)))
        for first in range(1, nodes + 1)
        for tree in trees(first)
        for rest in forests(nodes - first)
    }


def size(tree):
    return 1 + sum(size(branch) for branch in tree)


def density(tree):
    return size(tree) * math.prod(density(branch) for branch in tree)


def weights(tree, a):
    """Φ of the tree at every stage: the product over its branches of a Φ(branch)."""
    return math.prod((a @ weights(branch, a) for branch in tree), start=np.ones(len(a)))


@pytest.mark.parametrize("order", range(1, 9))
def test_every_order_condition_up_to_eight_holds(order):
    for tree in trees(order):
        assert A[12] @ weights(tree, A) == pytest.approx(1.0 / density(tree), abs=2e-15)


def test_the_embedded_solutions_have_orders_five_and_three():
    for row, order in ((dop853.E5, 5), (dop853.E3, 3)):
        weight = full([row], 16)[0]
        gaps = [max(abs(weight @ weights(tree, A)) for tree in trees(o)) for o in (order, order + 1)]
        assert gaps[0] < 1e-14
        assert gaps[1] > 1e-5


def test_nodes_are_row_sums_and_products_through_A_are_right():
    assert np.allclose(A.sum(axis=1), C, atol=1e-14)
    rows = [*dop853.A, *dop853.D, dop853.E5, dop853.E3]
    assert np.allclose(full([dop853.through(row) for row in rows], 16), full(rows, 16) @ A, atol=1e-12)
