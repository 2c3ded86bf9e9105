"""Make andrews.png, the picture of the README: the mechanism, and what its constraints do. Run it from anywhere."""

from importlib.resources import files
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

import zwang as zw

HEIGHT = 560  # pixels
COLOURS = 224


def main() -> None:
    """Simulate the example, draw it twice, and put both side by side."""
    model = zw.load_model(str(files("zwang.examples") / "andrews.toml"))
    motion = model.simulate(samples=601)
    pictures = [mechanism(motion), curves(motion)]
    pictures = [p.resize((round(p.width * HEIGHT / p.height), HEIGHT), Image.Resampling.LANCZOS) for p in pictures]
    sheet = Image.new("RGB", (sum(p.width for p in pictures), HEIGHT), "white")
    sheet.paste(pictures[0], (0, 0))
    sheet.paste(pictures[1], (pictures[0].width, 0))
    sheet.quantize(COLOURS).save(Path(__file__).with_suffix(".png"), optimize=True)


def mechanism(motion: object) -> Image.Image:
    """The mechanism at the end, with earlier positions."""
    with TemporaryDirectory() as folder:
        path = zw.save_animation(motion, Path(folder) / "still.png", size=(720, 620))
        return Image.open(BytesIO(path.read_bytes())).convert("RGB")


def curves(motion: object) -> Image.Image:
    """Forces of constraint, and what is left of the constraints, over time."""
    figure = zw.plot(motion, "constraint_force", "residual")
    figure.suptitle("")
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=180)
    return Image.open(buffer).convert("RGB")


if __name__ == "__main__":
    main()
