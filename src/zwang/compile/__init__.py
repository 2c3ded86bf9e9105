"""Staged SymEngine expressions to native kernels with named inputs and outputs.

::

    Program ──► translate ──► layout ──► native ──► Kernel
                (lines)      (module)   (LLVM)

Loops around kernels are written in Python and compiled as well: `restricted`.
"""

from zwang.compile.kernel import Kernel, LaneKernel, compile_lanes, compile_program
from zwang.compile.program import Program

__all__ = ["Kernel", "LaneKernel", "Program", "compile_lanes", "compile_program"]
