"""Small systems in machine code: one that is regular, the multipliers of redundant rows; others by arrays."""

from zwang.dense.solve import solve, solve_named

__all__ = ["solve", "solve_named"]
