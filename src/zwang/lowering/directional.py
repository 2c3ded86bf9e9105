"""Derivatives of programs along one direction that is given in numbers: in time, state, parameters and contacts."""

import symengine as se

from zwang.compile import Program
from zwang.compile.tangent import tangent
from zwang.lowering.cache import Kept

_PROGRAMS: Kept[Program] = Kept()


def directional(program: Program, *of: str) -> Program:
    """A program with the derivatives of some outputs along a direction, one more input: t, q, v, p, contacts."""

    def build() -> Program:
        inputs = program.inputs
        variables = [*inputs["t"], *inputs["q"], *inputs["v"], *inputs["p"], *inputs.get("contact", ())]
        direction = tuple(se.Symbol(f"direction{i}") for i in range(len(variables)))
        whole = dict(inputs) | {"direction": direction}
        return tangent(program, [dict(zip(variables, direction, strict=True))], of=of, inputs=whole)

    return _PROGRAMS.get((program, of), build)
