"""Limits of time: what takes too long is stopped, also where one limit stands inside another."""

import sys
import threading
import time

import pytest

from zwang.time_limit import within


def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return "done"


def test_what_is_done_in_time_is_given_and_what_is_not_is_none():
    assert within(5, lambda: busy(0.01)) == "done"
    assert within(0.05, lambda: busy(5)) is None


def test_errors_are_raised():
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 // 0)


def test_a_limit_inside_another_ends_with_it():
    before = threading.active_count()
    for limit in (0.0, 0.0, 0.05, 0.1):
        assert within(limit, lambda: within(100, lambda: busy(50))) is None
    assert threading.active_count() == before


def test_work_that_ends_just_as_it_is_stopped_does_no_harm():
    for _ in range(30):
        assert within(0.0, lambda: busy(0.05)) in (None, "done")


def test_code_that_swallows_every_exception_is_told_again():
    def stubborn():
        try:
            busy(50)
        except BaseException:
            busy(50)

    assert within(0.05, stubborn) is None


def test_a_reminder_that_falls_where_python_cannot_raise_is_repeated_without_a_word(monkeypatch):
    heard = []
    monkeypatch.setattr(sys, "unraisablehook", heard.append)

    class Slow:
        def __del__(self):
            busy(0.3)

    def work():
        while True:
            Slow()
            busy(0.1)

    assert within(0.05, work) is None
    assert heard == []
    assert sys.unraisablehook == heard.append  # whoever listened before listens again


def test_what_others_cannot_raise_is_heard_while_work_is_stopped(monkeypatch):
    heard = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: heard.append(lost.exc_type))

    class Broken:
        def __del__(self):
            raise ValueError

    def stubborn():
        try:
            busy(50)
        finally:
            Broken()

    assert within(0.05, stubborn) is None
    assert heard == [ValueError]
