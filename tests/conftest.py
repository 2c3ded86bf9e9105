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
