"""Addresses in native functions: arrays there, parts of arrays, and kernels that are called."""

from typing import Any, TypeVar

from llvmlite import ir

from zwang.compile.restricted.decorators import Array, intrinsic
from zwang.compile.restricted.module import ARRAY

Memory = TypeVar("Memory")  # an Array or Rows


@intrinsic
def call(builder: Any, address: Any, out: Any, given: Any, work: Any) -> None:
    """The kernel at an address: it reads `given`, writes `out` and uses `work` as it likes."""
    kernel = ir.FunctionType(ir.VoidType(), [ARRAY, ARRAY, ARRAY]).as_pointer()
    arrays = [builder.bitcast(memory, ARRAY) for memory in (out, given, work)]
    builder.call(builder.inttoptr(address, kernel), arrays)


@intrinsic
def at(builder: Any, address: Any) -> Array:
    """An address kept as an integer, as the array it is. It keeps nothing alive: the caller does."""
    array: Array = builder.inttoptr(address, ARRAY)
    return array


@intrinsic
def shift(builder: Any, array: Memory, offset: Any) -> Memory:
    """The array from the element at `offset` on."""
    rest: Memory = builder.gep(array, [offset])
    return rest
