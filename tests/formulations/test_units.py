"""Units are a matter of taste: q = S q' and rows multiplied by R change M, Q, A, b, and nothing else.

M' = S M S, Q' = S Q, A' = R A S, b' = R b for powers of two commit no rounding, so that q̈ = S q̈' must hold to the last
bit, at every rank and for every M; and what is refused in one set of units is refused in all.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag

import zwang as zw
from tests.formulations.systems import FAMILIES, random_system, relative, truth
from tests.formulations.test_one_sided import random_contact
from tests.formulations.test_one_sided import sizes as contact_sizes
from tests.formulations.test_singular_mass import cases as singular_cases
from tests.formulations.test_singular_mass import random_singular
from zwang.errors import ZwangError

seeds = st.integers(0, 2**31)
sizes = st.tuples(seeds, st.integers(1, 7), st.integers(0, 8), st.sampled_from(FAMILIES))


def powers(draw, count):
    return 2.0 ** draw.integers(-40, 41, size=count)


def solved(M, Q, A, b, C, S, R, **choice):
    """The solution in other units, or the kind of refusal."""
    try:
        return zw.solve(M * S[:, None] * S, Q * S, A * S * R[:, None], b * R, C=C * S, **choice)
    except ZwangError as error:
        return type(error)


def require_alike(here, there, S, R):
    """The same solution in two sets of units; minimum-norm multipliers are a matter of the rows' units."""
    if isinstance(here, type):
        assert there is here
        return
    assert there.rank == here.rank
    np.testing.assert_array_equal(there.unique, here.unique)
    np.testing.assert_array_equal(there.acceleration * S, here.acceleration)
    np.testing.assert_array_equal(there.free_acceleration * S, here.free_acceleration)
    np.testing.assert_array_equal(there.gaussian, here.gaussian)
    np.testing.assert_array_equal((there.multipliers * R)[here.unique], here.multipliers[here.unique])
    np.testing.assert_array_equal(there.constraint_force / S, here.constraint_force)
    np.testing.assert_array_equal(there.ideal_force / S, here.ideal_force)
    np.testing.assert_array_equal(there.residuals.equilibrium, here.residuals.equilibrium)


@given(sizes, seeds)
def test_units_of_coordinates_and_rows_change_no_digit(size, seed):
    *size, family = size
    draw = np.random.default_rng(seed)
    s = random_system(*size, int(draw.integers(0, min(size[1:]) + 1)), family, nonideal=True)
    S, R = powers(draw, len(s.Q)), powers(draw, len(s.b))
    here, there = (solved(*s.given, s.C, *units) for units in ((S**0, R**0), (S, R)))
    assert here.rank == s.rank
    require_alike(here, there, S, R)
    assert relative(there.acceleration * S, truth(s).acceleration) <= 1e-12


@given(singular_cases, singular_cases, seeds)
def test_units_matter_no_more_where_M_is_singular(one, other, seed):
    """Coordinates that a singular M couples must have a common unit, as Euler parameters have; others need not."""
    first, second = random_singular(*one), random_singular(*other)
    M, A = (block_diag(first[i], second[i]) for i in (0, 2))
    Q, b, C = (np.concatenate([first[i], second[i]]) for i in (1, 3, 4))
    draw = np.random.default_rng(seed)
    S, R = np.repeat(powers(draw, 2), (len(first[1]), len(second[1]))), powers(draw, len(b))
    here, there = (solved(M, Q, A, b, C, *units) for units in ((S**0, R**0), (S, R)))
    assert here.rank == first[5] + second[5]
    require_alike(here, there, S, R)


@given(sizes, seeds)
def test_units_matter_no_more_for_coordinates_without_any_mass(size, seed):
    """A massless coordinate has no unit of inertia: its unit is told from the rows that it stands in."""
    *size, family = size
    draw = np.random.default_rng(seed)
    s = random_system(*size, int(draw.integers(0, min(size[1:]) + 1)), family, nonideal=True)
    massive = (draw.random(len(s.Q)) < 0.5).astype(float)
    M = s.M * massive[:, None] * massive
    S, R = powers(draw, len(s.Q)), powers(draw, len(s.b))
    require_alike(*(solved(M, s.Q, s.A, s.b, s.C, *units) for units in ((S**0, R**0), (S, R))), S, R)


@given(sizes, seeds, st.sampled_from(["gauss", "gibbs-appell", "lagrange", "generalized-inverse"]))
def test_units_matter_in_no_form(size, seed, form):
    *size, family = size
    draw = np.random.default_rng(seed)
    s = random_system(*size, int(draw.integers(0, min(size[1:]) + 1)), family)
    S, R = powers(draw, len(s.Q)), powers(draw, len(s.b))
    here, there = (solved(*s.given, s.C, *units, form=form) for units in ((S**0, R**0), (S, R)))
    np.testing.assert_array_equal(there.acceleration * S, here.acceleration)


@given(contact_sizes, seeds)
def test_units_matter_no_more_for_one_sided_rows(case, seed):
    M, Q, A, b, one_sided = random_contact(*case, margins=(0, 0, 1, 2))
    draw = np.random.default_rng(seed)
    S, R = powers(draw, len(Q)), powers(draw, len(b))
    here, there = (solved(M, Q, A, b, 0 * Q, *units, one_sided=one_sided) for units in ((S**0, R**0), (S, R)))
    require_alike(here, there, S, R)


def test_contradictions_are_found_in_all_units():
    s = random_system(7, 5, 6, 3)
    b = s.b.copy()
    b[5] += 1
    for seed in range(20):
        draw = np.random.default_rng(seed)
        S, R = powers(draw, 5), powers(draw, 6)
        assert solved(s.M, s.Q, s.A, b, s.C, S, R) is zw.errors.InconsistentError
