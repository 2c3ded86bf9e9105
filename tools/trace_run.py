"""How many functions and files of the package a run goes through: what a reader must follow who asks what it does.

    python tools/trace_run.py              the runs of the table, each in a process of its own
    python tools/trace_run.py ball         one of them, with its files and how many functions of each are called

Counted are functions by file and name, with comprehensions and lambdas, that are called at least once in Python: what a
kernel does in machine code is one call, and what modules do when they are imported is none.
"""

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import zwang

ROOT = Path(zwang.__file__).parent
Run = Callable[[], object]

PENDULUM = Path(__file__).parents[1] / "src" / "zwang" / "examples" / "pendulum.toml"
URDF = """<robot name="pendulum"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="pin" type="continuous">
<parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


def pendulum_again() -> Run:
    """A pendulum's second `simulate`: everything is compiled."""
    import zwang as zw

    x, y = zw.coordinates("x y")
    energies = {"kinetic": (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2, "potential": 9.81 * y}
    system = zw.System((x, y), **energies, constraints={"rod": x**2 + y**2 - 1})
    start = {x: 1, y: 0, zw.dot(x): 0, zw.dot(y): 0}
    zw.simulate(system, start, until=1.0, samples=11)
    return lambda: zw.simulate(system, start, until=1.0, samples=11)


def ball_that_rubs() -> Run:
    """A ball that bounces on a rough floor, slides, and rests, for the second time."""
    import zwang as zw

    x, y = zw.coordinates("x y")
    law: dict[str, Any] = {"friction": 0.3, "restitution": 0.5, "slip": zw.dot(x)}
    floor = zw.Constraint(y >= 0, "floor", **law)
    energies = {"kinetic": (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2, "potential": 9.81 * y}
    ball = zw.System((x, y), **energies, constraints=[floor])
    start = {x: 0, y: 0.4, zw.dot(x): 1, zw.dot(y): 0}
    zw.simulate(ball, start, until=2.0, samples=11)
    return lambda: zw.simulate(ball, start, until=2.0, samples=11)


def toml_pendulum() -> Run:
    """Loading a pendulum from a TOML file."""
    import zwang as zw

    return lambda: zw.load_model(PENDULUM)


def one_body_urdf() -> Run:
    """The first start of a URDF with one body: read, put together, compiled, and run for a moment."""
    import zwang as zw
    from zwang import multibody as mb

    path = Path(tempfile.mkdtemp()) / "pendulum.urdf"
    path.write_text(URDF, encoding="utf-8")
    return lambda: zw.simulate(mb.read_urdf(path), until=0.1, samples=2)


RUNS: dict[str, Callable[[], Run]] = {
    "pendulum": pendulum_again,
    "ball": ball_that_rubs,
    "toml": toml_pendulum,
    "urdf": one_body_urdf,
}


def traced(name: str) -> Counter[tuple[str, str]]:
    """The functions that a run calls in this process, by file and name, and how often."""
    run, counts, importing = RUNS[name](), Counter[tuple[str, str]](), 0

    def listen(frame: FrameType, event: str, _: Any) -> None:
        """Count a call, as `sys.setprofile` tells it, unless a module is being imported."""
        nonlocal importing
        code = frame.f_code
        if code.co_name == "<module>" and event in ("call", "return"):
            importing += 1 if event == "call" else -1
        elif event == "call" and not importing and code.co_filename.startswith(str(ROOT)):
            counts[Path(code.co_filename).relative_to(ROOT).as_posix(), code.co_name] += 1

    sys.setprofile(listen)
    try:
        run()
    finally:
        sys.setprofile(None)
    return counts


def main(words: list[str]) -> None:
    """Print one line for each run, or the files of one."""
    for name in words:
        counts = traced(name)
        files = Counter(file for file, _ in counts)
        for file, count in sorted(files.items()) if len(words) == 1 else ():
            print(f"  {count:4}  {file}")
        what = (RUNS[name].__doc__ or "").split(":")[0].rstrip(".")
        print(f"{len(counts):4} functions in {len(files):3} files, {counts.total():7,} calls: {what}")
    for name in () if words else RUNS:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, check=True)
        print(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main(sys.argv[1:])
