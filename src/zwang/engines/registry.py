"""The engines: what integrates motions, and what each of them can do, declared once.

Everything that offers engines reads this table: `simulate` and its refusals, the choice that "auto" makes, the command
and its help, the schema of model files, `zwang compare`, tables in the documentation and tests over all engines. So a
new engine is one module that runs a task, and one entry here.

The command reads this table before anything else, so nothing that is slow to import may be imported here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from zwang.errors import InputError

AUTO = "auto"
DEFAULT = "native"  # for systems, unless another one is preferred
FOR_BLACK_BOXES = "dop853"
TIGHTEST, LOOSEST = 1e-18, 1e-2  # tolerances that are taken at all
QUAD = ", quad"  # after the name of an engine that computes in quadruple precision


@dataclass(frozen=True)
class Engine:
    """An engine. `run(task)` integrates a task and tells how far it came and how it went.

    An engine that does not run tasks serves black boxes alone, through `solver`.
    """

    what: str
    """What it is, in words."""
    purpose: str
    """What it is good for."""
    run: Callable[[Any], Any] | None = None
    quad: Callable[[Any], Any] | None = None
    """The same in quadruple precision, if it can."""
    solver: str = ""
    """SciPy's class that integrates black boxes by it; none if they cannot be."""
    needs: str = ""
    """A module that must be installed beside zwang."""
    extra: str = ""
    """The extra of zwang that installs it."""
    tightest: float = TIGHTEST
    """The tightest tolerance that it holds."""
    quick_from: float = TIGHTEST
    """The tightest tolerance at which it is still quick, or at which a tighter one would gain nothing."""
    preferred_below: float = 0.0
    """The tolerance below which "auto" prefers it, where constraints drift: from others rounding alone would go on."""
    reads_signals: bool = True
    """Whether it can read the tables of signals."""
    finds_events: bool = True
    """Whether it finds the events of a task, by which switches of the state end a stretch, too."""
    runs_loops: bool = False
    """Whether it integrates programs with loops, as large systems have them."""
    solves_sparse: bool = False
    """Whether it takes sparse matrices that tell how the acceleration of a large system changes."""
    kicks: bool = False
    """Whether it lets velocities jump at events and goes on, given the kernel for that."""
    can_bridge: bool = False
    """Whether it steps across singular positions itself, given the kernel for that."""
    measures_projection: bool = False
    """Whether it tells how much of the drift its projections could not take away."""
    known_to_tol: bool = False
    """Whether its states between steps are known to the tolerance only: a lower flight of a contact is not seen."""
    stiff: bool = False
    """Whether it is for stiff systems; it is slow then for others."""
    slow_to_compile: bool = False
    """Whether its set-up takes long for systems of many coordinates."""
    checks_long_runs: bool = False
    """Whether it is quick enough to be set beside runs that take long."""

    @property
    def installed(self) -> bool:
        """Whether the packages that the engine needs are installed."""
        return not self.needs or find_spec(self.needs) is not None

    @property
    def missing(self) -> str:
        """What to say where they are not installed."""
        return f"{self.needs} is not installed (pip install zwang[{self.extra}])"


def names(able: Callable[[Engine], Any] = lambda engine: engine.run) -> tuple[str, ...]:
    """The engines that integrate systems, or those that can do something else."""
    return tuple(name for name, engine in ENGINES.items() if able(engine))


def methods() -> tuple[str, ...]:
    """What `method` may be for a system."""
    return (AUTO, *names())


def chosen(tol: float, signals: bool, drifting: bool) -> str:
    """The engine that "auto" means; `drifting` says whether there are constraints that nothing brings back."""
    for name, engine in ENGINES.items():
        if drifting and tol < engine.preferred_below and engine.installed and (engine.reads_signals or not signals):
            return name
    return DEFAULT


def engine_of(method: str) -> Engine:
    """The engine of a method: its name, or that with `QUAD` behind it."""
    return ENGINES[method.removesuffix(QUAD)]


def runner(method: str) -> Callable[[Any], Any]:
    """The function that integrates a task by a method."""
    engine = engine_of(method)
    found = engine.quad if method.endswith(QUAD) else engine.run
    assert found is not None
    return found


def require_tolerance(method: str, tol: float, others: tuple[str, ...]) -> None:
    """Refuse a tolerance that an engine would silently loosen; `others` are engines that might do."""
    tightest = ENGINES[method].tightest
    if tol < tightest:
        able = [repr(name) for name in others if ENGINES[name].tightest <= tol]
        instead = f", or method={' or '.join(able)}" if able else ""
        raise InputError(
            f"tol = {tol:g} is tighter than method={method!r} can hold: choose at least {tightest:g}{instead}"
        )


def late(module: str, name: str, **options: Any) -> Callable[[Any], Any]:
    """A function that is imported when it is called."""

    def call(task: Any) -> Any:
        return getattr(import_module(module), name)(task, **options)

    return call


SCIPY_TIGHTEST = 2.3e-14  # SciPy's solvers go no further than a hundred times the precision of doubles

ENGINES: dict[str, Engine] = {
    "native": Engine(
        what="eighth-order Runge–Kutta (DOP853) in machine code, no Python in the loop",
        purpose="almost everything",
        run=late("zwang.engines.native.engine", "run"),
        quick_from=1e-15,  # tighter than this, eighth order in doubles gains nothing
        runs_loops=True,
        kicks=True,
        can_bridge=True,
        measures_projection=True,
    ),
    "taylor": Engine(
        what="Taylor's method by heyoka",
        purpose="tolerances at round-off; reference solutions, also in quadruple precision",
        run=late("zwang.engines.taylor.engine", "run"),
        quad=late("zwang.engines.taylor.engine", "run", precision="quad"),
        needs="heyoka",
        extra="taylor",
        # There it delivers: over 1,000 s a pendulum of two coordinates keeps energy to 1e-10, by the default to 2e-8.
        # Projected, or in an angle, that one keeps it to 2e-12 in a fortieth of the time.
        preferred_below=1e-13,
        reads_signals=False,
        slow_to_compile=True,
        checks_long_runs=True,
    ),
    "dop853": Engine(
        what="eighth-order Runge–Kutta (DOP853) by SciPy",
        purpose="black boxes",
        solver="DOP853",
        tightest=SCIPY_TIGHTEST,
    ),
    "radau": Engine(
        what="implicit Runge–Kutta by SciPy on the same kernels, with the exact Jacobian",
        purpose="stiff systems; black boxes that are stiff",
        run=late("zwang.engines.scipy.engine", "run", solver="Radau"),
        solver="Radau",
        tightest=SCIPY_TIGHTEST,
        quick_from=1e-7,
        runs_loops=True,
        solves_sparse=True,
        stiff=True,
        slow_to_compile=True,
    ),
    "lsoda": Engine(
        what="Adams' method and backward differences in turn by SciPy, on the same kernels, with the exact Jacobian",
        purpose="systems that are stiff at times; black boxes",
        run=late("zwang.engines.scipy.engine", "run", solver="LSODA"),
        solver="LSODA",
        tightest=SCIPY_TIGHTEST,
        quick_from=1e-10,
        runs_loops=True,
        known_to_tol=True,
        stiff=True,
    ),
}
