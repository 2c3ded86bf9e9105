"""Straight-line code for several lanes at once: the same instructions on vectors instead of numbers.

A lane is one of several evaluations made at the same time. An array holds its components one after another and of each
component the values of all lanes. Every lane gets the bits that the code for one number gives: nothing is contracted
here either. Functions that are not the processor's own are called lane by lane.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from zwang.compile.code import BOTH

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

    # Nobody promises more than the alignment of a number.
    return _MEMORY.sub(lambda found: f"{found[0]}, align 8", _PARTS.sub(wide, text))


def wide_functions(called: Mapping[str, int], width: int, pointer: str) -> list[str]:
    """The functions that widened instructions call, beside those for one number, which they call in turn."""
    functions = []
    for name, count in called.items():
        wide, kind = _wide_name(name, width), f"<{width} x double>"
        if name == BOTH:
            functions.append(_both(wide, width, pointer))
        elif name.startswith(_OWN):
            functions.append(f"declare {kind} @{wide}({', '.join([kind] * count)}) #0")
        else:
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


def _both(wide: str, width: int, pointer: str) -> str:
    """Sines and cosines, each written into a vector."""
    kind, place = f"<{width} x double>", pointer.replace("double", f"<{width} x double>")
    lines = [f"%{name} = bitcast {place} %to_{name} to {pointer}" for name in "sc"]
    for lane in range(width):
        lines.append(f"%x{lane} = extractelement {kind} %a, i64 {lane}")
        lines += [f"%{name}{lane} = getelementptr double, {pointer} %{name}, i64 {lane}" for name in "sc"]
        lines.append(f"call void @{BOTH}(double %x{lane}, {pointer} %s{lane}, {pointer} %c{lane})")
    head = f"define internal void @{wide}({kind} %a, {place} %to_s, {place} %to_c) #1 {{"
    return "\n".join([head, *lines, "ret void", "}"])
