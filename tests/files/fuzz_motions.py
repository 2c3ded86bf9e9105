"""Motions at random: good NetCDF files with something spoilt, and how loading and showing them goes.

`python -m tests.files.fuzz_motions motions 0 100` tries 100 in a process of its own, one line of JSON each.
"""

import contextlib
import json
import random
import sys
import tempfile
import warnings
from io import BytesIO
from pathlib import Path

import h5py
import numpy as np

import zwang as zw
from tests.files.damage import damaged, edited
from tests.files.fuzz import limited, measured, where
from zwang import multibody as mb
from zwang.files.store import csv_text, load_motion, save_motion
from zwang.results.drawing import with_drawing
from zwang.show.animate import save_animation

x, y = zw.coordinates("x y")


def falls():
    """Balls that fall past a mark, from three heights."""
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    ball = zw.System((x, y), kinetic=kinetic, potential=9.81 * y, constraints={"wall": x + zw.dot(x) * 0 - 1})
    start = {x: 1, y: [1.0, 2.0, 3.0], zw.dot(x): 0, zw.dot(y): 0}
    return zw.simulate_many(ball, start, 1.0, samples=4, events=[zw.Event(y - 0.5, "half")])


def swing():
    """A pendulum that passes its lowest point."""
    kinetic = (zw.dot(x) ** 2 + zw.dot(y) ** 2) / 2
    system = zw.System((x, y), kinetic=kinetic, potential=9.81 * y, constraints={"rod": x**2 + y**2 - 1})
    return zw.simulate(
        system, {x: 1, y: 0, zw.dot(x): 0, zw.dot(y): 0}, until=2.0, samples=9, events=[zw.Event(x, "lowest")]
    )


def flyer():
    """A tetrahedron that turns, and a box."""
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    solids = (mb.Mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]), mb.Box((1, 2, 3)))
    made = mb.Mechanism([mb.Body("stone", 1, (1, 2, 2.5), solids=solids)])
    motion = zw.simulate(made.system, made.start, until=1.0, samples=9)
    return with_drawing(motion, made.drawing, made.system)


def of_file(name, **options):
    return zw.load_model(name).simulate(samples=9, **options)


BASES = (falls, swing, lambda: of_file("bouncing_ball"), lambda: of_file("andrews"),
         lambda: of_file("eulers_disc", until=0.1), flyer)  # fmt: skip
VALUES = (0, 1, -1, 3, 2**31, 2**63 - 1, 1e308, 5e-324, float("nan"), float("inf"), "", "x", "$\\frac{$", "\x1b[31m",
          "é" * 300, np.zeros(3), np.zeros((2, 2)), np.zeros(0), np.array(["a", "b"], object), b"\xff", "<script>",
          True)  # fmt: skip
KINDS = ("f8", "f4", "i8", "i1", "u8", ">f8", "?", "S4", h5py.string_dtype(), "c16", "f2")
SHAPES = ((), (0,), (1,), (2,), (9,), (9, 2), (2, 9), (9, 0), (3, 9, 2), (100,), (9, 2, 3))


def spoil_bytes(draw, path, others):
    path.write_bytes(damaged(draw, path.read_bytes(), others))


def spoil_contents(draw, path, _):
    with h5py.File(path, "r+") as file:
        for _ in range(draw.choice((1, 1, 2, 3))):
            draw.choice((other_values, other_values, other_variable, other_name, other_attribute, other_attribute,
                         other_scales, other_text, gone, link))(draw, file)  # fmt: skip


def variable(draw, file):
    return file[draw.choice([name for name in file if isinstance(file[name], h5py.Dataset)])]


def other_values(draw, file):
    found = variable(draw, file)
    if not found.size or not found.shape:
        return
    at = tuple(draw.randrange(n) for n in found.shape)
    number = draw.choice((0, -1, 1e308, -1e308, 5e-324, np.nan, np.inf, 2**40, 1e-300))
    text = draw.choice(("", "x", "$", "$\\frac{$", "\x00", "\x1b[31m", "a'", "<b>", "q" * 3000))
    where_to = draw.choice((at, at[:1], ()))
    found[where_to] = number if found.dtype.kind in "fiu" else text.replace("\x00", "")


def other_variable(draw, file):
    name = draw.choice([*file, "more"])
    if name in file:
        del file[name]
    kind, shape = draw.choice(KINDS), draw.choice(SHAPES)
    made = file.create_dataset(name, shape, kind)
    for axis in made.dims:
        scale = draw.choice(["time", "coordinate", "constraint", "contact", "event", ""])
        if scale in file and scale != name:
            axis.attach_scale(file[scale])


def other_name(draw, file):
    first, second = draw.choice([*file]), draw.choice([*file, "more", "event", "time", "q", "drawing", "sample"])
    if second in file:
        if first != second:
            file.move(first, "between")
            file.move(second, first)
            file.move("between", second)
    else:
        file.move(first, second)


def other_attribute(draw, file):
    owner = draw.choice((file, variable(draw, file)))
    names = [*owner.attrs, "units", "shapes", "more", "_FillValue", "scale_factor", "calendar", "coordinates", "dtype"]
    name = draw.choice(names)
    if name in owner.attrs and draw.random() < 0.2:
        del owner.attrs[name]
    else:
        owner.attrs[name] = draw.choice(VALUES)


def other_scales(draw, file):
    owner = variable(draw, file)
    name = draw.choice(("DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "_Netcdf4Dimid", "_Netcdf4Coordinates"))
    if name in owner.attrs and draw.random() < 0.3:
        del owner.attrs[name]
    elif draw.random() < 0.5:
        owner.attrs[name] = draw.choice((np.arange(2), np.zeros((2, 2)), 7, -1, "x", np.array([0]), np.zeros(0)))
    else:
        owner.attrs.create(name, np.array([owner.ref] * draw.choice((1, 2, 5)), object), dtype=h5py.ref_dtype)


def other_text(draw, file):
    """The shapes of a drawing, or parameters."""
    owners = [o for o in (file, *(file[n] for n in file)) for a in ("shapes", "parameters") if a in o.attrs]
    if owners:
        owner = draw.choice(owners)
        name = "shapes" if "shapes" in owner.attrs else "parameters"
        if str(owner.attrs[name])[:1] in "[{":
            owner.attrs[name] = edited(draw, owner.attrs[name])[:60_000]


def gone(draw, file):
    del file[draw.choice([*file])]


def link(draw, file):
    name = draw.choice([*file, "more"])
    if name in file:
        del file[name]
    file[name] = draw.choice((h5py.SoftLink("/q"), h5py.SoftLink("/no"), h5py.ExternalLink("other.nc", "/q")))


def page(motion):
    from zwang.show.player import player_page

    player_page(motion)


SHOWS = {
    "plot": lambda motion, folder: zw.plot(motion).savefig(BytesIO(), format="png"),
    "still": lambda motion, folder: save_animation(motion, folder / "s.png", size=(240, 180)),
    "page": lambda motion, folder: save_animation(motion, folder / "s.html"),
    "gltf": lambda motion, folder: save_animation(motion, folder / "s.glb"),
    "csv": lambda motion, folder: csv_text(motion),
    "save": lambda motion, folder: save_motion(motion, folder / "s.nc"),
}


def shown(path, show):
    """What became of loading a motion, and of one way to show it."""
    try:
        motion = load_motion(path)
    except zw.errors.InputError as error:
        return "refused", "" if one_line(error) else f"not one line: {error}"
    try:
        SHOWS[show](motion, path.parent)
    except zw.errors.InputError as error:
        return "not shown", "" if one_line(error) else f"not one line: {error}"
    except Exception as error:
        raise RuntimeError(f"{show}: {type(error).__name__}: {error} {where(error)}") from error
    return "accepted", ""


def one_line(error):
    return "\n" not in str(error) and len(str(error)) < 1000


def main(kind, first, count):
    """Try some motions."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "m.nc"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bases = [save_motion(base(), path).read_bytes() for base in BASES]
            for show in SHOWS:  # what is loaded once does not count
                path.write_bytes(bases[2])
                shown(path, show)
        limited()
        for seed in range(int(first), int(first) + int(count)):
            draw = random.Random(f"{kind} {seed}")
            path.write_bytes(draw.choice(bases))
            fault = draw.choice((spoil_bytes, spoil_contents))
            with contextlib.suppress(Exception):  # what HDF5 itself cannot do: the file is spoilt as far as it got
                fault(draw, path, bases)
            show = draw.choice([*SHOWS])
            print(json.dumps({"kind": kind, "seed": seed, "how": [fault.__name__, show],
                              **measured(shown, path, show)}), flush=True)  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
