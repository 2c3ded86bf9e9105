"""Names of models: a file, or an example; the command and Python find the same one."""

import pytest

import zwang as zw
from zwang.cli import library
from zwang.errors import ModelFileError
from zwang.files.library import find_model, names

OWN = '[coordinates]\nx = {}\n[energy]\nkinetic = "x\'^2/2"\n'


def test_every_example_is_found_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in names():
        assert find_model(name)[1]
    model = zw.load_model("pendulum")
    assert model.text == library.example("pendulum").read_text(encoding="utf-8")
    assert zw.load_model("tall_building").tables  # those beside the example are read from beside it


def test_a_file_wins_over_an_example_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum").write_text(OWN)
    assert find_model("pendulum") == (find_model(tmp_path / "pendulum")[0].relative_to(tmp_path), False)
    assert zw.load_model("pendulum").text == OWN


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("andrew", r"andrew: there is no such file, did you mean andrews\?"),
        ("mine", r"mine: there is no such file, did you mean mine.toml\?"),
        ("mime.toml", r"mime.toml: there is no such file, did you mean mine.toml\?"),
        ("qqqq", r"qqqq: there is no such file; `zwang new NAME` writes one"),
        ("", r"the name of the model is empty: give a file, or an example"),
        (".", r"\.: this is a folder, a model file is meant"),
        ("a\0b", "cannot be read: no name of a file has a zero byte"),
    ],
)
def test_a_name_that_is_not_there_says_what_may_be_meant(name, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(OWN)
    with pytest.raises(ModelFileError, match=words):
        zw.load_model(name)
