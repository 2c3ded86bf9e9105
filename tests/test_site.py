"""The documentation site, opened as files: it searches, and no script complains."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.show.browser import browser, complaints

ROOT = Path(__file__).parents[1]
PAGES = {
    "index.md": "# Start\n\nSee [the second page](deeper/second.md).\n\n$x^2$\n",
    "deeper/second.md": "# Second\n\n## Redundant rows\n\nWhat says again what others say is redundant.\n",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two pages in the site's own theme, with its plugins and scripts."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in PAGES.items():
        page = folder / "docs" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    (folder / "docs" / "assets").symlink_to(ROOT / "docs" / "assets")
    lines = [f"INHERIT: {ROOT / 'mkdocs.yml'}", "docs_dir: docs", "site_dir: site", "hooks: []", "nav:"]
    lines += [f"  - {name}" for name in PAGES]
    (folder / "mkdocs.yml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", folder / "mkdocs.yml"]
    subprocess.run(command, check=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"})
    return folder / "site"


def test_nothing_is_fetched_from_anywhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for tag in ("<script src=", '<link rel="stylesheet" href='):
            assert f'{tag}"http' not in text
        assert "unpkg" not in text


@pytest.mark.parametrize("page", ["index.html", "deeper/second.html"])
def test_a_page_that_was_opened_as_a_file_searches_without_a_complaint(site, page):
    with browser() as driver:
        driver.get((site / page).as_uri())
        driver.execute_script("document.querySelector('#__search').click()")
        query = driver.find_element("css selector", "[data-md-component=search-query]")
        wait(query.is_displayed)
        query.send_keys("redundant")
        found = wait(lambda: driver.find_elements("css selector", ".md-search-result__item"))
        assert "Redundant rows" in found[0].text
        assert found[0].find_element("css selector", "a").get_attribute("href").startswith(site.as_uri())
        assert not complaints(driver)


def wait(look, seconds=30):
    """What looking for something finds, as soon as it is there."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.1)
    return found
