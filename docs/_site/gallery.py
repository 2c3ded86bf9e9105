"""The gallery on the examples page: a picture, a player and the file of each model that comes with zwang.

Pictures and players are made when the site is built, by simulating the models, so they show what zwang does today.
"""

from html import escape
from importlib.resources import files as resources
from typing import Any

from mkdocs.structure.files import File, Files

import zwang as zw
from zwang.show.animate import still
from zwang.show.player import player_page
from zwang.show.scene import scene_of

PAGE = "examples.md"
SIZE = (480, 360)
POINTER = "The [gallery](#gallery) at the end shows them all, and plays them."
TEXT = """
## Gallery

Each picture is the end of a motion, with earlier positions behind it. It leads to a page that plays the motion.
"""


def models() -> dict[str, zw.ModelFile]:
    """The models by name."""
    found = sorted(resources("zwang.examples").iterdir(), key=lambda entry: entry.name)
    return {e.name[:-5]: zw.load_model(str(e)) for e in found if e.name.endswith(".toml")}


def on_files(files: Files, config: Any) -> Files:
    """Add pictures, players and model files."""
    for name, model in models().items():
        motion = model.simulate()
        for suffix, content in (
            ("png", still(scene_of(motion), SIZE)),
            ("html", player_page(motion)),
            ("toml", model.text),
        ):
            files.append(File.generated(config, f"gallery/{name}.{suffix}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the gallery after the text of the examples page."""
    if page.file.src_uri != PAGE:
        return markdown
    markdown = markdown.replace("\n## ", f"\n{POINTER}\n\n## ", 1)
    cards = "\n".join(card(name, model) for name, model in models().items())
    return f'{markdown}\n{TEXT}\n<div class="gallery">\n{cards}\n</div>\n'


def card(name: str, model: zw.ModelFile) -> str:
    """One model of the gallery."""
    title, player = escape(model.system.name), f"gallery/{name}.html"
    return (
        f'<figure><a href="{player}"><img src="gallery/{name}.png" alt="{title}" loading="lazy"></a>'
        f"<figcaption><strong>{title}</strong><p>{escape(model.description.strip())}</p>"
        f'<p><code>{name}</code> · <a href="{player}">play</a> · <a href="gallery/{name}.toml">model file</a>'
        f"</p></figcaption></figure>"
    )
