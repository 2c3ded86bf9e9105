"""Whoever waits at a terminal or in a notebook is told what for, after two seconds; nobody else is."""

import io
import sys
import threading
import time

import pytest

import zwang as zw
from zwang import waiting as room
from zwang.motion.progress import reporter
from zwang.waiting import GAP, PATIENCE, Wait, hushed, listener, waiting


class Terminal(io.StringIO):
    def isatty(self):
        return True


Cell = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(room, "listener", lambda: stream)
    return stream


@pytest.fixture
def wait(clock, terminal):
    return Wait(clock)


def test_quick_work_says_nothing(wait, clock, terminal):
    began = wait.begin("compiling")
    clock.now += PATIENCE - 0.01
    wait.look()
    wait.end("compiling", began)
    assert terminal.getvalue() == ""


def test_long_work_is_one_line_that_goes_away(wait, clock, terminal):
    began = wait.begin("compiling")
    for _ in range(4):
        clock.now += 1.5
        wait.look()
    wait.end("compiling", began)
    *said, blank, _ = terminal.getvalue().split("\r")
    assert said == ["", "zwang: compiling, 3 s", "zwang: compiling, 4 s", "zwang: compiling, 6 s"]
    assert set(blank) == {" "}
    assert "\n" not in terminal.getvalue()


def test_the_innermost_work_is_told_and_a_shorter_line_covers_a_longer_one(wait, clock, terminal):
    outer = wait.begin("writing the report")
    clock.now += 3
    wait.look()
    inner = wait.begin("compiling")
    clock.now += 0.5
    wait.look()
    wait.end("compiling", inner)
    wait.end("writing the report", outer)
    lines = terminal.getvalue().split("\r")
    assert lines[1] == "zwang: writing the report, 3 s"
    assert lines[2].rstrip() == "zwang: compiling …"
    assert len(lines[2]) == len(lines[1])


def test_pieces_one_after_the_other_are_one_wait(wait, clock, terminal):
    for what in ("deriving the equations", "compiling", "evaluating"):
        began = wait.begin(what)
        clock.now += 0.7
        wait.look()
        wait.end(what, began)
        clock.now += GAP / 2
    assert "evaluating" in terminal.getvalue()
    assert "compiling" not in terminal.getvalue()


def test_pieces_far_apart_are_not(wait, clock, terminal):
    for _ in range(5):
        began = wait.begin("compiling")
        clock.now += 0.9
        wait.look()
        wait.end("compiling", began)
        clock.now += 2 * GAP
    assert terminal.getvalue() == ""


def test_a_notebook_keeps_the_line(clock, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Cell())
    wait = Wait(clock)
    began = wait.begin("compiling")
    clock.now += 3
    wait.look()
    wait.end("compiling", began)
    assert sys.stderr.getvalue() == "\rzwang: compiling, 3 s"


def test_what_is_hushed_says_nothing_and_takes_its_line_away(wait, clock, terminal):
    began = wait.begin("simulating")
    clock.now += 3
    wait.look()
    wait.quiet()
    said = terminal.getvalue()
    assert said.endswith(" \r")
    wait.look()
    assert terminal.getvalue() == said
    wait.loud()
    wait.look()
    assert terminal.getvalue() != said
    wait.end("simulating", began)


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_pipes_files_and_nothing_hear_nothing(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    assert listener() is None
    with waiting("compiling"):
        assert room.WAIT.doing == []


def test_a_closed_stream_is_no_listener(monkeypatch):
    closed = Terminal()
    closed.isatty = closed.close
    monkeypatch.setattr(sys, "stderr", closed)
    closed.close()
    assert listener() is None


def test_a_person_hears_of_work_that_takes_long_and_errors_pass(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    for name, seconds in (("PATIENCE", 0.02), ("EVERY", 0.01), ("GAP", 0.0)):
        monkeypatch.setattr(room, name, seconds)

    @waiting("dividing")
    def divide():
        end = time.monotonic() + 10
        while "dividing" not in sys.stderr.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        divide()
    assert "zwang: dividing" in sys.stderr.getvalue()
    assert sys.stderr.getvalue().endswith(" \r")
    assert room.WAIT.doing == []
    with hushed():
        assert room.WAIT.hushed == 1
    assert room.WAIT.hushed == 0


def test_work_in_threads_is_told_once_each(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())

    def work():
        for _ in range(50):
            with waiting("compiling"):
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert room.WAIT.doing == []


x = zw.coordinates("x")
SPRING = zw.System((x,), kinetic=zw.dot(x) ** 2 / 2, potential=x**2 / 2)
START = {x: 1, zw.dot(x): 0}


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda s: zw.derive(s), "deriving the equations in symbols"),
        (lambda s: zw.derive(s).acceleration(), "writing out in symbols"),
        (lambda s: zw.diagnose(s, START), "looking at the constraints"),
        (lambda s: zw.assemble(s, START), "putting the start together"),
        (lambda s: zw.simulate(s, START, until=1), "evaluating forces and energies"),
        (lambda s: zw.simulate_many(s, START, until=1), "simulating 1 sample"),
        (lambda s: zw.System(s.coordinates, kinetic=s.kinetic), "checking the description"),
    ],
)
def test_everything_that_may_take_long_says_what_it_is(work, words, monkeypatch):
    told = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(room.WAIT, "begin", lambda what: told.append(what) or 0.0)
    monkeypatch.setattr(room.WAIT, "end", lambda what, began: None)
    work(SPRING)
    assert words in told


def test_without_progress_not_even_compiling_is_told(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    stiffer = zw.System((x,), kinetic=zw.dot(x) ** 2 / 2, potential=x**4)
    seen = []
    monkeypatch.setattr(room.WAIT, "begin", lambda what: seen.append(room.WAIT.hushed) or 0.0)
    monkeypatch.setattr(room.WAIT, "end", lambda what, began: None)
    zw.simulate(stiffer, START, until=1, progress=False)
    assert set(seen) == {1}  # deriving, compiling and evaluating


def test_a_notebook_has_a_bar_too(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Cell())
    assert reporter(None, 0.0, 1.0) is not None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert reporter(None, 0.0, 1.0) is None
