"""Powers for the step size: ten digits in a few operations, the same bits for one number and for lanes of them.

The C library's power takes several times as long and knows no lanes; a step size needs three digits.
"""

import math
import struct
from typing import Any, Final

from llvmlite import ir

from zwang.compile.restricted import Number, intrinsic
from zwang.compile.restricted.module import FLOAT, INT, spread

_FRACTION: Final = 52  # bits of a double behind its exponent
_ROOT: Final = struct.unpack("<q", struct.pack("<d", math.sqrt(0.5)))[0]
_LOGARITHM: Final = [2 / ((2 * k + 1) * math.log(2)) for k in range(6)]
"""log2 m = Σ c_k s^(2k + 1) with s = (m - 1)/(m + 1); for √½ <= m < √2 the rest is below 1e-10."""
_EXPONENTIAL: Final = [math.log(2) ** k / math.factorial(k) for k in range(10)]
"""2^r = Σ c_k r^k; for |r| <= ½ the rest is below 1e-11."""


@intrinsic
def power(builder: Any, x: Number, exponent: float) -> Number:
    """x^exponent for a positive x and a result that is neither tiny nor huge."""
    value: Any = x  # one of LLVM's
    kind = value.type
    whole = ir.VectorType(INT, kind.count) if kind != FLOAT else INT
    fraction = spread(builder, INT(_FRACTION), whole)

    def number(value: float) -> Any:
        return spread(builder, FLOAT(value), kind)

    def polynomial(coefficients: list[float], at: Any) -> Any:
        total = number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = builder.fadd(builder.fmul(total, at), number(c))
        return total

    # x = 2^e m with √½ <= m < √2
    bits = builder.bitcast(value, whole)
    e = builder.ashr(builder.sub(bits, spread(builder, INT(_ROOT), whole)), fraction)
    m = builder.bitcast(builder.sub(bits, builder.shl(e, fraction)), kind)
    s = builder.fdiv(builder.fsub(m, number(1.0)), builder.fadd(m, number(1.0)))
    logarithm = builder.fmul(s, polynomial(_LOGARITHM, builder.fmul(s, s)))
    logarithm = builder.fadd(builder.sitofp(e, kind), logarithm)
    # 2^y = 2^n 2^r with |r| <= ½
    y = builder.fadd(builder.fmul(logarithm, spread(builder, exponent, kind)), number(0.5))
    n = builder.call(_floor(builder, kind), [y])
    r = builder.fsub(builder.fsub(y, n), number(0.5))
    mantissa = builder.bitcast(polynomial(_EXPONENTIAL, r), whole)
    result: Number = builder.bitcast(builder.add(mantissa, builder.shl(builder.fptosi(n, whole), fraction)), kind)
    return result


def _floor(builder: Any, kind: Any) -> Any:
    """LLVM's floor for a number or for lanes."""
    name = f"llvm.floor.{f'v{kind.count}' if kind != FLOAT else ''}f64"
    module = builder.module
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(kind, [kind]), name)
