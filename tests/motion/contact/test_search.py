"""Modes of many rough contacts, found by exchange: the same as by trying all."""

from dataclasses import replace

import numpy as np

from zwang.motion.contact import search
from zwang.motion.contact.problem import BACK, CLOSED, FORTH, OPEN, STICK, Problem, Surface
from zwang.motion.contact.rough import solutions
from zwang.motion.contact.search import some_of


def random_problem(seed):
    """Some contacts of a system with as many freedoms as rows, most of them pressed."""
    rng = np.random.default_rng(seed)
    count, n = 4, 9
    root = rng.normal(size=(n, n))
    M = root @ root.T / n + np.eye(n)
    surfaces = []
    for k in range(count):
        rows = rng.normal(size=(2, n))
        may = ((OPEN, CLOSED), (OPEN, STICK, FORTH, BACK), (OPEN, FORTH))[k % 3]
        tangent = None if CLOSED in may else rows[1]
        surfaces.append(Surface(k, rows[0], rng.normal(), tangent, rng.normal(), 0.3, 0.3, may, FORTH in may[1:2]))
    return Problem(M, rng.normal(size=n), np.zeros((0, n)), np.zeros(0), tuple(surfaces))


def test_any_number_of_modes_is_counted():
    problem = random_problem(1)
    assert replace(problem, surfaces=problem.surfaces[2:3] * 64).count == 2**64


def test_what_is_found_by_exchange_is_a_solution_and_nearly_always_one_is_found(monkeypatch):
    problems = [random_problem(seed) for seed in range(40)]
    known = [solutions(problem) for problem in problems]
    monkeypatch.setattr(search, "MOST_MODES", 1)
    missed = 0
    for problem, all_of_them in zip(problems, known, strict=True):
        found = some_of(problem)
        missed += len(all_of_them) == 1 and not found
        for one in found:
            size = 1e-9 * max(1, np.abs(one.x).max())
            assert any(np.abs(one.x - other.x).max() < size for other in all_of_them)
    assert missed <= 2
