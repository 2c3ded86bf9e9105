from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from hypothesis import settings

# Scripts that add toys to the tables, each in a process of its own: imported here, they would add them for all tests.
collect_ignore = ["adding"]

# Random cases are the same in every run, on every machine: a failure can always be repeated.
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("ci")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that name Taylor's method need heyoka, which not every platform has; the others must pass without it."""
    if find_spec("heyoka") is None:
        for item in items:
            if "taylor" in item.nodeid:
                item.add_marker(pytest.mark.skip(reason="heyoka is not installed"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--rolled`: every system is lowered in loops over families, as large ones are."""
    parser.addoption("--rolled", action="store_true", help="lower all systems in loops, as large ones are")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What is marked `both_codes` runs on straight-line code and on loops."""
    if metafunc.definition.get_closest_marker("both_codes"):
        metafunc.parametrize("code", ["straight", "rolled"], indirect=True)


def in_loops(patch: pytest.MonkeyPatch) -> None:
    """Lower all systems in loops, whatever their size."""
    from zwang.lowering import matrices
    from zwang.lowering.cache import Kept
    from zwang.lowering.rolled import families

    patch.setattr(families, "ROLLED_FROM", 0)
    patch.setattr(families, "ROLLED_IN_LANES_FROM", 0)
    patch.setattr(matrices, "_KERNELS", Kept())


@pytest.fixture(autouse=True)
def code(request: pytest.FixtureRequest) -> Iterator[str]:
    """On which kind of code a test runs: that which its systems get by their size, or loops for all."""
    loops = request.config.getoption("--rolled") and not request.node.get_closest_marker("by_size")
    kind = getattr(request, "param", "rolled" if loops else "straight")
    with pytest.MonkeyPatch.context() as patch:  # one of its own: a test may undo its own on the way
        if kind == "rolled":
            in_loops(patch)
        yield kind
