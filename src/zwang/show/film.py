"""Pictures in a row as the bytes of a GIF or of an MP4."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zwang.errors import InputError

Pixels = NDArray[np.uint8]


def gif(pictures: Iterable[Pixels], typical: Sequence[Pixels], fps: float) -> bytes:
    """A GIF that repeats for ever. Its colours are those of some typical pictures: one palette, so nothing flickers."""
    from PIL import Image

    palette = Image.fromarray(np.concatenate(typical)).convert("RGB").quantize(256)
    colors = np.array(palette.getpalette(), dtype=np.uint8).reshape(-1, 3)
    # Pillow looks colours up in boxes of four, at their lower corner: white paper is looked up as 252, shown as 255
    paper = np.all(colors > 250, axis=1, keepdims=True)
    looked_up, shown = (np.where(paper, level, colors).astype(np.uint8).tobytes() for level in (252, 255))
    palette.putpalette(looked_up)

    def reduced(picture: Pixels) -> Image.Image:
        image = Image.fromarray(picture).convert("RGB").quantize(palette=palette, dither=Image.Dither.NONE)
        image.putpalette(shown)
        return image

    first, *rest = map(reduced, pictures)
    buffer = BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=rest, duration=round(1000 / fps), loop=0)
    return buffer.getvalue()


def mp4(pictures: Iterable[Pixels], size: tuple[int, int], fps: float) -> bytes:
    """A film in H.264, which every browser and presentation plays."""
    program = ffmpeg()
    even = "crop=trunc(iw/2)*2:trunc(ih/2)*2"  # the codec wants even numbers of pixels
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as complaints:
        target = Path(folder) / "film.mp4"
        command = [
            program, "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{size[0]}x{size[1]}",
            "-r", f"{fps:g}", "-i", "-", "-vf", even, "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20",
            "-movflags", "+faststart", str(target),
        ]  # fmt: skip
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=complaints) as process:
            try:
                assert process.stdin is not None
                for picture in pictures:
                    process.stdin.write(picture.tobytes())
                process.stdin.close()
            except BrokenPipeError:
                pass  # it says why below
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            complaints.seek(0)
            words = complaints.read().decode(errors="replace").strip().splitlines()[-1:]
            raise InputError(f"ffmpeg could not make the film ({' '.join(words)}): write a .gif or .html instead")
        return target.read_bytes()


def ffmpeg() -> str:
    """Where the program that makes films is."""
    if found := shutil.which("ffmpeg"):
        return found
    if find_spec("imageio_ffmpeg") is not None:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    raise InputError("an .mp4 needs ffmpeg: install it, or `pip install imageio-ffmpeg`, or write a .gif or .html")
