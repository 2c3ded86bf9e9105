"""Numbers of one run, or of all lanes of a group: what the one source of a step needs to be compiled for both.

Native functions. Where a number is in lanes so is what is made of it, and a choice is made in each lane by itself; for
one run these are plain doubles, and LLVM makes of a choice what it makes of any `if`.
"""

from typing import Any, overload

from llvmlite import ir

from zwang.compile.restricted import Array, Lanes, Mask, Number, Rows, Truth, intrinsic, native
from zwang.compile.restricted.module import FLOAT, INT, spread


@overload
def of(like: float, address: int) -> Array: ...
@overload
def of(like: Lanes, address: int) -> Rows: ...
@intrinsic
def of(builder: Any, like: Any, address: Any) -> Any:
    """An address kept as an integer, as the array of such numbers that it is."""
    return builder.inttoptr(address, like.type.as_pointer())


@intrinsic
def alike(builder: Any, like: Number, value: float) -> Number:
    """A number as there are others: in all lanes, if they are."""
    kind: Any = like
    wide: Number = spread(builder, value, kind.type)
    return wide


@intrinsic
def width(builder: Any, like: Number) -> int:
    """How many numbers such a number is: that of lanes, or one."""
    kind: Any = like
    count: int = INT(kind.type.count if isinstance(kind.type, ir.VectorType) else 1)
    return count


@overload
def choose(mask: bool, a: int, b: int) -> int: ...
@overload
def choose(mask: bool, a: float, b: float) -> float: ...
@overload
def choose(mask: Mask, a: Lanes | float, b: Lanes | float) -> Lanes: ...
@intrinsic
def choose(builder: Any, mask: Any, a: Any, b: Any) -> Any:
    """a where the mask holds, b elsewhere."""
    return builder.select(mask, *_both(builder, a, b, mask))


@overload
def larger(a: float, b: float) -> float: ...
@overload
def larger(a: Lanes, b: Lanes | float) -> Lanes: ...
@overload
def larger(a: float, b: Lanes) -> Lanes: ...
@intrinsic
def larger(builder: Any, a: Any, b: Any) -> Any:
    """The larger of two numbers; b if one of them is NaN."""
    a, b = _both(builder, a, b)
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


@overload
def smaller(a: float, b: float) -> float: ...
@overload
def smaller(a: Lanes, b: Lanes | float) -> Lanes: ...
@overload
def smaller(a: float, b: Lanes) -> Lanes: ...
@intrinsic
def smaller(builder: Any, a: Any, b: Any) -> Any:
    """The smaller of two numbers; b if one of them is NaN."""
    a, b = _both(builder, a, b)
    return builder.select(builder.fcmp_ordered("<", a, b), a, b)


def _both(builder: Any, a: Any, b: Any, mask: Any = None) -> tuple[Any, Any]:
    """Two numbers as one type: in lanes, if one of them or the mask is."""
    kinds = [value.type for value in (a, b, mask or a) if isinstance(value.type, ir.VectorType)]
    if not kinds:
        return a, b
    wide = ir.VectorType(FLOAT, kinds[0].count)
    return _spread(builder, a, wide), _spread(builder, b, wide)


def _spread(builder: Any, number: Any, wide: Any) -> Any:
    """A number in lanes; an integer becomes a double, as all numbers in lanes are."""
    return spread(builder, builder.sitofp(number, FLOAT) if number.type == INT else number, wide)


@intrinsic
def bits(builder: Any, mask: Truth) -> int:
    """A mask as a number: bit k is set where lane k holds; 0 if it holds nowhere."""
    given: Any = mask
    if isinstance(given.type, ir.VectorType):
        given = builder.bitcast(given, ir.IntType(given.type.count))
    number: int = builder.zext(given, INT)
    return number


@native
def square(a: Number) -> Number:
    """a²."""
    return a * a


@native
def two_sum(a: Number, b: Number) -> tuple[Number, Number]:
    """a + b rounded, and exactly what rounding took away."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
