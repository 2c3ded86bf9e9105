"""Hostile files: each is refused with a located error, soon; nothing is executed, nothing is written."""

import builtins
import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from zwang.errors import InputError, ModelFileError
from zwang.files.read import load_model, read_model

MODEL = """
[parameters]
m = 1.0
[definitions]
d = "m"
{definitions}
[coordinates]
x = {{ start = {start} }}
y = {{ start = 0.0 }}
[energy]
kinetic = "{kinetic}"
potential = "{potential}"
[inputs]
u = {input}
[constraints]
rod = "{constraint}"
[events]
top = "{event}"
[draw]
bob = {{ point = ["{draw}", "y"] }}
{more}
"""
FINE = {
    "definitions": "", "start": "1.0", "kinetic": "m*(x'^2 + y'^2)/2", "potential": "m*x", "input": "0",
    "constraint": "x = y", "event": "x = 0", "draw": "x", "more": "",
}  # fmt: skip


def model(**parts):
    return MODEL.format(**(FINE | parts))


def nested(opening, inner, closing, count):
    return opening * count + inner + closing * count


def laughs(levels, width, first="x + y"):
    lines = [f'l0 = "{first}"']
    lines += [f'l{i + 1} = "{"*".join([f"l{i}"] * width)}"' for i in range(levels)]
    return "\n".join(lines)


def factors(count):
    return "*".join(f"(x + {i}*y)" for i in range(1, count + 1))


def bodies(count, more=""):
    return more + "".join(
        f"[bodies.b{i}]\nmass = 1\ninertia = [1, 1, 1]\nposition = [{i}, 0, 0]\n" for i in range(count)
    )


SURFACE = """
[joints.floor]
kind = "point-on-surface"
second = "b0"
symbols = ["x", "y", "z"]
surface = "{}"
"""


CODE = {
    "import": "__import__('os').system('touch pwned')",
    "eval": "eval('1')",
    "exec": "exec('import os')",
    "open": "open('pwned', 'w')",
    "attribute": "x.__class__.__mro__",
    "attributes of a number": "(1).__class__",
    "attribute chain": "x.func.__globals__",
    "subclasses": "().__class__.__bases__[0].__subclasses__()",
    "lambda": "(lambda: 0)()",
    "f-string": "f'{x}'",
    "comprehension": "[x for x in y]",
    "generator": "sum(i for i in x)",
    "walrus": "(z := 3)",
    "subscript": "x[0]",
    "star arguments": "sin(*x)",
    "keyword argument": "sin(x, evaluate=False)",
    "statement": "x; import os",
    "backticks": "`id`",
    "dollar": "$(touch pwned)",
    "sympify": "sympify('x')",
    "lambdify": "lambdify(x, x)",
    "symbol": "Symbol('x')",
    "getattr": "getattr(x, 'diff')",
    "builtins": "__builtins__",
    "globals": "globals()",
    "dunder name": "__x__",
    "matrix product": "x @ y",
    "factorial": "factorial(1000000)",
    "bang": "100000!",
    "gamma": "gamma(10^9)",
    "string": '\\"x\\"',
    "bytes": "b'x'",
    "await": "await x",
    "template": "{{x}}",
    "shift": "1 << 1000000000",
    "complex": "1j*x",
    "underscores": "1_000_000*x",
    "hex": "0xffff*x",
}
COSTLY = {
    "huge power": "9^9^9",
    "power tower": "^".join(["9"] * 12),
    "power tower of a name": "^".join(["x"] * 60),
    "huge exponent": "x^1000000",
    "huge exponent of a sum": "(x + y)^100000",
    "power of a power": "((x^100)^100)^100",
    "huge negative exponent": "x^-99999",
    "fraction to a high power": "(1000001/1000000)^(10^300)",
    "long integer": "9" * 5000 + "*x",
    "overflow by a number": "1e999*x",
    "underflow by a number": "1e-999*x",
    "overflow by a product": "1e200*1e200*x",
    "overflow by exp": "exp(exp(exp(10)))*x",
    "overflow in a coefficient": "(10^30*x)^99",
    "factors of 10^400": "sqrt(10^400 + 1)*x",
    "division by zero": "x/0",
    "division by a hidden zero": "x/(y - y)",
    "not a number": "x*0/0",
    "log of zero": "log(0)*x",
    "deep parentheses": nested("(", "x", ")", 5000),
    "deep functions": nested("sin(", "x", ")", 3000),
    "deep signs": "-" * 9000 + "x",
    "deep powers": "x" + "^-x" * 3000,
    "deep conditions": nested("if(x > 0, 1, ", "x", ")", 900),
    "unclosed": "(" * 9999,
    "long": "x" + " + x" * 20000,
    "long name": "x" * 10000,
    "many tokens": "-x" * 5500,
    "product of sums": factors(199),
    "power of a product of sums": f"({factors(60)})^3",
    "products of sums in functions": f"sin({factors(70)})*cos({factors(70)})",
    "if in a condition": "if(if(x > 0, y, 1) > m, x, y)",
    "if hidden in a condition": "if(2*y + sin(if(x > y, y, 1))*x <= if(m > x, x, y), x, y)",
    "rate of time": "t'*x",
    "rate of pi": "pi'*x",
    "many arguments": f"max({', '.join(['x'] * 3000)})",
    "like a regular expression": "(a+)+$" + "a" * 5000,
    "blanks": "x +" + " " * 50000 + "y",
}
FILES = {
    "nested arrays": "a = " + "[" * 100000,
    "nested tables": "a = " + "{a = " * 50000,
    "nested arrays, closed": "a = " + nested("[", "", "]", 50000),
    "dotted key": "a" + ".a" * 40000 + " = 1",
    "dotted section": "[" + "a." * 40000 + "a]",
    "quoted dotted key": '""' + '.""' * 40000 + " = 1",
    "a million keys": "".join(f"k{i} = 1\n" for i in range(40000)),
    "a million parameters": "[parameters]\n" + "".join(f"k{i} = 1\n" for i in range(30000)),
    "a million sections": "".join(f"[k{i}]\n" for i in range(40000)),
    "endless integer": "a = " + "1" * 100000,
    "endless hexadecimal": "a = 0x" + "f" * 100000,
    "endless float": "a = 0." + "1" * 100000,
    "endless line": "x" * 400000,
    "endless string": 'a = "' + "x" * 400000,
    "endless quotes": '"' * 400000,
    "endless backslashes": 'a = "' + "\\" * 400000,
    "endless comment": "#" * 499000 + "\x00",
    "more than enough": "# " + "x" * 600000,
    "NUL": "name = 'a\x00b'",
    "escape sequence": 'name = "\x1b[2J"',
    "right-to-left override": "name = 'a\u202eb'",
    "zero-width space in a key": "[para\u200bmeters]",
    "byte order mark inside": "name = 'a\ufeffb'",
    "fullwidth name": '[parameters]\n"ｍ" = 1',
    "infinite parameter": "[parameters]\nm = inf",
    "nan parameter": "[parameters]\nm = nan",
    "huge parameter": "[parameters]\nm = 1" + "0" * 350,
    "billion laughs": model(definitions=laughs(30, 10), potential="l30"),
    "billion laughs of constants": model(definitions=laughs(30, 10, "1.01"), potential="l30*x"),
    "laughs too deep": model(
        definitions="\n".join(f'l{i} = "1 + sin(l{i - 1} + d)"' for i in range(1, 1500)) + "\nl0 = 1"
    ),
    "long chain of definitions": model(
        definitions="\n".join(f'c{i} = "sin(c{i + 1})"' for i in range(1500)) + '\nc1500 = "x"', potential="c0"
    ),
    "cycle of definitions": model(definitions="\n".join(f'c{i} = "c{(i + 1) % 1500}"' for i in range(1500))),
    "a Cyrillic twin": model(definitions='"х" = 1'),
    "a Greek twin": model(potential="m*\u03bd").replace("m = 1.0", "m = 1.0\nv = 2.0"),
    "energy of degree 90": model(kinetic="(x' + y' + 1)^90"),
    "energy of a tower of powers": model(kinetic="^".join(["(x'^2 + y'^2 + 2)"] * 8)),
    "start of a tower of powers": model(start='"' + "^".join(["(m + 7)"] * 8) + '"'),
    "start of a tower of exponentials": model(start='"' + nested("exp(", "9*m", ")", 9) + '"'),
    "start of a huge power": model(start='"9^9^9"'),
    "start that is not real": model(start='"sqrt(0 - m)"'),
    "table outside the folder": model(input='{ file = "../secret.csv" }'),
    "absolute table": model(input='{ file = "/etc/passwd" }'),
    "device": model(input='{ file = "/dev/zero" }'),
    "windows path": model(input='{ file = "C:\\\\secret.csv" }'),
    "windows parent": model(input='{ file = "..\\\\secret.csv" }'),
    "home": model(input='{ file = "~/secret.csv" }'),
    "address": model(input='{ file = "http://example.org/a.csv" }'),
    "hidden parent": model(input='{ file = "a/../../secret.csv" }'),
    "NUL in a path": model(input='{ file = "a\\u0000b.csv" }'),
    "folder as a table": model(input='{ file = "." }'),
    "link out of the folder": model(input='{ file = "link.csv" }'),
    "long path": model(input='{ file = "' + "a/" * 5000 + 'a.csv" }'),
    "link that leads to itself": model(input='{ file = "round.csv" }'),
    "product of sums as a surface": bodies(1) + SURFACE.format("*".join(f"(x + {i})" for i in range(1, 200))),
    "many products of sums": model(definitions="\n".join(f'p{i} = "{factors(40)}"' for i in range(20))),
    "product of definitions": model(definitions=laughs(1, 80, "x*y + y"), potential="l1*l1"),
    "many repeated bodies in space": bodies(1).replace("mass", 'for = "i = 1:301"\nmass', 1),
    "many bodies without end": bodies(2000),
    "many unknown names": model(
        definitions="\n".join(f'd{i} = "parameter_nomber_{i}"' for i in range(1500)),
        more="[forces]\n" + "\n".join(f'coordinate_{i} = "z{i}"' for i in range(1500)),
    ).replace("m = 1.0", "m = 1.0\n" + "\n".join(f"parameter_number_{i} = 1" for i in range(1500))),
    "many unknown functions": model(definitions="\n".join(f'd{i} = "coss_{i}(x)"' for i in range(1500))),
    "many unknown keys": model(more="[run]\n" + "\n".join(f"untill_{i} = 1" for i in range(1500))),
    "many parameters that are none": "[parameters]\n" + "\n".join(f"a{i} = nan" for i in range(1900)),
    "endless samples": model(more="[run]\nuntil = 1\nsamples = 100000000"),
    "endless times": model(input="{ times = [" + "0," * 120000 + "], values = [0, 1] }"),
}
PLACES = ("potential", "kinetic", "constraint", "event", "draw")
CASES = {
    **{f"{name} in {place}": model(**{place: text}) for name, text in CODE.items() for place in PLACES[:1]},
    **{f"import in {place}": model(**{place: CODE["import"]}) for place in PLACES[1:]},
    **{name: model(potential=text) for name, text in COSTLY.items()},
    **FILES,
}


def test_the_template_itself_is_fine():
    assert read_model(model()).system.constraint_names == ("rod",)
    assert len(CASES) >= 100


@pytest.fixture(scope="module", autouse=True)
def _everything_is_imported(tmp_path_factory):
    """Imports execute: what is imported on first use is imported before that is forbidden."""
    path = tmp_path_factory.mktemp("fine") / "model.toml"
    (path.parent / "u.csv").write_text("t,u\n0,0\n1,1\n2,0\n")
    path.write_text(model(input='{ file = "u.csv", kind = "cubic" }'))
    load_model(path)
    path.write_text(model(potential="thta + 9^9", kinetic="x'^4 + sin(y')"))
    with pytest.raises(ModelFileError):
        load_model(path)


@pytest.mark.parametrize("what", CASES)
def test_hostile_files_are_refused(what, tmp_path, monkeypatch):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text("t,u\n0,1\n1,2\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "round.csv").symlink_to("round.csv")
    path = folder / "model.toml"
    path.write_bytes(CASES[what].encode("utf-8", "surrogatepass"))
    before = contents(tmp_path)
    monkeypatch.chdir(folder)
    caught = None
    with monkeypatch.context() as guard:
        forbid(guard)
        begin = time.process_time()  # not spoilt by what else the machine does
        try:
            load_model(path)
        except Exception as error:
            caught = error
        elapsed = time.process_time() - begin
    assert isinstance(caught, ModelFileError), caught
    assert contents(tmp_path) == before
    assert elapsed < 1
    assert caught.problems
    for problem in caught.problems:
        assert problem.line >= 1
        assert problem.column >= 1
        assert problem.message
    said = str(caught)
    assert len(said) < 20000
    assert "\x1b" not in said
    assert "secret.csv" not in said or "leads out" in said


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() if p.is_file() else b"" for p in sorted(folder.rglob("*"))}


def forbid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make everything that could execute or write fail the test."""

    def refuse(*args, **kwargs):
        raise AssertionError(f"called with {str(args)[:100]}")

    real_open, real_os_open = builtins.open, os.open

    def open_to_read(file, mode="r", *args, **kwargs):
        assert set(mode) <= set("rbt"), f"{file} is opened for {mode}"
        return real_open(file, mode, *args, **kwargs)

    def os_open_to_read(path, flags, *args, **kwargs):
        assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        return real_os_open(path, flags, *args, **kwargs)

    for module, name in [
        (builtins, "eval"), (builtins, "exec"), (builtins, "compile"), (os, "system"), (os, "popen"), (os, "remove"),
        (os, "replace"), (os, "rename"), (os, "mkdir"), (subprocess, "Popen"),
    ]:  # fmt: skip
        monkeypatch.setattr(module, name, refuse)
    monkeypatch.setattr(builtins, "open", open_to_read)
    monkeypatch.setattr(os, "open", os_open_to_read)


LARGE = {
    "chain of 100 masses": (
        "[coordinates]\n" + "".join(f"x{i} = 0\n" for i in range(100))
        + f"""[energy]\nkinetic = "({' + '.join(f"x{i}'^2" for i in range(100))})/2"\n"""
        + f"""potential = "({' + '.join(f'(x{i + 1} - x{i})^2' for i in range(99))})/2"\n"""
    ),
    "100 rods": (
        "[coordinates]\n" + "".join(f"x{i} = {i}\ny{i} = 0\n" for i in range(101))
        + f"""[energy]\nkinetic = "{' + '.join(f"x{i}'^2 + y{i}'^2" for i in range(101))}"\n[constraints]\n"""
        + "".join(f'r{i} = "(x{i + 1} - x{i})^2 + (y{i + 1} - y{i})^2 = 1"\n' for i in range(100))
    ),
    "matrix of 100 by 100": (
        "[coordinates]\n" + "".join(f"x{i} = 1\n" for i in range(100)) + "[mass]\nmatrix = ["
        + ", ".join(str([100 if i == j else 1 for j in range(100)]) for i in range(100)) + "]\n"
    ),
    "12 bodies in space": bodies(12) + "".join(
        f'[joints.j{i}]\nkind = "spherical"\nfirst = "b{i}"\nsecond = "b{i + 1}"\nat = [{i}.5, 0, 0]\n'
        for i in range(11)
    ),
    "a long if": model(potential="".join(f"if(x < {i}, {i}*x^2, " for i in range(35)) + "x" + ")" * 35),
}  # fmt: skip


@pytest.mark.parametrize("what", LARGE)
def test_large_models_that_people_write_are_read(what):
    begin = time.process_time()
    assert read_model(LARGE[what])
    assert time.process_time() - begin < 2


FOREIGN = [ValueError("a strange number"), RecursionError(), np.linalg.LinAlgError("singular"), TypeError("cannot"),
           ZeroDivisionError(), AssertionError(), InputError("no")]  # fmt: skip


@pytest.mark.parametrize("error", FOREIGN, ids=repr)
def test_errors_that_nobody_foresaw_have_a_place(error, monkeypatch):
    def fail(*args, **kwargs):
        raise error

    text = bodies(2) + '[joints.pin]\nkind = "spherical"\nsecond = "b1"\nat = [0, 0, 0]\n'
    monkeypatch.setattr("zwang.multibody.Spherical", fail)
    with pytest.raises(ModelFileError) as refused:
        read_model(text)
    assert [problem.line for problem in refused.value.problems] == [9]
    monkeypatch.setattr("zwang.files.language.build.total", fail)
    with pytest.raises(ModelFileError) as refused:
        read_model(model(potential="m*x + 1").replace("m*(x'^2 + y'^2)/2", "m*x'^2"))
    assert refused.value.problems[0].source.startswith("potential")
    monkeypatch.setattr("zwang.files.reader.System", fail)
    with pytest.raises(ModelFileError) as refused:
        read_model(model(kinetic="x'^2"))
    assert refused.value.problems[0].line >= 1


def test_links_in_a_circle_are_no_model(tmp_path):
    (tmp_path / "a.toml").symlink_to("b.toml")
    (tmp_path / "b.toml").symlink_to("a.toml")
    with pytest.raises(ModelFileError, match="the file cannot be read"):
        load_model(tmp_path / "a.toml")
