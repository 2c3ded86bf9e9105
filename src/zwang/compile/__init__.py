"""Staged SymEngine expressions to native kernels with named inputs and outputs.

::

    Program ──► translate ──► layout ──► native ──► Kernel
                (lines)      (module)   (LLVM)

Loops around kernels are written in Python and compiled as well: `restricted`. Large systems are made of loops over
small programs: `rolled`.
"""

from zwang.compile.kernel import Kernel, LaneKernel, compile_lanes, compile_program
from zwang.compile.program import Program
from zwang.compile.rolled.program import RolledProgram

AnyProgram = Program | RolledProgram
"""Straight-line code, or loops over small pieces of it."""


def straight(program: AnyProgram) -> Program:
    """A program without loops: only such a one can be differentiated, or translated for another engine."""
    assert isinstance(program, Program)
    return program


__all__ = [
    "AnyProgram",
    "Kernel",
    "LaneKernel",
    "Program",
    "RolledProgram",
    "compile_lanes",
    "compile_program",
    "straight",
]
