"""Complementarity with friction: one problem, one law of blocks, one ladder of solvers. It knows no model.

    u = W f + c        rows in blocks, each with a law: equality, λ ≥ 0, Coulomb's cone, guide, dry friction

Accelerations after an instant, impacts, steps, moving back and switches at rest are right-hand sides c of this problem.
"""

from zwang.nonsmooth.laws import Law, box, coulomb, equal, guide, push
from zwang.nonsmooth.problem import Answer, Mode, Part, Problem, Solution, combined, parts
from zwang.nonsmooth.response import Response, respond
from zwang.nonsmooth.solve import answer, solve
from zwang.nonsmooth.uniqueness import not_unique, range_of_forces, range_of_motion

__all__ = [
    "Answer",
    "Law",
    "Mode",
    "Part",
    "Problem",
    "Response",
    "Solution",
    "answer",
    "box",
    "combined",
    "coulomb",
    "equal",
    "guide",
    "not_unique",
    "parts",
    "push",
    "range_of_forces",
    "range_of_motion",
    "respond",
    "solve",
]
