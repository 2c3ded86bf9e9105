"""From a system to M, Q, A, b and C, once in code, in SymPy for people and in SymEngine for machines."""

from zwang.equations.equations import Equations, derive

__all__ = ["Equations", "derive"]
