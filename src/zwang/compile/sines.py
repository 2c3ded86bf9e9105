"""Sine and cosine of all lanes at once, as LLVM text: the C library has them for one angle only.

The angle is brought into [-π/4, π/4] by a multiple n of π/2, subtracted in three pieces so that 100 bits are right, and
a polynomial of degree 13 or 14 takes its sine and cosine; both are wrong by less than 0.8 units in the last place.
Angles beyond 800,000, and those so near a multiple of π/2 that subtracting it leaves few digits, go to the C library,
each by itself: what a lane gets depends on nothing but its angle.

Reference: the reduction and the polynomials are those of Sun's fdlibm (e_rem_pio2.c, k_sin.c, k_cos.c, 1993).
"""

# The constants and the scheme are those of fdlibm, under this notice (see also NOTICE):
#
# Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
# Developed at SunSoft, a Sun Microsystems, Inc. business.
# Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is
# preserved.

from __future__ import annotations

import struct
from collections.abc import Callable

TWO_OVER_PI = 6.36619772367581382433e-01
PIECES = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)  # π/2: 33 + 33 + 53 bits
SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
ROUNDS = 1.5 * 2.0**52  # added to a number, it leaves the nearest whole one in the last bits
MOST = 2.0**19  # multiples of π/2
NEAREST = 2.0**-20


def sine_and_cosine(width: int, angle: str) -> str:
    """Lines that put sine and cosine of a vector into %sine and %cosine; %odd says which lanes need the C library."""
    vector, whole, truth = (f"<{width} x {kind}>" for kind in ("double", "i64", "i1"))
    lines: list[str] = []

    def put(instruction: str, name: str = "") -> str:
        register = f"%{name or f't{len(lines)}'}"
        lines.append(f"{register} = {instruction}")
        return register

    def number(value: float) -> str:
        return _everywhere(f"double 0x{struct.pack('>d', value).hex().upper()}", width)

    def integer(value: int) -> str:
        return _everywhere(f"i64 {value}", width)

    def operation(kind: str) -> Callable[[str, str], str]:
        return lambda a, b: put(f"{kind} {vector} {a}, {b}")

    add, sub, mul = operation("fadd"), operation("fsub"), operation("fmul")
    # In polynomials a product and the sum with it may be rounded at once.
    joined_add, joined_mul = operation("fadd contract"), operation("fmul contract")

    def polynomial(coefficients: tuple[float, ...], z: str) -> str:
        total = number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = joined_add(joined_mul(total, z), number(c))
        return total

    # n, the multiple of π/2 next to the angle
    rounded = add(mul(angle, number(TWO_OVER_PI)), number(ROUNDS))
    n = sub(rounded, number(ROUNDS))
    # x + y, the angle less n·π/2
    first, second, third = map(number, PIECES)
    near, part = sub(angle, mul(n, first)), mul(n, second)
    rest = sub(near, part)
    tail = sub(mul(n, third), sub(sub(near, rest), part))
    x = sub(rest, tail)
    y = sub(sub(rest, x), tail)
    z = mul(x, x)
    # sin(x + y) = x - ((z (y/2 - z x S) - y) - z x s_0),   S = s_1 + s_2 z + …
    cube = mul(z, x)
    inner = sub(mul(y, number(0.5)), mul(cube, polynomial(SINE[1:], z)))
    sine = sub(x, sub(sub(mul(z, inner), y), mul(cube, number(SINE[0]))))
    # cos(x + y) = w + ((1 - w - z/2) + (z² C - x y)),   w = 1 - z/2,   C = c_0 + c_1 z + …
    half = mul(z, number(0.5))
    w = sub(number(1.0), half)
    small = sub(mul(z, mul(z, polynomial(COSINE, z))), mul(x, y))
    cosine = add(w, add(sub(sub(number(1.0), w), half), small))
    # n odd exchanges them; the second bit of n is the sign of the sine, that of n + 1 of the cosine
    bits = put(f"bitcast {vector} {rounded} to {whole}")
    swap = put(f"trunc {whole} {bits} to {truth}")
    further = put(f"add {whole} {bits}, {integer(1)}")
    for name, a, b, turns in (("sine", sine, cosine, bits), ("cosine", cosine, sine, further)):
        chosen = put(f"select {truth} {swap}, {vector} {b}, {vector} {a}")
        sign = put(f"shl {whole} {put(f'and {whole} {turns}, {integer(2)}')}, {integer(62)}")
        signed = put(f"xor {whole} {put(f'bitcast {vector} {chosen} to {whole}')}, {sign}")
        put(f"bitcast {whole} {signed} to {vector}", name)
    # What is not a number is not below any.
    size, distance = (put(f"call {vector} @llvm.fabs.v{width}f64({vector} {v})") for v in (n, x))
    clear = put(f"fcmp ogt {vector} {distance}, {number(NEAREST)}")
    clear = put(f"or {truth} {clear}, {put(f'fcmp oeq {vector} {n}, {number(0.0)}')}")
    suits = put(f"and {truth} {clear}, {put(f'fcmp olt {vector} {size}, {number(MOST)}')}")
    put(f"xor {truth} {suits}, {_everywhere('i1 true', width)}", "odd")
    return "\n".join(lines)


def _everywhere(value: str, width: int) -> str:
    return f"<{', '.join([value] * width)}>"
