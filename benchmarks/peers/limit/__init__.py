"""The limit, compiled: `limit.c` with the header of a problem, and the coefficients of the method."""

import ctypes
import subprocess
import tempfile
from pathlib import Path

from scipy.integrate._ivp import dop853_coefficients as table

HERE = Path(__file__).parent


def compiled(header: str, *defines: str) -> ctypes.CDLL:
    """The shared library of a header: `integrate(y, t, end, tol)` and `ensemble(y, count, t, end, tol)`."""
    folder = Path(tempfile.mkdtemp())
    (folder / "coefficients.h").write_text(coefficients())
    library = folder / "limit.so"
    options = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC", f"-I{folder}", f"-I{HERE}"]
    named = [f'-DPROBLEM="{header}"', *(f"-D{define}" for define in defines)]
    subprocess.run(["gcc", *options, *named, "-o", str(library), str(HERE / "limit.c"), "-lm"], check=True)
    code = ctypes.CDLL(str(library))
    code.integrate.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_double]
    code.integrate.restype = ctypes.c_long
    code.ensemble.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_double, ctypes.c_double, ctypes.c_double]
    return code


def coefficients() -> str:
    """The tableau of the method, from SciPy's."""
    rows = {"A": table.A[:12, :12], "B": table.B, "C": table.C[:12], "E3": table.E3, "E5": table.E5}
    lines = []
    for name, values in rows.items():
        shape = "".join(f"[{k}]" for k in values.shape)
        numbers = str(values.tolist()).replace("[", "{").replace("]", "}")
        lines.append(f"static const double {name}{shape} = {numbers};")
    return "\n".join(lines)
