"""Machine code on disk: used again while nothing it is made of changes, and never another user's."""

import importlib.util
import os
import stat
import sys
import warnings

import pytest

from zwang.compile.restricted import kept, library, native, native_library

posix = pytest.mark.skipif(os.name == "nt", reason="owners and modes of Unix")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path / "kept"))
    kept.say.cache_clear()


def files():
    return list(kept.folder().iterdir())


@native
def twice(x: float) -> float:
    return x + x


def works() -> bool:
    return native_library(twice)(1.25) == 2.5


def test_machine_code_is_kept_and_used_again(monkeypatch):
    assert works()
    (file,) = files()
    assert file.suffix == ".o"
    monkeypatch.setattr(library, "module_text", None)  # it would fail if it were translated again
    assert works()
    assert files() == [file]


@pytest.mark.parametrize(
    "damage", [lambda whole: b"", lambda whole: whole[:-9], lambda whole: whole[:500] + whole[501:]]
)
def test_damaged_files_are_made_anew(damage):
    works()
    (file,) = files()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert works()
    assert file.read_bytes() == whole


# ── What it is made of ───────────────────────────────────────────────────────────────────────────────────────────────

MARK = "from zwang.compile.restricted import native\n\n\n"
ENTRY = "@native\ndef entry(x: float) -> float:\n    return piece(x)\n"
PIECE = "@native\ndef piece(x: float) -> float:\n    return {} * x\n"


def module(folder, name, text):
    """A module written anew and loaded anew, as another process would load it."""
    (folder / f"{name}.py").write_text(text)
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    importlib.invalidate_caches()
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        spec.loader.exec_module(loaded)
    finally:
        sys.dont_write_bytecode = before
    return loaded


def test_a_function_that_moves_to_another_file_and_changes_there_is_compiled_anew(tmp_path):
    def entry(home, factor):
        import linecache

        linecache.clearcache()
        module(tmp_path, home, MARK + PIECE.format(factor))
        start = module(tmp_path, "moved_entry", f"{MARK}from {home} import piece\n\n\n{ENTRY}")
        return native_library(start.entry)

    assert entry("moved_one", 2.0)(1.5) == 3.0
    assert entry("moved_one", 4.0)(1.5) == 6.0
    assert entry("moved_two", 4.0)(1.5) == 6.0
    assert entry("moved_two", 8.0)(1.5) == 12.0


def test_a_constant_that_comes_from_elsewhere_counts(tmp_path):
    def entry(value):
        module(tmp_path, "elsewhere", f"FACTOR = {value}\n")
        text = f"{MARK}from elsewhere import FACTOR\n\n\n" + PIECE.format("FACTOR").replace("piece", "entry")
        return native_library(module(tmp_path, "constant_entry", text).entry)

    assert entry(2.0)(1.5) == 3.0
    assert entry(3.0)(1.5) == 4.5


def test_a_table_of_another_module_counts(tmp_path):
    def entry(value):
        module(tmp_path, "tables", f"FACTOR = {value}\n")
        text = f"{MARK}import tables\n\n\n" + PIECE.format("tables.FACTOR").replace("piece", "entry")
        return native_library(module(tmp_path, "table_entry", text).entry)

    assert entry(2.0)(1.5) == 3.0
    assert entry(3.0)(1.5) == 4.5


def test_every_file_of_the_step_loops_counts():
    from zwang.compile.restricted.reach import reached
    from zwang.engines.native import loop
    from zwang.engines.native.lanes import loop as lanes_loop

    def homes(entry):
        return {function.__module__.rpartition(".")[2] for function in reached(entry.function)}

    assert {"loop", "step", "event_roots", "bridge", "fast_pow", "stage_kernels"} <= homes(loop.advance)
    assert {"loop", "step", "moves", "fast_pow", "stage_kernels"} <= homes(lanes_loop.advance)


# ── Whose it is ──────────────────────────────────────────────────────────────────────────────────────────────────────


@posix
def test_folder_and_files_are_closed_to_others_whatever_the_umask(tmp_path, monkeypatch):
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path / "several" / "new"))
    before = os.umask(0)
    try:
        works()
    finally:
        os.umask(before)
    for each in (kept.folder(), kept.folder().parent, kept.folder().parent.parent, *files()):
        assert stat.S_IMODE(each.stat().st_mode) & 0o077 == 0


@posix
def test_a_folder_of_ours_that_others_can_read_is_closed():
    works()
    kept.folder().chmod(0o755)
    assert works()
    assert stat.S_IMODE(kept.folder().stat().st_mode) == 0o700


def refuses(match):
    """Nothing is read, nothing is written, it is said once, and the function works all the same."""
    with pytest.warns(UserWarning, match=match):
        assert works()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert works()
    return True


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o722])
def test_a_folder_that_others_can_write_to_is_not_used(mode, monkeypatch):
    works()
    (file,) = files()
    file.write_bytes(b"planted")
    kept.folder().chmod(mode)
    assert refuses("can be written to by other users.*ZWANG_CACHE_DIR")
    assert file.read_bytes() == b"planted"


@posix
def test_a_file_that_others_can_write_to_is_not_run():
    works()
    (file,) = files()
    file.chmod(0o666)
    with pytest.warns(UserWarning, match="can be written to by other users"):
        assert works()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600  # written anew


@posix
def test_a_folder_of_another_user_is_not_used(monkeypatch):
    works()
    monkeypatch.setattr(kept.os, "geteuid", lambda: os.getuid() + 1)
    assert refuses("belongs to another user")


@posix
def test_links_are_not_followed(tmp_path):
    works()
    place, real = kept.folder(), tmp_path / "real"
    place.rename(real)
    place.symlink_to(real)
    assert refuses("not kept")
    place.unlink()
    real.rename(place)
    (file,) = files()
    file.rename(tmp_path / "code.o")
    file.symlink_to(tmp_path / "code.o")
    with pytest.warns(UserWarning, match="not kept"):
        assert works()
    assert not file.is_symlink()


@pytest.mark.parametrize("relative", ["somewhere", "~nobody-has-this-name/cache"])
def test_a_folder_that_depends_on_where_the_process_stands_is_not_used(relative, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ZWANG_CACHE_DIR")
    monkeypatch.setattr(kept.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", relative)
    assert refuses("not an absolute path")
    assert not list(tmp_path.iterdir())


def test_without_a_place_to_keep_it_is_compiled_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("ZWANG_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert refuses("not kept")


@posix
def test_the_folder_is_the_users_cache(monkeypatch):
    monkeypatch.delenv("ZWANG_CACHE_DIR")
    monkeypatch.setattr(kept.sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert str(kept.folder()) == "/somewhere/zwang/native"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert str(kept.folder()) == os.path.expanduser("~/.cache/zwang/native")
