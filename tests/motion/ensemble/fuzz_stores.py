"""Stores at random: good ones with something spoilt, and how going on with them ends.

`python -m tests.motion.ensemble.fuzz_stores stores 0 100` tries 100 in a process of its own, one line of JSON each.
"""

import json
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

import zwang as zw
from tests.files.damage import damaged, edited
from tests.files.fuzz import limited, measured

x, y = zw.coordinates("x y")
g = zw.parameters("g")


def swings():
    """Pendulums released at seven angles, one of them off its rod."""
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=kinetic, potential=g * y, constraints={"rod": x**2 + y**2 - 1}, name="pendulum")
    angle = np.linspace(0.3, 2.8, 7)
    starts = {x: np.sin(angle), y: -np.cos(angle), zw.dot(x): 0, zw.dot(y): 0}
    starts[x][2] += 1e-3
    return (system, starts, 1.0), {"samples": 3, "tol": 1e-9, "parameters": {g: np.linspace(9, 10, 7)}}


def drops():
    """Balls that fall on a rough floor."""
    floor = zw.Constraint(y >= 0, "floor", restitution=0.5, friction=0.2, slip=zw.dot(x))
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    ball = zw.System((x, y), kinetic=kinetic, potential=9.81 * y, constraints=[floor])
    return (ball, {x: 0, y: [1.0, 0.8, 0.3], zw.dot(x): 1, zw.dot(y): 0}, 0.6), {"samples": 3}


def bits(motion):
    """Everything in a motion, but what it took."""
    own = {key: value for key, value in motion.attrs.items() if "seconds" not in key}
    variables = {name: v.values for name, v in motion.variables.items()}
    return own, {name: (v.dtype.str, v.shape, v.tobytes()) for name, v in variables.items()}


def spoil_file(draw, store, folder):
    file = draw.choice([path for path in store.rglob("*") if path.is_file() and not path.name.startswith(".z")])
    how = draw.randrange(9)
    if how < 4:
        file.write_bytes(damaged(draw, file.read_bytes()))
        return
    file.unlink()
    others = [path for path in store.rglob("*") if path.is_file() and not path.name.startswith(".z")]
    other = draw.choice([*others, *file.parent.glob("[0-9]*"), folder / "secret"])
    if how < 6:
        shutil.copyfile(other, file)
    elif how == 6:
        file.symlink_to(other)
    elif how == 7:
        file.mkdir()
    elif draw.random() < 0.5:
        os.mkfifo(file)


def spoil_json(draw, store, _):
    file = draw.choice([path for path in store.rglob(".z*") if path.is_file()])
    how = draw.randrange(6)
    if how < 4:
        file.write_text(edited(draw, file.read_text()))
    elif how == 4:
        file.write_bytes(damaged(draw, file.read_bytes()))
    else:
        content = draw.choice(list(store.rglob(".z*"))).read_bytes()
        file.unlink()
        if draw.random() < 0.7:
            (file.parent / draw.choice((file.name, ".zgroup", ".zmetadata", "zarr.json"))).write_bytes(content)


def spoil_root(draw, store, _):
    file = store / ".zattrs"
    file.write_text(edited(draw, file.read_text()))


def spoil_folder(draw, store, folder):
    path = draw.choice([path for path in store.rglob("*") if path.is_dir()])
    how = draw.randrange(4)
    if how == 0:
        path.rename(folder / "outside" / path.name)
        path.symlink_to(folder / "outside" / path.name)
        if draw.random() < 0.7:  # so that there is something to be computed
            (store / "done" / "0").unlink(missing_ok=True)
    elif how == 1:
        shutil.rmtree(path)
    elif how == 2:
        other = draw.choice([p for p in store.rglob("*") if p.is_dir() and p != path and not p.is_relative_to(path)])
        if not path.is_relative_to(other):
            shutil.rmtree(path)
            shutil.copytree(other, path)
    else:
        shutil.rmtree(path)
        path.write_bytes(b"no folder")


FAULTS = (spoil_file, spoil_file, spoil_file, spoil_json, spoil_json, spoil_root, spoil_folder)


def going_on(asked, truth, folder):
    """What became of going on with a store: equal bits, or a refusal that names it."""
    outside = {path: path.lstat().st_mtime_ns for path in (folder / "outside").rglob("*")}
    try:
        motion = zw.simulate_many(*asked[0], **asked[1], store=folder / "s.zarr").load()
    except zw.errors.InputError as error:
        named = "s.zarr" in str(error) and "\n" not in str(error) and len(str(error)) < 600
        outcome = ("refused", "") if named else ("refused without a name", str(error))
    else:
        outcome = ("accepted", "") if bits(motion) == truth else ("other bits", "")
    if {path: path.lstat().st_mtime_ns for path in (folder / "outside").rglob("*")} != outside:
        return "wrote outside", ""
    return outcome


def main(kind, first, count):
    """Try some stores."""
    limited()
    os.environ["NUMCODECS_ALLOW_UNSAFE_PICKLE_DECODE"] = "1"  # no codec may be asked at all
    with tempfile.TemporaryDirectory() as place:
        top, bases = Path(place), []
        for i, (asked, chunk) in enumerate(((swings(), 3), (drops(), 2))):
            good = top / f"good{i}.zarr"
            stored = zw.simulate_many(*asked[0], **asked[1], store=good, chunk=chunk).load()
            bases.append((asked, good, bits(stored)))
        for seed in range(int(first), int(first) + int(count)):
            draw, folder = random.Random(f"{kind} {seed}"), top / str(seed)
            asked, good, truth = draw.choice(bases)
            (folder / "outside").mkdir(parents=True)
            (folder / "secret").write_bytes(b"\1" * 100)
            shutil.copytree(good, folder / "s.zarr")
            done = []
            for _ in range(draw.choice((1, 1, 1, 2))):
                fault = draw.choice(FAULTS)
                done.append(fault.__name__)
                try:
                    fault(draw, folder / "s.zarr", folder)
                except (OSError, IndexError, ValueError):  # nothing of the kind is left
                    continue
            print(json.dumps({"kind": kind, "seed": seed, "how": done, **measured(going_on, asked, truth, folder)}))
            sys.stdout.flush()
            shutil.rmtree(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
