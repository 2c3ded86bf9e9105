"""The name of a file says what is in it, whoever writes it."""

import pytest

import zwang as zw
from zwang.errors import InputError
from zwang.files.analyses.answers import save_answer
from zwang.files.store import save_csv, save_motion

x = zw.coordinates("x")
FREE = zw.System((x,), kinetic=zw.dot(x) ** 2 / 2)
START = {x: 0, zw.dot(x): 1}


@pytest.fixture(scope="module")
def motion():
    return zw.simulate(FREE, START, 1.0, samples=3)


@pytest.mark.parametrize("ending", [".xlsx", ".mat", ".csv", ".nc.gz", ""])
def test_netcdf_is_written_under_its_own_name_only(motion, tmp_path, ending):
    for save in (save_motion, save_answer):
        with pytest.raises(InputError, match=r"the name must end in \.nc"):
            save(motion, tmp_path / f"m{ending}")
    assert not list(tmp_path.iterdir())
    assert save_motion(motion, tmp_path / "m.NC").is_file()


@pytest.mark.parametrize(
    ("write", "ending"),
    [
        (lambda motion, path: save_csv(motion, path), ".xlsx"),
        (lambda motion, path: zw.save_model(FREE, path), ".json"),
        (lambda motion, path: zw.save_animation(motion, path), ".avi"),
        (lambda motion, path: zw.simulate_many(FREE, START, 1.0, samples=2, parameters={}, store=path), ".nc"),
    ],
)
def test_no_file_is_written_under_a_name_of_another_kind(motion, tmp_path, write, ending):
    with pytest.raises(InputError, match="the name must end in"):
        write(motion, tmp_path / f"file{ending}")
    assert not list(tmp_path.iterdir())
