"""Tables: the value of a signal, or of one of its derivatives, at a time. Their layout: `zwang.model.signal`.

SymEngine writes them as `signal(handle, t)` and as derivatives of that with respect to t. The interval is found once
for all derivatives at one time: directly where intervals are equal, by halving elsewhere.
"""

from __future__ import annotations

NAME = "signal"
FIND = f"{NAME}.find"
HIGHEST = 3  # derivatives beyond are zero


def definitions(pointer: str) -> dict[str, str]:
    """The functions that read tables, as LLVM text, by name; `pointer` is how this LLVM writes the type of one."""
    values = {f"{NAME}.{order}": _value(order, pointer) for order in range(HIGHEST + 1)}
    return {FIND: _find(pointer)} | values


def _at(register: str, index: str, pointer: str) -> str:
    """Load one double of the table."""
    return (
        f"  %at_{register} = getelementptr double, {pointer} %table, i64 {index}\n"
        f"  %{register} = load double, {pointer} %at_{register}\n"
    )


def _open(pointer: str) -> str:
    """The table of a handle, and N."""
    return (
        f"  %address = fptosi double %handle to i64\n"
        f"  %table = inttoptr i64 %address to {pointer}\n"
        f"{_at('intervals', '0', pointer)}"
        f"  %n = fptosi double %intervals to i64\n"
    )


def _find(pointer: str) -> str:
    """The number of the piece that a time belongs to: 0 before the first time, N + 1 after the last."""
    return f"""
define internal double @{FIND}(double %handle, double %t) #2 {{
entry:
{_open(pointer)}{_at("rate", "1", pointer)}{_at("first", "2", pointer)}
  %end = add i64 %n, 2
{_at("last", "%end", pointer)}
  %late = fcmp ogt double %t, %last
  %beyond = add i64 %n, 1
  %beyond_number = sitofp i64 %beyond to double
  br i1 %late, label %after, label %perhaps
after:
  ret double %beyond_number
perhaps:
  %early = fcmp olt double %t, %first
  br i1 %early, label %before, label %within
before:
  ret double 0.0
within:
  ; times[low] <= t < times[high], or high = N; a guess for equal intervals is wrong by one at most
  %since = fsub double %t, %first
  %intervals_since = fmul double %since, %rate
  %guess = fptosi double %intervals_since to i64
  %guess_low = sub i64 %guess, 1
  %guess_high = add i64 %guess, 2
  %low_fits = icmp sgt i64 %guess_low, 0
  %high_fits = icmp slt i64 %guess_high, %n
  %bounded_low = select i1 %low_fits, i64 %guess_low, i64 0
  %bounded_high = select i1 %high_fits, i64 %guess_high, i64 %n
  %even = fcmp ogt double %rate, 0.0
  %start_low = select i1 %even, i64 %bounded_low, i64 0
  %start_high = select i1 %even, i64 %bounded_high, i64 %n
  br label %halve
halve:
  %low = phi i64 [ %start_low, %within ], [ %next_low, %more ]
  %high = phi i64 [ %start_high, %within ], [ %next_high, %more ]
  %width = sub i64 %high, %low
  %wide = icmp sgt i64 %width, 1
  br i1 %wide, label %more, label %found
more:
  %sum = add i64 %low, %high
  %middle = ashr i64 %sum, 1
  %index = add i64 %middle, 2
{_at("time", "%index", pointer)}
  %reached = fcmp ole double %time, %t
  %next_low = select i1 %reached, i64 %middle, i64 %low
  %next_high = select i1 %reached, i64 %high, i64 %middle
  br label %halve
found:
  %piece = add i64 %low, 1
  %piece_number = sitofp i64 %piece to double
  ret double %piece_number
}}"""


def _value(order: int, pointer: str) -> str:
    """A derivative of the piece at a time, by Horner's rule."""
    factors = {0: (1, 1, 1, 1), 1: (1, 2, 3), 2: (2, 6), 3: (6,)}[order]
    lines = ""
    for k, factor in enumerate(factors):
        lines += f"  %place{k} = add i64 %base, {order + k}\n{_at(f'c{k}', f'%place{k}', pointer)}"
        lines += f"  %f{k} = fmul double %c{k}, {float(factor)}\n"
    total = f"%f{len(factors) - 1}"
    for k in reversed(range(len(factors) - 1)):
        lines += f"  %x{k} = fmul double {total}, %x\n  %s{k} = fadd double %x{k}, %f{k}\n"
        total = f"%s{k}"
    return f"""
define internal double @{NAME}.{order}(double %handle, double %t, double %piece_number) #2 {{
{_open(pointer)}
  %piece = fptosi double %piece_number to i64
  %begun = icmp sgt i64 %piece, 0
  %before = add i64 %piece, 1
  %origin_index = select i1 %begun, i64 %before, i64 2
{_at("origin", "%origin_index", pointer)}
  %x = fsub double %t, %origin
  %four = mul i64 %piece, 4
  %head = add i64 %n, 3
  %base = add i64 %four, %head
{lines}  ret double {total}
}}"""
