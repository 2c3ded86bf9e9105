"""The papers: one equation of motion a file, for arrays (stacks of them) and for SymPy matrices.

Nothing here knows of models: any source of M, Q, A, b and C will do.
"""

from zwang.formulations.solution import Residuals, Solution
from zwang.formulations.solve import FORMS, solve

__all__ = ["FORMS", "Residuals", "Solution", "solve"]
