"""One small system at a time, solved in machine code where it is regular; elsewhere by the papers' formulations."""

from zwang.dense.solve import solve, solve_named

__all__ = ["solve", "solve_named"]
