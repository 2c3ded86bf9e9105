"""The example models, each run once as its file asks."""

from functools import cache
from pathlib import Path
from typing import Any

import zwang
from zwang.files.model_file import ModelFile
from zwang.files.read import load_model

EXAMPLES = Path(zwang.__file__).parent / "examples"
NAMES = tuple(sorted(path.stem for path in EXAMPLES.glob("*.toml")))


@cache
def model(name: str) -> ModelFile:
    """An example's model."""
    return load_model(EXAMPLES / f"{name}.toml")


@cache
def run(name: str) -> Any:
    """The motion that an example's file asks for."""
    return model(name).simulate()


def of(motion: Any, names: str, kind: str = "q") -> Any:
    """The values over time of one coordinate, or of several as columns."""
    listed = names.split()
    values = motion[kind].sel(coordinate=listed).values
    return values[:, 0] if len(listed) == 1 else values.T


def multiplier(motion: Any, name: str) -> Any:
    """The multiplier of a constraint over time."""
    return motion.multiplier.sel(constraint=name).values


def values(name: str) -> dict[str, float]:
    """An example's parameters by name."""
    return {str(s): float(v) for s, v in model(name).system.parameters.items() if s.is_Symbol}
