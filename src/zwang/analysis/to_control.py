"""Linear systems for python-control."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zwang.errors import InputError
from zwang.model.has_system import HasSystem
from zwang.model.system import System
from zwang.words import listed

if TYPE_CHECKING:
    import xarray as xr

MEANT = "to_control(linearize(system, state, inputs=[…]))"


def to_control(lin: "xr.Dataset") -> Any:
    """A linear system as a `control.StateSpace` with the same names; needs python-control: pip install zwang[control].

    python-control allows no dots in names: `arm.angle` of a mechanism is called `arm_angle` there. Should another name
    be that already, it is `arm_angle_`.

    ```text
    lin = zw.linearize(cart, upright, inputs=[F])
    K, _, poles = control.lqr(zw.to_control(lin), Q, R)
    ```
    """
    import xarray as xr

    if isinstance(lin, System | HasSystem):
        raise InputError(f"to_control takes a linear system; this is a {type(lin).__name__}: {MEANT}")
    if not isinstance(lin, xr.Dataset):
        raise InputError(f"to_control takes what zwang.linearize gives, as in {MEANT}; got {type(lin).__name__}")
    missing = [name for name in "ABCD" if name not in lin]
    if missing:
        raise InputError(f"to_control takes what zwang.linearize gives; this has no {listed(missing)}")
    stack = [str(name) for name in lin.A.dims if name not in ("state", "state_")]
    if stack:
        raise InputError(f"this is a stack along {listed(stack)}: choose one, as in lin.isel({stack[0]}=0)")
    try:
        import control
    except ImportError:
        raise InputError("to_control needs the package python-control: pip install zwang[control]") from None
    names = {f"{kind}s": without_dots([str(x) for x in lin[kind].values]) for kind in ("state", "input", "output")}
    return control.ss(lin.A.values, lin.B.values, lin.C.values, lin.D.values, **names)


def without_dots(names: Sequence[str]) -> list[str]:
    """Names as python-control takes them, each of its own.

    >>> without_dots(["arm.x", "arm_x", "arm.x'"])
    ['arm_x_', 'arm_x', "arm_x'"]
    """
    taken = {name for name in names if "." not in name}
    found = []
    for name in names:
        new = name.replace(".", "_")
        while "." in name and new in taken:
            new += "_"
        taken.add(new)
        found.append(new)
    return found
