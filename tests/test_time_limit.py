"""Limits of time: what takes too long is stopped, also where one limit stands inside another."""

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
