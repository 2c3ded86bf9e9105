"""The innermost sums of the step loop as machine code, written out with their coefficients.

A stage of a step is a sum of up to twelve rows with fixed weights. Here it is emitted as LLVM instructions from the
table of coefficients: one loop per stage, nonzero terms only, weights as literals, each row read once for position
and velocity together, and vectorised. `stage`, `combine` and `call` are functions for numba code only.
"""

# numba's and llvmlite's own interfaces are untyped, and so are functions written for numba.
# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-untyped-decorators=False

from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from zwang.motion import dop853

ERROR: Final = 0
DENSE: Final = 1

_P: Final = types.CPointer(types.float64)


def _sum(builder: Any, row: dop853.Row, values: dict[int, Any]) -> Any:
    """Σ_j row_j values_j with the coefficients as literals; fused multiply-add allowed, as C compilers do."""
    total = None
    for j, weight in row.items():
        term = builder.fmul(ir.Constant(ir.DoubleType(), weight), values[j], flags=("contract",))
        total = term if total is None else builder.fadd(total, term, flags=("contract",))
    return ir.Constant(ir.DoubleType(), 0.0) if total is None else total


class _Memory:
    """Loads and stores that promise LLVM that what a loop writes is never what it reads.

    Without the promise a loop over many rows is not vectorised: too many overlaps would have to be ruled out.
    """

    def __init__(self, builder: Any) -> None:
        module = builder.module
        domain = module.add_metadata([ir.MetaDataString(module, "zwang.stepper")])
        scope = module.add_metadata([ir.MetaDataString(module, "zwang.stepper.read"), domain])
        self.builder, self.scopes = builder, module.add_metadata([scope])

    def load(self, pointer: Any, index: Any) -> Any:
        value = self.builder.load(self.builder.gep(pointer, [index]))
        value.set_metadata("alias.scope", self.scopes)
        return value

    def store(self, value: Any, pointer: Any, index: Any) -> None:
        self.builder.store(value, self.builder.gep(pointer, [index])).set_metadata("noalias", self.scopes)


def _rows(builder: Any, k: Any, stride: Any, used: set[int]) -> dict[int, Any]:
    """Addresses of the rows used."""
    return {j: builder.gep(k, [builder.mul(stride, ir.Constant(stride.type, j))]) for j in sorted(used)}


@intrinsic
def stage(typing, s, new, new_low, now, low, h, k, stride, n):
    """new = state of stage s (12: the end of the step) from the state `now` and the accelerations in k.

    q_s = q + h c_s v + h² Σ_j ā_sj f_j,  v_s = v + h Σ_j a_sj f_j. The state is kept as an unevaluated sum
    now + low; at stage 12, new_low receives what rounding takes from new (two-sum).
    """

    def generate(context, builder, signature, arguments):
        number, new, new_low, now, low, h, k, stride, n = arguments
        done = builder.append_basic_block("stage.done")
        switch = builder.switch(number, done)
        for s in range(1, dop853.EXTENDED):
            block = builder.append_basic_block(f"stage.{s}")
            switch.add_case(ir.Constant(number.type, s), block)
            builder.position_at_end(block)
            memory = _Memory(builder)
            velocity = dop853.A[s]
            position = dop853.through(velocity)
            rows = _rows(builder, k, stride, {*velocity, *position})
            one = ir.Constant(n.type, 1)
            hc = builder.fmul(h, ir.Constant(h.type, dop853.C[s]))
            hh = builder.fmul(h, h)
            with cgutils.for_range(builder, n) as loop:
                i = loop.index
                f = {j: memory.load(row, i) for j, row in rows.items()}
                at_q, at_v = builder.add(one, i), builder.add(builder.add(one, n), i)
                q, v = memory.load(now, at_q), memory.load(now, at_v)
                low_q, low_v = memory.load(low, i), memory.load(low, builder.add(n, i))
                fuse = ("contract",)
                dq = builder.fmul(hh, _sum(builder, position, f), flags=fuse)
                dq = builder.fadd(builder.fmul(hc, v, flags=fuse), dq, flags=fuse)
                dv = builder.fmul(h, _sum(builder, velocity, f), flags=fuse)
                dq, dv = builder.fadd(low_q, dq, flags=fuse), builder.fadd(low_v, dv, flags=fuse)
                end_q, end_v = builder.fadd(q, dq), builder.fadd(v, dv)
                memory.store(end_q, new, at_q)
                memory.store(end_v, new, at_v)
                if s == dop853.STAGES:
                    for start, change, end, at in ((q, dq, end_q, i), (v, dv, end_v, builder.add(n, i))):
                        part = builder.fsub(end, start)
                        rest = builder.fsub(start, builder.fsub(end, part))
                        memory.store(builder.fadd(rest, builder.fsub(change, part)), new_low, at)
            builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(types.intp, _P, _P, _P, _P, types.float64, _P, types.intp, types.intp), generate


@intrinsic
def combine(typing, which, sums, sums_stride, k, stride, n):
    """Rows of sums = fixed linear combinations of the accelerations in k.

    ERROR: Σ E5 f, Σ E3 f, then the same through A for positions. DENSE: the four rows of D, and through A.
    """
    tables = {ERROR: [dop853.E5, dop853.E3], DENSE: list(dop853.D)}

    def generate(context, builder, signature, arguments):
        number, sums, sums_stride, k, stride, n = arguments
        done = builder.append_basic_block("combine.done")
        switch = builder.switch(number, done)
        for which, table in tables.items():
            block = builder.append_basic_block(f"combine.{which}")
            switch.add_case(ir.Constant(number.type, which), block)
            builder.position_at_end(block)
            memory = _Memory(builder)
            weights = table + [dop853.through(row) for row in table]
            rows = _rows(builder, k, stride, set().union(*weights))
            results = _rows(builder, sums, sums_stride, set(range(len(weights))))
            with cgutils.for_range(builder, n) as loop:
                f = {j: memory.load(row, loop.index) for j, row in rows.items()}
                for r, row in enumerate(weights):
                    memory.store(_sum(builder, row, f), results[r], loop.index)
            builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    return types.void(types.intp, _P, types.intp, _P, types.intp, types.intp), generate


@intrinsic
def call(typing, address, out, given, work):
    """The kernel at an address: it reads `given`, writes `out` and uses `work` as it likes."""

    def generate(context, builder, signature, arguments):
        address, out, given, work = arguments
        kernel = ir.FunctionType(ir.VoidType(), [out.type, given.type, work.type]).as_pointer()
        builder.call(builder.inttoptr(address, kernel), [out, given, work])
        return context.get_dummy_value()

    return types.void(types.intp, _P, _P, _P), generate


@intrinsic
def pointer(typing, array, offset):
    """The address of the element at an offset. Bare addresses keep numba's code as small as C's.

    They do not keep the array alive: it must outlive the call, as a caller's array does.
    """

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return types.CPointer(array.dtype)(array, types.intp), generate


@intrinsic
def shift(typing, address, offset):
    """The address `offset` elements further on."""

    def generate(context, builder, signature, arguments):
        return builder.gep(arguments[0], [arguments[1]])

    return address(address, types.intp), generate
