"""Robots at random: trees of good URDF and MJCF files with something spoilt, and how reading them goes.

`python -m tests.multibody.readers.fuzz_robots robots 0 100` reads 100 in a process of its own, one line of JSON each.
Every 25th of those that are read is simulated, too. Time and memory of MuJoCo's compiler have their own limits, and are
not counted.
"""

import json
import os
import random
import re
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import zwang as zw
from tests.files.damage import damaged
from tests.files.fuzz import forget_peak, limited, measured, peak
from tests.multibody.readers import sloppy, test_urdf_looks
from zwang.errors import AssemblyError, InputError, MassError, ModelFileError, ZwangError
from zwang.files.robots import load_robot

TOP = Path(__file__).parents[3]
SIMULATED = 25  # one in so many
UNTIL = 0.01  # s
NUMBERS = ("0", "-0", "1", "-1", "1e308", "-1e308", "1e-308", "5e-324", "1e155", "1e-155", "1e400", "nan", "inf",
           "-inf", "1e10", "1e-10", "3", "7", "0x10", "1,5", "", "٣", "1e", "½", "999999999", "-999999999", "0.5",
           "2147483648")  # fmt: skip
WORDS = ("", "x", "base", "world", "true", "false", "auto", "nan", "../x.stl", "/etc/passwd", "package://a//etc/x.stl",
         "ö", "a" * 3000, "<b>", "\x85", "$\\frac{$", "free", "ball", "slide", "hinge", "fixed", "revolute", "planar",
         "floating", "continuous", "prismatic", "1 2 3", "0 0 0 0", "0 0 0")  # fmt: skip
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def bases():
    """Good files: robots of the examples, of the documentation and of other tests."""
    text = (TOP / "docs" / "how-to" / "import.md").read_text(encoding="utf-8")
    found = re.findall(r"```xml[^\n]*\n(.*?)```", text, re.DOTALL)
    found.append((TOP / "examples" / "robots" / "arm.urdf").read_text(encoding="utf-8"))
    found.append(test_urdf_looks.ROD.format(test_urdf_looks.BALL, ""))
    links = "".join(f'<link name="{name}">{mass(*given)}</link>' for name, given in sloppy.INERTIA.items())
    found.append(f'<robot name="s"><link name="base"/>{links}{"".join(sloppy.JOINTS.values())}</robot>')
    try:
        from tests.multibody.readers.test_mjcf import FOUR_BAR, TREE

        found += [TREE, FOUR_BAR]
    except BaseException:  # without MuJoCo these tests are skipped
        found = [text for text in found if "<robot" in text]
    return found


def mass(value, moments):
    keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    inertia = " ".join(f'{key}="{moment}"' for key, moment in zip(keys, moments, strict=True))
    return f'<inertial><mass value="{value}"/><inertia {inertia}/></inertial>'


def mutated(draw, texts):
    """A good file, its tree spoilt in one to four ways, or its letters."""
    text = draw.choice(texts)
    root, other = ElementTree.fromstring(text), ElementTree.fromstring(draw.choice(texts))
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3, 4))):
        draw.choice(WAYS)(draw, root, other)
    content = ElementTree.tostring(root)
    return damaged(draw, content, [t.encode() for t in texts]) if draw.random() < 0.08 else content


def inner(draw, root):
    """An element other than the root, with its parent."""
    found = [(parent, child) for parent in root.iter() for child in parent]
    return draw.choice(found) if found else (None, None)


def with_attribute(draw, root):
    found = [(e, key) for e in root.iter() for key in e.attrib]
    return draw.choice(found) if found else (root, "name")


def number(draw, root, _):
    found = [(e, key) for e in root.iter() for key, value in e.attrib.items() if NUMBER.search(value)]
    if found:
        e, key = draw.choice(found)
        words = e.get(key).split()
        for at in [draw.randrange(len(words))] if words and draw.random() < 0.7 else range(len(words)):
            words[at] = draw.choice(NUMBERS)
        e.set(key, " ".join(words))


def scaled(draw, root, _):
    """All numbers of a kind, times something."""
    _, key = with_attribute(draw, root)
    factor = draw.choice((0.0, -1.0, 1e-160, 1e160, 1e-12, 1e12, 1e-3))
    for e in root.iter():
        if key in e.attrib and key not in ("name", "joint", "body"):
            e.set(key, NUMBER.sub(lambda match: f"{float(match.group()) * factor:g}", e.get(key)))


def word(draw, root, other):
    e, key = with_attribute(draw, root)
    source = with_attribute(draw, draw.choice((root, other)))
    e.set(key, draw.choice((draw.choice(WORDS), source[0].get(source[1], ""))))


def attribute(draw, root, other):
    e, key = with_attribute(draw, root)
    if draw.random() < 0.5:
        e.attrib.pop(key, None)
    else:
        there, key = with_attribute(draw, draw.choice((root, other)))
        e.set(key, there.get(key, ""))


def gone(draw, root, _):
    parent, child = inner(draw, root)
    if parent is not None:
        parent.remove(child)


def twice(draw, root, _):
    parent, child = inner(draw, root)
    if parent is not None:
        for _ in range(draw.choice((1, 1, 2, 5, 30))):
            parent.append(copied(child))


def elsewhere(draw, root, other):
    _, child = inner(draw, draw.choice((root, other)))
    if child is not None:
        draw.choice([*root.iter()]).append(copied(child))


def renamed(draw, root, other):
    _, child = inner(draw, root)
    if child is not None:
        child.tag = draw.choice([e.tag for e in (*root.iter(), *other.iter())])


def deeper(draw, root, _):
    parent, child = inner(draw, root)
    if parent is not None:
        for _ in range(draw.choice((1, 3, 10, 40))):
            deep = ElementTree.SubElement(parent, child.tag, child.attrib)
            parent = deep


def copied(e):
    return ElementTree.fromstring(ElementTree.tostring(e))


WAYS = (
    number,
    number,
    number,
    number,
    scaled,
    word,
    word,
    attribute,
    attribute,
    gone,
    gone,
    twice,
    elsewhere,
    renamed,
    deeper,
)


def reading(path, limits):
    """What became of reading a file, and the model."""
    try:
        model = load_robot(path, limits=limits)
    except ModelFileError as error:
        return "refused", "" if len(str(error)) < 20_000 else f"{len(str(error))} characters", None
    except (AssemblyError, InputError, MassError) as error:  # of one part, by its name, or of how all stand together
        good = "'" in str(error) or not isinstance(error, InputError)
        return "refused", "" if good and "nan" not in str(error) else str(error), None
    return "accepted", "", model


def moving(model):
    """What became of a motion. It may be stiff, which takes its time: that is no fault of the file."""
    if model is None:
        return "refused", ""
    try:
        zw.simulate(model.system, model.start, until=UNTIL, samples=2, throw=False)
    except ZwangError:
        return "not simulated", ""
    return "accepted", ""


def main(kind, first, count):
    """Read some robots."""
    texts = bases()
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(TOP / "examples" / "robots" / "meshes", Path(folder) / "meshes")
        path = Path(folder) / "robot.xml"
        path.write_text(texts[0], encoding="utf-8")
        moving(reading(path, True)[2])
        limited()
        for seed in range(int(first), int(first) + int(count)):
            draw = random.Random(f"{kind} {seed}")
            path.write_bytes(mutated(draw, texts))
            limits, models = draw.random() < 0.3, []

            def read(limits=limits, models=models):
                *said, model = reading(path, limits)
                models.append(model)
                return said

            forget_peak()
            before = peak()
            row = {"kind": kind, "seed": seed, **measured(read)}
            if seed % SIMULATED == 0 and models:
                row |= {key: value for key, value in measured(moving, *models).items() if key in ("outcome", "words")}
            row["megabytes"] -= before  # symbols and kernels of other robots are kept for a while
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
