"""Names in the text, such as `zw.simulate`, become links to where the API pages describe them."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import zwang as zw

API = Path(__file__).parents[1] / "api"
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
TEXT_LINE = re.compile(r"^(?!#).*$", re.MULTILINE)
NAME = re.compile(r"(?<![\[`])`(zwang|zw|mb)((?:\.\w+)+)(\([^`]*\))?`(?!`)")
MODULES = {"zwang": "zwang", "zw": "zwang", "mb": "zwang.multibody"}


@cache
def described() -> dict[str, str]:
    """Every name that has a description, and the one under which the API pages have it."""
    listed = [n for page in API.glob("*.md") for n in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.M)]
    names = {name: name for name in listed}
    for name in zw.__all__:  # public names are listed under zwang or under their home, and found under both
        both = (f"zwang.{name}", f"{getattr(getattr(zw, name), '__module__', '')}.{name}")
        names |= {known: other for known in both for other in both if other in listed}
    return names


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Link the names of a page, headings and code blocks apart."""
    if page.file.src_uri.startswith(("api/", "changelog")):
        return markdown
    parts = FENCED.split(markdown)
    parts[::2] = [TEXT_LINE.sub(lambda line: NAME.sub(link, line[0]), part) for part in parts[::2]]
    return "".join(parts)


def link(match: re.Match[str]) -> str:
    """A cross-reference, if the name is described."""
    target = described().get(MODULES[match[1]] + match[2])
    return f"[{match[0]}][{target}]" if target else match[0]
