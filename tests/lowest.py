"""The lowest versions that pyproject allows, as constraints for pip: `python tests/lowest.py > lowest.txt`.

What a lower bound promises is only true if somebody tries: `make test-lowest` does.
"""

import re
import sys
import tomllib
from pathlib import Path

BOUND = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9][0-9A-Za-z.]*)\s*(?:,\s*<[^;]*)?(?:;.*)?")


def lowest(requirements: list[str]) -> list[str]:
    """`name==version` for each `name>=version`; every requirement must have a lower bound.

    >>> lowest(["numpy>=2.0,<3", "mkdocstrings[python]>=0.25", "heyoka>=7.10.1; sys_platform == 'linux'"])
    ['numpy==2.0', 'mkdocstrings==0.25', 'heyoka==7.10.1']
    """
    found = []
    for requirement in requirements:
        if (match := BOUND.fullmatch(requirement)) is None:
            sys.exit(f"{requirement!r} in pyproject.toml has no plain lower bound: write name>=version")
        found.append("==".join(match.groups()))
    return found


if __name__ == "__main__":
    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    print(*lowest(settings["project"]["dependencies"] + settings["dependency-groups"]["dev"]), sep="\n")
