"""Straight-line code for several lanes at once: the same instructions on vectors instead of numbers.

A lane is one of several evaluations made at the same time. An array holds its components one after another and of each
component the values of all lanes. Every lane gets the bits that the code for one number gives: nothing is contracted
here either. Only sine and cosine may differ in the last (`sines`), unless the same bits are asked for: then they are
called lane by lane, as are other functions that are not the processor's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from zwang.compile.code import BOTH, COSINE, SINE
from zwang.compile.sines import sine_and_cosine

LANES = 8
"""How many lanes there are: one register of 512 bits, two of 256 or four of 128. With several registers the processor
has work while it waits for a result. Measured on Zen 4 in time for a step of one lane of 3 masses on rods: with 512
bits 16 lanes gain a tenth over 8, but take twice as long to compile; with 256 bits 8 gain a quarter over 4, with 128
bits as much over 2, and no less than 4."""

_PARTS = re.compile(r"0x[0-9A-F]{16}|\b0\.0\b|\bdouble\b|(?<!%)\bi1\b|\btrue\b|\bfalse\b|@[\w.]+(?=\()")
_MEMORY = re.compile(r"(load <\d+ x double>|store <\d+ x double> %\w+), [^\n%]+%\w+")
_OWN = "llvm."  # functions that LLVM has for vectors too


def widened(text: str, called: Mapping[str, int], width: int) -> str:
    """Instructions on numbers as instructions on vectors of `width` of them.

    >>> widened("%v1 = fmul double %v0, 0x4000000000000000", {}, 2)
    '%v1 = fmul <2 x double> %v0, <double 0x4000000000000000, double 0x4000000000000000>'
    """

    def wide(found: re.Match[str]) -> str:
        part = found[0]
        if part in ("double", "i1"):
            return f"<{width} x {part}>"
        if part[0] == "@":
            return f"@{_wide_name(part[1:], width)}" if part[1:] in called else part
        kind = "i1" if part in ("true", "false") else "double"
        return f"<{', '.join([f'{kind} {part}'] * width)}>"

    # Arrays are aligned as single numbers are, not as vectors: LLVM would otherwise assume the latter.
    return _MEMORY.sub(lambda found: f"{found[0]}, align 8", _PARTS.sub(wide, text))


def wide_functions(called: Mapping[str, int], width: int, pointer: str, same_bits: bool = False) -> list[str]:
    """The functions that widened instructions call, beside those for one number, which they call in turn."""
    functions = []
    kind = f"<{width} x double>"
    own = {name: count for name, count in called.items() if name.startswith(_OWN)}
    if {SINE, COSINE} & called.keys() and not same_bits:
        own["llvm.fabs.f64"] = 1
    for name, count in own.items():
        functions.append(f"declare {kind} @{_wide_name(name, width)}({', '.join([kind] * count)}) #0")
    for name, count in called.items():
        wide = _wide_name(name, width)
        if name == BOTH and same_bits:
            functions.append(_both_lane_by_lane(wide, width, pointer))
        elif name in (SINE, COSINE) and not same_bits:
            functions += [_lane_by_lane(name, f"{wide}.odd", 1, width), _one(name, wide, width)]
        elif name == BOTH:
            functions.append(_both(wide, width, pointer))
        elif name not in own:
            functions.append(_lane_by_lane(name, wide, count, width))
    return functions


def _wide_name(name: str, width: int) -> str:
    return name.replace(".f64", f".v{width}f64") if name.startswith(_OWN) else f"{name}.lanes"


def _lane_by_lane(name: str, wide: str, count: int, width: int) -> str:
    """A function of vectors by as many calls of one of numbers."""
    kind = f"<{width} x double>"
    lines, total = list[str](), "undef"
    for lane in range(width):
        lines += [f"%x{k}_{lane} = extractelement {kind} %a{k}, i64 {lane}" for k in range(count)]
        given = ", ".join(f"double %x{k}_{lane}" for k in range(count))
        lines.append(f"%y{lane} = call double @{name}({given})")
        lines.append(f"%r{lane} = insertelement {kind} {total}, double %y{lane}, i64 {lane}")
        total = f"%r{lane}"
    arguments = ", ".join(f"{kind} %a{k}" for k in range(count))
    return "\n".join([f"define internal {kind} @{wide}({arguments}) #1 {{", *lines, f"ret {kind} {total}", "}"])


def _one(name: str, wide: str, width: int) -> str:
    """Sines or cosines."""
    kind, result = f"<{width} x double>", "%sine" if name == SINE else "%cosine"
    return f"""define internal {kind} @{wide}({kind} %a) #1 {{
entry:
{sine_and_cosine(width, "%a")}
{_some_odd(width)}
alone:
%theirs = call {kind} @{wide}.odd({kind} %a)
%mixed = select <{width} x i1> %odd, {kind} %theirs, {kind} {result}
ret {kind} %mixed
together:
ret {kind} {result}
}}"""


def _both(wide: str, width: int, pointer: str) -> str:
    """Sines and cosines, each written into a vector."""
    kind, place = f"<{width} x double>", pointer.replace("double", f"<{width} x double>")
    alone = ""
    for name, function, result in (("s", SINE, "%sine"), ("c", COSINE, "%cosine")):
        alone += f"%theirs_{name} = call {kind} @{_wide_name(function, width)}.odd({kind} %a)\n"
        alone += f"%mixed_{name} = select <{width} x i1> %odd, {kind} %theirs_{name}, {kind} {result}\n"
        alone += f"store {kind} %mixed_{name}, {place} %{name}, align 8\n"
    return f"""define internal void @{wide}({kind} %a, {place} %s, {place} %c) #1 {{
entry:
{sine_and_cosine(width, "%a")}
{_some_odd(width)}
alone:
{alone}ret void
together:
store {kind} %sine, {place} %s, align 8
store {kind} %cosine, {place} %c, align 8
ret void
}}"""


def _both_lane_by_lane(wide: str, width: int, pointer: str) -> str:
    """Sines and cosines, each written into a vector, by as many calls of the function for one angle."""
    kind, place = f"<{width} x double>", pointer.replace("double", f"<{width} x double>")
    lines = list[str]()
    for lane in range(width):
        lines.append(f"%x{lane} = extractelement {kind} %a, i64 {lane}")
        lines += [f"%{name}{lane} = getelementptr {kind}, {place} %{name}, i64 0, i64 {lane}" for name in "sc"]
        lines.append(f"call void @{BOTH}(double %x{lane}, {pointer} %s{lane}, {pointer} %c{lane})")
    head = f"define internal void @{wide}({kind} %a, {place} %s, {place} %c) #1 {{"
    return "\n".join([head, *lines, "ret void", "}"])


def _some_odd(width: int) -> str:
    """To `alone` if there is an odd lane, else to `together`."""
    return (
        f"%lanes = bitcast <{width} x i1> %odd to i{width}\n%some = icmp ne i{width} %lanes, 0\n"
        "br i1 %some, label %alone, label %together"
    )
