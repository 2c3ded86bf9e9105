"""Linear systems for python-control."""

from typing import TYPE_CHECKING, Any

from zwang.errors import InputError
from zwang.words import listed

if TYPE_CHECKING:
    import xarray as xr


def to_control(lin: "xr.Dataset") -> Any:
    """A linear system as a `control.StateSpace` with the same names; needs the package python-control.

    ```text
    lin = zw.linearize(cart, upright, inputs=[F])
    K, _, poles = control.lqr(zw.to_control(lin), Q, R)
    ```
    """
    missing = [name for name in "ABCD" if name not in lin]
    if missing:
        raise InputError(f"to_control takes what zwang.linearize gives; this has no {listed(missing)}")
    stack = [str(name) for name in lin.A.dims if name not in ("state", "state_")]
    if stack:
        raise InputError(f"this is a stack along {listed(stack)}: choose one, as in lin.isel({stack[0]}=0)")
    try:
        import control
    except ImportError:
        raise InputError("to_control needs the package python-control: pip install control") from None
    names = {f"{kind}s": [str(x) for x in lin[kind].values] for kind in ("state", "input", "output")}
    return control.ss(lin.A.values, lin.B.values, lin.C.values, lin.D.values, **names)
