"""Model files at random: good ones with something spoilt, and new ones; and how reading them goes.

`python -m tests.files.fuzz mutated 0 500` reads 500 files in a process of its own and prints one line of JSON a file.
"""

import json
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from zwang.files.language.functions import CALLED
from zwang.functions import FUNCTIONS as TABLE

LONGEST = 20  # seconds of processor time, after which a file is given up

NUMBERS = re.findall(
    r"\S+",
    r"""0 -1 1 2 0.5 1e-300 1e308 -1e308 1e300 1e-320 inf nan 99999999999999999999 100000000 1_000 0x10 1e999 007 1. .5
-0.0 3 7 1e12 1e13 2000-01-01 """,
)
SIGNS = [*list("+-*/^()[]{}'\",.=<>#\\\n\t @$%&?!;:~`|"), "''", '"""', "**", ">=", "<=", "==", " = ", "\x00", "\r"]
LETTERS = list("abcdefgxyzqtmLABθωφλ²½−×′’´é中\u200b\u202e\ufeff\ud7ffа")
FUNCTIONS = [name for name, key in CALLED.items() if TABLE[key].arguments == (1, 1)]
WORDS = re.findall(
    r"\S+",
    r"""true false "?" x y theta x' x'' t pi e m g L if(x>0,x,1) max(x,y) atan2(y,x) multiplier(rod) ground kind body
planar revolute start rate unit until samples begin tol [run] [energy] [coordinates] [bodies.a] [joints.b]
[[bodies]] [constraints] [parameters] [definitions] [events] [draw] [inputs] [mass] [units] [forces] [gravity]
[springs.s] [elements.f] {} [] {start=1} [1,2] [1,2,3] [[1,0],[0,1]] "" "x" 'x' """,
)
DEEPER = [("(", ")"), ("sin(", ")"), ("-", ""), ("if(x>0,1,", ")"), ("if(", ">0,x,1)"), ("tanh(", ")"), ("(x+", ")*x"),
          ("(", ")^2"), ("abs(", ")"), ("[", "]")]  # fmt: skip
JOINTS = ["revolute", "prismatic", "spherical", "universal", "cylindrical", "rod", "point-on-surface", "fixed", "skate",
          "point-on-line", "point-on-plane", "point-on-curve", "rolling-ball", "rolling-wheel"]  # fmt: skip
TOKEN = re.compile(r"[^\W\d]\w*'*|[0-9.]+(?:e[+-]?[0-9]+)?|\n|\s+|.", re.DOTALL)
STRING = re.compile(r"\"[^\"\n]*\"")
VALUE = re.compile(r"=\s*([^\n]+)")


def bases():
    """Good model files: the examples, and those of the tests."""
    from tests.files import models
    from zwang.cli import library

    texts = [library.example(name).read_text(encoding="utf-8") for name in library.names()]
    return texts + [text for text in vars(models).values() if isinstance(text, str) and "[" in text]


def mutated(draw, texts):
    """A good file, spoilt in one to four ways."""
    text = draw.choice(texts)
    for _ in range(draw.choice((1, 1, 1, 2, 2, 3))):
        text = draw.choice(COARSE if draw.random() < 0.3 else FINE)(draw, text, texts)
    content = text.encode("utf-8", "surrogatepass")
    if draw.random() < 0.1:  # bytes, which need not be text any more
        content = bytearray(content or b"x")
        for _ in range(draw.choice((1, 3, 10))):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
    return bytes(content)


def flip(draw, text, _):
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(SIGNS + LETTERS + NUMBERS) + text[at + draw.choice((0, 1)) :]


def cut(draw, text, _):
    at = draw.randrange(len(text) + 1)
    return text[:at] + text[at + draw.choice((1, 2, 5, 20, 200)) :]


def truncate(draw, text, _):
    return text[: draw.randrange(len(text) + 1)]


def double(draw, text, _):
    at, size = draw.randrange(len(text) + 1), draw.choice((1, 10, 100, 1000))
    return text[:at] + text[at : at + size] * draw.choice((2, 2, 3, 30)) + text[at + size :]


def swap(draw, text, _):
    tokens = TOKEN.findall(text)
    if len(tokens) < 2:
        return text
    i, j = draw.randrange(len(tokens)), draw.randrange(len(tokens))
    tokens[i], tokens[j] = tokens[j], tokens[i]
    return "".join(tokens)


def other_token(draw, text, texts):
    tokens = TOKEN.findall(text)
    for _ in range(draw.choice((1, 1, 3))):
        if tokens:
            source = draw.choice((TOKEN.findall(draw.choice(texts)), WORDS, NUMBERS, [*FUNCTIONS, "nope"]))
            tokens[draw.randrange(len(tokens))] = draw.choice(source)
    return "".join(tokens)


def other_number(draw, text, _):
    found = list(re.finditer(r"(?<![\w.])-?[0-9.]+(?:e[+-]?[0-9]+)?", text))
    if not found:
        return text
    one = draw.choice(found)
    return text[: one.start()] + draw.choice(NUMBERS) + text[one.end() :]


def other_expression(draw, text, _):
    found = list(STRING.finditer(text))
    if not found:
        return text
    one = draw.choice(found)
    names = re.findall(r"^\"?([^\W\d]\w*)\"? *=", text, re.MULTILINE) or ["x"]
    return text[: one.start()] + f'"{expression(draw, names, draw.choice((1, 2, 3, 5)))}"' + text[one.end() :]


def deeper(draw, text, _):
    found = list(STRING.finditer(text))
    if not found:
        return text
    one = draw.choice(found)
    opening, closing = draw.choice(DEEPER)
    many = draw.choice((1, 3, 5, 20, 39, 200))
    return text[: one.start()] + f'"{opening * many}{one.group()[1:-1]}{closing * many}"' + text[one.end() :]


def longer(draw, text, _):
    found = list(STRING.finditer(text))
    if not found:
        return text
    one, sign = draw.choice(found), draw.choice(("+", "*", "/", "-", "^", "*(1+x)+", "*(x+y+1)*"))
    many = draw.choice((2, 10, 100, 1000))
    return text[: one.start()] + '"' + sign.join([f"({one.group()[1:-1]})"] * many) + '"' + text[one.end() :]


def other_value(draw, text, _):
    found = list(VALUE.finditer(text))
    if not found:
        return text
    one = draw.choice(found)
    return text[: one.start(1)] + draw.choice(WORDS + NUMBERS) + text[one.end(1) :]


def lines(draw, text, texts):
    own, others = text.split("\n"), draw.choice(texts).split("\n")
    at, first = draw.randrange(len(own) + 1), draw.randrange(len(others))
    own[at : at + draw.choice((0, 1, 5))] = others[first : first + draw.choice((1, 2, 10))]
    return "\n".join(own)


def within(draw, text, _):
    """Two tokens of one expression change places, or one of them becomes another."""
    found = list(STRING.finditer(text))
    if not found:
        return text
    one = draw.choice(found)
    tokens = TOKEN.findall(one.group()[1:-1])
    names = [token for token in TOKEN.findall(text) if token.isidentifier()]
    if len(tokens) > 1:
        i, j = draw.randrange(len(tokens)), draw.randrange(len(tokens))
        if draw.random() < 0.5:
            tokens[i], tokens[j] = tokens[j], tokens[i]
        else:
            tokens[i] = draw.choice(names if tokens[i].isidentifier() else [*"+-*/^", tokens[j]])
    return text[: one.start()] + f'"{"".join(tokens)}"' + text[one.end() :]


def mixed(draw, text, _):
    sections = re.split(r"(?m)^(?=\[)", text)
    draw.shuffle(sections)
    return "".join(sections[: draw.choice((len(sections), len(sections), len(sections) - 1))])


FINE = (other_number, other_number, other_expression, other_expression, deeper, longer, within, within, mixed)
COARSE = (flip, cut, truncate, double, swap, other_token, other_value, lines)


def expression(draw, names, depth):
    """An expression, mostly a right one."""
    if depth <= 0 or draw.random() < 0.15:
        name = draw.choice([*names, *names, *names, "t", "1", "2", "3.5", draw.choice(["pi", *NUMBERS[:7]])])
        marks = {"q": 1, "d": draw.choice((1, 1, 2))}.get(name[0], 0)
        return name + "'" * marks * (draw.random() < 0.1)
    inner = [expression(draw, names, depth - 1 - draw.randrange(2)) for _ in range(3)]
    kind = draw.randrange(12)
    if kind < 4:
        return f"({inner[0]} {draw.choice('+-*/')} {inner[1]})"
    if kind < 6:
        return f"{draw.choice(FUNCTIONS)}({inner[0]})"
    if kind == 6:
        return f"({inner[0]})^{draw.choice(('2', '2', '3', '-1', '(1/2)', '0.5', '100', inner[1]))}"
    if kind == 7:
        return f"if({inner[0]} {draw.choice(('<', '>', '<=', '>='))} {inner[1]}, {inner[2]}, {inner[0]})"
    if kind == 8:
        return f"{draw.choice(('max', 'min', 'atan2'))}({inner[0]}, {inner[1]})"
    if kind == 9:
        return " + ".join(inner)
    return f"-{inner[0]}" if kind == 10 else "*".join(f"({e})" for e in inner)


def generated(draw, _):
    """A new file: of coordinates, or of bodies."""
    return (by_bodies(draw) if draw.random() < 0.3 else by_coordinates(draw)).encode()


def by_coordinates(draw):
    n = draw.choice((1, 2, 2, 3, 5, 10, 30))
    q = [f"q{i}" for i in range(n)]
    p = [f"p{i}" for i in range(draw.randrange(4))]
    known = [*q, *p]
    rows = ["[parameters]", *(f"{name} = {draw.choice(['1', '0.5', *NUMBERS[2:7]])}" for name in p), "[definitions]"]
    for i in range(draw.randrange(4)):
        rows.append(f'd{i} = "{expression(draw, known, draw.randrange(1, 5))}"')
        known.append(f"d{i}")
    rows += ["[coordinates]", *(f"{name} = {draw.choice(['0', '1.5', '-2', '{ start = 1, rate = 2 }'])}" for name in q)]
    if draw.random() < 0.8:
        squares = " + ".join(f"{name}'^2" for name in q)
        more = expression(draw, known, 2)
        kinetic = draw.choice(
            (squares, f"({squares})*(2 + sin({q[0]}))", f"({squares})*({more})", f"{squares} + {more}")
        )
        rows += ["[energy]", f'kinetic = "{kinetic}"', f'potential = "{expression(draw, known, draw.randrange(1, 7))}"']
    else:
        entry = [["1" if i == j else '"' + expression(draw, known, 1) + '"' for j in range(n)] for i in range(n)]
        rows += ["[mass]", f"matrix = [{', '.join('[' + ', '.join(row) + ']' for row in entry)}]"]
    rows += ["[forces]", *(f'{name} = "{expression(draw, known, 3)}"' for name in q if draw.random() < 0.3)]
    rows += ["[constraints]"]
    for i in range(draw.choice((0, 0, 1, 1, 2, 5))):
        left, right = expression(draw, known, draw.randrange(1, 6)), expression(draw, known, 1)
        rows.append(f'c{i} = "{left} {draw.choice(("=", "=", ">=", "<="))} {right}"')
    rows += ["[events]", f'e = "{expression(draw, known, 3)} = {expression(draw, known, 1)}"'] * (draw.random() < 0.3)
    rows += ["[draw]", f's = {{ point = ["{expression(draw, known, 2)}", "{q[0]}"] }}'] * (draw.random() < 0.3)
    return "\n".join([*rows, "[run]", "until = 1", ""])


def by_bodies(draw):
    space = draw.random() < 0.5
    size = 3 if space else 2
    rows, bodies = [], []

    def vector(length=size, numbers=("0", "1", "-1", "0.5", "2", "1e-3")):
        return "[" + ", ".join(draw.choice(numbers) for _ in range(length)) + "]"

    for i in range(draw.choice((1, 1, 2, 3, 5))):
        bodies.append(f"b{i}")
        mass = draw.choice(("1.0", "0.3", "2", '"2*3"', "1e-9", "1e9", draw.choice(("1", "-1", "0", "1e200"))))
        inertia = (
            draw.choice(("[1, 1, 1]", "[1, 2, 2.5]", "[1, 1, 1]", "[0, 0, 0]")) if space else draw.choice(("1", "0.1"))
        )
        rows += [f"[bodies.b{i}]", f"mass = {mass}", f"inertia = {inertia}", f"position = {vector()}"]
    for i in range(draw.choice((0, 1, 1, 2, 4))):
        kind, first = draw.choice(JOINTS), draw.choice(["ground", *bodies])
        rows += [f"[joints.j{i}]", f'kind = "{kind}"', f'first = "{first}"', f'second = "{draw.choice(bodies)}"']
        local = ["x", "y", "z"][:size]
        keys = {
            "revolute": ["at", "axis"] if space else ["at"], "rod": [], "universal": ["at"], "point-on-surface": [],
            "spherical": ["at"], "fixed": ["at"], "point-on-plane": ["at", "normal"], "point-on-curve": [],
            "rolling-ball": [], "rolling-wheel": [], "skate": ["at", "direction"],
        }.get(kind, ["at", "axis"])  # fmt: skip
        rows += [f"{key} = {vector()}" for key in keys]
        if kind == "point-on-surface":
            rows += [f"symbols = {json.dumps(local)}", f'surface = "{expression(draw, local, draw.randrange(1, 6))}"']
        if kind == "point-on-curve":
            curve = json.dumps([expression(draw, ["s"], 2) for _ in range(size)])
            rows += ['parameter = "s"', f"curve = {curve}"]
        if kind == "universal":
            rows += [f"axes = [{vector()}, {vector()}]"]
        if kind.startswith("rolling"):
            rows += ["radius = 1"]
    rows += ["[gravity]", f"acceleration = {vector()}"] * (draw.random() < 0.5)
    names = [f"{body}.{axis}" for body in bodies for axis in "xyz"[:size]]
    components = json.dumps([expression(draw, names, 2) for _ in range(size)])
    force = ["[elements.f]", 'kind = "force"', f'body = "{bodies[0]}"', f"components = {components}"]
    rows += force * (draw.random() < 0.5)
    rows += ["[constraints]", f'c = "{expression(draw, names, 3)} = 0"'] * (draw.random() < 0.2)
    return "\n".join([*rows, "[run]", "until = 1", ""])


def reading(path):
    """What became of reading a file, and what is to be said of it."""
    from zwang.errors import ModelFileError
    from zwang.files.read import load_model
    from zwang.files.toml.document import BEYOND

    try:
        load_model(path)
    except ModelFileError as error:
        placed = error.problems and all(p.file and p.line >= 1 and p.column >= 1 and p.message for p in error.problems)
        words = next((p.message for p in error.problems if p.message.startswith(BEYOND)), "")
        return "refused" if placed else "refused without a place", words
    return "accepted", ""


def measured(action, *given):
    """What became of something, the processor time in seconds and the memory at its peak in MB."""
    forget_peak()
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    begin = time.process_time()
    try:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            outcome, words = action(*given)
    except BaseException as error:
        outcome, words = "foreign", f"{type(error).__name__}: {error} {where(error)}"
    taken = time.process_time() - begin
    signal.setitimer(signal.ITIMER_PROF, 0)
    return {"outcome": outcome, "seconds": round(taken, 3), "megabytes": peak(), "words": words[:300]}


def where(error):
    """The last line of code that an error came from."""
    last = traceback.extract_tb(error.__traceback__)[-1:]
    return "".join(f"at {Path(frame.filename).name}:{frame.lineno}" for frame in last)


def limited():
    """Let this process end what takes too long, and have no more memory than some."""

    def too_long(*_):
        raise KeyboardInterrupt("too long")

    signal.signal(signal.SIGPROF, too_long)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def forget_peak():
    """Let the peak of memory count from here, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak():
    """The most memory that this process had, in MB."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+)", status).group(1)) // 1024
    except (OSError, AttributeError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def content(kind, seed, texts):
    """The file of a seed."""
    return {"mutated": mutated, "generated": generated}[kind](random.Random(f"{kind} {seed}"), texts)


def main(kind, first, count):
    """Read some files."""
    from zwang.cli import library

    limited()
    texts = bases()
    with tempfile.TemporaryDirectory() as folder:
        for text in texts:
            for name in library.tables_of(text):
                if (library.folder() / name).is_file():
                    (Path(folder) / name).write_bytes((library.folder() / name).read_bytes())
        path = Path(folder) / "model.toml"
        for seed in range(int(first), int(first) + int(count)):
            path.write_bytes(content(kind, seed, texts))
            print(json.dumps({"kind": kind, "seed": seed, **measured(reading, path)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
