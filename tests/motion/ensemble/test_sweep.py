"""Ensembles in stores and on clusters: interrupted, resumed, with workers that are lost, and always the same bits."""

import json
import os
import signal

import numpy as np
import pytest

import zwang as zw
from tests.references import problems
from zwang import dot
from zwang.errors import InputError
from zwang.motion.ensemble import store as stores
from zwang.motion.ensemble.fingerprint import described

pytest.importorskip("zarr")
distributed = pytest.importorskip("distributed")

x, y = zw.coordinates("x y")
g = zw.parameters("g")


@pytest.fixture(scope="module")
def cluster(request):
    """Two workers in processes of their own, which run the code that this one runs."""

    class InLoops(distributed.WorkerPlugin):
        def setup(self, worker):
            from zwang.lowering.rolled import families

            families.ROLLED_FROM = families.ROLLED_IN_LANES_FROM = 0

    quiet = {"distributed.logging.distributed": "critical", "distributed.worker.use-file-locking": False}
    with (
        distributed.worker.dask.config.set(quiet),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as local,
        distributed.Client(local) as client,
    ):
        if request.config.getoption("--rolled"):
            client.register_plugin(InLoops())
        yield client


def swings(count, **more):
    """Pendulums released at different angles, one of them off its rod, and with different gravity."""
    system = zw.System(
        (x, y),
        kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2,
        potential=g * y,
        constraints={"rod": x**2 + y**2 - 1},
        name="pendulum",
    )
    angle = np.linspace(0.3, 2.8, count)
    starts = {x: np.sin(angle), y: -np.cos(angle), dot(x): 0, dot(y): 0}
    starts[x][2] += 1e-3
    return (system, starts, 1.0), {"samples": 3, "tol": 1e-9, "parameters": {g: np.linspace(9, 10, count)}} | more


def assert_same(stored, truth):
    assert [*stored.data_vars] == [*truth.data_vars]
    for name in truth.data_vars:
        assert stored[name].dims == truth[name].dims
        assert np.array_equal(stored[name].values, truth[name].values, equal_nan=truth[name].dtype.kind == "f"), name
    for name in truth.coords:
        assert np.array_equal(stored[name], truth[name])
    for name in ("status", "doubts", "drift", "tol", "form", "system", "method"):
        assert stored.attrs[name] == truth.attrs[name]


def stop_after(samples):
    """A progress that interrupts once so many samples are there."""

    def progress(done, _):
        if done >= samples:
            raise KeyboardInterrupt

    return progress


def test_a_store_holds_what_one_call_gives_and_reads_it_when_it_is_looked_at(tmp_path):
    arguments, options = swings(43)
    truth = zw.simulate_many(*arguments, **options)
    seen = []
    stored = zw.simulate_many(
        *arguments, **options, store=tmp_path / "s.zarr", chunk=10, progress=lambda *done: seen.append(done)
    )
    assert seen == [(0, 43), (10, 43), (20, 43), (30, 43), (40, 43), (43, 43)]
    assert stored.q.chunks[0] == (10, 10, 10, 10, 3)
    assert_same(stored, truth)
    assert stored.status.values[2] == "inconsistent start"
    assert not [path for path in tmp_path.iterdir() if path.name != "s.zarr"]


def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path):
    arguments, options = swings(50)
    where = {"store": tmp_path / "s.zarr", "chunk": 10}
    with pytest.raises(KeyboardInterrupt):
        zw.simulate_many(*arguments, **options, **where, progress=stop_after(20))
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "s.zarr" / "q").glob("[0-9]*")}
    assert len(written) == 2
    seen = []
    # whoever asks for other chunks gets those that the store has
    stored = zw.simulate_many(*arguments, **options, **where | {"chunk": 7}, progress=lambda done, _: seen.append(done))
    assert seen == [20, 30, 40, 50]
    assert all(path.stat().st_mtime_ns == when for path, when in written.items())
    assert_same(stored, zw.simulate_many(*arguments, **options))
    again = zw.simulate_many(*arguments, **options, **where, progress=lambda done, _: seen.append(done))
    assert seen == [20, 30, 40, 50, 50]
    assert_same(again, stored)


def test_a_worker_that_is_killed_loses_nothing(tmp_path, cluster):
    arguments, options = swings(3003, samples=11)
    victims = sorted(cluster.run(os.getpid).values())
    alive = []

    def kill_one(done, _):
        if done >= 600 and len(victims) == 2:
            os.kill(victims.pop(), signal.SIGKILL)
        alive.append(done)

    where = {"store": tmp_path / "s.zarr", "chunk": 100, "client": cluster}
    with pytest.raises(KeyboardInterrupt):
        zw.simulate_many(*arguments, **options, **where, progress=stop_after(300))
    stored = zw.simulate_many(*arguments, **options, **where, progress=kill_one)
    assert len(victims) == 1
    assert 300 <= alive[0] < 3003 == alive[-1]
    assert_same(stored, zw.simulate_many(*arguments, **options))


def test_a_mechanism_is_put_together_by_the_workers_for_each_sample(tmp_path, cluster):
    model = zw.load_model("pendulum")
    lengths = np.linspace(0.5, 2, 20)
    options = {"until": 0.5, "samples": 3, "parameters": {"L": lengths}}
    stored = zw.simulate_many(model, **options, store=tmp_path / "s.zarr", chunk=6, client=cluster)
    assert_same(stored, zw.simulate_many(model, **options))
    assert np.abs(np.hypot(*stored.q.values[:, 0].T) - lengths).max() < 1e-12


def test_signals_travel_with_their_points(tmp_path, cluster):
    model = zw.load_model("tall_building")
    name = next(str(s) for s in model.system.parameters)
    values = float(model.system.parameters[next(s for s in model.system.parameters if str(s) == name)])
    options = {"until": 0.5, "samples": 3, "parameters": {name: values * np.linspace(0.9, 1.1, 11)}, "tol": 1e-9}
    stored = zw.simulate_many(model, **options, store=tmp_path / "s.zarr", chunk=4, client=cluster)
    assert_same(stored, zw.simulate_many(model, **options))


def test_a_system_without_constraints(tmp_path):
    free = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=g * x**2)
    asked = (free, {x: 1, dot(x): 0}, 1.0)
    options = {"samples": 2, "parameters": {g: [1.0, 2.0, 3.0]}}
    stored = zw.simulate_many(*asked, **options, store=tmp_path / "s.zarr", chunk=2)
    assert_same(stored, zw.simulate_many(*asked, **options))


OTHERS = {
    "starts": ({}, "the starts are others"),
    "parameters": ({"parameters": {g: np.linspace(9, 11, 12)}}, "the values of parameters are others"),
    "tolerance": ({"tol": 1e-8}, "tol is 1e-09 there and 1e-08 here"),
    "times": ({"samples": 5}, "the saved times are others"),
    "form": ({"form": "lagrange"}, "form is fundamental there and lagrange here"),
    "drift": ({"drift": "projection"}, "drift is"),
    "kept": ({"keep": ["q"]}, r"what is kept is .* there and q here"),
}


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    arguments, options = swings(12)
    path = tmp_path_factory.mktemp("twelve") / "s.zarr"
    zw.simulate_many(*arguments, **options, store=path)
    return path


@pytest.mark.parametrize("which", OTHERS)
def test_a_store_of_another_sweep_is_refused_with_what_differs(twelve, which):
    (system, starts, until), options = swings(12)
    other, words = OTHERS[which]
    if which == "starts":
        starts = starts | {dot(x): 1e-9}
    with pytest.raises(InputError, match=f"holds another sweep: {words}"):
        zw.simulate_many(system, starts, until, **options | other, store=twelve)


def test_a_store_of_another_system_or_version_is_refused(twelve, monkeypatch):
    (_, starts, until), options = swings(12)
    heavier = zw.System(
        (x, y), kinetic=dot(x) ** 2 + dot(y) ** 2, potential=g * y, constraints={"rod": x**2 + y**2 - 1}
    )
    with pytest.raises(InputError, match="the equations of the system are others"):
        zw.simulate_many(heavier, starts, until, **options, store=twelve)
    arguments, options = swings(13)
    with pytest.raises(InputError, match="the number of samples is 12 there and 13 here"):
        zw.simulate_many(*arguments, **options, store=twelve)
    arguments, options = swings(12)
    monkeypatch.setattr("zwang.motion.ensemble.fingerprint.__version__", "99")
    with pytest.raises(InputError, match=r"the version of zwang is .* there and 99 here"):
        zw.simulate_many(*arguments, **options, store=twelve)


def test_what_is_not_a_store_is_left_alone(tmp_path):
    arguments, options = swings(3)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "thesis.txt").write_text("all of it")
    (tmp_path / "file").write_text("x")
    for name in ("folder", "file"):
        with pytest.raises(InputError, match="is there already, and is not a store"):
            zw.simulate_many(*arguments, **options, store=tmp_path / name)
    assert (tmp_path / "folder" / "thesis.txt").read_text() == "all of it"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"store": 3}, "store = 3"),
        ({"store": ""}, "store = ''"),
        ({"store": "s\0.zarr"}, "no name of a folder has a zero in it"),
        ({"store": "s3://bucket/s.zarr"}, "a folder on a disk"),
        ({"store": "no/such/folder/s.zarr"}, "there is no folder"),
        ({"store": "s.zarr", "chunk": 0}, "chunk = 0"),
        ({"store": "s.zarr", "chunk": 2.5}, "chunk = 2.5"),
        ({"store": "s.zarr", "client": "tcp://here"}, "client = 'tcp://here'"),
        ({"client": "tcp://here"}, "without a store"),
    ],
)
def test_what_is_given_wrongly_is_refused(given, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, options = swings(3)
    with pytest.raises(InputError, match=words):
        zw.simulate_many(*arguments, **options, **given)
    assert not [*tmp_path.iterdir()]


def test_a_chunk_that_no_compressor_takes_is_refused(tmp_path, monkeypatch):
    arguments, options = swings(100)
    monkeypatch.setattr(stores, "LARGEST_CHUNK", 1000)
    with pytest.raises(InputError, match="more than a chunk may: choose a smaller one"):
        zw.simulate_many(*arguments, **options, store=tmp_path / "s.zarr")
    assert not [*tmp_path.iterdir()]


def test_a_spoilt_chunk_is_named_and_can_be_computed_anew(tmp_path):
    arguments, options = swings(30)
    where = {"store": tmp_path / "s.zarr", "chunk": 10}
    stored = zw.simulate_many(*arguments, **options, **where)
    chunk = tmp_path / "s.zarr" / "q" / "1.0.0"
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 0xFF
    chunk.write_bytes(data)
    with pytest.raises(InputError, match=r"q of samples 10 to 19 cannot be read .* remove .*done.1 and call") as error:
        stored.q.values.sum()
    assert str(tmp_path / "s.zarr") in str(error.value)
    (tmp_path / "s.zarr" / "done" / "1").unlink()
    assert_same(zw.simulate_many(*arguments, **options, **where), zw.simulate_many(*arguments, **options))


@pytest.mark.parametrize(
    ("spoilt", "words"), [("status/1", "status of samples 10 to 19"), ("account/1.0", "account of parts 1 to 1")]
)
def test_what_is_said_of_samples_may_be_spoilt_too(tmp_path, spoilt, words):
    arguments, options = swings(30)
    where = {"store": tmp_path / "s.zarr", "chunk": 10}
    zw.simulate_many(*arguments, **options, **where)
    chunk = tmp_path / "s.zarr" / spoilt
    chunk.write_bytes(chunk.read_bytes()[:-3])
    with pytest.raises(InputError, match=rf"{words} cannot be read .* remove .*done.1 and call"):
        zw.simulate_many(*arguments, **options, **where)
    (tmp_path / "s.zarr" / "done" / "1").unlink()
    assert_same(zw.simulate_many(*arguments, **options, **where), zw.simulate_many(*arguments, **options))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("q/.zarray", "{", "the array q is missing or damaged; remove the store"),
        ("done/.zarray", "{", "the array done is missing or damaged; remove the store"),
        (".zattrs", '{"zwang_sweep": {"format": 2}}', "what it is of is damaged; remove the store"),
        (".zattrs", "{", "is not a store of simulate_many"),
    ],
)
def test_a_store_whose_description_is_spoilt_is_refused(tmp_path, name, text, words):
    arguments, options = swings(12)
    zw.simulate_many(*arguments, **options, store=tmp_path / "s.zarr")
    (tmp_path / "s.zarr" / name).write_text(text)
    with pytest.raises(InputError, match=words):
        zw.simulate_many(*arguments, **options, store=tmp_path / "s.zarr")


def test_a_value_given_as_the_system_has_it_is_the_same_sweep(tmp_path):
    k = zw.parameters("k")
    system = zw.System((x,), kinetic=dot(x) ** 2 / 2, potential=k * x**2, parameters={k: 2})
    start, ask = {x: [1.0, 2.0], dot(x): 0}, {"until": 1.0, "samples": 2, "store": tmp_path / "s.zarr"}
    first = zw.simulate_many(system, start, **ask)
    for same in ({k: 2}, {"k": 2.0}):
        assert_same(zw.simulate_many(system, start, **ask, parameters=same), first)
    with pytest.raises(InputError, match="the values of parameters are others"):
        zw.simulate_many(system, start, **ask, parameters={k: 3})


@pytest.mark.parametrize("lost", ["q/1.0.0", "energy/1.0", "status/1", "doubts/1", "account/1.0", "done/1"])
def test_a_part_of_which_a_file_is_missing_is_computed_anew(tmp_path, lost):
    arguments, options = swings(30)
    where = {"store": tmp_path / "s.zarr", "chunk": 10}
    zw.simulate_many(*arguments, **options, **where)
    (tmp_path / "s.zarr" / lost).unlink()
    seen = []
    stored = zw.simulate_many(*arguments, **options, **where, progress=lambda done, _: seen.append(done))
    assert seen == [20, 30]
    assert_same(stored, zw.simulate_many(*arguments, **options))


def test_an_empty_flag_counts_for_nothing(tmp_path):
    arguments, options = swings(30)
    where = {"store": tmp_path / "s.zarr", "chunk": 10}
    zw.simulate_many(*arguments, **options, **where)
    (tmp_path / "s.zarr" / "done" / "1").write_bytes(b"")
    assert_same(zw.simulate_many(*arguments, **options, **where), zw.simulate_many(*arguments, **options))


def test_a_full_disk_is_told_and_what_was_written_stays(tmp_path, monkeypatch):
    arguments, options = swings(30)
    where = {"store": tmp_path / "s.zarr", "chunk": 10}
    write, calls = stores.Store.write, []

    def full(self, part, *rest):
        calls.append(part)
        if part == 1:
            raise OSError(28, "No space left on device")
        write(self, part, *rest)

    monkeypatch.setattr(stores.Store, "write", full)
    words = "cannot be written: No space left on device; 1 of 3 parts are in .*: the same call goes on"
    with pytest.raises(InputError, match=words):
        zw.simulate_many(*arguments, **options, **where)
    monkeypatch.undo()
    assert_same(zw.simulate_many(*arguments, **options, **where), zw.simulate_many(*arguments, **options))


def test_a_store_can_be_opened_without_zwang(tmp_path):
    xr = pytest.importorskip("xarray", minversion="2024.10", reason="earlier ones read no Zarr 3")
    arguments, options = swings(12)
    zw.simulate_many(*arguments, **options, store=tmp_path / "s.zarr", chunk=5)
    plain = xr.open_zarr(tmp_path / "s.zarr", consolidated=False)
    assert plain.q.dims == ("sample", "time", "coordinate")
    assert plain.status.attrs["flag_meanings"].split()[plain.status.values[2]] == "inconsistent_start"
    assert json.dumps(plain.attrs)


def test_without_the_extra_a_store_is_refused_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "find_spec", lambda name: None)
    arguments, options = swings(3)
    with pytest.raises(InputError, match=r"needs numcodecs, dask, distributed, .*: pip install 'zwang\[cluster\]'"):
        zw.simulate_many(*arguments, **options, store=tmp_path / "s.zarr")


def test_problems_with_redundant_rows_are_the_same_in_a_store(tmp_path):
    system, start = problems.disk_on_incline()
    options = {"samples": 3, "parameters": {"a": np.linspace(0.3, 0.5, 12)}}
    stored = zw.simulate_many(system, start, 1.0, **options, store=tmp_path / "s.zarr", chunk=5)
    assert_same(stored, zw.simulate_many(system, start, 1.0, **options))


def test_a_net_of_families_goes_into_a_store_and_is_known_again(tmp_path):
    x, a, b = zw.coordinates("x", shape=4), *zw.coordinates("a b")
    k = zw.parameters("k")

    def chain(stretch):
        springs = zw.family(k * (a - b - stretch) ** 2 / 2, {a: x[1:], b: x[:-1]})
        return zw.System(x, kinetic=zw.family(dot(a) ** 2 / 2, {a: x}), potential=springs)

    given = {"until": 1.0, "samples": 3, "parameters": {k: [1.0, 2.0, 3.0]}}
    start = {x: [0.0, 1.0, 2.0, 4.0], dot(x): 0.0}
    stored = zw.simulate_many(chain(1), start, **given, store=tmp_path / "net.zarr")
    assert_same(zw.simulate_many(chain(1), start, **given, store=tmp_path / "net.zarr"), stored)
    assert_same(stored, zw.simulate_many(chain(1), start, **given))
    with pytest.raises(InputError, match="the equations of the system are others"):
        zw.simulate_many(chain(2), start, **given, store=tmp_path / "net.zarr")


def test_a_contact_in_a_fingerprint_is_written_and_not_read(monkeypatch):
    monkeypatch.setattr("sympy.parsing.sympy_parser.parse_expr", None)
    x, y = zw.coordinates("x y")

    def ball(friction):
        floor = zw.Constraint(y >= 0, "floor", restitution=0.5, friction=friction, slip=dot(x))
        return zw.System((x, y), kinetic=(dot(x) ** 2 + dot(y) ** 2) / 2, constraints=[floor])

    texts = [[*described(ball(friction))] for friction in (0.2, 0.2, 0.3)]
    assert texts[0] == texts[1] != texts[2]
