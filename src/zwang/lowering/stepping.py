"""What time stepping asks of a system: its matrices with a row for each slip, and the power that changes its energy."""

from dataclasses import dataclass

from zwang.compile import AnyProgram, Program
from zwang.lowering.cache import Kept
from zwang.lowering.lowered import Lowered
from zwang.lowering.matrices import MatrixKernel, kernel_of
from zwang.lowering.power import ledger
from zwang.lowering.rolled.families import rolled
from zwang.lowering.rolled.programs import add_up, nonideal_power, workspace_of

_STEPPED: Kept["Stepped"] = Kept()


@dataclass(frozen=True)
class Stepped:
    """A lowered system as time stepping sees it.

    `matrices` have the rows of all constraints, and behind them those of slips; `slips` says of which constraint each
    is. `ledger` gives Jacobi's energy and the power of given and nonideal forces and of explicit time.
    """

    matrices: MatrixKernel
    slips: tuple[int, ...]
    ledger: AnyProgram
    hastens: bool
    """Whether forces depend on velocities, or constraints at acceleration level may."""


def stepped(lowered: Lowered) -> Stepped:
    """The same, made once."""
    return _STEPPED.get(lowered, lambda: made(lowered))


def made(lowered: Lowered) -> Stepped:
    """The same, made."""
    description, whole = lowered.description, lowered
    if description.slips:
        whole = Lowered(description.with_slips_as_rows(), lowered.parameters)
    families = rolled(lowered)
    parts = [lowered] if families is None else [family.lowered for family in families.terms]
    hastens = 2 in description.orders or any(
        e.free_symbols & {*part.description.axes.v} for part in parts for e in (*part.derived.Q, *part.derived.C)
    )
    return Stepped(kernel_of(whole), tuple(i for i, _ in description.slips), ledger_program(lowered), hastens)


def ledger_program(lowered: Lowered) -> AnyProgram:
    """Jacobi's energy `jacobi`, and the `power` that changes it beside that of constraints (`power.ledger`)."""
    scalars: dict[str, tuple[int, ...]] = {"jacobi": (), "power": ()}
    if (families := rolled(lowered)) is not None:
        workspace = workspace_of(families)
        places = {name: workspace.block(1) for name in scalars}
        add_up(workspace, families, places["jacobi"], lambda part: ledger(part)[0])
        add_up(workspace, families, places["power"], lambda part: ledger(part)[1] + nonideal_power(part))
        return workspace.program(places, scalars)
    jacobi, power = ledger(lowered)
    return Program(lowered.inputs, {"jacobi": (jacobi,), "power": (power + nonideal_power(lowered),)}, scalars)
