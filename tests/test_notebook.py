"""The notebook with a cell for every noun: it runs, and a browser shows an output for each cell, in light and dark."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import nbconvert
import pytest

import zwang as zw
from tests.show.browser import browser, complaints

NOTEBOOK = Path(__file__).parents[1] / "examples" / "nouns.ipynb"
# In a process of its own: what Jupyter's packages warn of is theirs, and the kernel is another process anyway.
EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter

source, target = sys.argv[1:]
notebook = nbformat.read(source, 4)
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
nbformat.write(notebook, f"{target}/executed.ipynb")
nothing = {"mathjax_url": "", "require_js_url": "", "jquery_url": "", "mermaid_js_url": "data:text/javascript,"}
for theme in ("light", "dark"):
    page, _ = HTMLExporter(theme=theme, **nothing).from_notebook_node(notebook)
    with open(f"{target}/{theme}.html", "w", encoding="utf-8") as file:
        file.write(page)
"""


def read(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return {cell["metadata"]["noun"]: cell for cell in cells if cell["cell_type"] == "code"}


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The folder with the notebook as it was executed, and as a page."""
    folder = tmp_path_factory.mktemp("notebook")
    templates = Path(nbconvert.__file__).parents[4] / "share" / "jupyter"  # of its own environment, whoever uses it
    environment = {**os.environ, "JUPYTER_PATH": str(templates), "PYTHONWARNINGS": "", "PYTHONHASHSEED": "0"}
    subprocess.run([sys.executable, "-c", EXECUTE, NOTEBOOK, folder], check=True, env=environment, timeout=400)
    return folder


def test_there_is_a_cell_for_every_noun_and_no_output_is_kept():
    cells = read(NOTEBOOK)
    public = [getattr(zw, name) for name in zw.__all__]
    classes = {kind.__name__ for kind in public if inspect.isclass(kind) and not issubclass(kind, Exception)}
    assert classes | {"Mechanism", "Imported", "Body", "Joint", "Force", "motion", "plot", "animation"} == cells.keys()
    for cell in cells.values():
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


def test_it_runs_and_every_cell_has_one_output(executed):
    for noun, cell in read(executed / "executed.ipynb").items():
        results = [output for output in cell["outputs"] if output["output_type"] == "execute_result"]
        assert len(results) == 1, noun
        assert not [output for output in cell["outputs"] if output["output_type"] == "error"]
        kinds = results[0]["data"].keys()
        assert kinds & ({"image/png"} if noun == "plot" else {"text/html"}), noun
        if noun == "Equations":
            assert "text/latex" in kinds


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_browser_shows_every_output_without_a_complaint(executed, theme):
    with browser(1100, 900, dark=theme == "dark") as driver:
        driver.get((executed / f"{theme}.html").as_uri())
        # results; a cell that took long on a busy machine has a line about that, too
        boxes = driver.find_elements("css selector", ".jp-OutputArea-executeResult .jp-OutputArea-output")
        assert len(boxes) == len(read(NOTEBOOK))
        for box in boxes:
            assert box.size["height"] > 20
            assert box.size["width"] > 100
        assert not complaints(driver)
        # what is shown stands out from what it is shown on: formulas and words have the theme's own colour
        colours = driver.execute_script(
            "const shown = [...document.querySelectorAll('.zwang, .zwang td, .zwang math')];"
            "return [...shown.map(e => getComputedStyle(e).color), getComputedStyle(document.body).backgroundColor];"
        )
        *ink, paper = [sum(map(float, colour.split("(")[1].split(")")[0].split(",")[:3])) for colour in colours]
        assert all(abs(each - paper) > 300 for each in ink)
        ends = "return [...document.querySelectorAll('.zwang')].map(e => e.getBoundingClientRect().right)"
        assert max(driver.execute_script(ends)) <= 1100
