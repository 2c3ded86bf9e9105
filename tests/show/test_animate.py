"""Animations as files and in notebooks."""

from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from PIL import Image

import zwang as zw
from tests.show.motions import double_pendulum, four_bar, pendulum, rolling_disc
from zwang import dot
from zwang.errors import InputError
from zwang.model.drawing import Drawing, Shape
from zwang.show import film
from zwang.show.animate import animate, save_animation

SMALL: dict[str, Any] = {"fps": 5, "size": (160, 120)}


@pytest.mark.parametrize("make", [pendulum, rolling_disc])
def test_a_gif_has_its_pictures_lasts_as_long_and_moves(make: Any, tmp_path: Path) -> None:
    motion = make()
    path = save_animation(motion, tmp_path / "motion.gif", **SMALL)
    with Image.open(path) as gif:
        count = round(float(motion.time[-1]) * 5) + 1
        assert (gif.n_frames, gif.size, gif.info["loop"]) == (count, (160, 120), 0)
        pictures, durations = [], []
        for i in range(gif.n_frames):
            gif.seek(i)
            pictures.append(np.asarray(gif.convert("RGB")))
            durations.append(gif.info["duration"])
    assert set(durations) == {200}
    assert all((a != b).any() for a, b in pairwise(pictures))
    assert (pictures[0][0, 0] == 255).all()  # paper is white


def test_a_gif_keeps_its_speed_at_a_rate_that_gifs_cannot_have(tmp_path: Path) -> None:
    path = save_animation(pendulum(), tmp_path / "motion.gif", fps=30, size=(80, 64), speed=5)
    with Image.open(path) as gif:
        assert gif.n_frames * gif.info["duration"] == pytest.approx(1000, abs=50)


@pytest.mark.parametrize("installed", [True, False])
def test_a_film_is_an_mp4(installed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the ffmpeg of the system if there is one, else with that of imageio-ffmpeg."""
    if not installed:
        monkeypatch.setattr(film.shutil, "which", lambda _: None)
        assert "imageio_ffmpeg" in film.ffmpeg()
    path = save_animation(pendulum(), tmp_path / "motion.mp4", fps=5, size=(161, 121))  # odd sizes too
    content = path.read_bytes()
    assert content[4:8] == b"ftyp"
    assert b"moov" in content


@pytest.mark.parametrize("make", [pendulum, double_pendulum, four_bar, rolling_disc])
def test_a_still_shows_earlier_positions_too(make: Any, tmp_path: Path) -> None:
    path = save_animation(make(), tmp_path / "still.png", size=(320, 240))
    with Image.open(path) as picture:
        assert picture.size == (640, 480)
        assert len(picture.convert("RGB").getcolors(10**6)) > 100


def test_a_page_has_the_player(tmp_path: Path) -> None:
    page = save_animation(pendulum(), tmp_path / "motion.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>Pendulum</title>" in page
    assert 'data-role="play"' in page


def test_a_notebook_gets_the_player_in_a_frame_of_its_own() -> None:
    shown = animate(pendulum())._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert 'sandbox="allow-scripts"' in shown
    assert shown.count("<") == 2


def test_a_drawing_of_its_own_with_parameters(tmp_path: Path) -> None:
    x, y = zw.coordinates("x y")
    width = sp.Symbol("width")  # only the drawing uses it
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, parameters={width: 1.0})
    motion = zw.simulate(system, {x: 0, y: 0, dot(x): 1, dot(y): 1}, until=4)
    drawing = Drawing((Shape("wheel", "circle", ((x, y),), radius=width),))
    animation = animate(motion, drawing, system, {width: 2.0})
    assert animation.motion.drawing.values[-1].tolist() == [[4.0, 4.0], [2.0, 0.0]]
    assert animation.save(tmp_path / "a.gif", **SMALL).exists()
    with pytest.raises(InputError, match="needs its system"):
        animate(motion, drawing)


def test_one_sample_of_many_can_be_drawn() -> None:
    x, y = zw.coordinates("x y")
    system = zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2)
    many = zw.simulate_many(system, {x: [0, 1], y: 0, dot(x): 1, dot(y): 1}, until=4)
    drawing = Drawing((Shape("it", "point", ((x, y),)),))
    with pytest.raises(InputError, match=r"isel\(sample=0\)"):
        animate(many, drawing, system)
    animate(many.isel(sample=1), drawing, system)
    animate(many.isel(sample=1))


def test_missing_places_are_left_out(tmp_path: Path) -> None:
    motion = rolling_disc().copy(deep=True)
    motion.drawing.values[100:200, 0] = np.nan
    whole = save_animation(rolling_disc(), tmp_path / "whole.png", size=(160, 120)).read_bytes()
    assert save_animation(motion, tmp_path / "a.png", size=(160, 120)).read_bytes() != whole
    assert save_animation(motion, tmp_path / "a.gif", **SMALL).read_bytes().startswith(b"GIF8")


def test_a_single_moment_is_a_picture(tmp_path: Path) -> None:
    one = pendulum().isel(time=slice(1))
    for suffix in ("gif", "png", "html"):
        save_animation(one, tmp_path / f"a.{suffix}", **SMALL)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"path": "motion.avi"}, r"'motion.avi'.*\.gif, \.mp4, \.html, \.png"),
        ({"path": "motion"}, "suffix"),
        ({"fps": 0}, "fps = 0"),
        ({"fps": 120, "speed": 0.01}, "choose a higher speed"),
        ({"size": (10, 10)}, "from 64 to 4096"),
        ({"speed": 0}, "positive"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(
    options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    path = tmp_path / options.pop("path", "motion.gif")
    with pytest.raises(InputError, match=words):
        save_animation(pendulum(), path, **options)
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told_and_an_interrupt_leaves_what_was_there(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    path = tmp_path / "motion.gif"
    save_animation(pendulum(), path, progress=lambda done, all_: told.append((done, all_)), **SMALL)
    assert told == [(i, 26) for i in range(1, 27)]
    before = path.read_bytes()

    def interrupt(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    for name in ("motion.gif", "motion.mp4"):
        with pytest.raises(KeyboardInterrupt):
            save_animation(pendulum(), tmp_path / name, progress=interrupt, **SMALL)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_without_ffmpeg_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(film.shutil, "which", lambda _: None)
    monkeypatch.setattr(film, "find_spec", lambda _: None)
    with pytest.raises(InputError, match="pip install imageio-ffmpeg"):
        save_animation(pendulum(), tmp_path / "motion.mp4", **SMALL)


def test_an_ffmpeg_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "ffmpeg"
    broken.write_text("#!/bin/sh\necho no such codec >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(film, "ffmpeg", lambda: str(broken))
    with pytest.raises(InputError, match="no such codec"):
        save_animation(pendulum(), tmp_path / "motion.mp4", **SMALL)


def test_pictures_are_the_same_drawn_in_full_or_on_the_kept_backdrop() -> None:
    from zwang.show.scene import scene_of
    from zwang.show.stage import Stage

    stage = Stage(scene_of(four_bar()), (320, 240))
    quick = stage.picture(150)
    whole = BytesIO()
    stage.figure.savefig(whole, format="png", dpi=100)
    full = np.asarray(Image.open(whole).convert("RGBA"))
    assert (np.abs(quick.astype(int) - full).max(axis=2) > 8).mean() < 0.002
