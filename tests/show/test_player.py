"""The player: its fragment, its data, and in a real browser that it plays."""

import html
import json
import re
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.show.browser import browser, complaints, open_page
from tests.show.motions import double_pendulum, four_bar, pendulum, rolling_disc
from zwang.show.player import MOST_FRAMES, SCRIPTS, data_of, player_html, player_page, speeds_of
from zwang.show.scene import scene_of

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'"
INPUT = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))"


def hostile() -> Any:
    motion = pendulum().copy()
    shapes = json.loads(motion.drawing.attrs["shapes"])
    shapes[0]["name"] = HOSTILE
    motion["drawing"] = motion.drawing.assign_attrs(shapes=json.dumps(shapes))
    return motion.assign_attrs(system=HOSTILE)


def data_in(fragment: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json">(.*?)</script>', fragment, re.DOTALL)
    assert found
    return json.loads(found[1])


def decoded(data: dict[str, Any]) -> Any:
    columns = [c if isinstance(c, list) else [c] * data["frames"] for c in data["columns"]]
    return np.array(columns, dtype=float).T.reshape(data["frames"], -1, data["dimension"]) * data["quantum"]


@pytest.mark.parametrize("make", [pendulum, double_pendulum, four_bar, rolling_disc])
def test_the_data_are_the_places_to_a_part_of_a_pixel(make: Any) -> None:
    motion = make()
    data = data_in(player_html(motion))
    scene = scene_of(motion)
    low, high = scene.bounds()
    shown = scene.at(np.linspace(data["begin"], data["end"], data["frames"]))
    assert np.abs(decoded(data) - shown.places).max() < (high - low).max() / 20_000


def test_frames_and_size_are_bounded() -> None:
    motion = pendulum()[["q", "drawing"]].interp(time=np.linspace(0, 5, 20_001))
    fragment = player_html(motion)
    assert data_in(fragment)["frames"] == MOST_FRAMES
    assert len(fragment) < 60_000
    many = motion.isel(time=slice(None, None, 100)).isel(drawn=np.zeros(4000, int) + 3)
    many["drawing"] = many.drawing.assign_attrs(
        shapes=json.dumps([{"name": "chain", "kind": "line", "first": 0, "count": 4000, "color": "", "trail": False}])
    )
    assert len(player_html(many)) < 4_000_000


def test_uneven_times_become_even() -> None:
    motion = pendulum().isel(time=np.r_[0:100, 100:251:5])
    data = data_of(scene_of(motion))
    assert data["frames"] == 251
    assert np.abs(np.hypot(*decoded(data)[:, 3].T) - 1).max() < 1e-2


def test_places_without_a_number_are_null() -> None:
    motion = pendulum().copy(deep=True)
    motion.drawing.values[3, 3] = np.nan
    assert data_in(player_html(motion))["columns"][6][3] is None


def test_what_does_not_move_is_sent_once() -> None:
    assert data_of(scene_of(pendulum()))["columns"][:2] == [0, 0]


def test_the_controls_can_be_found() -> None:
    fragment = player_html(pendulum(), "one")
    for role in ("play", "scrub", "time", "speed", "reset"):
        assert fragment.count(f'data-role="{role}"') == 1
    assert 'id="one"' in fragment


def test_names_are_text_never_markup() -> None:
    fragment = player_html(hostile(), 'a"><b')
    assert "<img" not in fragment
    assert fragment.count("<script") == fragment.count("</script>") == 2
    assert html.escape('a"><b') in fragment
    assert data_in(fragment)["shapes"][0]["name"] == HOSTILE


def test_nothing_comes_from_outside_and_nothing_is_evaluated() -> None:
    page = player_page(pendulum())
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\';' in page
    assert not re.search(r"https?:|src=|@import|url\(|<link", page)
    scripts = "".join((files("zwang.show") / "assets" / name).read_text(encoding="utf-8") for name in SCRIPTS)
    assert not re.search(r"\beval\b|innerHTML|outerHTML|insertAdjacent|document\.write|new Function", scripts)


def test_speeds_go_from_a_tenth_to_ten_times() -> None:
    assert speeds_of(scene_of(pendulum())) == [0.1, 0.2, 0.5, 1, 2, 5, 10]
    short = pendulum().assign_coords(time=np.linspace(0, 0.03, 251))
    assert '<option value="0.005" selected>0.005×</option>' in player_html(short)
    assert '<option value="1.0">real time</option>' in player_html(short)
    days = pendulum()
    days = days.assign_coords(time=("time", np.linspace(0, 365, 251), {"units": "d"}))
    assert '<option value="50.0" selected>50 d a second</option>' in player_html(days)


# ---- in a browser ----


def find(driver: Any, role: str) -> Any:
    return driver.find_element("css selector", f'[data-role="{role}"]')


def shown_time(driver: Any) -> float:
    return float(re.search(r"t = (\S+)", find(driver, "time").text)[1])  # type: ignore[index]


def colours(driver: Any, index: int = 0) -> set[tuple[int, ...]]:
    """The colours on a canvas."""
    pixels = driver.execute_script(
        "const c = document.querySelectorAll('canvas')[arguments[0]];"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const seen = new Set();"
        "for (let i = 0; i < d.length; i += 4) seen.add(d.slice(i, i + 4).join());"
        "return [...seen];",
        index,
    )
    return {tuple(map(int, p.split(","))) for p in pixels}


def picture(driver: Any) -> str:
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    return driver.execute_script("return document.querySelector('canvas').toDataURL()")


@pytest.fixture(scope="module")
def driver() -> Any:
    with browser() as found:
        yield found


@pytest.mark.parametrize("make", [pendulum, rolling_disc])
def test_it_plays_pauses_and_scrubs(driver: Any, make: Any, tmp_path: Path) -> None:
    open_page(driver, f"<!DOCTYPE html><meta charset=utf-8><body>{player_html(make())}</body>", tmp_path)
    assert shown_time(driver) == 0  # it waits to be asked
    still = picture(driver)
    find(driver, "play").click()
    time.sleep(0.6)
    assert find(driver, "play").get_attribute("aria-label") == "Pause"
    find(driver, "play").click()
    there = shown_time(driver)
    assert 0.2 < there < 4
    moved = picture(driver)
    assert moved != still
    time.sleep(0.3)
    assert shown_time(driver) == there  # it stays
    assert picture(driver) == moved
    driver.execute_script(INPUT, find(driver, "scrub"), 2.5)
    assert shown_time(driver) == 2.5
    assert len(colours(driver)) > 20
    driver.execute_script(INPUT, find(driver, "scrub"), 0)
    assert picture(driver) == still
    assert complaints(driver) == []


def test_it_stops_at_the_end_and_begins_again(driver: Any, tmp_path: Path) -> None:
    open_page(driver, player_html(pendulum()), tmp_path)
    driver.execute_script(INPUT, find(driver, "scrub"), 4.9)
    find(driver, "play").click()
    time.sleep(0.5)
    assert shown_time(driver) == 5
    assert find(driver, "play").get_attribute("aria-label") == "Play"
    find(driver, "play").click()
    time.sleep(0.2)
    assert shown_time(driver) < 2


def test_the_speed_is_the_one_chosen(driver: Any, tmp_path: Path) -> None:
    open_page(driver, player_html(pendulum()), tmp_path)
    driver.execute_script("arguments[0].value = '0.1'", find(driver, "speed"))
    find(driver, "play").click()
    time.sleep(0.5)
    find(driver, "play").click()
    assert 0 < shown_time(driver) < 0.5


def test_keys_play_and_step(driver: Any, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    open_page(driver, player_html(pendulum()), tmp_path)
    canvas = driver.find_element("css selector", "canvas")
    canvas.send_keys(Keys.ARROW_RIGHT)
    assert shown_time(driver) == 0.02
    canvas.send_keys(Keys.END)
    assert shown_time(driver) == 5
    canvas.send_keys(Keys.HOME)
    canvas.send_keys(" ")
    time.sleep(0.3)
    canvas.send_keys(" ")
    assert 0 < shown_time(driver) < 3


@pytest.mark.parametrize("make", [pendulum, rolling_disc])
def test_dragging_changes_the_view_and_reset_brings_it_back(driver: Any, make: Any, tmp_path: Path) -> None:
    from selenium.webdriver import ActionChains

    open_page(driver, player_html(make()), tmp_path)
    before = picture(driver)
    canvas = driver.find_element("css selector", "canvas")
    ActionChains(driver).move_to_element(canvas).click_and_hold().move_by_offset(80, 30).release().perform()
    turned = picture(driver)
    assert turned != before
    find(driver, "reset").click()
    assert picture(driver) == before
    driver.execute_script(
        "arguments[0].focus(); arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -200, cancelable: true}))",
        canvas,
    )
    assert picture(driver) != before


def test_several_players_on_one_page_do_not_mind_each_other(driver: Any, tmp_path: Path) -> None:
    open_page(driver, player_html(pendulum(), "a") + player_html(rolling_disc(), "b"), tmp_path)
    plays = driver.find_elements("css selector", '[data-role="play"]')
    times = driver.find_elements("css selector", '[data-role="time"]')
    plays[1].click()
    time.sleep(0.4)
    plays[1].click()
    assert times[0].text == "t = 0.00 s"
    assert times[1].text != "t = 0.00 s"
    assert min(len(colours(driver, 0)), len(colours(driver, 1))) > 20
    assert complaints(driver) == []


def test_hostile_names_are_harmless(driver: Any, tmp_path: Path) -> None:
    open_page(driver, player_page(hostile()), tmp_path)
    assert driver.execute_script("return window.hacked") is None
    assert driver.find_element("css selector", ".zw-legend li").text == HOSTILE
    assert (
        driver.execute_script(
            "return Object.keys(window).filter((k) => /^(view|places|root|data|planeView|haloText)$/.test(k))"
        )
        == []
    )


def test_on_a_phone_nothing_sticks_out_and_dark_is_dark(tmp_path: Path) -> None:
    with browser(390, 700, dark=True, less_motion=True) as driver:
        open_page(driver, player_page(rolling_disc()), tmp_path)
        time.sleep(0.3)
        assert shown_time(driver) == 0  # who asked for less motion gets it
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
        canvas = driver.find_element("css selector", "canvas")
        assert driver.execute_script("return arguments[0].width / arguments[0].clientWidth", canvas) == pytest.approx(
            2, rel=0.02
        )
        assert (0x6A, 0xA9, 0xF5, 255) in colours(driver)  # blue, as it is on dark
        assert complaints(driver) == []


def test_on_paper_it_shows_several_positions(driver: Any, tmp_path: Path) -> None:
    open_page(driver, player_html(four_bar()), tmp_path)
    before = picture(driver)
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert picture(driver) != before
    driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert picture(driver) == before
