"""Do all examples still move the same, to the last bit? `make bits`, or

python tools/same_bits.py write before.npz      (on the tree as it was)
python tools/same_bits.py compare before.npz    (on the tree as it is: exit code 1 where a bit differs)

Every example is run as `zwang run` runs it and by each engine; some also in other forms, with drift held, as an
ensemble and with sensitivities; joints' reactions are taken where there are joints. Clocks and versions are left
out. Words (messages) may be edited: a change of words is told, but is not a difference. Bits are the same only on the
same machine with the same packages; `make bits` therefore runs the tree of a commit (BASE, `main` unless said
otherwise) and then this one, both here.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import zwang
from zwang import ModelFile, load_model, sensitivities, simulate_many

EXAMPLES = Path(zwang.__file__).parent / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.toml"))
STIFF = ("pendulum", "four_bar", "cart_pole")  # also by SciPy's engines, which are slow
TIGHT_FOR_STIFF = 1e-8
OTHERWISE: dict[str, list[dict[str, Any]]] = {
    "pendulum": [{"form": "gibbs-appell"}, {"drift": "projection"}, {"drift": ("baumgarte", 10.0, 10.0)}],
    "four_bar": [{"form": "lagrange"}, {"drift": "projection"}],
    "rolling_disc": [{"form": "gibbs-appell"}],
    "andrews": [{"form": "gibbs-appell"}, {"tol": 1e-9}],
}
VARIED = {"pendulum": "g", "double_pendulum": "g", "four_bar": "g", "rolling_disc": "m"}  # as ensembles
DIFFERENTIATED = {"double_pendulum": "g", "heavy_top": "g"}
SAMPLES = 11  # a lane of eight and a rest
CLOCKS = {"compile_seconds", "run_seconds", "total_seconds", "zwang_version"}
WORDS = {"message", "doubts", "long_name", "description"}

Values = dict[str, Any]


@cache
def model(name: str) -> ModelFile:
    """An example's model."""
    return load_model(EXAMPLES / f"{name}.toml")


def cases() -> Iterator[tuple[str, Callable[[], xr.Dataset]]]:
    """What is run, by name: each gives a dataset, or an error of which the kind counts."""
    engines = ["native", *(["taylor"] if find_spec("heyoka") else [])]
    for name in NAMES:
        yield f"{name} as its file asks", partial(motion, name)
        for engine in engines:
            yield f"{name} by {engine}", partial(motion, name, method=engine)
        if model(name).mechanism is not None:
            yield f"{name} reactions", partial(joints, name)
    for name in STIFF:
        for engine in ("radau", "lsoda"):
            yield f"{name} by {engine}", partial(motion, name, method=engine, tol=TIGHT_FOR_STIFF)
    for name, choices in OTHERWISE.items():
        for change in choices:
            yield f"{name} with {change}", partial(motion, name, **change)
    for name, parameter in VARIED.items():
        yield f"{name} many times", partial(ensemble, name, parameter)
    for name, parameter in DIFFERENTIATED.items():
        yield f"{name} with sensitivities", partial(derivatives, name, parameter)


def motion(name: str, **changes: Any) -> xr.Dataset:
    """An example's motion, as far as it goes."""
    return model(name).simulate(throw=False, **changes)


def joints(name: str) -> xr.Dataset:
    """What the joints of an example's mechanism bear, where they stand, and the energies."""
    mechanism, moved = model(name).mechanism, motion(name)
    assert mechanism is not None
    parts = {"reactions": mechanism.reactions(moved), "energies": mechanism.energies(moved)}
    found = {f"{kind}.{key}": part[key].variable for kind, part in parts.items() for key in part.variables}
    return xr.Dataset(
        {key: ([f"{key}.{dim}" for dim in value.dims], value.values) for key, value in found.items()}, attrs=moved.attrs
    )


def ensemble(name: str, parameter: str) -> xr.Dataset:
    """An example from one start with many values of a parameter."""
    file, value = model(name), float(value_of(name, parameter))
    values = value * np.linspace(1, 1.5, SAMPLES)
    return simulate_many(
        file.system, file.state(), file.run.until or 1.0, samples=51, tol=1e-12, parameters={parameter: values}
    )


def derivatives(name: str, parameter: str) -> xr.Dataset:
    """An example's motion with its derivative by a parameter."""
    file = model(name)
    symbol = next(s for s in file.system.parameters if str(s) == parameter)
    return sensitivities(file.system, file.state(), 1.0, [symbol], samples=51)


def value_of(name: str, parameter: str) -> Any:
    """The value of a parameter that an example's file gives."""
    return next(value for s, value in model(name).system.parameters.items() if str(s) == parameter)


def taken(run: Callable[[], xr.Dataset]) -> Values:
    """Every array and attribute of a dataset, clocks aside; of an error its kind and words."""
    try:
        found = run()
    except Exception as error:  # a refusal is a result, too
        return {"attrs": {"error": type(error).__name__, "message": str(error)}}
    arrays = {str(key): np.ascontiguousarray(value.values) for key, value in found.variables.items()}
    arrays = {key: value.astype(str) if value.dtype == object else value for key, value in arrays.items()}
    attrs = {key: value for key, value in found.attrs.items() if key not in CLOCKS}
    return {**arrays, "attrs": json.loads(json.dumps(attrs, default=str, sort_keys=True))}


def run_all() -> dict[str, Values]:
    """All cases, with a line for each."""
    done = {}
    for label, run in cases():
        done[label] = taken(run)
        print(f"{digest(done[label])}  {label}", flush=True)
    return done


def digest(values: Values) -> str:
    """One hash of everything but words."""
    parts = [(key, value) for key, value in sorted(values.items()) if key != "attrs"]
    sums = [(key, value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()) for key, value in parts]
    attrs = {key: value for key, value in values["attrs"].items() if key not in WORDS}
    return hashlib.sha256(repr((sums, sorted(attrs.items()))).encode()).hexdigest()[:12]


def write(path: Path) -> None:
    """Run everything and keep it."""
    done = run_all()
    arrays = {f"{label}|{key}": value for label, values in done.items() for key, value in values.items()}
    arrays = {key: np.array(json.dumps(value)) if key.endswith("|attrs") else value for key, value in arrays.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    print(f"{len(done)} cases written to {path}")


def read(path: Path) -> dict[str, Values]:
    """What `write` kept."""
    kept: dict[str, Values] = {}
    with np.load(path) as file:
        for key in file.files:
            label, name = key.rsplit("|", 1)
            kept.setdefault(label, {})[name] = json.loads(str(file[key])) if name == "attrs" else file[key]
    return kept


def differences(before: Values, now: Values) -> tuple[list[str], list[str]]:
    """What differs between two results: in numbers, and in words."""
    found = [f"{key} is gone" for key in before.keys() - now.keys()]
    found += [f"{key} is new" for key in now.keys() - before.keys()]
    for key in sorted(before.keys() & now.keys() - {"attrs"}):
        old, new = before[key], now[key]
        if old.dtype != new.dtype or old.shape != new.shape:
            found.append(f"{key} was {old.dtype}{old.shape}, is {new.dtype}{new.shape}")
        elif old.tobytes() != new.tobytes():
            found.append(f"{key}{how_far(old, new)}")
    first, second = before["attrs"], now["attrs"]
    changed = sorted(key for key in first.keys() | second.keys() if first.get(key) != second.get(key))
    said = [f"{key}: {first.get(key)!r} -> {second.get(key)!r}" for key in changed]
    words = [line for key, line in zip(changed, said, strict=True) if key in WORDS]
    return found + [line for key, line in zip(changed, said, strict=True) if key not in WORDS], words


def how_far(old: Any, new: Any) -> str:
    """How far two arrays of one shape are apart: at most, absolutely and against the largest value."""
    if not np.issubdtype(old.dtype, np.floating):
        return f" differs in {np.count_nonzero(old != new)} of {old.size}"
    if (lost := np.count_nonzero(np.isnan(old) != np.isnan(new))) > 0:
        return f" differs in being NaN at {lost} of {old.size}"
    apart = np.nanmax(np.abs(old - new), initial=0.0)
    size = np.nanmax(np.abs(old), initial=0.0)
    return f" differs by {apart:.3g} (largest value {size:.3g})"


def compare(path: Path) -> int:
    """Run everything again; the number of cases that differ from what was kept."""
    before, now = read(path), run_all()
    different = 0
    print()
    for label in dict.fromkeys([*before, *now]):
        if label not in before or label not in now:
            numbers: list[str] = [f"only {'before' if label in before else 'now'}"]
            words: list[str] = []
        else:
            numbers, words = differences(before[label], now[label])
        different += bool(numbers)
        print(f"{label}: {'; '.join(numbers) if numbers else 'equal to the last bit'}")
        for line in words:
            print(f"    words changed: {line}")
    print(f"\n{len(now) - different} of {len(now)} cases equal to the last bit, {different} differ")
    return different


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", path]:
            write(Path(path))
        case ["compare", path]:
            sys.exit(1 if compare(Path(path)) else 0)
        case _:
            sys.exit(__doc__)
