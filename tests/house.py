"""Where a module's tests are.

By its name, in the same place under `tests`: `lowering/saddle.py` is tested by `lowering/test_saddle.py` and by files
that begin so, as `test_saddle_….py`. A folder whose modules have one law has one file of the folder's name:
`show/report/test_report.py`. Where laws are stated elsewhere, for a module that has no such file or in another room,
the place is listed here; the list may only shrink.
"""

from pathlib import Path

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "zwang"

TESTED_IN = {
    "analysis/dynamics": ("analysis/test_equilibrium",),
    "analysis/held_inputs": ("analysis/test_linearize",),
    "analysis/tangent": ("analysis/test_equilibrium",),
    "analysis/family": ("analysis/test_equilibrium",),
    "analysis/fitting/found": ("analysis/fitting/test_fit",),
    "analysis/fitting/identify": ("analysis/fitting/test_fit",),
    "analysis/fitting/measured": ("analysis/fitting/test_fit",),
    "analysis/fitting/search": ("analysis/fitting/test_fit",),
    "analysis/fitting/table": ("analysis/fitting/test_fit",),
    "analysis/fitting/trial": ("analysis/fitting/test_fit",),
    "analysis/linear": ("analysis/test_linearize",),
    "analysis/phase": ("analysis/test_periodic",),
    "analysis/readings": ("analysis/test_equilibrium",),
    "analysis/recurrence": ("analysis/test_periodic",),
    "analysis/repeats": ("analysis/test_periodic",),
    "analysis/samples": ("analysis/test_linearize",),
    "analysis/settle": ("analysis/test_equilibrium",),
    "analysis/springs": ("analysis/test_modes",),
    "analysis/shooting": ("analysis/test_periodic",),
    "analysis/stability": ("analysis/test_equilibrium",),
    "analysis/to_control": ("analysis/test_linearize",),
    "arrays": ("formulations/test_inputs",),
    "cli/app": ("cli/test_help",),
    "cli/exits": ("cli/test_documentation", "cli/test_error_boundary"),
    "cli/formulas": ("cli/commands/test_equations",),
    "cli/library": ("cli/commands/test_examples",),
    "cli/models": ("cli/commands/test_check", "cli/commands/test_run"),
    "cli/options": ("cli/test_help", "cli/commands/test_run"),
    "cli/output_paths": ("cli/test_streams",),
    "cli/progress": ("cli/test_process",),
    "cli/summaries": ("cli/commands/test_run",),
    "cli/terminal": ("cli/test_streams", "cli/test_error_boundary"),
    "compile/code": ("compile/test_kernel", "compile/test_builders"),
    "compile/machine_code": ("compile/test_kernel", "compile/restricted/test_kept"),
    "compile/sines": ("compile/test_lanes",),
    "compile/table": ("model/test_signal",),
    "compile/translate": ("compile/test_builders", "compile/test_layout"),
    "engines/gauss": ("motion/test_work",),
    "engines/native/bridge": ("motion/singular/test_way_past", "motion/singular/test_singular"),
    "engines/native/control": ("engines/native/test_runs", "engines/native/lanes/test_lanes"),
    "engines/native/last_look": ("engines/test_events_found",),
    "engines/native/loop": ("engines/native/test_runs",),
    "engines/native/panel": ("engines/test_events_found",),
    "engines/native/quadrature": ("motion/test_work",),
    "engines/native/record": ("engines/native/test_runs",),
    "engines/native/search": ("engines/test_events_found",),
    "engines/native/stage_kernels": ("engines/native/test_fast_pow", "engines/native/test_runs"),
    "engines/pieces": ("engines/test_events_found",),
    "engines/task": ("engines/test_registry", "engines/scipy/test_engine"),
    "engines/taylor/machine": ("engines/taylor/test_engine",),
    "equations/derivation": ("equations/test_papers", "equations/test_identities"),
    "equations/equations": ("equations/test_papers", "equations/test_rank", "equations/test_transform"),
    "equations/sizes": ("equations/test_decimals",),
    "files/argument_values": ("files/test_mechanisms", "files/test_mechanism_mistakes"),
    "files/bodies": ("files/test_mechanisms",),
    "files/drawings": ("files/test_read", "files/test_malformed"),
    "files/language/build": ("files/language/test_grammar",),
    "files/language/functions": ("files/language/test_grammar", "test_functions"),
    "files/language/names": ("files/language/test_grammar", "files/test_malformed"),
    "files/language/printer": ("files/language/test_grammar",),
    "files/language/scope": ("files/test_read", "files/test_hostile"),
    "files/language/tokens": ("files/language/test_grammar",),
    "files/language/uses": ("files/test_malformed",),
    "files/mistakes": ("files/test_malformed", "files/test_mechanism_mistakes"),
    "files/model_file": ("files/test_read",),
    "files/part_table": ("files/test_mechanisms",),
    "files/reader": ("files/test_read", "files/test_hostile"),
    "files/robots": ("cli/commands/test_robots",),
    "files/schema": ("files/test_malformed", "cli/commands/test_schema"),
    "files/table_types": ("files/test_mechanisms",),
    "files/tables": ("files/test_read",),
    "files/toml/document": ("files/toml/test_positions",),
    "files/toml/problems": ("files/toml/test_positions",),
    "files/toml/repair": ("files/toml/test_slips",),
    "files/toml/source": ("files/test_hostile",),
    "files/value_types": ("files/test_mechanisms", "files/test_mechanism_mistakes"),
    "formulations/generalized_inverse": ("formulations/test_equivalence",),
    "formulations/gibbs_appell": ("formulations/test_equivalence",),
    "formulations/lagrange": ("formulations/test_equivalence",),
    "formulations/solution": ("formulations/test_stacks",),
    "formulations/solve": ("formulations/test_accuracy", "formulations/test_stacks", "formulations/test_singular_mass"),
    "linalg/newton": ("motion/test_assemble_units", "motion/test_assemble"),
    "lowering/directional": ("motion/resets/test_beside", "motion/contact/test_beside"),
    "lowering/events": ("engines/test_events",),
    "lowering/gibbs_appell": ("lowering/test_acceleration",),
    "lowering/intervals": ("test_functions", "motion/test_breaks_of_switches"),
    "lowering/locked": ("motion/test_switching",),
    "lowering/lowered": ("lowering/test_acceleration",),
    "lowering/perturbed": ("analysis/test_equilibrium",),
    "lowering/power": ("motion/test_work",),
    "lowering/projection": ("lowering/test_acceleration", "motion/test_drift"),
    "lowering/report": ("lowering/test_acceleration",),
    "lowering/resets": ("motion/resets/test_jump",),
    "lowering/rows": ("lowering/test_acceleration", "lowering/test_lifting"),
    "lowering/shares": ("motion/test_resting",),
    "lowering/switches": ("motion/test_switching", "motion/test_breaks_of_switches"),
    "lowering/variational": ("motion/test_sensitivity",),
    "model/described": ("model/test_system",),
    "model/drawing": ("results/test_evaluate_along", "show/test_scene"),
    "model/event": ("engines/test_events",),
    "model/fixed": ("model/test_check",),
    "motion/continuity": ("motion/test_breaks", "motion/test_breaks_of_switches"),
    "motion/drive": ("motion/test_drift", "motion/singular/test_way_past"),
    "motion/progress": ("motion/test_simulate",),
    "motion/at_switch": ("motion/test_switching", "motion/test_resting"),
    "motion/resets/watched": ("motion/resets/test_jump",),
    "motion/saltation": ("motion/test_sensitivity_across_switches",),
    "motion/setup": ("motion/test_simulate",),
    "motion/watching": ("motion/test_multiplier_forces", "motion/test_simulate"),
    "multibody/described": ("multibody/test_mechanism",),
    "multibody/drawing": ("show/test_scene",),
    "multibody/efforts": ("multibody/test_joint_reactions",),
    "multibody/element": ("multibody/forces/test_forces", "multibody/test_energies"),
    "multibody/inertia": ("multibody/test_body",),
    "multibody/joints/transmission/belt": ("multibody/joints/test_joints",),
    "multibody/joints/transmission/coupling": ("multibody/joints/test_joints", "multibody/test_joint_coordinates"),
    "multibody/joints/transmission/gear": ("multibody/joints/test_joints",),
    "multibody/joints/transmission/rack": ("multibody/joints/test_joints",),
    "multibody/planar_body": ("multibody/test_body",),
    "multibody/pose": ("multibody/test_body",),
    "multibody/readers/frame": ("multibody/readers/test_urdf", "multibody/readers/test_mjcf"),
    "multibody/readers/imported": ("multibody/readers/test_urdf", "multibody/readers/test_mjcf"),
    "multibody/readers/mjcf_files": ("multibody/readers/test_mjcf",),
    "multibody/readers/mjcf_ignored": ("multibody/readers/test_mjcf",),
    "multibody/readers/skeleton": ("multibody/readers/test_urdf", "multibody/readers/test_mjcf"),
    "multibody/readers/tree": ("multibody/readers/test_urdf", "multibody/readers/test_mjcf"),
    "multibody/readers/urdf_elements": ("multibody/readers/test_urdf",),
    "multibody/readers/xml_text": ("multibody/readers/test_urdf",),
    "multibody/results": ("multibody/test_joint_reactions", "multibody/test_energies"),
    "multibody/spatial_body": ("multibody/test_body",),
    "multibody/valued": ("multibody/test_looks", "multibody/test_moved"),
    "multibody/vectors": ("multibody/test_turns", "multibody/test_check"),
    "results/dataset": ("motion/test_observe",),
    "results/drawing": ("results/test_evaluate_along",),
    "results/units": ("show/test_plot",),
    "show/colors": ("show/test_scene",),
    "show/figure": ("show/test_plot",),
    "show/film": ("show/test_animate",),
    "show/quantities": ("show/test_plot",),
    "show/stage": ("show/test_animate",),
}


def modules() -> list[str]:
    """Every module, as its path in the package without the ending; packages' own files and the version aside."""
    paths = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py"))]
    return [path.with_suffix("").as_posix() for path in paths if not path.stem.startswith("_")]


def of_its_name(module: str) -> list[Path]:
    """The test files of a module's name or else of its folder's."""
    folder, name = TESTS / Path(module).parent, Path(module).name
    for stem in (name, folder.name):
        found = sorted({*folder.glob(f"test_{stem}.py"), *folder.glob(f"test_{stem}_*.py")})
        if found:
            return found
    return []


def places_of(module: str) -> list[Path]:
    """The test files in which the laws of a module are stated."""
    return of_its_name(module) + [TESTS / f"{place}.py" for place in TESTED_IN.get(module, ())]
