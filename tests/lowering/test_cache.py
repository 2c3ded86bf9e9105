"""What took long to make is made once, and the oldest is dropped first."""

from threading import Barrier, Thread

from zwang.lowering import cache
from zwang.lowering.cache import Kept


def test_things_are_made_once_and_the_oldest_is_dropped_first(monkeypatch):
    monkeypatch.setattr(cache, "_KEPT", 3)
    made = []
    kept = Kept()

    def thing(key):
        return kept.get(key, lambda: made.append(key) or key.upper())

    assert [thing(key) for key in "abcabc"] == list("ABCABC")
    assert made == list("abc")
    thing("d")  # no room for a
    thing("b")
    thing("a")
    assert made == list("abcda")


def test_two_threads_that_make_the_same_thing_get_the_same_thing():
    kept, barrier, got = Kept(), Barrier(2), []

    def make():
        barrier.wait(60)  # both are making it
        return object()

    threads = [Thread(target=lambda: got.append(kept.get("key", make))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got[0] is got[1]
