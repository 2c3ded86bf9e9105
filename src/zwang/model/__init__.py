"""What a system is: coordinates, energies or matrices, constraints, nonideal terms. No numbers."""

from zwang.model.constraint import Constraint
from zwang.model.system import System

__all__ = ["Constraint", "System"]
