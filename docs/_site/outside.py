"""Pages that live elsewhere in the repository become pages of the site, and links to them lead there."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/README.md": "examples.md",
}
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages."""
    for path, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to those pages, and links in them, to where the site has them."""
    uri = page.file.src_uri
    home = next((path for path, name in PAGES.items() if name == uri), f"docs/{uri}")

    def lead(match: re.Match[str]) -> str:
        target = (ROOT / home).parent.joinpath(match[1]).resolve().relative_to(ROOT).as_posix()
        inside = PAGES.get(target) or target.removeprefix("docs/")
        if PAGES.get(target) is None and not target.startswith("docs/"):
            return match[0]  # MkDocs will complain
        return f"]({'../' * uri.count('/')}{inside}{match[2] or ''})"

    return LINK.sub(lead, markdown)
