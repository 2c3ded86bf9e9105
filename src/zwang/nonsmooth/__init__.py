"""Complementarity with friction: one problem, one law of blocks, one ladder of solvers. It knows no model.

    u = W f + c        rows in blocks, each with a law: equality, λ ≥ 0, Coulomb's cone, guide, dry friction

Accelerations after an instant, impacts, steps, moving back and switches at rest are right-hand sides c of this problem.
"""

from zwang.nonsmooth.active_set import in_mode, obeys
from zwang.nonsmooth.laws import Law, box, coulomb, equal, guide, push
from zwang.nonsmooth.problem import Answer, Mode, Part, Problem, Solution, combined, parts
from zwang.nonsmooth.response import Columns, Response, respond
from zwang.nonsmooth.solve import answer, solve
from zwang.nonsmooth.uniqueness import not_unique, range_along, range_of_forces, range_of_motion

__all__ = [
    "Answer",
    "Columns",
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
    "in_mode",
    "not_unique",
    "obeys",
    "parts",
    "push",
    "range_along",
    "range_of_forces",
    "range_of_motion",
    "respond",
    "solve",
]
