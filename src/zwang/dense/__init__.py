"""Small systems in machine code, one at a time: regular ones, and the multipliers of redundant rows; others by arrays."""

from zwang.dense.solve import solve, solve_named

__all__ = ["solve", "solve_named"]
