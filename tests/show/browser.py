"""A headless Chromium for tests that open pages; where none is installed they say so."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


@contextmanager
def browser(width: int = 1280, height: int = 900, *, dark: bool = False, less_motion: bool = False) -> Iterator[Any]:
    """A selenium driver on Chromium whose pages are `width` × `height`; the test is skipped where there is none."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("no browser: install Chromium and chromedriver to test pages in one")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        driver = webdriver.Chrome(options=options, service=Service(chromedriver))
        try:
            size = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": width < 500}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            features = [
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                {"name": "prefers-reduced-motion", "value": "reduce" if less_motion else "no-preference"},
            ]
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
            yield driver
        finally:
            driver.quit()


def open_page(driver: Any, html: str, folder: Path) -> None:
    """Open a page from a file, as a person would."""
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    driver.get(path.as_uri())


def complaints(driver: Any) -> list[str]:
    """What the page wrote to the console as an error or a warning."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
