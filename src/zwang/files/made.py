"""Models that were made in Python, as model files are: a system or a mechanism with what goes with it."""

from typing import Any

from zwang.errors import InputError
from zwang.files.model_file import ModelFile
from zwang.model import System
from zwang.model.has_system import HasSystem, system_of


def model_of(given: Any, what: str) -> ModelFile:
    """A model file as it is; a system without a start; a mechanism, or a robot that was read, with its own."""
    if isinstance(given, ModelFile):
        return given
    if isinstance(given, System):
        return ModelFile(given, {})
    if isinstance(given, HasSystem):
        from zwang.multibody import Imported, Mechanism  # systems do not wait for all of multibody

        if isinstance(given, Imported):
            made, start = given.mechanism, dict(given.start())
            return ModelFile(made.system, start, drawing=made.drawing, mechanism=made, warnings=given.warnings)
        if isinstance(given, Mechanism):
            return ModelFile(given.system, {}, drawing=given.drawing, mechanism=given)
    _ = system_of(given, what)
    raise InputError(f"{what} takes a System, a Mechanism or a model; got a {type(given).__name__}")
