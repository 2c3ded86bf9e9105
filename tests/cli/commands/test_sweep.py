"""`zwang sweep`: many motions into a store, gone on with by the same command."""

import json

import numpy as np
import pytest

import zwang as zw
from tests.cli.models import STOPS
from zwang.cli.exits import Exit
from zwang.motion.ensemble import store as stores


@pytest.fixture
def sweeps():
    """What needs the extra is skipped without it."""
    pytest.importorskip("zarr")
    pytest.importorskip("distributed")


def test_all_combinations_go_into_the_store(zwang, here, sweeps):
    words = ["--over", "L=0.5:2:4", "--over", "g=9,10", "--store", "s.zarr", "--samples", "3"]
    result = zwang("sweep", "pendulum.toml", *words)
    assert result.exit_code == 0
    assert "L from 0.5 to 2, 4 values; g from 9 to 10, 2 values" in " ".join(result.stdout.split())
    assert "8 finished" in result.stdout
    again = zwang("sweep", "pendulum.toml", *words, "--json")
    told = json.loads(again.stdout)
    assert told["statuses"] == {"finished": 8}
    assert told["over"] == {"L": 4, "g": 2}
    model = zw.load_model("pendulum.toml")
    one = model.simulate(parameters={"L": 1.5, "g": 9.0}, samples=3, method="native")
    stored = zw.simulate_many(
        model,
        samples=3,
        parameters={"L": np.repeat(np.linspace(0.5, 2, 4), 2), "g": np.tile([9.0, 10.0], 4)},
        store="s.zarr",
    )
    assert np.abs(stored.q.values[4] - one.q.values).max() < 1e-11


def test_the_model_says_what_is_varied(zwang, here, sweeps):
    text = (here / "pendulum.toml").read_text() + '\n[sweep]\nL = "0.5:2:3"\n'
    result = zwang("sweep", "m.toml", "--store", "s.zarr", "--samples", "2", "--keep", "q,energy", "--quiet", m=text)
    assert result.exit_code == 0
    assert result.stdout == ""
    kept = sorted(path.name for path in (here / "s.zarr").iterdir() if path.is_dir())
    own = ["done", "checksums", "account", "status", "doubts"]
    assert kept == sorted(["L", "q", "energy", "time", "coordinate", "constraint", *own])
    other = zwang("sweep", "m.toml", "--over", "g=9,10", "--store", "s.zarr", "--samples", "2", "--keep", "q,energy")
    assert other.exit_code == Exit.REFUSED
    assert "holds another sweep" in other.stderr


def test_processes_of_its_own_compute_the_same(zwang, here, sweeps):
    words = ["sweep", "pendulum.toml", "--over", "L=0.5:2:20", "--samples", "2", "--chunk", "5", "--quiet"]
    assert zwang(*words, "--store", "a.zarr").exit_code == 0
    assert zwang(*words, "--store", "b.zarr", "--workers", "1").exit_code == 0
    for chunk in ("q/0.0.0", "v/3.0.0", "energy/1.0"):
        assert (here / "a.zarr" / chunk).read_bytes() == (here / "b.zarr" / chunk).read_bytes()


def test_an_interrupt_says_what_is_there(zwang, here, sweeps, monkeypatch):
    write = stores.Store.write

    def interrupted(self, part, *rest):
        if part == 2:
            raise KeyboardInterrupt
        write(self, part, *rest)

    words = ["sweep", "pendulum.toml", "--over", "L=0.5:2:20", "--samples", "2", "--chunk", "5", "--store", "s.zarr"]
    with monkeypatch.context() as patch:
        patch.setattr(stores.Store, "write", interrupted)
        result = zwang(*words)
    assert result.exit_code == Exit.INTERRUPTED
    assert "interrupted; 10 of 20 motions are in s.zarr: the same command goes on" in " ".join(result.stderr.split())
    assert zwang(*words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--over", "K=1:2:3"], "K is not a parameter of this model"),
        (["--over", "L=1:2:0"], "1:2:0 is empty"),
        (["--over", "L=1:2"], "1:2 is not a range"),
        (["--over", "L"], "write a name, = and a range"),
        (["--over", "L=1:2:3", "--over", "L=1:2:4"], "L is varied twice"),
        (["--over", "L=1:2:3", "--set", "L=2"], "L is given by --set and varied"),
        (["--over", "L=1:2:100000", "--over", "g=1:2:100000"], "10,000,000,000 samples"),
        ([], "what is to be varied?"),
        (["--over", "L=1:2:3", "--chunk", "0"], "a whole number from 1 on"),
        (["--over", "L=1:2:3", "--workers", "0"], "a whole number from 1 on"),
        (["--over", "L=1:2:3", "--workers", "2", "--scheduler", "tcp://x:1"], "give one of them"),
    ],
)
def test_wrong_use_is_refused_before_anything_is_written(zwang, here, words, said):
    result = zwang("sweep", "pendulum.toml", "--store", "s.zarr", *words)
    assert result.exit_code == Exit.USAGE
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert not (here / "s.zarr").exists()


def test_a_sweep_needs_a_store(zwang):
    result = zwang("sweep", "pendulum.toml", "--over", "L=1:2:3")
    assert result.exit_code == Exit.USAGE
    assert "give --store FOLDER" in result.stderr


def test_without_the_extra_it_says_what_to_install(zwang, here, monkeypatch):
    monkeypatch.setattr(stores, "find_spec", lambda name: None)
    result = zwang("sweep", "pendulum.toml", "--over", "L=1:2:3", "--store", "s.zarr")
    assert result.exit_code == Exit.REFUSED
    assert "pip install 'zwang[cluster]'" in " ".join(result.stderr.split())


def test_what_is_kept_must_be_there(zwang, sweeps):
    result = zwang("sweep", "pendulum.toml", "--over", "L=1:2:3", "--store", "s.zarr", "--keep", "q,energi")
    assert result.exit_code == Exit.REFUSED
    assert "did you mean 'energy'?" in " ".join(result.stderr.split())


def test_an_event_that_ends_motions_is_not_ignored(zwang):
    result = zwang("sweep", "m.toml", "--over", "L=1:2:3", "--store", "s.zarr", m=STOPS)
    assert result.exit_code == Exit.REFUSED
    assert "the event 'lowest' ends motions of this model" in " ".join(result.stderr.split())


def test_places_of_a_mechanism_cannot_be_varied(zwang):
    result = zwang("sweep", "slider_crank_bodies", "--over", "r=0.1:0.2:3", "--store", "s.zarr")
    assert result.exit_code == Exit.USAGE
    assert "run it for each value" in " ".join(result.stderr.replace("│", " ").split())
