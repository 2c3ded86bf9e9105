"""The innermost sums of the step loop as machine code, written out with their coefficients.

A stage of a step is a sum of up to twelve rows with fixed weights. Here it is emitted as LLVM instructions from the
table of coefficients: nonzero terms only, weights as literals, four components at a time, each row read once for
position and velocity together; where there are several runs side by side in lanes, one component of all of them at a
time. The sums are the same to the last bit. All functions here are for native functions only.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from llvmlite import ir

from zwang.compile.restricted import intrinsic
from zwang.compile.restricted.module import FLOAT, INT, counted, spread
from zwang.engines.native import tableau as dop853

ERROR: Final = 0
DENSE: Final = 1

_TABLES: Final = {ERROR: [dop853.E5, dop853.E3], DENSE: list(dop853.D)}
_TOGETHER: Final = 4
_FUSE: Final = ("contract",)  # a·b + c may be rounded once, as C compilers do by default


class _Wide:
    """Arithmetic on a few numbers at once, neighbouring components or lanes: literals, loads and stores of them."""

    def __init__(self, builder: Any, width: int) -> None:
        self.builder = builder
        self.type = FLOAT if width == 1 else ir.VectorType(FLOAT, width)

    def spread(self, value: Any) -> Any:
        return spread(self.builder, value, self.type)

    def literal(self, value: float) -> Any:
        return self.spread(FLOAT(value))

    def _place(self, array: Any, index: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(array, [index]), self.type.as_pointer())

    def load(self, array: Any, index: Any) -> Any:
        return self.builder.load(self._place(array, index), align=8)

    def store(self, value: Any, array: Any, index: Any) -> None:
        self.builder.store(value, self._place(array, index), align=8)

    def sum(self, start: Any, row: dop853.Row, values: dict[int, Any]) -> Any:
        """start + Σ_j row_j values_j; no start: the sum alone."""
        for j, weight in row.items():
            term = self.builder.fmul(self.literal(weight), values[j], flags=_FUSE)
            start = term if start is None else self.builder.fadd(start, term, flags=_FUSE)
        return self.literal(0.0) if start is None else start


def _for_each(builder: Any, memory: Any, n: Any, body: Callable[[_Wide, Any], None]) -> None:
    """body(wide, i) over all components 0 … n - 1 of what is in memory: of lanes each, of one run four at a time.

    Where n is not a multiple of four the last four overlap those before: the bodies read nothing they write, so doing
    a component twice does no harm.
    """
    if isinstance(memory.type.pointee, ir.VectorType):
        with counted(builder, INT(0), n, as_written=True) as loop:
            body(_Wide(builder, memory.type.pointee.count), loop.index)
        return
    with builder.if_else(builder.icmp_signed(">=", n, INT(_TOGETHER))) as (many, few):
        with many:
            groups = builder.udiv(builder.add(n, INT(_TOGETHER - 1)), INT(_TOGETHER))
            last = builder.sub(n, INT(_TOGETHER))
            with counted(builder, INT(0), groups) as loop:
                i = builder.mul(loop.index, INT(_TOGETHER))
                body(_Wide(builder, _TOGETHER), builder.select(builder.icmp_signed("<", i, last), i, last))
        with few, counted(builder, INT(0), n, as_written=True) as loop:
            body(_Wide(builder, 1), loop.index)


def _switch(builder: Any, number: Any, cases: Iterable[int], emit: Callable[[int], None]) -> None:
    """emit(case) for the case that `number` is when the code runs, or is already."""
    if isinstance(number, ir.Constant):
        emit(number.constant)
        return
    done = builder.append_basic_block("done")
    switch = builder.switch(number, done)
    for case in cases:
        block = builder.append_basic_block(f"case.{case}")
        switch.add_case(ir.Constant(number.type, case), block)
        builder.position_at_end(block)
        emit(case)
        builder.branch(done)
    builder.position_at_end(done)


def _rows(builder: Any, k: Any, stride: Any, used: Iterable[int]) -> dict[int, Any]:
    """Where the rows of k begin that are used."""
    return {j: builder.gep(k, [builder.mul(stride, ir.Constant(stride.type, j))]) for j in sorted(used)}


@intrinsic
def stage(
    builder: Any, s: Any, new: Any, new_low: Any, now: Any, low: Any, h: Any, k: Any, stride: Any, n: Any
) -> None:
    """new = state of stage s (12: the end of the step) from the state `now` and the accelerations in k.

    q_s = q + h c_s v + h² Σ_j ā_sj f_j,  v_s = v + h Σ_j a_sj f_j. The state is kept as an unevaluated sum
    now + low; at stage 12, new_low receives what rounding takes from new (two-sum).
    """
    one = INT(1)
    n1, hh = builder.add(n, one), builder.fmul(h, h)

    def emit(s: int) -> None:
        velocity, position = dop853.A[s], dop853.through(dop853.A[s])
        rows = _rows(builder, k, stride, {*velocity, *position})
        hc = builder.fmul(h, spread(builder, FLOAT(dop853.C[s]), h.type))

        def body(wide: _Wide, i: Any) -> None:
            f = {j: wide.load(row, i) for j, row in rows.items()}
            at_q, at_v, low_v = builder.add(i, one), builder.add(i, n1), builder.add(i, n)
            q, v = wide.load(now, at_q), wide.load(now, at_v)

            def scaled(factor: Any, value: Any, rest: Any) -> Any:
                product = builder.fmul(wide.spread(factor), value, flags=_FUSE)
                return builder.fadd(product, rest, flags=_FUSE)

            dq = scaled(hh, wide.sum(None, position, f), scaled(hc, v, wide.load(low, i)))
            dv = scaled(h, wide.sum(None, velocity, f), wide.load(low, low_v))
            for start, change, to, to_low in ((q, dq, at_q, i), (v, dv, at_v, low_v)):
                end = builder.fadd(start, change)
                wide.store(end, new, to)
                if s == dop853.STAGES:
                    part = builder.fsub(end, start)
                    rest = builder.fsub(start, builder.fsub(end, part))
                    wide.store(builder.fadd(rest, builder.fsub(change, part)), new_low, to_low)

        _for_each(builder, k, n, body)

    _switch(builder, s, range(1, dop853.EXTENDED), emit)


@intrinsic
def combine(builder: Any, which: Any, sums: Any, k: Any, stride: Any, n: Any) -> None:
    """Rows of sums (…, n) = fixed linear combinations of the accelerations in k.

    ERROR: Σ E5 f and Σ E3 f, then the same through A for positions. DENSE: the rows of D, and through A.
    """

    def emit(which: int) -> None:
        weights = _TABLES[which] + [dop853.through(row) for row in _TABLES[which]]
        rows = _rows(builder, k, stride, set().union(*weights))
        results = _rows(builder, sums, n, range(len(weights)))

        def body(wide: _Wide, i: Any) -> None:
            f = {j: wide.load(row, i) for j, row in rows.items()}
            for r, row in enumerate(weights):
                wide.store(wide.sum(None, row, f), results[r], i)

        _for_each(builder, k, n, body)

    _switch(builder, which, _TABLES, emit)
