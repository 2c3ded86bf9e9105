"""heyoka's cache on disk: what is found there is run, so it is used only where nobody else can have written."""

import os
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from zwang.compile.restricted import kept
from zwang.engines.taylor.disk_cache import guard

hy = pytest.importorskip("heyoka")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="owners and modes of Unix")


@pytest.fixture
def used():
    """Whether heyoka goes on using a folder, and what is said of it."""
    state = hy.llvm_state
    before = state.get_diskcache_path(), state.get_diskcache_enabled()

    def of(folder):
        kept.say.cache_clear()
        state.set_diskcache_path(str(folder))
        state.set_diskcache_enabled(True)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            guard.cache_clear()
            guard(hy)
        enabled = state.get_diskcache_enabled()
        assert enabled == (not said)
        return enabled or str(said[0].message)

    yield of
    state.set_diskcache_path(str(before[0]))
    state.set_diskcache_enabled(before[1])


def planted(folder, mode=0o700, mode_of_file=0o600):
    folder.mkdir()
    (folder / "cache.db").write_bytes(b"planted")
    (folder / "cache.db").chmod(mode_of_file)
    folder.chmod(mode)
    return folder


RUN = """
import symengine as se
from tests.engines.tasks import task, x
from zwang.engines.taylor import engine as taylor
path = taylor.run(task(-x, 1.0, 0.0, [1.0]))
assert abs(path.q[-1, 0] - 0.5403023058681398) < 1e-14  # cos 1
"""


def run(folder):
    """A Taylor run in a process of its own whose umask closes nothing; what was said."""
    environment = {k: v for k, v in os.environ.items() if k != "HEYOKA_CACHE_DIR"} | {"XDG_CACHE_HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=False, umask=0,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_the_folder_is_made_for_this_user_alone_whatever_the_umask(tmp_path):
    assert run(tmp_path / "new") == ""
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").rglob("*") if path.is_dir()} == {0o700}
    assert (tmp_path / "new" / "heyoka" / "cache.db").stat().st_size > 0


def test_what_another_user_may_have_written_is_not_run(tmp_path):
    planted(tmp_path / "heyoka", 0o777, 0o666)
    said = run(tmp_path)
    assert "can be written to by other users" in said
    assert "HEYOKA_CACHE_DIR" in said
    assert [path.name for path in (tmp_path / "heyoka").iterdir()] == ["cache.db"]
    assert (tmp_path / "heyoka" / "cache.db").read_bytes() == b"planted"


def test_a_folder_of_ours_is_used_and_closed_to_others(used, tmp_path):
    assert used(planted(tmp_path / "own", 0o755)) is True
    assert stat.S_IMODE((tmp_path / "own").stat().st_mode) == 0o700


@pytest.mark.parametrize(("folder", "file"), [(0o777, 0o600), (0o770, 0o600), (0o702, 0o600), (0o700, 0o666)])
def test_what_others_can_write_to_is_not_used(folder, file, used, tmp_path):
    assert "can be written to by other users" in used(planted(tmp_path / "heyoka", folder, file))


def test_a_folder_of_another_user_is_not_used(used, tmp_path, monkeypatch):
    planted(tmp_path / "heyoka")
    monkeypatch.setattr(kept.os, "geteuid", lambda: os.getuid() + 1)
    assert "belongs to another user" in used(tmp_path / "heyoka")


def test_links_are_not_followed(used, tmp_path):
    planted(tmp_path / "real")
    (tmp_path / "heyoka").symlink_to(tmp_path / "real")
    assert "not kept" in used(tmp_path / "heyoka")
    (tmp_path / "other").mkdir(0o700)
    (tmp_path / "other" / "cache.db").symlink_to(tmp_path / "real" / "cache.db")
    assert "cache.db in it is a link" in used(tmp_path / "other")


def test_a_folder_that_others_can_replace_is_not_used(used, tmp_path):
    (tmp_path / "above").mkdir()
    (tmp_path / "above").chmod(0o777)
    assert "above it can be written to by other users" in used(tmp_path / "above" / "heyoka")


@pytest.mark.parametrize(("name", "members", "uses"), [("me", [], True), ("me", ["me"], True), ("staff", [], False),
                                                        ("me", ["other"], False)])  # fmt: skip
def test_a_group_may_write_above_it_only_if_it_is_of_this_user_alone(name, members, uses, used, tmp_path, monkeypatch):
    """On macOS everybody's first group is `staff`."""
    import grp
    import pwd
    from types import SimpleNamespace

    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="me"))
    monkeypatch.setattr(grp, "getgrgid", lambda _: SimpleNamespace(gr_name=name, gr_mem=members))
    (tmp_path / "above").mkdir()
    (tmp_path / "above").chmod(0o770)
    assert (used(tmp_path / "above" / "heyoka") is True) == uses


def test_a_folder_that_depends_on_where_the_process_stands_is_not_used(used, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "not an absolute path" in used("relative")
    assert not list(tmp_path.iterdir())


def test_a_cache_that_is_off_stays_off(used):
    hy.llvm_state.set_diskcache_enabled(False)
    guard.cache_clear()
    guard(hy)
    assert not hy.llvm_state.get_diskcache_enabled()
