"""Hostile files: each is refused with a located error, soon; nothing is executed, nothing is written."""

import builtins
import os
import subprocess
import time
from pathlib import Path

import pytest

from zwang.errors import ModelFileError
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
