"""The citation of zwang says what the package says."""

from pathlib import Path

import yaml

from zwang._version import __version__

PLACE = Path(__file__).parents[1] / "CITATION.cff"


def test_the_version_that_is_cited_is_the_version_of_the_package() -> None:
    assert yaml.safe_load(PLACE.read_text(encoding="utf-8"))["version"] == __version__
