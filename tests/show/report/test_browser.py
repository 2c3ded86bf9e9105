"""The report in a real browser: equations and plots are seen, the animation plays, nothing complains or overflows."""

from importlib import resources

import pytest

from tests.show.browser import browser, complaints, open_page
from tests.show.models import APPELL, DRAGGED, HOSTILE, PENDULUM, hostile_model, report_of
from zwang.files.read import load_model
from zwang.show.report.page import report

WIDTHS = {"desktop": 1280, "phone": 390}
EXAMPLES = {file.name: file for file in (resources.files("zwang") / "examples").iterdir() if ".toml" in file.name}

# Elements wider than the page, other than those inside a box that scrolls by itself.
OVERFLOW = """
const wide = [...document.querySelectorAll("main *")].filter((e) =>
  e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, dd, pre, nav, [role=tablist], .plot, math"));
return [document.documentElement.scrollWidth, innerWidth, wide.map((e) => e.outerHTML.slice(0, 80))];
"""


@pytest.fixture(scope="module")
def chromium():
    """One browser for all tests here: to start one takes longer than to look at a report."""
    with browser() as driver:
        yield driver


@pytest.fixture
def driver(chromium):
    """The browser, at the size of a desktop and with light paper."""
    look(chromium)
    complaints(chromium)  # those of earlier pages
    return chromium


def look(driver, width=1280, *, media="", scheme="light"):
    """Set the size of the page, what it is shown on, and the colour scheme that its reader prefers."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def wait(driver, condition, seconds=20):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, seconds, poll_frequency=0.05).until(lambda d: d.execute_script(f"return {condition}"))


def all_drawn(driver):
    """Wait until every plot in sight of a scrolling reader is there."""
    wait(
        driver,
        "[...document.querySelectorAll('.plot')].every((p) => p.closest('[hidden]') || p.querySelector('.main-svg'))",
    )


@pytest.mark.parametrize("device", WIDTHS)
@pytest.mark.parametrize("text", [PENDULUM, APPELL, DRAGGED], ids=["pendulum", "appell", "dragged"])
def test_a_report_shows_its_equations_and_plots_and_fits_its_page(device, text, driver, tmp_path):
    look(driver, WIDTHS[device])
    open_page(driver, report_of(text, forms=("fundamental", "lagrange")), tmp_path)
    all_drawn(driver)
    sizes = driver.execute_script(
        "return [...document.querySelectorAll('#equations math')].map((m) => m.getBoundingClientRect())"
        ".map((box) => [box.width, box.height])"
    )
    assert len(sizes) >= 6
    assert all(width > 5 and height > 5 for width, height in sizes)
    width, page, wide = driver.execute_script(OVERFLOW)
    assert (width, wide) == (page, [])
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert complaints(driver) == []


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_report_of_every_example_fits_a_phone(name, driver, tmp_path):
    look(driver, WIDTHS["phone"])
    model = load_model(EXAMPLES[name])
    begin, end = model.run.begin, model.run.until
    # the page is the same for a fiftieth of the motion, and the quickest method to compile will do
    motion = model.simulate(until=begin + (end - begin) / 50, samples=51, tol=1e-6, method="native")
    open_page(driver, report(model, motion, checks=False), tmp_path)
    all_drawn(driver)
    assert driver.execute_script("return document.querySelectorAll('#equations math').length") >= 1
    width, page, wide = driver.execute_script(OVERFLOW)
    assert (width, wide) == (page, [])
    driver.execute_script("document.querySelector('[data-role=play]')?.click()")
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert complaints(driver) == []


def test_tabs_draw_their_plot_when_chosen_by_mouse_or_keyboard(driver, tmp_path):
    from selenium.webdriver.common.keys import Keys

    open_page(driver, report_of(PENDULUM), tmp_path)
    all_drawn(driver)
    tab = driver.find_element("id", "tab-v")
    tab.click()
    assert driver.find_element("id", "panel-v").is_displayed()
    assert not driver.find_element("id", "panel-q").is_displayed()
    assert len(driver.find_elements("css selector", "#panel-v .main-svg")) >= 1
    tab.send_keys(Keys.ARROW_RIGHT)
    assert driver.find_element("id", "panel-a").is_displayed()
    assert driver.find_element("id", "tab-a").get_attribute("aria-selected") == "true"
    assert complaints(driver) == []


def test_a_plot_tells_its_values_zooms_and_hides_curves(driver, tmp_path):
    from selenium.webdriver import ActionChains

    open_page(driver, report_of(PENDULUM), tmp_path)
    all_drawn(driver)

    def plot(selector):
        return driver.find_elements("css selector", f"#panel-q {selector}")

    svg = plot(".main-svg")[0]
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    ActionChains(driver).move_to_element(svg).perform()
    told = plot(".plot-tip")[0].text.splitlines()
    assert told[0].startswith("t = ")
    assert [line.split(":")[0] for line in told[1:]] == ["x", "y"]
    x, y = (float(line.split(": ")[1].replace("−", "-")) for line in told[1:])
    assert x**2 + y**2 == pytest.approx(1, abs=1e-3)  # the rod's length
    ticks = [text.text for text in plot("svg text")]
    ActionChains(driver).move_to_element(svg).click_and_hold().move_by_offset(80, 0).release().perform()
    zoomed = [text.text for text in plot("svg text")]
    assert zoomed != ticks
    ActionChains(driver).double_click(plot(".main-svg")[0]).perform()
    assert [text.text for text in plot("svg text")] == ticks
    lines = len(plot("path"))
    plot(".plot-legend button")[0].click()
    assert len(plot("path")) == lines - 1
    assert plot(".plot-legend button")[0].get_attribute("aria-pressed") == "false"
    assert complaints(driver) == []


def test_the_animation_plays_pauses_and_can_be_scrubbed(driver, tmp_path):
    open_page(driver, report_of(PENDULUM), tmp_path)

    def role(name):
        return driver.find_element("css selector", f"#animation [data-role={name}]")

    def shown():
        return role("time").text

    begin = shown()
    role("play").click()
    wait(driver, f"document.querySelector('#animation [data-role=time]').textContent !== {begin!r}")
    role("play").click()
    paused = shown()
    driver.execute_async_script("setTimeout(arguments[0], 300)")
    assert shown() == paused
    driver.execute_script(
        "arguments[0].value = 1.5; arguments[0].dispatchEvent(new Event('input', { bubbles: true }))", role("scrub")
    )
    assert shown() == "t = 1.50 s"
    assert complaints(driver) == []


def test_hostile_names_are_shown_and_do_nothing(driver, tmp_path):
    hostile = hostile_model()
    open_page(driver, report(hostile, hostile.simulate(), checks=False), tmp_path)
    all_drawn(driver)  # an alert would make this fail
    assert driver.find_element("tag name", "h1").text == f"n{HOSTILE}"
    assert driver.execute_script("return document.images.length") == 0
    legend = driver.find_element("css selector", "#panel-q .legendtext").get_attribute("textContent")
    assert legend.startswith("x</script><script>")
    assert complaints(driver) == []


def test_on_paper_every_plot_is_there_and_no_control(driver, tmp_path):
    look(driver, scheme="dark")
    open_page(driver, report_of(PENDULUM), tmp_path)
    all_drawn(driver)
    look(driver, media="print", scheme="dark")
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    plots = driver.find_elements("css selector", ".plot")
    assert all(plot.is_displayed() and plot.find_elements("css selector", ".main-svg") for plot in plots)
    assert not driver.find_element("tag name", "nav").is_displayed()
    assert not driver.find_element("css selector", "[role=tablist]").is_displayed()
    assert driver.find_element("css selector", "details pre").is_displayed()
    assert (
        driver.execute_script("return getComputedStyle(document.documentElement).getPropertyValue('--ink')").strip()
        == "#1d2430"
    )
    assert complaints(driver) == []
