"""zwang: the motion of constrained mechanical systems, after Gauss, Udwadia and Kalaba.

You say what a system is and what it must obey; you get its explicit equations of motion in every form the
papers give, the forces of constraint, the motion, and a verdict on the constraints.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from zwang._version import __version__
from zwang.display import write_with

if TYPE_CHECKING:
    from zwang.analysis.equilibrium import Equilibrium, equilibrium, steady
    from zwang.analysis.fitting.fit import fit
    from zwang.analysis.fitting.found import Fit
    from zwang.analysis.kinematics import kinematics
    from zwang.analysis.linearize import linearize
    from zwang.analysis.lyapunov import lyapunov
    from zwang.analysis.mode_motion import mode_motion
    from zwang.analysis.modes import modes
    from zwang.analysis.periodic import periodic
    from zwang.analysis.response import frequency_response
    from zwang.analysis.to_control import to_control
    from zwang.dense import solve
    from zwang.equations import Equations, derive
    from zwang.evaluation import ConstraintViolationWarning, evaluate
    from zwang.files.model_file import ModelFile
    from zwang.files.read import load_model
    from zwang.files.store import load_motion, save_motion
    from zwang.files.write import save_model
    from zwang.formulations.derivative import solve_derivative
    from zwang.formulations.solution import Solution
    from zwang.model import Constraint, System
    from zwang.model.drawing import Drawing, Shape
    from zwang.model.event import Event, constraint_force, multiplier
    from zwang.model.families.family import family
    from zwang.model.moved import StartMovedWarning
    from zwang.model.signal import Signal
    from zwang.model.symbols import coordinates, dot, parameters, t
    from zwang.motion.assemble import assemble
    from zwang.motion.blackbox import BlackBox
    from zwang.motion.diagnose import diagnose
    from zwang.motion.direction import admissible
    from zwang.motion.ensemble.many import simulate_many
    from zwang.motion.handles.function import function
    from zwang.motion.handles.stepper import Stepper
    from zwang.motion.sensitivity import sensitivities
    from zwang.motion.simulate import simulate
    from zwang.show.animate import animate, save_animation
    from zwang.show.plot import plot
    from zwang.show.plot_linear import plot_modes, plot_response
    from zwang.show.report.page import report
    from zwang.verdict import Verdict

# Each public name and the module that holds it. Modules are imported when a name is first used: SymPy and
# the compilers behind it are heavy, and `import zwang` must not be.
_HOME = {
    "Equilibrium": "zwang.analysis.equilibrium",
    "equilibrium": "zwang.analysis.equilibrium",
    "steady": "zwang.analysis.equilibrium",
    "Fit": "zwang.analysis.fitting.found",
    "fit": "zwang.analysis.fitting.fit",
    "kinematics": "zwang.analysis.kinematics",
    "linearize": "zwang.analysis.linearize",
    "lyapunov": "zwang.analysis.lyapunov",
    "frequency_response": "zwang.analysis.response",
    "mode_motion": "zwang.analysis.mode_motion",
    "modes": "zwang.analysis.modes",
    "periodic": "zwang.analysis.periodic",
    "to_control": "zwang.analysis.to_control",
    "simulate_many": "zwang.motion.ensemble.many",
    "simulate": "zwang.motion.simulate",
    "function": "zwang.motion.handles.function",
    "Stepper": "zwang.motion.handles.stepper",
    "sensitivities": "zwang.motion.sensitivity",
    "admissible": "zwang.motion.direction",
    "multiplier": "zwang.lowering.events",
    "constraint_force": "zwang.lowering.events",
    "assemble": "zwang.motion.assemble",
    "BlackBox": "zwang.motion.blackbox",
    "Event": "zwang.lowering.events",
    "Constraint": "zwang.model",
    "ConstraintViolationWarning": "zwang.evaluation",
    "Equations": "zwang.equations",
    "Signal": "zwang.model.signal",
    "StartMovedWarning": "zwang.model.moved",
    "Solution": "zwang.formulations.solution",
    "System": "zwang.model",
    "Verdict": "zwang.verdict",
    "coordinates": "zwang.model.symbols",
    "derive": "zwang.equations",
    "diagnose": "zwang.motion.diagnose",
    "dot": "zwang.model.symbols",
    "evaluate": "zwang.evaluation",
    "family": "zwang.model.families.family",
    "parameters": "zwang.model.symbols",
    "solve": "zwang.dense",
    "solve_derivative": "zwang.formulations.derivative",
    "t": "zwang.model.symbols",
    "plot": "zwang.show.plot",
    "plot_modes": "zwang.show.plot_linear",
    "plot_response": "zwang.show.plot_linear",
    "animate": "zwang.show.animate",
    "save_animation": "zwang.show.animate",
    "load_model": "zwang.files.read",
    "save_model": "zwang.files.write",
    "ModelFile": "zwang.files.model_file",
    "Drawing": "zwang.model.drawing",
    "Shape": "zwang.model.drawing",
    "report": "zwang.show.report.page",
    "load_motion": "zwang.files.store",
    "save_motion": "zwang.files.store",
}

__all__ = [
    "BlackBox",
    "Constraint",
    "ConstraintViolationWarning",
    "Drawing",
    "Equations",
    "Equilibrium",
    "Event",
    "Fit",
    "ModelFile",
    "Shape",
    "Signal",
    "Solution",
    "StartMovedWarning",
    "Stepper",
    "System",
    "Verdict",
    "__version__",
    "admissible",
    "animate",
    "assemble",
    "constraint_force",
    "coordinates",
    "derive",
    "diagnose",
    "dot",
    "equilibrium",
    "evaluate",
    "family",
    "fit",
    "frequency_response",
    "function",
    "kinematics",
    "linearize",
    "load_model",
    "load_motion",
    "lyapunov",
    "mode_motion",
    "modes",
    "multiplier",
    "parameters",
    "periodic",
    "plot",
    "plot_modes",
    "plot_response",
    "report",
    "save_animation",
    "save_model",
    "save_motion",
    "sensitivities",
    "simulate",
    "simulate_many",
    "solve",
    "solve_derivative",
    "steady",
    "t",
    "to_control",
]


def _written(noun: object) -> str | None:
    """What a notebook shows of a noun; the room that writes it is imported when something is shown."""
    text: str | None = import_module("zwang.show.notebook.displays").html(noun)
    return text


write_with(_written)


def __getattr__(name: str) -> Any:
    """Import the home of a public name on first use (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'zwang' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
