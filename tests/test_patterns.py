"""No text hangs a regular expression: the time of each grows with the length of the text, and not with its square."""

import re
import time

import pytest

from tests.patterns import Pattern, call, hard_texts, patterns

ALL = patterns()
LENGTH = 12_000
LONGEST = 0.02  # seconds for 12,000 characters: a hundred times what is needed; the square of the length takes more


def taken(pattern: Pattern, text: str) -> float:
    """The processor time of a call."""
    begin = time.process_time()
    call(pattern, text)
    return time.process_time() - begin


@pytest.mark.parametrize("pattern", ALL, ids=lambda p: p.place)
def test_a_long_text_takes_no_more_than_its_length(pattern):
    for text in hard_texts(pattern, LENGTH):
        assert taken(pattern, text) < LONGEST or min(taken(pattern, text) for _ in range(3)) < LONGEST, text[:60]


def test_all_are_found_and_slow_ones_are_noticed():
    assert len(ALL) > 80
    for source, length in ((r"[0-9]+\.?[0-9]*x", LENGTH), (r"[ \t]*a*[ \t]*=", LENGTH), (r"\[ *([\w -]+?) *\]", 1000)):
        slow = Pattern("", re.compile(source), ("match",))
        assert any(taken(slow, text) > LONGEST for text in hard_texts(slow, length))
