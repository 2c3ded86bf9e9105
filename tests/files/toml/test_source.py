"""A file that cannot be read as text is refused once."""

import pytest

from zwang.errors import ModelFileError
from zwang.files.read import load_model
from zwang.files.toml.document import LARGEST_FILE


def too_large(path):
    path.write_bytes(b"#" * (LARGEST_FILE + 1))


def no_text(path):
    path.write_bytes(b"\xff")


@pytest.mark.parametrize(("made", "said"), [(too_large, "more than 500000"), (no_text, "not text in UTF-8")])
def test_what_is_no_model_file_is_refused_once(made, said, tmp_path):
    made(tmp_path / "m.toml")
    with pytest.raises(ModelFileError, match=said) as refused:
        load_model(tmp_path / "m.toml")
    assert [problem.line for problem in refused.value.problems] == [1]
    assert str(refused.value).count("mistake") == 1
    assert str(refused.value).count("m.toml") == 1
