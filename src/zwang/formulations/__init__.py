"""The papers: one equation of motion a file, for arrays (stacks of them) and for SymPy matrices.

Nothing here knows of models: any source of M, Q, A, b and C will do.
"""

from zwang.formulations.forms import FORMS, Form

__all__ = ["FORMS", "Form"]
