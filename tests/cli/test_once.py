"""One run does each thing once: a file is read and parsed once, and the start is computed once."""

import builtins
import io
import os
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import zwang as package_of
import zwang.files.model_file
import zwang.files.toml.document
import zwang.multibody.mechanism
from tests.files.models import CRANK


@pytest.fixture
def counted(monkeypatch):
    """How often the functions were called that a run may call once."""
    counts = Counter()

    def count(owner, name, label):
        real = getattr(owner, name)

        def counting(*given, **options):
            counts[label] += 1
            return real(*given, **options)

        monkeypatch.setattr(owner, name, counting)

    count(tomllib, "loads", "tomllib")
    count(zwang.files.toml.document, "find_places", "scan")
    count(zwang.multibody.mechanism, "assemble", "mechanism put together")
    count(zwang.files.model_file, "assemble", "start assembled")
    real_read, real_open = Path.read_bytes, io.open

    def read_bytes(path):
        counts[path.name] += 1
        return real_read(path)

    def opened(file, *given, **options):
        if isinstance(file, str | os.PathLike):
            counts[Path(file).name] += 1
        return real_open(file, *given, **options)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    monkeypatch.setattr(builtins, "open", opened)
    return counts


SLIDER = CRANK + "\n[inputs]\nwind = { file = 'wind.csv' }\n"
WIND = "t,u\n0,0\n10,1\n"


def test_a_mechanism_is_read_parsed_and_put_together_once(zwang, here, counted):
    (here / "wind.csv").write_text(WIND, encoding="utf-8")
    result = zwang("run", "crank.toml", "--until", 0.1, crank=SLIDER)
    assert result.exit_code == 0, result.output
    wanted = ("tomllib", "scan", "mechanism put together", "crank.toml", "wind.csv")
    assert {key: counted[key] for key in wanted} == dict.fromkeys(wanted, 1)


def test_a_mechanism_whose_places_are_set_is_put_together_once_as_it_is_set(zwang, here, counted):
    (here / "wind.csv").write_text(WIND, encoding="utf-8")
    result = zwang("run", "crank.toml", "--until", 0.1, "--set", "L=1.1", crank=SLIDER)
    assert result.exit_code == 0, result.output
    wanted = ("tomllib", "scan", "mechanism put together", "crank.toml", "wind.csv")
    assert {key: counted[key] for key in wanted} == dict.fromkeys(wanted, 1)


def test_a_mechanism_that_fits_only_as_it_is_set_is_run_as_it_is_set(zwang, counted):
    short = CRANK.replace("L = 0.9", "L = 0.0")
    assert short != CRANK
    assert zwang("run", "crank.toml", "--until", 0.1, crank=short).exit_code != 0
    result = zwang("run", "crank.toml", "--until", 0.1, "--set", "L=0.9", crank=short)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("words", [("run", "--assemble"), ("check", "--assemble", "--at", "1"), ("compare",)])
def test_a_start_is_brought_onto_its_constraints_once(zwang, counted, words):
    command, *options = words
    result = zwang(command, "pendulum.toml", *options)
    assert result.exit_code == 0, result.output
    assert counted["start assembled"] == (0 if command == "compare" else 1)
    assert (counted["tomllib"], counted["scan"]) == (1, 1)


def calls_of(work):
    """What some work returns, and which functions of the package it calls how often: by file, by name, by caller."""
    counts, package = Counter(), Path(package_of.__file__).parent

    def listen(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(package)):
            file = Path(frame.f_code.co_filename).relative_to(package).as_posix()
            caller = frame.f_back.f_code.co_qualname.partition(".<locals>")[0]
            counts[file, frame.f_code.co_qualname] += 1
            counts[file, frame.f_code.co_qualname, caller] += 1

    sys.setprofile(listen)
    try:
        return work(), counts
    finally:
        sys.setprofile(None)


COMMANDS = [
    ("run", "pendulum.toml"),
    ("run", "crank.toml"),
    ("run", "pendulum.toml", "--report", "page.html"),
    ("compare", "crank.toml"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_start_is_evaluated_checked_and_ranked_once(zwang, words):
    texts = {"crank": CRANK} if "crank.toml" in words else {}
    result, calls = calls_of(lambda: zwang(*words, "--until", 0.1, **texts))
    assert result.exit_code == 0, result.output
    once = [
        ("files/model_file.py", "ModelFile.state"),
        ("motion/start.py", "start_of"),
        ("motion/start.py", "Start.matrices"),
        ("evaluation.py", "violations", "Start.violated"),
        ("linalg/rank.py", "row_rank", "ranked"),
        ("verdict.py", "verdict_on"),
    ]
    assert {key: calls[key] for key in once} == dict.fromkeys(once, 1)
    # nobody decides it beside: ranks are looked for beside the start, for the verdict, and at saved states, for forms
    others = {key[2] for key in calls if key[:2] == ("linalg/rank.py", "row_rank") and len(key) == 3}
    assert others <= {"ranked", "ranks", "SolveJob.block", "acceleration"}
    if words == ("run", "pendulum.toml"):
        assert others == {"ranked", "ranks"}
        assert calls["model/values.py", "given_values"] == 2  # for the start, and for what is drawn


def test_the_verdict_of_a_check_looks_once(zwang):
    result, calls = calls_of(lambda: zwang("check", "pendulum.toml"))
    assert result.exit_code == 0, result.output
    assert calls["evaluation.py", "violations"] == calls["linalg/rank.py", "row_rank", "ranked"] == 1


def test_a_mechanism_keeps_the_last_start_and_hands_out_copies():
    from zwang.files.read import read_model

    mechanism = read_model(CRANK).mechanism
    first = mechanism.assembled()
    key = next(iter(first))
    before, first[key] = first[key], 7.0
    assert mechanism.assembled()[key] == before
    assert mechanism.assembled(t=0.01) != mechanism.assembled()
    assert mechanism.assembled({"omega": 9.0}) != mechanism.assembled()
