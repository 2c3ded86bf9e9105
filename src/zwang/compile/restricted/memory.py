"""Addresses in native functions: arrays there, parts of arrays, and kernels that are called."""

from typing import Any, TypeVar

from llvmlite import ir

from zwang.compile.lanes import LANES
from zwang.compile.restricted.decorators import Array, Lanes, intrinsic
from zwang.compile.restricted.module import ARRAY, FLOAT, INT

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


@intrinsic
def neighbours(builder: Any, array: Array, index: int) -> Lanes:
    """As many numbers of an array as there are lanes, from an element on."""
    found: Lanes = builder.load(_vector(builder, array, index), align=8)
    return found


@intrinsic
def put_neighbours(builder: Any, array: Array, index: int, values: Lanes) -> None:
    """Write as many numbers of an array as there are lanes, from an element on."""
    builder.store(values, _vector(builder, array, index), align=8)


@intrinsic
def gathered(builder: Any, array: Array, places: Any) -> Lanes:
    """The numbers of an array at as many places as there are lanes, from one of a table of integers on."""
    found: Any = ir.Constant(ir.VectorType(FLOAT, LANES), ir.Undefined)
    for lane in range(LANES):
        place = builder.load(builder.gep(places, [INT(lane), ir.IntType(32)(0)]))
        found = builder.insert_element(found, builder.load(builder.gep(array, [place])), ir.IntType(32)(lane))
    result: Lanes = found
    return result


def _vector(builder: Any, array: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(array, [index]), ir.VectorType(FLOAT, LANES).as_pointer())


@intrinsic
def whole_lanes(builder: Any, index: int) -> int:
    """The largest multiple of the number of lanes that is not above an index."""
    found: int = builder.and_(index, INT(-LANES))
    return found


@intrinsic
def total(builder: Any, values: Lanes) -> float:
    """The sum over all lanes: of halves, then of their halves, and so on."""
    left: Any = values
    size = LANES
    while size > 1:
        size //= 2
        nothing = ir.Constant(left.type, ir.Undefined)
        halves = [
            ir.Constant(ir.VectorType(ir.IntType(32), size), list(range(begin, begin + size))) for begin in (0, size)
        ]
        left = builder.fadd(*(builder.shuffle_vector(left, nothing, half) for half in halves))
    found: float = builder.extract_element(left, ir.IntType(32)(0))
    return found


@intrinsic
def aligned(builder: Any, array: Array) -> Array:
    """The array from the first element on that lies at a multiple of the size of all lanes."""
    size = 8 * LANES
    address = builder.add(builder.ptrtoint(array, INT), INT(size - 1))
    found: Array = builder.inttoptr(builder.and_(address, INT(-size)), ARRAY)
    return found
