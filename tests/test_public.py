"""The public surface: complete, documented, light to import."""

import importlib
import inspect
import subprocess
import sys

import pytest

import zwang as zw
from zwang import errors


def test_all_names_are_importable_and_no_others_are_promised():
    assert set(zw.__all__) == set(zw._HOME) | {"__version__"}
    assert sorted(zw.__all__) == zw.__all__
    assert dir(zw) == sorted(zw.__all__)
    for name, home in zw._HOME.items():
        assert getattr(zw, name) is getattr(importlib.import_module(home), name)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'newton'"):
        _ = zw.newton


@pytest.mark.parametrize("name", sorted(set(zw.__all__) - {"__version__", "t"}))
def test_every_public_name_says_what_it_is(name):
    thing = getattr(zw, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing):
        for attribute, value in vars(thing).items():
            if not attribute.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                assert inspect.getdoc(value), f"{name}.{attribute}"


def test_importing_zwang_imports_nothing_heavy():
    code = (
        "import sys, zwang; zwang.__version__; dir(zwang)\n"
        "heavy = {'sympy', 'symengine', 'llvmlite', 'scipy', 'numpy', 'heyoka', 'xarray', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_errors_are_one_tree_with_one_root():
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, Exception)]
    assert errors.ZwangError in classes
    for c in classes:
        assert issubclass(c, errors.ZwangError)
        assert inspect.getdoc(c)
        assert c.__name__ in errors.__doc__  # the tree is drawn on top


def test_every_error_raised_in_the_source_is_in_that_tree():
    """Modules raise their own errors from `zwang.errors`, under the names exported there."""
    for name in ("model.system", "equations.equations", "model.values", "evaluation", "verdict", "formulations.solve"):
        module = importlib.import_module(f"zwang.{name}")
        raised = {found: x for found, x in vars(module).items() if inspect.isclass(x) and issubclass(x, Exception)}
        own = {found: x for found, x in raised.items() if issubclass(x, errors.ZwangError)}
        assert own == {found: getattr(errors, found) for found in own}
