"""The player: its fragment, its data, and in a real browser that it plays."""

import base64
import html
import json
import re
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zwang as zw
from tests.show.browser import browser, complaints, open_page
from tests.show.motions import double_pendulum, four_bar, gyroscope, pendulum, rolling_disc
from zwang import multibody as mb
from zwang.results.drawing import with_drawing
from zwang.show.player import MOST_FRAMES, SCRIPTS, data_of, player_html, player_page, speeds_of
from zwang.show.scene import scene_of
from zwang.show.surface import surface_of

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


@pytest.mark.parametrize("make", [pendulum, double_pendulum, four_bar, rolling_disc, gyroscope])
def test_the_data_are_the_places_to_a_part_of_a_pixel(make: Any) -> None:
    motion = make()
    data = data_in(player_html(motion))
    scene = scene_of(motion)
    low, high = scene.bounds()
    extent = (high - low).max()
    shown = scene.at(np.linspace(data["begin"], data["end"], data["frames"]))
    places = shown.places.copy()
    for first in {s.first for s in scene.shapes if s.solid is not None}:
        places[:, first + 1 : first + 3] *= extent  # axes are as large as the scene, to be as fine
    assert np.abs(decoded(data) - places).max() < extent / 20_000


def test_solids_are_sent_once_and_named_once_a_body() -> None:
    fragment = player_html(gyroscope())
    data = data_in(fragment)
    assert [s["solid"] for s in data["shapes"]] == list(range(6))
    assert len(data["solids"]) == 6
    assert {s["first"] for s in data["shapes"][2:5]} == {data["shapes"][2]["first"]}  # one frame for three solids
    assert re.findall(r"<li data-shape=[^>]*>([^<]*)<", fragment) == ["scenery", "top", "arm"]
    box = data["solids"][4]["mesh"]
    corners = np.frombuffer(base64.b64decode(box["vertices"]), "<u2").reshape(-1, 3) * box["quantum"] + box["low"]
    expected = surface_of(scene_of(gyroscope()).shapes[4].solid).vertices
    assert np.abs(corners - expected).max() < 1e-5


def test_meshes_of_many_faces_are_made_lighter() -> None:
    angle = np.linspace(0, 2 * np.pi, 300)
    u, v = (a.reshape(-1) for a in np.meshgrid(angle, angle))
    places = np.column_stack([(2 + np.cos(v)) * np.cos(u), (2 + np.cos(v)) * np.sin(u), np.sin(v)])
    a = (np.arange(299)[:, None] * 300 + np.arange(299)).reshape(-1)
    faces = np.concatenate([np.column_stack([a, a + 1, a + 300]), np.column_stack([a + 1, a + 301, a + 300])])
    body = mb.Body("ring", 1, (1, 1, 1), solids=[mb.Mesh(places, faces)])
    made = mb.Mechanism([body])
    motion = with_drawing(zw.simulate(made.system, made.start, until=1, samples=2), made.drawing, made.system)
    assert motion.mesh_faces.sizes["face"] == len(faces)
    assert len(player_html(motion)) < 1_000_000


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
    driver.execute_script("arguments[0].value = '0.5'", find(driver, "speed"))
    began = time.monotonic()
    find(driver, "play").click()
    time.sleep(0.6)
    assert find(driver, "play").get_attribute("aria-label") == "Pause"
    find(driver, "play").click()
    picture(driver)
    there = shown_time(driver)
    assert 0.1 < there < 0.5 * (time.monotonic() - began) + 0.1  # whatever else the machine does
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


def test_a_solid_hides_what_is_behind_it_and_its_name_is_told(driver: Any, tmp_path: Path) -> None:
    from selenium.webdriver import ActionChains

    bodies = [
        mb.Body("near", 1, (1, 1, 1), solids=[mb.Box((2, 2, 2), color="#ff0000")]),
        mb.Body("within", 1, (1, 1, 1), solids=[mb.Sphere(0.9, color="#00ff00")]),
    ]
    made = mb.Mechanism(bodies)
    motion = with_drawing(zw.simulate(made.system, made.start, until=1, samples=2), made.drawing, made.system)
    open_page(driver, player_html(motion), tmp_path)
    seen = colours(driver)
    assert any(r > 120 and g < 60 for r, g, b, a in seen if a == 255)
    assert not any(g > 120 and r < 60 for r, g, b, a in seen if a == 255)
    canvas = driver.find_element("css selector", "canvas")
    before = picture(driver)
    ActionChains(driver).move_to_element(canvas).perform()
    assert picture(driver) != before  # the name at the pointer
    item = driver.find_elements("css selector", ".zw-legend li")[1]
    ActionChains(driver).move_to_element(item).perform()
    picture(driver)
    assert not any(g > 120 and r < 60 for r, g, b, a in colours(driver) if a == 255)  # others fade, but hide as before
    assert [c for c in complaints(driver) if "willReadFrequently" not in c] == []  # that is this test's own reading


@pytest.mark.parametrize("make", [pendulum, rolling_disc, gyroscope])
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
        blue = np.array([0x6A, 0xA9, 0xF5])  # as it is on dark, in some light
        assert any(
            np.abs(np.array(c[:3]) - light * blue).max() < 3 for c in colours(driver) for light in (0.7, 0.8, 0.9)
        )
        assert complaints(driver) == []


def test_on_paper_it_shows_several_positions(driver: Any, tmp_path: Path) -> None:
    open_page(driver, player_html(four_bar()), tmp_path)
    before = picture(driver)
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert picture(driver) != before
    driver.execute_script("window.dispatchEvent(new Event('afterprint'))")
    assert picture(driver) == before
